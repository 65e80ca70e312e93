//! `pharos words …`: the vocabulary of this installation.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use pharos_engine::Stores;
use pharos_engine::build::new_words::discover_words;
use pharos_mining::learnt_words::LEARNT;
use pharos_mining::refusals::{Refusal, Refusals};
use pharos_text::dictionary::Dictionary;
use pharos_text::new_words::{
    DiscoveryRules, NewWordCandidate, PrunedCounts, QueryRules, QueryWord, from_queries,
};
use pharos_text::normalise;
use pharos_text::vocabulary::{MAX_FILE_BYTES, Vocabulary, VocabularyEditor, VocabularyProblem, WordKind};
use serde::Serialize;

use crate::cli::{DiscoverArgs, Global, WordsAddArgs, WordsCommand, WordsListArgs, WordsRemoveArgs};
use crate::long_task::LongTask;
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, command: WordsCommand) -> anyhow::Result<CommandOutcome> {
    match command {
        WordsCommand::List(args) => list(global, &args),
        WordsCommand::Add(args) => add(global, &args),
        WordsCommand::Remove(args) => remove(global, &args),
        WordsCommand::Export => export(global),
        WordsCommand::Discover(args) => discover(global, &args),
    }
}

/// A word in the output of `pharos words list`.
#[derive(Serialize)]
struct ListedWord<'a> {
    word: &'a str,
    kind: String,
    frequency: u32,
    source: &'a str,
    /// `true` if all indexed pages were segmented with it.
    indexed: bool,
}

fn list(global: &Global, args: &WordsListArgs) -> anyhow::Result<CommandOutcome> {
    let words = read(global)?;
    let view = Stores::open(&settings::data_dir(global), &settings::load(global)?)?.index()?.view()?;
    let wanted = |kind: WordKind| args.kind.as_deref().is_none_or(|name| name == kind.to_string());
    let listed: Vec<ListedWord<'_>> = words
        .iter()
        .filter(|(_, known)| wanted(known.kind) && (!args.learnt || &*known.source == LEARNT))
        .map(|(word, known)| ListedWord {
            word,
            kind: known.kind.to_string(),
            frequency: known.frequency,
            source: &known.source,
            indexed: view.is_indexed_word(word, known.kind),
        })
        .collect();
    if global.json {
        console::print_json(&listed)?;
    } else {
        for word in &listed {
            let state = if word.indexed { "indexed" } else { "new" };
            console::out!("{}\t{}\t{}\t{state}\t{}", word.word, word.kind, word.frequency, word.source);
        }
    }
    let new = listed.iter().filter(|word| !word.indexed).count();
    if new > 0 {
        console::print_message(global.quiet, &advice(new));
    }
    Ok(if listed.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

/// Explains which words require a new build.
fn advice(new: usize) -> String {
    format!(
        "{new} words are new to the index: queries use them at once, as phrases of indexed words; \
         `pharos index build` indexes all pages with them"
    )
}

fn add(global: &Global, args: &WordsAddArgs) -> anyhow::Result<CommandOutcome> {
    let mut lines = args.words.clone();
    if let Some(file) = &args.file {
        let text = read_input(file)?;
        lines.extend(text.lines().filter(|line| !line.starts_with('#')).map(String::from));
    }
    if lines.is_empty() {
        bail!("no words given: specify words, or a file with --file");
    }
    let mut words = edit(global)?;
    let (mut added, mut refused) = (0, 0);
    for line in lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        match add_line(&mut words, line, args) {
            Ok(_) => added += 1,
            Err(why) => {
                refused += 1;
                console::print_message(global.quiet, &format!("{line}: {why:#}"));
            }
        }
    }
    save(global, words, added)?;
    Ok(if refused == 0 { CommandOutcome::Good } else { CommandOutcome::NothingFound })
}

/// Adds a line: a word, optionally with kind, frequency and source as in the vocabulary file.
fn add_line(words: &mut VocabularyEditor, line: &str, args: &WordsAddArgs) -> anyhow::Result<WordKind> {
    let mut columns = line.split('\t').map(str::trim);
    let word = columns.next().unwrap_or_default();
    let kind = columns.next().filter(|kind| !kind.is_empty()).or(args.kind.as_deref());
    let kind = kind.map(str::parse).transpose()?;
    let frequency = columns.next().filter(|number| !number.is_empty());
    let frequency = frequency.map(str::parse).transpose().context("invalid frequency")?;
    let source = columns.next().unwrap_or(&args.source);
    Ok(words.add(word, kind, frequency.or(args.frequency), source)?)
}

fn remove(global: &Global, args: &WordsRemoveArgs) -> anyhow::Result<CommandOutcome> {
    let mut words = edit(global)?;
    let (mut missing, mut revoked) = (0, Vec::new());
    for word in &args.words {
        let normal = normalise(word);
        let is_learnt = words.words().get(&normal).is_some_and(|known| &*known.source == LEARNT);
        if !words.remove(word) {
            missing += 1;
            console::print_message(global.quiet, &format!("{word}: not in the vocabulary"));
        } else if is_learnt {
            revoked.push(Refusal::Word(normal));
        }
    }
    if !revoked.is_empty() {
        let models = settings::data_dir(global).models();
        Refusals::add(&models, revoked).context("cannot write models/refused.tsv")?;
    }
    if missing < args.words.len() {
        words.save().with_context(|| cannot_write(global))?;
    }
    Ok(if missing == 0 { CommandOutcome::Good } else { CommandOutcome::NothingFound })
}

fn export(global: &Global) -> anyhow::Result<CommandOutcome> {
    let words = read(global)?;
    io::stdout().lock().write_all(words.to_text().as_bytes())?;
    Ok(CommandOutcome::Good)
}

/// A word discovered in pages or queries.
#[derive(Serialize)]
struct Discovered {
    word: String,
    kind: String,
    frequency: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    information: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_entropy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    right_entropy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    days: Option<u32>,
}

impl From<NewWordCandidate> for Discovered {
    fn from(candidate: NewWordCandidate) -> Self {
        Self {
            word: candidate.word,
            kind: candidate.kind.to_string(),
            frequency: candidate.frequency,
            pages: Some(candidate.pages),
            information: Some(candidate.information),
            left_entropy: Some(candidate.left_entropy),
            right_entropy: Some(candidate.right_entropy),
            days: None,
        }
    }
}

impl From<QueryWord> for Discovered {
    fn from(word: QueryWord) -> Self {
        Self {
            word: word.word,
            kind: word.kind.to_string(),
            frequency: word.frequency,
            pages: None,
            information: None,
            left_entropy: None,
            right_entropy: None,
            days: Some(word.days),
        }
    }
}

fn discover(global: &Global, args: &DiscoverArgs) -> anyhow::Result<CommandOutcome> {
    let known = read(global)?;
    let (mut found, forgotten) = match &args.queries {
        Some(file) => from_log(file, args, &known)?,
        None => from_pages(global, args, &known)?,
    };
    if let Some(forgotten) = forgotten {
        let frequency = forgotten.frequency;
        console::print_message(
            global.quiet,
            &format!("memory limit reached: sequences with {frequency} or fewer occurrences were dropped"),
        );
    }
    found.truncate(args.count);
    if args.add {
        let source = if args.queries.is_some() { "queries" } else { "pages" };
        let mut words = edit(global)?;
        let mut added = 0;
        for word in &found {
            added += usize::from(
                words.add(&word.word, Some(word.kind.parse()?), Some(word.frequency), source).is_ok(),
            );
        }
        save(global, words, added)?;
    }
    if global.json {
        console::print_json(&found)?;
    } else {
        for word in &found {
            let figures =
                match (word.pages, word.information, word.left_entropy, word.right_entropy, word.days) {
                    (Some(pages), Some(information), Some(left), Some(right), _) => {
                        format!("{pages} pages\tinformation {information:.1}\tentropy {left:.1} {right:.1}")
                    }
                    (.., Some(days)) => format!("{days} days"),
                    _ => String::new(),
                };
            console::out!("{}\t{}\t{}\t{figures}", word.word, word.kind, word.frequency);
        }
    }
    Ok(if found.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

type Discoveries = (Vec<Discovered>, Option<PrunedCounts>);

fn from_pages(global: &Global, args: &DiscoverArgs, words: &Vocabulary) -> anyhow::Result<Discoveries> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let mut rules = DiscoveryRules::default();
    rules.min_frequency = args.min_frequency.unwrap_or(rules.min_frequency);
    rules.min_pages = args.min_pages.unwrap_or(rules.min_pages);
    rules.min_information = args.min_information.unwrap_or(rules.min_information);
    rules.min_entropy = args.min_entropy.unwrap_or(rules.min_entropy);
    rules.weights.body = u32::from(args.bodies);
    let found = LongTask::run(|task| {
        discover_words(&data, &config, words, rules, |pages| task.report(format!("reading pages: {pages}")))
    })?;
    Ok((found.candidates.into_iter().map(Discovered::from).collect(), found.pruned))
}

/// Reads one query per line: `query`, or `day<TAB>query`, or `day<TAB>query<TAB>count`.
fn from_log(file: &str, args: &DiscoverArgs, words: &Vocabulary) -> anyhow::Result<Discoveries> {
    let text = read_input(file)?;
    let mut days: HashMap<&str, u32> = HashMap::new();
    let mut queries = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let columns: Vec<&str> = line.split('\t').collect();
        let (day, query, count) = match columns[..] {
            [query] => ("", query, "1"),
            [day, query] => (day, query, "1"),
            [day, query, count] => (day, query, count),
            _ => bail!(
                "{file} line {}: expected `query`, `day<TAB>query` or `day<TAB>query<TAB>count`",
                number + 1
            ),
        };
        let count: u32 =
            count.trim().parse().with_context(|| format!("{file} line {}: invalid count", number + 1))?;
        let next = u32::try_from(days.len()).unwrap_or(u32::MAX);
        let day = *days.entry(day).or_insert(next);
        queries.push((query, day, count));
    }
    let mut rules = QueryRules::default();
    rules.min_frequency = args.min_frequency.unwrap_or(rules.min_frequency);
    let found = from_queries(queries, Dictionary::base(), &|word| words.contains(word), &normalise, &rules);
    Ok((found.words.into_iter().map(Discovered::from).collect(), found.pruned))
}

fn read_input(file: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let limit = MAX_FILE_BYTES as u64 + 1;
    match file {
        "-" => io::stdin().lock().take(limit).read_to_end(&mut bytes),
        path => fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)),
    }
    .with_context(|| format!("cannot read {file}"))?;
    if bytes.len() > MAX_FILE_BYTES {
        bail!("{file} is larger than {MAX_FILE_BYTES} bytes: split it");
    }
    String::from_utf8(bytes).with_context(|| format!("{file} is not UTF-8: convert it first"))
}

/// Returns the path of the vocabulary file.
fn path(global: &Global) -> PathBuf {
    settings::data_dir(global).words()
}

/// Reads the vocabulary and reports invalid lines.
fn read(global: &Global) -> anyhow::Result<Vocabulary> {
    let path = path(global);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(e).with_context(|| format!("cannot read {}", path.display())),
    };
    let (words, problems) = Vocabulary::parse(&text, Dictionary::base(), &normalise);
    report_problems(global, &problems);
    Ok(words)
}

/// Opens the vocabulary file for changes.
fn edit(global: &Global) -> anyhow::Result<VocabularyEditor> {
    let path = path(global);
    let editor = VocabularyEditor::open(&path, Dictionary::base(), normalise);
    let editor = editor.with_context(|| format!("cannot edit {}", path.display()))?;
    report_problems(global, editor.problems());
    Ok(editor)
}

fn report_problems(global: &Global, problems: &[VocabularyProblem]) {
    for problem in problems {
        console::print_message(global.quiet, &format!("{}, {problem}", path(global).display()));
    }
}

fn save(global: &Global, words: VocabularyEditor, added: usize) -> anyhow::Result<()> {
    if added > 0 {
        words.save().with_context(|| cannot_write(global))?;
        console::print_message(
            global.quiet,
            &format!("{} added. {}", console::count(added as u64, "word", "words"), advice(added)),
        );
    }
    Ok(())
}

fn cannot_write(global: &Global) -> String {
    format!("cannot write {}", path(global).display())
}
