//! Pages of results as they are shown.

use std::sync::Arc;

use moka::sync::Cache;

use super::{State, note_size};
use crate::answer::{Answer, FacetValue, Hit};
use crate::filters::Filters;
use crate::search::Request;

/// What is asked, as far as it decides what is shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AnswerKey {
    /// Without spaces that mean nothing; nothing else may be made alike before a query is understood.
    text: String,
    page: usize,
    size: usize,
    all: bool,
    newest_first: bool,
    any_word: bool,
    facets: bool,
}

impl AnswerKey {
    /// `None` for requests that are not answered from memory: who wants an explanation wants to see how it is done.
    pub(crate) fn of(request: &Request, text: &str, page: usize, size: usize) -> Option<Self> {
        let &Request { all, newest_first, any_word, explain, facets, .. } = request;
        let text = || keyed(text, &request.filters);
        (!explain).then(|| Self { text: text(), page, size, all, newest_first, any_word, facets })
    }
}

/// What is asked, with what was chosen beside it.
pub(crate) fn keyed(text: &str, filters: &Filters) -> String {
    let mut keyed = tidy(text);
    if !filters.is_empty() {
        keyed.push_str(&filters.to_string());
    }
    keyed
}

/// One space between words, none around them.
pub(crate) fn tidy(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !tidy.is_empty() {
            tidy.push(' ');
        }
        tidy.push_str(word);
    }
    tidy
}

struct Kept {
    state: State,
    answer: Answer,
}

/// Answers by what was asked.
pub(crate) struct Answers(Option<Cache<AnswerKey, Arc<Kept>>>);

impl Answers {
    pub(crate) fn new(bytes: usize) -> Self {
        let weigh = |key: &AnswerKey, kept: &Arc<Kept>| {
            let bytes = size_of::<AnswerKey>() + key.text.len() + bytes_of(&kept.answer) + 200;
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let cache = || Cache::builder().max_capacity(bytes as u64).weigher(weigh).build();
        Self((bytes > 0).then(cache))
    }

    /// The answer that was given to this in this state.
    pub(crate) fn get(&self, key: &AnswerKey, state: &State) -> Option<Answer> {
        let known = self.0.as_ref()?.get(key).filter(|kept| kept.state == *state);
        known.map(|kept| kept.answer.clone())
    }

    /// The same for who asks by [`Self::get`] if there is none: what is asked for once is not to look asked for twice.
    pub(crate) fn get_if_kept(&self, key: &AnswerKey, state: &State) -> Option<Answer> {
        let is_kept = self.0.as_ref().is_some_and(|cache| cache.contains_key(key));
        is_kept.then(|| self.get(key, state))?
    }

    pub(crate) fn keep(&self, key: AnswerKey, state: State, answer: &Answer) {
        let Some(cache) = &self.0 else { return };
        cache.insert(key, Arc::new(Kept { state, answer: answer.clone() }));
        note_size("answers", cache.weighted_size(), cache.entry_count());
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, |cache| {
            cache.run_pending_tasks();
            cache.weighted_size()
        })
    }

    pub(crate) fn clear(&self) {
        if let Some(cache) = &self.0 {
            cache.invalidate_all();
        }
    }
}

/// About as many as it takes.
fn bytes_of(answer: &Answer) -> usize {
    let of_hit = |hit: &Hit| {
        let texts = [&hit.url, &hit.title, &hit.title_html, &hit.snippet, &hit.snippet_html];
        let labels = [&hit.site, &hit.lang, &hit.category, &hit.format];
        let options = [&hit.date, &hit.cached_url];
        size_of::<Hit>()
            + texts.into_iter().chain(labels).map(String::len).sum::<usize>()
            + options.into_iter().flatten().map(String::len).sum::<usize>()
    };
    let of_value = |value: &FacetValue| size_of::<FacetValue>() + value.value.len();
    let texts = [&answer.query, &answer.understood, &answer.generation];
    size_of::<Answer>()
        + texts.into_iter().chain(&answer.suggestions).map(String::len).sum::<usize>()
        + answer.hits.iter().map(of_hit).sum::<usize>()
        + answer.facets.values().flatten().map(of_value).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_mean_nothing_and_all_else_does() {
        let key = |text: &str, page| AnswerKey::of(&Request::new(text), text, page, 10);
        assert_eq!(key(" a\u{3000} b\t", 1), key("a b", 1));
        assert_ne!(key("a b", 1), key("A b", 1));
        assert_ne!(key("a b", 1), key("a b", 2));
        let explained = Request { explain: true, ..Request::new("a") };
        assert_eq!(AnswerKey::of(&explained, "a", 1, 10), None);
    }
}
