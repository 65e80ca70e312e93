//! Metadata of a page, shown above it.

use pharos_core::PageType;
use pharos_query::Card;

use crate::service::Cleaned;
use crate::words::{Lang, fill, grouped};

/// Maximum number of keywords shown.
const MAX_KEYWORDS: usize = 8;

/// Longer values are truncated, in characters.
const MAX_CHARS: usize = 120;

/// A name and a value.
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) value: String,
}

/// Returns the known metadata of a page; `bytes` is its stored size.
pub(super) fn facts(lang: Lang, found: &Card, bytes: usize, cleaned: &Cleaned) -> Vec<Fact> {
    let words = lang.words();
    let page = &cleaned.page;
    let page_type = match page.page_type {
        PageType::Topic => words.type_topic,
        PageType::Hub => words.type_hub,
        PageType::Picture => words.type_picture,
    };
    let language = match page.lang.as_str() {
        "en" => words.in_english,
        "zh" => words.in_chinese,
        other => other,
    };
    let day = |iso: &str| lang.date(iso.split('T').next().unwrap_or_default());
    let keywords: Vec<&str> = page.keywords.iter().take(MAX_KEYWORDS).map(String::as_str).collect();
    let size = fill(words.bytes_before_after, &[&grouped(bytes as u64), &grouped(page.html.len() as u64)]);
    let errors = cleaned.explanation.as_ref().map(|told| grouped(told.html_errors.into()));
    let all = [
        (words.fact_type, page_type.to_string()),
        (words.language, language.to_string()),
        (words.fact_charset, page.charset.clone()),
        (words.fact_published, page.published.as_deref().map(day).unwrap_or_default()),
        (words.fact_author, page.author.clone()),
        (words.fact_keywords, keywords.join(", ")),
        (words.fact_bytes, size),
        (words.fact_errors, errors.unwrap_or_default()),
        (words.fact_stored, lang.date(&found.fetched.date())),
    ];
    let known = all.into_iter().filter(|(_, value)| !value.trim().is_empty());
    known.map(|(name, value)| Fact { name, value: short(&value, MAX_CHARS) }).collect()
}

/// Returns the first `chars` characters of a text, with an ellipsis if it is longer.
pub(super) fn short(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_string(),
    }
}
