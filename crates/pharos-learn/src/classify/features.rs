//! From texts to weighted vectors: [terms], [vocabulary], [feature selection](selection), [vectors](vector).

pub mod selection;
pub mod terms;
pub mod vector;
pub mod vocabulary;
