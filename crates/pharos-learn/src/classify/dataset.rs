//! Texts with their classes, from a file of tab-separated columns.
//!
//! The last column is the class, the columns before it are the text. A byte order mark, CRLF, quoted fields and a line of
//! column names are recognised. Lines that cannot be used are counted, not fatal.

use std::collections::HashMap;
use std::io::{self, BufRead, Read as _};

use serde::Serialize;

/// Maximum length of a line in bytes. Longer ones are skipped.
const MAX_LINE: u64 = 1 << 20;

/// Maximum length of the name of a class in bytes.
const MAX_CLASS_NAME: usize = 512;

/// Maximum number of classes.
pub const MAX_CLASSES: usize = 65_000;

/// Maximum size of all texts in bytes.
const MAX_BYTES: usize = 4 << 30;

/// Names of columns of classes.
const CLASS_COLUMNS: [&str; 14] = [
    "class",
    "classes",
    "label",
    "labels",
    "category",
    "categories",
    "topic",
    "topics",
    "target",
    "tag",
    "类别",
    "标签",
    "分类",
    "类",
];

/// Separators that are tried if a column may contain several classes.
const SEPARATORS: [char; 3] = [',', '|', ';'];

/// A text and its classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub text: String,
    /// In ascending order, without repetitions.
    pub classes: Vec<u32>,
}

/// Format of the class column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassColumn {
    /// Several classes if most parts of lists also occur alone.
    Detect,
    /// One class.
    Single,
    /// Classes with this separator.
    Separated(char),
}

/// Lines that were not used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SkippedLines {
    /// Column names.
    pub header: usize,
    /// Lines without a class.
    pub without_class: usize,
    /// Lines beyond the maximum length, number of classes, or total size.
    pub too_long: usize,
}

/// Texts with their classes.
#[derive(Clone, Debug, Default)]
pub struct Dataset {
    /// Names of the classes.
    pub classes: Vec<String>,
    pub examples: Vec<Example>,
    /// Separator of classes, if a text may have several.
    pub separator: Option<char>,
    pub skipped: SkippedLines,
}

impl Dataset {
    /// Reads a file. Classes get numbers in order of occurrence, after those of `known`.
    pub fn read(input: impl BufRead, column: ClassColumn, known: &[String]) -> io::Result<Self> {
        let mut skipped = SkippedLines::default();
        let lines = read_lines(input, &mut skipped)?;
        let separator = match column {
            ClassColumn::Single => None,
            ClassColumn::Separated(separator) => Some(separator),
            ClassColumn::Detect => detect_separator(&lines),
        };
        let mut dataset = Self { classes: known.to_vec(), examples: Vec::new(), separator, skipped };
        let mut numbers: HashMap<String, u32> = known.iter().cloned().zip(0u32..).collect();
        for (text, names) in lines {
            let names: Vec<&str> = match separator {
                None => vec![names.as_str()],
                Some(separator) => {
                    names.split(separator).map(str::trim).filter(|name| !name.is_empty()).collect()
                }
            };
            let mut classes = Vec::with_capacity(names.len());
            for name in names {
                if let Some(&number) = numbers.get(name) {
                    classes.push(number);
                } else if dataset.classes.len() < MAX_CLASSES {
                    let number = dataset.classes.len() as u32;
                    numbers.insert(name.to_string(), number);
                    dataset.classes.push(name.to_string());
                    classes.push(number);
                }
            }
            classes.sort_unstable();
            classes.dedup();
            if classes.is_empty() {
                dataset.skipped.too_long += 1;
            } else {
                dataset.examples.push(Example { text, classes });
            }
        }
        Ok(dataset)
    }
}

/// Returns the text and the class column of each usable line.
fn read_lines(mut input: impl BufRead, skipped: &mut SkippedLines) -> io::Result<Vec<(String, String)>> {
    let (mut lines, mut line, mut bytes): (Vec<(String, String)>, Vec<u8>, usize) = Default::default();
    let mut is_first = true;
    let mut header: Option<String> = None;
    loop {
        line.clear();
        let length = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        if length == 0 {
            break;
        }
        if length as u64 == MAX_LINE && !line.ends_with(b"\n") {
            input.skip_until(b'\n')?;
            skipped.too_long += 1;
            continue;
        }
        let text = String::from_utf8_lossy(&line);
        let text = if is_first { text.trim_start_matches('\u{FEFF}') } else { &text };
        let text = text.trim_end_matches(['\n', '\r']);
        if text.trim().is_empty() {
            continue;
        }
        let was_first = std::mem::replace(&mut is_first, false);
        let Some((text, class)) = text.rsplit_once('\t') else {
            skipped.without_class += 1;
            continue;
        };
        let class = unquote(class.trim()).trim().to_string();
        if class.is_empty() {
            skipped.without_class += 1;
            continue;
        }
        if class.len() > MAX_CLASS_NAME || bytes + text.len() > MAX_BYTES {
            skipped.too_long += 1;
            continue;
        }
        if was_first && CLASS_COLUMNS.contains(&class.to_lowercase().as_str()) {
            header = Some(class.clone());
        }
        let text: Vec<String> = text.split('\t').map(|field| unquote(field.trim())).collect();
        let text = text.join(" ");
        bytes += text.len();
        lines.push((text, class));
    }
    // A name of a column occurs once; a class of this name more often.
    if header.is_some_and(|name| lines.iter().filter(|(_, class)| *class == name).count() == 1) {
        lines.remove(0);
        skipped.header = 1;
    }
    Ok(lines)
}

/// Removes the quotes of a CSV field. A field whose inner quotes are not doubled was not quoted.
fn unquote(field: &str) -> String {
    let inner = field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inner {
        Some(inner) if !inner.replace("\"\"", "").contains('"') => inner.replace("\"\"", "\""),
        _ => field.to_string(),
    }
}

/// Returns the separator of class columns with several classes: at least 60 % of the parts of such columns also
/// occur as columns.
fn detect_separator(lines: &[(String, String)]) -> Option<char> {
    let mut columns: HashMap<&str, usize> = HashMap::new();
    for (_, class) in lines {
        *columns.entry(class).or_default() += 1;
    }
    let is_separator = |&separator: &char| {
        let (mut lists, mut parts, mut alone) = (0, 0, 0);
        for (column, count) in columns.iter().filter(|(column, _)| column.contains(separator)) {
            lists += count;
            for part in column.split(separator).map(str::trim) {
                parts += count;
                alone += if columns.contains_key(part) { *count } else { 0 };
            }
        }
        lists * 200 >= lines.len() && lists > 0 && alone * 10 >= parts * 6
    };
    SEPARATORS.into_iter().find(is_separator)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Dataset {
        Dataset::read(text.as_bytes(), ClassColumn::Detect, &[]).unwrap()
    }

    #[test]
    fn header_quotes_and_line_ends_are_recognised() {
        let data = read(
            "\u{FEFF}text\tlabel\r\n\"He said \"\"hi\"\"\"\t\"a\"\r\n\"open quote\tb\n\nno class\n\ta\nx\t\n",
        );
        assert_eq!(data.classes, ["a", "b"]);
        let texts: Vec<&str> = data.examples.iter().map(|example| example.text.as_str()).collect();
        assert_eq!(texts, ["He said \"hi\"", "\"open quote", ""]);
        assert_eq!(data.skipped, SkippedLines { header: 1, without_class: 2, too_long: 0 });
    }

    #[test]
    fn a_class_with_the_name_of_a_column_is_no_header() {
        let data = read("first\ttopic\nsecond\ttopic\nthird\tother\n");
        assert_eq!((data.examples.len(), data.skipped.header), (3, 0));
    }

    #[test]
    fn further_columns_belong_to_the_text() {
        let data = read("title\tbody\tnews\n");
        assert_eq!(data.examples[0].text, "title body");
    }

    #[test]
    fn lists_of_classes_are_detected() {
        let data = read("a\tgrain\nb\tgrain,wheat\nc\twheat\nd\twheat,grain,wheat\n");
        assert_eq!(data.separator, Some(','));
        assert_eq!(data.examples[3].classes, [0, 1]);
        let data = read("a\tArts, Crafts\nb\tSports\nc\tArts, Crafts\n");
        assert_eq!((data.separator, data.classes.len()), (None, 2));
        let single =
            Dataset::read("b\tgrain,wheat\nc\twheat\n".as_bytes(), ClassColumn::Single, &[]).unwrap();
        assert_eq!(single.classes, ["grain,wheat", "wheat"]);
    }

    #[test]
    fn classes_of_a_model_keep_their_numbers() {
        let known = ["x".to_string(), "y".to_string()];
        let data = Dataset::read("t\ty\nu\tz\n".as_bytes(), ClassColumn::Single, &known).unwrap();
        assert_eq!((data.examples[0].classes[0], data.examples[1].classes[0]), (1, 2));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let data = Dataset::read(&bytes[..], ClassColumn::Detect, &[]).unwrap();
            for example in &data.examples {
                prop_assert!(!example.classes.is_empty());
                prop_assert!(example.classes.iter().all(|&class| (class as usize) < data.classes.len()));
            }
        }
    }
}
