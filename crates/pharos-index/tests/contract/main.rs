//! The index contract, applied to every implementation.

#![allow(clippy::unwrap_used, reason = "tests")]

mod suite;

/// The embedded index on local disk.
mod embedded {
    use std::cell::RefCell;
    use std::sync::{Arc, Weak};

    use pharos_core::{LibraryPosition, LibraryPositions};
    use pharos_index::{
        BuilderRequest, EmbeddedIndex, GenerationStore as _, GenerationalIndex as _, Generations, Index,
        IndexDocument, LinkMaxima,
    };

    use crate::suite::{BODY_LIMIT, Maker};

    struct OnDisk {
        dir: tempfile::TempDir,
        owner: RefCell<Weak<EmbeddedIndex>>,
    }

    fn on_disk() -> OnDisk {
        OnDisk { dir: tempfile::tempdir().unwrap(), owner: RefCell::default() }
    }

    impl Maker for OnDisk {
        fn open(&self) -> Arc<dyn Index> {
            let index = EmbeddedIndex::open_writer(self.dir.path(), 16 << 20, BODY_LIMIT);
            let index = Arc::new(index.unwrap());
            *self.owner.borrow_mut() = Arc::downgrade(&index);
            index
        }

        fn reader(&self) -> Arc<dyn Index> {
            Arc::new(EmbeddedIndex::open_reader(self.dir.path()).unwrap())
        }

        fn seal(&self) -> LibraryPositions {
            self.owner.borrow().upgrade().unwrap().seal().unwrap()
        }

        fn build(&self, pages: &[IndexDocument], to: LibraryPosition) {
            let generations = Generations::at(self.dir.path());
            let _builder = generations.lock_builder().unwrap();
            let mut maxima = LinkMaxima::default();
            pages.iter().for_each(|page| maxima.include(&page.link_figures));
            let history = generations.build_directory().begin(2, 32 << 20, BODY_LIMIT).unwrap();
            let mut history = history.with_maxima(maxima).unwrap();
            pages.iter().for_each(|page| history.add(page).unwrap());
            generations.leave_request(BuilderRequest::Install(history.finish(to.into()).unwrap())).unwrap();
            assert!(self.owner.borrow().upgrade().unwrap().serve_request().unwrap().is_some());
        }
    }

    crate::contract!(on_disk);
}
