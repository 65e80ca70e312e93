//! Metadata of a page, shown above it.

use pharos_core::PageType;
use pharos_query::IndexedPage;

use crate::messages::{Lang, fill, grouped};
use crate::state::cleaned_copy::Cleaned;

/// Maximum number of keywords shown.
const MAX_KEYWORDS: usize = 8;

/// Longer values are truncated, in characters.
const MAX_CHARS: usize = 120;

/// A name and a value.
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) value: String,
}

/// Returns the known metadata of a page.
pub(super) fn facts(lang: Lang, indexed: &IndexedPage, cleaned: &Cleaned) -> Vec<Fact> {
    let messages = lang.messages();
    let page = &cleaned.page;
    let page_type = match page.page_type {
        PageType::Topic => messages.type_topic,
        PageType::Hub => messages.type_hub,
        PageType::Picture => messages.type_picture,
    };
    let day = |iso: &str| lang.date(iso.split('T').next().unwrap_or_default());
    let keywords: Vec<&str> = page.keywords.iter().take(MAX_KEYWORDS).map(String::as_str).collect();
    let size = fill(
        messages.bytes_before_after,
        &[&grouped(cleaned.bytes as u64), &grouped(page.html.len() as u64)],
    );
    let errors = cleaned.explanation.as_ref().map(|explained| grouped(explained.html_errors.into()));
    let candidates = [
        (messages.fact_type, page_type.to_string()),
        (messages.language, lang.language_name(&page.lang)),
        (messages.fact_charset, page.charset.clone()),
        (messages.fact_published, page.published.as_deref().map(day).unwrap_or_default()),
        (messages.fact_author, page.author.clone()),
        (messages.fact_keywords, keywords.join(", ")),
        (messages.fact_bytes, size),
        (messages.fact_errors, errors.unwrap_or_default()),
        (messages.fact_stored, lang.date(&indexed.fetched.date())),
    ];
    let known = candidates.into_iter().filter(|(_, value)| !value.trim().is_empty());
    known.map(|(name, value)| Fact { name, value: shorten(&value, MAX_CHARS) }).collect()
}

/// Returns the first `chars` characters of a text, with an ellipsis if it is longer.
pub(super) fn shorten(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_string(),
    }
}
