//! Scores of the cosine models, computed from the stored texts of the candidates.

use std::collections::{HashMap, HashSet};

use pharos_core::config::RankModel;
use pharos_index::document::StoredText;
use pharos_index::{Candidate, IndexError, ResultFields};

use crate::rank::query_words::QueryWords;
use crate::rank::vector_space::{TermVector, TermWeighting, cosine, term_vector};
use crate::retrieval::retriever::Retriever;

/// A scorer for the cosine models.
pub(super) struct CosineScorer<'a> {
    retriever: &'a Retriever<'a>,
    weighting: TermWeighting,
    pages: f64,
    query: TermVector,
    /// log2(1/D) of the words seen so far.
    rarity: HashMap<String, f64>,
}

impl<'a> CosineScorer<'a> {
    /// Returns `None` if the model uses no cosine.
    pub(super) fn new(retriever: &'a Retriever<'a>, query_words: &QueryWords) -> Option<Self> {
        let weighting = match retriever.rank.model {
            RankModel::Binary => TermWeighting::Binary,
            RankModel::Tf => TermWeighting::Frequency,
            RankModel::TfIdf => TermWeighting::FrequencyAndRarity,
            RankModel::Bm25 | RankModel::BasicWeight => return None,
        };
        let words: Vec<String> = query_words.words.iter().map(|word| word.word.clone()).collect();
        let mut cosines = Self {
            retriever,
            weighting,
            pages: query_words.pages.max(1.0),
            query: TermVector::new(),
            rarity: HashMap::new(),
        };
        cosines.query = cosines.vector(&words).unwrap_or_default();
        Some(cosines)
    }

    pub(super) fn score_pages(&mut self, pages: &[Candidate]) -> Result<Vec<f64>, IndexError> {
        let view = self.retriever.view;
        let (fields, texts) = (view.result_fields(pages)?, view.texts(pages)?);
        let cosine_of = |(fields, text): (ResultFields, StoredText)| {
            let tokens = self.retriever.analyser.tokens(&format!("{}\n{}", fields.title, text.body));
            let words: Vec<String> = tokens.into_iter().map(|token| token.text).collect();
            let page = self.vector(&words)?;
            Ok(cosine(&self.query, &page))
        };
        fields.into_iter().zip(texts).map(cosine_of).collect()
    }

    fn vector(&mut self, words: &[String]) -> Result<TermVector, IndexError> {
        if self.weighting == TermWeighting::FrequencyAndRarity {
            let new: HashSet<&String> =
                words.iter().filter(|word| !self.rarity.contains_key(*word)).collect();
            let new: Vec<String> = new.into_iter().cloned().collect();
            let with_term = self.retriever.view.frequencies(&new)?.with_term;
            let rarity = |with: u64| (self.pages / (with as f64).clamp(1.0, self.pages)).log2();
            self.rarity.extend(new.into_iter().zip(with_term.into_iter().map(rarity)));
        }
        Ok(term_vector(words, self.weighting, |word| self.rarity.get(word).copied().unwrap_or_default()))
    }
}
