//! Segmentation: for any text and method, tokens are in order, on character boundaries and lossless. Any bytes are
//! rejected as a model or can be used without panics.

use pharos_text::dictionary::Dictionary;
use pharos_text::segment::tagger::Tagger;
use pharos_text::segment::{BigramModel, SegmentationMethod, Segmenter, SegmenterResources, segmenter};
use pharos_text::vocabulary::Vocabulary;
use pharos_text::{Analyser, normalise, segment_with};

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let analyser = Analyser::with_words(["灯塔图书馆", "a灯", "爱心社"]);
    for tokens in [analyser.tokens(&text), analyser.index_tokens(&text), analyser.smallest_tokens(&text)] {
        let mut last = 0;
        for token in tokens {
            assert!(!token.text.is_empty() && token.start >= last);
            assert!(text.get(token.start..token.end).is_some_and(|part| !part.is_empty()));
            last = token.start;
        }
    }
    let without_space = |text: &str| text.replace(char::is_whitespace, "");
    assert_eq!(without_space(&analyser.segment(&text).concat()), without_space(&text));
    for method in SegmentationMethod::ALL {
        let Ok(segmenter) = segmenter(method, &SegmenterResources::default()) else { continue };
        assert_eq!(without_space(&segment_with(segmenter.as_ref(), &text).concat()), without_space(&text));
    }

    let (words, _) = Vocabulary::parse(&text, Dictionary::base(), &normalise);
    let (again, problems) = Vocabulary::parse(&words.to_text(), Dictionary::base(), &normalise);
    assert!(problems.is_empty() && again.version() == words.version());

    if let Ok(tagger) = Tagger::load(bytes) {
        assert_eq!(tagger.words("灯塔在海边").concat(), "灯塔在海边");
    }
    let _ = BigramModel::from_bytes(bytes);
}
