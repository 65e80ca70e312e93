//! `pharos index stats`: figures of the lists, beside what the books expect.

use pharos_index::{
    EmbeddedIndex, EstimateParameters, Estimates, FieldFigures, Figures, IndexStatistics, Rank,
    StatisticsRules, ZipfFit,
};

use crate::cli::{EstimateArgs, Global, IndexStatsArgs};
use crate::{Outcome, console, settings};

pub(crate) fn run(global: &Global, args: &IndexStatsArgs) -> anyhow::Result<Outcome> {
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let index = EmbeddedIndex::open_reader(&data.index())?;
    let rules = StatisticsRules {
        field: args.field.clone(),
        last_rank: args.ranks,
        estimates: parameters(&args.estimates),
    };
    let runtime = super::runtime()?;
    let stop = runtime.block_on(async { console::stop_signal() })?;
    let line = console::progress();
    line.set_message("looking at the generations");
    let statistics = index.statistics(&rules, |at| {
        line.set_message(format!("counting field {}: {} of {} terms", at.field, at.done, at.all));
        !*stop.borrow()
    });
    line.finish_and_clear();
    let statistics = statistics?;
    if global.json {
        console::print_json(&statistics)?;
    } else {
        print(&statistics)?;
    }
    Ok(Outcome::Good)
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
        "bytes      {:>12}   {} a document",
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
        "a document"
    );
    for generation in &statistics.generations {
        let figures = &generation.figures;
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
            terms(&generation.figures.fields)?;
        }
    }
    if let Some(field) = chain.fields.first().filter(|field| field.terms > 0) {
        ranks(field)?;
    }
    statistics.estimates.as_ref().map_or(Ok(()), |estimates| print_estimates(estimates, chain))
}

/// A line for each field.
fn terms(fields: &[FieldFigures]) -> anyhow::Result<()> {
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

/// What fields and components take.
fn space(figures: &Figures) -> anyhow::Result<()> {
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
        "a document"
    );
    for field in &space.fields {
        let bytes =
            [field.term_dictionary, field.postings, field.positions, field.field_norms, field.columns];
        line(&field.field, bytes, field.total)?;
    }
    line("(stored texts)", [0; 5], space.stored)?;
    line("(marks of stale)", [0; 5], space.deletes)?;
    let bytes = [space.term_dictionary, space.postings, space.positions, space.field_norms, space.columns];
    line("all", bytes, space.total)
}

/// Document frequency and frequency side by side.
fn ranks(field: &FieldFigures) -> anyhow::Result<()> {
    console::out!(
        "\nfield {}: terms by how many documents have them (DF) and by how often they occur (TF)",
        field.field
    );
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

/// A term, and how many are as frequent where it is not alone.
fn named(rank: &Rank) -> String {
    let term = console::printable(&rank.term);
    match rank.shared_by {
        0 | 1 => term,
        all => format!("{term} (one of {all})"),
    }
}

fn print_estimates(estimates: &Estimates, chain: &Figures) -> anyhow::Result<()> {
    let Estimates { field, parameters: given, size, list, reading, throughput } = estimates;
    let bytes = |value: f64| console::bytes(value.max(0.0).round() as u64);
    let megabytes = |value: f64| format!("{} MB", (value / 1e4).round() / 1e2);
    let line = |what: &str, expected: String, measured: String| -> anyhow::Result<()> {
        console::out!("  {what:<62} {expected:>14} {measured:>14}");
        Ok(())
    };
    console::out!("\nestimates for field {field}, N = {}", chain.documents);
    line("", "expected".into(), "here".into())?;
    let zipf = |whose: &str, with: &pharos_index::ZipfEstimate| {
        format!(
            "{whose}: {} words, {:.0} a page, {:.2} bytes a posting",
            with.words, with.page_words, with.gap_bytes
        )
    };
    console::out!("size of all lists by Zipf's law, f = c/rank");
    let measured = console::bytes(size.posting_bytes);
    line(&zipf("the book", &size.book), bytes(size.book.bytes), measured.clone())?;
    line(&zipf("this index", &size.own), bytes(size.own.bytes), measured)?;
    line("postings, by the book", format!("{:.3e}", size.book.postings), size.postings.to_string())?;
    line(
        "postings, with words and pages as here",
        format!("{:.3e}", size.own.postings),
        size.postings.to_string(),
    )?;
    line("c", format!("1/{:.2}", 1.0 / size.book.constant), format!("1/{:.2}", 1.0 / size.own.constant))?;
    line("places besides", "same order".into(), console::bytes(size.position_bytes))?;
    console::out!("mean size of a list (8-2), c = {}", given.posting_bytes);
    line("c·α, without places", bytes(list.bytes), bytes(list.measured_bytes))?;
    line("c·(α + T/M), with places", bytes(list.full_text_bytes), bytes(list.measured_full_text_bytes))?;
    line("c", format!("{:.2}", given.posting_bytes), format!("{:.2}", list.measured_c))?;
    console::out!("{} lists at once (8-1), d = {:.2}", given.lists, reading.posting_bytes);
    let (expected, measured) = (bytes(reading.bytes), bytes(reading.measured_bytes));
    line("D; terms asked for equally often, and as often as pages use them", expected, measured)?;
    line("D ≈ dαk", bytes(reading.unshared_bytes), String::new())?;
    line("D ≈ dα(k − k(k−1)/2M)", bytes(reading.pairs_bytes), String::new())?;
    line(
        &format!("seconds at {}/s, {} allowed", megabytes(given.bandwidth), given.response_seconds),
        format!("{:.3}", reading.seconds),
        format!("{:.3}", reading.measured_seconds),
    )?;
    console::out!(
        "queries a second of a disk: ({} ms + T·TF/{}/s)·{}·m ≤ 1",
        given.latency_seconds * 1e3,
        megabytes(given.bandwidth),
        given.query_terms
    );
    let (expected, measured) = (bytes(throughput.query_bytes), bytes(throughput.measured_query_bytes));
    line(&format!("bytes a query reads, TF = {} %", 100.0 * given.query_tf), expected, measured)?;
    line("m", format!("{:.1}", throughput.queries), format!("{:.1}", throughput.measured_queries))?;
    line(
        "bytes a query reads, words asked for as pages use them",
        String::new(),
        bytes(throughput.text_query_bytes),
    )?;
    line("m", String::new(), format!("{:.1}", throughput.text_queries))?;
    line("bytes of an occurrence", "1.00".into(), format!("{:.2}", throughput.measured_occurrence_bytes))?;
    let text = format!(
        "T that {:.1} queries a second allow, {} each",
        throughput.most_queries,
        megabytes(throughput.budget_bytes)
    );
    let occurrences = chain.fields.first().map_or(0, |field| field.occurrences);
    line(&text, format!("{:.3e}", throughput.largest_text), format!("{:.3e}", occurrences as f64))
}
