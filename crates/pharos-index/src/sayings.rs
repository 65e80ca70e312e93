//! What pages are called and which words they have: what people are helped to ask with.

use pharos_text::is_han;
use pharos_text::phrasebook::Writer;
use tantivy::termdict::TermMerger;

use crate::address::SiteRules;
use crate::snapshot::ChainSnapshot;
use crate::{CAPITALS, IndexError, Members, Snapshot};

/// What stands between the name of a page and that of its site in a title.
const BETWEEN: [&str; 10] = [" - ", " – ", " — ", " | ", "_", "|", "——", " :: ", " » ", " · "];

/// How much more the title of the most important page counts than that of the least.
const IMPORTANCE: f32 = 9.0;

/// Fewer documents than this are told by every word they have; of more, words of one document are mostly misspelt.
const FEW: u64 = 1_000;

/// Characters of words that people look for.
const HAN: std::ops::RangeInclusive<usize> = 2..=8;
const LETTERS: std::ops::RangeInclusive<usize> = 3..=32;

/// What people are helped to ask with, by how often it was seen and how much that means.
#[derive(Debug, Default)]
pub struct Sayings {
    /// Titles.
    pub phrases: Writer,
    /// Words.
    pub words: Writer,
}

impl Sayings {
    /// Those of pages that can be found.
    pub fn of(snapshot: &dyn Snapshot, members: Members) -> Result<Self, IndexError> {
        let mut sayings = Self::default();
        let mut pages = 0;
        snapshot.titles(members, &mut |title| {
            pages += 1;
            let weight = 1.0 + IMPORTANCE * title.static_rank;
            parts(title.title).for_each(|part| sayings.phrases.add(part, weight));
        })?;
        let least = if pages < FEW { 1 } else { 2 };
        snapshot.words(members, &mut |word, documents| {
            if documents >= least && is_word(word) {
                sayings.words.add(word, documents as f32);
            }
        })?;
        Ok(sayings)
    }
}

/// The parts of a title: what the page is called, and what its site is.
fn parts(title: &str) -> impl Iterator<Item = &str> {
    let mut parts = vec![title];
    for between in BETWEEN {
        parts = parts.into_iter().flat_map(|part| part.split(between)).collect();
    }
    parts.into_iter().map(str::trim).filter(|part| part.chars().nth(1).is_some())
}

fn is_word(word: &str) -> bool {
    let letters = word.chars().count();
    if word.chars().all(is_han) {
        HAN.contains(&letters)
    } else {
        LETTERS.contains(&letters) && word.chars().all(char::is_alphabetic) && !word.contains(is_han)
    }
}

/// The title of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Title<'t> {
    /// As it stands on the page; may be empty.
    pub title: &'t str,
    /// What the web thinks of the page, between 0 and 1.
    pub static_rank: f32,
}

/// Tells the titles of pages that can be found, in no order.
pub(crate) fn titles(
    chain: &ChainSnapshot,
    members: Members,
    each: &mut dyn FnMut(Title<'_>),
) -> Result<(), IndexError> {
    let rules = SiteRules::default();
    for (_, view) in chain.asked(members) {
        let failed = IndexError::tantivy(&view.path);
        for (segment, reader) in (0..).zip(view.searcher.segment_readers()) {
            let (columns, shown) =
                (view.columns(segment).map_err(&failed)?, view.shown(segment, &rules).map_err(&failed)?);
            for doc in 0..reader.max_doc() {
                if reader.is_deleted(doc) || shown.addresses(doc).next().is_none() {
                    continue;
                }
                if let Some(card) = columns.card(doc) {
                    each(Title { title: &card.title, static_rank: columns.static_rank(doc) });
                }
            }
        }
    }
    Ok(())
}

/// Tells the words of pages in the order of their bytes, with the number of documents that have them, replaced ones
/// among them. Stems and marks of capitals are none.
pub(crate) fn words(
    chain: &ChainSnapshot,
    members: Members,
    each: &mut dyn FnMut(&str, u64),
) -> Result<(), IndexError> {
    let (mut readers, mut path) = (Vec::new(), None);
    for (_, view) in chain.asked(members) {
        for reader in view.searcher.segment_readers() {
            readers.push(reader.inverted_index(chain.fields.text).map_err(IndexError::tantivy(&view.path))?);
        }
        path = Some(&view.path);
    }
    let Some(path) = path else { return Ok(()) };
    let failed = |error: std::io::Error| IndexError::tantivy(path)(error.into());
    let streams: Result<Vec<_>, _> = readers.iter().map(|reader| reader.terms().stream()).collect();
    let mut terms = TermMerger::new(streams.map_err(failed)?);
    while terms.advance() {
        let Ok(word) = std::str::from_utf8(terms.key()) else { continue };
        if !word.starts_with([CAPITALS, pharos_text::stem::STEM_MARK]) {
            each(
                word,
                terms.current_segment_ords_and_term_infos().map(|(_, info)| u64::from(info.doc_freq)).sum(),
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_name_of_a_page_and_of_its_site() {
        let parts = |title| parts(title).collect::<Vec<_>>();
        assert_eq!(parts("灯塔的历史_海港网"), ["灯塔的历史", "海港网"]);
        assert_eq!(parts("Lamps - Lenses | Harbour-News"), ["Lamps", "Lenses", "Harbour-News"]);
        assert!(parts(" | - ").is_empty());
    }

    #[test]
    fn numbers_and_single_characters_are_no_words() {
        for word in ["灯塔", "lamp", "été"] {
            assert!(is_word(word), "{word}");
        }
        for none in ["灯", "of", "1890", "node.js", "4k电视", "/2国家图书馆"] {
            assert!(!is_word(none), "{none}");
        }
    }
}
