//! The text format of the demo pages: a line is a block.
//!
//! | line | block |
//! |---|---|
//! | `## text` | heading |
//! | `> text` | quote |
//! | `= name: value` | a row of a table of facts |
//! | `1. text` | a step |
//! | `* /path \| note` | an entry in a list of links; the anchor is the title of the page |
//! | `! name \| caption` | a picture |
//! | anything else | a paragraph; `[[/path\|anchor]]` or `[[host/path\|anchor]]` is a link |

use std::collections::HashMap;

use crate::model::{ContentBlock, LinkTarget, PageLink, PageNo, Spelling, TextSpan};

/// Resolves references to pages.
pub(super) struct PageLookup<'a> {
    /// Page number and title by host and path.
    pub(super) pages: &'a HashMap<String, (PageNo, String)>,
    /// The host of paths without one.
    pub(super) host: &'a str,
}

impl PageLookup<'_> {
    /// Returns a link to the page, or `None` if there is no such page.
    pub(super) fn link(&self, place: &str, anchor: Option<&str>) -> Option<PageLink> {
        let key = if place.starts_with('/') { format!("{}{place}", self.host) } else { place.to_owned() };
        let (page, title) = self.pages.get(&key)?;
        let anchor = anchor.unwrap_or(title).to_owned();
        let spelling = if place.starts_with('/') { Spelling::FromRoot } else { Spelling::Absolute };
        Some(PageLink { to: LinkTarget::Page(*page), anchor, spelling })
    }
}

/// Parses the blocks of a page; `Err` contains a reference to a page that does not exist.
pub(super) fn parse(text: &str, places: &PageLookup) -> Result<Vec<ContentBlock>, String> {
    let mut blocks: Vec<ContentBlock> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (mark, blocks.last_mut()) {
            ("##", _) => blocks.push(ContentBlock::Heading(rest.to_owned())),
            (">", _) => blocks.push(ContentBlock::Quote(rest.to_owned())),
            ("!", _) => {
                let (name, caption) = rest.split_once(" | ").unwrap_or((rest, ""));
                blocks.push(ContentBlock::Picture { name: name.to_owned(), caption: caption.to_owned() });
            }
            ("=", last) => {
                let (name, value) = rest.split_once(": ").unwrap_or((rest, ""));
                let fact = (name.to_owned(), value.to_owned());
                match last {
                    Some(ContentBlock::Facts(facts)) => facts.push(fact),
                    _ => blocks.push(ContentBlock::Facts(vec![fact])),
                }
            }
            ("1.", Some(ContentBlock::Steps(steps))) => steps.push(rest.to_owned()),
            ("1.", _) => blocks.push(ContentBlock::Steps(vec![rest.to_owned()])),
            ("*", last) => {
                let (place, note) = rest.split_once(" | ").unwrap_or((rest, ""));
                let link = places.link(place, None).ok_or_else(|| place.to_owned())?;
                let item = (link, note.to_owned());
                match last {
                    Some(ContentBlock::Links(items)) => items.push(item),
                    _ => blocks.push(ContentBlock::Links(vec![item])),
                }
            }
            _ => blocks.push(ContentBlock::Paragraph(spans(line, places)?)),
        }
    }
    Ok(blocks)
}

fn spans(line: &str, places: &PageLookup) -> Result<Vec<TextSpan>, String> {
    let mut spans = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("[[") {
        let (inside, after) = after.split_once("]]").ok_or_else(|| after.to_owned())?;
        let (place, anchor) = inside.split_once('|').unwrap_or((inside, inside));
        if !before.is_empty() {
            spans.push(TextSpan::Text(before.to_owned()));
        }
        spans.push(TextSpan::Link(places.link(place, Some(anchor)).ok_or_else(|| place.to_owned())?));
        rest = after;
    }
    if !rest.is_empty() {
        spans.push(TextSpan::Text(rest.to_owned()));
    }
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_becomes_its_block() {
        let pages = HashMap::from([("a.demo/x".to_owned(), (3, "The X".to_owned()))]);
        let places = PageLookup { pages: &pages, host: "a.demo" };
        let text =
            "Go to [[/x|there]].\n## Head\n= a: b\n= c: d\n1. one\n1. two\n> said\n* /x | note\n! p | q";
        let blocks = parse(text, &places).expect("all places exist");
        assert_eq!(blocks.len(), 7);
        assert!(matches!(&blocks[0], ContentBlock::Paragraph(spans) if spans.len() == 3));
        assert!(matches!(&blocks[2], ContentBlock::Facts(facts) if facts.len() == 2));
        assert!(matches!(&blocks[5], ContentBlock::Links(items) if items[0].0.anchor == "The X"));
        assert_eq!(parse("[[/y|lost]]", &places).err(), Some("/y".to_owned()));
    }
}
