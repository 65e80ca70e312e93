//! A small taxonomy in English and Chinese with training texts, for a directory without work.
//!
//! Taxonomy and texts were written for this project and have its licence. They suffice to divide pages coarsely; examples
//! from the crawled pages make better models.

use super::examples::{CategoryExample, ExampleKind};
use crate::classify::taxonomy::Taxonomy;

const TAXONOMY: &str = include_str!("starter/taxonomy.csv");
const TEXTS: &str = include_str!("starter/texts.tsv");

/// Returns the taxonomy.
pub fn taxonomy() -> Taxonomy {
    Taxonomy::parse(TAXONOMY).unwrap_or_default()
}

/// Returns the training texts.
pub fn examples() -> Vec<CategoryExample> {
    let example = |line: &str| {
        let (category, text) = line.split_once('\t')?;
        CategoryExample::new(category, ExampleKind::Text, text)
    };
    TEXTS.lines().filter_map(example).collect()
}

#[cfg(test)]
mod tests;
