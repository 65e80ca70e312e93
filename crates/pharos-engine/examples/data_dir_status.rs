//! Prints the numbers of a data directory: pages, sites, index, bytes on disk, and the running engine if there is one.
//!
//! The directory is `data`, unless another one is given. It may be in use by an engine:
//!
//! ```text
//! cargo run -p pharos-engine --example data_dir_status
//! cargo run -p pharos-engine --example data_dir_status -- /var/lib/pharos
//! ```

use std::env;
use std::error::Error;

use pharos_core::Config;
use pharos_engine::Stores;
use pharos_engine::status::data_dir::data_dir_status;
use pharos_engine::status::engine_status::read_engine_status;
use pharos_store::DataDir;

const MEGABYTE: f64 = 1e6;

fn main() -> Result<(), Box<dyn Error>> {
    let data = DataDir::at(env::args_os().nth(1).unwrap_or("data".into()));
    if !data.catalog().exists() {
        let root = data.root().display();
        return Err(format!("no catalog in {root}: create one with `pharos demo` or `pharos up`").into());
    }

    let status = data_dir_status(&Stores::open(&data, &Config::default())?)?;
    let pages = &status.catalog;
    println!("pages     {} known, {} stored, {} waiting", pages.pages, pages.stored, pages.waiting);
    println!("          {} failed, {} refused, {} deleted", pages.failed, pages.refused, pages.deleted);
    println!("index     {} searchable pages", status.searchable);
    for (name, bytes) in
        [("library", status.library_bytes), ("catalog", status.catalog_bytes), ("index", status.index_bytes)]
    {
        println!("disk      {:>8.1} MB {name}", bytes as f64 / MEGABYTE);
    }
    for site in &status.sites {
        println!("site      {} of {} pages stored: {}", site.stored, site.pages, site.site);
    }
    for (rule, links) in &status.filtered {
        println!("filtered  {links} links by {rule}");
    }
    match read_engine_status(&data) {
        Some(engine) => println!(
            "engine    `pharos {}` in process {}, {:?}: {} pages fetched since {}",
            engine.command, engine.process, engine.phase, engine.pages, engine.since
        ),
        None => println!("engine    not running"),
    }
    Ok(())
}
