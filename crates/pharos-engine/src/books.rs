//! The books of a new history: what its pages are called, by themselves and by others, and which words they have.

use pharos_core::Config;
use pharos_graph::Relations;
use pharos_index::{Books, Generations, History, Members, Sayings};
use pharos_store::{DataDir, StoreError};

use crate::EngineError;

/// Pages between two looks whether to go on.
const PAGES: u32 = 4_096;

/// What an anchor counts, beside 1 for a title: its weight grows with the logarithm of the domains that say it.
const ANCHOR: f32 = 4.0;

/// Writes the books of a finished generation.
pub(crate) fn write_books(
    data: &DataDir,
    config: &Config,
    generations: &Generations,
    history: History,
    relations: &Relations,
    go_on: &mut dyn FnMut() -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let snapshot = generations.preview(history)?;
    let mut sayings = Sayings::of(&*snapshot, Members::All)?;
    for page in 0..relations.page_ranks().len() as u32 {
        if page.is_multiple_of(PAGES) {
            go_on()?;
        }
        if relations.is_fetched(page) && !relations.is_hidden(page) {
            for anchor in relations.anchors(page)? {
                sayings.phrases.add(&anchor.text, ANCHOR * anchor.weight);
            }
        }
    }
    let folder = data.models();
    Books::of(sayings, config.suggest.phrases)
        .write(&folder)
        .map_err(|error| StoreError::io("write books to", &folder)(error).into())
}
