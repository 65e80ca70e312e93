//! Boilerplate phrases of a site: forms, disclaimers and manual phrases inside the main content, which page cleaning
//! does not remove.
//!
//! A shingle minimum shared by pages of many *titles* on one site comes from such a phrase. Its bins are hidden for
//! pages of that site, so that only a page's own content is compared. Copies of one page on its site (versions, print
//! views) have one title or few, and keep their bins. Pages without content of their own are compared as a whole, and
//! must be nearly equal.

use super::FullMinHashSignature;

/// Minimum number of distinct titles on a site from which a shared phrase is boilerplate.
const MIN_TITLES: usize = 6;

/// Maximum number of pages of a site that are sampled for boilerplate.
pub(crate) const MAX_SAMPLED_PAGES: usize = 50_000;

/// If more bins than this would be hidden, all are: the page has almost no content of its own.
const MAX_HIDDEN_BINS: u32 = 108;

/// The boilerplate of one site: sorted boilerplate minima of each bin.
pub(crate) struct Boilerplate {
    common: Vec<Vec<u32>>,
}

impl Boilerplate {
    /// Finds the boilerplate in pages of a site, each given with a hash of its title.
    pub(crate) fn from_pages(pages: &[(u32, FullMinHashSignature)]) -> Self {
        let Some((_, first)) = pages.first().filter(|_| pages.len() >= MIN_TITLES) else {
            return Self { common: Vec::new() };
        };
        let mut minima: Vec<(u32, u32)> = Vec::with_capacity(pages.len());
        let common_minima = |bin: usize| {
            minima.clear();
            minima.extend(pages.iter().map(|(title, full)| (full.minima()[bin], *title)));
            minima.sort_unstable();
            minima.dedup();
            let phrases = minima.chunk_by(|one, other| one.0 == other.0);
            phrases.filter(|phrase| phrase.len() >= MIN_TITLES).map(|phrase| phrase[0].0).collect()
        };
        Self { common: (0..first.minima().len()).map(common_minima).collect() }
    }

    /// Returns the bins of a page to hide, as a bit set.
    pub(crate) fn hidden_bins(&self, page: &FullMinHashSignature) -> u128 {
        let bins = page.minima().iter().zip(&self.common).enumerate();
        let hidden = bins.filter(|(_, (minimum, common))| common.binary_search(minimum).is_ok());
        let hidden = hidden.fold(0u128, |bits, (bin, _)| bits | 1 << bin);
        if hidden.count_ones() > MAX_HIDDEN_BINS { u128::MAX } else { hidden }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DuplicateDetector as _, MinHash, PageText};
    use super::*;

    fn full(text: &str) -> FullMinHashSignature {
        let words: Vec<&str> = text.split(' ').collect();
        MinHash::default().full_signature(&PageText { words: &words, ..PageText::default() }).unwrap()
    }

    fn words(about: &str, count: usize) -> String {
        (0..count).map(|number| format!("{about}{number} ")).collect()
    }

    #[test]
    fn a_form_filled_in_differently_is_no_copy_but_a_version_is() {
        let form = words("form", 120);
        let filled = |about: &str| full(&format!("{form}{}", words(about, 40)));
        let pages: Vec<(u32, FullMinHashSignature)> =
            (0..8).map(|n| (n, filled(&format!("item{n}x")))).collect();
        let site = Boilerplate::from_pages(&pages);
        let narrow = |full: &FullMinHashSignature| full.compress(site.hidden_bins(full));
        let method = MinHash::default();
        let [one, other] = [0, 1].map(|n: usize| &pages[n].1);
        assert!(method.compare(&one.compress(0), &other.compress(0)).is_some(), "by all their words");
        assert!(method.compare(&narrow(one), &narrow(other)).is_none(), "by their own");
        // The next version of a page, with a few words added.
        let version = full(&format!("{form}{}and more", words("item0x", 40)));
        assert!(method.compare(&narrow(one), &narrow(&version)).is_some());
        // On other sites nothing is hidden.
        assert!(method.compare(&narrow(one), &version.compress(0)).is_some());
        // Eight versions under one title are not boilerplate.
        let versions: Vec<(u32, FullMinHashSignature)> =
            pages.into_iter().map(|(_, full)| (0, full)).collect();
        assert_eq!(Boilerplate::from_pages(&versions).hidden_bins(&versions[0].1), 0);
    }

    #[test]
    fn pages_with_nothing_of_their_own_are_copies_only_of_their_likes() {
        let page = |number: usize| full(&format!("{}photo {number}", words("gallery", 80)));
        let pages: Vec<(u32, FullMinHashSignature)> = (0..20).map(|n| (n as u32, page(n))).collect();
        let site = Boilerplate::from_pages(&pages);
        let [one, other] = [3, 4].map(|n: usize| pages[n].1.compress(site.hidden_bins(&pages[n].1)));
        assert!(MinHash::default().compare(&one, &other).is_some());
        // Half of the gallery text is not a copy of it.
        let half = full(&words("gallery", 40));
        assert!(MinHash::default().compare(&one, &half.compress(site.hidden_bins(&half))).is_none());
    }
}
