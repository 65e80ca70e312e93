//! Rich Text Format reader: groups in braces, control words with a backslash, and text between them.

use std::collections::HashMap;

use encoding_rs::{Encoding, WINDOWS_1252};
use pharos_core::work::spend_work;

use super::ExtractedDocument;
use crate::dom::visible_text::collapse_whitespace;
use crate::metadata::is_page_title;

/// Maximum nesting depth. The text of deeper groups is still read, but their formatting is ignored.
const MAX_DEPTH: usize = 200;

/// Maximum number of fonts whose charset is recorded.
const MAX_FONTS: usize = 1_000;

/// Destination of a group's text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RtfDestination {
    Body,
    FontTable,
    Title,
    Author,
    /// Pictures, styles, and destinations that newer programs mark with `\*`.
    Nowhere,
}

#[derive(Clone, Copy)]
struct RtfGroup {
    destination: RtfDestination,
    encoding: &'static Encoding,
    /// Number of substitute characters after a `\u`, for readers without Unicode support.
    substitutes: usize,
}

/// Reads a document; `None` if it does not begin as RTF.
pub(super) fn read(body: &[u8]) -> Option<ExtractedDocument> {
    let body = body.trim_ascii_start();
    if !body.starts_with(b"{\\rtf") {
        return None;
    }
    let mut reader = RtfReader::new(body);
    reader.run();
    Some(reader.finish())
}

struct RtfReader<'a> {
    rest: &'a [u8],
    groups: Vec<RtfGroup>,
    /// Number of open groups beyond [`MAX_DEPTH`].
    excess: usize,
    now: RtfGroup,
    default_encoding: &'static Encoding,
    fonts: HashMap<i32, &'static Encoding>,
    font: i32,
    /// Non-ASCII bytes waiting to be decoded together.
    bytes: Vec<u8>,
    line: String,
    high_surrogate: Option<u16>,
    document: ExtractedDocument,
}

impl<'a> RtfReader<'a> {
    fn new(body: &'a [u8]) -> Self {
        let now = RtfGroup { destination: RtfDestination::Body, encoding: WINDOWS_1252, substitutes: 1 };
        Self {
            rest: body,
            groups: Vec::new(),
            excess: 0,
            now,
            default_encoding: WINDOWS_1252,
            fonts: HashMap::new(),
            font: 0,
            bytes: Vec::new(),
            line: String::new(),
            high_surrogate: None,
            document: ExtractedDocument::default(),
        }
    }

    fn run(&mut self) {
        while let Some((&first, after)) = self.rest.split_first() {
            if self.document.is_full() {
                return;
            }
            self.rest = after;
            spend_work(1);
            match first {
                b'{' => self.open(),
                b'}' => self.close(),
                b'\\' => self.control(),
                b'\r' | b'\n' | 0 => {}
                byte => self.byte(byte),
            }
        }
    }

    fn finish(mut self) -> ExtractedDocument {
        self.end_line();
        let mut document = self.document;
        if !is_page_title(&document.title) {
            document.title.clear();
        }
        document
    }

    fn open(&mut self) {
        self.decode();
        if self.groups.len() < MAX_DEPTH {
            self.groups.push(self.now);
        } else {
            self.excess += 1;
        }
    }

    fn close(&mut self) {
        self.decode();
        if self.excess > 0 {
            self.excess -= 1;
        } else if let Some(group) = self.groups.pop() {
            self.now = group;
        }
    }

    fn control(&mut self) {
        let Some((&first, after)) = self.rest.split_first() else { return };
        if !first.is_ascii_alphabetic() {
            self.rest = after;
            self.symbol(first);
            return;
        }
        let len = self.rest.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        let (word, after) = self.rest.split_at(len);
        let digits = after.iter().skip(usize::from(after.first() == Some(&b'-')));
        let digits = digits.take_while(|b| b.is_ascii_digit()).count();
        let len = if digits > 0 { digits + usize::from(after.first() == Some(&b'-')) } else { 0 };
        let (number, after) = after.split_at(len);
        spend_work((word.len() + number.len()) as u64);
        self.rest = after.strip_prefix(b" ").unwrap_or(after);
        let number = std::str::from_utf8(number).ok().and_then(|number| number.parse::<i32>().ok());
        self.word(word, number);
    }

    fn symbol(&mut self, symbol: u8) {
        match symbol {
            b'\'' => {
                let hex = self.rest.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
                if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
                    self.rest = &self.rest[2..];
                    self.bytes.push(byte);
                }
            }
            b'*' => self.now.destination = RtfDestination::Nowhere,
            b'~' => self.text(" "),
            b'_' => self.text("-"),
            b'\r' | b'\n' => self.end_line(),
            b'{' | b'}' | b'\\' => self.byte(symbol),
            _ => {}
        }
    }

    fn word(&mut self, word: &[u8], number: Option<i32>) {
        // The second byte of a character never follows a control word.
        if word != b"u" {
            self.decode();
        }
        match word {
            b"par" | b"line" | b"sect" | b"page" | b"row" => self.end_line(),
            b"tab" | b"cell" | b"emspace" | b"enspace" => self.text(" "),
            b"emdash" => self.text("—"),
            b"endash" => self.text("–"),
            b"lquote" => self.text("‘"),
            b"rquote" => self.text("’"),
            b"ldblquote" => self.text("“"),
            b"rdblquote" => self.text("”"),
            b"bullet" => self.text("•"),
            b"u" => self.unicode(number.unwrap_or(0)),
            b"uc" => self.now.substitutes = usize::try_from(number.unwrap_or(1)).unwrap_or(1).min(8),
            b"bin" => {
                let len = usize::try_from(number.unwrap_or(0)).unwrap_or(0).min(self.rest.len());
                self.rest = &self.rest[len..];
            }
            b"ansicpg" => {
                if let Some(encoding) = number.and_then(encoding_of_codepage) {
                    (self.default_encoding, self.now.encoding) = (encoding, encoding);
                }
            }
            b"f" => {
                self.font = number.unwrap_or(0);
                if self.now.destination != RtfDestination::FontTable {
                    self.now.encoding = self.fonts.get(&self.font).copied().unwrap_or(self.default_encoding);
                }
            }
            b"fcharset" if self.fonts.len() < MAX_FONTS => {
                if let Some(encoding) = number.and_then(encoding_of_font_charset) {
                    self.fonts.insert(self.font, encoding);
                }
            }
            b"fonttbl" => self.now.destination = RtfDestination::FontTable,
            b"title" => self.now.destination = RtfDestination::Title,
            b"author" => self.now.destination = RtfDestination::Author,
            b"colortbl" | b"stylesheet" | b"info" | b"pict" | b"object" | b"header" | b"footer"
            | b"headerl" | b"headerr" | b"footerl" | b"footerr" | b"fldinst" | b"listtable"
            | b"listoverridetable" | b"rsidtbl" | b"generator" | b"themedata" | b"datastore"
            | b"latentstyles" => {
                self.now.destination = RtfDestination::Nowhere;
            }
            _ => {}
        }
    }

    /// Handles `\u28783`, which is negative from 32,768 on. Characters outside the BMP come as two surrogates.
    fn unicode(&mut self, number: i32) {
        self.decode();
        let unit = (number & 0xFFFF) as u16;
        let units: Vec<u16> = self.high_surrogate.take().into_iter().chain([unit]).collect();
        if (0xD800..0xDC00).contains(&unit) {
            self.high_surrogate = Some(unit);
        } else {
            let text: String = char::decode_utf16(units).flatten().collect();
            self.text(&text);
        }
        for _ in 0..self.now.substitutes {
            match self.rest {
                [b'\\', b'\'', _, _, rest @ ..] => self.rest = rest,
                [b'\\' | b'{' | b'}', ..] | [] => break,
                [_, rest @ ..] => self.rest = rest,
            }
        }
    }

    fn byte(&mut self, byte: u8) {
        // The second byte of a character may be ASCII.
        if !byte.is_ascii() || !self.bytes.is_empty() {
            self.bytes.push(byte);
        } else {
            self.text(char::from(byte).encode_utf8(&mut [0; 4]));
        }
    }

    fn decode(&mut self) {
        if !self.bytes.is_empty() {
            let bytes = std::mem::take(&mut self.bytes);
            spend_work(bytes.len() as u64);
            let (text, _) = self.now.encoding.decode_without_bom_handling(&bytes);
            self.append(&text);
        }
    }

    fn text(&mut self, text: &str) {
        self.decode();
        self.append(text);
    }

    fn append(&mut self, text: &str) {
        match self.now.destination {
            RtfDestination::Body => self.line.push_str(text),
            RtfDestination::Title => self.document.title.push_str(text),
            RtfDestination::Author => self.document.author.push_str(text),
            RtfDestination::FontTable | RtfDestination::Nowhere => {}
        }
    }

    fn end_line(&mut self) {
        self.decode();
        if self.now.destination == RtfDestination::Body {
            spend_work(self.line.len() as u64);
            let line = collapse_whitespace(&std::mem::take(&mut self.line), usize::MAX);
            self.document.push_line(&line);
        }
    }
}

fn encoding_of_codepage(number: i32) -> Option<&'static Encoding> {
    let label = match number {
        932 => "shift_jis".to_string(),
        936 | 54_936 => "gbk".to_string(),
        949 => "euc-kr".to_string(),
        950 => "big5".to_string(),
        10_000 => "macintosh".to_string(),
        65_001 => "utf-8".to_string(),
        other => format!("windows-{other}"),
    };
    Encoding::for_label(label.as_bytes())
}

/// Returns the encoding for the Windows charset number of a font.
fn encoding_of_font_charset(number: i32) -> Option<&'static Encoding> {
    encoding_of_codepage(match number {
        0 => 1252,
        77 => 10_000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use pharos_core::work::measure_work;

    use super::*;

    #[test]
    fn a_document_is_read() {
        let document = read(include_bytes!("../../tests/samples/lighthouse.rtf")).unwrap();
        assert_eq!(document.text, "The lighthouse: 灯塔\n灯塔 {ok} x\nМаяк");
        assert_eq!((document.title.as_str(), document.author.as_str()), ("灯塔", "Ann Lee"));
    }

    /// At most five steps per byte: each is read, decoded to at most three, and written.
    #[test]
    fn the_work_on_a_document_is_linear() {
        let units = [
            "{",
            "}",
            "{\\b",
            "\\par ",
            "x\\par",
            "\\'e9",
            "\\'e9{",
            "\\u28783?",
            "\\uc8\\u1 ",
            "\\f1\\fcharset134 ",
            "\\bin0",
            "\\aaaaaaaa",
            "\\title x",
            "\\*",
            "\\",
            "\\u-10179\\'3f",
            "a\\~",
            "\\b123456",
            "  ",
        ];
        for length in [8_000, 64_000] {
            for unit in units {
                let body = format!("{{\\rtf1\\ansicpg936 {}", unit.repeat(length / unit.len()));
                let steps = measure_work(|| read(body.as_bytes())).1;
                assert!(steps <= 5 * body.len() as u64, "{unit}: {steps} steps for {} bytes", body.len());
            }
        }
    }

    #[test]
    fn hostile_documents_end() {
        let deep = format!("{{\\rtf1 {}deep", "{".repeat(100_000));
        assert_eq!(read(deep.as_bytes()).unwrap().text, "deep");
        assert_eq!(read(b"{\\rtf1 a\\bin999999999 b\\u-1\\'").unwrap().text, "a");
        assert_eq!(read(b"plain"), None);
    }
}
