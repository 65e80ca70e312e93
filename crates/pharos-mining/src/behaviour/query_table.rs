//! Figures of each query, and the lists that show an operator where users fail.

use pharos_core::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::queries::is_chinese;
use crate::search_log::SearchLog;
use crate::sessions::{Ending, Reformulation, SessionRules, sessions};

/// Searches that a query must have before its share of clicks says something.
const MIN_SEARCHES: u64 = 3;

/// The figures of a query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct QueryRow {
    #[serde(skip)]
    pub number: u32,
    pub query: String,
    /// Searches of first result pages.
    pub searches: u64,
    pub visits: u32,
    /// Searches in the second half of the period, and in the first.
    pub late: u64,
    pub early: u64,
    pub without_results: u64,
    /// Searches whose browser reports clicks, and those of them with clicks.
    pub reported: u64,
    pub clicked: u64,
    pub clicks: u64,
    /// Goals that ended with this query without a click.
    pub abandoned: u64,
    /// Searches that were followed by a correction of the query.
    pub corrected: u64,
    /// Mean and maximum response time in milliseconds.
    pub mean_ms: Option<f64>,
    pub max_ms: Option<f64>,
}

impl QueryRow {
    /// Returns the share of searches with clicks (CTR), if enough searches report clicks.
    pub fn click_rate(&self) -> Option<f64> {
        (self.reported >= MIN_SEARCHES).then(|| self.clicked as f64 / self.reported as f64)
    }

    /// Returns the ratio of the later to the earlier half of the period, smoothed.
    pub fn growth(&self) -> f64 {
        (self.late as f64 + 2.0) / (self.early as f64 + 2.0)
    }
}

/// A list of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryList {
    Top,
    Rising,
    WithoutResults,
    FewClicks,
    Abandoned,
    Corrected,
    Slow,
}

impl QueryList {
    /// All lists.
    pub const ALL: [QueryList; 7] = [
        QueryList::Top,
        QueryList::Rising,
        QueryList::WithoutResults,
        QueryList::FewClicks,
        QueryList::Abandoned,
        QueryList::Corrected,
        QueryList::Slow,
    ];

    /// Returns the name used in URLs.
    pub const fn name(self) -> &'static str {
        match self {
            QueryList::Top => "top",
            QueryList::Rising => "rising",
            QueryList::WithoutResults => "without-results",
            QueryList::FewClicks => "few-clicks",
            QueryList::Abandoned => "abandoned",
            QueryList::Corrected => "corrected",
            QueryList::Slow => "slow",
        }
    }

    /// Returns the list with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|list| list.name() == name)
    }

    /// Returns the figure by which a list is sorted, or `None` if the query does not belong to it.
    fn rank(self, row: &QueryRow) -> Option<f64> {
        let positive = |count: u64| (count > 0).then_some(count as f64);
        match self {
            QueryList::Top => Some(row.searches as f64),
            QueryList::Rising => Some(row.growth()).filter(|growth| *growth > 1.0 && row.late > 1),
            QueryList::WithoutResults => positive(row.without_results),
            // Frequent queries with few clicks come first.
            QueryList::FewClicks => {
                row.click_rate().filter(|rate| *rate < 0.5).map(|rate| (1.0 - rate) * row.reported as f64)
            }
            QueryList::Abandoned => positive(row.abandoned),
            QueryList::Corrected => positive(row.corrected),
            QueryList::Slow => row.mean_ms,
        }
    }
}

/// The language of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryLanguage {
    /// Queries with Han characters.
    Chinese,
    /// All others.
    Other,
}

/// Computes the figures of all queries of a language, or of all.
pub fn query_table(log: &SearchLog, language: Option<QueryLanguage>) -> Vec<QueryRow> {
    let mut rows: Vec<QueryRow> = (0..log.queries.len() as u32)
        .zip(log.visits_by_query())
        .map(|(number, visits)| QueryRow { number, visits, ..QueryRow::default() })
        .collect();
    let middle = log.period().map_or(Timestamp::EPOCH, |(from, to)| from.plus(to.since(from) / 2));
    let mut times = vec![(0.0_f64, 0_u64, 0.0_f64); rows.len()];
    for search in log.asked() {
        let row = &mut rows[search.query as usize];
        row.searches += 1;
        *if search.at > middle { &mut row.late } else { &mut row.early } += 1;
        row.without_results += u64::from(search.total == Some(0));
        let clicks = log.clicks_of(search).len() as u64;
        row.clicks += clicks;
        if log.reports_clicks(search) {
            row.reported += 1;
            row.clicked += u64::from(clicks > 0);
        }
        if let Some(took) = search.took_ms {
            let (sum, count, most) = &mut times[search.query as usize];
            *sum += f64::from(took);
            *count += 1;
            *most = most.max(f64::from(took));
        }
    }
    let query_of = |search: u32| log.searches[search as usize].query as usize;
    for goal in sessions(log, &SessionRules::default()).iter().flat_map(|session| &session.goals) {
        if let (Ending::Abandoned, Some(last)) = (goal.ending, goal.steps.last()) {
            rows[query_of(last.search)].abandoned += 1;
        }
        for pair in goal.steps.windows(2).filter(|pair| pair[1].kind == Reformulation::Correct) {
            rows[query_of(pair[0].search)].corrected += 1;
        }
    }
    for (row, (sum, count, most)) in rows.iter_mut().zip(times).filter(|(_, (_, count, _))| *count > 0) {
        (row.mean_ms, row.max_ms) = (Some(sum / count as f64), Some(most));
    }
    rows.retain_mut(|row| {
        let text = log.queries.text(row.number);
        let is_wanted =
            language.is_none_or(|language| is_chinese(text) == (language == QueryLanguage::Chinese));
        if row.searches > 0 && is_wanted {
            row.query = text.to_string();
        }
        row.searches > 0 && is_wanted
    });
    rows
}

/// Returns the first `n` rows of a list.
pub fn select(rows: &[QueryRow], list: QueryList, n: usize) -> Vec<&QueryRow> {
    let mut ranked: Vec<(f64, &QueryRow)> =
        rows.iter().filter_map(|row| Some((list.rank(row)?, row))).collect();
    ranked.sort_by(|a, b| {
        b.0.total_cmp(&a.0).then(b.1.searches.cmp(&a.1.searches)).then_with(|| a.1.query.cmp(&b.1.query))
    });
    ranked.into_iter().take(n).map(|(_, row)| row).collect()
}

/// Formats rows as comma-separated values with a header. Spreadsheets do not take any query for a formula.
pub fn to_csv(rows: &[&QueryRow]) -> String {
    let mut csv = String::from(
        "query,searches,visits,without_results,reported,clicked,clicks,abandoned,corrected,mean_ms,max_ms\n",
    );
    let ms = |time: Option<f64>| time.map(|time| format!("{time:.1}")).unwrap_or_default();
    for row in rows {
        let mark = if row.query.starts_with(['=', '+', '-', '@', '\t']) { "'" } else { "" };
        let query = row.query.replace('"', "\"\"");
        csv += &format!(
            "\"{mark}{query}\",{},{},{},{},{},{},{},{},{},{}\n",
            row.searches,
            row.visits,
            row.without_results,
            row.reported,
            row.clicked,
            row.clicks,
            row.abandoned,
            row.corrected,
            ms(row.mean_ms),
            ms(row.max_ms)
        );
    }
    csv
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueryRecord;
    use crate::log::records::AnyRecord;
    use crate::search_log::SearchLogBuilder;
    use crate::testing::{at, click_at, query_at};

    fn table(language: Option<QueryLanguage>) -> Vec<QueryRow> {
        let mut builder = SearchLogBuilder::new(at("2026-02-01T00:00:00Z"));
        let searches = [
            ("a", "12:00", "recieve mail", Some(0), 5.0),
            ("a", "12:01", "receive mail", Some(9), 5.0),
            ("b", "12:02", "lighthouse", Some(9), 90.0),
            ("c", "12:40", "lighthouse", Some(9), 10.0),
            ("d", "12:50", "lighthouse", Some(9), 10.0),
            ("e", "12:55", "=灯塔", None, 1.0),
        ];
        for (nth, (visit, time, query, total, took)) in searches.into_iter().enumerate() {
            let record = query_at(query, visit, at(&format!("2026-01-31T{time}:00Z")));
            let record = QueryRecord { id: nth.to_string(), total, took_ms: Some(took), ..record };
            builder.add(AnyRecord::Query(record));
        }
        builder.add(AnyRecord::Click(click_at("1", "", "http://x/", at("2026-01-31T12:01:30Z"))));
        query_table(&builder.finish(), language)
    }

    #[test]
    fn each_list_shows_where_users_fail() {
        let rows = table(None);
        let first = |list| select(&rows, list, 9).iter().map(|row| row.query.clone()).collect::<Vec<_>>();
        assert_eq!(first(QueryList::Top)[0], "lighthouse");
        assert_eq!(first(QueryList::WithoutResults), ["recieve mail"]);
        assert_eq!(first(QueryList::Corrected), ["recieve mail"]);
        assert_eq!(first(QueryList::Abandoned), ["lighthouse", "=灯塔"]);
        assert_eq!(first(QueryList::FewClicks), ["lighthouse"]);
        assert_eq!(first(QueryList::Rising), ["lighthouse"]);
        assert_eq!(first(QueryList::Slow)[0], "lighthouse");
        let row = rows.iter().find(|row| row.query == "lighthouse").unwrap();
        assert_eq!((row.searches, row.visits, row.click_rate(), row.max_ms), (3, 3, Some(0.0), Some(90.0)));
        assert!(QueryList::ALL.iter().all(|list| QueryList::from_name(list.name()) == Some(*list)));
    }

    #[test]
    fn rows_are_filtered_by_language_and_safe_in_spreadsheets() {
        let rows = table(Some(QueryLanguage::Chinese));
        assert_eq!(rows.len(), 1);
        assert_eq!(table(Some(QueryLanguage::Other)).len(), 3);
        let csv = to_csv(&rows.iter().collect::<Vec<_>>());
        assert!(csv.contains("\n\"'=灯塔\",1,1,0,"), "{csv}");
        assert!(query_table(&SearchLog::default(), None).is_empty());
    }
}
