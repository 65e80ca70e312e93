//! What there is to import: which format a file has, and which files a folder holds.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::vec;

use flate2::bufread::GzDecoder;
use pharos_core::PageUrl;
use pharos_store::StoreError;

use super::{Sources, not, tree};
use crate::EngineError;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// The dictionary that some zstd files begin with.
const ZSTD_DICTIONARY: &[u8] = &[0x5d, 0x2a, 0x4d, 0x18];

/// Something to import.
#[derive(Debug)]
pub(super) enum Source {
    /// A WARC file that comes through a pipe: one with a name, or standard input.
    Pipe(Option<PathBuf>),
    /// A file.
    File(PathBuf, Kind),
    /// A page by itself, and the address that its folder stands for.
    Page(PathBuf, PageUrl),
    /// A folder with files of the known formats, somewhere below it.
    Folder(PathBuf),
    /// A folder of HTML files, and the address it stands for.
    Tree(PathBuf, PageUrl),
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Warc,
    Tianwang,
    Soif,
}

/// Looks at what was named. Folders are looked through later, file by file.
pub(super) fn recognise(sources: &Sources) -> Result<Vec<Source>, EngineError> {
    let mut found = Vec::new();
    for path in &sources.paths {
        if path == Path::new("-") {
            found.push(Source::Pipe(None));
            continue;
        }
        let metadata = fs::metadata(path).map_err(StoreError::io("read", path))?;
        found.push(if metadata.is_dir() {
            match &sources.base_url {
                Some(base) => Source::Tree(path.clone(), base.clone()),
                None => Source::Folder(path.clone()),
            }
        } else if metadata.is_file() {
            file(path, sources.base_url.as_ref())?
        } else {
            Source::Pipe(Some(path.clone()))
        });
    }
    Ok(found)
}

/// A file that a person named: it must be something.
fn file(path: &Path, base_url: Option<&PageUrl>) -> Result<Source, EngineError> {
    let place = path.display().to_string();
    if let Some(kind) = kind(path, true).map_err(StoreError::io("read", path))? {
        return Ok(Source::File(path.to_path_buf(), kind));
    }
    match base_url {
        Some(base) if tree::is_page(path) => Ok(Source::Page(path.to_path_buf(), base.clone())),
        _ if fs::metadata(path).is_ok_and(|metadata| metadata.len() == 0) => {
            Err(not(&place, "the file is empty"))
        }
        Some(_) => Err(not(&place, "neither WARC, Tianwang nor SOIF, nor an HTML file")),
        None => Err(not(&place, "neither WARC, Tianwang nor SOIF; for HTML files, give --base-url")),
    }
}

/// The format of a file, by its first bytes; where those are damaged, by its name. A file that was `named` by a person
/// is more likely to be one than one that was only found.
pub(super) fn kind(path: &Path, named: bool) -> io::Result<Option<Kind>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(64 << 10).read_to_end(&mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let called_warc = [".warc", ".warc.gz", ".warc.zst"].iter().any(|end| name.ends_with(end));
    let packed_warc = if bytes.starts_with(GZIP) {
        let mut start = Vec::new();
        // What can be unpacked of a beginning that is cut off is enough.
        let _ = GzDecoder::new(bytes.as_slice()).take(64).read_to_end(&mut start);
        is_warc(&start)
    } else {
        named && (bytes.starts_with(ZSTD) || bytes.starts_with(ZSTD_DICTIONARY))
    };
    Ok(if called_warc || packed_warc || is_warc(&bytes) {
        Some(Kind::Warc)
    } else if is_tianwang(&bytes) || name.starts_with("tianwang.raw.") {
        Some(Kind::Tianwang)
    } else if is_soif(&bytes) || name.ends_with(".soif") {
        Some(Kind::Soif)
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
    // Style sheets begin much like it, but not with an address.
    let about = about.trim_ascii_start();
    let end = about.iter().position(|b| b.is_ascii_whitespace() || *b == b'}').unwrap_or(about.len());
    &about[..end] == b"-" || about[..end].windows(3).any(|part| part == b"://")
}

/// The files below a folder, one after the other, with what cannot be looked at. Symbolic links lead to files of the
/// same folder only, and never to folders.
pub(super) struct Walk {
    /// The folder, free of symbolic links.
    root: PathBuf,
    /// One list of names for each folder on the way down.
    levels: Vec<vec::IntoIter<PathBuf>>,
}

impl Walk {
    pub(super) fn of(root: &Path) -> Result<Self, EngineError> {
        let canonical = fs::canonicalize(root).map_err(StoreError::io("read", root))?;
        let top = names(root).map_err(StoreError::io("list", root))?;
        Ok(Self { root: canonical, levels: vec![top.into_iter()] })
    }

    /// Is this a file to be read? A folder is gone into.
    fn look_at(&mut self, path: &Path) -> io::Result<bool> {
        let metadata = fs::symlink_metadata(path)?;
        if metadata.is_dir() {
            self.levels.push(names(path)?.into_iter());
            return Ok(false);
        }
        if metadata.is_symlink() {
            // One that leads nowhere is nothing to read either.
            let target = fs::canonicalize(path);
            return Ok(target.is_ok_and(|target| target.starts_with(&self.root) && target.is_file()));
        }
        Ok(metadata.is_file())
    }
}

impl Iterator for Walk {
    type Item = Result<PathBuf, (PathBuf, io::Error)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(path) = self.levels.last_mut()?.next() else {
                self.levels.pop();
                continue;
            };
            match self.look_at(&path) {
                Ok(true) => return Some(Ok(path)),
                Ok(false) => {}
                Err(error) => return Some(Err((path, error))),
            }
        }
    }
}

/// What a folder holds, in order: by name, and numbers at the end of names by their value.
fn names(folder: &Path) -> io::Result<Vec<PathBuf>> {
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

    fn kind_of(name: &str, bytes: &[u8]) -> Option<Kind> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        kind(&path, false).unwrap()
    }

    #[test]
    fn formats_are_told_by_content() {
        let mut gz = Vec::new();
        let mut packer = flate2::read::GzEncoder::new(&b"WARC/1.0\r\n"[..], flate2::Compression::fast());
        packer.read_to_end(&mut gz).unwrap();
        for (bytes, expected) in [
            (&b"\r\nWARC/1.1\r\nWARC-Type: response"[..], Some(Kind::Warc)),
            (&gz, Some(Kind::Warc)),
            (b"version: 1.0\nurl: http://example.org/\n", Some(Kind::Tianwang)),
            (b"version: one\n", None),
            (b"\n@FILE { http://example.org/\n", Some(Kind::Soif)),
            (b"@font-face { font-family: x", None),
            (b"<html>", None),
            (b"", None),
        ] {
            assert_eq!(kind_of("x", bytes), expected, "{:?}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(
            kind_of("a.warc.gz", b"\x1f\x8brubbish"),
            Some(Kind::Warc),
            "where it is damaged, its name"
        );
        assert_eq!(kind_of("Tianwang.raw.3", b"damaged"), Some(Kind::Tianwang));
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
        for each in Walk::of(&root).unwrap() {
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
