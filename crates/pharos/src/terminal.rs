//! Text for terminals: colours, highlighted words, wrapped lines.

use std::io::{self, IsTerminal as _};

use ::console::{Term, measure_text_width};

use crate::console;

/// Minimum number of columns of a wrapped text, however narrow the terminal is.
const MIN_COLUMNS: usize = 20;

/// Escape sequences of the styles.
const BOLD: &str = "\x1b[1m";
const GREEN: &str = "\x1b[32m";
const MARK: &str = "\x1b[1;33m";
const RESET: &str = "\x1b[0m";

/// Properties of the output. A pipe or file gets neither colours nor line breaks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terminal {
    has_colours: bool,
    /// Number of columns, if lines are wrapped.
    width: Option<usize>,
}

/// Style of a text; marked parts stand out in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Title,
    Address,
    Text,
}

/// A character and whether it is part of a match.
type MarkedChar = (char, bool);

impl Terminal {
    /// Returns the properties of standard output. `NO_COLOR` (no-color.org) switches colours off.
    pub(crate) fn of_stdout() -> Self {
        let is_terminal = io::stdout().is_terminal();
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        let size = Term::stdout().size_checked();
        Self {
            has_colours: is_terminal && !is_set("NO_COLOR") && !is_dumb,
            width: size.filter(|_| is_terminal).map(|(_, columns)| usize::from(columns)),
        }
    }

    /// Formats HTML with `<mark>` elements, wrapped and indented. The first line is not indented if it continues
    /// another text, which takes `used` columns.
    pub(crate) fn marked(&self, html: &str, style: Style, indent: usize, used: usize) -> String {
        let mut text = parse_marked(html);
        text.retain(|(character, _)| !character.is_control());
        let first = if used > 0 { used } else { indent };
        let lines = match self.width {
            Some(width) => wrap(&text, width.saturating_sub(first), width.saturating_sub(indent)),
            None => vec![text],
        };
        let margin = " ".repeat(indent);
        let lines: Vec<String> = lines.iter().map(|line| self.paint(line, style)).collect();
        let start = if used > 0 { "" } else { &margin };
        format!("{start}{}", lines.join(&format!("\n{margin}")))
    }

    /// Formats a plain text in a style, without line breaks.
    pub(crate) fn plain(&self, text: &str, style: Style) -> String {
        let text: Vec<MarkedChar> = console::printable(text).chars().map(|c| (c, false)).collect();
        self.paint(&text, style)
    }

    fn paint(&self, text: &[MarkedChar], style: Style) -> String {
        let mut out = String::new();
        for run in text.chunk_by(|(_, a), (_, b)| a == b) {
            let is_marked = run.first().is_some_and(|(_, marked)| *marked);
            let code = match (style, is_marked) {
                (_, true) => MARK,
                (Style::Title, false) => BOLD,
                (Style::Address, false) => GREEN,
                (Style::Text, false) => "",
            };
            let is_plain = !self.has_colours || code.is_empty();
            out.push_str(if is_plain { "" } else { code });
            out.extend(run.iter().map(|(character, _)| *character));
            out.push_str(if is_plain { "" } else { RESET });
        }
        out
    }
}

/// Parses the HTML of titles and snippets: `<mark>` elements and character references, nothing else.
fn parse_marked(html: &str) -> Vec<MarkedChar> {
    const REFERENCES: [(&str, char); 6] =
        [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&#39;", '\''), ("&#x27;", '\'')];
    let (mut text, mut rest, mut is_marked) = (Vec::new(), html, false);
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("<mark>") {
            (rest, is_marked) = (after, true);
        } else if let Some(after) = rest.strip_prefix("</mark>") {
            (rest, is_marked) = (after, false);
        } else if let Some((name, character)) = REFERENCES.iter().find(|(name, _)| rest.starts_with(name)) {
            text.push((*character, is_marked));
            rest = &rest[name.len()..];
        } else {
            text.push((first, is_marked));
            rest = &rest[first.len_utf8()..];
        }
    }
    text
}

/// Breaks a text into lines of at most `first` columns for the first and `others` for all others. Lines break at spaces
/// and beside wide characters; longer words are broken anywhere.
fn wrap(text: &[MarkedChar], first: usize, others: usize) -> Vec<Vec<MarkedChar>> {
    let mut lines = Vec::new();
    let (mut line, mut columns) = (Vec::new(), 0);
    // Length of the line up to its last possible break.
    let mut break_at = 0;
    for &(character, is_marked) in text {
        let width = measure_text_width(character.encode_utf8(&mut [0; 4]));
        let limit = if lines.is_empty() { first } else { others }.max(MIN_COLUMNS);
        if width > 1 {
            break_at = line.len();
        }
        if columns + width > limit && !line.is_empty() && character != ' ' {
            let cut = if break_at > 0 { break_at } else { line.len() };
            let rest = line.split_off(cut);
            lines.push(trim(line));
            line = rest;
            columns = line.iter().map(|(c, _): &MarkedChar| measure_text_width(&c.to_string())).sum();
            break_at = 0;
        }
        line.push((character, is_marked));
        columns += width;
        if character == ' ' || width > 1 {
            break_at = line.len();
        }
    }
    lines.push(trim(line));
    lines
}

/// Removes spaces at the end of a line.
fn trim(mut line: Vec<MarkedChar>) -> Vec<MarkedChar> {
    while line.last().is_some_and(|(character, _)| *character == ' ') {
        line.pop();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, width: usize) -> Vec<String> {
        let wrapped = wrap(&parse_marked(text), width, width);
        wrapped.iter().map(|line| line.iter().map(|(c, _)| *c).collect()).collect()
    }

    #[test]
    fn matches_are_highlighted_only_in_colour() {
        let html = "A &lt;b&gt; <mark>lighthouse</mark> &amp; more";
        let plain = Terminal::default();
        assert_eq!(plain.marked(html, Style::Text, 0, 0), "A <b> lighthouse & more");
        let colours = Terminal { has_colours: true, width: None };
        assert_eq!(colours.marked(html, Style::Text, 2, 0), "  A <b> \x1b[1;33mlighthouse\x1b[0m & more");
        assert_eq!(
            colours.plain("http://a.example/\x1b[2J", Style::Address),
            "\x1b[32mhttp://a.example/[2J\x1b[0m"
        );
    }

    #[test]
    fn lines_break_at_words_and_between_wide_characters() {
        assert_eq!(lines("The keeper lights the lamp", 20), ["The keeper lights", "the lamp"]);
        assert_eq!(lines(&"灯".repeat(25), 20), ["灯".repeat(10), "灯".repeat(10), "灯".repeat(5)]);
        assert_eq!(lines(&"x".repeat(45), 20), ["x".repeat(20), "x".repeat(20), "x".repeat(5)]);
        assert_eq!(lines("", 20), [""]);
        let text = "灯塔 the lighthouse 照亮 every evening 海面 and every 夜晚";
        for line in lines(text, 24) {
            assert!(measure_text_width(&line) <= 24, "{line}");
        }
        assert_eq!(lines(text, 24).concat().replace(' ', ""), text.replace(' ', ""));
    }

    #[test]
    fn wrapped_lines_are_indented() {
        let terminal = Terminal { has_colours: false, width: Some(30) };
        let text = terminal.marked("The keeper lights the lamp every evening", Style::Text, 5, 0);
        assert_eq!(text, "     The keeper lights the\n     lamp every evening");
    }
}
