//! The writer of a generation.

use std::path::PathBuf;

use pharos_core::LibraryPositions;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::{IndexWriter, TantivyDocument};

use crate::document::link_maxima::LinkMaxima;
use crate::document::schema::SchemaFields;
use crate::document::{IndexChange, IndexDocument};
use crate::error::IndexError;

/// A generation that is open for writing.
pub(crate) struct GenerationWriter {
    pub(crate) path: PathBuf,
    pub(crate) writer: IndexWriter<TantivyDocument>,
    pub(crate) fields: SchemaFields,
}

impl GenerationWriter {
    /// Adds, replaces or deletes a page. Copies are not written, because replacing the page would delete them.
    pub(crate) fn apply(
        &mut self,
        change: &IndexChange,
        maxima: &LinkMaxima,
        body_limit: usize,
    ) -> Result<(), IndexError> {
        let (page, document) = match change {
            IndexChange::Put(document) => {
                let rank = maxima.stored_rank(&document.link_figures);
                (document.url.id(), self.fields.to_tantivy(document, rank, &[], body_limit))
            }
            IndexChange::Gone(page) => (*page, self.fields.tombstone(*page)),
        };
        self.writer.delete_term(self.fields.page_term(page));
        self.add_document(document)
    }

    /// Adds a page that is not in the generation yet, with its copies.
    pub(crate) fn add(
        &mut self,
        document: &IndexDocument,
        maxima: &LinkMaxima,
        body_limit: usize,
    ) -> Result<(), IndexError> {
        let rank = maxima.stored_rank(&document.link_figures);
        let document = self.fields.to_tantivy(document, rank, &document.copies, body_limit);
        self.add_document(document)
    }

    fn add_document(&mut self, document: TantivyDocument) -> Result<(), IndexError> {
        let Err(error) = self.writer.add_document(document) else { return Ok(()) };
        // A worker thread has failed before. Only a commit returns its error.
        let cause = self.writer.prepare_commit().err().unwrap_or(error);
        Err(IndexError::tantivy(&self.path)(cause))
    }

    pub(crate) fn commit(&mut self, applied: &LibraryPositions) -> Result<(), IndexError> {
        self.commit_with_payload(&applied.to_packed())
    }

    /// Commits with a payload that is stored in the commit.
    pub(crate) fn commit_with_payload(&mut self, payload: &str) -> Result<(), IndexError> {
        let failed = IndexError::tantivy(&self.path);
        let mut commit = self.writer.prepare_commit().map_err(&failed)?;
        commit.set_payload(payload);
        commit.commit().map(|_| ()).map_err(&failed)
    }

    /// Disables merging until [`merge_all`](Self::merge_all).
    pub(crate) fn without_merges(self) -> Self {
        self.writer.set_merge_policy(Box::new(NoMergePolicy));
        self
    }

    /// Merges all segments into one, reading and writing each page once.
    pub(crate) fn merge_all(&mut self) -> Result<(), IndexError> {
        let failed = IndexError::tantivy(&self.path);
        let segments = self.writer.index().searchable_segment_ids().map_err(&failed)?;
        if segments.len() > 1 {
            self.writer.merge(&segments).wait().map_err(&failed)?;
        }
        Ok(())
    }

    /// Lets running merges finish in the background.
    pub(crate) fn finish_in_background(self) {
        std::thread::spawn(move || {
            if let Err(error) = self.finish() {
                tracing::warn!(%error, "the merges of a sealed generation failed; the next build replaces it");
            }
        });
    }

    /// Waits for running merges.
    pub(crate) fn finish(self) -> Result<(), IndexError> {
        self.writer.wait_merging_threads().map_err(IndexError::tantivy(&self.path))
    }
}
