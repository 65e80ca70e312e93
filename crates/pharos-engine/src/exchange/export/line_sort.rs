//! External merge sort of lines: sorted runs in temporary files, merged at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Seek as _, Write};

/// Bytes of lines sorted in memory per run.
const RUN: usize = 64 << 20;

/// Lines, including line feeds, to be written in byte order.
pub(super) struct SortedLines {
    run: usize,
    lines: Vec<String>,
    bytes: usize,
    runs: Vec<File>,
}

impl SortedLines {
    pub(super) fn new() -> Self {
        Self { run: RUN, lines: Vec::new(), bytes: 0, runs: Vec::new() }
    }

    pub(super) fn add(&mut self, line: String) -> io::Result<()> {
        self.bytes += line.len() + size_of::<String>();
        self.lines.push(line);
        if self.bytes >= self.run { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        self.lines.sort_unstable();
        let mut file = BufWriter::new(tempfile::tempfile()?);
        for line in self.lines.drain(..) {
            file.write_all(line.as_bytes())?;
        }
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        self.runs.push(file);
        self.bytes = 0;
        Ok(())
    }

    /// Writes all lines in order.
    pub(super) fn write(mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.runs.is_empty() {
            self.lines.sort_unstable();
            return self.lines.iter().try_for_each(|line| out.write_all(line.as_bytes()));
        }
        self.spill()?;
        let mut runs: Vec<_> = self.runs.into_iter().map(BufReader::new).collect();
        let mut next = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            next.extend(read(run)?.map(|line| Reverse((line, number))));
        }
        while let Some(Reverse((line, number))) = next.pop() {
            out.write_all(line.as_bytes())?;
            next.extend(read(&mut runs[number])?.map(|line| Reverse((line, number))));
        }
        Ok(())
    }
}

fn read(run: &mut BufReader<File>) -> io::Result<Option<String>> {
    let mut line = String::new();
    Ok((run.read_line(&mut line)? > 0).then_some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_sorted_from_memory_and_from_files() {
        let mut expected: Vec<String> = (0..500).map(|n| format!("{} {n}\n", n * 7919 % 501)).collect();
        for run in [1 << 20, 700] {
            let mut lines = SortedLines { run, ..SortedLines::new() };
            expected.iter().for_each(|line| lines.add(line.clone()).unwrap());
            let mut out = Vec::new();
            lines.write(&mut out).unwrap();
            expected.sort_unstable();
            assert_eq!(String::from_utf8(out).unwrap(), expected.concat());
        }
    }
}
