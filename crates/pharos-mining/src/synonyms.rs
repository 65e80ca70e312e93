//! Synonyms proposed from the logs, for an operator to confirm: `graph/synonyms.json`, written by builds.
//!
//! Two words are proposed if queries that differ in nothing else lead to the same pages: either users replaced one by the
//! other, or the clicks agree almost entirely (cf. Jones, Rey, Madani & Greiner 2006, who generate substitutions from
//! reformulations, and Wei, Peng & Dumoulin 2008, who confirm them by clicks). Clicks differ for 北京天气 and 上海天气, which
//! users replace by each other as well. Only queries of at least k visits are compared.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Read as _};
use std::path::PathBuf;

use foldhash::fast::RandomState;
use pharos_core::{Config, Timestamp};
use pharos_store::DataDir;
use pharos_text::Analyser;
use pharos_text::analyser::stem::stem_term;
use pharos_text::analyser::stop_words::is_stop_word;
use serde::{Deserialize, Serialize};

use crate::clicks::ClickGraph;
use crate::clicks::days::{self, GraphRules, StoredDays};
use crate::clicks::similarity::{ClickSimilarity, Side, most_similar, similarity};
use crate::refusals::{Refusal, Refusals};
use crate::sessions::is_correction;

const FILE_NAME: &str = "synonyms.json";
/// Maximum size of the file in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// Maximum number of proposals, the best supported first.
const MAX_PROPOSALS: usize = 200;
/// Least cosine of the clicks for two queries between which users replaced a word.
const CONFIRMED: f64 = 0.2;
/// Least cosine of the clicks for two queries without a reformulation.
const SAME: f64 = 0.7;
/// Queries compared with others by clicks alone, the heaviest first, and neighbours of each.
const MAX_COMPARED: usize = 1_000;
const NEIGHBOURS: usize = 5;
/// Maximum length of a proposed word, in tokens and in characters.
const MAX_TOKENS: usize = 3;
const MAX_CHARS: usize = 24;

/// Two words that may be synonyms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SynonymProposal {
    pub words: [String; 2],
    /// Number of visits that replaced one word by the other.
    pub visits: u32,
    /// Greatest cosine of the clicks for two queries that differ in these words only.
    pub similarity: f64,
    /// These queries.
    pub queries: [String; 2],
}

/// Proposes synonyms from the days that the last build has stored, and replaces the file of proposals. Returns their number.
///
/// # Errors
/// Fails if the days cannot be listed, or the file cannot be written.
pub fn update_proposals(data: &DataDir, config: &Config, now: Timestamp) -> io::Result<usize> {
    let rules = GraphRules::from_config(config);
    let days = StoredDays::list(data)?;
    let visits = days.visits();
    let is_used = |query: &str| visits.get(query).is_some_and(|visits| *visits >= rules.min_visits);
    let mut rephrased: HashMap<(String, String), u32, RandomState> = HashMap::default();
    days.for_each(&mut |_, day| {
        for (next, visits) in day.rephrased.iter().filter(|(next, _)| is_used(&day.query) && is_used(next)) {
            *rephrased.entry(ordered(&day.query, next)).or_default() += visits;
        }
    });
    rephrased.retain(|_, visits| *visits >= rules.min_visits);
    let graph = days::load(data, &rules, now)?.graph;
    let proposals = propose(&graph, &rephrased);
    if !proposals.is_empty() || file(data).exists() {
        write_proposals(data, &proposals)?;
    }
    Ok(proposals.len())
}

fn write_proposals(data: &DataDir, proposals: &[SynonymProposal]) -> io::Result<()> {
    pharos_files::create_dir_all(&data.graph())?;
    pharos_files::replace_private(&file(data), &serde_json::to_vec_pretty(proposals)?)
}

/// Reads the proposals of the last build that no operator has rejected.
///
/// # Errors
/// Fails if the file of proposals or that of rejections cannot be read.
pub fn read_proposals(data: &DataDir) -> io::Result<Vec<SynonymProposal>> {
    let mut bytes = Vec::new();
    match fs::File::open(file(data)) {
        Ok(file) => file.take(MAX_BYTES).read_to_end(&mut bytes)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut proposals: Vec<SynonymProposal> = serde_json::from_slice(&bytes)?;
    let refused = Refusals::load(&data.models())?;
    proposals.retain(|proposal| {
        let [a, b] = &proposal.words;
        !refused.contains(&Refusal::synonyms(a, b))
    });
    Ok(proposals)
}

fn file(data: &DataDir) -> PathBuf {
    data.graph().join(FILE_NAME)
}

fn ordered(a: &str, b: &str) -> (String, String) {
    if a <= b { (a.into(), b.into()) } else { (b.into(), a.into()) }
}

/// Proposes synonyms from pairs of queries: those between which users replaced a word, with numbers of visits, and those
/// with nearly the same clicks.
fn propose(
    graph: &ClickGraph,
    rephrased: &HashMap<(String, String), u32, RandomState>,
) -> Vec<SynonymProposal> {
    let mut pairs: BTreeMap<(String, String), u32> = BTreeMap::new();
    let mut heaviest: Vec<u32> = (0..graph.queries.len() as u32).collect();
    heaviest.sort_by(|a, b| graph.query_weight(*b).total_cmp(&graph.query_weight(*a)).then(a.cmp(b)));
    for query in heaviest.into_iter().take(MAX_COMPARED) {
        let near = most_similar(graph, Side::Queries, query, ClickSimilarity::Cosine, NEIGHBOURS);
        for (other, _) in near.into_iter().filter(|(_, cosine)| *cosine >= SAME) {
            pairs.insert(ordered(graph.queries.text(query), graph.queries.text(other)), 0);
        }
    }
    rephrased.iter().for_each(|(pair, visits)| _ = pairs.insert(pair.clone(), *visits));
    let mut proposals: BTreeMap<(String, String), SynonymProposal> = BTreeMap::new();
    for ((a, b), visits) in pairs {
        let Some([x, y]) = replaced_words(&a, &b) else { continue };
        let numbers = graph.queries.number(&a).zip(graph.queries.number(&b));
        let cosine =
            numbers.map_or(0.0, |(a, b)| similarity(graph, Side::Queries, a, b, ClickSimilarity::Cosine));
        if cosine < if visits > 0 { CONFIRMED } else { SAME } {
            continue;
        }
        let key = ordered(&x, &y);
        let words = [key.0.clone(), key.1.clone()];
        let new = SynonymProposal { words, visits: 0, similarity: 0.0, queries: Default::default() };
        let proposal = proposals.entry(key).or_insert(new);
        proposal.visits = proposal.visits.saturating_add(visits);
        if cosine > proposal.similarity {
            proposal.similarity = cosine;
            proposal.queries = [a, b];
        }
    }
    let mut proposals: Vec<SynonymProposal> = proposals.into_values().collect();
    proposals.sort_by(|a, b| b.visits.cmp(&a.visits).then(b.similarity.total_cmp(&a.similarity)));
    proposals.truncate(MAX_PROPOSALS);
    proposals
}

/// Returns the parts in which two queries differ, if these may be synonyms: words beside the same words, no numbers, and
/// neither inflected forms nor misspellings of each other.
fn replaced_words(a: &str, b: &str) -> Option<[String; 2]> {
    let analyser = Analyser::shared();
    let tokens = [analyser.tokens(a), analyser.tokens(b)];
    let shorter = tokens[0].len().min(tokens[1].len());
    let same = |at: &dyn Fn(usize, usize) -> usize| {
        let is_same = |nth: &usize| tokens[0][at(0, *nth)].text == tokens[1][at(1, *nth)].text;
        (0..shorter).take_while(is_same).count()
    };
    let before = same(&|_, nth| nth);
    let after = same(&|side, nth| tokens[side].len() - 1 - nth).min(shorter - before);
    let parts = [(a, &tokens[0]), (b, &tokens[1])].map(|(text, tokens)| {
        let own = &tokens[before..tokens.len() - after];
        let is_word =
            (1..=MAX_TOKENS).contains(&own.len()) && !own.iter().all(|token| is_stop_word(&token.text));
        let text = text.get(own.first()?.start..own.last()?.end)?.trim();
        let is_plain = text.chars().count() <= MAX_CHARS
            && text.contains(char::is_alphabetic)
            && !text.contains(|c: char| c.is_numeric() || ",，、:\"".contains(c));
        (is_word && is_plain).then(|| text.to_string())
    });
    let [Some(x), Some(y)] = parts else { return None };
    let stem = |word: &str| stem_term(word).unwrap_or_else(|| word.to_string());
    let differ = stem(&x) != stem(&y) && !is_correction(&x, &y) && !x.contains(&y) && !y.contains(&x);
    differ.then_some([x, y])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clicks::click_graph::tests::graph;

    fn words(a: &str, b: &str) -> Option<[String; 2]> {
        replaced_words(a, b)
    }

    #[test]
    fn the_words_in_which_queries_differ() {
        let pair = |x: &str, y: &str| Some([x.to_string(), y.to_string()]);
        assert_eq!(words("car rental", "automobile rental"), pair("car", "automobile"));
        assert_eq!(words("cheap car rental", "cheap car hire"), pair("rental", "hire"));
        assert_eq!(words("电脑 维修", "计算机 维修"), pair("电脑", "计算机"));
        assert_eq!(words("nyc", "new york"), pair("nyc", "new york"));
        for (a, b) in [
            ("lamp oil", "lamps oil"),
            ("lighthouse map", "lighthuose map"),
            ("windows 10", "windows 11"),
            ("tea", "green tea"),
            ("the tea", "a tea"),
            ("same", "same"),
            ("", "x"),
            ("one two three four", "five six seven eight"),
        ] {
            assert_eq!(words(a, b), None, "{a} / {b}");
        }
    }

    #[test]
    fn clicks_confirm_replacements_and_propose_what_they_agree_on() {
        let graph = graph(&[
            ("car rental", "rent", 3.0),
            ("car rental", "cars", 3.0),
            ("automobile rental", "rent", 2.0),
            ("automobile rental", "buses", 4.0),
            ("weather beijing", "beijing", 9.0),
            ("weather shanghai", "shanghai", 9.0),
            ("灯塔 地图", "map", 5.0),
            ("航标 地图", "map", 4.0),
        ]);
        let pairs = [("automobile rental", "car rental", 4), ("weather beijing", "weather shanghai", 9)];
        let rephrased = pairs.into_iter().map(|(a, b, visits)| (ordered(a, b), visits)).collect();
        let proposals = propose(&graph, &rephrased);
        let found: Vec<_> = proposals.iter().map(|found| (found.words.join(" "), found.visits)).collect();
        assert_eq!(found, [("automobile car".into(), 4), ("灯塔 航标".into(), 0)]);
        assert!((proposals[1].similarity - 1.0).abs() < 1e-6);
        assert!(propose(&ClickGraph::default(), &HashMap::default()).is_empty());
    }

    #[test]
    fn rejected_proposals_are_not_shown() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        assert_eq!(read_proposals(&data).unwrap(), []);
        let proposal = |a: &str, b: &str| SynonymProposal {
            words: [a.into(), b.into()],
            visits: 3,
            similarity: 0.5,
            queries: [a.into(), b.into()],
        };
        let all = [proposal("car", "automobile"), proposal("nyc", "new york")];
        write_proposals(&data, &all).unwrap();
        assert_eq!(read_proposals(&data).unwrap().len(), 2);
        pharos_files::power_cut::check(dir.path(), || write_proposals(&data, &all[1..]).unwrap()).unwrap();
        write_proposals(&data, &all).unwrap();
        Refusals::add(&data.models(), [Refusal::synonyms("automobile", "car")]).unwrap();
        assert_eq!(read_proposals(&data).unwrap(), all[1..]);
        fs::write(file(&data), "garbage").unwrap();
        assert!(read_proposals(&data).is_err());
    }
}
