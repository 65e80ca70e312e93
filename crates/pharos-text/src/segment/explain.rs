//! Why a text is cut the way it is.

use serde::Serialize;

use super::han::Han;
use super::maximum_matching::{Direction, differences};
use super::method::{Method, NeedsModel, Resources, segmenter};
use super::numerals;
use super::runs::{self, Kind};
use super::word_graph::WordGraph;
use super::{Buffers, Work};
use crate::dictionary::{Found, Lexicon};

/// A cut with its reasons.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation<'t> {
    /// The method that cut.
    pub method: Method,
    /// The words, in order; joined, they are the text.
    pub words: Vec<ExplainedWord<'t>>,
    /// For methods that look for a path: the word graph of each run of Han characters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub graphs: Vec<ExplainedGraph<'t>>,
    /// For the bidirectional method: each run of Han characters from both directions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub directions: Vec<TwoCuts<'t>>,
}

/// A word and what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedWord<'t> {
    /// As it stands.
    pub word: &'t str,
    /// First byte.
    pub start: usize,
    /// First byte after it.
    pub end: usize,
    /// Why it is a piece.
    pub what: What,
    /// Its code in its dictionary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<u32>,
    /// How often it was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<u32>,
    /// Its part of speech.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// Why something is a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A word of the base dictionary.
    Base,
    /// One of the user's own words.
    Own,
    /// A number, with its unit perhaps.
    Number,
    /// Letters and digits.
    Letters,
    /// White space.
    Space,
    /// Punctuation and other signs.
    Mark,
    /// Han characters that no dictionary has: left over, or put together by a model.
    Unknown,
}

/// The word graph of a run of Han characters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedGraph<'t> {
    /// The run.
    pub run: &'t str,
    /// How many ways there are to cut it.
    pub paths: u64,
    /// Its words.
    pub edges: Vec<ExplainedEdge<'t>>,
}

/// A word that the run could be cut into.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedEdge<'t> {
    /// The word.
    pub word: &'t str,
    /// The character of the run that it begins with.
    pub from: usize,
    /// The character after it.
    pub to: usize,
    /// −ln P of the word on its own.
    pub cost: f64,
    /// Is it on the path that was taken?
    pub taken: bool,
}

/// A run of Han characters cut from both directions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TwoCuts<'t> {
    /// From the left.
    pub forward: Vec<&'t str>,
    /// From the right.
    pub reverse: Vec<&'t str>,
    /// The stretches where they differ.
    pub differ: Vec<&'t str>,
}

/// Cuts a text and says why. For looking at: it takes its time and its memory.
pub fn explain<'t>(
    text: &'t str,
    method: Method,
    resources: &Resources<'_>,
) -> Result<Explanation<'t>, NeedsModel> {
    let mut ends = Vec::new();
    segmenter(method, resources)?.cut(text, &mut Work::default(), &mut ends);
    let lexicon = resources.lexicon();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let words = starts.zip(&ends).map(|(start, end)| explain_word(text, start, *end, &lexicon)).collect();
    let mut explanation = Explanation { method, words, graphs: Vec::new(), directions: Vec::new() };
    let mut han = Han::default();
    let (mut at, mut skipped) = (0, Vec::new());
    while at < text.len() {
        let (kind, end) = runs::piece(text, at, &mut skipped);
        if kind != Kind::Han {
            at = runs::longer_word(text, at..end, kind, &lexicon).unwrap_or(end);
            continue;
        }
        let end = han.read(text, at, &lexicon);
        if method == Method::Bidirectional {
            explanation.directions.push(two_cuts(text, &han, resources));
        } else if method.direction().is_none() {
            explanation.graphs.push(explain_graph(text, at..end, &ends, &lexicon));
        }
        at = end;
    }
    Ok(explanation)
}

fn explain_word<'t>(text: &'t str, start: usize, end: usize, lexicon: &Lexicon<'_>) -> ExplainedWord<'t> {
    let word = &text[start..end];
    let found = lexicon.find(word);
    let code = found.map(|(Found::Base(code) | Found::Own(code))| code.0);
    let what = match found {
        Some(Found::Base(_)) => What::Base,
        Some(Found::Own(_)) => What::Own,
        None => what(word),
    };
    let tag = found.map(|found| lexicon.tag(found)).filter(|tag| !tag.is_empty());
    ExplainedWord { word, start, end, what, code, frequency: found.map(|f| lexicon.frequency(f)), tag }
}

fn what(word: &str) -> What {
    match runs::piece(word, 0, &mut Vec::new()).0 {
        Kind::Han if numerals::is_number(word) => What::Number,
        Kind::Han => What::Unknown,
        Kind::Number => What::Number,
        Kind::Letters => What::Letters,
        Kind::Space => What::Space,
        Kind::Mark => What::Mark,
    }
}

fn explain_graph<'t>(
    text: &'t str,
    run: std::ops::Range<usize>,
    ends: &[usize],
    lexicon: &Lexicon<'_>,
) -> ExplainedGraph<'t> {
    let graph = WordGraph::at(text, run.start, lexicon);
    let edges = graph.edges().iter().map(|edge| {
        let (start, end) = edge.bytes;
        // Taken, if no border stands inside of it and borders stand at both ends.
        let first_after_start = ends.partition_point(|border| *border <= start);
        let begins = start == run.start || ends.binary_search(&start).is_ok();
        let taken = begins && ends.get(first_after_start) == Some(&end);
        ExplainedEdge { word: &text[start..end], from: edge.from, to: edge.to, cost: edge.cost, taken }
    });
    ExplainedGraph { edges: edges.collect(), paths: graph.paths(), run: &text[run] }
}

fn two_cuts<'t>(text: &'t str, han: &Han, resources: &Resources<'_>) -> TwoCuts<'t> {
    let mut buffers = Buffers::default();
    resources.maximum_matching(Direction::Both).both(han, &mut buffers);
    let slices = |ends: &[usize]| -> Vec<&'t str> {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(ends).map(|(start, end)| &text[han.end(start)..han.end(*end)]).collect()
    };
    let Buffers { forward, reverse, .. } = &buffers;
    let differ = differences(forward, reverse)
        .filter(|(_, ours, theirs)| forward[ours.clone()] != reverse[theirs.clone()]);
    let differ = differ.map(|(from, ours, _)| &text[han.end(from)..han.end(forward[ours.end - 1])]).collect();
    TwoCuts { forward: slices(forward), reverse: slices(reverse), differ }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_has_its_reason() {
        let text = "学历史知识,三百二十七号 web2";
        let explained = explain(text, Method::Unigram, &Resources::default()).unwrap();
        assert_eq!(explained.words.iter().map(|w| w.word).collect::<String>(), text);
        let what: Vec<What> = explained.words.iter().map(|w| w.what).collect();
        assert_eq!(
            what,
            [
                What::Base,
                What::Base,
                What::Base,
                What::Mark,
                What::Number,
                What::Base,
                What::Space,
                What::Letters
            ]
        );
        assert!(explained.words[1].code.is_some() && explained.words[1].frequency > Some(1000));
        let graph = &explained.graphs[0];
        assert!(graph.paths >= 6 && graph.run == "学历史知识");
        let taken: Vec<&str> = graph.edges.iter().filter(|e| e.taken).map(|e| e.word).collect();
        assert_eq!(taken, ["学", "历史", "知识"]);
    }

    #[test]
    fn both_directions_are_told() {
        let explained = explain("他学历史知识。", Method::Bidirectional, &Resources::default()).unwrap();
        let [cuts] = &explained.directions[..] else { panic!("one run") };
        assert_eq!(cuts.forward, ["他", "学历", "史", "知识"]);
        assert_eq!(cuts.reverse, ["他", "学", "历史", "知识"]);
        assert_eq!(cuts.differ, ["学历史"]);
    }
}
