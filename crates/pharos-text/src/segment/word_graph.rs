//! The word graph (词图): character positions are nodes, dictionary words and single characters are edges. A
//! segmentation is a path. The methods traverse the graph without building it; this type serves inspection.

use super::han_run::{Edge, HanRun};
use super::statistical::{edge_cost, own_words};
use crate::dictionary::{Lexicon, LexiconWord};

/// All words of a run of Han characters.
#[derive(Clone, Debug, PartialEq)]
pub struct WordGraph {
    characters: usize,
    edges: Vec<GraphEdge>,
}

/// A word in a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphEdge {
    /// Index of its first character.
    pub from: usize,
    /// Index of the character after it.
    pub to: usize,
    /// Start and end in the text.
    pub bytes: (usize, usize),
    /// The dictionary word; `None` for a number or an unknown character.
    pub found: Option<LexiconWord>,
    /// −ln P of the word alone.
    pub cost: f64,
}

impl WordGraph {
    /// Builds the graph of the run of Han characters at a byte of `text`; empty if there is none.
    pub fn at(text: &str, start: usize, lexicon: &Lexicon<'_>) -> Self {
        let mut han = HanRun::default();
        han.read(text, start, lexicon);
        let mut graph = Self { characters: han.len(), edges: Vec::new() };
        let mut inside = Vec::new();
        for from in 0..han.len() {
            let first = graph.edges.len();
            let mut own = Vec::new();
            own_words(lexicon, &han, from, &mut inside, |len, cost| own.push((len, cost)));
            let mut add = |len: usize, found: Option<LexiconWord>, cost: u32| {
                let to = from + len;
                if graph.edges[first..].iter().all(|edge| edge.to != to) {
                    let bytes = (han.end(from), han.end(to));
                    let cost = f64::from(cost) / crate::dictionary::NAT;
                    graph.edges.push(GraphEdge { from, to, bytes, found, cost });
                }
            };
            han.words_at(lexicon, from, |len, edge| {
                let own_cost = || own.iter().find(|(own, _)| *own == len).map_or(0, |(_, cost)| *cost);
                let cost = edge_cost(lexicon, edge).unwrap_or_else(own_cost);
                let found = if let Edge::Word(found) = edge { Some(found) } else { None };
                add(len, found, cost);
            });
            add(1, None, lexicon.base.unknown_cost());
            graph.edges[first..].sort_by_key(|edge| edge.to);
        }
        graph
    }

    /// Returns the edges, sorted by start and end.
    pub fn edges(&self) -> &[GraphEdge] {
        &self.edges
    }

    /// Returns the number of possible segmentations: 2ⁿ⁻¹ if every substring is a word.
    pub fn paths(&self) -> u64 {
        let mut ways = vec![0u64; self.characters + 1];
        ways[0] = 1;
        for edge in &self.edges {
            ways[edge.to] = ways[edge.to].saturating_add(ways[edge.from]);
        }
        if self.characters == 0 { 0 } else { ways[self.characters] }
    }

    /// Returns the first `limit` segmentations, as ends of words in bytes.
    pub fn first_paths(&self, limit: usize) -> Vec<Vec<usize>> {
        let mut found = Vec::new();
        let mut open = vec![(0, Vec::new())];
        while let Some((at, ends)) = open.pop() {
            if found.len() == limit || self.characters == 0 {
                break;
            }
            if at == self.characters {
                found.push(ends);
                continue;
            }
            let from = self.edges.partition_point(|edge| edge.from < at);
            let to = self.edges.partition_point(|edge| edge.from <= at);
            for edge in self.edges[from..to].iter().rev() {
                let mut longer = ends.clone();
                longer.push(edge.bytes.1);
                open.push((edge.to, longer));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::{Dictionary, DictionaryEntry};

    fn paths(text: &str, words: &[&str]) -> Vec<String> {
        let entries: Vec<_> =
            words.iter().map(|word| DictionaryEntry { word, frequency: 1, tag: "" }).collect();
        let dictionary = Dictionary::new(&entries);
        let graph = WordGraph::at(text, 0, &Lexicon::new(&dictionary));
        let paths = graph.first_paths(1000);
        assert_eq!(paths.len() as u64, graph.paths());
        let join = |ends: Vec<usize>| {
            let starts = std::iter::once(0).chain(ends.clone());
            let words: Vec<&str> = starts.zip(&ends).map(|(start, end)| &text[start..*end]).collect();
            words.join("/")
        };
        paths.into_iter().map(join).collect()
    }

    #[test]
    fn paths_of_brushing_early() {
        let found = paths("早起先刷牙", &["早", "起", "先", "刷", "牙", "早起", "起先", "刷牙"]);
        assert_eq!(found.len(), 6);
        for printed in ["早/起/先/刷/牙", "早/起先/刷/牙", "早/起先/刷牙", "早起/先/刷/牙", "早起/先/刷牙"]
        {
            assert!(found.iter().any(|path| path == printed), "{printed}");
        }
    }

    #[test]
    fn n_characters_have_two_to_the_n_minus_one_segmentations() {
        let text = "早起先刷牙";
        let ends: Vec<usize> = (0..=5).map(|n| 3 * n).collect();
        let every: Vec<&str> = (0..5)
            .flat_map(|a| (a + 1..=5).map(move |b| (a, b)))
            .map(|(a, b)| &text[ends[a]..ends[b]])
            .collect();
        assert_eq!(paths(text, &every).len(), 16);
        assert_eq!(paths("灯", &[]).len(), 1);
        assert!(paths("", &[]).is_empty());
        assert_eq!(WordGraph::at(&"灯".repeat(200), 0, &Lexicon::default()).paths(), 1);
    }
}
