//! Visible lines of a page with hints from their elements, searched for dates and names that are not declared.

use crate::blocks::ElementKind;
use crate::dom::visible_text::collapse_whitespace;
use crate::dom::{Dom, Element, NodeData, WalkStep};
use crate::metadata::date;

/// Hints about a line from the tags, classes and ids of its ancestors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineHints {
    /// Contains a date or its surroundings: `class="post-date"`, `id=pubtime`, `<time>`.
    pub(super) date: bool,
    /// Inside a `<time>` element.
    pub(super) time: bool,
    /// Names the author: `class=byline`, `rel=author`.
    pub(super) author: bool,
    /// Outside the page's own content: footers, comments, lists of other pages.
    pub(super) aside: bool,
    /// Inside `h1` to `h3`.
    pub(super) heading: bool,
    /// Inside a link.
    pub(super) link: bool,
}

/// A visible line of the page.
#[derive(Debug)]
pub(super) struct VisibleLine {
    /// Text with whitespace collapsed, truncated to [`MAX_LINE_CHARS`].
    pub(super) text: String,
    /// Number of characters of the page before the line.
    pub(super) at: usize,
    /// Hints of any part of the line.
    pub(super) hints: LineHints,
    /// The first `<time datetime>` or similar attribute in the line.
    pub(super) datetime: Option<String>,
}

/// Maximum number of characters of a line; longer lines are prose.
pub(super) const MAX_LINE_CHARS: usize = 400;

/// Maximum number of lines; lines further down do not describe the page as a whole.
const MAX_LINES: usize = 4_000;

/// Returns the lines of the page from its top.
pub(super) fn visible_lines(dom: &Dom) -> Vec<VisibleLine> {
    let mut collector = LineCollector::default();
    let mut open: Vec<LineContext> = Vec::new();
    let mut walk = dom.walk(dom.root());
    while let Some(step) = walk.next() {
        match step {
            WalkStep::Enter(id) => match dom.data(id) {
                NodeData::Text(text) => collector.text(text, open.last().copied().unwrap_or_default()),
                NodeData::Element(element) => {
                    let tag = ElementKind::from_element(element);
                    open.push(collector.enter(element, open.last().copied().unwrap_or_default()));
                    if ends_line(tag) {
                        collector.end_line();
                    }
                    collector.datetime(element);
                    if is_invisible(tag) {
                        walk.skip_contents(id);
                    }
                }
                NodeData::Other => {}
            },
            WalkStep::Leave(id) => {
                if let Some(element) = dom.element(id) {
                    open.pop();
                    if ends_line(ElementKind::from_element(element)) {
                        collector.end_line();
                    }
                }
            }
        }
        if collector.lines.len() >= MAX_LINES {
            break;
        }
    }
    collector.end_line();
    collector.finish()
}

/// Hints at the current position of the walk, and the innermost aside around it.
#[derive(Clone, Copy, Default)]
struct LineContext {
    hints: LineHints,
    aside: Option<usize>,
    /// Character position at which the element marked as a date began.
    date_from: usize,
}

/// An element with more characters than this before a line is not the element of a date, regardless of its name.
const NEAR_DATE: usize = 300;

/// An element marked as not belonging to the page's own content.
struct Aside {
    around: Option<usize>,
    chars: usize,
    has_main_heading: bool,
}

#[derive(Default)]
struct LineCollector {
    lines: Vec<VisibleLine>,
    text: String,
    chars: usize,
    hints: LineHints,
    linked: bool,
    unlinked: bool,
    datetime: Option<String>,
    asides: Vec<Aside>,
    /// Aside of each line.
    line_asides: Vec<Option<usize>>,
    aside: Option<usize>,
}

impl LineCollector {
    fn enter(&mut self, element: &Element, around: LineContext) -> LineContext {
        let before = LineHints { aside: false, ..around.hints };
        let hints = hints(element, before);
        let mut aside = around.aside;
        if hints.aside {
            self.asides.push(Aside { around: aside, chars: 0, has_main_heading: false });
            aside = Some(self.asides.len() - 1);
        }
        if element.tag() == "h1" {
            let mut next = aside;
            while let Some(aside) = next.and_then(|number| self.asides.get_mut(number)) {
                // Outer asides are marked already.
                next = if aside.has_main_heading { None } else { aside.around };
                aside.has_main_heading = true;
            }
        }
        let date_from = if hints.date && !around.hints.date { self.chars } else { around.date_from };
        LineContext { hints, aside, date_from }
    }

    /// Finishes the lines. An aside around the main heading or most of the page is only a careless name and is
    /// ignored.
    fn finish(mut self) -> Vec<VisibleLine> {
        for (line, aside) in self.lines.iter().zip(&self.line_asides) {
            if let Some(aside) = aside.and_then(|number| self.asides.get_mut(number)) {
                aside.chars += line.text.len();
            }
        }
        let total: usize = self.lines.iter().map(|line| line.text.len()).sum();
        // Inner asides come after outer ones.
        let mut is_real = vec![false; self.asides.len()];
        for number in (0..self.asides.len()).rev() {
            let Aside { around, chars, .. } = self.asides[number];
            if let Some(outer) = around {
                self.asides[outer].chars += chars;
            }
        }
        for number in 0..self.asides.len() {
            let Aside { around, chars, has_main_heading } = self.asides[number];
            is_real[number] =
                (!has_main_heading && chars * 2 < total) || around.is_some_and(|outer| is_real[outer]);
        }
        for (line, aside) in self.lines.iter_mut().zip(self.line_asides) {
            line.hints.aside = aside.is_some_and(|number| is_real[number]);
        }
        self.lines
    }

    /// Reads `<time datetime>`, and `<abbr title>` or `<span title>` of older microformats.
    fn datetime(&mut self, element: &Element) {
        let name = match element.tag() {
            "time" => "datetime",
            "abbr" | "span" => "title",
            _ => return,
        };
        if self.datetime.is_none() {
            let value = element.attribute(name).filter(|value| date::parse_date(value).is_some());
            self.datetime = value.map(str::to_string);
        }
    }

    fn text(&mut self, text: &str, context: LineContext) {
        if text.trim().is_empty() {
            self.text.push(' ');
            return;
        }
        if self.text.len() < MAX_LINE_CHARS * 4 {
            self.text.push_str(&text[..text.floor_char_boundary(MAX_LINE_CHARS * 4)]);
        }
        let mut hints = context.hints;
        hints.date &= self.chars - context.date_from < NEAR_DATE;
        self.aside = context.aside;
        // A hint from a part of a line applies to the whole line, which is short.
        self.hints.date |= hints.date;
        self.hints.time |= hints.time;
        self.hints.author |= hints.author;
        self.hints.heading |= hints.heading;
        self.linked |= hints.link;
        self.unlinked |= !hints.link;
    }

    fn end_line(&mut self) {
        if self.text.is_empty() && self.datetime.is_none() {
            return;
        }
        let text = collapse_whitespace(&self.text, MAX_LINE_CHARS);
        self.text.clear();
        let (linked, unlinked) = (std::mem::take(&mut self.linked), std::mem::take(&mut self.unlinked));
        let mut hints = std::mem::take(&mut self.hints);
        let datetime = self.datetime.take();
        if text.is_empty() {
            return;
        }
        hints.link = linked && !unlinked;
        let at = self.chars;
        self.chars += text.chars().count();
        self.line_asides.push(self.aside);
        self.lines.push(VisibleLine { text, at, hints, datetime });
    }
}

fn hints(element: &Element, around: LineHints) -> LineHints {
    let mut hints = around;
    match element.tag() {
        // The root elements carry no information about a part of the page.
        "html" | "body" | "main" | "article" => return around,
        "time" => (hints.time, hints.date) = (true, true),
        "footer" | "aside" | "nav" => hints.aside = true,
        "h1" | "h2" | "h3" => hints.heading = true,
        "a" => hints.link = true,
        _ => {}
    }
    for (name, value) in element.attributes() {
        match name {
            "class" | "id" | "itemprop" | "rel" | "name" => {
                let value = &value[..value.floor_char_boundary(200)];
                for_each_word(value, |word| classify(word, &mut hints));
            }
            _ => {}
        }
    }
    hints
}

/// Calls `f` with each word of a name in lower case: `postDate`, `post-date` and `post_date` have the same two
/// words. It runs for every element, so nothing is allocated; words longer than any known one are truncated.
fn for_each_word(value: &str, mut f: impl FnMut(&str)) {
    let mut word = [0_u8; 20];
    let mut len = 0;
    let mut was_small = false;
    for byte in value.bytes().chain([b' ']) {
        let is_letter = byte.is_ascii_alphanumeric();
        if (!is_letter || byte.is_ascii_uppercase() && was_small) && len > 0 {
            f(std::str::from_utf8(&word[..len]).unwrap_or_default());
            len = 0;
        }
        if is_letter && len < word.len() {
            word[len] = byte.to_ascii_lowercase();
            len += 1;
        }
        was_small = byte.is_ascii_lowercase();
    }
}

fn classify(word: &str, hints: &mut LineHints) {
    match word {
        "date" | "time" | "published" | "publish" | "posted" | "timestamp" | "dateline" | "datetime"
        | "meta" | "info" | "source" | "pub" => hints.date = true,
        "byline" => (hints.date, hints.author) = (true, true),
        "author" | "authors" | "writer" | "editor" | "creator" => hints.author = true,
        "footer" | "foot" | "copyright" | "comment" | "comments" | "reply" | "replies" | "sidebar"
        | "related" | "recommend" | "recommended" | "recommendation" | "nav" | "navbar" | "menu"
        | "breadcrumb" | "breadcrumbs" | "newsletter" | "hot" | "rank" | "ranking" | "popular"
        | "trending" | "latest" | "ad" | "ads" | "advert" | "promo" | "cookie" | "events" => {
            hints.aside = true
        }
        "update" | "validate" | "candidate" => {}
        _ if word.ends_with("date") || word.ends_with("time") || word.starts_with("pubtime") => {
            hints.date = true
        }
        _ => {}
    }
}

/// Hidden elements are included, because content shown later by scripts is often just the date.
fn is_invisible(tag: ElementKind) -> bool {
    matches!(tag, ElementKind::Invisible | ElementKind::Control)
}

fn ends_line(tag: ElementKind) -> bool {
    tag.is_container() || matches!(tag, ElementKind::Break | ElementKind::Rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_carry_hints_and_positions() {
        let dom = Dom::parse(
            "<title>t</title><h1>Head</h1><p class=postMeta>by <a rel=author>Ann</a> <time>now</time></p>\
             <script>s</script><ul><li><a href=x>all link</a></ul><footer>2020",
        );
        let lines = visible_lines(&dom);
        let texts: Vec<&str> = lines.iter().map(|l| l.text.as_str()).collect();
        assert_eq!(texts, ["Head", "by Ann now", "all link", "2020"]);
        assert!(lines[0].hints.heading && lines[1].hints.date && lines[1].hints.author);
        assert!(lines[2].hints.link && lines[3].hints.aside && lines[3].at == 22);
    }

    #[test]
    fn names_are_split_into_words() {
        let mut words = Vec::new();
        for_each_word("postDate post-info_2é artTime", |word| words.push(word.to_string()));
        assert_eq!(words, ["post", "date", "post", "info", "2", "art", "time"]);
    }
}
