//! Readers for documents other than web pages: PDF, Office, RTF and XML.
//!
//! ```text
//! body ─▶ read(kind) ─┬─ pdf       glyphs, joined to lines and paragraphs
//!                     ├─ office    parts of a zip file: Word, Excel, PowerPoint, OpenDocument
//!                     ├─ rtf       groups and control words
//!                     └─ xml       the text between the tags
//! ```
//!
//! Every reader bounds the data it unpacks and the text it keeps ([`MAX_TEXT`]). A panic in a reader is caught and
//! the document counts as unreadable. Programs read PDF and Office files in a child process with limits on memory
//! and time ([`reader_process`]).

pub(crate) mod media_type;
mod office;
mod pdf;
pub mod reader_process;
mod rtf;
mod xml;

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pharos_core::PageObject;
use pharos_core::work::WorkExceeded;
use serde::{Deserialize, Serialize};

use crate::charset;
use crate::dom::visible_text::{collapse_whitespace, truncate_at_word};
use crate::formats::media_type::MediaKind;

/// Maximum text length of a document in bytes.
const MAX_TEXT: usize = 8 << 20;

/// Maximum number of headings of a document.
const MAX_HEADINGS: usize = 200;

/// Maximum length of a title or heading in characters.
const MAX_TITLE: usize = 300;

/// Content of a document.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExtractedDocument {
    /// Usual file name extension, if the reader knows it better than the media type.
    pub(crate) format: Cow<'static, str>,
    /// Title given by the author, or the first or biggest line.
    pub(crate) title: String,
    pub(crate) author: String,
    /// Paragraphs separated by line feeds.
    pub(crate) text: String,
    pub(crate) headings: Vec<String>,
    /// ISO 8601.
    pub(crate) created: Option<String>,
    /// ISO 8601.
    pub(crate) modified: Option<String>,
}

/// Reason why a document has no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ReadFailure {
    /// The document is damaged, encrypted, or of another kind.
    Unreadable,
    /// The reader needed too much memory or time.
    LimitExceeded,
    /// There is no reader for this kind, or its process could not be started.
    NoReader,
}

/// Reads a document of the given kind, in a child process if the program provides one.
pub(crate) fn read(
    kind: MediaKind,
    body: &[u8],
    content_type: Option<&str>,
    host: &str,
) -> Result<ExtractedDocument, ReadFailure> {
    match reader_process::program_for(kind) {
        Some(program) => reader_process::read_in_child(program, kind, body),
        None => read_in_process(kind, body, content_type, host),
    }
}

fn read_in_process(
    kind: MediaKind,
    body: &[u8],
    content_type: Option<&str>,
    host: &str,
) -> Result<ExtractedDocument, ReadFailure> {
    // Third-party parsers meet input they were never tested with.
    let read = catch_unwind(AssertUnwindSafe(|| match kind {
        MediaKind::Pdf => pdf::read(body),
        MediaKind::Office => office::read(body),
        MediaKind::Rtf => rtf::read(body),
        MediaKind::Xml => xml::read(&charset::decode(body, content_type, host).0),
        MediaKind::Html | MediaKind::PlainText | MediaKind::Other => None,
    }));
    let document = match read {
        Ok(document) => document,
        Err(payload) if payload.is::<WorkExceeded>() => resume_unwind(payload),
        Err(_) => None,
    };
    document.map(ExtractedDocument::normalised_fields).ok_or(ReadFailure::Unreadable)
}

impl ExtractedDocument {
    /// Appends a line of text within the length limit.
    fn push_line(&mut self, line: &str) {
        if line.is_empty() || self.is_full() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let remaining = MAX_TEXT - self.text.len().min(MAX_TEXT);
        self.text.push_str(&line[..line.floor_char_boundary(remaining)]);
    }

    fn push_heading(&mut self, heading: &str) {
        if !heading.is_empty() && self.headings.len() < MAX_HEADINGS {
            self.headings.push(collapse_whitespace(heading, MAX_TITLE));
        }
    }

    fn is_full(&self) -> bool {
        self.text.len() >= MAX_TEXT
    }

    fn normalised_fields(mut self) -> Self {
        self.title = collapse_whitespace(&self.title, MAX_TITLE);
        self.author = collapse_whitespace(&self.author, MAX_TITLE);
        if self.title.is_empty() {
            let first = self.headings.first().map(String::as_str);
            let first = first.or_else(|| self.text.lines().next()).unwrap_or_default();
            self.title = truncate_at_word(first, crate::PLAIN_TITLE_CHARS);
        }
        self
    }

    /// Copies the content of the document into the page object.
    pub(crate) fn fill(self, page: &mut PageObject) {
        if !self.format.is_empty() {
            page.format = self.format.into_owned();
        }
        page.content_title.clone_from(&self.title);
        page.title = self.title;
        page.author = self.author;
        page.text = self.text;
        page.headings = self.headings;
        page.published = self.created;
        page.modified = self.modified;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KINDS: [MediaKind; 4] = [MediaKind::Pdf, MediaKind::Office, MediaKind::Rtf, MediaKind::Xml];

    const SAMPLES: [&[u8]; 6] = [
        include_bytes!("../tests/samples/lighthouse.pdf"),
        include_bytes!("../tests/samples/dengta.pdf"),
        include_bytes!("../tests/samples/lighthouse.docx"),
        include_bytes!("../tests/samples/lighthouse.xlsx"),
        include_bytes!("../tests/samples/lighthouse.pptx"),
        include_bytes!("../tests/samples/lighthouse.rtf"),
    ];

    #[test]
    fn samples_are_cut_off_anywhere() {
        for sample in SAMPLES {
            for end in (0..sample.len()).step_by(97) {
                for kind in KINDS {
                    let _ = read(kind, &sample[..end], None, "a.cn");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_bytes_are_read(body in prop::collection::vec(any::<u8>(), 0..300)) {
            for kind in KINDS {
                let _ = read(kind, &body, None, "a.cn");
            }
        }

        #[test]
        fn damaged_samples_are_read(sample in 0..SAMPLES.len(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut body = SAMPLES[sample].to_vec();
            let at = at.index(body.len());
            body[at] = byte;
            for kind in KINDS {
                let _ = read(kind, &body, None, "a.cn");
            }
        }
    }
}
