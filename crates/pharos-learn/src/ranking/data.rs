//! Training data: one row of features per query and result, with the grade of the result.
//!
//! The number of a feature is its number in the file. Most files count from one, so column 0 is empty there.

mod builder;
mod folds;
pub mod letor;
pub mod normalise;
mod reader;
mod table;

use std::ops::Range;

pub use folds::{Fold, split_queries, standard_folds};
pub use reader::{Labels, ReadOptions};

/// Rows of features, grouped by query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankingData {
    features: usize,
    /// Row after row; NaN for a missing value.
    values: Vec<f32>,
    grades: Vec<u32>,
    queries: Vec<QueryRows>,
    /// Name of the document of each row; empty if the file has none.
    documents: Vec<Box<str>>,
}

/// The rows of one query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryRows {
    /// Id of the query in the file.
    pub id: Box<str>,
    /// Numbers of its rows.
    pub rows: Range<usize>,
}

impl RankingData {
    /// Returns the number of columns: the highest feature number plus one.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.grades.len()
    }

    /// Returns `true` without rows.
    pub fn is_empty(&self) -> bool {
        self.grades.is_empty()
    }

    /// Returns the features of a row, indexed by feature number.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.features..(row + 1) * self.features]
    }

    /// Returns the features of a row for changes.
    pub fn row_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.values[row * self.features..(row + 1) * self.features]
    }

    /// Returns the grade of each row.
    pub fn grades(&self) -> &[u32] {
        &self.grades
    }

    /// Returns the queries with their rows, in the order of their first rows in the file.
    pub fn queries(&self) -> &[QueryRows] {
        &self.queries
    }

    /// Returns the highest grade; 0 without rows.
    pub fn max_grade(&self) -> u32 {
        self.grades.iter().copied().max().unwrap_or(0)
    }

    /// Returns the name of the document of a row: its name in the file, or else the number of the row from one.
    pub fn document(&self, row: usize) -> String {
        match self.documents.get(row) {
            Some(name) if !name.is_empty() => name.to_string(),
            _ => (row + 1).to_string(),
        }
    }

    /// Returns the value of a feature in every row.
    pub fn column(&self, feature: usize) -> impl Iterator<Item = f32> {
        self.values.iter().skip(feature).step_by(self.features.max(1)).copied()
    }

    /// Copies the queries with these numbers.
    pub fn select(&self, queries: impl IntoIterator<Item = usize>) -> Self {
        let mut selected = Self { features: self.features, ..Self::default() };
        for query in queries {
            selected.append(self, &self.queries[query]);
        }
        selected
    }

    /// Adds columns of zeros, so that rows have at least `features` columns.
    pub fn widen(&mut self, features: usize) {
        if features > self.features {
            let mut values = Vec::with_capacity(self.len() * features);
            for row in 0..self.len() {
                values.extend_from_slice(self.row(row));
                values.resize((row + 1) * features, 0.0);
            }
            (self.values, self.features) = (values, features);
        }
    }

    fn append(&mut self, from: &Self, query: &QueryRows) {
        let start = self.len();
        let rows = query.rows.clone();
        self.values.extend_from_slice(&from.values[rows.start * from.features..rows.end * from.features]);
        self.grades.extend_from_slice(&from.grades[rows.clone()]);
        if !from.documents.is_empty() {
            self.documents.extend_from_slice(&from.documents[rows]);
        }
        self.queries.push(QueryRows { id: query.id.clone(), rows: start..self.len() });
    }
}

#[cfg(test)]
mod tests;
