//! Maps the files of a directory to pages of a site.
//!
//! The percent-encoded path below the directory is appended to the base URL. A file named `index` maps to its
//! directory only: `docs/index.html` becomes `docs/`. A compressed file (`a.html.gz`) maps to the page without `.gz`,
//! as servers do, unless the uncompressed file exists. The date of a page is the modification time of its file.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use pharos_core::{PageUrl, Timestamp};
use pharos_store::{LibraryRecord, RawResponse, RecordContent};

/// Characters that are percent-encoded in a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// File name extensions of pages, and their media types.
const EXTENSIONS: [(&str, &str); 13] = [
    (".html", "text/html"),
    (".htm", "text/html"),
    (".xhtml", "application/xhtml+xml"),
    (".txt", "text/plain"),
    (".md", "text/markdown"),
    (".pdf", "application/pdf"),
    (".rtf", "application/rtf"),
    (".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    (".odt", "application/vnd.oasis.opendocument.text"),
    (".ods", "application/vnd.oasis.opendocument.spreadsheet"),
    (".odp", "application/vnd.oasis.opendocument.presentation"),
];

/// A file to import as a page.
#[derive(Debug)]
pub(super) struct PageFile {
    path: PathBuf,
    url: PageUrl,
    media: &'static str,
    compressed: bool,
}

/// Returns `true` if the file name is that of a page.
pub(super) fn is_page(path: &Path) -> bool {
    media(path).is_some()
}

/// Returns media type, whether the file is compressed, and the length of its name without extensions.
fn media(path: &Path) -> Option<(&'static str, bool, usize)> {
    let name = path.file_name()?.as_bytes().to_ascii_lowercase();
    let (plain, compressed) =
        name.strip_suffix(b".gz").map_or((name.as_slice(), false), |plain| (plain, true));
    EXTENSIONS.iter().find_map(|(ending, media)| {
        let stem = plain.strip_suffix(ending.as_bytes()).filter(|stem| !stem.is_empty())?;
        Some((*media, compressed, stem.len()))
    })
}

/// Returns the page of a file below `root`, or `None` if it is not a page. The error explains why it has no valid URL.
pub(super) fn page_file(root: &Path, base: &PageUrl, path: &Path) -> Option<Result<PageFile, String>> {
    let (media, compressed, stem) = media(path)?;
    let mut below: Vec<&OsStr> = path.strip_prefix(root).ok()?.iter().collect();
    let name = below.pop()?.as_bytes();
    let plain = if compressed { &name[..name.len() - ".gz".len()] } else { name };
    if compressed && path.with_file_name(OsStr::from_bytes(plain)).is_file() {
        return None;
    }
    let mut url = base.as_url().clone();
    url.set_query(None);
    let mut address = url.to_string();
    for folder in below {
        push_segment(&mut address, folder.as_bytes());
    }
    let is_index = name[..stem].eq_ignore_ascii_case(b"index");
    push_segment(&mut address, if is_index { b"" } else { plain });
    let url = PageUrl::parse(&address).map_err(|e| e.to_string());
    Some(url.map(|url| PageFile { path: path.to_path_buf(), url, media, compressed }))
}

fn push_segment(address: &mut String, name: &[u8]) {
    if !address.ends_with('/') {
        address.push('/');
    }
    address.extend(percent_encode(name, ESCAPED));
}

/// Returns the modification time of a file.
pub(super) fn modification_time(path: &Path) -> Timestamp {
    let changed = fs::metadata(path).and_then(|m| m.modified()).ok();
    let since = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.map_or(Timestamp::EPOCH, |since| Timestamp::EPOCH.plus(since))
}

impl PageFile {
    /// Reads the file into a record. The error is a message for the user.
    pub(super) fn read(self, limit: usize) -> Result<LibraryRecord, String> {
        let mut body = Vec::new();
        File::open(&self.path)
            .and_then(|file| file.take(limit as u64 + 1).read_to_end(&mut body))
            .map_err(|e| e.to_string())?;
        if body.len() > limit {
            return Err(format!("larger than {limit} bytes"));
        }
        let mut headers = vec![("Content-Type".to_string(), self.media.to_string())];
        if self.compressed {
            headers.push(("Content-Encoding".into(), "gzip".into()));
        }
        let response = RawResponse { status: 200, headers, body, ..RawResponse::default() };
        Ok(LibraryRecord::new(self.url, modification_time(&self.path), RecordContent::Response(response)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_addresses() {
        let address = |base: &str, path: &str| {
            let base = PageUrl::parse(base).unwrap();
            let page = page_file("/top".as_ref(), &base, &Path::new("/top").join(path))?;
            Some(page.unwrap().url.to_string())
        };
        for (base, path, url) in [
            ("http://example.org/", "a.html", "http://example.org/a.html"),
            ("http://example.org/docs", "b/a.HTM", "http://example.org/docs/b/a.HTM"),
            ("http://example.org/docs/?x=1", "index.html", "http://example.org/docs/"),
            ("http://example.org/", "b/index.xhtml.gz", "http://example.org/b/"),
            ("http://example.org/", "a.txt.gz", "http://example.org/a.txt"),
            ("http://example.org/", "a.PDF", "http://example.org/a.PDF"),
            ("http://example.org/", "100% #?.html", "http://example.org/100%25%20%23%3F.html"),
            ("http://example.org/", "灯:塔.html", "http://example.org/%E7%81%AF%3A%E5%A1%94.html"),
        ] {
            assert_eq!(address(base, path).as_deref(), Some(url), "{path}");
        }
        for none in ["a.css", "html", ".html", "a.gz", "readme"] {
            assert_eq!(address("http://example.org/", none), None, "{none}");
        }
        let long = format!("{}.html", "x".repeat(3000));
        let base = PageUrl::parse("http://example.org/").unwrap();
        assert!(page_file("".as_ref(), &base, long.as_ref()).unwrap().is_err());
    }
}
