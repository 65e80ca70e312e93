//! Writes the lines of marked pages with their features, for `rules/fit.py`:
//! `cargo run --release -p pharos-html --example training_lines -- OUT DIR…`, where each DIR holds `gold.json` and
//! `html/*.html.gz`. OUT is a directory: `names.json`, `lines.jsonl` (a page per line) and `features.f32`.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::{env, fs};

use flate2::read::MultiGzDecoder;
use pharos_html::RuleSet;
use pharos_html::cleaning::training::training_lines;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let out = arguments.next().ok_or("missing arguments: an output directory and directories of pages")?;
    let out = Path::new(&out);
    fs::create_dir_all(out)?;
    let rules = RuleSet::pharos();
    fs::write(out.join("names.json"), serde_json::to_string(&rules.feature_names())?)?;
    let mut lines_file = BufWriter::new(fs::File::create(out.join("lines.jsonl"))?);
    let mut features_file = BufWriter::new(fs::File::create(out.join("features.f32"))?);
    for directory in arguments {
        let directory = Path::new(&directory);
        let gold: BTreeMap<String, Value> = serde_json::from_slice(&fs::read(directory.join("gold.json"))?)?;
        for (id, gold) in gold {
            let mut body = Vec::new();
            let path = directory.join("html").join(format!("{id}.html.gz"));
            MultiGzDecoder::new(fs::File::open(path)?).read_to_end(&mut body)?;
            let lines = training_lines(&pharos_html::decode_body(&body), rules);
            for line in &lines {
                for value in &line.features {
                    features_file.write_all(&value.to_le_bytes())?;
                }
            }
            let page = json!({
                "id": id,
                "set": gold["set"].as_str().unwrap_or("zh"),
                "type": gold["type"],
                "url": gold["url"],
                "gold": gold["text"],
                "texts": lines.iter().map(|line| &line.text).collect::<Vec<_>>(),
                "templates": lines.iter().map(|line| line.template.to_string()).collect::<Vec<_>>(),
                "blocks": lines.iter().map(|line| line.blocks.clone().map(|b| [b.start, b.end])).collect::<Vec<_>>(),
            });
            writeln!(lines_file, "{page}")?;
        }
    }
    Ok(())
}
