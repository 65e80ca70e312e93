//! Visible text of elements, with whitespace collapsed and hidden content left out.

use crate::blocks::Tag;
use crate::dom::{Dom, Element, NodeData, NodeId, Step};

/// Returns the visible text of one element on one line, at most `max_chars` characters.
pub(crate) fn text_inside(dom: &Dom, root: NodeId, max_chars: usize) -> String {
    /// Bounds repeated reading of nested links that contain half a page each.
    const MAX_STEPS: usize = 4_000;
    let mut line = Collapsed::up_to(max_chars);
    let mut walk = dom.walk(root);
    let mut steps = 0;
    while let Some(step) = walk.next() {
        steps += 1;
        if line.is_full() || steps > MAX_STEPS {
            break;
        }
        match step {
            Step::Enter(id) => match dom.data(id) {
                NodeData::Text(text) => line.push(text),
                NodeData::Element(element) if id != root && is_unseen(element) => walk.skip_contents(id),
                NodeData::Element(element) if separates(element) => line.space(),
                _ => {}
            },
            Step::Leave(id) => {
                if dom.element(id).is_some_and(separates) {
                    line.space();
                }
            }
        }
    }
    line.text
}

/// Collapses whitespace in `text` to one line of at most `max_chars` characters.
pub(crate) fn collapse(text: &str, max_chars: usize) -> String {
    let mut line = Collapsed::up_to(max_chars);
    line.push(text);
    line.text
}

/// Truncates `text` to `max_chars` characters, at a word boundary where words are separated by spaces.
pub(crate) fn beginning(text: &str, max_chars: usize) -> String {
    let Some((cut, _)) = text.char_indices().nth(max_chars) else {
        return collapse(text, max_chars);
    };
    let (head, rest) = text.split_at(cut);
    let inside_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && c < '\u{2E80}');
    let mut kept = head;
    if inside_word(head.chars().next_back()) && inside_word(rest.chars().next()) {
        // At most the last third is given up for the boundary.
        let boundary = head.rfind(|c| !inside_word(Some(c)));
        kept = boundary.filter(|at| *at > head.len() * 2 / 3).map_or(head, |at| &head[..at]);
    }
    format!("{}…", collapse(kept, max_chars).trim_end())
}

/// Returns `true` if the element separates words from the text around it.
fn separates(element: &Element) -> bool {
    let tag = Tag::of(element);
    tag.is_container() || matches!(tag, Tag::Break | Tag::Rule | Tag::Picture)
}

/// Returns `true` if the contents of the element are not visible as text.
pub(crate) fn is_unseen(element: &Element) -> bool {
    Tag::of(element) == Tag::Unseen || is_hidden(element)
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
pub(crate) struct Collapsed {
    pub(crate) text: String,
    /// Non-whitespace characters.
    pub(crate) chars: usize,
    room: usize,
    pending: Gap,
}

/// Separator before the next word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
}

impl Collapsed {
    pub(crate) fn unbounded() -> Self {
        Self::up_to(usize::MAX)
    }

    fn up_to(max_chars: usize) -> Self {
        Self { text: String::new(), chars: 0, room: max_chars, pending: Gap::None }
    }

    fn is_full(&self) -> bool {
        self.room == 0
    }

    pub(crate) fn space(&mut self) {
        self.pending = self.pending.max(Gap::Space);
    }

    pub(crate) fn end_line(&mut self) {
        self.pending = Gap::Line;
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
        if words.len() >= self.room || !has_single_spaces(words) {
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
        if !self.text.is_empty() && self.pending != Gap::None && self.room > 0 {
            self.text.push(if self.pending == Gap::Line { '\n' } else { ' ' });
            self.room -= 1;
        }
        self.pending = Gap::None;
        let count = word.chars().count();
        if count <= self.room {
            self.text.push_str(word);
            self.chars += count;
            self.room -= count;
        } else {
            self.text.extend(word.chars().take(self.room));
            self.chars += self.room;
            self.room = 0;
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
        assert_eq!(beginning("short\ntext", 20), "short text");
        assert_eq!(beginning("some words of English", 18), "some words of…");
        assert_eq!(beginning("一二三四五", 3), "一二三…");
        assert_eq!(beginning(&"x".repeat(50), 10), format!("{}…", "x".repeat(10)));
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
        fn pieces_are_words(parts in prop::collection::vec("[a-c ]{0,6}|[ \t\n\u{a0}\u{3000}\u{2003}\u{85}\u{1680}]{1,2}|[é–、灯\u{200b}]{1,3}", 0..12), room in 0..60usize) {
            let (mut pieces, mut words) = (Collapsed::up_to(room), Collapsed::up_to(room));
            for part in &parts {
                pieces.push(part);
                words.push_words(part);
            }
            prop_assert_eq!((&pieces.text, pieces.chars, pieces.room), (&words.text, words.chars, words.room));
            prop_assert!(pieces.pending == words.pending);
        }
    }
}
