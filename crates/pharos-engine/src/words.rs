//! New words from the pages of the library.

use pharos_core::PageObject;
use pharos_core::config::Config;
use pharos_store::DataDir;
use pharos_text::dictionary::Dictionary;
use pharos_text::new_words::{Discovery, Found, Place, Rules};
use pharos_text::segment::default_segmenter;
use pharos_text::vocabulary::Vocabulary;

use crate::EngineError;
use crate::pages::Pages;

/// A line of the body with no more characters stands for itself: an entry of a list, a cell of a table, a label.
const SHORT_LINE: usize = 12;

/// Finds words that neither the base dictionary nor the installation knows. `progress` is told how many pages were read
/// and says whether to go on.
pub fn discover_words(
    data: &DataDir,
    config: &Config,
    known: &Vocabulary,
    rules: Rules,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<Found, EngineError> {
    let mut check = |n: u64| if progress(n) { Ok(()) } else { Err(EngineError::Stopped) };
    let pages = Pages::of(data, config, &mut |_| check(0))?;
    let mut discovery =
        Discovery::new(default_segmenter(), Dictionary::base(), &pharos_text::normalise, rules);
    pages.each(&mut check, &mut |_, _, _, page| {
        discovery.page(texts(page));
        Ok(())
    })?;
    Ok(discovery.finish(&|word| known.contains(word)))
}

/// What a page says, by where it says it: names are introduced where they are meant to be seen.
fn texts(page: &PageObject) -> impl Iterator<Item = (&str, Place)> {
    let lines = page.text.lines().map(|line| {
        let is_short = line.chars().nth(SHORT_LINE).is_none();
        (line, if is_short { Place::Short } else { Place::Body })
    });
    std::iter::once((page.title.as_str(), Place::Title))
        .chain(page.headings.iter().map(|text| (text.as_str(), Place::Heading)))
        .chain(page.emphasised.iter().map(|text| (text.as_str(), Place::Emphasis)))
        .chain(lines)
}
