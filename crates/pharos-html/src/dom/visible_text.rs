//! Visible text of elements, with whitespace collapsed and hidden content left out.

use crate::blocks::ElementKind;
use crate::dom::{Dom, Element, NodeData, NodeId, WalkStep};

/// Returns the visible text of one element on one line, at most `max_chars` characters.
pub(crate) fn text_inside(dom: &Dom, root: NodeId, max_chars: usize) -> String {
    /// Bounds repeated reading of nested links that contain half a page each.
    const MAX_STEPS: usize = 4_000;
    let mut line = TextCollapser::up_to(max_chars);
    let mut walk = dom.walk(root);
    let mut steps = 0;
    while let Some(step) = walk.next() {
        steps += 1;
        if line.is_full() || steps > MAX_STEPS {
            break;
        }
        match step {
            WalkStep::Enter(id) => match dom.data(id) {
                NodeData::Text(text) => line.push(text),
                NodeData::Element(element) if id != root && is_invisible(element) => walk.skip_contents(id),
                NodeData::Element(element) if separates(element) => line.space(),
                _ => {}
            },
            WalkStep::Leave(id) => {
                if dom.element(id).is_some_and(separates) {
                    line.space();
                }
            }
        }
    }
    line.text
}

/// Collapses whitespace in `text` to one line of at most `max_chars` characters.
pub(crate) fn collapse_whitespace(text: &str, max_chars: usize) -> String {
    let mut line = TextCollapser::up_to(max_chars);
    line.push(text);
    line.text
}

/// Truncates `text` to `max_chars` characters, at a word boundary where words are separated by spaces.
pub(crate) fn truncate_at_word(text: &str, max_chars: usize) -> String {
    let Some((cut, _)) = text.char_indices().nth(max_chars) else {
        return collapse_whitespace(text, max_chars);
    };
    let (head, rest) = text.split_at(cut);
    let inside_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && c < '\u{2E80}');
    let mut kept = head;
    if inside_word(head.chars().next_back()) && inside_word(rest.chars().next()) {
        // At most the last third is given up for the boundary.
        let boundary = head.rfind(|c| !inside_word(Some(c)));
        kept = boundary.filter(|at| *at > head.len() * 2 / 3).map_or(head, |at| &head[..at]);
    }
    format!("{}…", collapse_whitespace(kept, max_chars).trim_end())
}

/// Returns `true` if the element separates words from the text around it.
fn separates(element: &Element) -> bool {
    let tag = ElementKind::from_element(element);
    tag.is_container() || matches!(tag, ElementKind::Break | ElementKind::Rule | ElementKind::Picture)
}

/// Returns `true` if the contents of the element are not visible as text.
pub(crate) fn is_invisible(element: &Element) -> bool {
    ElementKind::from_element(element) == ElementKind::Invisible || is_hidden(element)
}

pub(crate) fn is_hidden(element: &Element) -> bool {
    // React sends late parts of a page in `<div hidden id="S:1">` and moves them into place.
    let is_late_part = |element: &Element| element.attribute("id").is_some_and(|id| id.starts_with("S:"));
    element.attributes().any(|(name, value)| match name {
        "hidden" => !value.eq_ignore_ascii_case("until-found") && !is_late_part(element),
        "style" => style_hides(value),
        _ => false,
    })
}

fn style_hides(style: &str) -> bool {
    style.split(';').filter_map(|declaration| declaration.split_once(':')).any(|(property, value)| {
        let value = value.trim().trim_end_matches("!important").trim_end();
        (property.trim().eq_ignore_ascii_case("display") && value.eq_ignore_ascii_case("none"))
            || (property.trim().eq_ignore_ascii_case("visibility") && value.eq_ignore_ascii_case("hidden"))
    })
}

/// Text accumulated with its whitespace collapsed.
pub(crate) struct TextCollapser {
    pub(crate) text: String,
    /// Non-whitespace characters.
    pub(crate) chars: usize,
    remaining: usize,
    pending: Separator,
}

/// Separator before the next word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Separator {
    None,
    Space,
    Line,
}

impl TextCollapser {
    pub(crate) fn unbounded() -> Self {
        Self::up_to(usize::MAX)
    }

    fn up_to(max_chars: usize) -> Self {
        Self { text: String::new(), chars: 0, remaining: max_chars, pending: Separator::None }
    }

    fn is_full(&self) -> bool {
        self.remaining == 0
    }

    pub(crate) fn space(&mut self) {
        self.pending = self.pending.max(Separator::Space);
    }

    pub(crate) fn end_line(&mut self) {
        self.pending = Separator::Line;
    }

    pub(crate) fn push(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.space();
            }
            self.push_line(line);
        }
    }

    /// Adds a line. Words with single spaces between them, which is nearly all text, are added in one piece.
    fn push_line(&mut self, line: &str) {
        let words = line.trim();
        if words.len() >= self.remaining || !has_single_spaces(words) {
            self.push_words(line);
            return;
        }
        if line.starts_with(char::is_whitespace) {
            self.space();
        }
        if words.is_empty() {
            return;
        }
        self.push_clean(words);
        self.chars -= words.bytes().filter(|b| *b == b' ').count();
        if line.ends_with(char::is_whitespace) {
            self.space();
        }
    }

    fn push_words(&mut self, text: &str) {
        if text.starts_with(char::is_whitespace) {
            self.space();
        }
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            self.push_word(word);
            if words.peek().is_some() {
                self.space();
            }
        }
        if text.ends_with(char::is_whitespace) {
            self.space();
        }
    }

    pub(crate) fn push_lines(&mut self, text: &str) {
        for (i, line) in text.split('\n').enumerate() {
            if i > 0 {
                self.end_line();
            }
            self.push(line);
        }
    }

    fn push_word(&mut self, word: &str) {
        if word.bytes().any(|b| b.is_ascii_control()) {
            let clean: String = word.chars().filter(|c| !c.is_control()).collect();
            if !clean.is_empty() {
                self.push_clean(&clean);
            }
        } else {
            self.push_clean(word);
        }
    }

    fn push_clean(&mut self, word: &str) {
        if !self.text.is_empty() && self.pending != Separator::None && self.remaining > 0 {
            self.text.push(if self.pending == Separator::Line { '\n' } else { ' ' });
            self.remaining -= 1;
        }
        self.pending = Separator::None;
        let count = word.chars().count();
        if count <= self.remaining {
            self.text.push_str(word);
            self.chars += count;
            self.remaining -= count;
        } else {
            self.text.extend(word.chars().take(self.remaining));
            self.chars += self.remaining;
            self.remaining = 0;
        }
    }
}

/// Returns `true` if the text has no control characters and no whitespace other than single spaces. The loop has no
/// branch per byte so that the compiler can vectorise it.
fn has_single_spaces(text: &str) -> bool {
    let bytes = text.as_bytes();
    let control = bytes.iter().fold(false, |found, b| found | (*b < b' ') | (*b == 0x7F));
    let seconds = bytes.get(1..).unwrap_or_default();
    let thirds = bytes.get(2..).unwrap_or_default();
    // Two-byte sequences: two spaces, U+0085 and U+00A0.
    let two = bytes.iter().zip(seconds).fold(false, |found, (a, b)| {
        found | ((*a == b' ') & (*b == b' ')) | ((*a == 0xC2) & ((*b == 0x85) | (*b == 0xA0)))
    });
    // Three-byte sequences: U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
    let three = bytes.iter().zip(seconds).zip(thirds).fold(false, |found, ((a, b), c)| {
        let general = (*b == 0x80) & ((*c <= 0x8A) | (*c == 0xA8) | (*c == 0xA9) | (*c == 0xAF));
        found
            | ((*a == 0xE2) & (general | ((*b == 0x81) & (*c == 0x9F))))
            | ((*a == 0xE3) & (*b == 0x80) & (*c == 0x80))
            | ((*a == 0xE1) & (*b == 0x9A) & (*c == 0x80))
    });
    !(control | two | three)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn beginnings_end_with_a_word() {
        assert_eq!(truncate_at_word("short\ntext", 20), "short text");
        assert_eq!(truncate_at_word("some words of English", 18), "some words of…");
        assert_eq!(truncate_at_word("一二三四五", 3), "一二三…");
        assert_eq!(truncate_at_word(&"x".repeat(50), 10), format!("{}…", "x".repeat(10)));
    }

    #[test]
    fn inside_is_bounded() {
        let dom = Dom::parse("<a href=x><div>one</div><div>two</div>three</a>");
        let (id, _) = dom.elements(dom.root()).find(|(_, e)| e.tag() == "a").unwrap();
        assert_eq!(text_inside(&dom, id, 100), "one two three");
        assert_eq!(text_inside(&dom, id, 5), "one t");
    }

    proptest! {
        /// The fast path and the slow path give the same result.
        #[test]
        fn fast_path_equals_slow_path(parts in prop::collection::vec("[a-c ]{0,6}|[ \t\n\u{a0}\u{3000}\u{2003}\u{85}\u{1680}]{1,2}|[é–、灯\u{200b}]{1,3}", 0..12), remaining in 0..60usize) {
            let (mut pieces, mut words) = (TextCollapser::up_to(remaining), TextCollapser::up_to(remaining));
            for part in &parts {
                pieces.push(part);
                words.push_words(part);
            }
            prop_assert_eq!((&pieces.text, pieces.chars, pieces.remaining), (&words.text, words.chars, words.remaining));
            prop_assert!(pieces.pending == words.pending);
        }
    }
}
