//! Entities (命名实体) in queries: names that users ask about, with the words around them (《走进搜索引擎》§6.3.4).
//!
//! ```text
//! 什么是X, X是什么, what is X ─┐
//! known names of classes      ─┴▶ entities ─▶ queries "X 上映时间" ─▶ context "# 上映时间" by time window
//! ```
//!
//! A question for the meaning of X makes X a candidate. The contexts of an entity are its other queries with the entity
//! replaced by `#` (Paşca 2007; Guo, Xu, Cheng & Li 2009). The class of an entity may change: the contexts of a novel become
//! those of a film, so they are counted in windows of time.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use pharos_core::Timestamp;
use pharos_text::Analyser;
use pharos_text::analyser::stop_words::is_stop_word;
use serde::Serialize;

use crate::search_log::SearchLog;

/// The place of the entity in a context.
pub const PLACEHOLDER: &str = "#";
/// Words before and after the entity in questions for its meaning.
const BEFORE: [&str; 9] =
    ["什么是", "什么叫", "谁是", "这是", "what is ", "what are ", "what's ", "who is ", "define "];
const AFTER: [&str; 6] = ["是什么意思", "什么意思", "是什么", "是谁", " meaning", " definition"];
const ARTICLES: [&str; 3] = ["a ", "an ", "the "];
/// Maximum length of an entity in characters and in tokens.
const MAX_CHARS: usize = 32;
const MAX_TOKENS: usize = 6;
/// Maximum number of entities and of windows.
const MAX_ENTITIES: usize = 100_000;
const MAX_WINDOWS: i64 = 1_000;

/// Criteria for entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityRules {
    /// Least number of visits of a query that is used (k).
    pub min_visits: u32,
    /// Length of a window of time.
    pub window: Duration,
}

/// Contexts of an entity with the numbers of searches.
pub type Contexts = BTreeMap<String, u32>;

/// An entity with its contexts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Entity {
    pub name: String,
    /// Searches for its meaning.
    pub questions: u32,
    /// Searches for the name alone.
    pub alone: u32,
    /// Contexts by the beginning of their window.
    pub windows: Vec<(Timestamp, Contexts)>,
}

impl Entity {
    /// Returns the contexts of all windows.
    pub fn contexts(&self) -> Contexts {
        let mut all = Contexts::new();
        for (context, count) in self.windows.iter().flat_map(|(_, contexts)| contexts) {
            *all.entry(context.clone()).or_default() += count;
        }
        all
    }

    /// Returns the number of searches.
    pub fn searches(&self) -> u64 {
        let in_contexts = self.windows.iter().flat_map(|(_, contexts)| contexts.values());
        u64::from(self.questions)
            + u64::from(self.alone)
            + in_contexts.map(|count| u64::from(*count)).sum::<u64>()
    }

    /// Returns the class of each window with contexts, as `classify` predicts it.
    pub fn course<C>(&self, classify: impl Fn(&Contexts) -> Option<C>) -> Vec<(Timestamp, C)> {
        self.windows.iter().filter_map(|(from, contexts)| Some((*from, classify(contexts)?))).collect()
    }
}

/// Returns the entity whose meaning a normalised query asks for.
pub fn asked_entity(query: &str) -> Option<&str> {
    let query = query.trim_end_matches(['?', '？', '!', '！', '.', '。', ' ']);
    let before = BEFORE.iter().find_map(|words| query.strip_prefix(words));
    let name = before.or_else(|| AFTER.iter().find_map(|words| query.strip_suffix(words)))?.trim();
    let name = ARTICLES.iter().find_map(|article| name.strip_prefix(article)).unwrap_or(name).trim();
    let is_question = BEFORE.iter().chain(&AFTER).any(|words| name.contains(words.trim()));
    let is_name = !name.is_empty() && name.chars().count() <= MAX_CHARS && !is_stop_word(name);
    (is_name && !is_question && name.contains(char::is_alphanumeric)).then_some(name)
}

/// Finds entities in a log, the most frequent first: those of questions, and `known` ones. Only queries of enough visits are
/// used.
pub fn find_entities<'k>(
    log: &SearchLog,
    known: impl IntoIterator<Item = &'k str>,
    rules: &EntityRules,
) -> Vec<Entity> {
    let visits = log.visits_by_query();
    let is_used = |query: u32| visits.get(query as usize).is_some_and(|visits| *visits >= rules.min_visits);
    let mut entities: HashMap<String, Entity> = HashMap::new();
    let mut add = |name: &str| {
        if entities.len() < MAX_ENTITIES && !name.is_empty() {
            entities
                .entry(name.to_string())
                .or_insert_with(|| Entity { name: name.into(), ..Entity::default() });
        }
    };
    known.into_iter().for_each(|name| {
        add(&pharos_text::normalise(name).split_whitespace().collect::<Vec<_>>().join(" "));
    });
    let used = (0..log.queries.len() as u32).filter(|query| is_used(*query));
    used.filter_map(|query| asked_entity(log.queries.text(query))).for_each(&mut add);

    let first = log.period().map_or(0, |(first, _)| first.millis());
    let length = i64::try_from(rules.window.as_millis()).unwrap_or(i64::MAX).max(1);
    let mut windows: HashMap<String, BTreeMap<i64, Contexts>> = HashMap::new();
    let mut uses: HashMap<u32, QueryUse> = HashMap::new();
    for search in log.asked().filter(|search| is_used(search.query)) {
        let of_query = uses
            .entry(search.query)
            .or_insert_with(|| QueryUse::new(log.queries.text(search.query), &entities));
        match of_query {
            QueryUse::Question(name) => {
                entities.entry(name.clone()).and_modify(|entity| entity.questions += 1);
            }
            QueryUse::Alone(name) => {
                entities.entry(name.clone()).and_modify(|entity| entity.alone += 1);
            }
            QueryUse::Context(name, context) => {
                let window = ((search.at.millis() - first) / length).clamp(0, MAX_WINDOWS);
                let contexts = windows.entry(name.clone()).or_default().entry(window).or_default();
                *contexts.entry(context.clone()).or_default() += 1;
            }
            QueryUse::None => {}
        }
    }
    for (name, windows) in windows {
        let Some(entity) = entities.get_mut(&name) else { continue };
        let start = |window: i64| Timestamp::from_millis(first.saturating_add(window.saturating_mul(length)));
        entity.windows = windows.into_iter().map(|(window, contexts)| (start(window), contexts)).collect();
    }
    let mut entities: Vec<Entity> = entities.into_values().filter(|entity| entity.searches() > 0).collect();
    entities.sort_by(|a, b| b.searches().cmp(&a.searches()).then_with(|| a.name.cmp(&b.name)));
    entities
}

/// Role of an entity in a query.
enum QueryUse {
    Question(String),
    Alone(String),
    Context(String, String),
    None,
}

impl QueryUse {
    /// Finds the longest entity in a query, at the boundaries of its words.
    fn new(query: &str, entities: &HashMap<String, Entity>) -> Self {
        if let Some(name) = asked_entity(query).filter(|name| entities.contains_key(*name)) {
            return Self::Question(name.to_string());
        }
        if entities.contains_key(query) {
            return Self::Alone(query.to_string());
        }
        let tokens = Analyser::shared().tokens(query);
        for length in (1..=MAX_TOKENS.min(tokens.len())).rev() {
            for words in tokens.windows(length) {
                let (start, end) = (words[0].start, words[length - 1].end);
                let Some(name) = query.get(start..end).filter(|name| entities.contains_key(*name)) else {
                    continue;
                };
                let context = format!("{}{PLACEHOLDER}{}", &query[..start], &query[end..]);
                return Self::Context(name.to_string(), context.trim().to_string());
            }
        }
        Self::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::records::AnyRecord;
    use crate::search_log::SearchLogBuilder;
    use crate::testing::{at, query_at};

    fn log(searches: &[(&str, &str)]) -> SearchLog {
        let mut builder = SearchLogBuilder::new(at("2027-01-01T00:00:00Z"));
        for (nth, (day, query)) in searches.iter().enumerate() {
            let when = at(&format!("{day}T12:00:00Z"));
            builder.add(AnyRecord::Query(query_at(query, &format!("v{nth}"), when)));
        }
        builder.finish()
    }

    fn rules(days: u64) -> EntityRules {
        EntityRules { min_visits: 1, window: Duration::from_secs(86_400 * days) }
    }

    #[test]
    fn questions_for_a_meaning_name_an_entity() {
        for query in ["什么是灯塔", "灯塔是什么", "这是灯塔", "灯塔是什么意思？", "什么是 灯塔"]
        {
            assert_eq!(asked_entity(query), Some("灯塔"), "{query}");
        }
        assert_eq!(asked_entity("what is a light-house?"), Some("light-house"));
        assert_eq!(asked_entity("who is grace darling"), Some("grace darling"));
        for query in ["灯塔", "什么是", "what is the", "what is what is x", "什么是，", ""] {
            assert_eq!(asked_entity(query), None, "{query}");
        }
        assert_eq!(asked_entity(&format!("什么是{}", "长".repeat(40))), None);
    }

    #[test]
    fn the_class_of_an_entity_moves_from_novel_to_film_to_game() {
        let day = ["2026-01-01", "2026-02-01", "2026-03-01"];
        let log = log(&[
            (day[0], "哈利·波特 作者"),
            (day[0], "哈利·波特 全文阅读"),
            (day[1], "哈利·波特 上映时间"),
            (day[1], "哈利·波特 影评"),
            (day[1], "哈利·波特 作者"),
            (day[2], "哈利·波特 攻略"),
        ]);
        let entities = find_entities(&log, ["哈利·波特"], &rules(28));
        assert_eq!((entities.len(), entities[0].searches(), entities[0].windows.len()), (1, 6, 3));
        assert_eq!(entities[0].contexts()["# 作者"], 2);
        let classes = [
            ("novel", ["# 作者", "# 全文阅读"]),
            ("film", ["# 上映时间", "# 影评"]),
            ("game", ["# 攻略", "# 下载"]),
        ];
        let classify = |contexts: &Contexts| {
            let count =
                |own: &[&str; 2]| own.iter().filter_map(|context| contexts.get(*context)).sum::<u32>();
            classes.iter().max_by_key(|(_, own)| count(own)).map(|(class, _)| *class)
        };
        let course: Vec<&str> = entities[0].course(classify).into_iter().map(|(_, class)| class).collect();
        assert_eq!(course, ["novel", "film", "game"]);
    }

    #[test]
    fn entities_are_found_at_word_boundaries_in_queries_of_enough_visits() {
        let day = "2026-01-01";
        let searches =
            ["what is tea", "tea", "green tea", "tea house", "steam", "what is rare", "rare metal"];
        let mut asked: Vec<(&str, &str)> =
            searches[..5].iter().flat_map(|query| [(day, *query); 2]).collect();
        asked.extend(searches[5..].iter().map(|query| (day, *query)));
        let twice = EntityRules { min_visits: 2, ..rules(1) };
        let entities = find_entities(&log(&asked), [], &twice);
        assert_eq!(entities.len(), 1);
        let tea = &entities[0];
        assert_eq!((tea.name.as_str(), tea.questions, tea.alone), ("tea", 2, 2));
        assert_eq!(tea.contexts(), Contexts::from([("# house".into(), 2), ("green #".into(), 2)]));
        assert!(find_entities(&SearchLog::default(), ["x"], &twice).is_empty());
    }
}
