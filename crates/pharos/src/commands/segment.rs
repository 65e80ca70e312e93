//! `pharos segment`: words separated by two spaces, line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};

use anyhow::Context as _;
use pharos_text::Analyser;

use crate::Outcome;
use crate::cli::{Global, SegmentArgs};

pub(crate) fn run(global: &Global, args: SegmentArgs) -> anyhow::Result<Outcome> {
    let input: Box<dyn BufRead> = match args.input.as_str() {
        "-" => Box::new(io::stdin().lock()),
        path => Box::new(BufReader::new(File::open(path).with_context(|| format!("cannot read {path}"))?)),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in input.split(b'\n') {
        let line = line?;
        let text = String::from_utf8_lossy(&line);
        let words = Analyser::shared().segment(text.trim_end_matches('\r'));
        if global.json {
            serde_json::to_writer(&mut out, &words).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            writeln!(out, "{}", words.join("  "))?;
        }
    }
    out.flush()?;
    Ok(Outcome::Good)
}
