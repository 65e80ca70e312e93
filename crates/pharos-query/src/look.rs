//! One answer: retrieve, fold, arrange on pages, and show one of them.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use pharos_core::config::PartWeights;
use pharos_core::{PageId, PageUrl, SiteId};
use pharos_index::{Candidate, Facet, FacetCount, IndexError, Label, Query, StoredPage};

use crate::answer::{Answer, Explanation, FacetValue, Hit, QueryExplanation};
use crate::arrange::arrange;
use crate::cache::answers::keyed;
use crate::cache::lists::{Facets, KeptList, ListKey, Listed};
use crate::cache::{CacheUse, Caches, State, note};
use crate::expression::Expression;
use crate::filters::Age;
use crate::fold::{Fold, Folded};
use crate::highlight::{Marker, mark};
use crate::rank::Ranker;
use crate::rank::combine::Parts;
use crate::retrieve::{COUNTED, Question, Retrieved, Retriever, Wanted};
use crate::search::Request;
use crate::snippet::snippet;
use crate::stage::Stage;

/// Values of a facet that are told.
const FACET_VALUES: usize = 10;

/// One look at a snapshot.
pub(crate) struct Look<'a> {
    pub(crate) request: &'a Request,
    pub(crate) asked: &'a Expression,
    pub(crate) retriever: Retriever<'a>,
    pub(crate) caches: &'a Caches,
    pub(crate) state: &'a State,
    /// Results a page.
    pub(crate) size: usize,
}

impl Look<'_> {
    pub(crate) fn answer(&self, answer: &mut Answer) -> Result<(), IndexError> {
        let (list, found) = match self.known_list(&answer.query, answer.page) {
            Some(list) => {
                answer.cache = CacheUse::Partly;
                (list, None)
            }
            None => {
                let (found, of_cache) = self.retrieve(&answer.query)?;
                answer.cache = of_cache;
                let stage = Stage::begin();
                let list = Arc::new(self.list(&found)?);
                stage.end("arrange");
                self.caches.lists.keep(self.key(&answer.generation, &answer.query), Arc::clone(&list));
                (list, Some(found))
            }
        };
        answer.generation.clone_from(&list.state.generation);
        (answer.total, answer.total_is_exact) = (list.total, list.total_is_exact);
        (answer.partial, answer.relaxed, answer.kind) = (list.is_partial, list.is_relaxed, list.kind);
        answer.last_page = Some(list.results.len().div_ceil(self.size));
        let first = (answer.page - 1).saturating_mul(self.size);
        let shown = list.results.get(first..).unwrap_or_default();
        let stage = Stage::begin();
        self.show(&shown[..shown.len().min(self.size)], answer)?;
        stage.end("show");
        if let Some(found) = found.as_ref().filter(|_| self.request.explain) {
            self.explain(found, answer)?;
        }
        if let Some(query) = list.asked.as_ref().filter(|_| self.request.facets) {
            if list.facets.get().is_none() {
                let stage = Stage::begin();
                // Whoever else has counted meanwhile has counted the same.
                let all = found.as_ref().and_then(|found| found.all.as_deref());
                let _ = list.facets.set(self.count(query, all)?);
                stage.end("count");
            }
            answer.facets = list.facets.get().cloned().unwrap_or_default();
        }
        Ok(())
    }

    fn key(&self, generation: &str, text: &str) -> ListKey {
        let &Request { all, newest_first, any_word, .. } = self.request;
        let (generation, text) = (generation.to_string(), keyed(text, &self.request.filters));
        ListKey { generation, text, size: self.size, all, newest_first, any_word }
    }

    /// The list that a further page follows on, whatever has changed since; or the one of this very state.
    fn known_list(&self, text: &str, page: usize) -> Option<Arc<KeptList>> {
        let lists = &self.caches.lists;
        if self.request.explain {
            return None;
        }
        let followed = self.request.generation.as_ref().filter(|_| page > 1);
        if let Some(list) = followed.and_then(|generation| lists.get(&self.key(generation, text))) {
            note("lists", true);
            return Some(list);
        }
        let now = lists.get(&self.key(&self.state.generation, text)).filter(|_| self.caches.is_on())?;
        let is_right = now.state == *self.state && !now.is_partial;
        is_right.then(|| {
            note("lists", true);
            now
        })
    }

    /// What is found: by asking latest alone, where it is known what history has.
    fn retrieve(&self, text: &str) -> Result<(Retrieved, CacheUse), IndexError> {
        let &Request { all, newest_first, any_word, explain, .. } = self.request;
        let wanted = Wanted { all, newest_first, any_word };
        let question = Question { asked: self.asked, text, wanted };
        if explain || !self.caches.is_on() {
            let retriever = Retriever { state: None, ..self.retriever };
            return Ok((retriever.retrieve(question)?, CacheUse::Miss));
        }
        let key = (keyed(text, &self.request.filters), wanted);
        let history = self.retriever.snapshot.history();
        let known = history.and_then(|history| self.caches.histories.get(&key, history));
        if let Some(known) = known
            && let Some(found) = self.retriever.complete(question, &known)?
        {
            note("lists", true);
            return Ok((found, CacheUse::Partly));
        }
        note("lists", false);
        let mut found = self.retriever.retrieve(question)?;
        if let Some(list) = found.history.take() {
            self.caches.histories.keep(key, list);
        }
        Ok((found, CacheUse::Miss))
    }

    /// Folds what says the same and puts the results on pages.
    fn list(&self, found: &Retrieved) -> Result<KeptList, IndexError> {
        let candidates: Vec<Candidate> = found.kept.iter().map(|kept| kept.candidate).collect();
        let results = if self.request.all {
            candidates.into_iter().map(Folded::alone).collect()
        } else {
            let mut fold = Fold::default();
            fold.add(&candidates, self.retriever.snapshot)?;
            fold.finish()
        };
        let sites: Vec<SiteId> = results.iter().map(|folded| folded.speaker.page.site()).collect();
        let in_order = self.request.all || self.request.newest_first || self.asked.names_sites();
        let per_site = if in_order { 0 } else { self.retriever.query.per_site };
        let placed = arrange(&sites, self.size, per_site).into_iter().map(|place| {
            let folded = &results[place.rank];
            Listed {
                page: folded.speaker.page,
                score: folded.score,
                duplicates: folded.duplicates(),
                indented: place.indented,
                more_from_site: place.more,
            }
        });
        Ok(KeptList {
            results: placed.collect(),
            total: found.total,
            total_is_exact: found.total_is_exact,
            is_partial: found.is_partial,
            is_relaxed: found.is_relaxed,
            kind: found.kind,
            asked: found.asked.clone(),
            state: self.state.clone(),
            facets: OnceLock::new(),
        })
    }

    /// The results of one page, without those that are gone meanwhile.
    fn show(&self, shown: &[Listed], answer: &mut Answer) -> Result<(), IndexError> {
        let snapshot = self.retriever.snapshot;
        let pages: Vec<PageId> = shown.iter().map(|listed| listed.page).collect();
        let there = snapshot.candidates(&pages)?.into_iter().zip(shown);
        let there: Vec<(Candidate, &Listed)> =
            there.filter_map(|(page, listed)| Some((page?, listed))).collect();
        let candidates: Vec<Candidate> = there.iter().map(|(candidate, _)| *candidate).collect();
        let words = Marker::of(self.asked.words().iter().map(String::as_str));
        let stored = snapshot.stored(&candidates)?;
        answer.hits = there.iter().zip(stored).map(|((_, listed), page)| hit(page, listed, &words)).collect();
        Ok(())
    }

    fn explain(&self, found: &Retrieved, answer: &mut Answer) -> Result<(), IndexError> {
        let ranker = Ranker {
            config: self.retriever.rank,
            sought: &found.sought,
            maxima: self.retriever.snapshot.maxima(),
            shape: &found.shape,
            today: self.retriever.today,
        };
        let weights = ranker.weights(found.kind);
        answer.explanation = Some(QueryExplanation {
            kind: found.kind,
            asked: found.asked.as_ref().map(|query| format!("{query:?}")).unwrap_or_default(),
            model: self.retriever.rank.model,
            combine: self.retriever.rank.combine,
            weights: PartWeights::NAMES.into_iter().zip(weights.values()).collect(),
            candidates: found.looked_at,
        });
        let parts: HashMap<PageId, Parts> = found.kept.iter().map(|k| (k.candidate.page, k.parts)).collect();
        let pages: Vec<PageId> =
            answer.hits.iter().filter_map(|hit| PageUrl::parse(&hit.url).ok()).map(|url| url.id()).collect();
        for (hit, page) in answer.hits.iter_mut().zip(self.retriever.snapshot.candidates(&pages)?) {
            let Some((candidate, parts)) = page.and_then(|page| Some((page, parts.get(&page.page)?))) else {
                continue;
            };
            let evidence = self.retriever.snapshot.evidence(&[candidate], &found.sought.terms)?;
            let words = evidence.first().map(|evidence| ranker.explain_words(evidence)).unwrap_or_default();
            hit.explanation = Some(Explanation { parts: parts.contributions(weights), words });
        }
        Ok(())
    }

    /// Results by site, language, kind of file, subject and time; those that match need not be found again where they are known.
    fn count(&self, query: &Query, known: Option<&[Candidate]>) -> Result<Facets, IndexError> {
        let labels = [("lang", Label::Lang), ("type", Label::Format), ("category", Label::Category)];
        let mut facets = vec![Facet::Host];
        facets.extend(labels.iter().map(|(_, label)| Facet::Label(*label)));
        facets.extend(Age::ALL.map(|age| Facet::Since(self.retriever.today - age.days())));
        let Retriever { snapshot, until, .. } = self.retriever;
        let counted = match known {
            Some(all) => snapshot.facets_of(all, &facets, FACET_VALUES)?,
            None => snapshot.facets(query, &facets, FACET_VALUES, COUNTED, until)?,
        };
        let value = |FacetCount { value, pages }: FacetCount| FacetValue { value, pages };
        let mut counted = counted.into_iter();
        let names = ["site"].into_iter().chain(labels.iter().map(|(name, _)| *name));
        let named = names.zip(counted.by_ref());
        let mut facets: Facets =
            named.map(|(name, values)| (name.into(), values.into_iter().map(value).collect())).collect();
        let times = Age::ALL.into_iter().zip(counted).filter_map(|(age, values)| {
            Some(FacetValue { value: age.name().to_string(), pages: values.first()?.pages })
        });
        facets.insert("time".into(), times.collect());
        Ok(facets)
    }
}

fn hit(stored: StoredPage, listed: &Listed, words: &Marker) -> Hit {
    let StoredPage { page, card, text } = stored;
    let title = if card.title.trim().is_empty() { card.url.clone() } else { card.title };
    let snippet = snippet(&text, card.max_snippet, words);
    Hit {
        title_html: mark(&title, &words.occurrences(&title)),
        title,
        snippet: snippet.text,
        snippet_html: snippet.html,
        site: PageUrl::parse(&card.url).map(|u| u.site().to_string()).unwrap_or_default(),
        date: card.date,
        lang: card.lang,
        category: card.category,
        format: card.format,
        score: listed.score,
        duplicates: listed.duplicates,
        more_from_site: listed.more_from_site,
        indented: listed.indented,
        cached_url: card.archive.then(|| format!("/snapshot/{page}")),
        url: card.url,
        explanation: None,
    }
}
