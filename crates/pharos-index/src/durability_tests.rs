//! Power cuts while the small files of an index are replaced.

use std::path::PathBuf;

use pharos_core::{LibraryPositions, Timestamp};
use pharos_files::power_cut::{Files, check, check_with};

use crate::generations::generation::write_vocabulary;
use crate::generations::{Generations, HistoryGeneration, manifest};
use crate::phrase_index::{PhraseIndexes, PhraseIndexesBuilder};
use crate::write::history_builder::{BuildDirectory, BuildPlan, name_build};
use crate::{BuilderRequest, GenerationStore as _, LinkFigures, LinkMaxima, ReplacedGenerations};

#[test]
fn files_of_the_index_survive_power_cuts() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let generations = Generations::at(root.join("index"));
    let history = |number| HistoryGeneration { number, to: LibraryPositions::START };
    for number in 1..3 {
        let remove = ReplacedGenerations::Remove;
        check(root, || drop(generations.start_over(Some(history(number)), remove).unwrap())).unwrap();
        check(root, || generations.leave_request(BuilderRequest::Install(history(number))).unwrap()).unwrap();
        let relations = Some(number as i64);
        let plan =
            BuildPlan { to: LibraryPositions::START, rules: "x".into(), begun: Timestamp::EPOCH, relations };
        check(root, || BuildDirectory::of(&generations).set_plan(&plan).unwrap()).unwrap();
        let figures = LinkFigures { page_rank: number as f32, ..LinkFigures::default() };
        check(root, || LinkMaxima(figures).write(generations.dir()).unwrap()).unwrap();
    }
    let words = pharos_text::vocabulary::Vocabulary::new(pharos_text::dictionary::Dictionary::base());
    check(root, || write_vocabulary(&root.join("index/latest-1"), &words).unwrap()).unwrap();
    let phrases = PhraseIndexes::from_builder(PhraseIndexesBuilder::default(), 10);
    check(root, || phrases.write(&root.join("models")).unwrap()).unwrap();
}

#[test]
fn a_new_history_appears_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let generations = Generations::at(dir.path());
    pharos_files::create_dir_all(&generations.building_dir()).unwrap();
    let part = generations.building_dir().join("segment");
    pharos_files::replace(&part, b"the part of the index library").unwrap();
    let is_whole = |files: &Files| {
        let of_history = |path: &&PathBuf| path.starts_with("history-1");
        let named = files.keys().filter(of_history).count();
        named == 0 || named == 2
    };
    check_with(dir.path(), || assert_eq!(name_build(&generations, 0).unwrap(), 1), is_whole).unwrap();
    assert!(manifest::exists(&generations.history_dir(1)) && !generations.building_dir().exists());
}
