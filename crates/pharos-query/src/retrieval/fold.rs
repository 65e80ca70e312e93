//! Folding of duplicates (网页消重): pages with the same content become one result, at the rank of the best of them.
//!
//! A history build assigns near-duplicates to groups. A newer page has no group yet and is compared by its signature
//! with the first page of each result.

use std::collections::HashMap;

use pharos_core::PageId;
use pharos_graph::duplicates::{DuplicateDetector as _, MinHash, MinHashSignature};
use pharos_index::document::DuplicateSignature;
use pharos_index::{Candidate, IndexError, IndexView};

/// Maximum number of candidates whose signatures are compared: n candidates take up to n²/2 comparisons.
const MAX_COMPARED: usize = 300;

/// A result with its folded duplicates.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoldedResult {
    /// Page that is shown: the representative of the group if it is a candidate, otherwise the best page.
    pub(crate) shown_page: Candidate,
    /// Score of the best page.
    pub(crate) score: f32,
    has_representative: bool,
    /// Number of pages, exact copies included.
    pages: u64,
}

impl FoldedResult {
    pub(crate) fn single(candidate: Candidate) -> Self {
        let pages = 1 + u64::from(candidate.copies);
        Self { shown_page: candidate, score: candidate.score, has_representative: false, pages }
    }

    /// Returns the number of pages that are not shown.
    pub(crate) fn duplicates(&self) -> u64 {
        self.pages - 1
    }

    fn join(&mut self, candidate: Candidate) {
        self.pages += 1 + u64::from(candidate.copies);
    }
}

/// Folds duplicates among candidates of one view, in rank order. Later candidates do not change the order of
/// results.
pub(crate) struct DuplicateFolder {
    candidates: usize,
    results: Vec<FoldedResult>,
    /// Result of each group.
    groups: HashMap<PageId, usize>,
    leaders: Vec<ResultLeader>,
    method: MinHash,
}

/// The first page of a result, which later candidates are compared with.
struct ResultLeader {
    result: usize,
    is_grouped: bool,
    signature: MinHashSignature,
}

impl Default for DuplicateFolder {
    fn default() -> Self {
        // A build recognises boilerplate shared by the pages of a site. Here only close similarity counts.
        let method = MinHash { threshold: 0.8, containment: f64::INFINITY, ..MinHash::default() };
        let (results, groups, leaders) = (Vec::new(), HashMap::new(), Vec::new());
        Self { candidates: 0, results, groups, leaders, method }
    }
}

impl DuplicateFolder {
    /// Returns the folded results.
    pub(crate) fn finish(self) -> Vec<FoldedResult> {
        self.results
    }

    /// Adds the next candidates.
    pub(crate) fn add(&mut self, next: &[Candidate], view: &dyn IndexView) -> Result<(), IndexError> {
        for (candidate, signature_of) in next.iter().zip(view.signatures(next)?) {
            self.fold_candidate(*candidate, &signature_of);
        }
        Ok(())
    }

    fn fold_candidate(&mut self, candidate: Candidate, signature_of: &DuplicateSignature) {
        let compared = signature_of.signature.as_deref().filter(|_| self.candidates < MAX_COMPARED);
        let signature = compared.and_then(MinHashSignature::from_bytes);
        self.candidates += 1;
        let is_grouped = signature_of.group.is_some();
        let of_its_group = signature_of.group.and_then(|group| self.groups.get(&group).copied());
        let known = of_its_group.or_else(|| self.find_similar(signature.as_ref()?, is_grouped));
        let result = match known {
            Some(result) => {
                self.results[result].join(candidate);
                result
            }
            None => {
                self.results.push(FoldedResult::single(candidate));
                let result = self.results.len() - 1;
                self.leaders.extend(signature.map(|signature| ResultLeader {
                    result,
                    is_grouped,
                    signature,
                }));
                result
            }
        };
        if let Some(group) = signature_of.group {
            self.groups.entry(group).or_insert(result);
            let folded = &mut self.results[result];
            if group == candidate.page && !folded.has_representative {
                folded.has_representative = true;
                folded.shown_page = candidate;
            }
        }
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use pharos_core::config::Config;
    use pharos_core::{LibraryPosition, PageUrl, Timestamp};
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
    fn the_representative_is_shown_at_the_rank_of_the_best() {
        let copy = PageCopy { url: url("copy"), position: AT, fetched: Timestamp::EPOCH };
        let first = IndexDocument { copies: vec![copy], ..in_group("first", page("first", 1)) };
        let pages = [page("better", 5), in_group("first", page("best", 9)), first];
        let (_dir, search) = search(&pages);
        let answer = search.run(&SearchRequest::new("lighthouse")).unwrap();
        assert_eq!(results(&answer), [("first", 2), ("better", 0)]);
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
    fn without_its_representative_the_best_is_shown() {
        let (_dir, search) = search(&[in_group("gone", page("one", 1)), in_group("gone", page("two", 2))]);
        assert_eq!(found(&search), [("two".into(), 1)]);
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
        let expected = [("old", 2), ("x", 0), ("y", 0), ("damaged", 0)];
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
        assert_eq!((seen.len(), seen[0].as_str()), (41, "c0"));
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
