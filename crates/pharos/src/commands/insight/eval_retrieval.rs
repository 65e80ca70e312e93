//! `pharos eval retrieval`: evaluates ranking against relevance judgements.

use anyhow::{Context as _, bail};
use pharos_core::Config;
use pharos_engine::Stores;
use pharos_learn::collection::{Collection, TestQuery};
use pharos_learn::compare::{ExperimentRules, error_rate, run_experiments};
use pharos_learn::report::{EvaluationReport, Measure, evaluate, format_table};
use pharos_learn::run::{Rankings, write_run};
use pharos_query::{RetrievalEvaluation, SearchRequest, SearchService};
use serde::Serialize;

use crate::cli::{EvalRetrievalArgs, Global};
use crate::{CommandOutcome, commands, console, settings};

/// Comparison of two configurations.
#[derive(Serialize)]
struct Comparison {
    measure: String,
    /// Second minus first.
    mean_difference: f64,
    t: f64,
    degrees_of_freedom: usize,
    p: f64,
    is_significant: bool,
    /// Fraction of smaller query sets that would have given the opposite result.
    error_rate: f64,
}

#[derive(Serialize)]
struct RetrievalOutput<'a> {
    documents: usize,
    report: &'a EvaluationReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    with: Option<&'a EvaluationReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Comparison>,
}

/// Ranks the documents of a collection with some settings.
type Rank<'a> = Box<dyn Fn(&Config) -> anyhow::Result<Rankings> + 'a>;

/// Number of results of a visitor's query that are evaluated.
const PAGES_DEPTH: usize = 50;

pub(crate) fn run(global: &Global, args: &EvalRetrievalArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    if args.pages {
        let data = settings::data_dir(global);
        settings::require_data_dir(&data)?;
        let collection = Collection::read_queries(&args.dir)?;
        let rank: Rank<'_> =
            Box::new(|config| rank_pages(&collection, &commands::search::open_service(&data, config)?));
        return compare_settings(global, args, &config, &collection, &rank);
    }
    let collection = Collection::read(&args.dir)?;
    let place = tempfile::tempdir().context("cannot create a directory for the index")?;
    let trial = RetrievalEvaluation::index(&collection, Stores::scratch_index(place.path(), &config)?)?;
    let rank: Rank<'_> = Box::new(|config| Ok(trial.run(&collection, config)?));
    compare_settings(global, args, &config, &collection, &rank)
}

/// Searches the pages of the data directory for every query. Documents are the URLs of pages.
fn rank_pages(collection: &Collection, search: &SearchService) -> anyhow::Result<Rankings> {
    let rank = |query: &TestQuery| -> anyhow::Result<(String, Vec<String>)> {
        let request = SearchRequest { size: PAGES_DEPTH, ..SearchRequest::new(&query.text) };
        let response = search.run(&request)?;
        Ok((query.id.clone(), response.hits.into_iter().map(|hit| hit.url).collect()))
    };
    collection.queries.iter().map(rank).collect()
}

/// Evaluates the configured settings and those to compare with.
fn compare_settings(
    global: &Global,
    args: &EvalRetrievalArgs,
    config: &Config,
    collection: &Collection,
    rank: &Rank<'_>,
) -> anyhow::Result<CommandOutcome> {
    let rankings = rank(config)?;
    if let Some(file) = &args.run {
        write_run(file, &rankings, "pharos").with_context(|| format!("cannot write {}", file.display()))?;
    }
    let report = evaluate(collection, &rankings, args.relevant_from);
    if report.queries == 0 {
        bail!("no query in {} has a relevant document", args.dir.display());
    }
    let other = match comparison_settings(config, args)? {
        Some(other) => Some(evaluate(collection, &rank(&other)?, args.relevant_from)),
        None => None,
    };
    let comparison = other.as_ref().map(|other| compare(&report, other, args)).transpose()?;
    if global.json {
        let documents = collection.documents.len();
        console::print_json(&RetrievalOutput {
            documents,
            report: &report,
            with: other.as_ref(),
            comparison,
        })?;
        return Ok(CommandOutcome::Good);
    }
    if args.pages {
        console::out!(
            "{} queries with a relevant document, searched in the data directory; {PAGES_DEPTH} results each",
            report.queries
        );
    } else {
        console::out!(
            "{} documents, {} queries with a relevant document; partial matches included",
            collection.documents.len(),
            report.queries
        );
    }
    let mut columns = vec![("configured", &report)];
    columns.extend(other.as_ref().map(|other| ("with", other)));
    console::out!("{}", format_table(&columns).trim_end());
    if let Some(Comparison { measure, mean_difference, t, p, is_significant, error_rate, .. }) = comparison {
        let verdict = match (is_significant, mean_difference > 0.0) {
            (false, _) => "no significant difference",
            (true, true) => "`with` is better",
            (true, false) => "`configured` is better",
        };
        console::out!(
            "{measure}: difference {mean_difference:+.4}, t = {t:.2}, p = {p:.4}: {verdict}; error rate {error_rate:.3}"
        );
    }
    Ok(CommandOutcome::Good)
}

/// Returns the settings to compare with.
fn comparison_settings(config: &Config, args: &EvalRetrievalArgs) -> anyhow::Result<Option<Config>> {
    if args.with.is_empty() {
        return Ok(None);
    }
    let mut other = config.clone();
    for setting in &args.with {
        let Some((key, value)) = setting.split_once('=') else {
            bail!("--with {setting}: expected key=value, for example rank.model=tfidf");
        };
        other.set(key.trim(), value.trim(), "--with")?;
    }
    Ok(Some(other))
}

fn compare(
    report: &EvaluationReport,
    other: &EvaluationReport,
    args: &EvalRetrievalArgs,
) -> anyhow::Result<Comparison> {
    let measure: Measure = args.measure.parse().map_err(|e| anyhow::anyhow!("--measure: {e}"))?;
    let test = other.compare(report, measure)?;
    let outcomes =
        run_experiments(&other.values(measure), &report.values(measure), &ExperimentRules::default())?;
    Ok(Comparison {
        measure: measure.to_string(),
        mean_difference: test.mean_difference,
        t: test.t,
        degrees_of_freedom: test.degrees_of_freedom,
        p: test.p,
        is_significant: test.is_significant(),
        error_rate: error_rate(&[outcomes]),
    })
}
