//! What a reader sees of a page: its text, and how much of it is links.

use crate::dom::{Dom, Element, NodeData, NodeId, Step};

/// The visible text of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct VisibleText {
    /// Paragraphs separated by line feeds, white space collapsed.
    pub(crate) text: String,
    /// Characters of the text, white space not counted.
    pub(crate) chars: usize,
    /// Those of them that are part of a link.
    pub(crate) link_chars: usize,
    /// Pictures among the text.
    pub(crate) images: usize,
}

/// Reads the whole page as a browser without style sheets would show it.
pub(crate) fn visible_text(dom: &Dom) -> VisibleText {
    let mut collected = VisibleText::default();
    let mut line = Collapsed::unbounded();
    let (mut open_links, mut open_pre) = (0usize, 0usize);
    let mut walk = dom.walk(dom.root());
    while let Some(step) = walk.next() {
        match step {
            Step::Enter(id) => match dom.data(id) {
                NodeData::Text(text) => {
                    let before = line.chars;
                    if open_pre > 0 {
                        line.push_lines(text);
                    } else {
                        line.push(text);
                    }
                    if open_links > 0 {
                        collected.link_chars += line.chars - before;
                    }
                }
                NodeData::Element(element) if is_unseen(element) => walk.skip_contents(id),
                NodeData::Element(element) => match layout(element) {
                    Layout::Block => line.end_line(),
                    Layout::Preformatted => {
                        open_pre += 1;
                        line.end_line();
                    }
                    Layout::Cell => line.space(),
                    Layout::Link => open_links += 1,
                    Layout::Picture => collected.images += 1,
                    Layout::Inline => {}
                },
                NodeData::Other => {}
            },
            Step::Leave(id) => {
                let Some(element) = dom.element(id) else { continue };
                // What was skipped on entering must be skipped on leaving.
                match layout(element) {
                    Layout::Link if !is_unseen(element) => open_links -= 1,
                    Layout::Preformatted if !is_unseen(element) => {
                        open_pre -= 1;
                        line.end_line();
                    }
                    Layout::Block => line.end_line(),
                    Layout::Cell => line.space(),
                    _ => {}
                }
            }
        }
    }
    collected.chars = line.chars;
    collected.text = line.text;
    collected
}

/// The text inside one element, on one line, at most `max_chars` of it.
pub(crate) fn text_inside(dom: &Dom, root: NodeId, max_chars: usize) -> String {
    /// A link around half a page must not be read again and again.
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
                NodeData::Element(element) if layout(element) != Layout::Inline => line.space(),
                _ => {}
            },
            Step::Leave(id) => {
                if dom.element(id).is_some_and(|e| matches!(layout(e), Layout::Block | Layout::Cell)) {
                    line.space();
                }
            }
        }
    }
    line.text
}

/// `text` on one line, at most `max_chars` of it.
pub(crate) fn collapse(text: &str, max_chars: usize) -> String {
    let mut line = Collapsed::up_to(max_chars);
    line.push(text);
    line.text
}

/// The beginning of `text`, at most `max_chars`, not ending inside a word where words are separated by spaces.
pub(crate) fn beginning(text: &str, max_chars: usize) -> String {
    let Some((cut, _)) = text.char_indices().nth(max_chars) else {
        return collapse(text, max_chars);
    };
    let (head, rest) = text.split_at(cut);
    let inside_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && c < '\u{2E80}');
    let mut kept = head;
    if inside_word(head.chars().next_back()) && inside_word(rest.chars().next()) {
        // Give up at most the last third for the sake of the boundary.
        let boundary = head.rfind(|c| !inside_word(Some(c)));
        kept = boundary.filter(|at| *at > head.len() * 2 / 3).map_or(head, |at| &head[..at]);
    }
    format!("{}…", collapse(kept, max_chars).trim_end())
}

/// How an element behaves in the flow of text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Inline,
    Block,
    Preformatted,
    Cell,
    Link,
    Picture,
}

fn layout(element: &Element) -> Layout {
    match element.tag() {
        "a" => Layout::Link,
        "img" => Layout::Picture,
        "td" | "th" => Layout::Cell,
        "pre" | "listing" | "xmp" | "plaintext" => Layout::Preformatted,
        "address" | "article" | "aside" | "blockquote" | "body" | "br" | "caption" | "center" | "dd"
        | "details" | "dialog" | "dir" | "div" | "dl" | "dt" | "fieldset" | "figcaption" | "figure"
        | "footer" | "form" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "header" | "hgroup" | "hr"
        | "legend" | "li" | "main" | "menu" | "nav" | "ol" | "optgroup" | "p" | "search" | "section"
        | "summary" | "table" | "tbody" | "tfoot" | "thead" | "tr" | "ul" => Layout::Block,
        _ => Layout::Inline,
    }
}

/// Elements whose contents a reader does not see as text.
fn is_unseen(element: &Element) -> bool {
    match element.tag() {
        "head" | "script" | "style" | "noscript" | "template" | "textarea" | "select" | "datalist"
        | "option" | "iframe" | "noframes" | "noembed" | "object" | "audio" | "video" | "canvas" => true,
        "" => element.local_name() == "svg",
        "dialog" if element.attribute("open").is_none() => true,
        _ => is_hidden(element),
    }
}

fn is_hidden(element: &Element) -> bool {
    element.attributes().any(|(name, value)| match name {
        "hidden" => !value.eq_ignore_ascii_case("until-found"),
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

/// Text with its white space collapsed, as it grows.
struct Collapsed {
    text: String,
    /// Characters that are not white space.
    chars: usize,
    room: usize,
    pending: Gap,
}

/// What separates the next word from what is there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
}

impl Collapsed {
    fn unbounded() -> Self {
        Self::up_to(usize::MAX)
    }

    fn up_to(max_chars: usize) -> Self {
        Self { text: String::new(), chars: 0, room: max_chars, pending: Gap::None }
    }

    fn is_full(&self) -> bool {
        self.room == 0
    }

    fn space(&mut self) {
        self.pending = self.pending.max(Gap::Space);
    }

    fn end_line(&mut self) {
        self.pending = Gap::Line;
    }

    fn push(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.space();
            }
            self.push_line(line);
        }
    }

    /// Words between which single spaces stand go in one piece: that is nearly all text there is.
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

    fn push_lines(&mut self, text: &str) {
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

/// Is there no control character in a text, and no white space but single spaces? Without a branch for each byte, so
/// that the compiler makes it look at many at once.
fn has_single_spaces(text: &str) -> bool {
    let bytes = text.as_bytes();
    let control = bytes.iter().fold(false, |found, b| found | (*b < b' ') | (*b == 0x7F));
    let seconds = bytes.get(1..).unwrap_or_default();
    let thirds = bytes.get(2..).unwrap_or_default();
    // Of two bytes: two spaces, U+0085 and U+00A0.
    let two = bytes.iter().zip(seconds).fold(false, |found, (a, b)| {
        found | ((*a == b' ') & (*b == b' ')) | ((*a == 0xC2) & ((*b == 0x85) | (*b == 0xA0)))
    });
    // Of three: U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
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

    fn text(html: &str) -> String {
        visible_text(&Dom::parse(html)).text
    }

    #[test]
    fn blocks_are_paragraphs_and_white_space_collapses() {
        assert_eq!(
            text("<title>t</title><h1> A  heading </h1><p>one\n two<b>bold</b>&nbsp;x<br>y</p>z"),
            "A heading\none twobold x\ny\nz"
        );
        assert_eq!(text("<table><tr><td>a<td>b<tr><td>c</table>"), "a b\nc");
        assert_eq!(text("<pre>\n  fn  main()\n\n {}</pre>done"), "fn main()\n{}\ndone");
    }

    #[test]
    fn what_nobody_sees_is_left_out() {
        assert_eq!(
            text(
                "a<script>s</script><style>s</style><noscript>n</noscript><template>t</template><textarea>t</textarea>\
                  <select><option>o</select><p hidden>h<p style='color:red; DISPLAY : none !important'>d<p>b\
                  <svg><text>v</text></svg><img alt=alt><dialog>x</dialog>"
            ),
            "a\nb"
        );
        assert_eq!(text("a\u{1}b \u{7f} c"), "ab c");
    }

    #[test]
    fn links_and_pictures_are_counted() {
        let seen = visible_text(&Dom::parse("<a href=x>four</a> <img> five5<a hidden>no</a>"));
        assert_eq!((seen.chars, seen.link_chars, seen.images), (9, 4, 1));
    }

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
        /// The short way and the long way lead to the same.
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
