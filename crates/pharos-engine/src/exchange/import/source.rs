//! Detection of file formats and enumeration of the files of a directory.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::vec;

use flate2::bufread::GzDecoder;
use pharos_core::PageUrl;
use pharos_store::StoreError;

use super::{ImportSources, input_error, page_files};
use crate::EngineError;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// Magic number of a zstd dictionary frame, with which some files begin.
const ZSTD_DICTIONARY: &[u8] = &[0x5d, 0x2a, 0x4d, 0x18];

/// One source of an import.
#[derive(Debug)]
pub(super) enum ImportSource {
    /// A WARC stream: a named pipe, or standard input.
    Pipe(Option<PathBuf>),
    File(PathBuf, FileFormat),
    /// A single HTML file or document, and the base URL of its directory.
    Page(PathBuf, PageUrl),
    /// A directory searched for archive files.
    Folder(PathBuf),
    /// A directory of HTML files and documents, and its base URL.
    Tree(PathBuf, PageUrl),
}

/// Format of an archive file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileFormat {
    Warc,
    Tianwang,
    Soif,
}

/// Determines the kind of each named source. Directories are searched later.
pub(super) fn classify_sources(sources: &ImportSources) -> Result<Vec<ImportSource>, EngineError> {
    let mut found = Vec::new();
    for path in &sources.paths {
        if path == Path::new("-") {
            found.push(ImportSource::Pipe(None));
            continue;
        }
        let metadata = fs::metadata(path).map_err(StoreError::io("read", path))?;
        found.push(if metadata.is_dir() {
            match &sources.base_url {
                Some(base) => ImportSource::Tree(path.clone(), base.clone()),
                None => ImportSource::Folder(path.clone()),
            }
        } else if metadata.is_file() {
            classify_file(path, sources.base_url.as_ref())?
        } else {
            ImportSource::Pipe(Some(path.clone()))
        });
    }
    Ok(found)
}

/// Returns the total size of the files of all sources, or 0 if one of them is a stream.
pub(super) fn total_size(sources: &[ImportSource]) -> u64 {
    let size = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let mut total = 0;
    for source in sources {
        match source {
            ImportSource::Pipe(_) => return 0,
            ImportSource::File(path, _) | ImportSource::Page(path, _) => total += size(path),
            ImportSource::Folder(root) | ImportSource::Tree(root, _) => {
                // The same errors are reported when the directory is read.
                let files = FolderWalk::new(root).into_iter().flatten().flatten();
                total += files.map(|path| size(&path)).sum::<u64>();
            }
        }
    }
    total
}

/// Determines the kind of a file named by the user, which must be importable.
fn classify_file(path: &Path, base_url: Option<&PageUrl>) -> Result<ImportSource, EngineError> {
    let place = path.display().to_string();
    if let Some(kind) = detect_format(path, true).map_err(StoreError::io("read", path))? {
        return Ok(ImportSource::File(path.to_path_buf(), kind));
    }
    match base_url {
        Some(base) if page_files::is_page(path) => Ok(ImportSource::Page(path.to_path_buf(), base.clone())),
        _ if fs::metadata(path).is_ok_and(|metadata| metadata.len() == 0) => {
            Err(input_error(&place, "the file is empty"))
        }
        Some(_) => Err(input_error(&place, "not a WARC, Tianwang, SOIF or HTML file and no known document")),
        None => Err(input_error(
            &place,
            "not a WARC, Tianwang or SOIF file; for HTML files and documents, specify --base-url",
        )),
    }
}

/// Detects the format of a file by its first bytes, or by its name if those are damaged.
///
/// A zstd file is accepted as WARC only if the user named it explicitly (`named`).
pub(super) fn detect_format(path: &Path, named: bool) -> io::Result<Option<FileFormat>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(64 << 10).read_to_end(&mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let called_warc = [".warc", ".warc.gz", ".warc.zst"].iter().any(|end| name.ends_with(end));
    let packed_warc = if bytes.starts_with(GZIP) {
        let mut start = Vec::new();
        // The decodable start of the truncated data is sufficient.
        let _ = GzDecoder::new(bytes.as_slice()).take(64).read_to_end(&mut start);
        is_warc(&start)
    } else {
        named && (bytes.starts_with(ZSTD) || bytes.starts_with(ZSTD_DICTIONARY))
    };
    Ok(if called_warc || packed_warc || is_warc(&bytes) {
        Some(FileFormat::Warc)
    } else if is_tianwang(&bytes) || name.starts_with("tianwang.raw.") {
        Some(FileFormat::Tianwang)
    } else if is_soif(&bytes) || name.ends_with(".soif") {
        Some(FileFormat::Soif)
    } else {
        None
    })
}

fn is_warc(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"WARC/")
}

fn is_tianwang(bytes: &[u8]) -> bool {
    let version = bytes.strip_prefix(b"version:").map(<[u8]>::trim_ascii_start);
    version.and_then(<[u8]>::first).is_some_and(u8::is_ascii_digit)
}

fn is_soif(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.trim_ascii_start().strip_prefix(b"@") else { return false };
    let name = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'-').count();
    let Some(about) = rest[name..].trim_ascii_start().strip_prefix(b"{").filter(|_| name > 0) else {
        return false;
    };
    // CSS at-rules look similar, but are not followed by a URL.
    let about = about.trim_ascii_start();
    let end = about.iter().position(|b| b.is_ascii_whitespace() || *b == b'}').unwrap_or(about.len());
    &about[..end] == b"-" || about[..end].windows(3).any(|part| part == b"://")
}

/// Iterator over the files below a directory, with errors. Symbolic links are followed only to files
/// inside the directory.
pub(super) struct FolderWalk {
    /// The directory, without symbolic links.
    root: PathBuf,
    /// Remaining entries of each directory on the current path.
    levels: Vec<vec::IntoIter<PathBuf>>,
}

impl FolderWalk {
    pub(super) fn new(root: &Path) -> Result<Self, EngineError> {
        let canonical = fs::canonicalize(root).map_err(StoreError::io("read", root))?;
        let top = sorted_entries(root).map_err(StoreError::io("list", root))?;
        Ok(Self { root: canonical, levels: vec![top.into_iter()] })
    }

    /// Returns `true` if this is a file to read. Descends into a directory.
    fn visit(&mut self, path: &Path) -> io::Result<bool> {
        let metadata = fs::symlink_metadata(path)?;
        if metadata.is_dir() {
            self.levels.push(sorted_entries(path)?.into_iter());
            return Ok(false);
        }
        if metadata.is_symlink() {
            // A dangling link is ignored.
            let target = fs::canonicalize(path);
            return Ok(target.is_ok_and(|target| target.starts_with(&self.root) && target.is_file()));
        }
        Ok(metadata.is_file())
    }
}

impl Iterator for FolderWalk {
    type Item = Result<PathBuf, (PathBuf, io::Error)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(path) = self.levels.last_mut()?.next() else {
                self.levels.pop();
                continue;
            };
            match self.visit(&path) {
                Ok(true) => return Some(Ok(path)),
                Ok(false) => {}
                Err(error) => return Some(Err((path, error))),
            }
        }
    }
}

/// Returns the entries of a directory sorted by name, with trailing numbers by value.
fn sorted_entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort_by_cached_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        (stem.to_string(), name[stem.len()..].parse::<u64>().ok(), name)
    });
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::symlink;

    fn format_of(name: &str, bytes: &[u8]) -> Option<FileFormat> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        detect_format(&path, false).unwrap()
    }

    #[test]
    fn formats_are_detected_by_content() {
        let mut gz = Vec::new();
        let mut packer = flate2::read::GzEncoder::new(&b"WARC/1.0\r\n"[..], flate2::Compression::fast());
        packer.read_to_end(&mut gz).unwrap();
        for (bytes, expected) in [
            (&b"\r\nWARC/1.1\r\nWARC-Type: response"[..], Some(FileFormat::Warc)),
            (&gz, Some(FileFormat::Warc)),
            (b"version: 1.0\nurl: http://example.org/\n", Some(FileFormat::Tianwang)),
            (b"version: one\n", None),
            (b"\n@FILE { http://example.org/\n", Some(FileFormat::Soif)),
            (b"@font-face { font-family: x", None),
            (b"<html>", None),
            (b"", None),
        ] {
            assert_eq!(format_of("x", bytes), expected, "{:?}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(
            format_of("a.warc.gz", b"\x1f\x8brubbish"),
            Some(FileFormat::Warc),
            "where it is damaged, its name"
        );
        assert_eq!(format_of("Tianwang.raw.3", b"damaged"), Some(FileFormat::Tianwang));
    }

    #[test]
    fn a_walk_stays_inside_and_goes_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("root"), dir.path().join("outside.html"));
        fs::create_dir_all(root.join("b")).unwrap();
        fs::write(&outside, "x").unwrap();
        for name in ["raw.10", "raw.2", "b/inner", "a"] {
            fs::write(root.join(name), "x").unwrap();
        }
        symlink(&outside, root.join("leak")).unwrap();
        symlink(root.join("a"), root.join("own")).unwrap();
        symlink("..", root.join("b/loop")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        let (mut found, mut failed) = (Vec::new(), 0);
        for each in FolderWalk::new(&root).unwrap() {
            match each {
                Ok(path) => found.push(path.strip_prefix(&root).unwrap().display().to_string()),
                Err(_) => failed += 1,
            }
        }
        assert_eq!(found, ["a", "b/inner", "own", "raw.2", "raw.10"]);
        assert_eq!(failed, 0, "a link that leads nowhere is nothing");
    }

    proptest! {
        #[test]
        fn any_bytes_are_something_or_nothing(bytes in "(@[A-Z]{0,3}|version:|WARC/)?[ -~\\n]{0,20}") {
            let bytes = bytes.as_bytes();
            let kinds = [is_warc(bytes), is_tianwang(bytes), is_soif(bytes)];
            prop_assert!(kinds.iter().filter(|is| **is).count() <= 1);
        }
    }
}
