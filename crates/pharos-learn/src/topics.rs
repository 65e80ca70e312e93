//! Topic models: latent Dirichlet allocation (LDA; Blei, Ng & Jordan 2003; 《走进搜索引擎》§6.3.4).
//!
//! **Input:** texts. **Output:** a [`TopicModel`]: topics as distributions of words, and the topics of further texts.
//! [`gibbs`] learns by collapsed Gibbs sampling, which is fast; [`variational`] by variational EM, as in the paper.
//! [`weakly_supervised`] learns classes of entities from the contexts of queries and some examples.
//!
//! ```
//! use pharos_learn::topics::corpus::{Corpus, CorpusLimits};
//! use pharos_learn::topics::gibbs::{GibbsParameters, sample};
//!
//! let texts = ["rain and wind", "wind and snow", "goal and match", "match and player"];
//! let corpus = Corpus::new(texts, CorpusLimits { min_texts: 1, ..CorpusLimits::default() });
//! let model = sample(&corpus, GibbsParameters { topics: 2, ..GibbsParameters::default() });
//! assert_eq!(model.topic_count(), 2);
//! ```

pub mod corpus;
pub mod gibbs;
mod model;
pub mod variational;
pub mod weakly_supervised;

pub use model::{TopicModel, TopicModelError, TopicShare};

/// Maximum number of topics.
pub const MAX_TOPICS: usize = 5000;
