//! `pharos clean`: what is left of a page once it is understood.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use pharos_core::{PageObject, PageUrl};
use pharos_crawl::Fetcher;
use serde::Serialize;

use crate::cli::{CleanArgs, Global};
use crate::{Outcome, console, settings};

/// Larger inputs are cut here.
const MAX_INPUT: u64 = 64 << 20;

pub(crate) fn run(global: &Global, args: CleanArgs) -> anyhow::Result<Outcome> {
    let base = PageUrl::parse(&args.base_url)?;
    if let Some([dir, out]) = args.batch.as_deref() {
        return batch(&base, dir, out);
    }
    let input = args.input.as_deref().unwrap_or("-");
    let page = if input.starts_with("http://") || input.starts_with("https://") {
        fetch(global, &args, input)?
    } else {
        let mut bytes = Vec::new();
        match input {
            "-" => io::stdin()
                .lock()
                .take(MAX_INPUT)
                .read_to_end(&mut bytes)
                .context("cannot read standard input")?,
            path => read_file(Path::new(path), &mut bytes)?,
        };
        pharos_html::understand(&base, None, &bytes)
    };
    if global.json {
        console::print_json(&page)?;
    } else if args.text {
        writeln!(io::stdout().lock(), "{}", page.text)?;
    } else {
        print(&page)?;
    }
    Ok(Outcome::Good)
}

fn fetch(global: &Global, args: &CleanArgs, input: &str) -> anyhow::Result<PageObject> {
    let url = PageUrl::parse(input)?;
    let mut config = settings::load(global)?;
    config.crawl.allow_private |= args.allow_private;
    let limit = config.crawl.body_limit.bytes();
    let fetcher = Fetcher::new(&config.crawl)?;
    let response =
        super::runtime()?.block_on(fetcher.get(&url)).with_context(|| format!("cannot fetch {url}"))?;
    if !(200..300).contains(&response.status) {
        bail!("{url} answered with status {}", response.status);
    }
    Ok(pharos_html::understand(&url, response.header("Content-Type"), &response.content(limit)))
}

fn read_file(path: &Path, bytes: &mut Vec<u8>) -> anyhow::Result<usize> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let read = if path.extension().is_some_and(|e| e == "gz") {
        flate2::read::MultiGzDecoder::new(file).take(MAX_INPUT).read_to_end(bytes)
    } else {
        file.take(MAX_INPUT).read_to_end(bytes)
    };
    read.with_context(|| format!("cannot read {}", path.display()))
}

/// Every page of a folder, one object a line.
fn batch(base: &PageUrl, dir: &Path, out: &Path) -> anyhow::Result<Outcome> {
    #[derive(Serialize)]
    struct Line {
        file: String,
        #[serde(flatten)]
        page: PageObject,
    }
    let entries = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    paths.retain(|p| p.to_str().is_some_and(|p| p.ends_with(".html") || p.ends_with(".html.gz")));
    paths.sort();
    if paths.is_empty() {
        bail!("there is no *.html or *.html.gz in {}", dir.display());
    }
    let mut lines =
        BufWriter::new(File::create(out).with_context(|| format!("cannot write {}", out.display()))?);
    for path in &paths {
        let mut bytes = Vec::new();
        read_file(path, &mut bytes)?;
        let page = pharos_html::understand(base, None, &bytes);
        let file = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        serde_json::to_writer(&mut lines, &Line { file, page }).map_err(io::Error::from)?;
        writeln!(lines)?;
    }
    lines.flush().with_context(|| format!("cannot write {}", out.display()))?;
    console::out!("{} pages written to {}", paths.len(), out.display());
    Ok(Outcome::Good)
}

fn print(page: &PageObject) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let published = page.published.clone().unwrap_or_default();
    for (name, value) in [
        ("title", &page.title),
        ("author", &page.author),
        ("published", &published),
        ("language", &page.lang),
        ("charset", &page.charset),
        ("robots", &page.robots),
    ] {
        if !value.is_empty() {
            writeln!(out, "{name:<10} {value}")?;
        }
    }
    writeln!(out, "{:<10} {}", "links", page.links.len())?;
    writeln!(out, "\n{}", page.text)
}
