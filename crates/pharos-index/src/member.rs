//! One generation: a tantivy index with our schema, and the library position it has absorbed.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use pharos_core::LibraryPosition;
use pharos_text::dictionary::Dictionary;
use pharos_text::vocabulary::Vocabulary;
use pharos_text::{Analyser, normalise};
use tantivy::directory::MmapDirectory;
use tantivy::index::SegmentId;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::{
    IndexReader, IndexSettings, IndexSortByField, IndexWriter, Order, ReloadPolicy, Searcher, SegmentReader,
    TantivyDocument,
};

use crate::address::{Addresses, PageSet};
use crate::guard::shielded;
use crate::manifest::{self, Proof};
use crate::schema::{self, Fields};
use crate::{Change, Document, IndexError, Maxima};

/// A generation, open for reading.
pub(crate) struct Member {
    path: PathBuf,
    index: tantivy::Index,
    reader: IndexReader,
    pub(crate) fields: Fields,
    /// The words of the installation that its pages were cut with.
    vocabulary: Arc<Vocabulary>,
    stamp: Option<Stamp>,
    /// The pages of each segment; segments never change, so neither do these.
    pages: Vec<(SegmentId, Arc<PageSet>)>,
}

impl Member {
    /// Opens a generation for writing. A new one is cut with these words of the installation, for good: what is
    /// added to them later is not in its pages.
    pub(crate) fn open_or_create(path: &Path, words: &Vocabulary) -> Result<Self, IndexError> {
        Self::created(path, words, false)
    }

    /// The same for one whose pages are kept in descending order of static rank.
    pub(crate) fn open_or_create_ordered(path: &Path, words: &Vocabulary) -> Result<Self, IndexError> {
        Self::created(path, words, true)
    }

    fn created(path: &Path, words: &Vocabulary, ordered: bool) -> Result<Self, IndexError> {
        if !path.join("meta.json").exists() {
            fs::create_dir_all(path).map_err(IndexError::io("create", path))?;
            let text = format!("{ANALYSER}{}\n{}", pharos_text::version(), words.to_text());
            let file = path.join(WORDS);
            fs::write(&file, text).map_err(IndexError::io("write", &file))?;
        }
        Self::open_at(path, ordered)
    }

    /// Are the pages of each segment in descending order of static rank?
    pub(crate) fn is_ordered(&self) -> bool {
        self.index.settings().sort_by_field.is_some()
    }

    /// Opens a generation. `None` when it is not there.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, IndexError> {
        if path.join("meta.json").exists() { Self::open_at(path, false).map(Some) } else { Ok(None) }
    }

    /// Opens a finished history generation that was proved to be as it was written.
    pub(crate) fn open_history(path: &Path, proof: Proof) -> Result<Self, IndexError> {
        let damaged = |detail: String| IndexError::DamagedGeneration { path: path.to_path_buf(), detail };
        if !path.is_dir() {
            return Err(damaged("it is not there".into()));
        }
        if !manifest::exists(path) {
            return Err(IndexError::OlderFormat { path: path.to_path_buf() });
        }
        if let Some((file, problem)) = manifest::damage(path, proof).into_iter().next() {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            return Err(damaged(format!("{name}: {problem}")));
        }
        Self::open_at(path, false)
    }

    fn open_at(path: &Path, ordered: bool) -> Result<Self, IndexError> {
        shielded(path, || Self::open_unshielded(path, ordered))
    }

    fn open_unshielded(path: &Path, ordered: bool) -> Result<Self, IndexError> {
        let failed = IndexError::tantivy(path);
        let exists = path.join("meta.json").exists();
        let (schema, fields) = schema::schema();
        let directory = MmapDirectory::open(path).map_err(|e| failed(e.into()))?;
        let index = if exists {
            tantivy::Index::open(directory)
        } else {
            let by_rank = IndexSortByField { field: schema::RANK.into(), order: Order::Desc };
            let settings = IndexSettings { sort_by_field: ordered.then_some(by_rank), ..Default::default() };
            tantivy::Index::builder().schema(schema.clone()).settings(settings).open_or_create(directory)
        };
        let mut index = index.map_err(&failed)?;
        if index.schema() != schema {
            return Err(IndexError::OlderFormat { path: path.to_path_buf() });
        }
        let vocabulary = Arc::new(read_words(&path.join(WORDS))?);
        index.set_tokenizers(schema::tokenizers(Arc::new(Analyser::with(Arc::clone(&vocabulary)))));
        let reader =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(&failed)?;
        let stamp = stamp(path);
        Ok(Self { path: path.to_path_buf(), index, reader, fields, vocabulary, stamp, pages: Vec::new() })
    }

    /// The words of the installation that its pages were cut with.
    pub(crate) fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Sees what was committed since. Gives whether anything was.
    pub(crate) fn reload(&mut self) -> Result<bool, IndexError> {
        let stamp = stamp(&self.path);
        // One that was dropped goes on answering as it was until it is let go.
        if stamp == self.stamp || stamp.is_none() {
            return Ok(false);
        }
        shielded(&self.path, || self.reader.reload().map_err(IndexError::tantivy(&self.path)))?;
        self.stamp = stamp;
        Ok(true)
    }

    /// The library position of the last commit.
    pub(crate) fn absorbed(&self) -> Result<Option<LibraryPosition>, IndexError> {
        Ok(self.payload()?.and_then(|p| p.parse().ok()).map(LibraryPosition::from_u64))
    }

    /// What the last commit says of itself.
    pub(crate) fn payload(&self) -> Result<Option<String>, IndexError> {
        Ok(self.index.load_metas().map_err(IndexError::tantivy(&self.path))?.payload)
    }

    pub(crate) fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    /// The pages this member speaks of, gone ones too.
    pub(crate) fn pages(&mut self) -> Result<Vec<Arc<PageSet>>, IndexError> {
        let path = self.path.clone();
        shielded(&path, || self.pages_unshielded())
    }

    fn pages_unshielded(&mut self) -> Result<Vec<Arc<PageSet>>, IndexError> {
        let searcher = self.searcher();
        let mut pages = Vec::new();
        for segment in searcher.segment_readers() {
            let id = segment.segment_id();
            let known = self.pages.iter().find(|(known, _)| *known == id).map(|(_, set)| Arc::clone(set));
            let set = match known {
                Some(set) => set,
                None => Arc::new(pages_of(segment).map_err(IndexError::tantivy(&self.path))?),
            };
            pages.push((id, set));
        }
        self.pages = pages;
        Ok(self.pages.iter().map(|(_, set)| Arc::clone(set)).collect())
    }

    pub(crate) fn writer(&self, threads: usize, memory: usize) -> Result<MemberWriter, IndexError> {
        // tantivy wants at least 15 MB a thread.
        // … and at most 4 GB.
        let memory = memory.clamp(threads * (16 << 20), threads * (4000 << 20));
        let writer =
            self.index.writer_with_num_threads(threads, memory).map_err(IndexError::tantivy(&self.path))?;
        Ok(MemberWriter { path: self.path.clone(), writer, fields: self.fields.clone() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The words of the installation as they were when the generation was begun, in its folder.
const WORDS: &str = "words.tsv";
/// Its first line tells which version of the analyser and its dictionary cut the pages.
const ANALYSER: &str = "# analyser ";

/// Pages that were cut otherwise than queries are now must be cut again.
fn read_words(path: &Path) -> Result<Vocabulary, IndexError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(IndexError::io("read", path)(e)),
    };
    if text.lines().next().and_then(|line| line.strip_prefix(ANALYSER)) != Some(&*pharos_text::version()) {
        return Err(IndexError::OlderFormat { path: path.to_path_buf() });
    }
    Ok(Vocabulary::parse(&text, Dictionary::base(), &normalise).0)
}

/// Tells one commit's `meta.json` from the next: each is a new file, and clocks are coarse.
type Stamp = (SystemTime, u64, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = fs::metadata(path.join("meta.json")).ok()?;
    Some((meta.modified().ok()?, meta.ino(), meta.len()))
}

fn pages_of(segment: &SegmentReader) -> tantivy::Result<PageSet> {
    let addresses = Addresses::of(segment)?;
    // Copies are in history only, and that is the oldest member, which hides nothing.
    Ok((0..segment.max_doc()).map(|doc| addresses.own(doc)).collect())
}

/// A generation, open for writing.
pub(crate) struct MemberWriter {
    path: PathBuf,
    writer: IndexWriter<TantivyDocument>,
    fields: Fields,
}

impl MemberWriter {
    /// A page already there is replaced. Copies are left out: they would be replaced with it.
    pub(crate) fn apply(
        &self,
        change: &Change,
        maxima: &Maxima,
        body_limit: usize,
    ) -> Result<(), IndexError> {
        let (page, document) = match change {
            Change::Put(document) => {
                let rank = maxima.stored_rank(&document.web);
                (document.url.id(), self.fields.write(document, rank, &[], body_limit))
            }
            Change::Gone(page) => (*page, self.fields.tombstone(*page)),
        };
        self.writer.delete_term(self.fields.page_term(page));
        self.writer.add_document(document).map(|_| ()).map_err(IndexError::tantivy(&self.path))
    }

    /// Adds a page that is known not to be there, with its copies.
    pub(crate) fn add(
        &self,
        document: &Document,
        maxima: &Maxima,
        body_limit: usize,
    ) -> Result<(), IndexError> {
        let rank = maxima.stored_rank(&document.web);
        let document = self.fields.write(document, rank, &document.copies, body_limit);
        self.writer.add_document(document).map(|_| ()).map_err(IndexError::tantivy(&self.path))
    }

    pub(crate) fn commit(&mut self, absorbed: LibraryPosition) -> Result<(), IndexError> {
        self.commit_with(&absorbed.to_u64().to_string())
    }

    /// Commits, and says so much about it.
    pub(crate) fn commit_with(&mut self, payload: &str) -> Result<(), IndexError> {
        let failed = IndexError::tantivy(&self.path);
        let mut commit = self.writer.prepare_commit().map_err(&failed)?;
        commit.set_payload(payload);
        commit.commit().map(|_| ()).map_err(&failed)
    }

    /// Leaves the segments as they are written, until [`merge_all`](Self::merge_all).
    pub(crate) fn without_merges(self) -> Self {
        self.writer.set_merge_policy(Box::new(NoMergePolicy));
        self
    }

    /// Makes one segment of all, each page of them read and written once.
    pub(crate) fn merge_all(&mut self) -> Result<(), IndexError> {
        let failed = IndexError::tantivy(&self.path);
        let segments = self.writer.index().searchable_segment_ids().map_err(&failed)?;
        if segments.len() > 1 {
            self.writer.merge(&segments).wait().map_err(&failed)?;
        }
        Ok(())
    }

    /// Lets merges under way come to their end, without waiting for them.
    pub(crate) fn finish_in_background(self) {
        std::thread::spawn(move || {
            if let Err(error) = self.finish() {
                tracing::warn!(%error, "a sealed generation could not be finished; a build will replace it");
            }
        });
    }

    /// Waits for merges under way.
    pub(crate) fn finish(self) -> Result<(), IndexError> {
        self.writer.wait_merging_threads().map_err(IndexError::tantivy(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cut_by_another_dictionary_are_not_searched() {
        let dir = tempfile::tempdir().unwrap();
        let mut words = Vocabulary::new(Dictionary::base());
        words.add("爱心社", None, None, "").unwrap();
        let member = Member::open_or_create(dir.path(), &words).unwrap();
        assert!(member.vocabulary().contains("爱心社"));
        drop(member);
        // What is added later is not in its pages.
        words.add("微澜阁", None, None, "").unwrap();
        let member = Member::open_or_create(dir.path(), &words).unwrap();
        assert!(!member.vocabulary().contains("微澜阁"));
        let file = dir.path().join(WORDS);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replacen(&pharos_text::version(), "0.1.2", 1)).unwrap();
        assert!(matches!(Member::open(dir.path()), Err(IndexError::OlderFormat { .. })));
    }
}
