//! `pharos curate …`: pinned and hidden results, notices and synonyms.

use anyhow::{Context as _, bail};
use pharos_core::{Clock as _, Config, PageId, SystemClock, Timestamp};
use pharos_engine::Stores;
use pharos_mining::refusals::{Refusal, Refusals};
use pharos_mining::synonyms::read_proposals;
use pharos_query::curation::records::{
    CurationChange, CurationEntry, CurationError, CurationRule, parse_until,
};
use pharos_query::curation::store::CurationStore;
use pharos_query::curation::synonyms::{SynonymSets, add_synonyms, synonyms_file};
use pharos_store::DataDir;
use serde::Serialize;

use crate::cli::{CurateCommand, CuratorArgs, Global, NoticeArgs, ProposalsArgs};
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, command: CurateCommand) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    match command {
        CurateCommand::List => list(global, &data, &config),
        CurateCommand::Pin(args) => {
            let rule = CurationRule::Pin { query: args.query, url: args.url, place: args.place };
            let entry = put(&data, rule, &args.curator)?;
            if !are_searchable(&data, &config, std::slice::from_ref(&entry))?[0] {
                console::print_message(global.quiet, "the page is not in the index: it is shown once it is");
            }
            report(global, &entry)
        }
        CurateCommand::Unpin(args) => {
            remove(global, &data, &CurationRule::Pin { query: args.query, url: args.url, place: 1 })
        }
        CurateCommand::Hide(args) => {
            let rule = CurationRule::Hide { query: args.query, url: args.url };
            report(global, &put(&data, rule, &args.curator)?)
        }
        CurateCommand::Unhide(args) => {
            remove(global, &data, &CurationRule::Hide { query: args.query, url: args.url })
        }
        CurateCommand::Notice(args) => notice(global, &data, args),
        CurateCommand::Synonyms => synonyms(global, &data),
        CurateCommand::Proposals(args) => proposals(global, &data, &args),
    }
}

/// An entry in the output of `pharos curate list`.
#[derive(Serialize)]
struct ListedEntry<'a> {
    #[serde(flatten)]
    entry: &'a CurationEntry,
    /// `false` after its end.
    active: bool,
    /// `true` if the page is in the index; absent for notices.
    #[serde(skip_serializing_if = "Option::is_none")]
    searchable: Option<bool>,
}

/// The output of `pharos curate list`.
#[derive(Serialize)]
struct CurationList<'a> {
    entries: Vec<ListedEntry<'a>>,
    boosts: &'a [String],
    blocks: &'a [String],
}

fn list(global: &Global, data: &DataDir, config: &Config) -> anyhow::Result<CommandOutcome> {
    let records = CurationStore::at(&data.models()).load()?;
    let searchable = are_searchable(data, config, records.entries())?;
    let now = SystemClock.now();
    let entries = records.entries().iter().zip(searchable).map(|(entry, searchable)| ListedEntry {
        entry,
        active: entry.is_active(now),
        searchable: entry.rule.page().map(|_| searchable),
    });
    let list =
        CurationList { entries: entries.collect(), boosts: &config.rank.boost, blocks: &config.rank.block };
    if global.json {
        console::print_json(&list)?;
    } else {
        print(&list)?;
    }
    let is_empty = list.entries.is_empty() && list.boosts.is_empty() && list.blocks.is_empty();
    Ok(if is_empty { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

fn print(list: &CurationList<'_>) -> anyhow::Result<()> {
    for listed in &list.entries {
        let mut state = String::new();
        if !listed.active {
            state.push_str(", ended");
        }
        if listed.searchable == Some(false) {
            state.push_str(", not in the index");
        }
        console::out!("{}{state}", console::printable(&describe(listed.entry)));
    }
    for boost in list.boosts {
        console::out!("      boost   {}  (rank.boost)", console::printable(boost));
    }
    for block in list.blocks {
        console::out!("      block   {}  (rank.block)", console::printable(block));
    }
    Ok(())
}

/// Describes an entry in one line.
fn describe(entry: &CurationEntry) -> String {
    let what = match &entry.rule {
        CurationRule::Pin { query, url, place } => format!("pin     [{query}] {place}: {url}"),
        CurationRule::Hide { query: Some(query), url } => format!("hide    [{query}] {url}"),
        CurationRule::Hide { query: None, url } => format!("hide    {url}"),
        CurationRule::Notice { query, text, link: Some(link) } => {
            format!("notice  [{query}] {text} <{link}>")
        }
        CurationRule::Notice { query, text, link: None } => format!("notice  [{query}] {text}"),
    };
    let until = entry.until.map(|until| format!(", until {until}")).unwrap_or_default();
    format!("{:>4}  {what}  (by {}, {}{until})", entry.id, entry.by, entry.at.date())
}

/// Returns whether the page of each entry is in the index; `false` for notices.
fn are_searchable(data: &DataDir, config: &Config, entries: &[CurationEntry]) -> anyhow::Result<Vec<bool>> {
    let pages: Vec<Option<PageId>> =
        entries.iter().map(|entry| entry.rule.page().map(|page| page.id())).collect();
    let view = Stores::open(data, config)?.index()?.view()?;
    let known: Vec<PageId> = pages.iter().flatten().copied().collect();
    let mut found = view.candidates(&known)?.into_iter();
    Ok(pages.iter().map(|page| page.is_some() && found.next().flatten().is_some()).collect())
}

/// Stores an entry, or replaces the one about the same query and page.
fn put(data: &DataDir, rule: CurationRule, curator: &CuratorArgs) -> anyhow::Result<CurationEntry> {
    let until = curator.until.as_deref().map(parse_time).transpose()?;
    let by = user_name(curator.by.clone());
    let change = CurationChange { rule, until, by, at: SystemClock.now() };
    Ok(CurationStore::at(&data.models()).change(|records| records.put(change))?)
}

/// Returns the given name, or the name of the user.
pub(crate) fn user_name(given: Option<String>) -> String {
    let name = given.or_else(|| std::env::var("USER").ok()).filter(|name| !name.trim().is_empty());
    name.unwrap_or_else(|| "command line".into())
}

/// Parses a day or a time.
pub(crate) fn parse_time(text: &str) -> anyhow::Result<Timestamp> {
    match parse_until(text) {
        Some(time) => Ok(time),
        None => bail!("`{text}` is not a time: write it as 2026-01-31 or 2026-01-31T12:00:00Z"),
    }
}

fn report(global: &Global, entry: &CurationEntry) -> anyhow::Result<CommandOutcome> {
    if global.json {
        console::print_json(entry)?;
    } else {
        console::out!("{}", console::printable(&describe(entry)));
    }
    Ok(CommandOutcome::Good)
}

/// Removes the entry about the query and page of `rule`.
fn remove(global: &Global, data: &DataDir, rule: &CurationRule) -> anyhow::Result<CommandOutcome> {
    let rule = rule.clone().validated()?;
    let removed = CurationStore::at(&data.models()).change(|records| {
        let found = records.find(&rule).map(|entry| (entry.id, entry.version));
        let (id, version) = found.ok_or(CurationError::Missing)?;
        records.remove(id, version)
    });
    match removed {
        Ok(entry) => report(global, &entry),
        Err(CurationError::Missing) => {
            console::print_message(global.quiet, "there is no such entry: see `pharos curate list`");
            Ok(CommandOutcome::NothingFound)
        }
        Err(error) => Err(error.into()),
    }
}

fn notice(global: &Global, data: &DataDir, args: NoticeArgs) -> anyhow::Result<CommandOutcome> {
    let NoticeArgs { query, text, link, remove: is_removal, curator } = args;
    if is_removal {
        let text = "removed".to_string();
        return remove(global, data, &CurationRule::Notice { query, text, link: None });
    }
    let rule = CurationRule::Notice { query, text: text.unwrap_or_default(), link };
    report(global, &put(data, rule, &curator)?)
}

fn synonyms(global: &Global, data: &DataDir) -> anyhow::Result<CommandOutcome> {
    let (sets, problems) = SynonymSets::parse(&synonyms_file(&data.models()).read_text()?);
    if global.json {
        console::print_json(&sets.iter().collect::<Vec<_>>())?;
    } else {
        for set in sets.iter() {
            console::out!("{}", set.join("\t"));
        }
    }
    for problem in &problems {
        console::print_message(global.quiet, &format!("synonyms.tsv {problem}"));
    }
    Ok(match (problems.is_empty(), sets.is_empty()) {
        (false, _) => CommandOutcome::PartlyBad,
        (true, true) => CommandOutcome::NothingFound,
        (true, false) => CommandOutcome::Good,
    })
}

/// Lists, accepts or rejects proposed synonyms.
fn proposals(global: &Global, data: &DataDir, args: &ProposalsArgs) -> anyhow::Result<CommandOutcome> {
    if let Some([a, b]) = args.accept.as_deref() {
        if !add_synonyms(&data.models(), a, b)? {
            bail!("a set needs two different words");
        }
        return Ok(CommandOutcome::Good);
    }
    if let Some([a, b]) = args.reject.as_deref() {
        Refusals::add(&data.models(), [Refusal::synonyms(a, b)]).context("cannot write refused.tsv")?;
        return Ok(CommandOutcome::Good);
    }
    let (sets, _) = SynonymSets::parse(&synonyms_file(&data.models()).read_text()?);
    let mut proposals = read_proposals(data).context("cannot read the proposals of the last build")?;
    proposals.retain(|proposal| !sets.are_synonyms(&proposal.words[0], &proposal.words[1]));
    if global.json {
        console::print_json(&proposals)?;
    } else {
        for proposal in &proposals {
            let [a, b] = proposal.words.each_ref().map(|word| console::printable(word));
            let queries = proposal.queries.each_ref().map(|query| console::printable(query)).join(" / ");
            let (visits, clicks) = (proposal.visits, 100.0 * proposal.similarity);
            console::out!("{a}\t{b}\t{visits} visits\tclicks {clicks:.0} %\t{queries}");
        }
    }
    Ok(if proposals.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}
