//! Writes the phrase index of a new history: titles and anchor texts of its pages, and their words, for suggestions
//! and corrections.

use pharos_core::Config;
use pharos_graph::Relations;
use pharos_index::generations::HistoryGeneration;
use pharos_index::phrase_index::{PhraseIndexes, PhraseIndexesBuilder};
use pharos_index::{GenerationScope, GenerationStore};
use pharos_store::{DataDir, StoreError};

use crate::EngineError;

/// Pages between two checks for a stop request.
const PAGES_PER_CHECK: u32 = 4_096;

/// Weight of an anchor relative to a title, which counts 1. Anchor weight grows with the logarithm of the number of
/// linking domains.
const ANCHOR_WEIGHT: f32 = 4.0;

/// Writes the phrase index of a finished generation.
pub(crate) fn write_phrase_index(
    data: &DataDir,
    config: &Config,
    generations: &dyn GenerationStore,
    history: &HistoryGeneration,
    relations: &Relations,
    keep_going: &mut dyn FnMut() -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let view = generations.preview(history)?;
    let mut builder = PhraseIndexesBuilder::from_view(&*view, GenerationScope::All)?;
    for page in 0..relations.page_ranks().len() as u32 {
        if page.is_multiple_of(PAGES_PER_CHECK) {
            keep_going()?;
        }
        if relations.is_fetched(page) && !relations.is_hidden(page) {
            for anchor in relations.anchors(page)? {
                builder.phrases.add(&anchor.text, ANCHOR_WEIGHT * anchor.weight);
            }
        }
    }
    let folder = data.models();
    PhraseIndexes::from_builder(builder, config.suggest.phrases)
        .write(&folder)
        .map_err(|error| StoreError::io("write the phrase index to", &folder)(error).into())
}
