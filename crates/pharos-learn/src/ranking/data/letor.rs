//! The LETOR form of SVMlight files: `<grade> qid:<query> <feature>:<value> … # <comment>`.
//!
//! Used by LETOR 2.0 to 4.0, MSLR-WEB10K and 30K, Yahoo's sets, RankLib, SVMrank, XGBoost and OpenSearch. Features not
//! listed are 0; `NULL` (MQ2007-agg), `nan` and `?` are missing values. Source: Qin et al. 2010, "LETOR: A benchmark
//! collection for research on learning to rank", §4.

use std::io::{self, Write};

use super::RankingData;
use crate::metrics::MAX_GRADE;

/// Highest feature number. The widest public set has 700 features.
pub const MAX_FEATURE: u32 = 65_535;

/// Grades of the Yandex sets as probabilities of relevance, in rising order.
const YANDEX_GRADES: [f64; 5] = [0.0, 0.07, 0.14, 0.41, 0.61];

/// A parsed line. `features` are written to a buffer of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LetorLine<'a> {
    pub(super) label: &'a str,
    /// `None` if the queries are listed in a separate file.
    pub(super) query: Option<&'a str>,
    pub(super) comment: &'a str,
}

/// Parses a line into `features`. Returns `None` for an empty line or a comment.
pub(super) fn parse_line<'a>(
    line: &'a str,
    features: &mut Vec<(u32, f32)>,
) -> Result<Option<LetorLine<'a>>, String> {
    features.clear();
    let (fields, comment) = line.split_once('#').unwrap_or((line, ""));
    let mut fields = fields.split_ascii_whitespace().peekable();
    let Some(label) = fields.next() else { return Ok(None) };
    if label.contains(':') {
        return Err(format!("`{}` at the place of the grade: expected {FORM}", shorten(label)));
    }
    let query = fields.peek().and_then(|field| field.strip_prefix("qid:"));
    if query.is_some() {
        fields.next();
    }
    let mut is_rising = true;
    for field in fields {
        let Some((number, value)) = field.split_once(':') else {
            return Err(format!("`{}` is not a feature: expected {FORM}", shorten(field)));
        };
        let number: u32 = match number.parse() {
            Ok(number) if number <= MAX_FEATURE => number,
            _ => return Err(format!("feature number `{}` is not in 0 to {MAX_FEATURE}", shorten(number))),
        };
        is_rising &= features.last().is_none_or(|&(last, _)| last < number);
        features.push((number, parse_value(value)?));
    }
    if !is_rising {
        features.sort_by_key(|&(number, _)| number);
        if let Some(twice) = features.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(format!("feature {} is given twice", twice[0].0));
        }
    }
    Ok(Some(LetorLine { label, query, comment: comment.trim() }))
}

const FORM: &str = "`<grade> qid:<query> <feature>:<value> … # <comment>`";

/// Parses the value of a feature; NaN is a missing value.
pub(super) fn parse_value(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if value.is_infinite() => Err(format!("value `{}` is out of range", shorten(text))),
        Ok(value) => Ok(value),
        Err(_) if ["null", "na", "?", "-nan"].iter().any(|name| text.eq_ignore_ascii_case(name)) => {
            Ok(f32::NAN)
        }
        Err(_) => Err(format!("value `{}` is not a number", shorten(text))),
    }
}

/// Parses a grade: a whole number, below zero for an irrelevant document, or a fraction, which becomes the nearest
/// grade of the Yandex sets.
pub(super) fn parse_grade(text: &str) -> Result<u32, String> {
    let bad = || format!("grade `{}` is not a whole number up to {MAX_GRADE}", shorten(text));
    let number: f64 = text.parse().map_err(|_| bad())?;
    if number.is_nan() || number > f64::from(MAX_GRADE) || number < -1e9 {
        return Err(bad());
    }
    if number.fract() == 0.0 {
        return Ok(number.max(0.0) as u32);
    }
    if !(0.0..1.0).contains(&number) {
        return Err(bad());
    }
    let distance = |grade: &f64| (grade - number).abs();
    let nearest = (0..).zip(YANDEX_GRADES).min_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)));
    Ok(nearest.map_or(0, |(grade, _)| grade))
}

/// Returns the document of a comment: `docid = GX01 inc = …`, or its first word.
pub(super) fn document_of(comment: &str) -> &str {
    let named = comment.strip_prefix("docid").map(str::trim_start).and_then(|rest| rest.strip_prefix('='));
    named.unwrap_or(comment).split_ascii_whitespace().next().unwrap_or("")
}

/// Shortens a wrong word for a message.
pub(super) fn shorten(word: &str) -> String {
    match word.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.to_owned(),
    }
}

/// Writes data in this form. Zeros are left out.
pub fn write(data: &RankingData, mut out: impl Write) -> io::Result<()> {
    for query in data.queries() {
        for row in query.rows.clone() {
            write!(out, "{} qid:{}", data.grades()[row], query.id)?;
            for (number, &value) in data.row(row).iter().enumerate() {
                if value.is_nan() {
                    write!(out, " {number}:NULL")?;
                } else if value != 0.0 {
                    write!(out, " {number}:{value}")?;
                }
            }
            if !data.documents.is_empty() {
                write!(out, " # {}", data.document(row))?;
            }
            writeln!(out)?;
        }
    }
    out.flush()
}
