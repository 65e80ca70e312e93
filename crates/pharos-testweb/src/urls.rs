//! URLs of pages, and their spellings in links.

use std::fmt::Write;

use crate::model::{LinkTarget, PageLink, PlannedPage, Spelling, Web};

/// Returns the URL of a page as a WHATWG parser prints it.
pub(crate) fn url_of(web: &Web, page: &PlannedPage, port: u16) -> String {
    format!("http://{}:{port}{}", web.host_of(page).name, page.path)
}

/// Returns the target URL of a link, without fragment.
pub(crate) fn target_url(web: &Web, link: &PageLink, port: u16) -> String {
    match &link.to {
        LinkTarget::Page(number) => url_of(web, web.page(*number), port),
        LinkTarget::Outside(url) => url.clone(),
    }
}

/// Returns the target URL of a link in the spelling of this link on this page.
pub(crate) fn spell(web: &Web, from: &PlannedPage, link: &PageLink, port: u16) -> String {
    let to = match &link.to {
        LinkTarget::Page(number) => web.page(*number),
        LinkTarget::Outside(url) => return url.clone(),
    };
    let near = from.host == to.host && !from.has_duplicates;
    let host = &web.host_of(to).name;
    let path = &to.path;
    match link.spelling {
        Spelling::Capitals => format!("HTTP://{}:{port}{path}", host.to_uppercase()),
        Spelling::SchemeRelative if !near => format!("//{host}:{port}{path}"),
        Spelling::Fragment if !near => format!("http://{host}:{port}{path}#part-2"),
        Spelling::Absolute => url_of(web, to, port),
        _ if !near => url_of(web, to, port),
        Spelling::Relative => relative(&from.path, path),
        Spelling::Fragment => format!("{path}#part-2"),
        Spelling::Unescaped => percent_decode(path),
        Spelling::Padded => format!(" {path} "),
        Spelling::FromRoot | Spelling::SchemeRelative => path.to_string(),
    }
}

/// Returns the relative path from one path to another of the same host.
fn relative(from: &str, to: &str) -> String {
    let from = from.split('?').next().unwrap_or(from);
    let folders: Vec<&str> = from.split('/').collect();
    let steps: Vec<&str> = to.split('/').collect();
    let (folders, last_step) = (&folders[..folders.len() - 1], steps.len() - 1);
    let common = folders.iter().zip(&steps[..last_step]).take_while(|(left, right)| left == right).count();
    let mut path = "../".repeat(folders.len() - common);
    path.push_str(&steps[common..].join("/"));
    if path.is_empty() || path.starts_with('?') { format!("./{path}") } else { path }
}

/// Escapes non-ASCII characters; the paths contain no other character that needs it.
pub(crate) fn percent_encode(path: &str) -> String {
    path.bytes().fold(String::with_capacity(path.len()), |mut out, byte| {
        if byte.is_ascii() {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

fn percent_decode(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_climb_and_descend() {
        assert_eq!(relative("/a/b.html", "/a/c.html"), "c.html");
        assert_eq!(relative("/a/b.html", "/d/c.html"), "../d/c.html");
        assert_eq!(relative("/a/b.html", "/"), "../");
        assert_eq!(relative("/", "/a/c.html"), "a/c.html");
        assert_eq!(relative("/a/", "/a/"), "./");
        assert_eq!(relative("/a/list?page=2", "/a/x.html"), "x.html");
    }

    #[test]
    fn escapes_go_there_and_back() {
        assert_eq!(percent_encode("/灯/a?b=1"), "/%E7%81%AF/a?b=1");
        assert_eq!(percent_decode("/%E7%81%AF/a?b=1"), "/灯/a?b=1");
        assert_eq!(percent_decode("/100%/a"), "/100%/a");
    }
}
