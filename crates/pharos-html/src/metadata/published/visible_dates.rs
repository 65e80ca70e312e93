//! Visible dates: scores them and selects the publication date.

use jiff::civil::Date;

use super::{WEB_BEGINS, is_possible};
use crate::metadata::date::{self, DateOrder, ParsedDate};
use crate::metadata::visible_lines::VisibleLine;

/// Maximum number of visible dates examined.
const MAX_VISIBLE: usize = 300;

/// Score of a position right below the heading.
const NEAR_HEADING: i32 = 25;

/// The best visible dates of a page.
#[derive(Default)]
pub(super) struct VisibleDates {
    /// Best date with a day.
    pub(super) published: ScoredDate,
    /// Best date right below the heading.
    pub(super) beside_heading: ScoredDate,
    /// Best date without a day.
    pub(super) month: ScoredDate,
    /// First date labelled as the first publication.
    pub(super) first_published: Option<ParsedDate>,
    /// First date labelled as a modification.
    pub(super) modified: Option<ParsedDate>,
}

impl VisibleDates {
    pub(super) fn collect(lines: &[VisibleLine], heading_at: Option<usize>, today: Date) -> Self {
        let mut seen = Self::default();
        let mut looked_at = 0;
        let order = lines
            .iter()
            .filter(|line| date::may_have_date(&line.text))
            .map(|line| date::detect_order(&line.text))
            .find(|order| *order != DateOrder::Unknown);
        for line in lines.iter().filter(|line| line.datetime.is_some() || date::may_have_date(&line.text)) {
            let found = date::find_dates(&line.text, 3, order.unwrap_or_default());
            looked_at += found.len();
            if looked_at > MAX_VISIBLE {
                break;
            }
            for (number, found) in found.iter().enumerate() {
                // The machine-readable attribute is more precise than the text. The day, however, is that of the
                // local time zone and not of UTC.
                let exact = line.datetime.as_deref().and_then(date::parse_date).filter(|_| number == 0);
                let exact = exact.filter(|exact| {
                    exact.has_day && (exact.day == found.moment.day || !exact.is_universal())
                });
                let moment = exact.unwrap_or_else(|| found.moment.clone());
                if !is_possible(&moment, today) || moment.day.year() < WEB_BEGINS {
                    continue;
                }
                let label = label_before(line, found);
                match label {
                    DateLabel::Changed => {
                        seen.modified.get_or_insert(moment);
                        continue;
                    }
                    DateLabel::FirstPublished if moment.has_day => {
                        _ = seen.first_published.get_or_insert(moment.clone())
                    }
                    _ => {}
                }
                let is_near = position_score(line.at, heading_at) == NEAR_HEADING;
                let score = score(line, found, label, heading_at) - if number == 0 { 0 } else { 5 };
                if !moment.has_day {
                    keep_best(&mut seen.month, score, &moment);
                    continue;
                }
                if is_near {
                    keep_best(&mut seen.beside_heading, score, &moment);
                }
                keep_best(&mut seen.published, score, &moment);
            }
            if found.is_empty()
                && line.hints.time
                && !is_modification_line(&line.text)
                && let Some(moment) = line.datetime.as_deref().and_then(date::parse_date)
                && is_possible(&moment, today)
            {
                // `3 hours ago`, with the date in an attribute.
                let score = position_score(line.at, heading_at) + if line.hints.aside { -10 } else { 30 };
                keep_best(&mut seen.published, score, &moment);
            }
        }
        seen
    }
}

/// A date and its score.
pub(super) type ScoredDate = Option<(i32, ParsedDate)>;

/// Keeps the first date of the highest score.
fn keep_best(best: &mut ScoredDate, score: i32, moment: &ParsedDate) {
    if best.as_ref().is_none_or(|(so_far, _)| score > *so_far) {
        *best = Some((score, moment.clone()));
    }
}

/// Returns the date if its score is at least `least`.
pub(super) fn with_min_score(least: i32, scored: &ScoredDate) -> Option<ParsedDate> {
    scored.as_ref().filter(|(score, _)| *score >= least).map(|(_, moment)| moment.clone())
}

/// Label before a date.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DateLabel {
    Nothing,
    Published,
    /// The first publication, which wins over the date next to the heading.
    FirstPublished,
    Changed,
    Other,
}

/// Labels of a modification date.
const CHANGED: &[&str] =
    &["updated", "modified", "revised", "reviewed", "更新", "修改", "last edited", "last change"];

/// Labels of a publication date.
const PUBLISHED: &[&str] = &[
    "published",
    "posted",
    "publication",
    "created",
    "written",
    "asked",
    "发布",
    "发表",
    "提交",
    "刊登",
    "原创",
    "上传",
];

/// Labels of any date, on a line with little other text.
const ANY: &[&str] = &["date", "on", "时间", "日期", "来源"];

/// Labels of dates that do not concern the page.
const OTHER: &[&str] = &[
    "joined",
    "registered",
    "founded",
    "member since",
    "born",
    "today",
    "expires",
    "今天",
    "今日",
    "注册",
    "生于",
    "copyright",
];

fn is_modification_line(text: &str) -> bool {
    let lower = text.to_lowercase();
    CHANGED.iter().any(|word| lower.contains(word))
}

fn label_before(line: &VisibleLine, found: &date::FoundDate) -> DateLabel {
    /// Maximum distance of a label in characters.
    const NEAR: usize = 24;
    /// Maximum length of a label line in bytes; longer lines are prose.
    const SHORT: usize = 80;
    let lower = line.text[..found.start].to_lowercase();
    if lower.starts_with("last edited") {
        return DateLabel::Changed;
    }
    let start = lower.char_indices().rev().nth(NEAR - 1).map_or(0, |(at, _)| at);
    let near = lower[start..].trim_end_matches(|c: char| !c.is_alphanumeric());
    if near.contains("originally published") || near.contains("first published") {
        return DateLabel::FirstPublished;
    }
    // `Posted by Ann of the lighthouse on Monday`.
    let begins = PUBLISHED.iter().any(|word| lower.starts_with(word));
    // The last label before the date counts.
    let last_of = |words: &[&str]| words.iter().filter_map(|word| near.rfind(word)).max();
    let (changed, published, any, other) =
        (last_of(CHANGED), last_of(PUBLISHED), last_of(ANY), last_of(OTHER));
    match () {
        () if changed.is_some() && changed > published && changed >= other => DateLabel::Changed,
        () if other.is_some() && other >= published.max(any) => DateLabel::Other,
        () if published.is_some() || begins || any.is_some() && line.text.len() <= SHORT => {
            DateLabel::Published
        }
        () => DateLabel::Nothing,
    }
}

/// Scores a visible date by its label, the name of its element, how much other text is on the line, its time of
/// day, and its distance from the heading.
fn score(line: &VisibleLine, found: &date::FoundDate, label: DateLabel, heading_at: Option<usize>) -> i32 {
    /// Maximum length of other text next to a date: a reading time, a place, a bullet.
    const NEARLY_ALONE: usize = 14;
    let chars = line.text.chars().count();
    let beside = line.text.len() - (found.end - found.start);
    let mut score = position_score(line.at, heading_at);
    score += if beside <= NEARLY_ALONE { 20 } else { 0 };
    score += if is_signature(&line.text, chars) { 25 } else { 0 };
    score += if line.hints.date { 30 } else { 0 };
    score += match label {
        DateLabel::Published | DateLabel::FirstPublished => 25,
        DateLabel::Other => -50,
        _ => 0,
    };
    score += match chars {
        0..=40 => 15,
        41..=120 => 5,
        _ => -25,
    };
    score += if found.moment.time.is_some() { 15 } else { 0 };
    score += if line.hints.aside { -40 } else { 0 };
    score += if line.hints.link { -15 } else { 0 };
    score += if line.hints.heading { -15 } else { 0 };
    let lower = line.text.to_lowercase();
    let is_legal =
        ["©", "copyright", "版权", "icp", "备案", "all rights"].iter().any(|word| lower.contains(word));
    score - if is_legal { 60 } else { 0 }
}

/// Returns `true` for the source line at the end of a Chinese essay: `——《北京之春》1998年3月号`, `（2005年3月1日于北京）`.
fn is_signature(text: &str, chars: usize) -> bool {
    const LONGEST: usize = 40;
    chars <= LONGEST && text.starts_with(['—', '（', '(', '《', '【'])
}

/// Scores a position. Publication dates are right below the heading; dates above it or far below are others.
fn position_score(at: usize, heading_at: Option<usize>) -> i32 {
    let Some(heading_at) = heading_at else {
        return if at < 1_000 { 10 } else { 0 };
    };
    match at.checked_sub(heading_at) {
        Some(0..=300) => NEAR_HEADING,
        Some(301..=1_000) => 10,
        Some(_) => -5,
        None if heading_at - at < 120 => 10,
        None => -40,
    }
}
