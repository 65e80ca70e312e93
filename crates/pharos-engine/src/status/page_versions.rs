//! The distinct versions of a page. Consecutive responses with the same content are merged; bodies are not read.

use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use pharos_store::Library;
use pharos_store::catalog::PageVersion;
use pharos_store::interpret::status::is_success;

use crate::{EngineError, Stores};

/// A period during which the content of a page did not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistinctVersion {
    /// Time of the first response.
    pub since: Timestamp,
    /// Time of the last response.
    pub until: Timestamp,
    /// Position of the last response.
    newest: LibraryPosition,
    /// Position of the first response, which is kept as long as a later one refers to it.
    oldest: LibraryPosition,
}

impl DistinctVersion {
    /// Returns a readable position of this version, or `None` if it was dropped or is damaged.
    pub fn position(&self, library: &dyn Library) -> Option<LibraryPosition> {
        [self.newest, self.oldest].into_iter().find(|position| library.has_response(*position))
    }
}

/// The versions of a page, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageVersions {
    /// Each version with the positions of its responses.
    versions: Vec<(DistinctVersion, Vec<LibraryPosition>)>,
    /// `true` if the page was removed permanently.
    pub is_removed: bool,
}

impl PageVersions {
    /// Reads the versions from the catalog. Empty if there is no catalog.
    pub fn load(stores: &Stores, url: &PageUrl) -> Result<Self, EngineError> {
        let Some(catalog) = stores.catalog()? else { return Ok(Self::default()) };
        if catalog.is_removed(url)? {
            return Ok(Self { is_removed: true, ..Self::default() });
        }
        Ok(Self { versions: fold(&catalog.versions(url.id())?), is_removed: false })
    }

    /// Returns the versions, newest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &DistinctVersion> {
        self.versions.iter().map(|(version, _)| version)
    }

    /// Returns the version that contains a response.
    pub fn holding(&self, position: LibraryPosition) -> Option<&DistinctVersion> {
        self.versions.iter().find(|(_, answers)| answers.contains(&position)).map(|(version, _)| version)
    }

    /// Returns the newest readable version that began by the end of this second, with its position.
    pub fn at(
        &self,
        moment: Timestamp,
        library: &dyn Library,
    ) -> Option<(&DistinctVersion, LibraryPosition)> {
        let mut began = self.iter().filter(|version| version.since.seconds() <= moment.seconds());
        began.find_map(|version| Some((version, version.position(library)?)))
    }
}

/// Merges consecutive responses with the same content. Redirects and errors are ignored.
fn fold(answers: &[PageVersion]) -> Vec<(DistinctVersion, Vec<LibraryPosition>)> {
    let mut versions: Vec<(DistinctVersion, Vec<LibraryPosition>)> = Vec::new();
    let mut digest = None;
    for answer in answers.iter().filter(|answer| is_success(answer.status)) {
        match versions.last_mut().filter(|_| digest == Some(answer.digest)) {
            Some((version, positions)) => {
                (version.since, version.oldest) = (answer.at, answer.position);
                positions.push(answer.position);
            }
            None => {
                let (at, position) = (answer.at, answer.position);
                let version = DistinctVersion { since: at, until: at, newest: position, oldest: position };
                versions.push((version, vec![position]));
            }
        }
        digest = Some(answer.digest);
    }
    versions
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pharos_store::catalog::{CatalogChange, Removal, ResponseSummary, VisitOutcome};
    use pharos_store::{DataDir, LibraryRecord, RawResponse, RecordContent};

    use super::*;
    use crate::stores::test_stores;

    fn day(n: u32) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::from_secs(86_400) * n)
    }

    #[test]
    fn repeated_answers_are_one_version_and_errors_none() {
        let dir = tempfile::tempdir().unwrap();
        let stores = test_stores(&DataDir::at(dir.path()));
        let url = PageUrl::parse("http://example.org/").unwrap();
        assert_eq!(PageVersions::load(&stores, &url).unwrap(), PageVersions::default());

        let library = stores.own_library(&LibraryPosition::START.into(), Timestamp::EPOCH).unwrap();
        let catalog = stores.own_catalog().unwrap();
        let visit = |n: u32, status: u16, body: &str| {
            let response = RawResponse { status, body: body.into(), ..RawResponse::default() };
            let record = LibraryRecord::new(url.clone(), day(n), RecordContent::Response(response));
            let (position, next) = library.append(&[record]).unwrap()[0];
            let digest = body.len() as u64;
            let answered = ResponseSummary { status, position, digest, ..ResponseSummary::default() };
            let outcome = VisitOutcome::Responded(answered);
            let visited = CatalogChange::Visited { url: url.clone(), at: day(n), outcome, next_due: None };
            catalog.apply(&[visited], &next.into()).unwrap();
            position
        };
        let first = visit(1, 200, "one");
        let again = visit(2, 200, "one");
        visit(3, 503, "");
        let once_more = visit(4, 200, "one");
        let second = visit(5, 200, "another");
        let back = visit(7, 200, "one");

        let versions = PageVersions::load(&stores, &url).unwrap();
        let days: Vec<_> = versions.iter().map(|version| (version.since, version.until)).collect();
        assert_eq!(days, [(day(7), day(7)), (day(5), day(5)), (day(1), day(4))]);
        for position in [first, again, once_more] {
            assert_eq!(versions.holding(position).unwrap().since, day(1));
        }
        assert_eq!(versions.holding(back).unwrap().since, day(7));
        assert_eq!(versions.holding(LibraryPosition::START), None);

        let at = |moment| versions.at(moment, &*library).map(|(_, position)| position);
        assert_eq!((at(day(9)), at(day(6)), at(day(5))), (Some(back), Some(second), Some(second)));
        assert_eq!((at(day(3)), at(day(1)), at(day(0))), (Some(once_more), Some(once_more), None));

        let later = LibraryPosition::new(99, 0);
        catalog.apply(&[CatalogChange::Removed(Removal::Page(url.clone()))], &later.into()).unwrap();
        let versions = PageVersions::load(&stores, &url).unwrap();
        assert!(versions.is_removed && versions.iter().len() == 0);
    }
}
