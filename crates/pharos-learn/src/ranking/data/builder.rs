//! Collects rows in any order and groups them by query.

use std::collections::HashMap;

use super::{QueryRows, RankingData};

/// Largest number of values (rows × columns), 4 GiB. The 3.8 million rows of MSLR-WEB30K need half of it.
const MAX_VALUES: usize = 1 << 30;

/// Rows of a file in reading order.
#[derive(Default)]
pub(super) struct RowCollector {
    /// Columns per row in `values`; grows in steps, so that wider rows seldom move the rows before them.
    stride: usize,
    features: usize,
    values: Vec<f32>,
    grades: Vec<u32>,
    /// Number of the query of each row.
    query_of_row: Vec<u32>,
    query_ids: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
    documents: Vec<Box<str>>,
    has_documents: bool,
}

impl RowCollector {
    /// Adds a row. `features` are pairs of number and value; other features are 0.
    pub(super) fn push(
        &mut self,
        grade: u32,
        query: &str,
        features: &[(u32, f32)],
        document: &str,
    ) -> Result<(), String> {
        let width = features.iter().map(|&(number, _)| number as usize + 1).max().unwrap_or(0);
        self.reserve(width)?;
        let start = self.values.len();
        self.values.resize(start + self.stride, 0.0);
        for &(number, value) in features {
            self.values[start + number as usize] = value;
        }
        self.grades.push(grade);
        let number = match self.numbers.get(query) {
            Some(&number) => number,
            None => {
                let number = self.query_ids.len() as u32;
                self.query_ids.push(query.into());
                self.numbers.insert(query.into(), number);
                number
            }
        };
        self.query_of_row.push(number);
        self.has_documents |= !document.is_empty();
        self.documents.push(document.into());
        Ok(())
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.grades.len()
    }

    /// Replaces the grades of all rows, in reading order.
    pub(super) fn with_grades(mut self, grades: Vec<u32>) -> Self {
        debug_assert_eq!(grades.len(), self.len());
        self.grades = grades;
        self
    }

    /// Makes room for one more row of this width.
    fn reserve(&mut self, width: usize) -> Result<(), String> {
        self.features = self.features.max(width);
        let rows = self.len() + 1;
        if rows > u32::MAX as usize || rows.saturating_mul(self.features) > MAX_VALUES {
            return Err(format!(
                "{rows} rows with features up to {} exceed the limit of {MAX_VALUES} values: renumber the features, or train on fewer queries",
                self.features.saturating_sub(1)
            ));
        }
        if self.features <= self.stride {
            return Ok(());
        }
        let half_more = self.stride + self.stride / 2;
        let stride = if rows.saturating_mul(half_more) > MAX_VALUES {
            self.features
        } else {
            self.features.max(half_more)
        };
        self.set_stride(stride);
        Ok(())
    }

    fn set_stride(&mut self, stride: usize) {
        let mut values = Vec::with_capacity((self.len() + 1) * stride);
        if self.stride > 0 {
            for row in self.values.chunks_exact(self.stride) {
                let used = stride.min(self.stride);
                values.extend_from_slice(&row[..used]);
                values.resize(values.len() + stride - used, 0.0);
            }
        } else {
            values.resize(self.len() * stride, 0.0);
        }
        (self.values, self.stride) = (values, stride);
    }

    /// Groups the rows by query. Queries keep the order of their first rows, rows their order within the query.
    pub(super) fn finish(mut self) -> RankingData {
        if self.stride != self.features {
            self.set_stride(self.features);
        }
        let mut counts = vec![0_usize; self.query_ids.len()];
        for &query in &self.query_of_row {
            counts[query as usize] += 1;
        }
        let mut end = 0;
        let queries: Vec<QueryRows> = self
            .query_ids
            .into_iter()
            .zip(counts)
            .map(|(id, count)| {
                let start = end;
                end += count;
                QueryRows { id, rows: start..end }
            })
            .collect();
        let features = self.features;
        let mut data = RankingData {
            features,
            values: self.values,
            grades: self.grades,
            queries,
            documents: if self.has_documents { self.documents } else { Vec::new() },
        };
        if !self.query_of_row.is_sorted() {
            let mut order: Vec<usize> = (0..data.len()).collect();
            order.sort_by_key(|&row| self.query_of_row[row]);
            data.values = order.iter().flat_map(|&row| data.row(row).to_vec()).collect();
            data.grades = order.iter().map(|&row| data.grades[row]).collect();
            if !data.documents.is_empty() {
                data.documents = order.iter().map(|&row| data.documents[row].clone()).collect();
            }
        }
        data
    }
}
