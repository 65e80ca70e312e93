//! Explains the segmentation of a text.

use serde::Serialize;

use super::han_run::HanRun;
use super::maximum_matching::{Direction, differences};
use super::method::{ModelRequired, SegmentationMethod, SegmenterResources, segmenter};
use super::numerals;
use super::runs::{self, RunKind};
use super::word_graph::WordGraph;
use super::{HanBuffers, SegmenterBuffers};
use crate::dictionary::{Lexicon, LexiconWord};

/// A segmentation with its explanation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SegmentationExplanation<'t> {
    pub method: SegmentationMethod,
    /// The words in order; concatenated, they are the text.
    pub words: Vec<ExplainedWord<'t>>,
    /// Word graph of each run of Han characters, for methods that search for a path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub graphs: Vec<ExplainedGraph<'t>>,
    /// Results of both directions for each run of Han characters, for the bidirectional method.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub directions: Vec<DirectionComparison<'t>>,
}

/// A word with its dictionary attributes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedWord<'t> {
    pub word: &'t str,
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
    #[serde(rename = "what")]
    pub piece_type: PieceType,
    /// Code in its dictionary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<u32>,
    /// Part of speech.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// The type of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PieceType {
    Base,
    /// A word of the installation.
    Own,
    /// A number, optionally with its unit.
    Number,
    Letters,
    Space,
    /// Punctuation and other signs.
    Mark,
    /// Han characters that are in no dictionary: left over, or joined by a model.
    Unknown,
}

/// The word graph of a run of Han characters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedGraph<'t> {
    pub run: &'t str,
    /// Number of possible segmentations.
    pub paths: u64,
    pub edges: Vec<ExplainedEdge<'t>>,
}

/// A word of the graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedEdge<'t> {
    pub word: &'t str,
    /// Index of its first character in the run.
    pub from: usize,
    /// Index of the character after it.
    pub to: usize,
    /// −ln P of the word alone.
    pub cost: f64,
    /// `true` if the word is on the chosen path.
    pub taken: bool,
}

/// A run of Han characters segmented in both directions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DirectionComparison<'t> {
    /// From the left.
    pub forward: Vec<&'t str>,
    /// From the right.
    pub reverse: Vec<&'t str>,
    /// The spans where the directions differ.
    pub differ: Vec<&'t str>,
}

/// Segments a text and explains the result. For inspection only: it is slow and uses more memory.
///
/// # Errors
/// Fails if the method requires a trained model and none is given.
pub fn explain<'t>(
    text: &'t str,
    method: SegmentationMethod,
    resources: &SegmenterResources<'_>,
) -> Result<SegmentationExplanation<'t>, ModelRequired> {
    let mut ends = Vec::new();
    segmenter(method, resources)?.segment(text, &mut SegmenterBuffers::default(), &mut ends);
    let lexicon = resources.lexicon();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let words = starts.zip(&ends).map(|(start, end)| explain_word(text, start, *end, &lexicon)).collect();
    let mut explanation =
        SegmentationExplanation { method, words, graphs: Vec::new(), directions: Vec::new() };
    let mut han = HanRun::default();
    let (mut at, mut skipped) = (0, Vec::new());
    while at < text.len() {
        let (kind, end) = runs::piece(text, at, &mut skipped);
        if kind != RunKind::Han {
            at = runs::longer_word(text, at..end, kind, &lexicon).unwrap_or(end);
            continue;
        }
        let end = han.read(text, at, &lexicon);
        if method == SegmentationMethod::Bidirectional {
            explanation.directions.push(compare_directions(text, &han, resources));
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
    let code = found.map(|(LexiconWord::Base(code) | LexiconWord::Own(code))| code.0);
    let piece_type = match found {
        Some(LexiconWord::Base(_)) => PieceType::Base,
        Some(LexiconWord::Own(_)) => PieceType::Own,
        None => what(word),
    };
    let tag = found.map(|found| lexicon.tag(found)).filter(|tag| !tag.is_empty());
    ExplainedWord { word, start, end, piece_type, code, frequency: found.map(|f| lexicon.frequency(f)), tag }
}

fn what(word: &str) -> PieceType {
    match runs::piece(word, 0, &mut Vec::new()).0 {
        RunKind::Han if numerals::is_number(word) => PieceType::Number,
        RunKind::Han => PieceType::Unknown,
        RunKind::Number => PieceType::Number,
        RunKind::Letters => PieceType::Letters,
        RunKind::Space => PieceType::Space,
        RunKind::Mark => PieceType::Mark,
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
        // An edge is chosen if there are boundaries at both ends and none inside.
        let first_after_start = ends.partition_point(|border| *border <= start);
        let begins = start == run.start || ends.binary_search(&start).is_ok();
        let taken = begins && ends.get(first_after_start) == Some(&end);
        ExplainedEdge { word: &text[start..end], from: edge.from, to: edge.to, cost: edge.cost, taken }
    });
    ExplainedGraph { edges: edges.collect(), paths: graph.paths(), run: &text[run] }
}

fn compare_directions<'t>(
    text: &'t str,
    han: &HanRun,
    resources: &SegmenterResources<'_>,
) -> DirectionComparison<'t> {
    let mut buffers = HanBuffers::default();
    resources.maximum_matching(Direction::Both).both(han, &mut buffers);
    let slices = |ends: &[usize]| -> Vec<&'t str> {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(ends).map(|(start, end)| &text[han.end(start)..han.end(*end)]).collect()
    };
    let HanBuffers { forward, reverse, .. } = &buffers;
    let differ = differences(forward, reverse)
        .filter(|(_, ours, theirs)| forward[ours.clone()] != reverse[theirs.clone()]);
    let differ = differ.map(|(from, ours, _)| &text[han.end(from)..han.end(forward[ours.end - 1])]).collect();
    DirectionComparison { forward: slices(forward), reverse: slices(reverse), differ }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_has_its_reason() {
        let text = "学历史知识,三百二十七号 web2";
        let explained = explain(text, SegmentationMethod::Unigram, &SegmenterResources::default()).unwrap();
        assert_eq!(explained.words.iter().map(|w| w.word).collect::<String>(), text);
        let what: Vec<PieceType> = explained.words.iter().map(|w| w.piece_type).collect();
        assert_eq!(
            what,
            [
                PieceType::Base,
                PieceType::Base,
                PieceType::Base,
                PieceType::Mark,
                PieceType::Number,
                PieceType::Base,
                PieceType::Space,
                PieceType::Letters
            ]
        );
        assert!(explained.words[1].code.is_some() && explained.words[1].frequency > Some(1000));
        let graph = &explained.graphs[0];
        assert!(graph.paths >= 6 && graph.run == "学历史知识");
        let taken: Vec<&str> = graph.edges.iter().filter(|e| e.taken).map(|e| e.word).collect();
        assert_eq!(taken, ["学", "历史", "知识"]);
    }

    #[test]
    fn both_directions_are_explained() {
        let explained =
            explain("他学历史知识。", SegmentationMethod::Bidirectional, &SegmenterResources::default())
                .unwrap();
        let [comparison] = &explained.directions[..] else { panic!("one run") };
        assert_eq!(comparison.forward, ["他", "学历", "史", "知识"]);
        assert_eq!(comparison.reverse, ["他", "学", "历史", "知识"]);
        assert_eq!(comparison.differ, ["学历史"]);
    }
}
