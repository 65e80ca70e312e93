//! `pharos log entities`: names that users ask about, with contexts and classes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use pharos_learn::topics::weakly_supervised::{ClassExample, ClassModel, ClassParameters};
use pharos_mining::entities::{Contexts, Entity, EntityRules, find_entities};
use serde::Serialize;

use super::source::read_searches;
use crate::cli::{Global, LogEntitiesArgs};
use crate::{CommandOutcome, console, settings};

/// Maximum size of a file of examples.
const MAX_EXAMPLES: u64 = 64 << 20;
/// Contexts shown of an entity.
const SHOWN_CONTEXTS: usize = 5;

/// An entity in the output.
#[derive(Serialize)]
struct ListedEntity<'e> {
    name: &'e str,
    searches: u64,
    questions: u32,
    /// The most frequent contexts.
    contexts: Vec<(String, u32)>,
    /// Predicted classes with their probabilities, the most probable first.
    classes: Vec<(&'e str, f64)>,
    /// The most probable class of each window.
    course: Vec<(String, &'e str)>,
}

pub(super) fn run(global: &Global, args: &LogEntitiesArgs) -> anyhow::Result<CommandOutcome> {
    let examples = args.examples.as_deref().map(read_examples).transpose()?.unwrap_or_default();
    let log = read_searches(global, &args.source)?;
    let of_settings = u32::try_from(settings::load(global)?.log.k).unwrap_or(u32::MAX);
    let rules = EntityRules {
        min_visits: args.min_visits.unwrap_or(of_settings),
        window: Duration::from_secs(86_400 * args.window),
    };
    let entities = find_entities(&log, examples.keys().map(String::as_str), &rules);
    let model = train(&entities, &examples);
    let listed: Vec<ListedEntity<'_>> =
        entities.iter().take(args.count).map(|entity| describe(entity, &model)).collect();
    if global.json {
        console::print_json(&listed)?;
    } else {
        listed.iter().try_for_each(print_entity)?;
    }
    if listed.is_empty() {
        let hint =
            format!("no entity in queries of at least {} visits (log.k); -k 1 uses all", rules.min_visits);
        console::print_message(global.quiet, &hint);
        return Ok(CommandOutcome::NothingFound);
    }
    Ok(CommandOutcome::Good)
}

/// Reads the classes of known entities by normalised name.
fn read_examples(path: &Path) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
    let failed = || format!("cannot read {}", path.display());
    if fs::metadata(path).with_context(failed)?.len() > MAX_EXAMPLES {
        bail!("{} is too large", path.display());
    }
    let text = fs::read_to_string(path).with_context(failed)?;
    let mut examples: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let Some((name, class)) = line.split_once('\t').filter(|(name, _)| !name.trim().is_empty()) else {
            bail!("{} line {number}: expected `name<TAB>class`", path.display());
        };
        let name = pharos_text::normalise(name).split_whitespace().collect::<Vec<_>>().join(" ");
        examples.entry(name).or_default().push(class.trim().to_string());
    }
    Ok(examples)
}

fn train(entities: &[Entity], examples: &BTreeMap<String, Vec<String>>) -> ClassModel {
    let training: Vec<ClassExample> = entities
        .iter()
        .map(|entity| ClassExample {
            contexts: entity.contexts(),
            classes: examples.get(&entity.name).cloned().unwrap_or_default(),
        })
        .collect();
    ClassModel::train(&training, &ClassParameters::default())
}

fn describe<'e>(entity: &'e Entity, model: &'e ClassModel) -> ListedEntity<'e> {
    let rank = |contexts: &Contexts| {
        let shares = model.predict(contexts)?;
        let mut classes: Vec<(&str, f64)> = model.classes().iter().map(String::as_str).zip(shares).collect();
        classes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        Some(classes)
    };
    let all = entity.contexts();
    let classes = rank(&all).unwrap_or_default();
    let course = entity.course(|contexts| rank(contexts)?.first().map(|(class, _)| *class));
    let mut contexts: Vec<(String, u32)> = all.into_iter().collect();
    contexts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    contexts.truncate(SHOWN_CONTEXTS);
    ListedEntity {
        name: &entity.name,
        searches: entity.searches(),
        questions: entity.questions,
        contexts,
        classes,
        course: course.into_iter().map(|(from, class)| (from.date(), class)).collect(),
    }
}

fn print_entity(entity: &ListedEntity<'_>) -> anyhow::Result<()> {
    let classes: Vec<String> = entity
        .classes
        .iter()
        .take(2)
        .map(|(class, share)| format!("{class} {:.0} %", 100.0 * share))
        .collect();
    console::out!(
        "{:>7}  {}  {}",
        entity.searches,
        console::printable(entity.name),
        console::printable(&classes.join(", "))
    );
    let contexts: Vec<String> =
        entity.contexts.iter().map(|(context, count)| format!("{context} ({count})")).collect();
    if !contexts.is_empty() {
        console::out!("         {}", console::printable(&contexts.join(", ")));
    }
    let mut course = entity.course.clone();
    course.dedup_by(|later, earlier| later.1 == earlier.1);
    if course.len() > 1 {
        let course: Vec<String> = course.iter().map(|(from, class)| format!("{class} from {from}")).collect();
        console::out!("         {}", console::printable(&course.join(", ")));
    }
    Ok(())
}
