//! Segmentation (分词): where the words of a text begin and end.
//!
//! One trait, many methods; every method answers any text, and the pieces it gives, joined, are the text.

pub mod hybrid;

/// A way of cutting texts into words.
///
/// # Contract
/// * `ends` receives the end of every word in bytes, rising strictly, on character boundaries, the last one
///   `text.len()`; nothing for an empty text. What `ends` held before stays.
/// * White space and punctuation are pieces too: nothing is dropped.
/// * Time is linear in the length of the text, whatever it is, and nothing is allocated per word: what a method
///   needs while it works, it keeps in `work`.
pub trait Segmenter: Send + Sync {
    /// Cuts `text`, which is normalised and has no line feed.
    fn cut(&self, text: &str, work: &mut Work, ends: &mut Vec<usize>);

    /// The words of `text`.
    fn words<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut ends = Vec::new();
        self.cut(text, &mut Work::default(), &mut ends);
        let mut start = 0;
        ends.into_iter()
            .map(|end| {
                let word = &text[start..end];
                start = end;
                word
            })
            .collect()
    }
}

/// The memory of segmenters, kept from one text to the next.
#[derive(Default)]
pub struct Work {}
