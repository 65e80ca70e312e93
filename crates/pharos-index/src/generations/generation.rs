//! One generation: a tantivy index with the schema of this crate and the applied library position.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use pharos_core::LibraryPositions;
use pharos_text::dictionary::Dictionary;
use pharos_text::vocabulary::Vocabulary;
use pharos_text::{Analyser, normalise};
use tantivy::index::SegmentId;
use tantivy::{IndexReader, IndexSettings, IndexSortByField, Order, ReloadPolicy, Searcher, SegmentReader};

use crate::IndexError;
use crate::document::addresses::{AddressColumns, PageSet};
use crate::document::schema::{self, SchemaFields};
use crate::generations::generation_directory::GenerationDirectory;
use crate::generations::manifest::{self, VerificationLevel};
use crate::panic_guard::catch_panic;
use crate::write::generation_writer::GenerationWriter;
use crate::write::tokenizer;

/// Order of the pages in the segments of a new generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageOrder {
    /// As added: for *latest*.
    Arrival,
    /// By descending static rank: for a history.
    StaticRank,
}

/// A generation that is open for reading.
pub(crate) struct Generation {
    path: PathBuf,
    index: tantivy::Index,
    reader: IndexReader,
    pub(crate) fields: SchemaFields,
    /// Vocabulary that its pages were segmented with.
    vocabulary: Arc<Vocabulary>,
    stamp: Option<CommitStamp>,
    /// Page ids by segment. Segments are immutable, so the sets are too.
    pages: Vec<(SegmentId, Arc<PageSet>)>,
}

impl Generation {
    /// Opens a generation for writing. A new one is segmented with `vocabulary` permanently: words added later do not
    /// affect its pages.
    pub(crate) fn open_or_create(
        path: &Path,
        vocabulary: &Vocabulary,
        order: PageOrder,
    ) -> Result<Self, IndexError> {
        if !path.join("meta.json").exists() {
            write_vocabulary(path, vocabulary)?;
        }
        Self::open_at(path, order)
    }

    /// Returns `true` if the segments are sorted by descending static rank.
    pub(crate) fn is_ordered(&self) -> bool {
        self.index.settings().sort_by_field.is_some()
    }

    /// Opens a generation. Returns `None` if it does not exist.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, IndexError> {
        if path.join("meta.json").exists() {
            Self::open_at(path, PageOrder::Arrival).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Verifies and opens a finished history generation.
    pub(crate) fn open_history(path: &Path, level: VerificationLevel) -> Result<Self, IndexError> {
        let damaged = |detail: String| IndexError::DamagedGeneration { path: path.to_path_buf(), detail };
        if !path.is_dir() {
            return Err(damaged("directory not found".into()));
        }
        if !manifest::try_exists(path)? {
            return Err(IndexError::OlderFormat { path: path.to_path_buf() });
        }
        if let Some((file, problem)) = manifest::find_damage(path, level)?.into_iter().next() {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            return Err(damaged(format!("{name}: {problem}")));
        }
        Self::open_at(path, PageOrder::Arrival)
    }

    /// Opens the files of a generation. `order` matters only if they do not exist yet.
    fn open_at(path: &Path, order: PageOrder) -> Result<Self, IndexError> {
        catch_panic(path, || Self::open_unguarded(path, order))
    }

    fn open_unguarded(path: &Path, order: PageOrder) -> Result<Self, IndexError> {
        let failed = IndexError::tantivy(path);
        let exists = path.join("meta.json").exists();
        let (schema, mut fields) = schema::schema();
        let directory = GenerationDirectory::open(path).map_err(&failed)?;
        let index = if exists {
            tantivy::Index::open(directory)
        } else {
            let by_rank = IndexSortByField { field: schema::RANK.into(), order: Order::Desc };
            let settings = IndexSettings {
                sort_by_field: (order == PageOrder::StaticRank).then_some(by_rank),
                ..Default::default()
            };
            tantivy::Index::builder().schema(schema.clone()).settings(settings).open_or_create(directory)
        };
        let mut index = index.map_err(&failed)?;
        if index.schema() != schema {
            let (older, older_fields) = schema::schema_without_other_text();
            if index.schema() != older {
                return Err(IndexError::OlderFormat { path: path.to_path_buf() });
            }
            fields = older_fields;
        }
        let vocabulary = Arc::new(read_vocabulary(&path.join(VOCABULARY_FILE))?);
        index.set_tokenizers(tokenizer::tokenizers(Arc::new(Analyser::with_vocabulary(Arc::clone(
            &vocabulary,
        )))));
        let reader =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(&failed)?;
        let stamp = commit_stamp(path);
        Ok(Self { path: path.to_path_buf(), index, reader, fields, vocabulary, stamp, pages: Vec::new() })
    }

    /// Returns the vocabulary that its pages were segmented with.
    pub(crate) fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Reads new commits. Returns `true` if there were any.
    pub(crate) fn reload(&mut self) -> Result<bool, IndexError> {
        let stamp = commit_stamp(&self.path);
        // A removed generation stays usable until it is closed.
        if stamp == self.stamp || stamp.is_none() {
            return Ok(false);
        }
        catch_panic(&self.path, || self.reader.reload().map_err(IndexError::tantivy(&self.path)))?;
        self.stamp = stamp;
        Ok(true)
    }

    /// Returns the library positions of the last commit.
    pub(crate) fn applied_positions(&self) -> Result<Option<LibraryPositions>, IndexError> {
        Ok(self.commit_payload()?.and_then(|payload| LibraryPositions::from_packed(&payload)))
    }

    /// Returns the payload of the last commit.
    pub(crate) fn commit_payload(&self) -> Result<Option<String>, IndexError> {
        Ok(self.index.load_metas().map_err(IndexError::tantivy(&self.path))?.payload)
    }

    pub(crate) fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    /// Returns the ids of all pages in this generation, tombstones included.
    pub(crate) fn page_ids(&mut self) -> Result<Vec<Arc<PageSet>>, IndexError> {
        let path = self.path.clone();
        catch_panic(&path, || self.page_ids_unguarded())
    }

    fn page_ids_unguarded(&mut self) -> Result<Vec<Arc<PageSet>>, IndexError> {
        let searcher = self.searcher();
        let mut pages = Vec::new();
        for segment in searcher.segment_readers() {
            let id = segment.segment_id();
            let cached = self.pages.iter().find(|(cached, _)| *cached == id).map(|(_, set)| Arc::clone(set));
            let set = match cached {
                Some(set) => set,
                None => Arc::new(read_page_ids(segment).map_err(IndexError::tantivy(&self.path))?),
            };
            pages.push((id, set));
        }
        self.pages = pages;
        Ok(self.pages.iter().map(|(_, set)| Arc::clone(set)).collect())
    }

    pub(crate) fn writer(&self, threads: usize, memory: usize) -> Result<GenerationWriter, IndexError> {
        // tantivy requires between 15 MB and 4 GB for each thread.
        let memory = memory.clamp(threads * (16 << 20), threads * (4000 << 20));
        let writer =
            self.index.writer_with_num_threads(threads, memory).map_err(IndexError::tantivy(&self.path))?;
        Ok(GenerationWriter { path: self.path.clone(), writer, fields: self.fields.clone() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Stores the vocabulary that the pages of a new generation are segmented with.
pub(crate) fn write_vocabulary(generation: &Path, vocabulary: &Vocabulary) -> Result<(), IndexError> {
    let text = format!("{ANALYSER_PREFIX}{}\n{}", pharos_text::version(), vocabulary.to_text());
    let path = generation.join(VOCABULARY_FILE);
    pharos_files::create_dir_all(generation)
        .and_then(|()| pharos_files::replace(&path, text.as_bytes()))
        .map_err(IndexError::io("write", &path))
}

/// File with the vocabulary at the time the generation was created.
const VOCABULARY_FILE: &str = "words.tsv";
/// Prefix of its first line, followed by the version of the analyser and its dictionary.
const ANALYSER_PREFIX: &str = "# analyser ";

/// Reads the vocabulary. Pages segmented by another version than queries are rejected and must be indexed again.
fn read_vocabulary(path: &Path) -> Result<Vocabulary, IndexError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(IndexError::io("read", path)(e)),
    };
    if text.lines().next().and_then(|line| line.strip_prefix(ANALYSER_PREFIX))
        != Some(&*pharos_text::version())
    {
        return Err(IndexError::OlderFormat { path: path.to_path_buf() });
    }
    Ok(Vocabulary::parse(&text, Dictionary::base(), &normalise).0)
}

/// Identifies the `meta.json` of a commit. Each commit writes a new file; the inode is compared because timestamps
/// are coarse.
type CommitStamp = (SystemTime, u64, u64);

fn commit_stamp(path: &Path) -> Option<CommitStamp> {
    let meta = fs::metadata(path.join("meta.json")).ok()?;
    Some((meta.modified().ok()?, meta.ino(), meta.len()))
}

fn read_page_ids(segment: &SegmentReader) -> tantivy::Result<PageSet> {
    let addresses = AddressColumns::open(segment)?;
    // Only history contains copies, and as the oldest generation it hides nothing.
    Ok((0..segment.max_doc()).map(|doc| addresses.own_id(doc)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_segmented_by_another_dictionary_are_rejected() {
        let dir = tempfile::tempdir().unwrap();
        let mut words = Vocabulary::new(Dictionary::base());
        words.add("爱心社", None, None, "").unwrap();
        let generation = Generation::open_or_create(dir.path(), &words, PageOrder::Arrival).unwrap();
        assert!(generation.vocabulary().contains("爱心社"));
        drop(generation);
        // Words added later do not affect its pages.
        words.add("微澜阁", None, None, "").unwrap();
        let generation = Generation::open_or_create(dir.path(), &words, PageOrder::Arrival).unwrap();
        assert!(!generation.vocabulary().contains("微澜阁"));
        let file = dir.path().join(VOCABULARY_FILE);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replacen(&pharos_text::version(), "0.1.2", 1)).unwrap();
        assert!(matches!(Generation::open(dir.path()), Err(IndexError::OlderFormat { .. })));
    }
}
