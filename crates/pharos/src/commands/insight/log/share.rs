//! `pharos log anonymise`, `k`, `purge` and `export`.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use pharos_mining::anonymise::k_anonymity::{KAnonymity, measure};
use pharos_mining::anonymise::purge::purge_visit;
use pharos_mining::anonymise::ubi::document;
use pharos_mining::anonymise::{
    AnonymiseRules, Anonymiser, IdentifierRule, QueryVisits, SensitiveKind, SensitiveRule, SensitiveWords,
    TimePrecision, random_secret,
};
use pharos_mining::search_log::for_each_record;
use pharos_mining::{AnyRecord, DayRange};

use super::source::read_searches;
use super::{days_of, logs};
use crate::cli::{
    Global, LogAnonymiseArgs, LogExportArgs, LogKArgs, LogPurgeArgs, SensitiveArg, SensitiveListArg,
    TimesArg, VisitsArg,
};
use crate::{CommandOutcome, console, settings};

/// Maximum size of a list of sensitive words.
const MAX_WORDS_FILE: u64 = 16 << 20;

fn log_k(global: &Global, given: Option<u32>) -> anyhow::Result<u32> {
    let k = settings::load(global)?.log.k;
    Ok(given.unwrap_or(u32::try_from(k).unwrap_or(u32::MAX)))
}

fn rules(global: &Global, args: &LogAnonymiseArgs) -> anyhow::Result<AnonymiseRules> {
    let further = match &args.words {
        Some(path) => read_words(path)?,
        None => String::new(),
    };
    let kinds: Vec<SensitiveKind> = args
        .lists
        .iter()
        .map(|list| match list {
            SensitiveListArg::Names => SensitiveKind::Names,
            SensitiveListArg::Addresses => SensitiveKind::Addresses,
            SensitiveListArg::Health => SensitiveKind::Health,
            SensitiveListArg::Money => SensitiveKind::Money,
        })
        .collect();
    Ok(AnonymiseRules {
        visits: match args.visits {
            VisitsArg::Keep => IdentifierRule::Keep,
            VisitsArg::Hash => IdentifierRule::Hash,
            VisitsArg::Remove => IdentifierRule::Remove,
        },
        hash_queries: args.hash_queries,
        min_visits: log_k(global, args.min_visits)?,
        times: match args.times {
            TimesArg::Exact => TimePrecision::Exact,
            TimesArg::Hour => TimePrecision::Hour,
            TimesArg::Day => TimePrecision::Day,
        },
        digits: args.digits,
        sensitive: match args.sensitive {
            SensitiveArg::Keep => SensitiveRule::Keep,
            SensitiveArg::Remove => SensitiveRule::Scrub,
            SensitiveArg::Drop => SensitiveRule::Drop,
        },
        words: SensitiveWords::new(&kinds, further.lines()),
    })
}

fn read_words(path: &Path) -> anyhow::Result<String> {
    let size = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?.len();
    if size > MAX_WORDS_FILE {
        bail!("{} has {size} bytes: the maximum is {MAX_WORDS_FILE}", path.display());
    }
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Reads the key of the hashes, or creates it.
fn secret(path: Option<&Path>) -> anyhow::Result<Vec<u8>> {
    let create = || random_secret().context("cannot create a key: no random numbers available");
    let Some(path) = path else { return create() };
    if path.exists() {
        let key = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        if key.len() < 16 {
            bail!("{} is no key: it has fewer than 16 bytes", path.display());
        }
        return Ok(key);
    }
    let key = create()?;
    pharos_files::replace_private(path, &key).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(key)
}

pub(super) fn anonymise(global: &Global, args: &LogAnonymiseArgs) -> anyhow::Result<CommandOutcome> {
    let (rules, days) = (rules(global, args)?, days_of(&args.days)?);
    let secret = secret(args.key.as_deref())?;
    let read = |take: &mut dyn FnMut(AnyRecord) -> io::Result<()>| {
        for_each_record(&args.input, &days, take)
            .with_context(|| format!("cannot read {}", args.input.display()))
    };
    let mut visits = QueryVisits::default();
    read(&mut |record| {
        visits.add(&record, &rules);
        Ok(())
    })?;
    let output = fs::OpenOptions::new().write(true).create_new(true).open(&args.output);
    let mut output =
        BufWriter::new(output.with_context(|| format!("cannot create {}", args.output.display()))?);
    let mut anonymiser = Anonymiser::new(rules, &visits, &secret);
    let invalid = read(&mut |record| {
        if let Some(record) = anonymiser.anonymise(record) {
            record.write_line(&mut output)?;
        }
        Ok(())
    })?;
    output.flush()?;
    let report = anonymiser.report;
    if global.json {
        console::print_json(&report)?;
    } else {
        console::out!("{} of {} records written", report.written, report.read);
        for (count, what) in [
            (report.rare, "queries of too few visits dropped"),
            (report.sensitive, "queries with sensitive words dropped"),
            (report.scrubbed, "texts with words or digits removed"),
            (invalid, "invalid lines skipped"),
        ] {
            if count > 0 {
                console::out!("{count} {what}");
            }
        }
    }
    Ok(if report.written == 0 { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

pub(super) fn measure_k(global: &Global, args: &LogKArgs) -> anyhow::Result<CommandOutcome> {
    let log = read_searches(global, &args.source)?;
    let measured = measure(&log, log_k(global, args.min_visits)?, args.count);
    if global.json {
        console::print_json(&measured)?;
    } else {
        print_measured(&measured)?;
    }
    if log.searches.is_empty() {
        console::print_message(global.quiet, "the log has no queries");
    }
    let is_good = measured.is_fulfilled() && !log.searches.is_empty();
    Ok(if is_good { CommandOutcome::Good } else { CommandOutcome::NothingFound })
}

fn print_measured(measured: &KAnonymity) -> anyhow::Result<()> {
    let KAnonymity { k, queries, rare_queries, rare_searches, least_visits, .. } = measured;
    console::out!(
        "queries: k = {least_visits}; {rare_queries} of {queries} are from fewer than {k} visits ({rare_searches} searches)"
    );
    if measured.visits > 0 {
        let KAnonymity { visits, distinct_visits, least_group, .. } = measured;
        console::out!(
            "visits:  k = {least_group}; {distinct_visits} of {visits} share their queries with fewer than {k} visits"
        );
    } else {
        console::out!("visits:  the log does not distinguish visits");
    }
    for rare in &measured.rarest {
        console::out!(
            "  {:>4} visits {:>6} searches  {}",
            rare.visits,
            rare.searches,
            console::printable(&rare.query)
        );
    }
    Ok(())
}

pub(super) fn purge(global: &Global, args: &LogPurgeArgs) -> anyhow::Result<CommandOutcome> {
    let dir = logs(global)?;
    let report = purge_visit(&dir, &args.visit).with_context(|| format!("cannot purge {}", dir.display()))?;
    if global.json {
        console::print_json(&report)?;
    } else {
        console::out!(
            "{} queries, {} impressions, {} clicks and {} requests removed",
            report.queries,
            report.impressions,
            report.clicks,
            report.requests
        );
    }
    Ok(if report.total() == 0 { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

pub(super) fn export(global: &Global, args: &LogExportArgs) -> anyhow::Result<CommandOutcome> {
    let (dir, days) = (logs(global)?, days_of(&args.days)?);
    let rules = AnonymiseRules {
        visits: IdentifierRule::Keep,
        hash_queries: false,
        min_visits: log_k(global, args.min_visits)?,
        times: TimePrecision::Exact,
        digits: 0,
        sensitive: SensitiveRule::Keep,
        words: SensitiveWords::default(),
    };
    let read = |days: &DayRange, take: &mut dyn FnMut(AnyRecord) -> io::Result<()>| {
        for_each_record(&dir, days, take).with_context(|| format!("cannot read {}", dir.display()))
    };
    let mut visits = QueryVisits::default();
    let mut shown = HashMap::new();
    read(&days, &mut |record| {
        visits.add(&record, &rules);
        if let AnyRecord::Impression(record) = record
            && !record.results.is_empty()
        {
            shown.insert(record.id.clone(), record);
        }
        Ok(())
    })?;
    let mut filter = Anonymiser::new(rules, &visits, &[0; 16]);
    let mut out = BufWriter::new(io::stdout().lock());
    let mut written = 0_u64;
    read(&days, &mut |record| {
        let impression = match &record {
            AnyRecord::Query(record) => shown.remove(&record.id),
            _ => None,
        };
        let kept = filter.anonymise(record);
        if let Some(document) = kept.and_then(|record| document(&record, impression.as_ref())) {
            serde_json::to_writer(&mut out, &document)?;
            out.write_all(b"\n")?;
            written += 1;
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(if written == 0 { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}
