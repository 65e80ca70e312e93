//! PDF reader: joins the glyphs of pages to words, lines and paragraphs by their positions.
//!
//! `hayro` interprets the pages and maps glyphs to characters, including Chinese files that refer to one of Adobe's
//! character collections and embed no font.

use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use encoding_rs::{UTF_16BE, WINDOWS_1252};
use flate2::read::ZlibDecoder;
use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::DateTime;
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, RenderContent, SoftMask, interpret_page,
};
use pharos_text::is_han;

use super::ExtractedDocument;
use crate::metadata::{is_page_title, iso_date};

/// Maximum number of pages read.
const MAX_PAGES: usize = 2_000;

/// Maximum number of glyphs read, over all pages. A thick book has a million characters.
const MAX_GLYPHS: usize = 2_000_000;

/// Maximum number of paths, clips and pictures, over all pages. Nested forms can expand to far more than the size
/// of the file.
const MAX_STEPS: usize = 1_000_000;

/// Maximum decompressed size of all streams together, and of each picture.
const MAX_UNPACKED: u64 = 256 << 20;

/// Glyph units per em.
const UNITS_PER_EM: f64 = 1_000.0;

/// Minimum width of a space, relative to the font size; narrower gaps lie inside a word.
const NARROWEST_SPACE: f64 = 0.13;

/// Reads a document; `None` if it is not a PDF, is encrypted, or decompresses to an excessive size.
pub(super) fn read(body: &[u8]) -> Option<ExtractedDocument> {
    if is_decompression_bomb(body) {
        return None;
    }
    let pdf = Pdf::new(body.to_vec()).ok()?;
    let cache = InterpreterCache::new();
    let settings =
        InterpreterSettings { render_content: RenderContent::PAGE, ..InterpreterSettings::default() };
    let mut document = ExtractedDocument::default();
    let mut biggest = PdfLine::default();
    let (mut glyphs, mut steps) = (0, 0);
    for (number, page) in pdf.pages().iter().take(MAX_PAGES).enumerate() {
        let mut device = TextDevice { glyphs, steps, ..TextDevice::default() };
        let everywhere = Rect::new(-1e6, -1e6, 1e6, 1e6);
        let mut context = Context::new(Affine::IDENTITY, everywhere, &cache, pdf.xref(), settings.clone());
        // The interpreter can be stopped only by unwinding.
        let _ = catch_unwind(AssertUnwindSafe(|| interpret_page(page, &mut context, &mut device)));
        device.end_line();
        (glyphs, steps) = (device.glyphs, device.steps);
        if number == 0 {
            let longer_first = |a: &&PdfLine, b: &&PdfLine| a.size.total_cmp(&b.size);
            // The first line wins a tie.
            biggest = device.lines.iter().rev().max_by(longer_first).cloned().unwrap_or_default();
        }
        for paragraph in paragraphs(&device.lines) {
            document.push_line(&paragraph);
        }
        if document.is_full() || glyphs >= MAX_GLYPHS || steps >= MAX_STEPS {
            break;
        }
    }
    let metadata = pdf.metadata();
    let title = metadata.title.as_deref().map(text_string).unwrap_or_default();
    document.title = if is_page_title(&title) { title } else { biggest.text };
    document.author = metadata.author.as_deref().map(text_string).unwrap_or_default();
    document.created = metadata.creation_date.and_then(date);
    document.modified = metadata.modification_date.and_then(date);
    Some(document)
}

/// A line of a page.
#[derive(Clone, Debug, Default, PartialEq)]
struct PdfLine {
    text: String,
    /// Font size, horizontal start and end, and vertical position.
    size: f64,
    start: f64,
    end: f64,
    height: f64,
}

/// Collects the lines of a page in drawing order, which is nearly always reading order.
#[derive(Default)]
struct TextDevice {
    lines: Vec<PdfLine>,
    line: PdfLine,
    glyphs: usize,
    steps: usize,
}

/// Panic payload that ends the interpretation of a page.
struct StepLimitReached;

impl TextDevice {
    fn step(&mut self) {
        self.steps += 1;
        if self.steps >= MAX_STEPS {
            // No panic message, since this is not a programming error.
            resume_unwind(Box::new(StepLimitReached));
        }
    }

    fn glyph(&mut self, text: &str, at: Point, size: f64, width: f64) {
        // The glyph belongs to another line or another column.
        let is_same_line = (at.y - self.line.height).abs() < size.max(self.line.size) * 0.5;
        let gap = at.x - self.line.end;
        if !self.line.text.is_empty() && (!is_same_line || gap < -size || gap > size * 8.0) {
            self.end_line();
        }
        if self.line.text.is_empty() {
            if text.trim().is_empty() {
                return;
            }
            self.line = PdfLine { text: String::new(), size, start: at.x, end: at.x, height: at.y };
        } else if gap > size * NARROWEST_SPACE && !self.line.text.ends_with(' ') && !text.starts_with(' ') {
            self.line.text.push(' ');
        }
        self.line.text.push_str(text);
        self.line.size = self.line.size.max(size);
        self.line.end = at.x + width;
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        line.text = crate::dom::visible_text::collapse_whitespace(&line.text, usize::MAX);
        if !line.text.is_empty() {
            self.lines.push(line);
        }
    }
}

impl Device<'_> for TextDevice {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        for glyph in run.glyphs() {
            self.glyphs += 1;
            if self.glyphs > MAX_GLYPHS {
                resume_unwind(Box::new(StepLimitReached));
            }
            let Some(character) = glyph.as_unicode() else { continue };
            let text = match character {
                BfString::Char(character) => character.to_string(),
                BfString::String(text) => text,
            };
            let place = props.transform * glyph.transform();
            let origin = place * Point::ZERO;
            let size = (place * Point::new(0.0, UNITS_PER_EM) - origin).hypot();
            let units = match &**glyph {
                Glyph::Outline(outline) => outline.advance_width(),
                Glyph::Type3(drawn) => drawn.advance_width(),
            };
            let advance = place * Point::new(f64::from(units.unwrap_or(500.0)), 0.0) - origin;
            if origin.is_finite() && size.is_finite() {
                self.glyph(&text, origin, size, advance.x);
            }
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {
        self.step();
    }
    fn push_clip_path(&mut self, _: &ClipPath) {
        self.step();
    }
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {
        self.step();
    }
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {
        self.step();
    }
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

/// Joins lines into paragraphs. Consecutive lines are joined if they have normal line spacing, the same font size,
/// and overlap horizontally. A line that ends early ends its paragraph.
fn paragraphs(lines: &[PdfLine]) -> Vec<String> {
    let widest = lines.iter().map(|line| line.end - line.start).fold(0.0, f64::max);
    let mut paragraphs: Vec<String> = Vec::new();
    let mut before: Option<&PdfLine> = None;
    for line in lines {
        let goes_on = before.is_some_and(|before| {
            let distance = before.height - line.height;
            (0.0..line.size * 1.8).contains(&distance)
                && (before.size - line.size).abs() < line.size * 0.1
                && before.end - before.start > widest * 0.7
                && line.start < before.end
        });
        match paragraphs.last_mut() {
            Some(paragraph) if goes_on => join(paragraph, &line.text),
            _ => paragraphs.push(line.text.clone()),
        }
        before = Some(line);
    }
    paragraphs
}

/// Appends a line to a paragraph. Words are separated by a space, Chinese characters by nothing, and hyphenated
/// words are rejoined.
fn join(paragraph: &mut String, line: &str) {
    let is_cut = paragraph.strip_suffix('-').is_some_and(|before| before.ends_with(char::is_lowercase));
    if is_cut && line.starts_with(char::is_lowercase) {
        paragraph.pop();
        paragraph.push_str(line);
        return;
    }
    let is_chinese = |c: Option<char>| c.is_some_and(|c| is_han(c) || "，。、；：？！“”（）《》".contains(c));
    if !is_chinese(paragraph.chars().next_back()) || !is_chinese(line.chars().next()) {
        paragraph.push(' ');
    }
    paragraph.push_str(line);
}

/// Decodes a text string of the document information: UTF-16 or UTF-8 with a byte order mark, otherwise nearly
/// Latin-1.
fn text_string(bytes: &[u8]) -> String {
    let text = match bytes {
        [0xFE, 0xFF, rest @ ..] => UTF_16BE.decode_without_bom_handling(rest).0,
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest),
        _ => WINDOWS_1252.decode_without_bom_handling(bytes).0,
    };
    text.replace('\0', "")
}

fn date(at: DateTime) -> Option<String> {
    iso_date(&format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{:+03}:{:02}",
        at.year, at.month, at.day, at.hour, at.minute, at.second, at.utc_offset_hour, at.utc_offset_minute
    ))
}

/// Returns `true` if the streams decompress to an excessive size. A stream compressed twice counts as a bomb.
/// Pictures are never decompressed here, so each is checked only on its own.
fn is_decompression_bomb(body: &[u8]) -> bool {
    /// Maximum compression ratio of zlib.
    const BEST_RATIO: u64 = 1_032;
    let is_small = (body.len() as u64) * BEST_RATIO <= MAX_UNPACKED;
    let mut unpacked = 0;
    let mut last_end = 0;
    for at in memchr::memmem::find_iter(body, b"stream") {
        let description = &body[last_end..at];
        last_end = at;
        let is_description = description.trim_ascii_end().ends_with(b">>");
        if is_description && memchr::memmem::find_iter(description, b"/FlateDecode").nth(1).is_some() {
            return true;
        }
        if is_small {
            continue;
        }
        let data = body[at + b"stream".len()..].trim_ascii_start();
        // First byte of a zlib stream.
        if data.first().is_none_or(|b| b & 0x0F != 8) {
            continue;
        }
        let is_picture = memchr::memmem::find(description, b"/Image").is_some();
        let before = if is_picture { 0 } else { unpacked };
        let mut rest = ZlibDecoder::new(data).take(MAX_UNPACKED - before + 1);
        let length = std::io::copy(&mut rest, &mut std::io::sink()).unwrap_or_default();
        if before + length > MAX_UNPACKED {
            return true;
        }
        unpacked = if is_picture { unpacked } else { before + length };
    }
    false
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    #[test]
    fn pages_are_read_with_their_paragraphs() {
        let read = read(include_bytes!("../../tests/samples/lighthouse.pdf")).unwrap();
        assert_eq!(read.title, "The History of Lighthouses", "the biggest line, since the file is untitled");
        assert_eq!(
            read.text,
            "The History of Lighthouses\nA lighthouse stands on a rock and its light can be seen from many miles \
             away at night. Ships that pass the coast look for it, and know by its colour where they are.\n\
             The second paragraph is short.\nPage two: the lamp."
        );
    }

    #[test]
    fn bombs_are_not_unpacked() {
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
        for _ in 0..300 {
            packer.write_all(&[b' '; 1 << 20]).unwrap();
        }
        let packed = packer.finish().unwrap();
        let stream =
            [b"1 0 obj <</Filter/FlateDecode>> stream\n".as_slice(), &packed, b"\nendstream"].concat();
        assert!(is_decompression_bomb(&stream) && !is_decompression_bomb(&stream[..200_000]));
        assert!(is_decompression_bomb(b"1 0 obj <</Filter[/FlateDecode/FlateDecode]>> stream\nx\nendstream"));
    }

    #[test]
    fn forms_made_of_forms_end() {
        let form = |calls: &str, below: usize| {
            let resources = format!("/Resources<</XObject<</F {below} 0 R>>>>");
            let length = calls.len();
            format!(
                "<</Type/XObject/Subtype/Form/BBox[0 0 1 1]{resources}/Length {length}>>\nstream\n{calls}\nendstream"
            )
        };
        let mut objects = vec![
            "<</Type/Catalog/Pages 2 0 R>>".to_string(),
            "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_string(),
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>"
                .to_string(),
            "<</Length 5>>\nstream\n/F Do\nendstream".to_string(),
        ];
        // Ten calls on each of twelve levels.
        objects.extend((0..12).map(|level| form(&"/F Do ".repeat(10), level + 6)));
        objects.push(form("", 1));
        let mut file = "%PDF-1.7\n".to_string();
        let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
        for (number, object) in (1..).zip(&objects) {
            table += &format!("{:010} 00000 n \n", file.len());
            file += &format!("{number} 0 obj\n{object}\nendobj\n");
        }
        let start = file.len();
        file +=
            &format!("{table}trailer <</Size {}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF", objects.len() + 1);
        assert!(read(file.as_bytes()).is_some_and(|document| document.text.is_empty()));
    }

    #[test]
    fn lines_are_joined() {
        let joined = |one: &str, other: &str| {
            let mut paragraph = one.to_string();
            join(&mut paragraph, other);
            paragraph
        };
        assert_eq!(joined("a light-", "house"), "a lighthouse");
        assert_eq!(joined("pages 3-", "5"), "pages 3- 5");
        assert_eq!(joined("灯塔，", "海岸"), "灯塔，海岸");
    }

    #[test]
    fn chinese_is_read_without_embedded_fonts() {
        let read = read(include_bytes!("../../tests/samples/dengta.pdf")).unwrap();
        assert_eq!((read.title.as_str(), read.author.as_str()), ("灯塔的历史", "张三"));
        assert_eq!(read.text, "灯塔是建在海岸上的高塔，在夜里发光，为船只指路。");
    }
}
