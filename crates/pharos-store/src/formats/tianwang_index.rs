//! Index of Tianwang raw files by URL and by document number (《搜索引擎——原理、技术与系统》§4.2).
//!
//! It consists of two text files beside the raw files. Their rows have a fixed width, so that a row is found by
//! multiplication and is readable for humans (ISAM, 索引顺序访问模式):
//!
//! ```text
//! Doc.idx        number, 10 wide · offset, 20 wide · MD5 of the body in 32 hexadecimal digits
//!
//!          0                    0 bc9ce846d7987c4534f53d423380ba70
//!          1                76760 4f47a3cad91f7d35f4bb6b2a638420e5
//!          2               141624                                      the sentinel (哨兵): end of the last document
//!
//! Url.idx.sort   MD5 of the URL in 32 hexadecimal digits · number, 10 wide; sorted
//!
//! 3272e136dd90263ee306a835c6c70d77          1
//! 5c36868a9c5117eadbda747cbdb0725f          0
//! ```
//!
//! Columns are separated by one space, numbers are right-aligned, rows end in LF. Documents are numbered from 0 in
//! crawl order; row *n* of `Doc.idx` is document *n*. Offsets count over all raw files in the order of their
//! numbers. Lengths are not stored: a length is the difference to the next offset. A URL that was fetched more than
//! once has several rows, and the highest number is the newest.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use md5::{Digest as _, Md5};
use pharos_files::NewFile;

use crate::StoreError;
use crate::formats::tianwang::{self, DamagedRange, MAX_RECORD, TianwangRecord, TianwangScan, raw_files};

/// File name of the document index.
pub const DOC_INDEX: &str = "Doc.idx";
/// File name of the URL index.
pub const URL_INDEX: &str = "Url.idx.sort";

const DOC_ROW: usize = 10 + 1 + 20 + 1 + 32 + 1;
const URL_ROW: usize = 32 + 1 + 10 + 1;
/// Largest document number, limited by ten digits.
const MAX_ID: u64 = 9_999_999_999;

/// An MD5 digest.
type Md5Sum = [u8; 16];

fn md5(bytes: &[u8]) -> Md5Sum {
    Md5::digest(bytes).into()
}

fn doc_row(id: u64, offset: u64, digest: Option<Md5Sum>) -> String {
    let digest = digest.map(|d| HEXLOWER.encode(&d)).unwrap_or_default();
    format!("{id:>10} {offset:>20} {digest:32}\n")
}

fn url_row(digest: &Md5Sum, id: u64) -> String {
    format!("{} {id:>10}\n", HEXLOWER.encode(digest))
}

/// Writes the index while documents are fetched. Keeps 24 bytes per URL in memory until the end.
pub struct TianwangIndexWriter {
    dir: PathBuf,
    docs: BufWriter<NewFile>,
    urls: Vec<(Md5Sum, u64)>,
    /// Minimum offset of the next document.
    end: u64,
}

impl TianwangIndexWriter {
    /// Creates an index in the directory of the raw files and replaces an existing one.
    pub fn create(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(DOC_INDEX);
        let docs = BufWriter::new(NewFile::create(&path).map_err(StoreError::io("create", &path))?);
        Ok(Self { dir: dir.to_path_buf(), docs, urls: Vec::new(), end: 0 })
    }

    /// Adds the next document and returns its number.
    pub fn add(&mut self, offset: u64, url: &str, body: &[u8]) -> Result<u64, StoreError> {
        let id = self.urls.len() as u64;
        let path = self.dir.join(DOC_INDEX);
        if offset < self.end || id >= MAX_ID {
            return Err(damaged(&path, format!("document {id} at {offset} cannot come after {}", self.end)));
        }
        self.docs
            .write_all(doc_row(id, offset, Some(md5(body))).as_bytes())
            .map_err(StoreError::io("write", &path))?;
        self.urls.push((md5(url.as_bytes()), id));
        self.end = offset;
        Ok(id)
    }

    /// Writes the sentinel with the end of the last record, and the sorted URLs. Returns the number of documents.
    pub fn finish(mut self, end: u64) -> Result<u64, StoreError> {
        let documents = self.urls.len() as u64;
        let path = self.dir.join(DOC_INDEX);
        self.docs
            .write_all(doc_row(documents, end, None).as_bytes())
            .and_then(|()| install(self.docs))
            .map_err(StoreError::io("write", &path))?;
        self.urls.sort_unstable();
        let path = self.dir.join(URL_INDEX);
        write_urls(&path, &self.urls).map_err(StoreError::io("write", &path))?;
        Ok(documents)
    }
}

fn write_urls(path: &Path, urls: &[(Md5Sum, u64)]) -> io::Result<()> {
    let mut file = BufWriter::new(NewFile::create(path)?);
    for (digest, id) in urls {
        file.write_all(url_row(digest, *id).as_bytes())?;
    }
    install(file)
}

fn install(file: BufWriter<NewFile>) -> io::Result<()> {
    file.into_inner().map_err(io::IntoInnerError::into_error)?.install()
}

/// Indexes the raw files of a directory and reports damaged ranges to `on_damage`. Returns the number of documents.
pub fn build_index(dir: &Path, mut on_damage: impl FnMut(&Path, DamagedRange)) -> Result<u64, StoreError> {
    let mut index = TianwangIndexWriter::create(dir)?;
    let mut start = 0;
    for raw in RawFile::list(dir)? {
        let file = File::open(&raw.path).map_err(StoreError::io("open", &raw.path))?;
        for found in TianwangScan::new(file).map_err(StoreError::io("read", &raw.path))? {
            match found {
                Ok((offset, record)) => drop(index.add(start + offset, &record.url, &record.body)?),
                Err(damage) => on_damage(&raw.path, damage),
            }
        }
        start += raw.size;
    }
    index.finish(start)
}

/// A raw file with its offset in the sequence of all.
struct RawFile {
    path: PathBuf,
    start: u64,
    size: u64,
}

impl RawFile {
    fn list(dir: &Path) -> Result<Vec<Self>, StoreError> {
        let mut start = 0;
        let mut files = Vec::new();
        for path in raw_files(dir)? {
            let size = path.metadata().map_err(StoreError::io("read", &path))?.len();
            files.push(Self { path, start, size });
            start += size;
        }
        Ok(files)
    }
}

/// Looks up records in `Url.idx.sort` and `Doc.idx`. A lookup reads a few dozen rows and one record.
pub struct TianwangIndex {
    docs: RowFile<DOC_ROW>,
    urls: RowFile<URL_ROW>,
    raw: Vec<RawFile>,
}

impl TianwangIndex {
    /// Opens the index of a directory.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let docs = RowFile::<DOC_ROW>::open(dir.join(DOC_INDEX))?;
        let urls = RowFile::<URL_ROW>::open(dir.join(URL_INDEX))?;
        if docs.count == 0 || docs.doc(docs.count - 1)?.1.is_some() {
            return Err(damaged(&docs.path, "the sentinel is missing"));
        }
        Ok(Self { docs, urls, raw: RawFile::list(dir)? })
    }

    /// Returns the number of documents, without the sentinel.
    pub fn len(&self) -> u64 {
        self.docs.count - 1
    }

    /// Returns `true` if there are no documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns offset and length of a document.
    pub fn extent(&self, id: u64) -> Result<Option<(u64, u64)>, StoreError> {
        if id >= self.len() {
            return Ok(None);
        }
        let (offset, _) = self.docs.doc(id)?;
        let (next, _) = self.docs.doc(id + 1)?;
        let length = next.checked_sub(offset);
        Ok(Some((
            offset,
            length.ok_or_else(|| damaged(&self.docs.path, format!("row {id} ends before it begins")))?,
        )))
    }

    /// Returns the newest record of a URL, in the spelling of the crawl.
    pub fn find(&self, url: &str) -> Result<Option<TianwangRecord>, StoreError> {
        let Some(id) = self.newest(&md5(url.as_bytes()))? else { return Ok(None) };
        let record = self
            .record(id)?
            .ok_or_else(|| damaged(&self.urls.path, format!("document {id} does not exist")))?;
        if record.url != url {
            return Err(damaged(
                &self.urls.path,
                format!("document {id} is another page: rebuild the index"),
            ));
        }
        Ok(Some(record))
    }

    /// Returns the record of a document.
    pub fn record(&self, id: u64) -> Result<Option<TianwangRecord>, StoreError> {
        let Some((offset, length)) = self.extent(id)? else { return Ok(None) };
        let (_, digest) = self.docs.doc(id)?;
        let place = self.raw.partition_point(|file| file.start + file.size <= offset);
        let file = self.raw.get(place).ok_or_else(|| {
            damaged(&self.docs.path, format!("document {id} is beyond the end of the raw files"))
        })?;
        // The range between two offsets may contain more than a record: damaged bytes, the end of a file.
        let bytes = read_part(&file.path, offset - file.start, length.min(MAX_RECORD + (1 << 20)))?;
        let record = tianwang::read_record(&bytes).map_err(|d| {
            damaged(&file.path, format!("no record at {}: {}", offset - file.start, d.detail))
        })?;
        if digest != Some(md5(&record.body)) {
            return Err(damaged(&file.path, format!("the digest of document {id} does not match")));
        }
        Ok(Some(record))
    }

    /// Returns the highest number among the rows of a digest, by binary search for the end of those rows.
    fn newest(&self, digest: &Md5Sum) -> Result<Option<u64>, StoreError> {
        let (mut low, mut high) = (0, self.urls.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.urls.url(middle)?.0 <= *digest { low = middle + 1 } else { high = middle }
        }
        let Some(last) = low.checked_sub(1) else { return Ok(None) };
        let (found, id) = self.urls.url(last)?;
        Ok((found == *digest).then_some(id))
    }
}

fn read_part(path: &Path, offset: u64, length: u64) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|mut file| {
            file.seek(SeekFrom::Start(offset))?;
            file.take(length).read_to_end(&mut bytes)
        })
        .map_err(StoreError::io("read", path))?;
    Ok(bytes)
}

/// A file with rows of `WIDTH` bytes.
struct RowFile<const WIDTH: usize> {
    file: File,
    path: PathBuf,
    count: u64,
}

impl<const WIDTH: usize> RowFile<WIDTH> {
    fn open(path: PathBuf) -> Result<Self, StoreError> {
        let file = File::open(&path).map_err(StoreError::io("open", &path))?;
        let size = file.metadata().map_err(StoreError::io("read", &path))?.len();
        if size % WIDTH as u64 != 0 {
            return Err(damaged(&path, format!("not all rows are {WIDTH} bytes long")));
        }
        Ok(Self { file, path, count: size / WIDTH as u64 })
    }

    /// Reads row `n` and parses it with `read`.
    fn row<T>(&self, n: u64, read: impl FnOnce(&str) -> Option<T>) -> Result<T, StoreError> {
        let mut row = [0; WIDTH];
        self.file.read_exact_at(&mut row, n * WIDTH as u64).map_err(StoreError::io("read", &self.path))?;
        let text = std::str::from_utf8(&row).ok().filter(|text| text.is_ascii() && text.ends_with('\n'));
        text.and_then(read).ok_or_else(|| damaged(&self.path, format!("row {n} is invalid")))
    }
}

impl RowFile<DOC_ROW> {
    /// Returns offset and digest of row `n`, whose number must be `n`.
    fn doc(&self, n: u64) -> Result<(u64, Option<Md5Sum>), StoreError> {
        self.row(n, |row| {
            let id: u64 = number(&row[..10])?;
            let digest = row[32..64].trim_end();
            let digest = if digest.is_empty() { None } else { Some(md5_sum(digest)?) };
            (id == n).then_some((number(&row[11..31])?, digest))
        })
    }
}

impl RowFile<URL_ROW> {
    /// Returns digest and document number of row `n`.
    fn url(&self, n: u64) -> Result<(Md5Sum, u64), StoreError> {
        self.row(n, |row| Some((md5_sum(&row[..32])?, number(&row[33..43])?)))
    }
}

fn number(column: &str) -> Option<u64> {
    column.trim_start().parse().ok()
}

fn md5_sum(hex: &str) -> Option<Md5Sum> {
    HEXLOWER.decode(hex.as_bytes()).ok()?.try_into().ok()
}

fn damaged(path: &Path, detail: impl Into<String>) -> StoreError {
    StoreError::io("use", path)(io::Error::new(io::ErrorKind::InvalidData, detail.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tianwang::RawFileWriter;
    use pharos_core::Timestamp;
    use proptest::prelude::*;
    use std::fs;

    fn page(n: usize, url: &str) -> TianwangRecord {
        TianwangRecord {
            url: url.into(),
            origin: None,
            date: Timestamp::EPOCH,
            ip: None,
            compressed: n.is_multiple_of(2),
            head: b"HTTP/1.1 200 OK\r\n\r\n".to_vec(),
            body: format!("page {n} ").repeat(1 + n % 9).into_bytes(),
        }
    }

    /// Writes raw files of 200 bytes with pages under `http://example.org/0` …, and their index.
    fn gather(dir: &Path, pages: usize) {
        let mut files = RawFileWriter::create(dir, 200).unwrap();
        let mut index = TianwangIndexWriter::create(dir).unwrap();
        for n in 0..pages {
            let record = page(n, &format!("http://example.org/{n}"));
            let offset = files.append(&record).unwrap();
            assert_eq!(index.add(offset, &record.url, &record.body).unwrap(), n as u64);
        }
        index.finish(files.finish().unwrap()).unwrap();
    }

    #[test]
    fn the_sentinel_follows_the_last_document() {
        let dir = tempfile::tempdir().unwrap();
        let mut index = TianwangIndexWriter::create(dir.path()).unwrap();
        for id in 0..=12931 {
            assert_eq!(index.add(id * 16270, &format!("http://example.org/{id}"), b"body").unwrap(), id);
        }
        assert_eq!(index.finish(210_411_107).unwrap(), 12_932);
        let text = fs::read_to_string(dir.path().join(DOC_INDEX)).unwrap();
        assert_eq!(text.lines().count(), 12_933);
        let last: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
        assert_eq!(last, ["12932", "210411107"]);
        let index = TianwangIndex::open(dir.path()).unwrap();
        assert_eq!(index.len(), 12_932);
        assert_eq!(index.extent(12_931).unwrap(), Some((12_931 * 16270, 210_411_107 - 12_931 * 16270)));
        assert_eq!(index.extent(12_932).unwrap(), None);
    }

    #[test]
    fn a_length_is_the_difference_of_neighbouring_offsets() {
        let dir = tempfile::tempdir().unwrap();
        let mut index = TianwangIndexWriter::create(dir.path()).unwrap();
        for (id, offset) in [0, 76_760, 141_624].into_iter().enumerate() {
            index.add(offset, &format!("http://example.org/{id}"), b"").unwrap();
        }
        assert!(index.add(141_623, "http://example.org/back", b"").is_err());
        index.finish(150_000).unwrap();
        let index = TianwangIndex::open(dir.path()).unwrap();
        assert_eq!(index.extent(0).unwrap(), Some((0, 76_760)));
        assert_eq!(index.extent(1).unwrap(), Some((76_760, 141_624 - 76_760)));
        assert_eq!(index.extent(2).unwrap(), Some((141_624, 150_000 - 141_624)));
    }

    #[test]
    fn urls_are_found_by_binary_search_among_sorted_digests() {
        let dir = tempfile::tempdir().unwrap();
        gather(dir.path(), 50);
        let text = fs::read_to_string(dir.path().join(URL_INDEX)).unwrap();
        let digests: Vec<&str> = text.lines().map(|row| &row[..32]).collect();
        assert!(digests.is_sorted() && digests.len() == 50);
        assert!(digests.iter().all(|d| d.bytes().all(|b| b.is_ascii_hexdigit())));
        // The test vector of RFC 1321, A.5.
        assert_eq!(HEXLOWER.encode(&md5(b"abc")), "900150983cd24fb0d6963f7d28e17f72");
        let index = TianwangIndex::open(dir.path()).unwrap();
        for n in 0..50 {
            let url = format!("http://example.org/{n}");
            assert_eq!(index.find(&url).unwrap(), Some(page(n, &url)));
        }
        assert_eq!(index.find("http://example.org/50").unwrap(), None);
    }

    #[test]
    fn the_newest_record_of_a_repeated_url_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = RawFileWriter::create(dir.path(), 1 << 20).unwrap();
        for n in 0..9 {
            files.append(&page(n, ["http://a.example/", "http://b.example/"][n % 2])).unwrap();
        }
        files.finish().unwrap();
        assert_eq!(build_index(dir.path(), |_, damage| panic!("{damage}")).unwrap(), 9);
        let index = TianwangIndex::open(dir.path()).unwrap();
        assert_eq!(index.find("http://a.example/").unwrap().unwrap().body, page(8, "").body);
        assert_eq!(index.find("http://b.example/").unwrap().unwrap().body, page(7, "").body);
    }

    #[test]
    fn an_index_survives_a_power_cut() {
        let dir = tempfile::tempdir().unwrap();
        gather(dir.path(), 5);
        for name in [DOC_INDEX, URL_INDEX] {
            fs::write(dir.path().join(name), "an older index").unwrap();
        }
        let build = || assert_eq!(build_index(dir.path(), |_, damage| panic!("{damage}")).unwrap(), 5);
        pharos_files::power_cut::check(dir.path(), build).unwrap();
    }

    #[test]
    fn a_folder_of_raw_files_is_indexed_around_its_damage() {
        let dir = tempfile::tempdir().unwrap();
        gather(dir.path(), 20);
        let docs = fs::read(dir.path().join(DOC_INDEX)).unwrap();
        build_index(dir.path(), |_, damage| panic!("{damage}")).unwrap();
        assert_eq!(
            fs::read(dir.path().join(DOC_INDEX)).unwrap(),
            docs,
            "same index as written with the records"
        );
        let second = dir.path().join(tianwang::raw_file_name(2));
        let mut bytes = fs::read(&second).unwrap();
        bytes[0] = b'V';
        fs::write(&second, bytes).unwrap();
        let mut damages = 0;
        assert_eq!(build_index(dir.path(), |_, _| damages += 1).unwrap(), 19);
        assert_eq!(damages, 1);
        let index = TianwangIndex::open(dir.path()).unwrap();
        let found = (0..20).filter(|n| index.find(&format!("http://example.org/{n}")).unwrap().is_some());
        assert_eq!(found.count(), 19);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_damaged_index_gives_errors_or_correct_results(
            docs in any::<bool>(), cut in any::<bool>(), at in 0.0..1.0f64, byte in any::<u8>()
        ) {
            let dir = tempfile::tempdir().unwrap();
            gather(dir.path(), 10);
            let path = dir.path().join(if docs { DOC_INDEX } else { URL_INDEX });
            let mut bytes = fs::read(&path).unwrap();
            let index = ((bytes.len() - 1) as f64 * at) as usize;
            if cut { bytes.truncate(index) } else { bytes[index] = byte }
            fs::write(&path, bytes).unwrap();
            if let Ok(index) = TianwangIndex::open(dir.path()) {
                for n in 0..10 {
                    let url = format!("http://example.org/{n}");
                    if let Ok(Some(found)) = index.find(&url) {
                        prop_assert_eq!(found, page(n, &url));
                    }
                }
            }
        }
    }
}
