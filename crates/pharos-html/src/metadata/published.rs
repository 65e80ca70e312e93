//! Publication and modification dates: candidates of different reliability and the choice among them.

mod url_date;
mod visible_dates;

use jiff::ToSpan;
use jiff::civil::Date;

use super::date::{self, ParsedDate};
use super::visible_lines::VisibleLine;
use visible_dates::VisibleDates;

/// First year of publication on the web. Older dates count only if they are declared.
const WEB_BEGINS: i16 = 1990;

/// Minimum score of a visible date to be a publication date.
const MIN_SCORE: i32 = 15;

/// Minimum score of a visible date that wins over declarations in the head.
const BEATS_DECLARED_SCORE: i32 = 60;

/// Minimum score of a visible date that wins over the date in the URL.
const BEATS_URL_SCORE: i32 = 50;

/// Origin of a date, the most reliable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DateTrust {
    /// `article:published_time` and similar names.
    Named,
    /// schema.org in JSON-LD.
    JsonLd,
    /// schema.org in attributes; `<time pubdate>`.
    Microdata,
    /// `date`, which may mean any date.
    Unclear,
}

/// Date candidates declared by a page.
#[derive(Debug, Default)]
pub(super) struct DateCandidates {
    published: Vec<(DateTrust, ParsedDate)>,
    modified: Vec<(DateTrust, ParsedDate)>,
}

impl DateCandidates {
    /// Adds a candidate for the publication date.
    pub(super) fn published(&mut self, trust: DateTrust, text: &str) {
        add(&mut self.published, trust, text);
    }

    /// Adds a candidate for the modification date.
    pub(super) fn modified(&mut self, trust: DateTrust, text: &str) {
        add(&mut self.modified, trust, text);
    }

    /// Chooses the publication and modification dates, as ISO 8601. `lines` are the visible lines; `heading_at` is
    /// the position of the content heading.
    pub(super) fn choose(
        &self,
        url: &str,
        lines: &[VisibleLine],
        heading_at: Option<usize>,
        today: Date,
    ) -> (Option<String>, Option<String>) {
        let declared = best(&self.published, today);
        let changed = best(&self.modified, today).map(|(_, moment)| moment);
        let seen = VisibleDates::collect(lines, heading_at, today);
        let in_url = url_date::date_in_url(url).filter(|moment| is_possible(moment, today));
        let day_in_url = in_url.clone().filter(|moment| moment.has_day);
        let trusted =
            declared.clone().filter(|(trust, moment)| *trust < DateTrust::Unclear && moment.has_day);
        let trusted = trusted.map(|(_, moment)| match &day_in_url {
            // Pages are published again but keep their URL.
            Some(first) if first.day < moment.day => first.clone(),
            _ => moment,
        });
        let shown = visible_dates::with_min_score(BEATS_DECLARED_SCORE, &seen.beside_heading);
        // The same day with a time of day is more precise.
        let is_same_day =
            |moment: &ParsedDate| trusted.as_ref().is_some_and(|trusted| trusted.day == moment.day);
        let published = [
            seen.first_published,
            shown.filter(|moment| moment.time.is_some() || !is_same_day(moment)),
            trusted,
            visible_dates::with_min_score(BEATS_URL_SCORE, &seen.published),
            day_in_url,
            declared.map(|(_, moment)| moment),
            visible_dates::with_min_score(MIN_SCORE, &seen.published),
            seen.modified.clone(),
            visible_dates::with_min_score(MIN_SCORE, &seen.month),
            in_url,
        ]
        .into_iter()
        .flatten()
        .next();
        // A modification before the publication means that the two are swapped.
        let modified = changed
            .or(seen.modified)
            .filter(|last| published.as_ref().is_none_or(|first| first.day <= last.day));
        (published.map(|moment| moment.to_iso()), modified.map(|moment| moment.to_iso()))
    }
}

fn add(slot: &mut Vec<(DateTrust, ParsedDate)>, trust: DateTrust, text: &str) {
    const MOST: usize = 20;
    if slot.len() < MOST
        && let Some(moment) = date::parse_date(text)
    {
        slot.push((trust, moment));
    }
}

/// Returns the first of the most reliable candidates.
fn best(candidates: &[(DateTrust, ParsedDate)], today: Date) -> Option<(DateTrust, ParsedDate)> {
    let possible = candidates.iter().filter(|(_, moment)| is_possible(moment, today));
    possible.min_by_key(|(trust, _)| *trust).cloned()
}

/// Allows one day, because some time zones are a day ahead.
fn is_possible(moment: &ParsedDate, today: Date) -> bool {
    today.checked_add(1.day()).is_ok_and(|tomorrow| moment.day <= tomorrow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::Dom;
    use crate::metadata::visible_lines::visible_lines;

    const TODAY: Date = jiff::civil::date(2026, 1, 31);

    fn published(html: &str) -> Option<String> {
        DateCandidates::default()
            .choose("http://example.org/", &visible_lines(&Dom::parse(html)), None, TODAY)
            .0
    }

    #[test]
    fn declarations_come_in_their_order() {
        let mut dates = DateCandidates::default();
        dates.published(DateTrust::Unclear, "2020-01-01");
        dates.published(DateTrust::Microdata, "2020-01-02");
        dates.published(DateTrust::JsonLd, "2020-01-03");
        dates.published(DateTrust::Named, "2030-01-04");
        dates.modified(DateTrust::Named, "2019-01-01");
        let chosen = dates.choose("http://example.org/2022/02/03/x", &[], None, TODAY);
        assert_eq!(
            chosen,
            (Some("2020-01-03".into()), None),
            "neither in the future nor modified before publication"
        );
    }

    #[test]
    fn visible_dates_are_weighed() {
        assert_eq!(
            published(
                "<p>今天是 2010年3月1日 星期一</p><h1>灯塔</h1><div class=info>发布时间：2008-12-22 10:20 来源：新华网</div>                 <p>灯塔建于1999年10月1日，此后一直为过往的船只指路，也为附近渔村的人们所熟悉，至今仍在使用，并且是一个很受欢迎的去处。</p>                 <div id=footer>Copyright 2009-01-01</div>"
            )
            .as_deref(),
            Some("2008-12-22T10:20:00")
        );
        assert_eq!(
            published("<h1>Lit</h1><p>By Ann<p>December 22, 2008<p>It was lit.<ul><li><a href=x>Old news</a> 2007-01-01</ul>")
                .as_deref(),
            Some("2008-12-22")
        );
        assert_eq!(published("<p>Copyright 2009-01-01. All rights reserved."), None);
        assert_eq!(
            published(
                "<h1>Lit</h1><p>30 Sep 2022<p>This was originally published on 26 Sep 2019 but has changed."
            )
            .as_deref(),
            Some("2019-09-26")
        );
        assert_eq!(published("<footer>Updated 2009-01-01</footer>").as_deref(), Some("2009-01-01"));
    }
}
