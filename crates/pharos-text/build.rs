//! Compiles the base dictionary at build time, so that it need not be compiled at start.

// The dictionary compiler is shared with the crate; its lookup functions are unused here.
#[allow(dead_code, unreachable_pub, unused_imports, reason = "a module of the crate, compiled separately")]
#[path = "src"]
mod source {
    pub mod dictionary;
}

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use source::dictionary::{Dictionary, DictionaryEntry};

const SOURCE: &str = "data/base.tsv";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-changed=src/dictionary.rs");
    println!("cargo::rerun-if-changed=src/dictionary");
    let list = fs::read_to_string(SOURCE)?;
    let mut entries = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let [word, frequency, tag] = line.split('\t').collect::<Vec<_>>()[..]
            .try_into()
            .map_err(|_| format!("{SOURCE}: expected three columns: {line}"))?;
        entries.push(DictionaryEntry { word, frequency: frequency.parse()?, tag });
    }
    let out = PathBuf::from(env::var("OUT_DIR")?).join("base.dictionary");
    fs::write(out, Dictionary::new(&entries).to_image())?;
    Ok(())
}
