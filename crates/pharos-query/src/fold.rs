//! Folding: pages that say the same are one result (网页消重), at the rank of the best of them.
//!
//! Pages of one group belong together; a build of history finds groups. A page that came later has none yet and is
//! compared by its signature with the first page of each result.

use std::collections::HashMap;

use pharos_core::PageId;
use pharos_graph::duplicates::{Method as _, MinHash, MinHashSignature};
use pharos_index::{Candidate, IndexError, Likeness, Snapshot};

/// Signatures of candidates beyond this many are not compared: n candidates take up to n²/2 comparisons.
const COMPARED: usize = 300;

/// Pages that say the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Folded {
    /// The page that is shown: the representative of its group if it is among the candidates, else the best.
    pub(crate) speaker: Candidate,
    /// The score of the best, which comes first.
    pub(crate) score: f32,
    has_representative: bool,
    /// How many they are, exact copies too.
    pages: u64,
}

impl Folded {
    pub(crate) fn alone(candidate: Candidate) -> Self {
        let pages = 1 + u64::from(candidate.copies);
        Self { speaker: candidate, score: candidate.score, has_representative: false, pages }
    }

    /// How many pages are not shown.
    pub(crate) fn duplicates(&self) -> u64 {
        self.pages - 1
    }

    fn join(&mut self, candidate: Candidate) {
        self.pages += 1 + u64::from(candidate.copies);
    }
}

/// Candidates of one snapshot, folded in their order. What later ones do changes no result's place.
pub(crate) struct Fold {
    candidates: usize,
    results: Vec<Folded>,
    /// The result of each group.
    groups: HashMap<PageId, usize>,
    leaders: Vec<Leader>,
    method: MinHash,
}

/// The first page of a result, which later ones are compared with.
struct Leader {
    result: usize,
    is_grouped: bool,
    signature: MinHashSignature,
}

impl Default for Fold {
    fn default() -> Self {
        // A build knows what the pages of a site have in common without being copies. Here only a close likeness counts.
        let method = MinHash { threshold: 0.8, containment: f64::INFINITY, ..MinHash::default() };
        let (results, groups, leaders) = (Vec::new(), HashMap::new(), Vec::new());
        Self { candidates: 0, results, groups, leaders, method }
    }
}

impl Fold {
    /// What they are folded to.
    pub(crate) fn finish(self) -> Vec<Folded> {
        self.results
    }

    /// Takes in the candidates that follow.
    pub(crate) fn add(&mut self, next: &[Candidate], snapshot: &dyn Snapshot) -> Result<(), IndexError> {
        for (candidate, likeness) in next.iter().zip(snapshot.likeness(next)?) {
            self.take(*candidate, &likeness);
        }
        Ok(())
    }

    fn take(&mut self, candidate: Candidate, likeness: &Likeness) {
        let compared = likeness.signature.as_deref().filter(|_| self.candidates < COMPARED);
        let signature = compared.and_then(MinHashSignature::from_bytes);
        self.candidates += 1;
        let is_grouped = likeness.group.is_some();
        let of_its_group = likeness.group.and_then(|group| self.groups.get(&group).copied());
        let known = of_its_group.or_else(|| self.alike(signature.as_ref()?, is_grouped));
        let result = match known {
            Some(result) => {
                self.results[result].join(candidate);
                result
            }
            None => {
                self.results.push(Folded::alone(candidate));
                let result = self.results.len() - 1;
                self.leaders.extend(signature.map(|signature| Leader { result, is_grouped, signature }));
                result
            }
        };
        if let Some(group) = likeness.group {
            self.groups.entry(group).or_insert(result);
            let folded = &mut self.results[result];
            if group == candidate.page && !folded.has_representative {
                folded.has_representative = true;
                folded.speaker = candidate;
            }
        }
    }

    /// The result whose first page says the same. Of two pages with groups the build has already told that they do not.
    fn alike(&self, signature: &MinHashSignature, is_grouped: bool) -> Option<usize> {
        let told = |leader: &&Leader| is_grouped && leader.is_grouped;
        let mut untold = self.leaders.iter().filter(|leader| !told(leader));
        let alike = untold.find(|leader| self.method.compare(&leader.signature, signature).is_some());
        alike.map(|leader| leader.result)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use pharos_core::config::Config;
    use pharos_core::{LibraryPosition, PageUrl, Timestamp};
    use pharos_graph::duplicates::PageText;
    use pharos_index::{Change, Copy, Document, EmbeddedIndex, HistoryBuilder, Index as _};

    use super::*;
    use crate::{Answer, Request, Search};

    const AT: LibraryPosition = LibraryPosition { file: 1, offset: 1 };

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://a.example/{path}")).unwrap()
    }

    /// A page that says the word so often: the more often, the better it fits.
    fn page(path: &str, times: usize) -> Document {
        Document { body: "lighthouse ".repeat(times), ..Document::new(url(path)) }
    }

    fn in_group(representative: &str, document: Document) -> Document {
        Document { group: Some(url(representative).id()), ..document }
    }

    /// With the signature of a text of its own, numbered `text`.
    fn signed(text: usize, document: Document) -> Document {
        let words: Vec<String> = (0..100).map(|n| format!("{text}-{n}")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let text = PageText { words: &words, ..PageText::default() };
        let signature = MinHash::default().fingerprint(&text).unwrap();
        Document { signature: Some(signature.to_bytes().into()), ..document }
    }

    /// A search over a history with these pages.
    fn search(pages: &[Document]) -> (tempfile::TempDir, Search) {
        let dir = tempfile::tempdir().unwrap();
        let index = EmbeddedIndex::open_writer(dir.path(), 16 << 20, 1 << 20).unwrap();
        let _builder = index.generations().lock_builder().unwrap();
        let mut history = HistoryBuilder::begin(index.generations(), 1, 16 << 20, 1 << 20).unwrap();
        pages.iter().for_each(|page| history.add(page).unwrap());
        index.generations().install(history.finish(AT).unwrap()).unwrap();
        index.commit(AT).unwrap();
        (dir, Search::new(Arc::new(index), &Config::default()))
    }

    fn results(answer: &Answer) -> Vec<(&str, u64)> {
        answer.hits.iter().map(|hit| (&hit.url["http://a.example/".len()..], hit.duplicates)).collect()
    }

    fn found(search: &Search) -> Vec<(String, u64)> {
        let answer = search.run(&Request::new("lighthouse")).unwrap();
        results(&answer).into_iter().map(|(path, duplicates)| (path.to_string(), duplicates)).collect()
    }

    #[test]
    fn the_representative_speaks_at_the_rank_of_the_best() {
        let copy = Copy { url: url("copy"), position: AT, fetched: Timestamp::EPOCH };
        let first = Document { copies: vec![copy], ..in_group("first", page("first", 1)) };
        let pages = [page("better", 5), in_group("first", page("best", 9)), first];
        let (_dir, search) = search(&pages);
        let answer = search.run(&Request::new("lighthouse")).unwrap();
        assert_eq!(results(&answer), [("first", 2), ("better", 0)]);
        assert_eq!((answer.total, answer.last_page), (3, Some(1)));
        assert!(answer.hits[0].score > answer.hits[1].score);

        let all = search.run(&Request { all: true, ..Request::new("lighthouse") }).unwrap();
        let mut shown = results(&all);
        shown.sort();
        assert_eq!(shown, [("best", 0), ("better", 0), ("copy", 0), ("first", 0)]);
        assert_eq!(search.matching("lighthouse").unwrap().len(), 4);
    }

    #[test]
    fn without_its_representative_the_best_speaks() {
        let (_dir, search) = search(&[in_group("gone", page("one", 1)), in_group("gone", page("two", 2))]);
        assert_eq!(found(&search), [("two".into(), 1)]);
    }

    #[test]
    fn pages_not_yet_grouped_are_known_by_their_signatures() {
        let pages = [
            signed(1, page("new", 9)),
            signed(1, in_group("old", page("old", 5))),
            in_group("old", page("older", 4)),
            // The build has told these two apart, whatever their signatures say.
            signed(2, in_group("x", page("x", 3))),
            signed(2, in_group("y", page("y", 2))),
            Document { signature: Some([1; 7].into()), ..page("damaged", 1) },
        ];
        let (_dir, search) = search(&pages);
        let expected = [("old", 2), ("x", 0), ("y", 0), ("damaged", 0)];
        assert_eq!(found(&search), expected.map(|(path, duplicates)| (path.to_string(), duplicates)));
    }

    #[test]
    fn folded_pages_of_results_do_not_overlap_and_end() {
        // The best eighty pages are one group; then come forty of two each.
        let crowd = (0..80).map(|n| in_group("c0", page(&format!("c{n}"), 50)));
        let pairs = (0..80).map(|n| in_group(&format!("p{}", n / 2 * 2), page(&format!("p{n}"), 1)));
        let (_dir, search) = search(&crowd.chain(pairs).collect::<Vec<_>>());
        let mut seen = Vec::new();
        for number in 1.. {
            let request = Request { page: number, size: 4, ..Request::new("lighthouse") };
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
        let index = EmbeddedIndex::open_writer(dir.path(), 16 << 20, 1 << 20).unwrap();
        index.apply(vec![Change::Gone(url("a").id())]).unwrap();
        index.commit(AT).unwrap();
        assert_eq!(found(&Search::new(Arc::new(index), &Config::default())), [("b".into(), 0)]);
    }
}
