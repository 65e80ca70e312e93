//! What the pages of one site have in common without being copies: the phrases of forms, disclaimers and reference
//! manuals, which stand inside the article where no cleaning finds them.
//!
//! A minimum of a page's shingles that pages of many *titles* on the same site share comes from such a phrase. The bins it
//! stands in are hidden for pages of that site, so that only what is their own is compared. CopyTables of one page on its
//! site (versions, print views) have one title or few, and keep their bins. Pages that have nothing of their own are
//! compared as a whole, and must be nearly equal.

use super::FullMinHashSignature;

/// Different titles on one site from which a phrase is nobody's own.
const MIN_TITLES: usize = 6;

/// Pages of a site that are enough to know its phrases.
pub(crate) const MAX_SAMPLED_PAGES: usize = 50_000;

/// If more bins than this would be hidden, all are: the page has next to nothing of its own.
const MAX_HIDDEN_BINS: u32 = 108;

/// The phrases of one site: for each bin the minima that are nobody's own, rising.
pub(crate) struct Boilerplate {
    common: Vec<Vec<u32>>,
}

impl Boilerplate {
    /// From pages of the site, each with a hash of its title.
    pub(crate) fn from_pages(pages: &[(u32, FullMinHashSignature)]) -> Self {
        let Some((_, first)) = pages.first().filter(|_| pages.len() >= MIN_TITLES) else {
            return Self { common: Vec::new() };
        };
        let mut said: Vec<(u32, u32)> = Vec::with_capacity(pages.len());
        let of_bin = |bin: usize| {
            said.clear();
            said.extend(pages.iter().map(|(title, wide)| (wide.minima()[bin], *title)));
            said.sort_unstable();
            said.dedup();
            let phrases = said.chunk_by(|one, other| one.0 == other.0);
            phrases.filter(|phrase| phrase.len() >= MIN_TITLES).map(|phrase| phrase[0].0).collect()
        };
        Self { common: (0..first.minima().len()).map(of_bin).collect() }
    }

    /// The bins of a page that are to be hidden.
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

    fn wide(text: &str) -> FullMinHashSignature {
        let words: Vec<&str> = text.split(' ').collect();
        MinHash::default().full_signature(&PageText { words: &words, ..PageText::default() }).unwrap()
    }

    fn words(about: &str, count: usize) -> String {
        (0..count).map(|number| format!("{about}{number} ")).collect()
    }

    #[test]
    fn a_form_filled_in_differently_is_no_copy_but_a_version_is() {
        let form = words("form", 120);
        let filled = |about: &str| wide(&format!("{form}{}", words(about, 40)));
        let pages: Vec<(u32, FullMinHashSignature)> =
            (0..8).map(|n| (n, filled(&format!("item{n}x")))).collect();
        let site = Boilerplate::from_pages(&pages);
        let narrow = |wide: &FullMinHashSignature| wide.compress(site.hidden_bins(wide));
        let method = MinHash::default();
        let [one, other] = [0, 1].map(|n: usize| &pages[n].1);
        assert!(method.compare(&one.compress(0), &other.compress(0)).is_some(), "by all their words");
        assert!(method.compare(&narrow(one), &narrow(other)).is_none(), "by their own");
        // The next version of a page, with a few words more.
        let version = wide(&format!("{form}{}and more", words("item0x", 40)));
        assert!(method.compare(&narrow(one), &narrow(&version)).is_some());
        // Elsewhere, nothing is hidden.
        assert!(method.compare(&narrow(one), &version.compress(0)).is_some());
        // Eight versions under one title are no form.
        let versions: Vec<(u32, FullMinHashSignature)> =
            pages.into_iter().map(|(_, wide)| (0, wide)).collect();
        assert_eq!(Boilerplate::from_pages(&versions).hidden_bins(&versions[0].1), 0);
    }

    #[test]
    fn pages_with_nothing_of_their_own_are_copies_only_of_their_likes() {
        let page = |number: usize| wide(&format!("{}photo {number}", words("gallery", 80)));
        let pages: Vec<(u32, FullMinHashSignature)> = (0..20).map(|n| (n as u32, page(n))).collect();
        let site = Boilerplate::from_pages(&pages);
        let [one, other] = [3, 4].map(|n: usize| pages[n].1.compress(site.hidden_bins(&pages[n].1)));
        assert!(MinHash::default().compare(&one, &other).is_some());
        // Half of the gallery is not the gallery.
        let half = wide(&words("gallery", 40));
        assert!(MinHash::default().compare(&one, &half.compress(site.hidden_bins(&half))).is_none());
    }
}
