//! Compiles the base dictionary, so that no one waits for it later.

// The compiler of dictionaries is the crate's own; its reading side is of no use here.
#[allow(dead_code, unreachable_pub, unused_imports, reason = "a part of the crate, seen from outside")]
#[path = "src/dictionary/mod.rs"]
mod dictionary;

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use dictionary::{Dictionary, Entry};

const SOURCE: &str = "data/base.tsv";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-changed=src/dictionary");
    let list = fs::read_to_string(SOURCE)?;
    let mut entries = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let [word, frequency, tag] = line.split('\t').collect::<Vec<_>>()[..]
            .try_into()
            .map_err(|_| format!("{SOURCE}: not three columns: {line}"))?;
        entries.push(Entry { word, frequency: frequency.parse()?, tag });
    }
    let out = PathBuf::from(env::var("OUT_DIR")?).join("base.dictionary");
    fs::write(out, Dictionary::new(&entries).to_image())?;
    Ok(())
}
