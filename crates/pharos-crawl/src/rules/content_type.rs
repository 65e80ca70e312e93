//! Decides by media type which responses are stored.

/// Media types of text documents: those of 《搜索引擎——原理、技术与系统》§3.6, with its misprint `vnd.ms-execl`, and
/// later ones.
const DOCUMENTS: &[&str] = &[
    "text/html",
    "application/xhtml+xml",
    "application/vnd.wap.xhtml+xml",
    "text/plain",
    "text/xml",
    "application/xml",
    "application/rss+xml",
    "application/atom+xml",
    "application/rdf+xml",
    "application/pdf",
    "application/x-pdf",
    "application/postscript",
    "text/rtf",
    "application/rtf",
    "application/msword",
    "application/vnd.ms-excel",
    "application/vnd.ms-execl",
    "application/vnd.ms-powerpoint",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.oasis.opendocument.presentation",
];

/// Media types by file extension, for responses without a type. Other extensions (`.php`, or none) are undecided: the
/// content is sniffed later.
const EXTENSIONS: &[(&str, &str)] = &[
    ("html", "text/html"),
    ("htm", "text/html"),
    ("shtml", "text/html"),
    ("xhtml", "application/xhtml+xml"),
    ("txt", "text/plain"),
    ("xml", "text/xml"),
    ("rss", "application/rss+xml"),
    ("atom", "application/atom+xml"),
    ("rdf", "application/rdf+xml"),
    ("pdf", "application/pdf"),
    ("ps", "application/postscript"),
    ("eps", "application/postscript"),
    ("rtf", "text/rtf"),
    ("doc", "application/msword"),
    ("xls", "application/vnd.ms-excel"),
    ("ppt", "application/vnd.ms-powerpoint"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
];

/// File extensions of non-documents, by top-level media type.
const NO_DOCUMENTS: &[(&str, &[&str])] = &[
    ("image", &["avif", "bmp", "gif", "ico", "jpeg", "jpg", "png", "psd", "svg", "tif", "tiff", "webp"]),
    ("audio", &["aac", "flac", "m4a", "mid", "mp3", "ogg", "ra", "wav", "wma"]),
    ("video", &["avi", "flv", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "rm", "rmvb", "swf", "webm", "wmv"]),
    ("font", &["eot", "otf", "ttf", "woff", "woff2"]),
    (
        "application",
        &[
            "7z", "apk", "bin", "bz2", "class", "css", "deb", "dll", "dmg", "exe", "img", "iso", "jar", "js",
            "msi", "rar", "rpm", "so", "tar", "tgz", "torrent", "wasm", "xz", "zip", "zst",
        ],
    ),
];

/// Returns `true` if a response of this type is stored.
///
/// `types` are those of the rules, in lower case; an empty list means every readable document type. If the server
/// sends no type or an unspecific one, the extension of the `path` decides. Undecided responses are stored: their
/// content is sniffed later.
pub fn accepts(types: &[String], content_type: Option<&str>, path: &str) -> bool {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    let extension = extension(path);
    match essence.as_str() {
        ""
        | "*/*"
        | "unknown/unknown"
        | "application/unknown"
        | "application/octet-stream"
        | "binary/octet-stream"
        | "application/force-download" => {
            is_listed(types, &type_by_extension(&extension).unwrap_or_default())
        }
        // Compressed sitemaps are accepted, compressed archives are not.
        "application/gzip" | "application/x-gzip" => {
            let inside = path.strip_suffix(".gz").map(self::extension).unwrap_or_default();
            is_listed(types, "application/gzip")
                || matches!(inside.as_str(), "xml" | "txt")
                || path.to_ascii_lowercase().contains("sitemap")
        }
        known => is_listed(types, known),
    }
}

/// Returns `true` for `type/subtype` and `type/*`.
pub(crate) fn is_media_type(text: &str) -> bool {
    let is_token =
        |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b));
    text.split_once('/')
        .is_some_and(|(kind, subtype)| is_token(kind) && (subtype == "*" || is_token(subtype)))
}

/// Returns `true` if a type is listed. An empty type is undecided.
fn is_listed(types: &[String], essence: &str) -> bool {
    if essence.is_empty() {
        return true;
    }
    if types.is_empty() {
        return DOCUMENTS.contains(&essence);
    }
    let kind = essence.split('/').next().unwrap_or_default();
    types.iter().any(|listed| listed == essence || listed.strip_suffix("/*") == Some(kind))
}

fn type_by_extension(extension: &str) -> Option<String> {
    let document = EXTENSIONS.iter().find(|(end, _)| *end == extension).map(|(_, kind)| kind.to_string());
    document.or_else(|| {
        let (kind, _) = NO_DOCUMENTS.iter().find(|(_, ends)| ends.contains(&extension))?;
        Some(format!("{kind}/{extension}"))
    })
}

/// Returns the file extension of a path in lower case: `gz` of `/a.b/c.XML.GZ`.
fn extension(path: &str) -> String {
    let name = path.split(['?', ';']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_default(content_type: &str, path: &str) -> bool {
        accepts(&[], Some(content_type), path)
    }

    #[test]
    fn documents_are_stored_and_pictures_are_not() {
        for kind in ["text/html", "Text/HTML; charset=gb2312", "application/pdf", "application/rss+xml"] {
            assert!(by_default(kind, "/x.jpg"), "{kind}");
        }
        for kind in ["image/png", "video/mp4", "application/zip", "text/css", "nonsense"] {
            assert!(!by_default(kind, "/x.html"), "{kind}");
        }
    }

    /// 《搜索引擎——原理、技术与系统》§3.6: misprint in the list of media types.
    #[test]
    fn the_misprint_of_the_book_is_accepted_for_excel() {
        assert!(by_default("application/vnd.ms-execl", "/a") && by_default("application/vnd.ms-excel", "/a"));
    }

    #[test]
    fn without_a_type_the_name_decides() {
        for (path, stored) in [
            ("/a.HTML", true),
            ("/a.docx", true),
            ("/download.php", true),
            ("/", true),
            ("/v1.2/notes", true),
            ("/a.jpg", false),
            ("/setup.exe", false),
            ("/a.zip;v=2", false),
        ] {
            assert_eq!(accepts(&[], None, path), stored, "{path}");
            assert_eq!(by_default("application/octet-stream", path), stored, "{path}");
        }
    }

    #[test]
    fn a_compressed_sitemap_is_accepted() {
        assert!(by_default("application/x-gzip", "/sitemap.xml.gz"));
        assert!(by_default("application/gzip", "/sitemaps/1.gz"));
        assert!(!by_default("application/gzip", "/backup.tar.gz"));
    }

    #[test]
    fn an_operators_list_replaces_the_usual_one() {
        let types = ["text/*".to_string(), "image/png".to_string()];
        let accepted = |kind: Option<&str>, path| accepts(&types, kind, path);
        assert!(accepted(Some("text/css"), "/") && accepted(Some("image/png"), "/"));
        assert!(!accepted(Some("application/pdf"), "/") && !accepted(None, "/a.pdf"));
        assert!(accepted(None, "/a.png") && !accepted(None, "/a.gif"));
        assert!(is_media_type("text/*") && is_media_type("application/rss+xml"));
        for bad in ["", "html", "text/", "/x", "*/*", "text/html; charset=utf-8", "a/b/c"] {
            assert!(!is_media_type(bad), "{bad}");
        }
    }
}
