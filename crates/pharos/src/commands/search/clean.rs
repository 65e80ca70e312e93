//! `pharos clean`: extracts the main content of a page.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use pharos_core::config::Config;
use pharos_core::{PageObject, PageUrl};
use pharos_crawl::Fetcher;
use pharos_html::{CleaningScope, ExtractOptions, RuleSet, TermWeighting};
use pharos_store::interpret::status::is_success;
use serde::Serialize;

use crate::cli::{CleanArgs, CleanScale, Global};
use crate::{CommandOutcome, commands, console, settings};

/// Maximum input size; longer inputs are truncated.
const MAX_INPUT: u64 = 64 << 20;

pub(crate) fn run(global: &Global, args: CleanArgs) -> anyhow::Result<CommandOutcome> {
    let base = PageUrl::parse(&args.base_url)?;
    let config = settings::load(global)?;
    let rules = args.rules.as_deref().unwrap_or(&config.clean.rules);
    let rules = RuleSet::named(rules, |path| fs::read_to_string(path))?;
    let options = ExtractOptions {
        rules: &rules,
        term_weighting: TermWeighting::from(&config.clean),
        scope: match args.scale {
            CleanScale::Body => CleaningScope::Body,
            CleanScale::Related => CleaningScope::Related,
        },
        html: args.view || global.json,
        blocks: global.json,
    };
    if let Some([dir, out]) = args.batch.as_deref() {
        return batch(&base, dir, out, &options);
    }
    let input = args.input.as_deref().unwrap_or("-");
    let input_page = if input.starts_with("http://") || input.starts_with("https://") {
        fetch(config, &args, input)?
    } else {
        let mut body = Vec::new();
        match input {
            "-" => io::stdin()
                .lock()
                .take(MAX_INPUT)
                .read_to_end(&mut body)
                .context("cannot read standard input")?,
            path => read_file(Path::new(path), &mut body)?,
        };
        PageInput { url: base, content_type: type_by_name(input).map(str::to_string), body }
    };
    if let Some(dir) = &args.blocks {
        write_blocks(&input_page, dir)?;
    }
    if args.explain {
        return explain(global, &input_page, options.rules);
    }
    let page = pharos_html::extract_page_with(
        &input_page.url,
        input_page.content_type.as_deref(),
        &input_page.body,
        &options,
    );
    if global.json {
        console::print_json(&page)?;
    } else if args.text {
        writeln!(io::stdout().lock(), "{}", page.text)?;
    } else if args.view {
        write_view(&page)?;
    } else {
        print(&page)?;
    }
    Ok(CommandOutcome::Good)
}

/// The input of `pharos clean`.
struct PageInput {
    url: PageUrl,
    content_type: Option<String>,
    body: Vec<u8>,
}

fn fetch(mut config: Config, args: &CleanArgs, input: &str) -> anyhow::Result<PageInput> {
    let url = PageUrl::parse(input)?;
    config.crawl.allow_private |= args.allow_private;
    let limit = config.crawl.body_limit.bytes();
    let fetcher = Fetcher::new(&config.crawl)?;
    let response =
        commands::runtime()?.block_on(fetcher.get(&url)).with_context(|| format!("cannot fetch {url}"))?;
    if !is_success(response.status) {
        bail!("{url} returned status {}", response.status);
    }
    let content_type = response.header("Content-Type").map(str::to_string);
    Ok(PageInput { url, content_type, body: response.content(limit).to_vec() })
}

fn explain(global: &Global, input_page: &PageInput, rules: &RuleSet) -> anyhow::Result<CommandOutcome> {
    let explanation = pharos_html::explain_cleaning(
        &input_page.url,
        input_page.content_type.as_deref(),
        &input_page.body,
        rules,
    );
    if global.json {
        console::print_json(&explanation)?;
        return Ok(CommandOutcome::Good);
    }
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{} page, {} HTML errors, main content from a score of {:.2}",
        name_of(explanation.page_type),
        explanation.html_errors,
        explanation.threshold
    )?;
    if !explanation.genre.name.is_empty() {
        let percent = 100.0 * explanation.genre.probability;
        writeln!(out, "genre {} with a probability of {percent:.0} %", explanation.genre.name)?;
    }
    for line in &explanation.lines {
        let reasons: Vec<String> =
            line.reasons.iter().map(|(rule, score)| format!("{score:+.2} by rule {}", rule + 1)).collect();
        let text: String = line.text.chars().take(80).collect();
        writeln!(out, "\n{:<13} {:+.2}  {text}", name_of(line.kind), line.score)?;
        writeln!(out, "{:<13}        {}", "", reasons.join(", "))?;
    }
    Ok(CommandOutcome::Good)
}

/// Returns the name of an enum value as in JSON.
fn name_of(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default()
}

/// Writes the text of each block to `blockN` and its links to `blockNa`.
fn write_blocks(input_page: &PageInput, dir: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let blocks =
        pharos_html::split_text_blocks(&input_page.url, input_page.content_type.as_deref(), &input_page.body);
    for (number, block) in (1..).zip(&blocks) {
        let write = |name: String, text: &str| {
            fs::write(dir.join(&name), format!("{text}\n"))
                .with_context(|| format!("cannot write {name} in {}", dir.display()))
        };
        write(format!("block{number}"), &block.text)?;
        write(format!("block{number}a"), &block.links.join("\n"))?;
    }
    Ok(())
}

/// Prints the cleaned page as HTML, followed by its related links.
fn write_view(page: &PageObject) -> io::Result<()> {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let mut out = io::stdout().lock();
    writeln!(out, "<!doctype html>\n<meta charset=utf-8>\n<title>{}</title>", escape(&page.title))?;
    writeln!(out, "{}", page.html)?;
    if !page.related_links.is_empty() {
        writeln!(out, "<hr>\n<ul>")?;
        for link in &page.related_links {
            writeln!(out, "<li><a href=\"{}\">{}</a>", escape(link.url.as_str()), escape(&link.anchor))?;
        }
        writeln!(out, "</ul>")?;
    }
    Ok(())
}

/// Returns the media type by file name extension; otherwise the content decides.
fn type_by_name(path: &str) -> Option<&'static str> {
    let name = path.strip_suffix(".gz").unwrap_or(path).to_ascii_lowercase();
    [".html", ".htm", ".xhtml"].iter().any(|end| name.ends_with(end)).then_some("text/html")
}

pub(crate) fn read_file(path: &Path, bytes: &mut Vec<u8>) -> anyhow::Result<usize> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let read = if path.extension().is_some_and(|e| e == "gz") {
        flate2::read::MultiGzDecoder::new(file).take(MAX_INPUT).read_to_end(bytes)
    } else {
        file.take(MAX_INPUT).read_to_end(bytes)
    };
    read.with_context(|| format!("cannot read {}", path.display()))
}

/// Cleans every page of a directory, one JSON object per line.
fn batch(base: &PageUrl, dir: &Path, out: &Path, options: &ExtractOptions) -> anyhow::Result<CommandOutcome> {
    #[derive(Serialize)]
    struct BatchLine {
        file: String,
        #[serde(flatten)]
        page: PageObject,
    }
    let entries = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    paths.retain(|p| p.to_str().is_some_and(|p| p.ends_with(".html") || p.ends_with(".html.gz")));
    paths.sort();
    if paths.is_empty() {
        bail!("no *.html or *.html.gz file in {}", dir.display());
    }
    let mut lines =
        BufWriter::new(File::create(out).with_context(|| format!("cannot write {}", out.display()))?);
    for path in &paths {
        let mut bytes = Vec::new();
        read_file(path, &mut bytes)?;
        let page = pharos_html::extract_page_with(base, Some("text/html"), &bytes, options);
        let file = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        serde_json::to_writer(&mut lines, &BatchLine { file, page }).map_err(io::Error::from)?;
        writeln!(lines)?;
    }
    lines.flush().with_context(|| format!("cannot write {}", out.display()))?;
    console::out!("{} pages written to {}", paths.len(), out.display());
    Ok(CommandOutcome::Good)
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
    writeln!(out, "{:<10} {}", "type", name_of(page.page_type))?;
    writeln!(out, "{:<10} {}, {} related", "links", page.links.len(), page.related_links.len())?;
    writeln!(out, "\n{}", page.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_written_in_pairs() {
        let dir = tempfile::tempdir().unwrap();
        let input_page = PageInput {
            url: PageUrl::parse("http://example.org/").unwrap(),
            content_type: Some("text/html".into()),
            body: b"<p>Some words <a href=/there>and a link</a>".to_vec(),
        };
        write_blocks(&input_page, dir.path()).unwrap();
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!((read("block1"), read("block1a")), ("Some words and a link\n".into(), "/there\n".into()));
    }
}
