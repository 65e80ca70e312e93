//! `pharos classify …` for the categories of pages: taxonomy, examples, models, and what they say about pages.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use pharos_core::{Clock as _, Config, PageUrl, SystemClock};
use pharos_engine::categories::explanation::{CategoryExplanation, explain_categories};
use pharos_engine::categories::training::{TrainedCategories, export_categories, train_categories};
use pharos_engine::{EngineError, Stores};
use pharos_learn::categories::decisions::parse_target;
use pharos_learn::categories::training::TrainingSettings;
use pharos_learn::categories::{
    CategoryDecision, CategoryExample, CategoryStore, ExampleKind, ModelCard, examples, starter,
};
use pharos_learn::classify::TrainingOptions;
use pharos_learn::classify::taxonomy::Taxonomy;
use pharos_store::DataDir;

use super::input::shown;
use crate::cli::{
    AddExamplesArgs, ClassifyCommand, DecideArgs, ExampleKindArg, ExamplesCommand, Global, IndexBuildArgs,
    TaxonomyCommand,
};
use crate::console::count;
use crate::long_task::LongTask;
use crate::{CommandOutcome, commands, console, settings};

/// Maximum size of a file of a taxonomy or of examples.
const MAX_FILE: u64 = 256 << 20;

/// Number of confusions that are printed.
const CONFUSIONS: usize = 5;

/// Runs a command that needs a data directory.
pub(crate) fn run(global: &Global, command: ClassifyCommand) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    let store = CategoryStore::at(&data.models());
    if !matches!(command, ClassifyCommand::Taxonomy { .. }) {
        settings::require_data_dir(&data)?;
    }
    match command {
        ClassifyCommand::Taxonomy { command } => taxonomy(global, &store, command),
        ClassifyCommand::Examples { command } => change_examples(global, &store, command),
        ClassifyCommand::Models => models(global, &store),
        ClassifyCommand::Deploy(args) => deploy(global, &store, args.version),
        ClassifyCommand::Rollback => roll_back(global, &store),
        ClassifyCommand::Apply => apply(global, &store),
        ClassifyCommand::Explain(args) => explain(global, &data, &config, &args.url),
        ClassifyCommand::Export => export(&data, &config),
        ClassifyCommand::Decide(args) => decide(global, &store, &args),
        ClassifyCommand::Train(_)
        | ClassifyCommand::Test(_)
        | ClassifyCommand::Validate(_)
        | ClassifyCommand::Text(_) => bail!("the command needs files"),
    }
}

fn read_file(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let mut read = |input: &mut dyn io::Read| input.take(MAX_FILE).read_to_string(&mut text);
    let result = if path == Path::new("-") {
        read(&mut io::stdin().lock())
    } else {
        fs::File::open(path).and_then(|mut file| read(&mut file))
    };
    result.with_context(|| format!("cannot read {}", shown(path)))?;
    Ok(text)
}

fn taxonomy(
    global: &Global,
    store: &CategoryStore,
    command: TaxonomyCommand,
) -> anyhow::Result<CommandOutcome> {
    let taxonomy = match command {
        TaxonomyCommand::Show => {
            let taxonomy = store.taxonomy()?;
            return show_taxonomy(global, &taxonomy);
        }
        TaxonomyCommand::Export(args) => {
            let taxonomy = store.taxonomy()?;
            let text = if args.csv { taxonomy.to_csv() } else { taxonomy.to_json() };
            io::stdout().lock().write_all(text.as_bytes())?;
            return Ok(if taxonomy.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good });
        }
        TaxonomyCommand::Import(args) => {
            let text = read_file(&args.file)?;
            let new = Taxonomy::parse(&text).with_context(|| shown(&args.file))?;
            store.change_taxonomy(|_| Ok(new))?
        }
        TaxonomyCommand::Starter => {
            if !store.taxonomy()?.is_empty() {
                bail!("there is a taxonomy already: `pharos classify taxonomy show` prints it");
            }
            install_starter(store)?
        }
    };
    console::print_message(
        global.quiet,
        &count(taxonomy.categories().len() as u64, "category", "categories"),
    );
    Ok(CommandOutcome::Good)
}

/// Installs the starter taxonomy with its training texts.
pub(crate) fn install_starter(store: &CategoryStore) -> anyhow::Result<Taxonomy> {
    let taxonomy = store.change_taxonomy(|_| Ok(starter::taxonomy()))?;
    store.change_examples(|all| examples::merge(all, starter::examples()))?;
    Ok(taxonomy)
}

fn show_taxonomy(global: &Global, taxonomy: &Taxonomy) -> anyhow::Result<CommandOutcome> {
    if global.json {
        console::print_json(&taxonomy.categories())?;
    } else {
        for (level, category) in taxonomy.tree() {
            let indent = "  ".repeat(level);
            let (en, zh) =
                (console::printable(category.name(false)), console::printable(category.name(true)));
            console::out!("{indent}{}  {en}  {zh}", category.id);
        }
    }
    Ok(if taxonomy.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

fn change_examples(
    global: &Global,
    store: &CategoryStore,
    command: ExamplesCommand,
) -> anyhow::Result<CommandOutcome> {
    match command {
        ExamplesCommand::Show => {
            let all = store.examples()?;
            if global.json {
                console::print_json(&all)?;
            } else {
                io::stdout().lock().write_all(examples::to_csv(&all).as_bytes())?;
            }
            return Ok(if all.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good });
        }
        ExamplesCommand::Add(args) => {
            require_category(store, &args.category)?;
            let new = new_examples(&args)?;
            report_added(global, store, new)?;
        }
        ExamplesCommand::Import(args) => {
            let (new, unusable) = examples::parse(&read_file(&args.file)?);
            if unusable > 0 {
                let message =
                    format!("{}: {} skipped", shown(&args.file), count(unusable as u64, "line", "lines"));
                console::print_message(global.quiet, &message);
            }
            report_added(global, store, new)?;
        }
        ExamplesCommand::Remove(args) => {
            let removed = store.change_examples(|all| {
                let before = all.len();
                all.retain(|example| example.category != args.category);
                before - all.len()
            })?;
            let message = format!("{} removed", count(removed as u64, "example", "examples"));
            console::print_message(global.quiet, &message);
            return Ok(if removed > 0 { CommandOutcome::Good } else { CommandOutcome::NothingFound });
        }
    }
    Ok(CommandOutcome::Good)
}

fn new_examples(args: &AddExamplesArgs) -> anyhow::Result<Vec<CategoryExample>> {
    let kind = match args.kind {
        ExampleKindArg::Text => ExampleKind::Text,
        ExampleKindArg::Url => ExampleKind::Url,
        ExampleKindArg::Section => ExampleKind::Section,
        ExampleKindArg::Search => ExampleKind::Search,
    };
    let example = |value: &String| {
        CategoryExample::new(&args.category, kind, value)
            .with_context(|| format!("`{value}` is empty or too long"))
    };
    args.values.iter().map(example).collect()
}

fn report_added(global: &Global, store: &CategoryStore, new: Vec<CategoryExample>) -> anyhow::Result<()> {
    let added = store.change_examples(|all| examples::merge(all, new))?;
    console::print_message(global.quiet, &format!("{} added", count(added as u64, "example", "examples")));
    Ok(())
}

fn require_category(store: &CategoryStore, id: &str) -> anyhow::Result<()> {
    if store.taxonomy()?.get(id).is_none() {
        bail!("there is no category `{id}`: `pharos classify taxonomy show` lists them");
    }
    Ok(())
}

/// `pharos classify train` without a file: trains a model of categories.
pub(crate) fn train(
    global: &Global,
    options: &TrainingOptions,
    min_confidence: f32,
    deploy: bool,
) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    if !(0.0..=1.0).contains(&min_confidence) {
        bail!("--min-confidence must be from 0 to 1, not {min_confidence}");
    }
    let store = CategoryStore::at(&data.models());
    if store.taxonomy()?.is_empty() {
        bail!(
            "there is no taxonomy: import one with `pharos classify taxonomy import FILE`, or install the starter taxonomy \
             with `pharos classify taxonomy starter`"
        );
    }
    let settings = TrainingSettings { options: *options, min_confidence };
    let trained = LongTask::run(|task| {
        let search = commands::search::open_service(&data, &config)?;
        let best = |query: &str, results: usize| {
            let found = search.processor().best(query, results);
            found.map_err(|error| EngineError::Settings(error.to_string()))
        };
        let mut check = |pages: u64| {
            let text = if pages > 0 {
                format!("reading examples: {}", count(pages, "page", "pages"))
            } else {
                "training".into()
            };
            if task.report(text) { Ok(()) } else { Err(EngineError::Stopped) }
        };
        anyhow::Ok(train_categories(&data, &config, &settings, &best, &mut check)?)
    })?;
    if deploy {
        store.deploy(trained.card.version)?;
    }
    if global.json {
        console::print_json(&trained)?;
    } else {
        print_trained(&trained)?;
        if deploy {
            console::out!("deployed; `pharos classify apply` gives all pages their categories");
        } else {
            console::out!("deploy it with `pharos classify deploy`");
        }
    }
    Ok(CommandOutcome::Good)
}

fn print_trained(trained: &TrainedCategories) -> io::Result<()> {
    console::out!("{}", summary(&trained.card));
    if trained.unused_examples > 0 {
        let unused = count(trained.unused_examples as u64, "example", "examples");
        console::out!("{unused} not used: the page is not stored, or the category does not exist");
    }
    if trained.card.contradictory > 0 {
        let texts = count(trained.card.contradictory as u64, "text is", "texts are");
        console::out!("{texts} an example of several categories");
    }
    for confusion in trained.card.confusions.iter().take(CONFUSIONS) {
        console::out!("  confused {} times: {} as {}", confusion.count, confusion.right, confusion.assigned);
    }
    Ok(())
}

/// Returns a line about a model.
fn summary(card: &ModelCard) -> String {
    let examples = count(card.examples as u64, "example", "examples");
    let categories = count(card.categories as u64, "category", "categories");
    let figures = match (card.accuracy, card.macro_f1) {
        (Some(accuracy), Some(f1)) => format!("accuracy {accuracy:.3}, macro F1 {f1:.3} by cross-validation"),
        _ => "too few examples for figures".to_string(),
    };
    format!("version {}, {examples}, {categories}, {figures}, trained {}", card.version, card.trained)
}

fn models(global: &Global, store: &CategoryStore) -> anyhow::Result<CommandOutcome> {
    let (models, deployed) = (store.models()?, store.deployed()?);
    if global.json {
        console::print_json(&serde_json::json!({ "deployed": deployed, "models": models }))?;
    } else {
        for card in &models {
            let mark = if deployed == Some(card.version) { "* " } else { "  " };
            console::out!("{mark}{}", summary(card));
        }
    }
    Ok(if models.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

fn deploy(global: &Global, store: &CategoryStore, version: Option<u64>) -> anyhow::Result<CommandOutcome> {
    let version = match version {
        Some(version) => version,
        None => {
            let newest = store.models()?.first().map(|card| card.version);
            newest.context("there is no model: train one with `pharos classify train`")?
        }
    };
    store.deploy(version)?;
    let message =
        format!("version {version} is deployed; `pharos classify apply` gives all pages their categories");
    console::print_message(global.quiet, &message);
    Ok(CommandOutcome::Good)
}

fn roll_back(global: &Global, store: &CategoryStore) -> anyhow::Result<CommandOutcome> {
    let message = match store.roll_back()? {
        Some(version) => format!("version {version} is deployed again"),
        None => "no model is deployed now".to_string(),
    };
    console::print_message(global.quiet, &message);
    Ok(CommandOutcome::Good)
}

/// Builds the index again from the stored page objects: nothing is fetched, and nothing is parsed again.
fn apply(global: &Global, store: &CategoryStore) -> anyhow::Result<CommandOutcome> {
    if store.deployed()?.is_none() {
        console::print_message(global.quiet, "no model is deployed: pages lose their categories");
    }
    commands::search::index::build(global, &IndexBuildArgs { force: false })
}

fn explain(global: &Global, data: &DataDir, config: &Config, url: &str) -> anyhow::Result<CommandOutcome> {
    let url = PageUrl::parse(url).with_context(|| format!("`{url}` is not the URL of a page"))?;
    let Some(explained) = explain_categories(&Stores::open(data, config)?, &url)? else {
        console::print_message(global.quiet, &format!("{url} is not searchable"));
        return Ok(CommandOutcome::NothingFound);
    };
    if global.json {
        console::print_json(&explained)?;
    } else {
        print_explanation(&explained)?;
    }
    Ok(if explained.assigned.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

fn print_explanation(explained: &CategoryExplanation) -> io::Result<()> {
    console::out!("{}", console::printable(&explained.title));
    console::out!("in the index: {}", explained.indexed.as_deref().unwrap_or("no category"));
    if explained.assigned.is_empty() {
        let reason = if explained.decided { "no category, by decision" } else { "no category" };
        console::out!("version {}: {reason}", explained.version);
    }
    for assigned in &explained.assigned {
        let by = if explained.decided { ", by decision" } else { "" };
        console::out!("version {}: {} {:.2}{by}", explained.version, assigned.id, assigned.confidence);
    }
    for considered in &explained.considered {
        let terms = considered.terms.iter().filter(|term| term.contribution > 0.0);
        let terms: Vec<String> = terms
            .map(|term| format!("{} {:+.2}", console::printable(&term.term), term.contribution))
            .collect();
        console::out!("{:>6.2} {}  {}", considered.confidence, considered.id, terms.join(", "));
    }
    if !explained.breadcrumbs.is_empty() {
        console::out!("stated by the page: {}", console::printable(&explained.breadcrumbs.join(" > ")));
    }
    Ok(())
}

fn export(data: &DataDir, config: &Config) -> anyhow::Result<CommandOutcome> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut failure: Option<io::Error> = None;
    let mut found = false;
    let exported = export_categories(data, config, &mut |url, assigned| {
        for category in assigned {
            found = true;
            let line = writeln!(out, "{url}\t{}\t{:.3}", category.id, category.confidence);
            if let Err(error) = line {
                failure = Some(error);
                return Err(EngineError::Stopped);
            }
        }
        Ok(())
    });
    if let Some(error) = failure {
        return Err(error.into());
    }
    exported?;
    out.flush()?;
    Ok(if found { CommandOutcome::Good } else { CommandOutcome::NothingFound })
}

fn decide(global: &Global, store: &CategoryStore, args: &DecideArgs) -> anyhow::Result<CommandOutcome> {
    let target = parse_target(&args.target)
        .with_context(|| format!("`{}` is neither the URL of a page nor a host", args.target))?;
    let Some(category) = &args.category else {
        let removed = store.change_decisions(|decisions| decisions.remove(&target))?;
        return Ok(if removed { CommandOutcome::Good } else { CommandOutcome::NothingFound });
    };
    let category = Some(category.clone()).filter(|category| category != "none");
    if let Some(category) = &category {
        require_category(store, category)?;
    }
    let at = SystemClock.now().to_string();
    let decision = CategoryDecision { target, category, by: String::new(), at };
    if !store.change_decisions(|decisions| decisions.put(decision))? {
        bail!("there are too many decisions: remove some first");
    }
    console::print_message(
        global.quiet,
        "decided; it applies when the page is read again or at the next build",
    );
    Ok(CommandOutcome::Good)
}
