//! Bounded reading of data files, plain or gzip-compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use flate2::bufread::MultiGzDecoder;

use super::builder::RowCollector;
use super::letor::{document_of, parse_grade, shorten};
use super::{RankingData, letor, table};
use crate::metrics::MAX_GRADE;
use crate::ranking::RankingError;

/// Longest accepted line. A row of 700 features has about 10 kB.
const MAX_LINE: usize = 1 << 20;

/// Longest accepted query id.
const MAX_QUERY_ID: usize = 256;

/// Meaning of the first column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// Grades of relevance; below zero counts as 0.
    #[default]
    Grades,
    /// Grades, where rows below zero are not judged and are left out (the semi-supervised sets of LETOR 4.0).
    SemiSupervised,
    /// A total order: larger numbers are better (the listwise sets of LETOR 4.0). Its ranks become grades from 0 to 4.
    TotalOrder,
}

impl FromStr for Labels {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "grades" => Ok(Self::Grades),
            "semi-supervised" => Ok(Self::SemiSupervised),
            "order" => Ok(Self::TotalOrder),
            _ => Err(format!("unknown kind of labels `{name}`: use grades, semi-supervised or order")),
        }
    }
}

/// Options of reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    pub labels: Labels,
}

impl RankingData {
    /// Reads files as one set. Queries with the same id in several files are the same query.
    ///
    /// The form of each file is detected: LETOR with `qid:`, LETOR with a query file of LightGBM beside it
    /// (`FILE.query`, the number of rows of each query), or the tab-separated form of Yandex.
    pub fn read(paths: &[PathBuf], options: ReadOptions) -> Result<Self, RankingError> {
        let mut reading = Reading::new(options);
        for path in paths {
            let input = open(path)?;
            reading.group_sizes = match query_file(path) {
                Some(found) => read_group_sizes(&found)?,
                None => Vec::new(),
            };
            reading.read(path, input)?;
        }
        let data = reading.finish();
        if data.is_empty() {
            let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            return Err(RankingError::Data(format!("no rows in {}", names.join(", "))));
        }
        Ok(data)
    }

    /// Parses data with `qid:` or of the tab-separated form.
    pub fn parse(input: impl BufRead) -> Result<Self, RankingError> {
        let mut reading = Reading::new(ReadOptions::default());
        reading.read(Path::new("input"), input)?;
        Ok(reading.finish())
    }
}

/// Opens a file and decompresses it if needed.
fn open(path: &Path) -> Result<Box<dyn BufRead>, RankingError> {
    let error = |source| RankingError::Io { action: "read", path: path.to_path_buf(), source };
    let mut plain: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(BufReader::new(io::stdin()))
    } else {
        Box::new(BufReader::with_capacity(1 << 16, File::open(path).map_err(error)?))
    };
    if plain.fill_buf().map_err(error)?.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(plain))));
    }
    Ok(plain)
}

/// Returns the query file beside a data file: `rank.train.query` or `rank.train.query.gz` for `rank.train` and
/// `rank.train.gz`.
fn query_file(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    [format!("{stem}.query"), format!("{stem}.query.gz")]
        .into_iter()
        .map(|name| path.with_file_name(name))
        .find(|path| path.is_file())
}

/// Reads the number of rows of each query.
fn read_group_sizes(path: &Path) -> Result<Vec<usize>, RankingError> {
    let mut sizes = Vec::new();
    read_lines(path, open(path)?, |_, line| {
        let line = line.trim();
        if !line.is_empty() {
            let size = line.parse().ok().filter(|size| *size > 0);
            sizes.push(size.ok_or_else(|| format!("`{}` is not a number of rows", shorten(line)))?);
        }
        Ok(())
    })?;
    Ok(sizes)
}

/// Calls `each` with every line and its number. Errors of `each` are reported with the line.
fn read_lines(
    path: &Path,
    mut input: impl BufRead,
    mut each: impl FnMut(usize, &str) -> Result<(), String>,
) -> Result<(), RankingError> {
    let mut bytes = Vec::new();
    let mut number = 0;
    loop {
        bytes.clear();
        number += 1;
        let limited = (&mut input).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut bytes);
        if limited.map_err(RankingError::io("read", path))? == 0 {
            return Ok(());
        }
        let line_error =
            |problem: String| RankingError::Line { path: path.to_path_buf(), line: number, problem };
        if bytes.len() > MAX_LINE {
            return Err(line_error(format!("longer than {MAX_LINE} bytes")));
        }
        let without_mark = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| number == 1).unwrap_or(&bytes);
        // Comments and URLs in other charsets do not matter.
        each(number, &String::from_utf8_lossy(without_mark)).map_err(line_error)?;
    }
}

/// State of reading one or more files.
struct Reading {
    options: ReadOptions,
    collector: RowCollector,
    /// Number of rows of each query of the current file, from its query file.
    group_sizes: Vec<usize>,
    /// Files that were read, which distinguishes queries without ids.
    files: usize,
    /// Labels of a total order, by row.
    positions: Vec<f64>,
}

impl Reading {
    fn new(options: ReadOptions) -> Self {
        let collector = RowCollector::default();
        Self { options, collector, group_sizes: Vec::new(), files: 0, positions: Vec::new() }
    }

    fn read(&mut self, path: &Path, input: impl BufRead) -> Result<(), RankingError> {
        self.files += 1;
        let sizes = std::mem::take(&mut self.group_sizes);
        let mut groups = sizes.iter().copied().enumerate();
        let (mut group, mut is_grouped) = ((0, 0), false);
        let (mut is_table, mut rows, mut last_line) = (None, 0_usize, 0);
        let mut features = Vec::new();
        read_lines(path, input, |number, line| {
            last_line = number;
            if line.trim().is_empty() {
                return Ok(());
            }
            if *is_table.get_or_insert_with(|| table::has_form(line)) {
                let parsed = table::parse_line(line, &mut features)?;
                rows += 1;
                return self.push(parsed.label, parsed.query, &features, parsed.document);
            }
            let Some(parsed) = letor::parse_line(line, &mut features)? else { return Ok(()) };
            rows += 1;
            let document = document_of(parsed.comment);
            if let Some(query) = parsed.query {
                return self.push(parsed.label, query, &features, document);
            }
            if sizes.is_empty() {
                let advice =
                    "add qid:<query> after the grade, or the numbers of rows per query as FILE.query";
                return Err(format!("the row has no query: {advice}"));
            }
            is_grouped = true;
            if group.1 == 0 {
                group = groups.next().ok_or("the query file has fewer rows than this file")?;
            }
            group.1 -= 1;
            let query = match self.files {
                1 => format!("{}", group.0 + 1),
                file => format!("{file}-{}", group.0 + 1),
            };
            self.push(parsed.label, &query, &features, document)
        })?;
        let listed: usize = sizes.iter().sum();
        if is_grouped && listed != rows {
            let problem = format!("the file has {rows} rows, its query file {listed}");
            return Err(RankingError::Line { path: path.to_path_buf(), line: last_line, problem });
        }
        Ok(())
    }

    fn push(
        &mut self,
        label: &str,
        query: &str,
        features: &[(u32, f32)],
        document: &str,
    ) -> Result<(), String> {
        if query.is_empty() || query.len() > MAX_QUERY_ID {
            return Err(format!(
                "query id `{}` is empty or longer than {MAX_QUERY_ID} bytes",
                shorten(query)
            ));
        }
        let grade = match self.options.labels {
            Labels::SemiSupervised if label.starts_with('-') => return Ok(()),
            Labels::Grades | Labels::SemiSupervised => parse_grade(label)?,
            Labels::TotalOrder => {
                let position: f64 =
                    label.parse().map_err(|_| format!("position `{}` is not a number", shorten(label)))?;
                if !position.is_finite() {
                    return Err(format!("position `{}` is not a number", shorten(label)));
                }
                self.positions.push(position);
                0
            }
        };
        self.collector.push(grade, query, features, document)
    }

    fn finish(self) -> RankingData {
        if self.options.labels != Labels::TotalOrder {
            return self.collector.finish();
        }
        // Grades are whole numbers, and rows move when they are grouped: each position becomes its place among all.
        let mut distinct = self.positions.clone();
        distinct.sort_unstable_by(f64::total_cmp);
        distinct.dedup();
        let place = |position: &f64| distinct.partition_point(|other| other < position) as u32;
        let places = self.positions.iter().map(place).collect();
        let mut data = self.collector.with_grades(places).finish();
        for query in 0..data.queries.len() {
            let rows = data.queries[query].rows.clone();
            let grades = grades_of_order(&data.grades[rows.clone()]);
            data.grades[rows].copy_from_slice(&grades);
        }
        data
    }
}

/// Highest grade made of a total order.
const TOP_OF_ORDER: u32 = 4;
const _: () = assert!(TOP_OF_ORDER <= MAX_GRADE);

/// Returns grades for the positions of a list: half of the list has grade 0, half of the rest grade 1, and so on.
fn grades_of_order(positions: &[u32]) -> Vec<u32> {
    let mut sorted = positions.to_vec();
    sorted.sort_unstable();
    let grade = |&position: &u32| {
        let worse = sorted.partition_point(|&other| other < position);
        let share_from_here = 1.0 - worse as f64 / sorted.len() as f64;
        ((1.0 / share_from_here).log2().floor() as u32).min(TOP_OF_ORDER)
    };
    positions.iter().map(grade).collect()
}
