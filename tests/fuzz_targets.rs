//! Runs the bodies of the fuzz targets on their seeds, on mutated seeds and on random bytes.
//!
//! `fuzz/run` searches much deeper; these tests keep the targets compiling and passing.

#[path = "../fuzz/src/charset.rs"]
mod charset;
#[path = "../fuzz/src/clean.rs"]
mod clean;
#[path = "../fuzz/src/copies.rs"]
mod copies;
#[path = "../fuzz/src/feed.rs"]
mod feed;
#[path = "../fuzz/src/formats.rs"]
mod formats;
#[path = "../fuzz/src/html.rs"]
mod html;
#[path = "../fuzz/src/logs.rs"]
mod logs;
#[path = "../fuzz/src/query.rs"]
mod query;
#[path = "../fuzz/src/ranking.rs"]
mod ranking;
#[path = "../fuzz/src/robots.rs"]
mod robots;
#[path = "../fuzz/src/soif.rs"]
mod soif;
#[path = "../fuzz/src/suggest.rs"]
mod suggest;
#[path = "../fuzz/src/tianwang.rs"]
mod tianwang;
#[path = "../fuzz/src/warc.rs"]
mod warc;
#[path = "../fuzz/src/words.rs"]
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;

/// A change of an input.
#[derive(Clone, Debug)]
enum Mutation {
    Replace(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    /// Copies a part to another place.
    Repeat(Index, usize, Index),
    Truncate(Index),
}

impl Mutation {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |index: &Index| index.index(bytes.len() + 1);
        let part = |index: &Index, length: usize| {
            let start = index.index(bytes.len() + 1);
            start..(start + length).min(bytes.len())
        };
        match self {
            Self::Replace(at, byte) => {
                let at = place(at);
                if let Some(old) = bytes.get_mut(at) {
                    *old = *byte;
                }
            }
            Self::Insert(at, new) => {
                let at = place(at);
                bytes.splice(at..at, new.iter().copied());
            }
            Self::Remove(at, length) => {
                let part = part(at, *length);
                bytes.drain(part);
            }
            Self::Repeat(from, length, to) => {
                let copy = bytes[part(from, *length)].to_vec();
                let to = place(to);
                bytes.splice(to..to, copy);
            }
            Self::Truncate(at) => {
                let at = place(at);
                bytes.truncate(at);
            }
        }
    }
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let place = any::<Index>;
    prop_oneof![
        (place(), any::<u8>()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        (place(), vec(any::<u8>(), 1..8)).prop_map(|(at, new)| Mutation::Insert(at, new)),
        (place(), 1..64_usize).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (place(), 1..256_usize, place()).prop_map(|(from, length, to)| Mutation::Repeat(from, length, to)),
        place().prop_map(Mutation::Truncate),
    ]
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(name)
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let mut files: Vec<_> =
        fs::read_dir(folder("seeds").join(target)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// Runs a target; `PROPTEST_CASES` sets the number of generated inputs.
fn run_target(name: &str, run: fn(&[u8])) {
    let seeds = seeds(name);
    assert!(!seeds.is_empty());
    seeds.iter().for_each(|seed| run(seed));
    let mutated = (any::<Index>(), vec(mutation(), 1..6)).prop_map(move |(seed, mutations)| {
        let mut bytes = seed.get(&seeds).clone();
        mutations.iter().for_each(|mutation| mutation.apply(&mut bytes));
        bytes
    });
    let inputs = prop_oneof![4 => mutated, 1 => vec(any::<u8>(), 0..256)];
    let result = TestRunner::default().run(&inputs, |bytes| {
        run(&bytes);
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                run_target(stringify!($name), $name::run);
            }
        )*

        const TARGETS: &[&str] = &[$(stringify!($name)),*];
    };
}

targets! { charset clean copies feed formats html logs query ranking robots soif suggest tianwang warc words }

#[test]
fn every_target_is_run() {
    let mut files: Vec<_> = fs::read_dir(folder("targets"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_string())
        .collect();
    files.sort();
    assert_eq!(files, TARGETS);
}
