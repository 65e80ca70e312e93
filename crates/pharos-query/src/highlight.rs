//! Marking the query's words in a text.

use std::collections::HashSet;
use std::ops::Range;

use pharos_text::Analyser;
use pharos_text::stem::stem_term;

/// The words to mark.
pub(crate) struct Marker {
    analyser: Analyser,
    terms: HashSet<String>,
}

impl Marker {
    /// Marks these words, in all their forms. Words that no dictionary has are found like any other.
    pub(crate) fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let words: Vec<&str> = words.into_iter().collect();
        let mut terms: HashSet<String> = words.iter().map(|word| word.to_string()).collect();
        terms.extend(words.iter().filter_map(|word| stem_term(word)));
        Self { analyser: Analyser::knowing(words), terms }
    }

    /// Where the words stand in a text: byte ranges, in order, overlapping ones joined.
    pub(crate) fn occurrences(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        self.analyser.for_each_index_token(text, |term, start, end, _| {
            if self.terms.contains(term) {
                match found.last_mut() {
                    Some(last) if start < last.end => last.end = last.end.max(end),
                    _ => found.push(start..end),
                }
            }
        });
        found
    }
}

/// The text as HTML, with the ranges in `<mark>`.
pub(crate) fn mark(text: &str, ranges: &[Range<usize>]) -> String {
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
        mark(text, &Marker::of(words.iter().copied()).occurrences(text))
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
