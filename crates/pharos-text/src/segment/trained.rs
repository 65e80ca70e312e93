//! Models that were trained, whatever they are.

use thiserror::Error;

use super::tagger::{self, Tagger};
use super::{BigramModel, Hmm};

/// What a file of a model holds.
pub enum Trained {
    /// For the character tagger.
    Tagger(Tagger),
    /// For bigrams.
    Bigrams(BigramModel),
    /// For the hidden Markov model.
    Hmm(Hmm),
}

/// The bytes are no model of ours; the reason is that of the tagger, the usual one.
#[derive(Debug, Error)]
#[error("no model: {0}")]
pub struct NoModel(#[from] tagger::ModelError);

impl Trained {
    /// Reads a model; each form says itself what it is.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NoModel> {
        if let Ok(text) = std::str::from_utf8(bytes)
            && let Ok(hmm) = Hmm::parse(text)
        {
            return Ok(Self::Hmm(hmm));
        }
        if let Ok(bigrams) = BigramModel::from_bytes(bytes) {
            return Ok(Self::Bigrams(bigrams));
        }
        Ok(Self::Tagger(Tagger::load(bytes)?))
    }
}
