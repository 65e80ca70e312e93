//! Segments a sentence into words and converts it to the terms that queries and the index use.
//!
//! Run it with the built-in Chinese and English sentences, or with your own text:
//!
//! ```text
//! cargo run -p pharos-text --example analyse_text
//! cargo run -p pharos-text --example analyse_text -- '研究生命的起源'
//! ```
//!
//! A query uses one segmentation. The index stores every term that a query for a part of the sentence could contain;
//! its terms with `~` are the stems of English words. Forward and reverse maximum matching are shown for comparison.

use std::env;

use pharos_text::segment::{SegmentationMethod, SegmenterResources, segmenter};
use pharos_text::{Analyser, Token, language, segment_with};

const SAMPLE: [&str; 2] = ["北京大學的學生在学历史知识。", "Two lighthouses guide ships into the harbour."];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let sentences = if arguments.is_empty() { SAMPLE.map(String::from).to_vec() } else { arguments };
    for sentence in &sentences {
        println!("{sentence}");
        println!("  language     {}", language::detect(sentence));
        println!("  words        {}", Analyser::shared().segment(sentence).join(" / "));
        for method in [SegmentationMethod::Forward, SegmentationMethod::Reverse] {
            let segmenter = segmenter(method, &SegmenterResources::default())?;
            println!("  {:<12} {}", method.name(), segment_with(&*segmenter, sentence).join(" / "));
        }
        println!("  query terms  {}", list_terms(&Analyser::shared().tokens(sentence)));
        println!("  index terms  {}", list_terms(&Analyser::shared().index_tokens(sentence)));
    }
    Ok(())
}

/// Formats terms with their positions. Positions count every Han character.
fn list_terms(tokens: &[Token]) -> String {
    let terms: Vec<String> =
        tokens.iter().map(|token| format!("{}@{}", token.text, token.position)).collect();
    terms.join(" ")
}
