//! Highlighting of query words in a text.
//!
//! Segmenting a text takes longer than retrieving the page. Only sentences that may contain a query word are
//! segmented: those with a matching word prefix. Words never span sentences.

use std::collections::HashSet;
use std::ops::Range;

use pharos_core::work::spend_work;
use pharos_text::analyser::stem::stem_term;
use pharos_text::analyser::variants::fold;
use pharos_text::{Analyser, is_han};

/// The words to highlight.
pub(crate) struct Marker {
    analyser: Analyser,
    terms: HashSet<String>,
    /// Normalised prefixes of the words, sorted.
    prefixes: Vec<Vec<char>>,
}

/// Texts up to this length are segmented completely.
const SHORT_TEXT: usize = 200;

impl Marker {
    /// Highlights these words in all their forms, including words that are in no dictionary.
    pub(crate) fn new<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let words: Vec<&str> = words.into_iter().collect();
        let mut terms: HashSet<String> = words.iter().map(|word| word.to_string()).collect();
        terms.extend(words.iter().filter_map(|word| stem_term(word)));
        let plain = terms.iter().map(|term| term.trim_start_matches(|c: char| !c.is_alphanumeric()));
        let mut prefixes: Vec<Vec<char>> = plain.map(common_prefix).collect();
        prefixes.sort();
        prefixes.dedup();
        Self { analyser: Analyser::with_words(words), terms, prefixes }
    }

    /// Returns the byte ranges of the words, in order, with overlapping ones merged.
    pub(crate) fn occurrences(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        if text.len() <= SHORT_TEXT {
            self.add_occurrences(text, 0, &mut found);
            return found;
        }
        let mut at = 0;
        while at < text.len() {
            let sentence = &text[at..at + sentence_end(&text[at..])];
            spend_work(sentence.len() as u64);
            if self.may_contain_word(sentence) {
                self.add_occurrences(sentence, at, &mut found);
            }
            at += sentence.len();
        }
        found
    }

    fn add_occurrences(&self, text: &str, at: usize, found: &mut Vec<Range<usize>>) {
        self.analyser.for_each_index_token(text, |term, start, end, _| {
            if self.terms.contains(term) {
                let (start, end) = (at + start, at + end);
                match found.last_mut() {
                    Some(last) if start < last.end => last.end = last.end.max(end),
                    _ => found.push(start..end),
                }
            }
        });
    }

    /// Returns `true` if a word of the sentence starts with one of the prefixes. Characters with several spellings,
    /// such as full-width letters, always match.
    fn may_contain_word(&self, sentence: &str) -> bool {
        let mut in_word = false;
        for (at, c) in sentence.char_indices() {
            if !has_one_spelling(c) {
                return true;
            }
            let is_han = is_han(c);
            let (begins, is_of_word) = (is_han || !in_word, is_han || c.is_alphanumeric());
            in_word = is_of_word && !is_han;
            if begins && is_of_word {
                let first = fold_char(c);
                let from = self.prefixes.partition_point(|prefix| prefix.first() < Some(&first));
                let fitting =
                    self.prefixes[from..].iter().take_while(|prefix| prefix.first() == Some(&first));
                let mut counted = fitting.inspect(|_| spend_work(1));
                if counted.any(|prefix| starts_with_prefix(&sentence[at..], prefix)) {
                    return true;
                }
            }
        }
        false
    }
}

/// Returns the end of the first sentence. A dot ends a sentence only before whitespace: 3.14 and Node.js do not.
fn sentence_end(text: &str) -> usize {
    let mut after_dot = false;
    for (at, c) in text.char_indices() {
        if after_dot && c.is_whitespace() {
            return at;
        }
        after_dot = matches!(c, '.' | '!' | '?');
        if matches!(c, '\n' | '。' | '！' | '？' | '；') {
            return at + c.len_utf8();
        }
    }
    text.len()
}

/// Returns the common prefix of all forms of a word: all Han characters, or three letters of other words; shorter
/// words vary more.
fn common_prefix(word: &str) -> Vec<char> {
    let length = word.chars().count();
    let is_word = word.chars().all(is_han);
    let prefix_length = match length {
        _ if is_word => length,
        0..=2 => 1,
        3..=4 => 2,
        _ => 3,
    };
    word.chars().take(prefix_length).take_while(|c| c.is_alphanumeric()).collect()
}

/// Punctuation between letters is skipped: wi-fi starts like wifi.
fn starts_with_prefix(text: &str, prefix: &[char]) -> bool {
    let mut chars = text.chars().filter(|c| c.is_alphanumeric()).map(fold_char);
    prefix.iter().all(|c| chars.next() == Some(*c))
}

fn fold_char(c: char) -> char {
    if c.is_ascii() { c.to_ascii_lowercase() } else { fold(c) }
}

/// Returns `true` for characters with only one spelling.
fn has_one_spelling(c: char) -> bool {
    c.is_ascii()
        || matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3000}'..='\u{303f}' | '\u{2010}'..='\u{2027}')
        || matches!(c, '，' | '。' | '！' | '？' | '；' | '：' | '（' | '）' | '、')
}

/// Returns the text as HTML with the ranges in `<mark>`.
pub(crate) fn mark_html(text: &str, ranges: &[Range<usize>]) -> String {
    let mut html = String::with_capacity(text.len() + ranges.len() * 13);
    let mut done = 0;
    for range in ranges {
        escape(&text[done..range.start], &mut html);
        html.push_str("<mark>");
        escape(&text[range.clone()], &mut html);
        html.push_str("</mark>");
        done = range.end;
    }
    escape(&text[done..], &mut html);
    html
}

fn escape(text: &str, html: &mut String) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, words: &[&str]) -> String {
        mark_html(text, &Marker::new(words.iter().copied()).occurrences(text))
    }

    #[test]
    fn every_word_is_marked_and_everything_escaped() {
        assert_eq!(marked("Tea & TEA <b>", &["tea"]), "<mark>Tea</mark> &amp; <mark>TEA</mark> &lt;b&gt;");
        assert_eq!(marked("<script>\"'", &[]), "&lt;script&gt;&quot;&#39;");
        assert_eq!(
            marked("古老的灯塔照亮大海", &["灯塔", "大海"]),
            "古老的<mark>灯塔</mark>照亮<mark>大海</mark>"
        );
    }

    /// Skipped sentences contain none of the words.
    #[test]
    fn skipped_lines_have_none_of_the_words() {
        let long =
            "一行很长的文字，里面什么也没有。nothing of the kind stands in this line of text\n".repeat(3);
        let lines = [
            "The RUNNING man",
            "wi-fi here",
            "Ｗｉｆｉ",
            "導演肖驍慕與",
            "naïve Lamps",
            "AT&T",
            "C++ too",
            "studies",
            "4K電視",
        ];
        let words = ["run", "wifi", "肖骁慕", "lamp", "at&t", "c++", "study", "4k电视"];
        let marker = Marker::new(words);
        for line in lines {
            let alone = marker.occurrences(line);
            let text = format!("{long}{line}\n{long}");
            let inside =
                marker.occurrences(&text).into_iter().map(|at| at.start - long.len()..at.end - long.len());
            assert_eq!(inside.collect::<Vec<_>>(), alone, "{line}");
            assert!(!alone.is_empty(), "{line}");
        }
    }

    #[test]
    fn overlapping_words_are_one_mark() {
        assert_eq!(marked("研究生命", &["研究生", "生命"]), "<mark>研究生命</mark>");
    }

    #[test]
    fn forms_and_unknown_words_are_marked() {
        assert_eq!(marked("Runs, ran, running", &["run"]), "<mark>Runs</mark>, ran, <mark>running</mark>");
        assert_eq!(marked("導演肖驍慕與肖像", &["肖骁慕"]), "導演<mark>肖驍慕</mark>與肖像");
    }
}
