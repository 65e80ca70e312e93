//! Scans over the titles and the words of a view.

use tantivy::termdict::TermMerger;

use crate::document::addresses::SiteFilter;
use crate::document::zones::CAPITALS;
use crate::error::IndexError;
use crate::read::chain_view::ChainView;
use crate::view::GenerationScope;

/// The title of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageTitle<'t> {
    /// The title as stored; may be empty.
    pub title: &'t str,
    /// Static rank of the page, between 0 and 1.
    pub static_rank: f32,
}

/// Calls `each` with the title of every searchable page, in no particular order.
pub(crate) fn for_each_title(
    chain: &ChainView,
    scope: GenerationScope,
    each: &mut dyn FnMut(PageTitle<'_>),
) -> Result<(), IndexError> {
    let no_filter = SiteFilter::default();
    for (_, view) in chain.in_scope(scope) {
        let failed = IndexError::tantivy(&view.path);
        for (segment, reader) in (0..).zip(view.searcher.segment_readers()) {
            let (columns, shown) = (
                view.columns(segment).map_err(&failed)?,
                view.visible_addresses(segment, &no_filter).map_err(&failed)?,
            );
            for doc in 0..reader.max_doc() {
                if reader.is_deleted(doc) || shown.addresses(doc).next().is_none() {
                    continue;
                }
                if let Some(fields) = columns.result_fields(doc) {
                    each(PageTitle { title: &fields.title, static_rank: columns.static_rank(doc) });
                }
            }
        }
    }
    Ok(())
}

/// Calls `each` with every word in byte order and its document frequency, replaced documents included. Stems and
/// capitalised variants are skipped.
pub(crate) fn for_each_word(
    chain: &ChainView,
    scope: GenerationScope,
    each: &mut dyn FnMut(&str, u64),
) -> Result<(), IndexError> {
    let (mut readers, mut path) = (Vec::new(), None);
    for (_, view) in chain.in_scope(scope) {
        for reader in view.searcher.segment_readers() {
            readers.push(reader.inverted_index(chain.fields.text).map_err(IndexError::tantivy(&view.path))?);
        }
        path = Some(&view.path);
    }
    let Some(path) = path else { return Ok(()) };
    let failed = |error: std::io::Error| IndexError::tantivy(path)(error.into());
    let streams: Result<Vec<_>, _> = readers.iter().map(|reader| reader.terms().stream()).collect();
    let mut terms = TermMerger::new(streams.map_err(failed)?);
    while terms.advance() {
        let Ok(word) = std::str::from_utf8(terms.key()) else { continue };
        if !word.starts_with([CAPITALS, pharos_text::analyser::stem::STEM_MARK]) {
            each(
                word,
                terms.current_segment_ords_and_term_infos().map(|(_, info)| u64::from(info.doc_freq)).sum(),
            );
        }
    }
    Ok(())
}
