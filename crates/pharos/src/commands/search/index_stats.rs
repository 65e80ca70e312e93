//! `pharos index stats`: statistics of the inverted files, with textbook estimates.

use anyhow::Context as _;
use pharos_index::statistics::{
    CollectionStatistics, CostEstimates, EstimateParameters, FieldStatistics, FrequencyRank, IndexStatistics,
    StatisticsOptions, ZipfFit,
};

use crate::cli::{EstimateArgs, Global, IndexStatsArgs};
use crate::long_task::LongTask;
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, args: &IndexStatsArgs) -> anyhow::Result<CommandOutcome> {
    let index = settings::stores(global)?.index()?;
    let index = index.generational().context(super::NO_POSTING_LISTS)?;
    let rules = StatisticsOptions {
        field: args.field.clone(),
        last_rank: args.ranks,
        estimates: parameters(&args.estimates),
    };
    let statistics = LongTask::run(|task| {
        task.report("reading the generations");
        index.statistics(&rules, &mut |at| {
            task.report(format!("counting field {}: {} of {} terms", at.field, at.done, at.all))
        })
    })?;
    if global.json {
        console::print_json(&statistics)?;
    } else {
        print(&statistics)?;
    }
    Ok(CommandOutcome::Good)
}

fn parameters(args: &EstimateArgs) -> EstimateParameters {
    EstimateParameters {
        zipf_words: args.zipf_words,
        page_words: args.page_words,
        gap_bytes: args.gap_bytes,
        posting_bytes: args.posting_bytes,
        lists: args.lists,
        response_seconds: args.response,
        query_terms: args.query_terms,
        query_tf: args.query_tf,
        latency_seconds: args.latency / 1e3,
        bandwidth: args.bandwidth * 1e6,
    }
}

fn print(statistics: &IndexStatistics) -> anyhow::Result<()> {
    let chain = &statistics.chain;
    console::out!("documents  {:>12}   {} stale", chain.documents, chain.stale_documents);
    console::out!(
        "bytes      {:>12}   {} per document",
        console::bytes(chain.space.total),
        console::bytes(chain.bytes_per_document as u64)
    );
    terms(&chain.fields)?;
    space(chain)?;
    console::out!(
        "\n{:<16} {:>10} {:>8} {:>11} {:>10}",
        "generation",
        "documents",
        "stale",
        "bytes",
        "per doc"
    );
    for generation in &statistics.generations {
        let figures = &generation.statistics;
        console::out!(
            "{:<16} {:>10} {:>8} {:>11} {:>10}",
            generation.name,
            figures.documents,
            figures.stale_documents,
            console::bytes(figures.space.total),
            console::bytes(figures.bytes_per_document as u64)
        );
    }
    if statistics.generations.len() > 1 {
        for generation in &statistics.generations {
            console::out!("\nin {}", generation.name);
            terms(&generation.statistics.fields)?;
        }
    }
    if let Some(field) = chain.fields.first().filter(|field| field.terms > 0) {
        ranks(field)?;
    }
    statistics.estimates.as_ref().map_or(Ok(()), |estimates| print_estimates(estimates, chain))
}

/// Prints one row per field.
fn terms(fields: &[FieldStatistics]) -> anyhow::Result<()> {
    console::out!(
        "\n{:<10} {:>10} {:>12} {:>10} {:>14} {:>10} {:>8}   Zipf's slope (R²)",
        "field",
        "terms M",
        "postings",
        "mean α",
        "occurrences T",
        "in 1 doc",
        "stale"
    );
    for field in fields {
        console::out!(
            "{:<10} {:>10} {:>12} {:>10.2} {:>14} {:>10} {:>8}   tf {}, df {}",
            field.field,
            field.terms,
            field.postings,
            field.mean_list,
            field.occurrences,
            field.single_document_terms,
            field.stale_postings,
            fit(field.tf_zipf),
            fit(field.df_zipf)
        );
    }
    Ok(())
}

fn fit(fit: Option<ZipfFit>) -> String {
    fit.map_or("–".into(), |fit| format!("{:.3} ({:.3})", fit.slope, fit.r_squared))
}

/// Prints the space used by fields and components.
fn space(figures: &CollectionStatistics) -> anyhow::Result<()> {
    let space = &figures.space;
    let line = |name: &str, bytes: [u64; 5], total: u64| -> anyhow::Result<()> {
        let shown = |bytes| if bytes == 0 { "–".to_string() } else { console::bytes(bytes) };
        let [terms, postings, positions, norms, columns] = bytes.map(shown);
        let each = if figures.documents == 0 { 0.0 } else { total as f64 / figures.documents as f64 };
        let total = console::bytes(total);
        console::out!(
            "{name:<18} {terms:>11} {postings:>11} {positions:>11} {norms:>11} {columns:>11} {total:>11} {each:>10.1}"
        );
        Ok(())
    };
    console::out!(
        "\n{:<18} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11} {:>10}",
        "bytes",
        "terms",
        "postings",
        "positions",
        "lengths",
        "columns",
        "all",
        "per doc"
    );
    for field in &space.fields {
        let bytes =
            [field.term_dictionary, field.postings, field.positions, field.field_norms, field.columns];
        line(&field.field, bytes, field.total)?;
    }
    line("(stored fields)", [0; 5], space.stored)?;
    line("(tombstones)", [0; 5], space.deletes)?;
    let bytes = [space.term_dictionary, space.postings, space.positions, space.field_norms, space.columns];
    line("all", bytes, space.total)
}

/// Prints document frequency and term frequency by rank.
fn ranks(field: &FieldStatistics) -> anyhow::Result<()> {
    console::out!("\nfield {}: terms by document frequency (DF) and term frequency (TF)", field.field);
    console::out!("{:>9}  {:>10} {:>9}  {:>10} {:>9}  terms", "rank", "documents", "DF", "occurrences", "TF");
    for (df, tf) in field.df.iter().zip(&field.tf) {
        console::out!(
            "{:>9}  {:>10} {:>9.2e}  {:>10} {:>9.2e}  {} · {}",
            df.rank,
            df.frequency,
            df.share,
            tf.frequency,
            tf.share,
            named(df),
            named(tf)
        );
    }
    console::out!("\n{:>9}  {:>10}  of all occurrences", "TF from", "terms");
    for class in &field.frequent {
        console::out!("{:>7} %  {:>10}  {:>5.1} %", 100.0 * class.at_least, class.terms, 100.0 * class.share);
    }
    Ok(())
}

/// Returns a term, with the number of terms of the same frequency.
fn named(rank: &FrequencyRank) -> String {
    let term = console::printable(&rank.term);
    match rank.shared_by {
        0 | 1 => term,
        all => format!("{term} (one of {all})"),
    }
}

fn print_estimates(estimates: &CostEstimates, chain: &CollectionStatistics) -> anyhow::Result<()> {
    let CostEstimates { field, parameters: given, size, list, reading, throughput } = estimates;
    let bytes = |value: f64| console::bytes(value.max(0.0).round() as u64);
    let megabytes = |value: f64| format!("{} MB", (value / 1e4).round() / 1e2);
    let line = |what: &str, expected: String, measured: String| -> anyhow::Result<()> {
        console::out!("  {what:<62} {expected:>14} {measured:>14}");
        Ok(())
    };
    console::out!("\nestimates for field {field}, N = {}", chain.documents);
    line("", "expected".into(), "measured".into())?;
    let zipf = |whose: &str, with: &pharos_index::statistics::ZipfEstimate| {
        format!(
            "{whose}: {} words, {:.0} per page, {:.2} bytes per posting",
            with.words, with.page_words, with.gap_bytes
        )
    };
    console::out!("size of all posting lists by Zipf's law, f = c/rank");
    let measured = console::bytes(size.posting_bytes);
    line(&zipf("textbook", &size.book), bytes(size.book.bytes), measured.clone())?;
    line(&zipf("this index", &size.own), bytes(size.own.bytes), measured)?;
    line("postings, textbook parameters", format!("{:.3e}", size.book.postings), size.postings.to_string())?;
    line(
        "postings, parameters of this index",
        format!("{:.3e}", size.own.postings),
        size.postings.to_string(),
    )?;
    line("c", format!("1/{:.2}", 1.0 / size.book.constant), format!("1/{:.2}", 1.0 / size.own.constant))?;
    line("positions", "same order".into(), console::bytes(size.position_bytes))?;
    console::out!("mean size of a posting list (8-2), c = {}", given.posting_bytes);
    line("c·α, without positions", bytes(list.bytes), bytes(list.measured_bytes))?;
    line("c·(α + T/M), with positions", bytes(list.full_text_bytes), bytes(list.measured_full_text_bytes))?;
    line("c", format!("{:.2}", given.posting_bytes), format!("{:.2}", list.measured_c))?;
    console::out!("{} concurrent lists (8-1), d = {:.2}", given.lists, reading.posting_bytes);
    let (expected, measured) = (bytes(reading.bytes), bytes(reading.measured_bytes));
    line("D; uniform query terms, and query terms distributed as in pages", expected, measured)?;
    line("D ≈ dαk", bytes(reading.unshared_bytes), String::new())?;
    line("D ≈ dα(k − k(k−1)/2M)", bytes(reading.pairs_bytes), String::new())?;
    line(
        &format!("seconds at {}/s, limit {}", megabytes(given.bandwidth), given.response_seconds),
        format!("{:.3}", reading.seconds),
        format!("{:.3}", reading.measured_seconds),
    )?;
    console::out!(
        "queries per second of a disk: ({} ms + T·TF/{}/s)·{}·m ≤ 1",
        given.latency_seconds * 1e3,
        megabytes(given.bandwidth),
        given.query_terms
    );
    let (expected, measured) = (bytes(throughput.query_bytes), bytes(throughput.measured_query_bytes));
    line(&format!("bytes read per query, TF = {} %", 100.0 * given.query_tf), expected, measured)?;
    line("m", format!("{:.1}", throughput.queries), format!("{:.1}", throughput.measured_queries))?;
    line(
        "bytes read per query, query terms distributed as in pages",
        String::new(),
        bytes(throughput.text_query_bytes),
    )?;
    line("m", String::new(), format!("{:.1}", throughput.text_queries))?;
    line("bytes per occurrence", "1.00".into(), format!("{:.2}", throughput.measured_occurrence_bytes))?;
    let text = format!(
        "maximum T at {:.1} queries per second, {} each",
        throughput.most_queries,
        megabytes(throughput.budget_bytes)
    );
    let occurrences = chain.fields.first().map_or(0, |field| field.occurrences);
    line(&text, format!("{:.3e}", throughput.largest_text), format!("{:.3e}", occurrences as f64))
}
