//! Query-dependent snippets (动态摘要) by a sliding window.
//!
//! The method of 《走进搜索引擎》 §5.5: occurrences of the query's words are marked with position, length and weight;
//! a candidate window begins at each occurrence and scores the weights inside; the best one is moved to where
//! sentences begin and end. Windows are measured in characters, never in bytes.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;

use pharos_text::is_han;

use crate::highlight::{Marker, mark};

/// Texts are searched for the query's words up to here; a word that first comes later is not in the snippet.
const MAX_TEXT: usize = 128 << 10;

/// How many characters a snippet has: Han characters are twice as wide and say as much as a short word.
const WINDOW_HAN: usize = 90;
const WINDOW: usize = 200;

/// So many of the best windows are moved to sentences and compared.
const CANDIDATES: usize = 8;

/// Occurrences beyond this many say nothing new.
const MARKS: usize = 256;

/// Shorter lines are menus, captions and lists.
const PROSE_LENGTH: usize = 40;

/// A snippet, plain and marked.
#[derive(Debug, PartialEq)]
pub(crate) struct Snippet {
    pub(crate) text: String,
    pub(crate) html: String,
}

/// The part of a page's text that speaks of `words`, at most so many characters. A page that has none of them in its text
/// shows what it is about.
pub(crate) fn snippet(page: &pharos_index::Text, most: Option<u32>, words: &Marker) -> Snippet {
    let most = most.map_or(usize::MAX, |most| most as usize);
    let body = &page.body[..page.body.floor_char_boundary(MAX_TEXT)];
    let all = words.occurrences(body);
    if all.is_empty() && !page.summary.is_empty() {
        return quote(&Text::new(&page.summary), &words.occurrences(&page.summary), most, words);
    }
    quote(&Text::new(body), &all, most, words)
}

/// The best window of a text around these occurrences.
fn quote(text: &Text<'_>, all: &[Range<usize>], most: usize, words: &Marker) -> Snippet {
    let han = text.chars.iter().take(2_000).filter(|c| is_han(**c)).count();
    let window = if han * 4 > text.chars.len().min(2_000) { WINDOW_HAN } else { WINDOW };
    let window = window.min(most);
    if window == 0 {
        return Snippet { text: String::new(), html: String::new() };
    }
    let written = |at: &Range<usize>| text.text[at.clone()].to_lowercase();
    let in_prose: Vec<_> =
        all.iter().filter(|at| is_prose(line_around(text.text, at.start))).cloned().collect();
    let said = |marks: &[Range<usize>]| marks.iter().map(written).collect::<HashSet<_>>().len();
    // Prose says more than menus and lists of links, as long as it speaks of the same words.
    let shown = if said(&in_prose) == said(all) { &in_prose } else { all };
    let marks: Vec<Mark> = shown
        .iter()
        .map(|range| {
            let (at, end) = (text.char_at(range.start), text.char_at(range.end));
            // A longer word is rarer and says more.
            Mark { at, length: end - at, weight: (end - at).min(8) as u32 }
        })
        .collect();
    let mut range = best_adjusted(text, &marks, window, &|mark| {
        text.text[text.byte_at(mark.at)..text.byte_at(mark.at + mark.length)].to_lowercase()
    });
    range.end = range.end.min(range.start.saturating_add(most));
    render(text, range, words)
}

/// The best window once windows have moved to where sentences begin and end, and of equal ones the first. A word that a
/// window has several times counts little more than once.
fn best_adjusted(
    text: &Text<'_>,
    marks: &[Mark],
    window: usize,
    word: &dyn Fn(&Mark) -> String,
) -> Range<usize> {
    let length = text.chars.len();
    if length <= window {
        return 0..length;
    }
    let words: Vec<String> = marks.iter().take(MARKS).map(word).collect();
    let score = |range: &Range<usize>| {
        let mut known = HashSet::new();
        let first = marks.partition_point(|mark| mark.at < range.start);
        let inside = marks.iter().zip(&words).skip(first).take_while(|(m, _)| m.at + m.length <= range.end);
        inside
            .map(|(mark, word)| if known.insert(word) { mark.weight * 16 } else { mark.weight })
            .sum::<u32>()
    };
    let best_first = |(score, range): &(u32, Range<usize>)| (Reverse(*score), range.start);
    let candidates = windows(&marks[..words.len()], length, window, window * 3 / 4);
    let ranges = candidates.iter().map(|window| window.at..window.at + window.length);
    let mut best: Vec<(u32, Range<usize>)> = ranges.map(|range| (score(&range), range)).collect();
    best.sort_by_key(best_first);
    best.truncate(CANDIDATES);
    for (points, range) in &mut best {
        *range = adjust(&text.chars, range.clone(), window);
        *points = score(range);
    }
    best.sort_by_key(best_first);
    best.into_iter().next().map_or_else(|| adjust(&text.chars, 0..window, window), |(_, range)| range)
}

/// The line of a text that a byte stands in; the stored text has one line a paragraph.
fn line_around(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
    &text[start..end]
}

/// A line with sentences in it, and not the small print.
fn is_prose(line: &str) -> bool {
    let line = line.trim();
    let ends = |c: char| matches!(c, '。' | '！' | '？' | '.' | '!' | '?' | '；');
    line.len() >= PROSE_LENGTH && line.contains(ends) && !line.starts_with(['©', '版'])
}

fn render(text: &Text<'_>, range: Range<usize>, words: &Marker) -> Snippet {
    let slice = &text.text[text.byte_at(range.start)..text.byte_at(range.end)];
    // One line: paragraphs are separated by line feeds in the stored text.
    let line = slice.split_whitespace().collect::<Vec<_>>().join(" ");
    let before = if range.start > 0 { "… " } else { "" };
    let after = if range.end < text.chars.len() { " …" } else { "" };
    let html = mark(&line, &words.occurrences(&line));
    Snippet { text: format!("{before}{line}{after}"), html: format!("{before}{html}{after}") }
}

/// An occurrence of a query word, in characters.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at: usize,
    length: usize,
    weight: u32,
}

/// A candidate: a window that begins at an occurrence, and the weights inside it.
#[derive(Debug, PartialEq)]
struct Window {
    at: usize,
    length: usize,
    score: u32,
}

/// A window begins at each occurrence. Those cut off by the end of the text below the minimum are no candidates,
/// unless the text itself is that short.
fn windows(marks: &[Mark], length: usize, window: usize, minimum: usize) -> Vec<Window> {
    let mut candidates = Vec::new();
    let mut inside = 0;
    for (first, mark) in marks.iter().enumerate() {
        let end = (mark.at + window).min(length);
        inside = inside.max(first);
        while marks.get(inside).is_some_and(|m| m.at + m.length <= end) {
            inside += 1;
        }
        if end - mark.at >= minimum.min(length) || first == 0 {
            let score = marks[first..inside].iter().map(|m| m.weight).sum();
            candidates.push(Window { at: mark.at, length: end - mark.at, score });
        }
    }
    candidates
}

/// The best window before sentences are looked at; of equal ones the first.
#[cfg(test)]
fn best_window(candidates: &[Window]) -> Option<Range<usize>> {
    let best = candidates.iter().rev().max_by_key(|w| w.score)?;
    Some(best.at..best.at + best.length)
}

/// Moves a window's head back to the beginning of its sentence where that is near, and trims a next sentence that
/// has only just begun at its tail. Where a sentence is too long, words are kept whole instead.
fn adjust(chars: &[char], window: Range<usize>, size: usize) -> Range<usize> {
    let near = size / 3;
    let floor = window.start.saturating_sub(near);
    let mut start = match (floor..window.start).rev().find(|&i| ends_sentence(chars, i)) {
        Some(end) => end + 1,
        None if floor == 0 => 0,
        None => (floor..window.start).rev().find(|&i| !in_word(chars, i)).map_or(window.start, |i| i + 1),
    };
    while start < window.start && chars[start].is_whitespace() {
        start += 1;
    }
    let end = (start + size).max(window.end.min(start + size + near)).min(chars.len());
    if end == chars.len() {
        return start..end;
    }
    let begun = end.saturating_sub(size / 4).max(start + 1);
    let end = match (begun..end).rev().find(|&i| ends_sentence(chars, i)) {
        Some(last) => last + 1,
        None => (begun..=end)
            .rev()
            .find(|&i| i < chars.len() && !(in_word(chars, i) && in_word(chars, i - 1)))
            .unwrap_or(end),
    };
    start..end
}

fn ends_sentence(chars: &[char], at: usize) -> bool {
    match chars[at] {
        '。' | '！' | '？' | '；' | '\n' => true,
        // A dot ends a sentence only before a space: 3.14 does not.
        '.' | '!' | '?' => chars.get(at + 1).is_none_or(|c| c.is_whitespace()),
        _ => false,
    }
}

/// Part of a word that must not be cut: letters and digits, but every Han character stands alone.
fn in_word(chars: &[char], at: usize) -> bool {
    chars.get(at).is_some_and(|c| c.is_alphanumeric() && !is_han(*c))
}

/// A text by characters and by bytes.
struct Text<'a> {
    text: &'a str,
    chars: Vec<char>,
    offsets: Vec<usize>,
}

impl<'a> Text<'a> {
    fn new(text: &'a str) -> Self {
        let (offsets, chars) = text.char_indices().unzip();
        Self { text, chars, offsets }
    }

    fn char_at(&self, byte: usize) -> usize {
        self.offsets.partition_point(|o| *o < byte)
    }

    fn byte_at(&self, char: usize) -> usize {
        self.offsets.get(char).copied().unwrap_or(self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The worked example: 115 characters, 搜索引擎 (weight 6) at 0, 46, 88, 数学 (weight 4) at 30, 41, 80.
    fn book_marks() -> Vec<Mark> {
        let mut marks: Vec<Mark> = [0, 46, 88].map(|at| Mark { at, length: 4, weight: 6 }).into();
        marks.extend([30, 41, 80].map(|at| Mark { at, length: 2, weight: 4 }));
        marks.sort_by_key(|m| m.at);
        marks
    }

    #[test]
    fn candidate_windows_of_the_book() {
        let found = windows(&book_marks(), 115, 40, 1);
        let scores: Vec<_> = found.iter().map(|w| (w.at, w.score)).collect();
        assert_eq!(scores, [(0, 10), (30, 14), (41, 10), (46, 10), (80, 10), (88, 6)]);
        assert_eq!(best_window(&found), Some(30..70));
    }

    #[test]
    fn a_window_below_the_minimum_is_no_candidate() {
        let found = windows(&book_marks(), 115, 40, 30);
        assert!(found.iter().all(|w| w.at != 88), "27 characters are left there");
        assert_eq!(found.len(), 5);
    }

    #[test]
    fn windows_move_to_sentences() {
        let text: Vec<char> =
            format!("{}。{}。{}", "甲".repeat(37), "乙".repeat(39), "丙".repeat(36)).chars().collect();
        // A window at 41 of 40 characters begins 3 after a sentence does, and its last 3 begin the next one.
        let moved = adjust(&text, 41..81, 40);
        assert_eq!(moved, 38..78, "from the sentence's beginning to its end");
        assert_eq!(adjust(&text, 42..82, 40), moved, "windows that become equal are one");
    }

    #[test]
    fn the_begun_next_sentence_is_cut_off() {
        let text: Vec<char> = format!("{}。{}", "乙".repeat(36), "丙".repeat(40)).chars().collect();
        assert_eq!(adjust(&text, 0..40, 40), 0..37, "37 characters of the sentence, 3 of the next gone");
    }

    fn make(body: &str, words: &[&str]) -> Snippet {
        let page = pharos_index::Text { body: body.into(), summary: String::new() };
        snippet(&page, None, &Marker::of(words.iter().copied()))
    }

    #[test]
    fn snippets_show_the_words_wherever_they_stand() {
        let body =
            format!("{} The keeper lit the lamp. {}", "Nothing here. ".repeat(50), "More of it. ".repeat(50));
        let found = make(&body, &["keeper", "lamp"]);
        assert!(found.html.contains("<mark>keeper</mark> lit the <mark>lamp</mark>"), "{found:?}");
        assert!(found.text.starts_with("… ") && found.text.ends_with('…'));
        let found = make(&"古代的灯塔建在山上。".repeat(40), &["灯塔"]);
        assert!(found.text.chars().count() <= WINDOW_HAN * 3 / 2);
        assert_eq!(found.html.matches("<mark>灯塔</mark>").count(), found.text.matches("灯塔").count());
    }

    #[test]
    fn prose_is_preferred_to_lists_of_links() {
        let links = "Red lighthouse\nBlue lighthouse\nLighthouse, lighthouse\n".repeat(9);
        let small = "© 2025 The Lighthouse Museum of Port Aster. All rights reserved.";
        let body =
            format!("{links}On a clear night the lighthouse is seen from the islands.\n{links}{small}");
        let found = make(&body, &["lighthouse"]);
        assert!(found.text.contains("On a clear night the lighthouse is seen"), "{found:?}");
    }

    #[test]
    fn without_the_words_it_is_the_beginning() {
        let found = make("First sentence.\nSecond sentence.", &["absent"]);
        assert_eq!(found.text, "First sentence. Second sentence.");
        assert_eq!(make("", &["absent"]).text, "");
    }

    #[test]
    fn a_page_without_the_words_shows_what_it_is_about() {
        let page =
            pharos_index::Text { body: "Menu. Search. Login.".into(), summary: "All about light.".into() };
        let of = |words: &[&str], most| snippet(&page, most, &Marker::of(words.iter().copied())).text;
        assert_eq!(of(&["lamp"], None), "All about light.");
        assert_eq!(of(&["search"], None), "Menu. Search. Login.");
        assert_eq!(of(&["search"], Some(0)), "");
        assert!(of(&["search"], Some(9)).chars().filter(|c| *c != '…').count() <= 11);
    }

    #[test]
    fn all_words_are_better_than_one_word_often() {
        let filler = "nothing here ".repeat(30);
        let body = format!(
            "{} {filler} The keeper lit the lamp. {filler}",
            "The lamp, lamp, lamp, lamp, lamp. ".repeat(2)
        );
        assert!(make(&body, &["keeper", "lamp"]).text.contains("keeper lit the lamp"));
    }

    proptest! {
        #[test]
        fn no_text_panics_or_breaks_a_character(body in "\\PC{0,400}", pick in 0..50usize, repeat in 1..9usize) {
            let body = body.repeat(repeat);
            let word = body.split_whitespace().nth(pick).unwrap_or("x").to_lowercase();
            let found = make(&body, &[word.as_str()]);
            prop_assert!(found.text.chars().count() <= WINDOW * 3 / 2 + 4);
        }
    }
}
