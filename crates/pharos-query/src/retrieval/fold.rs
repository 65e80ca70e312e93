//! Folding of duplicates (网页消重): pages with the same content become one result, the best of them.
//!
//! A history build assigns near-duplicates to groups. A newer page has no group yet and is compared by its signature
//! with the first page of each result. Two kinds of pages stay apart although their texts are alike: a page whose title
//! has words of the query that the title of the shown page lacks, and short pages with different titles, whose texts
//! consist mostly of what they share with others.

use std::collections::{HashMap, HashSet};

use pharos_core::PageId;
use pharos_graph::duplicates::{DuplicateDetector as _, MinHash, MinHashSignature};
use pharos_index::document::DuplicateSignature;
use pharos_index::{Candidate, IndexError, IndexView};
use pharos_text::title::title_parts;
use pharos_text::{is_han, normalise};

use crate::rank::PageTraits;
use crate::retrieval::retriever::ScoredCandidate;

/// Maximum number of candidates whose signatures are compared: n candidates take up to n²/2 comparisons.
const MAX_COMPARED: usize = 300;

/// Length in terms, stems included, below which pages with different titles are not folded.
const SHORT_PAGE: u32 = 300;

/// Share of common words from which two titles are alike (Jaccard coefficient).
const SAME_TITLE: f64 = 0.6;

/// A result with its folded duplicates.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoldedResult {
    /// Page that is shown: the best page that is not a listing, or the best page.
    pub(crate) shown_page: Candidate,
    /// Traits of the shown page.
    pub(crate) traits: PageTraits,
    /// Score of the best page.
    pub(crate) score: f32,
    /// Number of pages, exact copies included.
    pages: u64,
}

impl FoldedResult {
    pub(crate) fn single(scored: &ScoredCandidate) -> Self {
        let ScoredCandidate { candidate, traits, .. } = *scored;
        let pages = 1 + u64::from(candidate.copies);
        Self { shown_page: candidate, traits, score: candidate.score, pages }
    }

    /// Returns the number of pages that are not shown.
    pub(crate) fn duplicates(&self) -> u64 {
        self.pages - 1
    }

    fn join(&mut self, scored: &ScoredCandidate) {
        self.pages += 1 + u64::from(scored.candidate.copies);
        if self.traits.is_listing && !scored.traits.is_listing {
            (self.shown_page, self.traits) = (scored.candidate, scored.traits);
        }
    }
}

/// Folds duplicates among candidates of one view, in rank order. Later candidates do not change the order of
/// results.
pub(crate) struct DuplicateFolder<'v> {
    view: &'v dyn IndexView,
    candidates: usize,
    results: Vec<FoldedResult>,
    /// Results of each group.
    groups: HashMap<PageId, Vec<usize>>,
    leaders: Vec<ResultLeader>,
    titles: HashMap<PageId, String>,
    method: MinHash,
}

/// The first page of a result, which later candidates are compared with.
struct ResultLeader {
    result: usize,
    is_grouped: bool,
    signature: MinHashSignature,
}

impl<'v> DuplicateFolder<'v> {
    pub(crate) fn new(view: &'v dyn IndexView) -> Self {
        // A build recognises boilerplate shared by the pages of a site. Here only close similarity counts.
        let method = MinHash { threshold: 0.8, containment: f64::INFINITY, ..MinHash::default() };
        let (results, groups, leaders, titles) = (Vec::new(), HashMap::new(), Vec::new(), HashMap::new());
        Self { view, candidates: 0, results, groups, leaders, titles, method }
    }

    /// Returns the folded results.
    pub(crate) fn finish(self) -> Vec<FoldedResult> {
        self.results
    }

    /// Adds the next candidates.
    pub(crate) fn add(&mut self, next: &[ScoredCandidate]) -> Result<(), IndexError> {
        let candidates: Vec<Candidate> = next.iter().map(|scored| scored.candidate).collect();
        for (scored, signature_of) in next.iter().zip(self.view.signatures(&candidates)?) {
            self.fold_candidate(scored, &signature_of)?;
        }
        Ok(())
    }

    fn fold_candidate(
        &mut self,
        scored: &ScoredCandidate,
        signature_of: &DuplicateSignature,
    ) -> Result<(), IndexError> {
        let compared = signature_of.signature.as_deref().filter(|_| self.candidates < MAX_COMPARED);
        let signature = compared.and_then(MinHashSignature::from_bytes);
        self.candidates += 1;
        let group = signature_of.group;
        let mut similar: Vec<usize> =
            group.and_then(|group| self.groups.get(&group)).cloned().unwrap_or_default();
        if similar.is_empty()
            && let Some(signature) = &signature
        {
            similar.extend(self.find_similar(signature, group.is_some()));
        }
        let mut known = None;
        for result in similar {
            if !self.is_separate(result, scored)? {
                known = Some(result);
                break;
            }
        }
        let result = match known {
            Some(result) => {
                self.results[result].join(scored);
                result
            }
            None => {
                self.results.push(FoldedResult::single(scored));
                let (result, is_grouped) = (self.results.len() - 1, group.is_some());
                let leader = |signature| ResultLeader { result, is_grouped, signature };
                self.leaders.extend(signature.map(leader));
                result
            }
        };
        if let Some(group) = group {
            let results = self.groups.entry(group).or_default();
            if !results.contains(&result) {
                results.push(result);
            }
        }
        Ok(())
    }

    /// Returns `true` if a page is a result of its own although its text is like that of a result.
    fn is_separate(&mut self, result: usize, scored: &ScoredCandidate) -> Result<bool, IndexError> {
        let (shown, page) = (&self.results[result], &scored.traits);
        if page.is_listing {
            return Ok(false);
        }
        if page.in_title & !shown.traits.in_title != 0 {
            return Ok(true);
        }
        if page.length >= SHORT_PAGE || page.length == 0 {
            return Ok(false);
        }
        let pages = [shown.shown_page, scored.candidate];
        let unknown: Vec<Candidate> =
            pages.into_iter().filter(|page| !self.titles.contains_key(&page.page)).collect();
        for (page, fields) in unknown.iter().zip(self.view.result_fields(&unknown)?) {
            self.titles.insert(page.page, fields.title);
        }
        let [shown, page] = pages.map(|page| self.titles.get(&page.page).map_or("", String::as_str));
        Ok(are_different_titles(shown, page))
    }

    /// Returns the result whose first page has the same content. Two grouped pages are not compared: the build has
    /// already separated them.
    fn find_similar(&self, signature: &MinHashSignature, is_grouped: bool) -> Option<usize> {
        let is_decided = |leader: &&ResultLeader| is_grouped && leader.is_grouped;
        let mut undecided = self.leaders.iter().filter(|leader| !is_decided(leader));
        let similar = undecided.find(|leader| self.method.compare(&leader.signature, signature).is_some());
        similar.map(|leader| leader.result)
    }
}

/// Returns `true` if both titles have parts of their own, with few common words.
fn are_different_titles(a: &str, b: &str) -> bool {
    let (a, b) = (normalise(a), normalise(b));
    let [parts_of_a, parts_of_b] = [&a, &b].map(|title| title_parts(title).collect::<Vec<&str>>());
    let own_words = |parts: &[&str], others: &[&str]| -> HashSet<String> {
        parts.iter().filter(|part| !others.contains(part)).flat_map(|part| title_words(part)).collect()
    };
    let (a, b) = (own_words(&parts_of_a, &parts_of_b), own_words(&parts_of_b, &parts_of_a));
    let common = a.intersection(&b).count() as f64;
    !a.is_empty() && !b.is_empty() && common < SAME_TITLE * a.union(&b).count() as f64
}

/// Splits a part of a title into words and Han characters.
fn title_words(part: &str) -> Vec<String> {
    let runs = part.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
    runs.flat_map(|run| match run.contains(is_han) {
        true => run.chars().map(String::from).collect(),
        false => vec![run.to_string()],
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use pharos_core::config::Config;
    use pharos_core::{LibraryPosition, PageType, PageUrl, Timestamp};
    use pharos_graph::duplicates::PageText;
    use pharos_index::{IndexChange, IndexDocument, PageCopy};

    use super::*;
    use crate::testing::{begin_history, open_index};
    use crate::{QueryProcessor, ResultOptions, SearchRequest, SearchResponse};

    const AT: LibraryPosition = LibraryPosition::new(1, 1);

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://a.example/{path}")).unwrap()
    }

    /// Creates a page that repeats the word: more repetitions score higher.
    fn page(path: &str, times: usize) -> IndexDocument {
        IndexDocument { body: "lighthouse ".repeat(times), ..IndexDocument::new(url(path)) }
    }

    fn in_group(representative: &str, document: IndexDocument) -> IndexDocument {
        IndexDocument { group: Some(url(representative).id()), ..document }
    }

    /// Adds the signature of a distinct text, numbered `text`.
    fn signed(text: usize, document: IndexDocument) -> IndexDocument {
        let words: Vec<String> = (0..100).map(|n| format!("{text}-{n}")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let text = PageText { words: &words, ..PageText::default() };
        let signature = MinHash::default().fingerprint(&text).unwrap();
        IndexDocument { signature: Some(signature.to_bytes().into()), ..document }
    }

    /// Creates a search over a history with these pages.
    fn search(pages: &[IndexDocument]) -> (tempfile::TempDir, QueryProcessor) {
        let dir = tempfile::tempdir().unwrap();
        let index = open_index(dir.path());
        let _builder = index.generations().lock_builder().unwrap();
        let mut history = begin_history(&*index);
        pages.iter().for_each(|page| history.add(page).unwrap());
        index.generations().install(history.finish(AT.into()).unwrap()).unwrap();
        index.commit(&AT.into()).unwrap();
        (dir, QueryProcessor::new(index, &Config::default()))
    }

    fn results(answer: &SearchResponse) -> Vec<(&str, u64)> {
        answer.hits.iter().map(|hit| (&hit.url["http://a.example/".len()..], hit.duplicates)).collect()
    }

    fn found(search: &QueryProcessor) -> Vec<(String, u64)> {
        let answer = search.run(&SearchRequest::new("lighthouse")).unwrap();
        results(&answer).into_iter().map(|(path, duplicates)| (path.to_string(), duplicates)).collect()
    }

    #[test]
    fn the_best_page_of_a_group_is_shown() {
        let copy = PageCopy { url: url("copy"), position: AT, fetched: Timestamp::EPOCH };
        let first = IndexDocument { copies: vec![copy], ..in_group("first", page("first", 1)) };
        let pages = [page("better", 5), in_group("first", page("best", 9)), first];
        let (_dir, search) = search(&pages);
        let answer = search.run(&SearchRequest::new("lighthouse")).unwrap();
        assert_eq!(results(&answer), [("best", 2), ("better", 0)]);
        assert_eq!((answer.total, answer.last_page), (3, Some(1)));
        assert!(answer.hits[0].score > answer.hits[1].score);

        let all = search
            .run(&SearchRequest {
                options: ResultOptions { all: true, ..ResultOptions::default() },
                ..SearchRequest::new("lighthouse")
            })
            .unwrap();
        let mut shown = results(&all);
        shown.sort();
        assert_eq!(shown, [("best", 0), ("better", 0), ("copy", 0), ("first", 0)]);
        assert_eq!(search.matching("lighthouse").unwrap().len(), 4);
    }

    #[test]
    fn a_listing_never_represents_an_article() {
        let listing = IndexDocument { page_type: PageType::Hub, ..in_group("a", page("listing", 30)) };
        let (_dir, search) = search(&[listing, in_group("a", page("article", 2)), page("other", 1)]);
        assert_eq!(found(&search), [("article".into(), 1), ("other".into(), 0)]);
    }

    #[test]
    fn a_title_with_more_words_of_the_query_is_a_result_of_its_own() {
        let titled = |path: &str, title: &str, times| IndexDocument {
            title: title.into(),
            body: "lighthouse keeper ".repeat(times),
            ..in_group("a", page(path, 1))
        };
        let long = [
            titled("a", "Lighthouse", 300),
            titled("b", "The keeper", 290),
            titled("c", "Lighthouse keepers", 300),
        ];
        let (_dir, search) = search(&long);
        assert_eq!(found(&search), [("a".into(), 2)]);
        let answer = search.run(&SearchRequest::new("lighthouse keeper")).unwrap();
        let first = results(&answer)[0];
        assert_eq!((first, answer.hits.len()), (("c", 2), 1), "the best title is shown");
    }

    #[test]
    fn short_pages_with_different_titles_are_not_folded() {
        let titled =
            |path: &str, title: &str| IndexDocument { title: title.into(), ..in_group("a", page(path, 3)) };
        let pages = [
            titled("hue", "Hue – GIMP"),
            titled("blur", "Gaussian blur – GIMP"),
            titled("copy", "Hue – GIMP"),
        ];
        let (_dir, search) = search(&pages);
        let mut shown = found(&search);
        shown.sort();
        assert_eq!(shown.iter().map(|(_, duplicates)| duplicates).sum::<u64>(), 1);
        assert_eq!((shown.len(), shown[0].0.as_str()), (2, "blur"));
        assert!(!are_different_titles("Tag: sea, page 2 | Blog", "Tag: sea, page 3 | Blog"));
        assert!(
            are_different_titles("git-add(1)", "git-rm(1)") && !are_different_titles("灯塔", "灯塔 - 海港网")
        );
    }

    #[test]
    fn ungrouped_pages_are_matched_by_their_signatures() {
        let pages = [
            signed(1, page("new", 9)),
            signed(1, in_group("old", page("old", 5))),
            in_group("old", page("older", 4)),
            // The build has separated these two, whatever their signatures.
            signed(2, in_group("x", page("x", 3))),
            signed(2, in_group("y", page("y", 2))),
            IndexDocument { signature: Some([1; 7].into()), ..page("damaged", 1) },
        ];
        let (_dir, search) = search(&pages);
        let expected = [("new", 2), ("x", 0), ("y", 0), ("damaged", 0)];
        assert_eq!(found(&search), expected.map(|(path, duplicates)| (path.to_string(), duplicates)));
    }

    #[test]
    fn folded_pages_of_results_do_not_overlap_and_end() {
        // The best eighty pages are one group, followed by forty pairs.
        let crowd = (0..80).map(|n| in_group("c0", page(&format!("c{n}"), 50)));
        let pairs = (0..80).map(|n| in_group(&format!("p{}", n / 2 * 2), page(&format!("p{n}"), 1)));
        let (_dir, search) = search(&crowd.chain(pairs).collect::<Vec<_>>());
        let mut seen = Vec::new();
        for number in 1.. {
            let request = SearchRequest { page: number, size: 4, ..SearchRequest::new("lighthouse") };
            let answer = search.run(&request).unwrap();
            assert_eq!(answer.total, 160);
            seen.extend(results(&answer).into_iter().map(|(path, _)| path.to_string()));
            assert_eq!(answer.last_page, Some(11));
            if number == 11 {
                break;
            }
            assert_eq!(answer.hits.len(), 4);
        }
        assert_eq!((seen.len(), seen[0].starts_with('c')), (41, true));
        assert_eq!(seen.iter().collect::<HashSet<_>>().len(), 41);
    }

    #[test]
    fn latest_hides_what_it_replaces_in_a_group() {
        let (dir, search) = search(&[in_group("a", page("a", 1)), in_group("a", page("b", 2))]);
        drop(search);
        let index = open_index(dir.path());
        index.apply(vec![IndexChange::Gone(url("a").id())]).unwrap();
        index.commit(&AT.into()).unwrap();
        assert_eq!(found(&QueryProcessor::new(index, &Config::default())), [("b".into(), 0)]);
    }
}
