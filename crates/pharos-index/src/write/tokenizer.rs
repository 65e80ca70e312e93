//! The analyser of `pharos-text` as a tantivy tokenizer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use pharos_text::Analyser;
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};

use crate::document::zones;

/// Names of the tokenizers: for encoded zones, and for plain text.
pub(crate) const ZONES: &str = "pharos-zones";
pub(crate) const PLAIN: &str = "pharos";

pub(crate) fn tokenizers(analyser: Arc<Analyser>) -> TokenizerManager {
    let manager = TokenizerManager::default();
    for (name, in_zones) in [(PLAIN, false), (ZONES, true)] {
        let analyser = Arc::clone(&analyser);
        let tokenizer = PharosTokenizer { analyser, in_zones, terms: TokenBuffer::default() };
        manager.register(name, TextAnalyzer::from(tokenizer));
    }
    manager
}

/// The analyser as a tantivy tokenizer, with the buffered tokens of the current text.
#[derive(Clone)]
struct PharosTokenizer {
    analyser: Arc<Analyser>,
    in_zones: bool,
    terms: TokenBuffer,
}

/// The tokens of a text in one string, so that no token is allocated separately.
#[derive(Clone, Default)]
struct TokenBuffer {
    text: String,
    tokens: Vec<BufferedToken>,
}

#[derive(Clone, Copy)]
struct BufferedToken {
    /// End of the token in the string.
    end: usize,
    position: usize,
    /// Number of times the token is emitted.
    repeat: u8,
}

struct PharosTokenStream<'a> {
    terms: &'a TokenBuffer,
    next: usize,
    /// Number of times the current token is still to be emitted.
    repeats_left: u8,
    token: Token,
}

impl TokenBuffer {
    fn fill(&mut self, text: &str, in_zones: bool, analyser: &Analyser) {
        self.text.clear();
        self.tokens.clear();
        let mut push = |term: &str, position: usize, repeat: u8| {
            self.text.push_str(term);
            self.tokens.push(BufferedToken { end: self.text.len(), position, repeat });
        };
        if in_zones {
            zones::for_each_term(text, analyser, |term, position, repeat| {
                push(term, position as usize, repeat)
            });
        } else {
            analyser.for_each_index_token(text, |term, _, _, position| push(term, position, 1));
        }
    }
}

impl Tokenizer for PharosTokenizer {
    type TokenStream<'a> = PharosTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> PharosTokenStream<'a> {
        let Self { analyser, in_zones, terms } = self;
        // This runs on the thread of the index writer, which must survive any text.
        if catch_unwind(AssertUnwindSafe(|| terms.fill(text, *in_zones, analyser))).is_err() {
            tracing::warn!(bytes = text.len(), "a text could not be segmented and is not indexed");
            *terms = TokenBuffer::default();
        }
        PharosTokenStream { terms, next: 0, repeats_left: 0, token: Token::default() }
    }
}

impl TokenStream for PharosTokenStream<'_> {
    fn advance(&mut self) -> bool {
        if self.repeats_left > 0 {
            self.repeats_left -= 1;
            return true;
        }
        let Some(token_entry) = self.terms.tokens.get(self.next) else { return false };
        let start = self.next.checked_sub(1).map_or(0, |before| self.terms.tokens[before].end);
        self.next += 1;
        self.repeats_left = token_entry.repeat.saturating_sub(1);
        self.token.text.clear();
        self.token.text.push_str(&self.terms.text[start..token_entry.end]);
        self.token.position = token_entry.position;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
