//! Writing the index: documents, tokens and history builds.

pub(crate) mod generation_writer;
pub mod history_builder;
pub(crate) mod tokenizer;
