//! The fingerprint stored for each page to detect its copies.

use pharos_text::Analyser;
use xxhash_rust::xxh3::xxh3_64;

use super::hash::md5_of_parts;
use super::{Digest, FullMinHashSignature, MinHash, MinHashSignature, PageText};

/// Minimum number of words for recognition on other sites: "page not found" occurs on many sites.
const MIN_DISTINCTIVE_WORDS: usize = 8;

/// A digest for exact copies and a signature for near-duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Digest of title and text without whitespace.
    pub digest: Digest,
    /// Hash of the title.
    pub title: u32,
    /// Signature of the words; `None` if there are too few.
    pub full: Option<Box<FullMinHashSignature>>,
    /// `true` if the text is long enough to be recognised on other sites.
    pub is_distinctive: bool,
}

impl Fingerprint {
    /// Computes the fingerprint of a page from its title and main content.
    pub fn compute(title: &str, body: &str) -> Self {
        let [plain_title, plain_body] = [title, body].map(|text| text.split_whitespace().collect::<String>());
        let digest = md5_of_parts([plain_title.as_str(), &plain_body]);
        let (full, words) = full_signature(body);
        let title = xxh3_64(plain_title.as_bytes()) as u32;
        Self { digest, title, full: full.map(Box::new), is_distinctive: words >= MIN_DISTINCTIVE_WORDS }
    }
}

/// Computes the MinHash signature of a text. Returns `None` if it has too few words.
pub fn min_hash_signature(body: &str) -> Option<MinHashSignature> {
    full_signature(body).0.map(|full| full.compress(0))
}

/// Returns the full signature of a text and its number of words.
fn full_signature(body: &str) -> (Option<FullMinHashSignature>, usize) {
    // One string for all words avoids an allocation per word.
    let (mut text, mut ends) = (String::with_capacity(body.len()), Vec::new());
    Analyser::shared().for_each_token(body, |word, _, _, _| {
        text.push_str(word);
        ends.push(text.len());
    });
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let words: Vec<&str> = starts.zip(&ends).map(|(start, end)| &text[start..*end]).collect();
    (MinHash::default().full_signature(&PageText { words: &words, ..PageText::default() }), words.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_does_not_count_and_titles_do() {
        let text = "灯塔在夜里为船只指路，海上的人靠它辨认方向。".repeat(4);
        let page = Fingerprint::compute("灯塔", &text);
        assert!(page.is_distinctive && page.full.is_some());
        assert_eq!(page, Fingerprint::compute(" 灯塔 ", &text.replace('，', "， \n")));
        assert_ne!(page.digest, Fingerprint::compute("灯火", &text).digest);
        assert_eq!(page.full, Fingerprint::compute("灯火", &text).full);
        assert!(!Fingerprint::compute("Not found", "There is no such page.").is_distinctive);
    }
}
