//! Office documents, which are zip files of XML: Word, Excel and PowerPoint (Office Open XML), and OpenDocument.

use std::io::{Cursor, Read as _};

use zip::ZipArchive;

use super::ExtractedDocument;
use super::xml::{XmlEvent, walk};
use crate::dom::visible_text::collapse_whitespace;
use crate::metadata::{is_page_title, iso_date};

/// Maximum uncompressed size of one part; the rest is ignored.
const MAX_PART: u64 = 32 << 20;

/// Maximum uncompressed size of all parts together.
const MAX_UNPACKED: u64 = 128 << 20;

/// Maximum number of parts of a file, including slides and sheets.
const MAX_PARTS: usize = 10_000;

/// Maximum number of slides or sheets read.
const MAX_SHEETS: usize = 1_000;

/// Maximum number of shared strings of a workbook.
const MAX_STRINGS: usize = 1_000_000;

type OfficeArchive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// Reads a document; `None` if it is not an Office document.
pub(super) fn read(body: &[u8]) -> Option<ExtractedDocument> {
    let archive = ZipArchive::new(Cursor::new(body)).ok()?;
    if archive.len() > MAX_PARTS {
        return None;
    }
    let mut parts = ZipParts { archive, remaining: MAX_UNPACKED };
    let mut document = ExtractedDocument::default();
    if let Some(part) = parts.text("word/document.xml") {
        document.format = "docx".into();
        paragraphs(&part, &mut document);
    } else if parts.has("xl/workbook.xml") {
        document.format = "xlsx".into();
        workbook(&mut parts, &mut document);
    } else if parts.has("ppt/presentation.xml") {
        document.format = "pptx".into();
        for name in parts.numbered("ppt/slides/slide") {
            if let Some(part) = parts.text(&name) {
                paragraphs(&part, &mut document);
            }
        }
    } else {
        paragraphs(&parts.text("content.xml")?, &mut document);
        document.format = open_document(&parts.text("mimetype").unwrap_or_default()).into();
    }
    if let Some(part) = parts.text("docProps/core.xml").or_else(|| parts.text("meta.xml")) {
        properties(&part, &mut document);
    }
    Some(document)
}

/// Returns the usual file name extension for a media type of OpenDocument.
fn open_document(media_type: &str) -> &'static str {
    match media_type.trim().strip_prefix("application/vnd.oasis.opendocument.") {
        Some("spreadsheet" | "spreadsheet-template") => "ods",
        Some("presentation" | "presentation-template") => "odp",
        _ => "odt",
    }
}

/// Parts of the file, decompressed one by one within limits.
struct ZipParts<'a> {
    archive: OfficeArchive<'a>,
    remaining: u64,
}

impl ZipParts<'_> {
    fn has(&self, name: &str) -> bool {
        self.archive.index_for_name(name).is_some()
    }

    fn text(&mut self, name: &str) -> Option<String> {
        let part = self.archive.by_name(name).ok()?;
        let mut bytes = Vec::new();
        // For a damaged part, the data before the damage is kept.
        let _ = part.take(MAX_PART.min(self.remaining)).read_to_end(&mut bytes);
        self.remaining = self.remaining.saturating_sub(bytes.len() as u64);
        Some(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
    }

    /// Returns `slide1.xml`, `slide2.xml` … `slide10.xml` in numeric order.
    fn numbered(&self, start: &str) -> Vec<String> {
        let number = |name: &str| name.strip_prefix(start)?.strip_suffix(".xml")?.parse::<u32>().ok();
        let names = self.archive.file_names().flatten();
        let mut found: Vec<(u32, String)> =
            names.filter_map(|name| Some((number(&name)?, name.into_owned()))).collect();
        found.sort();
        found.into_iter().map(|(_, name)| name).take(MAX_SHEETS).collect()
    }
}

/// Reads paragraphs of Word (`w:p`, `w:t`), of slides (`a:p`, `a:t`) and of OpenDocument (`text:p`, `text:h`).
fn paragraphs(part: &str, document: &mut ExtractedDocument) {
    let mut line = String::new();
    let mut is_text = false;
    let (mut style, mut is_title_box) = (ParagraphStyle::Plain, false);
    let mut is_open_document = false;
    walk(part, |event| {
        match event {
            XmlEvent::Start("document-content") => is_open_document = true,
            XmlEvent::Start("t") => is_text = true,
            XmlEvent::End("t") => is_text = false,
            XmlEvent::Start("p") => {
                style = if is_title_box { ParagraphStyle::Heading } else { ParagraphStyle::Plain }
            }
            XmlEvent::Start("h") if is_open_document => style = ParagraphStyle::Heading,
            // The style of a Word paragraph, and the purpose of a box on a slide.
            XmlEvent::Attribute("val", "Title") => style = ParagraphStyle::Title,
            XmlEvent::Attribute("val", name) if is_heading_style(name) => style = ParagraphStyle::Heading,
            XmlEvent::Attribute("type", "title" | "ctrTitle") => is_title_box = true,
            XmlEvent::End("sp") => is_title_box = false,
            XmlEvent::End("tab" | "br" | "cr" | "s" | "line-break" | "tc" | "table-cell") => line.push(' '),
            XmlEvent::Text(text) if is_text || is_open_document => line.push_str(text),
            XmlEvent::End("p" | "h") => {
                let ended = collapse_whitespace(&std::mem::take(&mut line), usize::MAX);
                match style {
                    ParagraphStyle::Title if document.title.is_empty() => document.title.clone_from(&ended),
                    ParagraphStyle::Title | ParagraphStyle::Heading => document.push_heading(&ended),
                    ParagraphStyle::Plain => {}
                }
                style = ParagraphStyle::Plain;
                document.push_line(&ended);
            }
            _ => {}
        }
        !document.is_full()
    });
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ParagraphStyle {
    Plain,
    Title,
    Heading,
}

/// Matches `Heading1`. Chinese versions of Word name the styles `1`, `2`, `3`.
fn is_heading_style(name: &str) -> bool {
    name.starts_with("Heading") || name.starts_with("heading")
}

/// Reads the rows of all sheets, one line per row.
fn workbook(parts: &mut ZipParts<'_>, document: &mut ExtractedDocument) {
    let strings = parts.text("xl/sharedStrings.xml").map(|part| shared_strings(&part)).unwrap_or_default();
    for name in parts.numbered("xl/worksheets/sheet") {
        if let Some(part) = parts.text(&name) {
            sheet(&part, &strings, document);
        }
    }
}

fn shared_strings(part: &str) -> Vec<String> {
    let mut strings = Vec::new();
    let mut text = String::new();
    // Phonetic guides repeat the text in another script.
    let (mut is_text, mut is_phonetic) = (false, false);
    walk(part, |event| {
        match event {
            XmlEvent::Start("t") => is_text = true,
            XmlEvent::End("t") => is_text = false,
            XmlEvent::Start("rPh") => is_phonetic = true,
            XmlEvent::End("rPh") => is_phonetic = false,
            XmlEvent::Text(more) if is_text && !is_phonetic => text.push_str(more),
            XmlEvent::End("si") => strings.push(std::mem::take(&mut text)),
            _ => {}
        }
        strings.len() < MAX_STRINGS
    });
    strings
}

fn sheet(part: &str, strings: &[String], document: &mut ExtractedDocument) {
    let mut row = String::new();
    let mut value = String::new();
    let (mut is_value, mut is_shared) = (false, false);
    walk(part, |event| {
        match event {
            XmlEvent::Start("c") => (is_shared, value) = (false, String::new()),
            XmlEvent::Attribute("t", kind) => is_shared = kind == "s",
            XmlEvent::Start("v" | "t") => is_value = true,
            XmlEvent::End("v" | "t") => is_value = false,
            XmlEvent::Text(text) if is_value => value.push_str(text),
            XmlEvent::End("c") => {
                let shared = value.trim().parse::<usize>().ok().and_then(|number| strings.get(number));
                // A string shared by many cells must not turn a small file into a large text.
                if row.len() < super::MAX_TEXT {
                    row.push_str(shared.filter(|_| is_shared).unwrap_or(&value));
                    row.push(' ');
                }
            }
            XmlEvent::End("row") => {
                document.push_line(&collapse_whitespace(&std::mem::take(&mut row), usize::MAX))
            }
            _ => {}
        }
        !document.is_full()
    });
}

/// Reads title, author and dates (Dublin Core).
fn properties(part: &str, document: &mut ExtractedDocument) {
    let mut text = String::new();
    let mut title = String::new();
    walk(part, |event| {
        match event {
            XmlEvent::Start(_) => text.clear(),
            XmlEvent::Text(more) => text.push_str(more),
            XmlEvent::End("title") => title.clone_from(&text),
            XmlEvent::End("creator") => document.author.clone_from(&text),
            XmlEvent::End("created" | "creation-date") => document.created = iso_date(&text),
            XmlEvent::End("modified" | "date") => document.modified = iso_date(&text),
            _ => {}
        }
        true
    });
    if document.title.is_empty() && is_page_title(&title) {
        document.title = title;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_document_is_read() {
        let read = read(include_bytes!("../../tests/samples/lighthouse.docx")).unwrap();
        assert_eq!(read.format, "docx");
        assert_eq!(read.text, "Lighthouses\n灯塔的历史\nOne & two three\na\nb");
        assert_eq!((read.title.as_str(), read.author.as_str()), ("Lighthouses", "Ann Lee"));
        assert_eq!(read.headings, ["灯塔的历史"]);
        assert_eq!(read.created.as_deref(), Some("2024-05-06T07:08:09Z"));
    }

    #[test]
    fn sheets_and_slides_are_read() {
        let sheet = read(include_bytes!("../../tests/samples/lighthouse.xlsx")).unwrap();
        assert_eq!((sheet.title.as_str(), sheet.text.as_str()), ("Lamps", "Name Height\n灯塔 34"));
        let slides = read(include_bytes!("../../tests/samples/lighthouse.pptx")).unwrap();
        assert_eq!(slides.text, "Lighthouses\nfirst\n灯\nsecond\nLast\nend");
        assert_eq!(slides.headings, ["Lighthouses", "灯", "Last"]);
        assert_eq!((&*sheet.format, &*slides.format), ("xlsx", "pptx"));
        let open = |kind: &str| open_document(&format!("application/vnd.oasis.opendocument.{kind}\n"));
        assert_eq!(["text", "spreadsheet", "presentation-template"].map(open), ["odt", "ods", "odp"]);
    }
}
