//! Discovery of new words in the pages of the library.

use pharos_core::PageObject;
use pharos_core::config::Config;
use pharos_store::DataDir;
use pharos_text::dictionary::Dictionary;
use pharos_text::new_words::{DiscoveryResult, DiscoveryRules, NewWordDiscovery, PageField};
use pharos_text::segment::default_segmenter;
use pharos_text::vocabulary::Vocabulary;

use crate::EngineError;
use crate::build::current_pages::CurrentPages;

/// Maximum length of a line that counts as a label: a list entry, a table cell or a caption.
const MAX_LABEL_CHARS: usize = 12;

/// Finds words that are neither in the base dictionary nor in the vocabulary of the installation.
///
/// `progress` receives the number of pages read and returns `false` to stop.
pub fn discover_words(
    data: &DataDir,
    config: &Config,
    vocabulary: &Vocabulary,
    rules: DiscoveryRules,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<DiscoveryResult, EngineError> {
    let mut check = |n: u64| if progress(n) { Ok(()) } else { Err(EngineError::Stopped) };
    let pages = CurrentPages::find(data, config, &mut |_| check(0))?;
    let mut discovery =
        NewWordDiscovery::new(default_segmenter(), Dictionary::base(), &pharos_text::normalise, rules);
    pages.for_each(&mut check, &mut |_, _, _, page| {
        discovery.add_page(zone_texts(page));
        Ok(())
    })?;
    Ok(discovery.finish(&|word| vocabulary.contains(word)))
}

/// Returns the texts of a page with their zones. New names tend to be introduced in prominent zones.
fn zone_texts(page: &PageObject) -> impl Iterator<Item = (&str, PageField)> {
    let lines = page.text.lines().map(|line| {
        let is_short = line.chars().nth(MAX_LABEL_CHARS).is_none();
        (line, if is_short { PageField::Short } else { PageField::Body })
    });
    std::iter::once((page.title.as_str(), PageField::Title))
        .chain(page.headings.iter().map(|text| (text.as_str(), PageField::Heading)))
        .chain(page.emphasised.iter().map(|text| (text.as_str(), PageField::Emphasis)))
        .chain(lines)
}
