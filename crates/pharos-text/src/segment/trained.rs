//! Loads a trained segmentation model of any type.

use thiserror::Error;

use super::tagger::{self, Tagger};
use super::{BigramModel, Hmm};

/// The content of a model file.
pub enum TrainedModel {
    /// Character tagger.
    Tagger(Tagger),
    /// Bigram model.
    Bigrams(BigramModel),
    /// Hidden Markov model.
    Hmm(Hmm),
}

/// Error: the bytes are not a known model. The reason is that of the tagger, the most common type.
#[derive(Debug, Error)]
#[error("invalid model: {0}")]
pub struct InvalidModel(#[from] tagger::TaggerModelError);

impl TrainedModel {
    /// Parses a model. The type is detected from the content.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidModel> {
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
