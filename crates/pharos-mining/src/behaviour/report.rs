//! All statistics of a log in one report.

use pharos_core::Timestamp;
use serde::{Serialize, Serializer};

use super::clicks::{
    agreement_with_all, clicks_by_url, page_shares, position_compensation, rank_shares, rank_use,
};
use super::concentration::{cumulative_share, fit_power};
use super::plot::{Plot, PlotKind};
use super::queries::{
    days_covered, hours_and_weekdays, is_unsuccessful, mean_term_share, operator_shares, query_lengths,
    source_counts,
};
use super::repetition::{GROUP, neighbour_deviation, repetition_by_distance, repetition_decay};
use super::self_similarity::{GROUPS, analyse_range, autocorrelation, distinct_per_group};
use super::visited_pages::{PageProperties, VisitedShare, fit_importance, visited_by};
use crate::import::UtcOffset;
use crate::search_log::{LogCoverage, SearchLog};
use crate::sessions::{SessionRules, count_sessions, sessions};

/// Most clicked queries whose clicks are compared with all clicks, as in the source.
const AGREEMENT_QUERIES: usize = 10_000;
/// Highest lag of the autocorrelation.
const MAX_LAG: usize = 50;
/// Shortest log in queries whose concentration is fitted.
const MIN_QUERIES: usize = 100;

/// Returns the share of documents that contain a term.
pub type TermShare<'a> = Box<dyn FnMut(&str) -> Option<f64> + 'a>;

/// Inputs of the report besides the log.
#[derive(Default)]
pub struct ReportInputs<'a> {
    /// UTC offset of hours and weekdays; UTC if `None`.
    pub zone: Option<UtcOffset>,
    /// The pages of the index with their clicks.
    pub pages: Option<Vec<PageProperties>>,
    /// Returns the share of documents that contain a term.
    pub term_share: Option<TermShare<'a>>,
}

/// The statistics of a log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BehaviourReport {
    /// Time of the first and the last search, if there are any.
    pub from: Option<String>,
    pub to: Option<String>,
    pub coverage: LogCoverage,
    pub statistics: Vec<Statistic>,
}

/// A statistic with its source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statistic {
    /// Key of the title and of the explanation, `…-about`.
    pub name: &'static str,
    /// Author and year, or title and section.
    pub source: &'static str,
    /// Key of the reason why there are no figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<&'static str>,
    #[serde(serialize_with = "as_map")]
    pub figures: Vec<(&'static str, f64)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plots: Vec<Plot>,
}

fn as_map<S: Serializer>(figures: &[(&'static str, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(figures.iter().copied())
}

impl Statistic {
    fn new(name: &'static str, source: &'static str) -> Self {
        Self { name, source, missing: None, figures: Vec::new(), plots: Vec::new() }
    }

    fn missing(self, reason: &'static str) -> Self {
        Self { missing: Some(reason), ..self }
    }

    fn figure(mut self, name: &'static str, value: f64) -> Self {
        if value.is_finite() {
            self.figures.push((name, value));
        }
        self
    }

    fn plot(mut self, plot: Plot) -> Self {
        if !plot.values.is_empty() {
            self.plots.push(plot);
        }
        self
    }
}

const TEXTBOOK: &str = "《搜索引擎——原理、技术与系统》§9.2";

/// Computes all statistics of a log.
pub fn build_report(log: &SearchLog, inputs: ReportInputs<'_>) -> BehaviourReport {
    let queries: Vec<u32> = log.asked().map(|search| search.query).collect();
    let mut counts = vec![0_u64; log.queries.len()];
    queries.iter().for_each(|query| counts[*query as usize] += 1);
    counts.retain(|count| *count > 0);
    let zone = inputs.zone.unwrap_or(UtcOffset::UTC);
    let statistics = vec![
        overview(log, &counts),
        concentration(&counts, queries.len()),
        lengths(log),
        operators(log),
        origins(log),
        suggestions(log),
        page_turns(log),
        clicked_ranks(log),
        position_bias(log),
        clicked_urls(log),
        agreement(log),
        repetition(&queries),
        deviation(&queries),
        correlation(&queries),
        hurst(&queries),
        visited(inputs.pages.as_deref()),
        terms(log, inputs.term_share),
        session_statistics(log),
        times(log, zone),
    ];
    let statistics = match log.searches.is_empty() {
        true => {
            statistics.into_iter().map(|s| Statistic::new(s.name, s.source).missing("no-queries")).collect()
        }
        false => statistics,
    };
    let period = log.period().filter(|_| !log.coverage.is_undated);
    let time = |at: Timestamp| at.to_string();
    BehaviourReport {
        from: period.map(|(from, _)| time(from)),
        to: period.map(|(_, to)| time(to)),
        coverage: log.coverage.clone(),
        statistics,
    }
}

fn overview(log: &SearchLog, counts: &[u64]) -> Statistic {
    let asked: u64 = counts.iter().sum();
    let totals = log.asked().filter(|search| search.total.is_some()).count();
    let empty = log.asked().filter(|search| is_unsuccessful(search)).count();
    let notices = log.searches.iter().filter(|search| search.has_notice).count();
    let days = log.period().map_or(0.0, |(from, to)| days_covered(from, to));
    let statistic = Statistic::new("overview", TEXTBOOK)
        .figure("queries", asked as f64)
        .figure("distinct-queries", counts.len() as f64)
        .figure("result-pages", log.searches.len() as f64)
        .figure("visits", log.visits.len() as f64)
        .figure("clicks", log.clicks.len() as f64)
        .figure("notices", notices as f64)
        .figure("days", days);
    if totals > 0 {
        statistic.figure("share-without-results", empty as f64 / totals as f64)
    } else {
        statistic
    }
}

fn concentration(counts: &[u64], total: usize) -> Statistic {
    let statistic = Statistic::new("concentration", "《搜索引擎——原理、技术与系统》§9.2, formulas 9-1, 9-2");
    let curve = cumulative_share(counts);
    if total < MIN_QUERIES {
        return statistic.missing("too-short");
    }
    let fit = fit_power(&curve);
    let fitted = curve.iter().filter_map(|(x, _)| Some((*x, fit?.value(*x)?))).collect();
    let statistic = statistic.figure("share-of-top-fifth", curve.get(20).map_or(0.0, |point| point.1));
    let statistic = match fit {
        Some(fit) => statistic
            .figure("fit-a", fit.a)
            .figure("fit-b", fit.b)
            .figure("fit-c", fit.c)
            .figure("r-squared", fit.r_squared),
        None => statistic,
    };
    statistic.plot(Plot::new("cumulative-share", PlotKind::Line, curve).with_fit(fitted))
}

fn lengths(log: &SearchLog) -> Statistic {
    let lengths = query_lengths(log);
    let bars = |counts: &[u64]| {
        let last = counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        counts[..last].iter().map(|count| *count as f64).collect::<Vec<_>>()
    };
    Statistic::new("query-length", "Silverstein et al. 1999, §4.2")
        .figure("mean-characters", lengths.mean_characters)
        .figure("mean-words", lengths.mean_words)
        .plot(Plot::bars("length-characters", 1, bars(&lengths.characters)))
        .plot(Plot::bars("length-words", 1, bars(&lengths.words)))
}

fn operators(log: &SearchLog) -> Statistic {
    let (shares, any) = operator_shares(log);
    shares.into_iter().fold(
        Statistic::new("operators", "Jansen, Spink & Saracevic 2000, §5").figure("any-operator", any),
        |statistic, (operator, share)| statistic.figure(operator.name(), share),
    )
}

fn origins(log: &SearchLog) -> Statistic {
    let counts = source_counts(log);
    Statistic::new("origin", "《走进搜索引擎》§6.1.1")
        .plot(Plot::named_bars("query-origin", counts.into_iter().map(|(name, count)| (name, count as f64))))
}

fn suggestions(log: &SearchLog) -> Statistic {
    let statistic = Statistic::new("suggestions", "《走进搜索引擎》§6.3.2; White & Marchionini 2007");
    let counts = log.suggestions;
    if counts.shown == 0 && counts.selected == 0 {
        return statistic.missing("no-suggestions");
    }
    let asked = log.asked().count().max(1) as f64;
    let saved = counts.characters.saturating_sub(counts.typed) as f64;
    statistic
        .figure("suggestion-lists", counts.shown as f64)
        .figure("suggestions-selected", counts.selected as f64)
        .figure("share-selected", counts.selected as f64 / asked)
        .figure(
            "keystrokes-saved",
            if counts.characters > 0 { saved / counts.characters as f64 } else { f64::NAN },
        )
}

fn page_turns(log: &SearchLog) -> Statistic {
    let shares = page_shares(log);
    let statistic = Statistic::new("page-turns", "《搜索引擎——原理、技术与系统》§9.2, table 9-1");
    if shares.len() < 2 && log.coverage.impressions == 0 {
        return statistic.missing("no-page-numbers");
    }
    let first = shares.iter().take(5).sum();
    statistic.figure("share-first-five-pages", first).plot(Plot::bars(
        "page-views",
        1,
        shares.into_iter().take(20),
    ))
}

fn clicked_ranks(log: &SearchLog) -> Statistic {
    let statistic = Statistic::new("clicked-ranks", TEXTBOOK);
    if log.clicks.is_empty() {
        return statistic.missing("no-clicks");
    }
    let shares = rank_shares(log);
    let top = shares.iter().take(10).sum();
    statistic
        .figure("share-rank-one", shares.first().copied().unwrap_or(0.0))
        .figure("share-first-ten-ranks", top)
        .plot(Plot::bars("click-ranks", 1, shares.into_iter().take(50)))
}

fn position_bias(log: &SearchLog) -> Statistic {
    let statistic = Statistic::new("position-bias", "Joachims et al. 2005; Craswell et al. 2008");
    let ranks = rank_use(log);
    if log.clicks.is_empty() {
        return statistic.missing("no-clicks");
    }
    if ranks.iter().all(|rank| rank.shown == 0) {
        return statistic.missing("no-impressions");
    }
    let searches = log.searches.iter().filter(|search| log.reports_clicks(search)).count().max(1) as f64;
    let clicked = log.searches.iter().filter(|search| !log.clicks_of(search).is_empty()).count() as f64;
    let rate = |of: f64, shown: u64| if shown > 0 { of / shown as f64 } else { 0.0 };
    let statistic = statistic
        .figure("share-of-searches-with-clicks", clicked / searches)
        .plot(Plot::bars(
            "click-rate-by-rank",
            1,
            ranks.iter().take(30).map(|rank| rate(rank.clicked as f64, rank.shown)),
        ))
        .plot(Plot::bars(
            "first-clicks-by-rank",
            1,
            ranks.iter().take(30).map(|rank| rank.first as f64 / clicked.max(1.0)),
        ));
    let compensation = position_compensation(&ranks);
    statistic.plot(Plot::new(
        "position-compensation",
        PlotKind::Line,
        (1..).map(f64::from).zip(compensation).collect(),
    ))
}

fn clicked_urls(log: &SearchLog) -> Statistic {
    let statistic = Statistic::new("clicked-urls", "《搜索引擎——原理、技术与系统》§9.2, figure 9-6");
    let counts = clicks_by_url(log);
    if counts.is_empty() {
        return statistic.missing("no-clicks");
    }
    let once = counts.iter().filter(|count| **count == 1).count() as f64;
    let curve = cumulative_share(&counts);
    statistic
        .figure("distinct-urls", counts.len() as f64)
        .figure("share-clicked-once", once / counts.len() as f64)
        .figure("clicks-of-top-third", curve.get(33).map_or(0.0, |point| point.1))
        .plot(Plot::new("cumulative-clicks", PlotKind::Line, curve))
}

fn agreement(log: &SearchLog) -> Statistic {
    let statistic = Statistic::new("click-agreement", "《搜索引擎——原理、技术与系统》§9.2, formula 9-6");
    let mut cosines = agreement_with_all(log, AGREEMENT_QUERIES);
    if cosines.is_empty() {
        return statistic.missing("no-clicks");
    }
    let high = cosines.iter().filter(|cosine| **cosine > 0.8).count() as f64;
    let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
    let share = high / cosines.len() as f64;
    cosines.sort_by(|a, b| b.total_cmp(a));
    let curve = (1..).map(f64::from).zip(cosines).collect();
    statistic.figure("mean-cosine", mean).figure("share-above-0.8", share).plot(Plot::new(
        "click-cosines",
        PlotKind::Line,
        curve,
    ))
}

fn repetition(queries: &[u32]) -> Statistic {
    let statistic = Statistic::new("repetition", "《搜索引擎——原理、技术与系统》§9.2, formula 9-3");
    let by_distance = repetition_by_distance(queries);
    let repeated: f64 = by_distance.iter().map(|(_, share)| share).sum();
    let statistic = statistic.figure("share-repeated", repeated);
    let limits =
        ["1–10", "11–100", "101–10³", "10³–10⁴", "10⁴–10⁵", "10⁵–10⁶", "10⁶–10⁷", "10⁷–10⁸", "10⁸–10⁹"];
    let bars = limits.into_iter().zip(by_distance.iter().map(|(_, share)| *share));
    let statistic = statistic.plot(Plot::named_bars("repetition-distance", bars));
    let decay = repetition_decay(queries, GROUP);
    if decay.len() < 2 {
        return statistic;
    }
    let gone = decay.iter().position(|count| *count == 0);
    let statistic =
        statistic.figure("first-group-without-repetition", gone.map_or(f64::NAN, |nth| nth as f64 + 1.0));
    let points = (1..).map(f64::from).zip(decay.into_iter().map(|count| count as f64)).skip(1).collect();
    statistic.plot(Plot::new("repetition-decay", PlotKind::Line, points))
}

fn deviation(queries: &[u32]) -> Statistic {
    let statistic = Statistic::new("neighbour-deviation", "《搜索引擎——原理、技术与系统》§9.2, formula 9-4");
    let deviations = neighbour_deviation(queries, GROUP);
    if deviations.is_empty() {
        return statistic.missing("too-short");
    }
    let mean = deviations.iter().sum::<f64>() / deviations.len() as f64;
    let points = (1..).map(f64::from).zip(deviations).collect();
    statistic.figure("mean-deviation", mean).plot(Plot::new("deviations", PlotKind::Line, points))
}

fn correlation(queries: &[u32]) -> Statistic {
    let statistic = Statistic::new("autocorrelation", "《搜索引擎——原理、技术与系统》§9.2, formula 9-7");
    let series = distinct_per_group(queries, GROUPS[0]);
    let correlation = autocorrelation(&series, MAX_LAG.min(series.len() / 2));
    if correlation.len() < 3 {
        return statistic.missing("too-short");
    }
    let first = correlation[1];
    let points = (0..).map(f64::from).zip(correlation).collect();
    statistic.figure("lag-one", first).plot(Plot::new("autocorrelations", PlotKind::Line, points))
}

fn hurst(queries: &[u32]) -> Statistic {
    let mut statistic =
        Statistic::new("hurst", "《搜索引擎——原理、技术与系统》§9.2, formula 9-10; Leland et al. 1994");
    let names = [("hurst-500", "range-500"), ("hurst-1000", "range-1000"), ("hurst-2000", "range-2000")];
    for (group, (name, plot)) in GROUPS.into_iter().zip(names) {
        let Some(analysis) = analyse_range(queries, group) else { continue };
        let line = |(x, _): &(f64, f64)| (*x, analysis.fit.slope * x + analysis.fit.intercept);
        let fitted = analysis.points.iter().map(line).collect();
        statistic = statistic
            .figure(name, analysis.fit.slope)
            .plot(Plot::new(plot, PlotKind::Points, analysis.points).with_fit(fitted));
    }
    if statistic.figures.is_empty() { statistic.missing("too-short") } else { statistic }
}

fn visited(pages: Option<&[PageProperties]>) -> Statistic {
    let statistic = Statistic::new("visited-pages", "《搜索引擎——原理、技术与系统》§9.4, table 9-3");
    let Some(pages) = pages.filter(|pages| !pages.is_empty()) else { return statistic.missing("no-index") };
    let Some(fit) = fit_importance(pages) else { return statistic.missing("no-clicks-on-pages") };
    let home: Vec<PageProperties> = pages.iter().filter(|page| page.depth == 0).copied().collect();
    let visited = pages.iter().filter(|page| page.clicks > 0).count() as f64;
    let bars = |classes: Vec<VisitedShare>| {
        classes.into_iter().map(|class| (f64::from(class.from), class.share())).collect::<Vec<_>>()
    };
    let mut statistic = statistic
        .figure("pages", fit.pages as f64)
        .figure("share-visited", visited / fit.pages.max(1) as f64)
        .figure("difference-in-degree", fit.in_degree)
        .figure("difference-copies", fit.copies)
        .figure("difference-uniform", fit.uniform);
    if let Some(home) = fit_importance(&home) {
        statistic = statistic
            .figure("home-pages", home.pages as f64)
            .figure("home-difference-in-degree", home.in_degree)
            .figure("home-difference-copies", home.copies)
            .figure("home-difference-uniform", home.uniform);
    }
    statistic
        .plot(Plot::new(
            "visited-by-in-degree",
            PlotKind::Line,
            bars(visited_by(pages, |page| page.in_degree)),
        ))
        .plot(Plot::new("visited-by-copies", PlotKind::Line, bars(visited_by(pages, |page| page.copies))))
        .plot(Plot::new("visited-by-depth", PlotKind::Line, bars(visited_by(pages, |page| page.depth))))
}

fn terms(log: &SearchLog, share: Option<TermShare<'_>>) -> Statistic {
    let statistic = Statistic::new("term-frequency", "《搜索引擎——原理、技术与系统》§8.1");
    let Some(share) = share else { return statistic.missing("no-index") };
    match mean_term_share(log, share) {
        Some(mean) => statistic.figure("mean-term-share", mean),
        None => statistic.missing("no-known-terms"),
    }
}

fn session_statistics(log: &SearchLog) -> Statistic {
    let statistic = Statistic::new("sessions", "Jones & Klinkner 2008; Lau & Horvitz 1999");
    if log.visits.is_empty() {
        return statistic.missing("no-visits");
    }
    let counts = count_sessions(&sessions(log, &SessionRules::default()));
    let bars =
        |counts: Vec<(&'static str, u64)>| counts.into_iter().map(|(name, count)| (name, count as f64));
    statistic
        .figure("sessions", counts.sessions as f64)
        .figure("goals", counts.goals as f64)
        .figure("searches-per-session", counts.searches_per_session)
        .plot(Plot::named_bars("session-steps", bars(counts.steps)))
        .plot(Plot::named_bars("session-endings", bars(counts.endings)))
}

fn times(log: &SearchLog, zone: UtcOffset) -> Statistic {
    let (hours, weekdays) = hours_and_weekdays(log, zone);
    let statistic = Statistic::new("times", "Beitzel et al. 2004").plot(Plot::bars(
        "hours",
        0,
        hours.iter().map(|count| *count as f64),
    ));
    if log.coverage.is_undated {
        return statistic;
    }
    let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    statistic.plot(Plot::named_bars("weekdays", names.into_iter().zip(weekdays.map(|count| count as f64))))
}

#[cfg(test)]
mod tests;
