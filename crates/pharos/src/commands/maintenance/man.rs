//! `pharos man`: generates manual pages from the help texts and additional sections.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use crate::CommandOutcome;
use crate::cli::{Cli, ManArgs};

/// Date of the last change of the texts below.
const WRITTEN: &str = "2026-11-17";

/// Description in pharos(1). A blank line ends a paragraph.
const DESCRIPTION: &str = "\
Pharos crawls web sites politely, stores their pages, extracts and indexes the content, and answers queries in Chinese and \
English on a web page and through an API. It is a single program, and all its data is in one data directory.

`pharos demo` demonstrates everything on a small sample web. `pharos up` with a few URLs crawls, indexes and serves in one \
process, and continues where it stopped when it is started again. The other commands perform one of these tasks, or \
maintain the data.

One process owns a data directory: up, crawl or import. Any number of others can read it at the same time: search, serve, \
stats, export. A process can be stopped at any time, also by kill -9; SIGTERM and Ctrl-C let it finish its current work, and \
SIGHUP makes `pharos up` reload its settings.

Results go to standard output, messages and progress to standard error.";

const FILES: [(&str, &str); 10] = [
    ("pharos.toml", "Settings. Each has a default; `pharos config` prints them with their meanings."),
    ("LOCK", "Owner of the directory: process and command."),
    ("catalog.db", "Catalog of sites and pages with their schedule (SQLite)."),
    ("library/", "Every response as received, in WARC files; and derived page objects and links."),
    ("graph/", "Link-analysis results: links, ranks, duplicates."),
    ("index/", "Generations of the index; CURRENT lists those in use."),
    ("models/", "Vocabulary and phrase index of this installation."),
    ("logs/", "Queries, impressions and clicks, without IP addresses; one file per day and kind."),
    ("inbox/", "Orders pending for the owner: pages to fetch, pages to remove."),
    ("desk/", "Accounts and actions of the operators of the desk at /admin."),
];

const FILES_AFTER: &str = "\
All these are in the data directory. The library is the source of truth: `pharos rebuild` rebuilds catalog, links and index \
from it. Use `pharos backup` to copy the directory, also while it is in use.";

const ENVIRONMENT: [(&str, &str); 5] = [
    ("PHAROS_DATA", "Data directory, if --data is not given."),
    ("PHAROS_CONFIG", "Configuration file, if --config is not given."),
    ("PHAROS_LOG", "Filter of log messages on standard error: info, or warn,pharos_crawl=debug."),
    ("PHAROS_DESK_SETUP_CODE", "Setup code of the operator's desk, instead of a generated one in the log."),
    (
        "PHAROS_SECTION_KEY",
        "Any setting, in upper case and with _ for the dot: PHAROS_WEB_LISTEN for web.listen. It overrides the configuration \
         file, and flags override it. An unknown name is an error.",
    ),
];

const EXIT_STATUS: [(&str, &str); 3] = [
    ("0", "Success."),
    ("1", "Nothing was found, a check failed, or parts of the input were invalid."),
    ("2", "Error."),
];

pub(crate) fn run(args: &ManArgs) -> anyhow::Result<CommandOutcome> {
    let pages = pages();
    match &args.dir {
        None => io::stdout().lock().write_all(pages[0].1.as_bytes())?,
        Some(dir) => write(dir, &pages)?,
    }
    Ok(CommandOutcome::Good)
}

fn write(dir: &Path, pages: &[(String, String)]) -> anyhow::Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    for (file, page) in pages {
        let path = dir.join(file);
        fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Returns file names and texts: pharos.1, then one page per command and subcommand.
fn pages() -> Vec<(String, String)> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    gather(&root, None, &mut pages);
    pages
}

fn gather(command: &Command, parent: Option<&Command>, pages: &mut Vec<(String, String)>) {
    let name = name_of(command);
    pages.push((format!("{name}.1"), page(command, parent)));
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        gather(inner, Some(command), pages);
    }
}

/// Returns the page name of a command, such as `pharos-index-build`.
fn name_of(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command, parent: Option<&Command>) -> String {
    let name = name_of(command).to_string();
    let man = Man::new(command.clone())
        .title(name.to_uppercase())
        .date(WRITTEN)
        .source(concat!("Pharos ", env!("CARGO_PKG_VERSION")))
        .manual("Pharos");
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = man.render_title(&mut bytes);
    let _ = man.render_name_section(&mut bytes);
    let mut text = Roff::default();
    synopsis(&mut text, command);
    text.control("SH", ["DESCRIPTION"]);
    match parent {
        None => prose(&mut text, DESCRIPTION),
        Some(_) => prose(&mut text, &about(command)),
    }
    // Part of the description, because most of it explains what the command does.
    if let (Some(_), Some(more)) =
        (parent, command.get_after_long_help().or_else(|| command.get_after_help()))
    {
        text.control("PP", []);
        prose(&mut text, &more.to_string());
    }
    let _ = text.to_writer(&mut bytes);
    if command.has_subcommands() {
        let _ = man.render_subcommands_section(&mut bytes);
    }
    let _ = man.render_options_section(&mut bytes);
    let _ = match parent {
        None => whole(command).to_writer(&mut bytes),
        Some(parent) => see_also([name_of(parent).to_string(), "pharos".into()]).to_writer(&mut bytes),
    };
    // The generator emits two line breaks before possible values; one is enough.
    String::from_utf8_lossy(&bytes).replace(".br\n\n.br\n", ".sp\n")
}

/// Writes the usage line of `--help`, which is shorter than a list of all flags.
fn synopsis(text: &mut Roff, command: &Command) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    text.control("SH", ["SYNOPSIS"]);
    match usage.strip_prefix(name) {
        Some(rest) => text.text([bold(name), roman(rest)]),
        None => text.text([roman(usage)]),
    };
}

/// Returns the description of a command. Its first paragraph has no full stop in help texts.
fn about(command: &Command) -> String {
    let about = command.get_long_about().or_else(|| command.get_about());
    let text = about.map(ToString::to_string).unwrap_or_default();
    match text.split_once("\n\n") {
        Some((first, rest)) => format!("{first}.\n\n{rest}"),
        None if text.is_empty() => text,
        None => format!("{text}."),
    }
}

/// Writes the sections that appear only in pharos(1).
fn whole(command: &Command) -> Roff {
    let mut text = Roff::default();
    text.control("SH", ["FILES"]);
    list(&mut text, &FILES, italic);
    text.control("PP", []);
    prose(&mut text, FILES_AFTER);
    text.control("SH", ["ENVIRONMENT"]);
    list(&mut text, &ENVIRONMENT, bold);
    text.control("SH", ["EXIT STATUS"]);
    list(&mut text, &EXIT_STATUS, bold);
    let commands = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    text.extend([see_also(commands.map(|inner| name_of(inner).to_string()))]);
    text
}

fn see_also(names: impl IntoIterator<Item = String>) -> Roff {
    let mut names: Vec<String> = names.into_iter().collect();
    names.dedup();
    let mut text = Roff::default();
    text.control("SH", ["SEE ALSO"]);
    let mut line = Vec::new();
    for name in names {
        if !line.is_empty() {
            line.push(roman(", "));
        }
        line.extend([bold(name), roman("(1)")]);
    }
    text.text(line);
    text
}

fn list(text: &mut Roff, entries: &[(&str, &str)], dress: fn(String) -> Inline) {
    for (term, meaning) in entries {
        text.control("TP", []);
        text.text([dress((*term).to_string())]);
        text.text([roman(*meaning)]);
    }
}

/// Writes filled paragraphs; indented lines are kept as they are.
fn prose(text: &mut Roff, prose: &str) {
    let mut is_kept = false;
    for line in prose.trim_end().lines() {
        if line.starts_with("  ") != is_kept {
            is_kept = !is_kept;
            text.control(if is_kept { "nf" } else { "fi" }, []);
        }
        if line.is_empty() {
            text.control("PP", []);
        } else {
            text.text([roman(line)]);
        }
    }
    if is_kept {
        text.control("fi", []);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_named(file: &str) -> String {
        pages().into_iter().find(|(name, _)| name == file).unwrap_or_else(|| panic!("no {file}")).1
    }

    #[test]
    fn every_command_has_a_page() {
        let pages = pages();
        assert_eq!(pages[0].0, "pharos.1");
        let mut root = Cli::command();
        root.build();
        for command in root.get_subcommands().filter(|command| command.get_name() != "help") {
            let page = page_named(&format!("pharos-{}.1", command.get_name()));
            let about = command.get_about().unwrap().to_string();
            assert!(page.contains(&format!(".TH PHAROS-{} 1", command.get_name().to_uppercase())), "{page}");
            assert!(page.contains(about.split([' ', ';']).next().unwrap()), "{page}");
            assert!(pages[0].1.contains(&format!("pharos\\-{}(1)", command.get_name())), "{}", pages[0].1);
        }
        assert!(page_named("pharos-index-build.1").contains("pharos\\-index\\fR(1)"));
    }

    #[test]
    fn what_only_the_manual_tells_is_in_the_first_page() {
        let page = page_named("pharos.1");
        for heading in ["DESCRIPTION", "FILES", "ENVIRONMENT", "EXIT STATUS"] {
            assert!(page.contains(heading), "{heading}");
        }
        for (term, _) in FILES.iter().chain(&ENVIRONMENT) {
            assert!(
                page.contains(&term.replace('-', "\\-").replace('.', "\\.")) || page.contains(term),
                "{term}"
            );
        }
        assert!(page.contains("\\fBpharos\\fR [OPTIONS] <COMMAND>\n") && !page.contains("EXTRA"), "{page}");
    }

    #[test]
    fn examples_keep_their_lines() {
        let mut text = Roff::default();
        prose(&mut text, "One\ntwo.\n\nThree:\n  a\n  b\n\nFour.");
        assert_eq!(text.to_roff(), "One\ntwo.\n.PP\nThree:\n.nf\n  a\n  b\n.fi\n.PP\nFour.\n");
    }
}
