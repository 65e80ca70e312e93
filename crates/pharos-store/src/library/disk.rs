//! The library on local disk: `00000001.warc.gz`, `00000002.warc.gz`, …, one gzip member per record.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use flate2::bufread::GzDecoder;
use libdeflater::{CompressionLvl, Compressor};
use pharos_core::{LibraryPosition, Timestamp};
use tracing::warn;

use super::warc::{self, Parsed};
use super::{Library, Record, Scan, StoredRecord};
use crate::StoreError;

/// A record larger than this, uncompressed, is not ours.
const MAX_RECORD: u64 = 256 << 20;
const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 0x08];
/// Bytes looked through at a time behind a damaged record.
const WINDOW: usize = 1 << 20;

/// The library on local disk.
pub struct DiskLibrary {
    dir: PathBuf,
    writer: Option<Mutex<Writer>>,
}

struct Writer {
    file: File,
    path: PathBuf,
    /// Where the next record goes.
    end: LibraryPosition,
    file_size: u64,
    compressor: Compressor,
    level: CompressionLvl,
    /// A failed write could not be undone yet.
    torn: bool,
}

impl DiskLibrary {
    /// Opens for reading, beside whoever writes.
    pub fn open_reader(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self { dir: dir.to_path_buf(), writer: None })
    }

    /// Opens for appending; the caller owns the data directory. A torn tail of the last file is set aside.
    /// `known_good` is a position up to which the library is known to be whole, so that it need not be read again.
    pub fn open_writer(
        dir: &Path,
        file_size: u64,
        level: u32,
        known_good: LibraryPosition,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        fs::create_dir_all(dir).map_err(StoreError::io("create", dir))?;
        let level = i32::try_from(level).ok().and_then(|l| CompressionLvl::new(l).ok()).unwrap_or_default();
        let mut writer = match file_numbers(dir)?.last().copied() {
            None => Writer::begin(dir, 1, file_size, level, now)?,
            Some(last) => {
                let path = file_path(dir, last);
                let from = if known_good.file == last { known_good.offset } else { 0 };
                let end = LibraryPosition { file: last, offset: mend_tail(&path, from)? };
                let file = File::options()
                    .read(true)
                    .write(true)
                    .open(&path)
                    .map_err(StoreError::io("open", &path))?;
                Writer { file, path, end, file_size, compressor: Compressor::new(level), level, torn: false }
            }
        };
        if writer.end.offset == 0 {
            writer.write_info(now)?;
        }
        Ok(Self { dir: dir.to_path_buf(), writer: Some(Mutex::new(writer)) })
    }
}

impl Writer {
    fn begin(
        dir: &Path,
        number: u32,
        file_size: u64,
        level: CompressionLvl,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let path = file_path(dir, number);
        let file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(StoreError::io("create", &path))?;
        // The name of a new file is durable only once its folder is.
        File::open(dir).and_then(|d| d.sync_all()).map_err(StoreError::io("sync", dir))?;
        let end = LibraryPosition { file: number, offset: 0 };
        let compressor = Compressor::new(level);
        let mut writer = Self { file, path, end, file_size, compressor, level, torn: false };
        writer.write_info(now)?;
        Ok(writer)
    }

    fn write_info(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let mut member = Vec::new();
        self.compress(&warc::warcinfo(self.end.file, now), &mut member)?;
        self.write(&member)
    }

    fn compress(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), StoreError> {
        let start = out.len();
        out.resize(start + self.compressor.gzip_compress_bound(bytes.len()), 0);
        let written = self.compressor.gzip_compress(bytes, &mut out[start..]).map_err(|e| {
            StoreError::io("compress a record for", &self.path)(io::Error::other(e.to_string()))
        })?;
        out.truncate(start + written);
        Ok(())
    }

    /// Writes and syncs. On failure the file is cut back to what was acknowledged, at the latest before the next
    /// write.
    fn write(&mut self, members: &[u8]) -> Result<(), StoreError> {
        if self.torn {
            self.file.set_len(self.end.offset).map_err(StoreError::io("cut the torn end of", &self.path))?;
        }
        let written = self.file.write_all_at(members, self.end.offset).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            self.torn = self.file.set_len(self.end.offset).is_err();
            return Err(StoreError::io("write", &self.path)(error));
        }
        self.torn = false;
        self.end.offset += members.len() as u64;
        Ok(())
    }
}

impl Library for DiskLibrary {
    fn append(&self, records: &[Record]) -> Result<Vec<(LibraryPosition, LibraryPosition)>, StoreError> {
        let Some(writer) = &self.writer else {
            let denied = io::Error::new(io::ErrorKind::PermissionDenied, "opened for reading only");
            return Err(StoreError::io("write", &self.dir)(denied));
        };
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.end.offset > writer.file_size
            && let Some(first) = records.first()
        {
            let next = writer.end.file + 1;
            *writer = Writer::begin(&self.dir, next, writer.file_size, writer.level, first.at)?;
        }
        let mut members = Vec::new();
        let mut positions = Vec::with_capacity(records.len());
        let start = writer.end;
        let at = |len: usize| LibraryPosition { file: start.file, offset: start.offset + len as u64 };
        for record in records {
            let position = at(members.len());
            writer.compress(&warc::write(record, position), &mut members)?;
            positions.push((position, at(members.len())));
        }
        writer.write(&members)?;
        Ok(positions)
    }

    fn end(&self) -> Result<LibraryPosition, StoreError> {
        if let Some(writer) = &self.writer {
            return Ok(writer.lock().unwrap_or_else(PoisonError::into_inner).end);
        }
        match file_numbers(&self.dir)?.last() {
            None => Ok(LibraryPosition::START),
            Some(&file) => {
                let path = file_path(&self.dir, file);
                let offset = fs::metadata(&path).map_err(StoreError::io("read", &path))?.len();
                Ok(LibraryPosition { file, offset })
            }
        }
    }

    fn read(&self, position: LibraryPosition) -> Result<StoredRecord, StoreError> {
        let path = file_path(&self.dir, position.file);
        let mut file = File::open(&path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => StoreError::NoRecord(position),
            _ => StoreError::io("open", &path)(e),
        })?;
        file.seek(SeekFrom::Start(position.offset)).map_err(StoreError::io("seek in", &path))?;
        let mut input = BufReader::with_capacity(32 << 10, file);
        match read_member(&mut input, position.offset) {
            Member::Good(bytes, length) => match warc::read(&bytes) {
                Ok(Parsed::Record(record)) => {
                    let next = LibraryPosition { offset: position.offset + length, ..position };
                    Ok(StoredRecord { position, next, record: *record })
                }
                Ok(Parsed::Other) => Err(StoreError::NoRecord(position)),
                Err(detail) => Err(StoreError::Damaged { position, detail }),
            },
            Member::End => Err(StoreError::NoRecord(position)),
            Member::Bad(detail) | Member::Torn(detail) => Err(StoreError::Damaged { position, detail }),
        }
    }

    fn scan(&self, from: LibraryPosition) -> Result<Scan, StoreError> {
        let mut files = file_numbers(&self.dir)?;
        files.retain(|number| *number >= from.file);
        files.reverse();
        Ok(Box::new(DiskScan { dir: self.dir.clone(), files, from, current: None }))
    }
}

struct DiskScan {
    dir: PathBuf,
    /// Files still to come, last first.
    files: Vec<u32>,
    from: LibraryPosition,
    current: Option<(BufReader<File>, PathBuf, LibraryPosition)>,
}

impl Iterator for DiskScan {
    type Item = Result<StoredRecord, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.current.is_none() {
                let number = self.files.pop()?;
                let offset = if number == self.from.file { self.from.offset } else { 0 };
                let path = file_path(&self.dir, number);
                let opened = File::open(&path).and_then(|mut f| f.seek(SeekFrom::Start(offset)).map(|_| f));
                match opened {
                    Ok(file) => {
                        let input = BufReader::with_capacity(256 << 10, file);
                        self.current = Some((input, path, LibraryPosition { file: number, offset }));
                    }
                    Err(e) => return Some(Err(StoreError::io("read", &path)(e))),
                }
            }
            let (input, path, position) = self.current.as_mut()?;
            let here = *position;
            match read_member(input, here.offset) {
                Member::Good(bytes, length) => {
                    position.offset += length;
                    match warc::read(&bytes) {
                        Ok(Parsed::Record(record)) => {
                            return Some(Ok(StoredRecord {
                                position: here,
                                next: *position,
                                record: *record,
                            }));
                        }
                        Ok(Parsed::Other) => {}
                        Err(detail) => return Some(Err(StoreError::Damaged { position: here, detail })),
                    }
                }
                Member::End => self.current = None,
                Member::Bad(detail) | Member::Torn(detail) => match next_good(path, here.offset + 1) {
                    Ok(Some(good)) => {
                        position.offset = good;
                        if let Err(e) = input.seek(SeekFrom::Start(good)) {
                            let error = StoreError::io("seek in", path)(e);
                            self.current = None;
                            return Some(Err(error));
                        }
                        return Some(Err(StoreError::Damaged { position: here, detail }));
                    }
                    // At the very end of the last file this is the owner, writing at this moment.
                    Ok(None) if self.files.is_empty() => self.current = None,
                    Ok(None) => {
                        self.current = None;
                        return Some(Err(StoreError::Damaged { position: here, detail }));
                    }
                    Err(error) => {
                        self.current = None;
                        return Some(Err(error));
                    }
                },
            }
        }
    }
}

/// What stands where a gzip member should begin.
enum Member {
    /// A whole member: its contents and its length in the file.
    Good(Vec<u8>, u64),
    /// Nothing: the file ends here.
    End,
    /// The file ends inside the member.
    Torn(String),
    /// Something else.
    Bad(String),
}

fn read_member(input: &mut (impl BufRead + Seek), start: u64) -> Member {
    match input.fill_buf() {
        Ok([]) => return Member::End,
        Ok(_) => {}
        Err(e) => return Member::Bad(e.to_string()),
    }
    let mut bytes = Vec::new();
    let mut decoder = GzDecoder::new(&mut *input).take(MAX_RECORD);
    match decoder.read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 == MAX_RECORD => Member::Bad("a record of absurd size".into()),
        Ok(_) => match input.stream_position() {
            Ok(after) => Member::Good(bytes, after - start),
            Err(e) => Member::Bad(e.to_string()),
        },
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
            Member::Torn("the file ends inside a record".into())
        }
        Err(e) => Member::Bad(e.to_string()),
    }
}

/// The first offset from `from` on at which a whole, valid record stands.
fn next_good(path: &Path, from: u64) -> Result<Option<u64>, StoreError> {
    let error = || StoreError::io("read", path);
    let file = File::open(path).map_err(error())?;
    let length = file.metadata().map_err(error())?.len();
    let mut window = vec![0; WINDOW];
    let mut start = from;
    while start + (GZIP_MAGIC.len() as u64) <= length {
        let size = WINDOW.min(usize::try_from(length - start).unwrap_or(WINDOW));
        file.read_exact_at(&mut window[..size], start).map_err(error())?;
        for (at, bytes) in (start..).zip(window[..size].windows(GZIP_MAGIC.len())) {
            if bytes == GZIP_MAGIC && is_good(&file, at).map_err(error())? {
                return Ok(Some(at));
            }
        }
        // The magic may lie across the border of two windows.
        start += (size - GZIP_MAGIC.len() + 1) as u64;
    }
    Ok(None)
}

/// Does a whole, valid record begin here?
fn is_good(mut file: &File, at: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(at))?;
    let mut input = BufReader::new(file);
    Ok(matches!(read_member(&mut input, at), Member::Good(record, _) if warc::read(&record).is_ok()))
}

/// Finds where the last whole record of a file ends. What stands behind it was never acknowledged, or is damaged:
/// it is copied aside and cut off, so that appending goes on from a clean end.
fn mend_tail(path: &Path, known_good: u64) -> Result<u64, StoreError> {
    let error = |action| StoreError::io(action, path);
    let length = fs::metadata(path).map_err(error("read"))?.len();
    // A file that is shorter than what was known to be good must be looked through from its beginning.
    let mut at = if known_good <= length { known_good } else { 0 };
    let mut input = BufReader::with_capacity(256 << 10, File::open(path).map_err(error("open"))?);
    loop {
        input.seek(SeekFrom::Start(at)).map_err(error("seek in"))?;
        match read_member(&mut input, at) {
            Member::Good(_, length) => at += length,
            Member::End => return Ok(at),
            Member::Bad(detail) | Member::Torn(detail) => match next_good(path, at + 1)? {
                Some(good) => at = good,
                None => {
                    let aside = path.with_extension(format!("gz.torn-{at}"));
                    let mut tail = File::create(&aside).map_err(StoreError::io("create", &aside))?;
                    input.seek(SeekFrom::Start(at)).map_err(error("seek in"))?;
                    io::copy(&mut input, &mut tail).map_err(StoreError::io("write", &aside))?;
                    let file = File::options().write(true).open(path).map_err(error("open"))?;
                    file.set_len(at).and_then(|()| file.sync_all()).map_err(error("cut the torn end of"))?;
                    warn!(path = %path.display(), at, bytes = length - at, aside = %aside.display(), detail,
                        "the end of the library was torn and has been set aside");
                    return Ok(at);
                }
            },
        }
    }
}

fn file_path(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{number:08}.warc.gz"))
}

/// Numbers of the library's files, rising.
fn file_numbers(dir: &Path) -> Result<Vec<u32>, StoreError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(StoreError::io("read", dir)(e)),
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry.map_err(StoreError::io("read", dir))?.file_name();
        let number = name.to_str().and_then(|n| n.strip_suffix(".warc.gz")).filter(|n| n.len() == 8);
        numbers.extend(number.and_then(|n| n.parse::<u32>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Content, Response};
    use pharos_core::PageUrl;
    use proptest::prelude::*;

    fn page(n: usize) -> Record {
        Record {
            url: PageUrl::parse(&format!("http://example.org/{n}")).unwrap(),
            at: Timestamp::EPOCH,
            depth: 0,
            hops: 0,
            attempt: 1,
            content: Content::Response(Response {
                status: 200,
                headers: vec![
                    ("Content-Type".into(), "text/html".into()),
                    ("Content-Length".into(), "0".into()),
                ],
                body: format!("<title>{n}</title>").repeat(1 + n % 7).into_bytes(),
                address: None,
                truncated: None,
            }),
        }
    }

    fn open(dir: &Path) -> DiskLibrary {
        DiskLibrary::open_writer(dir, 1 << 30, 1, LibraryPosition::START, Timestamp::EPOCH).unwrap()
    }

    fn urls(library: &DiskLibrary) -> Vec<String> {
        library
            .scan(LibraryPosition::START)
            .unwrap()
            .flatten()
            .map(|s| s.record.url.path_and_query()[1..].to_string())
            .collect()
    }

    #[test]
    fn what_is_appended_is_read_in_order_and_at_random() {
        let dir = tempfile::tempdir().unwrap();
        let library = open(dir.path());
        let positions = library.append(&(0..10).map(page).collect::<Vec<_>>()).unwrap();
        assert_eq!(urls(&library), (0..10).map(|n| n.to_string()).collect::<Vec<_>>());
        let stored = library.read(positions[7].0).unwrap();
        assert_eq!(stored.record.url, page(7).url);
        assert_eq!((stored.position, stored.next), positions[7]);
        assert_eq!(library.scan(positions[8].0).unwrap().count(), 2);
        assert_eq!(library.end().unwrap(), positions[9].1);
        assert_eq!(DiskLibrary::open_reader(dir.path()).unwrap().end().unwrap(), positions[9].1);
        assert!(matches!(library.read(LibraryPosition { file: 9, offset: 0 }), Err(StoreError::NoRecord(_))));
    }

    #[test]
    fn files_rotate_and_scans_cross_them() {
        let dir = tempfile::tempdir().unwrap();
        let library =
            DiskLibrary::open_writer(dir.path(), 500, 6, LibraryPosition::START, Timestamp::EPOCH).unwrap();
        for n in 0..20 {
            library.append(&[page(n)]).unwrap();
        }
        assert!(file_numbers(dir.path()).unwrap().len() > 3);
        assert_eq!(urls(&library).len(), 20);
    }

    #[test]
    fn a_torn_tail_is_set_aside_and_appending_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let positions = open(dir.path()).append(&(0..5).map(page).collect::<Vec<_>>()).unwrap();
        let path = file_path(dir.path(), 1);
        for cut in [1, 9, 30] {
            let end = positions[4].1.offset;
            File::options().write(true).open(&path).unwrap().set_len(end - cut).unwrap();
            let library = open(dir.path());
            assert_eq!(library.end().unwrap(), positions[4].0, "cut {cut}");
            assert_eq!(library.append(&[page(4)]).unwrap()[0].0, positions[4].0);
            assert_eq!(urls(&library), ["0", "1", "2", "3", "4"]);
        }
    }

    #[test]
    fn a_damaged_record_hides_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let positions = open(dir.path()).append(&(0..5).map(page).collect::<Vec<_>>()).unwrap();
        let path = file_path(dir.path(), 1);
        let mut bytes = fs::read(&path).unwrap();
        bytes[usize::try_from(positions[2].0.offset).unwrap() + 30] ^= 0x55;
        fs::write(&path, bytes).unwrap();
        let library = open(dir.path());
        assert_eq!(urls(&library), ["0", "1", "3", "4"]);
        let errors: Vec<_> = library.scan(LibraryPosition::START).unwrap().filter_map(Result::err).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].to_string().contains(&positions[2].0.to_string()), "{}", errors[0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        /// Any one flipped byte, or any cut, costs at most the record it hits (and, cut off, those behind it).
        #[test]
        fn no_damage_costs_more_than_it_hits(at in 0.0..1.0f64, mask in 1u8..=255, cut in any::<bool>()) {
            let dir = tempfile::tempdir().unwrap();
            open(dir.path()).append(&(0..6).map(page).collect::<Vec<_>>()).unwrap();
            let path = file_path(dir.path(), 1);
            let mut bytes = fs::read(&path).unwrap();
            let index = ((bytes.len() - 1) as f64 * at) as usize;
            if cut { bytes.truncate(index) } else { bytes[index] ^= mask }
            fs::write(&path, bytes).unwrap();
            let library = open(dir.path());
            let left = urls(&library);
            if !cut { prop_assert!(left.len() >= 5, "{left:?}"); }
            library.append(&[page(99)]).unwrap();
            let now = urls(&library);
            prop_assert_eq!(now.last().map(String::as_str), Some("99"));
        }
    }
}
