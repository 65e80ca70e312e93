//! Reads a trace file line by line.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Read as _};

use serde::Deserialize;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::{MAX_CHANGES, MAX_PAGES, Trace};

/// Maximum length of a line in bytes.
const MAX_LINE: u64 = 256 << 20;

/// Times from 1970 to the year 9999.
const VALID_TIMES: std::ops::RangeInclusive<f64> = 0.0..=253_402_300_799.0;

/// Longest observed time of a page, in seconds: changes are stored in 32 bits.
const MAX_SPAN: i64 = u32::MAX as i64;

/// An invalid line of a trace.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("line {line}: {reason}")]
pub struct InvalidLine {
    pub line: u64,
    pub reason: String,
}

/// An error that ends the reading of a trace.
#[derive(Debug, Error)]
pub enum TraceError {
    #[error("cannot read the trace: {0}")]
    Io(#[from] std::io::Error),
    #[error("line {line} is longer than 256 MiB")]
    LongLine { line: u64 },
    #[error("the trace has more than {MAX_PAGES} pages or {MAX_CHANGES} changes: use a part of it")]
    TooLarge,
}

/// Reads traces and counts the parts that cannot be used.
#[derive(Debug, Default)]
pub struct TraceReader {
    trace: Trace,
    sites: HashMap<u64, u32>,
    pages: HashSet<u64>,
    /// Number of invalid lines.
    pub invalid: u64,
    /// Number of changes outside the observed time of their page.
    pub changes_outside: usize,
}

/// A line of a trace.
#[derive(Deserialize)]
struct TraceLine {
    page: Name,
    #[serde(default)]
    site: Option<Name>,
    #[serde(default)]
    weight: Option<f64>,
    from: f64,
    to: f64,
    #[serde(default)]
    changes: Option<Vec<f64>>,
    #[serde(default)]
    rate: Option<f64>,
}

/// A name; programs also number their pages.
#[derive(Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Number(i64),
}

impl Name {
    fn hash(&self) -> u64 {
        match self {
            Self::Text(text) => xxh3_64(text.as_bytes()),
            Self::Number(number) => xxh3_64(number.to_string().as_bytes()),
        }
    }
}

impl TraceReader {
    /// Reads all lines. Invalid ones are passed to `report` and skipped; empty ones are ignored.
    pub fn read(
        &mut self,
        mut input: impl BufRead,
        report: &mut dyn FnMut(InvalidLine),
    ) -> Result<(), TraceError> {
        let mut text = Vec::new();
        for line in 1.. {
            text.clear();
            if input.by_ref().take(MAX_LINE).read_until(b'\n', &mut text)? == 0 {
                return Ok(());
            }
            if text.len() as u64 == MAX_LINE {
                return Err(TraceError::LongLine { line });
            }
            if text.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if self.trace.pages.len() >= MAX_PAGES || self.trace.changes.len() >= MAX_CHANGES {
                return Err(TraceError::TooLarge);
            }
            if let Err(reason) = self.add_line(&text) {
                self.invalid += 1;
                report(InvalidLine { line, reason });
            }
        }
        Ok(())
    }

    /// Returns the trace.
    pub fn into_trace(self) -> Trace {
        self.trace
    }

    fn add_line(&mut self, text: &[u8]) -> Result<(), String> {
        let line: TraceLine = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        for (name, time) in [("from", line.from), ("to", line.to)] {
            if !VALID_TIMES.contains(&time) {
                return Err(format!("{name} is {time}, which is no time in seconds between 1970 and 9999"));
            }
        }
        let (from, to) = (line.from as i64, line.to as i64);
        if from >= to {
            return Err(format!("from ({from}) must be before to ({to})"));
        }
        if to - from > MAX_SPAN {
            return Err(format!("the time from {from} to {to} is longer than 136 years"));
        }
        let weight = line.weight.unwrap_or(1.0);
        if !(0.0..=1e9).contains(&weight) {
            return Err(format!("weight is {weight}, and must be between 0 and 1e9"));
        }
        let rate = line.rate.unwrap_or(0.0);
        if !(0.0..=1e9).contains(&rate) {
            return Err(format!("rate is {rate}, and must be between 0 and 1e9 changes a day"));
        }
        let mut changes = Vec::new();
        for at in line.changes.unwrap_or_default() {
            if !at.is_finite() {
                return Err("a change has no finite time".into());
            }
            changes.push(at as i64);
        }
        if !self.pages.insert(line.page.hash()) {
            return Err("the page has an earlier line".into());
        }
        let site = line.site.map_or(0, |site| site.hash());
        let next = self.sites.len() as u32;
        let site = *self.sites.entry(site).or_insert(next);
        self.changes_outside += self.trace.push(site, weight as f32, rate as f32, from, to, &mut changes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> (TraceReader, Vec<String>) {
        let (mut reader, mut problems) = (TraceReader::default(), Vec::new());
        reader.read(text.as_bytes(), &mut |invalid| problems.push(invalid.to_string())).unwrap();
        (reader, problems)
    }

    #[test]
    fn a_trace_is_read() {
        let (reader, problems) = read(
            "{\"page\":\"a\",\"site\":\"s\",\"weight\":2.5,\"from\":100,\"to\":900,\"changes\":[700,300,950,300]}\n\n\
             {\"page\":7,\"from\":0,\"to\":86400}\n",
        );
        assert_eq!(problems, [""; 0]);
        assert_eq!(reader.changes_outside, 1);
        let trace = reader.into_trace();
        assert_eq!(trace.changes_of(&trace.pages()[0]), [200, 200, 600], "sorted, within the observed time");
        assert_eq!((trace.pages()[0].weight, trace.pages()[1].weight), (2.5, 1.0));
        assert_eq!((trace.pages()[1].days(), trace.span()), (1.0, Some((0, 86_400))));
        assert_eq!(trace.summary().sites, 2);
    }

    #[test]
    fn invalid_lines_are_reported_with_their_numbers_and_skipped() {
        let line = |fields: &str| format!("{{\"page\":\"p\",{fields}}}\n");
        let text = [
            "garbage\n".into(),
            line("\"from\":9,\"to\":5"),
            line("\"from\":5,\"to\":5"),
            line("\"weight\":-1,\"from\":1,\"to\":5"),
            line("\"from\":-3,\"to\":5"),
            line("\"from\":1,\"to\":1e300"),
            line("\"from\":1,\"to\":5,\"changes\":[\"x\"]"),
            line("\"from\":1,\"to\":5000000000"),
            line("\"from\":1,\"to\":5,\"rate\":-2"),
            line("\"from\":1,\"to\":5"),
            line("\"from\":1,\"to\":5"),
            "{\"from\":1,\"to\":5}\n".into(),
            "[1,2]".into(),
        ]
        .concat();
        let (reader, problems) = read(&text);
        assert_eq!((reader.invalid, problems.len(), reader.trace.pages().len()), (12, 12, 1));
        assert_eq!(problems[1], "line 2: from (9) must be before to (5)");
        assert!(problems[3].starts_with("line 4: weight is -1"), "{problems:?}");
        assert_eq!(problems[9], "line 11: the page has an earlier line");
        assert!(problems[10].contains("missing field `page`"), "{problems:?}");
    }

    proptest! {
        #[test]
        fn hostile_bytes_cause_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut reader = TraceReader::default();
            let _ = reader.read(&bytes[..], &mut |_| ());
        }

        #[test]
        fn hostile_numbers_cause_no_panic(from: f64, to: f64, weight: f64, changes in prop::collection::vec(any::<f64>(), 0..9)) {
            let text = serde_json::json!({"page": 1, "from": from, "to": to, "weight": weight, "changes": changes}).to_string();
            let mut reader = TraceReader::default();
            reader.read(text.as_bytes(), &mut |_| ()).unwrap();
        }
    }
}
