//! Query-dependent snippets (动态摘要) by a sliding window.
//!
//! The method of 《走进搜索引擎》§5.3.2: occurrences of the query words are marked with position, length and weight. A
//! candidate window starts at each occurrence and scores the weights inside. The best one is aligned to sentence
//! boundaries. Windows are measured in characters, never in bytes.

pub(crate) mod highlight;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;

use pharos_core::work::spend_work;
use pharos_text::analyser::stem::stem_term;
use pharos_text::is_han;

use self::highlight::{Marker, mark_html};

/// Maximum length of text that is searched for query words. Later occurrences are not considered.
const MAX_TEXT: usize = 128 << 10;

/// Length of a snippet in characters, for Chinese and other texts: Han characters are twice as wide and carry as much
/// as a short word.
const WINDOW_HAN: usize = 90;
const WINDOW: usize = 200;

/// Number of best windows that are aligned to sentences and compared.
const MAX_CANDIDATES: usize = 8;

/// Maximum number of occurrences considered.
const MAX_MARKS: usize = 256;

/// Minimum length of a prose line; shorter ones are menus, captions and lists.
const MIN_PROSE_LENGTH: usize = 40;

/// A snippet as plain text and as HTML.
#[derive(Debug, PartialEq)]
pub(crate) struct Snippet {
    pub(crate) text: String,
    pub(crate) html: String,
}

/// Returns the excerpt of a page that best matches `words`, at most `max_chars` characters. A page without these
/// words in its text shows its other text if they are there, or else its summary.
pub(crate) fn make_snippet(
    page: &pharos_index::document::StoredText,
    max_chars: Option<u32>,
    words: &Marker,
) -> Snippet {
    let max_chars = max_chars.map_or(usize::MAX, |max_chars| max_chars as usize);
    let body = &page.body[..page.body.floor_char_boundary(MAX_TEXT)];
    let all = words.occurrences(body);
    if all.is_empty() {
        let other = &page.other[..page.other.floor_char_boundary(MAX_TEXT)];
        let found = words.occurrences(other);
        if !found.is_empty() {
            return best_excerpt(&IndexedText::new(other), &found, max_chars, words);
        }
    }
    if all.is_empty() && !page.summary.is_empty() {
        return best_excerpt(
            &IndexedText::new(&page.summary),
            &words.occurrences(&page.summary),
            max_chars,
            words,
        );
    }
    best_excerpt(&IndexedText::new(body), &all, max_chars, words)
}

/// Returns the best window of a text around these occurrences.
fn best_excerpt(text: &IndexedText<'_>, all: &[Range<usize>], max_chars: usize, words: &Marker) -> Snippet {
    let han = text.chars.iter().take(2_000).filter(|c| is_han(**c)).count();
    let window = if han * 4 > text.chars.len().min(2_000) { WINDOW_HAN } else { WINDOW };
    let window = window.min(max_chars);
    if window == 0 {
        return Snippet { text: String::new(), html: String::new() };
    }
    let written = |at: &Range<usize>| text.text[at.clone()].to_lowercase();
    let in_prose = in_prose(text.text, all);
    let distinct_words = |marks: &[Range<usize>]| marks.iter().map(written).collect::<HashSet<_>>().len();
    // Prose is preferred to menus and link lists if it contains the same words.
    let shown = if distinct_words(&in_prose) == distinct_words(all) { &in_prose } else { all };
    let marks: Vec<MatchMark> = shown
        .iter()
        .map(|range| {
            let (at, end) = (text.char_at(range.start), text.char_at(range.end));
            // Longer words are rarer and more informative.
            MatchMark { at, length: end - at, weight: (end - at).min(8) as u32 }
        })
        .collect();
    let word = |mark: &MatchMark| {
        let written = text.text[text.byte_at(mark.at)..text.byte_at(mark.at + mark.length)].to_lowercase();
        stem_term(&written).unwrap_or(written)
    };
    let mut range = best_window_at_sentences(text, &marks, window, &word);
    range.end = range.end.min(range.start.saturating_add(max_chars));
    if range.len() < text.chars.len()
        && let Some(fragments) = two_fragments(text, &marks, &range, window, max_chars, &word)
    {
        return render(text, &fragments, words);
    }
    render(text, &[range], words)
}

/// Returns two fragments of half the size if they show more of the words than the best window, in page order.
fn two_fragments(
    text: &IndexedText<'_>,
    marks: &[MatchMark],
    best: &Range<usize>,
    window: usize,
    max_chars: usize,
    word: &dyn Fn(&MatchMark) -> String,
) -> Option<[Range<usize>; 2]> {
    let marks = &marks[..marks.len().min(MAX_MARKS)];
    let shown = |range: &Range<usize>| -> HashSet<String> {
        let inside = marks.iter().filter(|mark| range.start <= mark.at && mark.at + mark.length <= range.end);
        inside.map(word).collect()
    };
    let in_best = shown(best).len();
    if in_best == marks.iter().map(word).collect::<HashSet<_>>().len() {
        return None;
    }
    let half = window / 2;
    let fragment = |marks: &[MatchMark]| {
        let range = best_window_at_sentences(text, marks, half, word);
        range.start..range.end.min(range.start.saturating_add(max_chars / 2))
    };
    let first = fragment(marks);
    let in_first = shown(&first);
    let missing: Vec<MatchMark> =
        marks.iter().filter(|mark| !in_first.contains(&word(mark))).copied().collect();
    if missing.is_empty() {
        return None;
    }
    let second = fragment(&missing);
    let is_apart = first.end <= second.start || second.end <= first.start;
    let in_both = in_first.union(&shown(&second)).count();
    (is_apart && in_both > in_best).then_some(if first.start < second.start {
        [first, second]
    } else {
        [second, first]
    })
}

/// Returns the best window after alignment to sentences; among equals, the first. Repeated words count little.
fn best_window_at_sentences(
    text: &IndexedText<'_>,
    marks: &[MatchMark],
    window: usize,
    word: &dyn Fn(&MatchMark) -> String,
) -> Range<usize> {
    let length = text.chars.len();
    if length <= window {
        return 0..length;
    }
    let words: Vec<String> = marks.iter().take(MAX_MARKS).map(word).collect();
    let score = |range: &Range<usize>| {
        spend_work(words.len() as u64);
        let mut seen = HashSet::new();
        let first = marks.partition_point(|mark| mark.at < range.start);
        let inside = marks.iter().zip(&words).skip(first).take_while(|(m, _)| m.at + m.length <= range.end);
        inside.map(|(mark, word)| if seen.insert(word) { mark.weight * 16 } else { mark.weight }).sum::<u32>()
    };
    let best_first = |(score, range): &(u32, Range<usize>)| (Reverse(*score), range.start);
    let candidates = candidate_windows(&marks[..words.len()], length, window, window * 3 / 4);
    let ranges = candidates.iter().map(|window| window.at..window.at + window.length);
    let mut best: Vec<(u32, Range<usize>)> = ranges.map(|range| (score(&range), range)).collect();
    best.sort_by_key(best_first);
    best.truncate(MAX_CANDIDATES);
    for (points, range) in &mut best {
        *range = align_to_sentences(&text.chars, range.clone(), window);
        *points = score(range);
    }
    best.sort_by_key(best_first);
    best.into_iter()
        .next()
        .map_or_else(|| align_to_sentences(&text.chars, 0..window, window), |(_, range)| range)
}

/// Returns the occurrences in prose lines; the stored text has one line per paragraph. Each line is examined once.
fn in_prose(text: &str, all: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut line_end, mut line_is_prose) = (0, false);
    for at in all {
        if at.start >= line_end {
            let start = text[line_end..at.start].rfind('\n').map_or(line_end, |i| line_end + i + 1);
            let end = text[at.start..].find('\n').map_or(text.len(), |i| at.start + i);
            spend_work((end - line_end) as u64);
            line_is_prose = is_prose(&text[start..end]);
            line_end = end;
        }
        found.extend(line_is_prose.then(|| at.clone()));
    }
    found
}

/// Returns `true` for a line with sentences that is not a legal notice.
fn is_prose(line: &str) -> bool {
    let line = line.trim();
    let ends = |c: char| matches!(c, '。' | '！' | '？' | '.' | '!' | '?' | '；');
    line.len() >= MIN_PROSE_LENGTH && line.contains(ends) && !line.starts_with(['©', '版'])
}

/// Renders fragments in page order as one line.
fn render(text: &IndexedText<'_>, fragments: &[Range<usize>], words: &Marker) -> Snippet {
    let mut snippet = Snippet { text: String::new(), html: String::new() };
    let mut end = 0;
    for range in fragments {
        if range.start > 0 && range.start >= end {
            let gap = if end > 0 { " … " } else { "… " };
            snippet.text.push_str(gap);
            snippet.html.push_str(gap);
        }
        let slice = &text.text[text.byte_at(range.start)..text.byte_at(range.end)];
        // Paragraphs are separated by line feeds in the stored text; a snippet is one line.
        let line = slice.split_whitespace().collect::<Vec<_>>().join(" ");
        snippet.html.push_str(&mark_html(&line, &words.occurrences(&line)));
        snippet.text.push_str(&line);
        end = range.end;
    }
    if end < text.chars.len() {
        snippet.text.push_str(" …");
        snippet.html.push_str(" …");
    }
    snippet
}

/// An occurrence of a query word, in characters.
#[derive(Clone, Copy, Debug)]
struct MatchMark {
    at: usize,
    length: usize,
    weight: u32,
}

/// A candidate window that starts at an occurrence, with the sum of the weights inside.
#[derive(Debug, PartialEq)]
struct SnippetWindow {
    at: usize,
    length: usize,
    score: u32,
}

/// Returns a window for each occurrence. Windows shortened below the minimum by the end of the text are dropped,
/// unless the text itself is that short.
fn candidate_windows(
    marks: &[MatchMark],
    length: usize,
    window: usize,
    minimum: usize,
) -> Vec<SnippetWindow> {
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
            candidates.push(SnippetWindow { at: mark.at, length: end - mark.at, score });
        }
    }
    candidates
}

/// Returns the best window before alignment; among equals, the first.
#[cfg(test)]
fn best_window(candidates: &[SnippetWindow]) -> Option<Range<usize>> {
    let best = candidates.iter().rev().max_by_key(|w| w.score)?;
    Some(best.at..best.at + best.length)
}

/// Aligns a window to sentences: moves its start back to a nearby sentence start, and removes a sentence that has
/// just begun at its end. In long sentences, words are kept whole instead.
fn align_to_sentences(chars: &[char], window: Range<usize>, size: usize) -> Range<usize> {
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
        // A dot ends a sentence only before whitespace: 3.14 does not.
        '.' | '!' | '?' => chars.get(at + 1).is_none_or(|c| c.is_whitespace()),
        _ => false,
    }
}

/// Returns `true` inside a word that must not be split: letters and digits. Han characters may be separated.
fn in_word(chars: &[char], at: usize) -> bool {
    chars.get(at).is_some_and(|c| c.is_alphanumeric() && !is_han(*c))
}

/// A text with character and byte offsets.
struct IndexedText<'a> {
    text: &'a str,
    chars: Vec<char>,
    offsets: Vec<usize>,
}

impl<'a> IndexedText<'a> {
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
    use pharos_core::work::measure_work;
    use proptest::prelude::*;

    use super::*;

    /// The worked example of the book: 115 characters, 搜索引擎 (weight 6) at 0, 46, 88, 数学 (weight 4) at 30, 41, 80.
    fn book_marks() -> Vec<MatchMark> {
        let mut marks: Vec<MatchMark> = [0, 46, 88].map(|at| MatchMark { at, length: 4, weight: 6 }).into();
        marks.extend([30, 41, 80].map(|at| MatchMark { at, length: 2, weight: 4 }));
        marks.sort_by_key(|m| m.at);
        marks
    }

    #[test]
    fn candidate_windows_of_the_book() {
        let found = candidate_windows(&book_marks(), 115, 40, 1);
        let scores: Vec<_> = found.iter().map(|w| (w.at, w.score)).collect();
        assert_eq!(scores, [(0, 10), (30, 14), (41, 10), (46, 10), (80, 10), (88, 6)]);
        assert_eq!(best_window(&found), Some(30..70));
    }

    #[test]
    fn a_window_below_the_minimum_is_no_candidate() {
        let found = candidate_windows(&book_marks(), 115, 40, 30);
        assert!(found.iter().all(|w| w.at != 88), "27 characters are left there");
        assert_eq!(found.len(), 5);
    }

    #[test]
    fn windows_move_to_sentences() {
        let text: Vec<char> =
            format!("{}。{}。{}", "甲".repeat(37), "乙".repeat(39), "丙".repeat(36)).chars().collect();
        // A window of 40 characters at 41 starts 3 after a sentence start, and its last 3 start the next sentence.
        let moved = align_to_sentences(&text, 41..81, 40);
        assert_eq!(moved, 38..78, "from the sentence's beginning to its end");
        assert_eq!(align_to_sentences(&text, 42..82, 40), moved, "windows that become equal are one");
    }

    #[test]
    fn the_begun_next_sentence_is_cut_off() {
        let text: Vec<char> = format!("{}。{}", "乙".repeat(36), "丙".repeat(40)).chars().collect();
        assert_eq!(
            align_to_sentences(&text, 0..40, 40),
            0..37,
            "37 characters of the sentence, 3 of the next gone"
        );
    }

    fn make(body: &str, words: &[&str]) -> Snippet {
        let page = pharos_index::document::StoredText { body: body.into(), ..Default::default() };
        make_snippet(&page, None, &Marker::new(words.iter().copied()))
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
        let page = pharos_index::document::StoredText {
            body: "Menu. Search. Login.".into(),
            summary: "All about light.".into(),
            other: "Contact: the harbour office.".into(),
        };
        let of = |words: &[&str], max_chars| {
            make_snippet(&page, max_chars, &Marker::new(words.iter().copied())).text
        };
        assert_eq!(of(&["lamp"], None), "All about light.");
        assert_eq!(of(&["search"], None), "Menu. Search. Login.");
        assert_eq!(of(&["harbour"], None), "Contact: the harbour office.");
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

    #[test]
    fn two_fragments_show_what_one_window_cannot() {
        let filler = "Nothing is said about it here. ".repeat(20);
        let body =
            format!("{filler}The keeper lit the fire.\n{filler}A lamp was broken in the storm.\n{filler}");
        let found = make(&body, &["keeper", "lamp"]);
        assert!(
            found.html.contains("<mark>keeper</mark>") && found.html.contains("<mark>lamp</mark>"),
            "{found:?}"
        );
        assert_eq!(found.text.matches('…').count(), 3, "{found:?}");
        assert!(found.text.chars().count() <= WINDOW * 3 / 2 + 8);
    }

    /// At most 16 steps per byte of the text that is searched, and a constant for the limited number of windows. Texts
    /// of 5 MB take no more, because only their beginning is searched.
    #[test]
    fn the_work_on_a_snippet_is_linear() {
        const WINDOW_STEPS: usize = 6 * MAX_MARKS * MAX_MARKS;
        let words: Vec<String> =
            (0..60).map(|number| format!("lamp{number}")).chain(["灯塔".into(), "a".into()]).collect();
        let units = [
            "lamp1 ",
            "a ",
            "a",
            "a.",
            "灯塔",
            "灯塔。",
            "灯 ",
            "lamp1 a\n",
            "é",
            "w-",
            "lam ",
            "\n",
            "a lamp1 灯塔 x y. ",
        ];
        let marker = Marker::new(words.iter().map(String::as_str));
        for length in [16_000, MAX_TEXT, 5 << 20] {
            for unit in units {
                let body = unit.repeat(length / unit.len());
                let page = pharos_index::document::StoredText { body, ..Default::default() };
                let steps = measure_work(|| make_snippet(&page, None, &marker)).1;
                let limit = 16 * length.min(MAX_TEXT) + WINDOW_STEPS;
                assert!(steps <= limit as u64, "{unit}: {steps} steps for {length} bytes");
            }
        }
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
