//! `pharos graph …`: the link graph.

use anyhow::{Context as _, bail};
use pharos_core::PageUrl;
use pharos_core::config::Config;
use pharos_engine::Stores;
use pharos_engine::build::link_analysis::{
    build_graph, measure_topical_locality, open_relations, rank_rules,
};
use pharos_graph::Relations;
use pharos_graph::rank::hits::{HitsOptions, hits};
use pharos_graph::rank::hyperball::{HyperBallOptions, hyperball};
use pharos_graph::rank::link_farm::simulate_farm;
use pharos_graph::rank::pagerank::{PageRankOptions, RankScale, Teleport, page_rank, site_rank};
use pharos_graph::relations::ranked::RankedUrl;
use pharos_graph::statistics::{DegreeSummary, GraphStatistics, TopicalLocality};
use pharos_graph::web::{Direction, GraphOptions};
use pharos_query::QueryProcessor;
use serde::Serialize;

use crate::cli::{
    Global, GraphCommand, GraphFarmArgs, GraphHitsArgs, GraphNeighboursArgs, GraphStatsArgs, GraphTopArgs,
    RankBy,
};
use crate::long_task::LongTask;
use crate::{CommandOutcome, commands, console, settings};

/// Memory for distance estimation: two counters of 64 bytes per page.
const DISTANCE_MEMORY: u64 = 2 << 30;

pub(crate) fn run(global: &Global, command: GraphCommand) -> anyhow::Result<CommandOutcome> {
    match command {
        GraphCommand::Build => build(global),
        GraphCommand::Stats(args) => stats(global, &args),
        GraphCommand::Top(args) => top(global, &args),
        GraphCommand::Neighbours(args) => neighbours(global, &args),
        GraphCommand::Hits(args) => hubs(global, &args),
        GraphCommand::Farm(args) => farm(global, &args),
    }
}

/// Opens the results of the last link analysis.
pub(crate) fn open(global: &Global) -> anyhow::Result<Relations> {
    Ok(open_relations(&settings::stores(global)?)?)
}

/// Returns the number of a page by its URL.
pub(crate) fn number(relations: &Relations, address: &str) -> anyhow::Result<u32> {
    let url = PageUrl::parse(address).with_context(|| format!("invalid URL `{address}`"))?;
    match relations.number(url.id()) {
        Some(page) => Ok(page),
        None => bail!(
            "{url} is not in the link graph: it was neither fetched nor linked at the last build, or was removed"
        ),
    }
}

fn build(global: &Global) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let built = LongTask::run(|task| {
        build_graph(&data, &config, |progress| commands::search::index::report_build(task, "", progress))
    })?;
    if global.json {
        console::print_json(&built)?;
        return Ok(CommandOutcome::Good);
    }
    let sizes = built.sizes;
    console::out!(
        "{} pages, {} of them fetched, on {} sites of {} domains",
        sizes.pages,
        sizes.fetched,
        sizes.sites,
        sizes.domains
    );
    console::out!("{} links", sizes.links);
    console::out!("{} pages have duplicates", built.pages_with_copies);
    console::out!("ranks after {} iterations, error at most {:.1e}", built.rounds, built.error_bound);
    Ok(CommandOutcome::Good)
}

/// The output of `pharos graph stats`.
#[derive(Serialize)]
struct StatisticsOutput {
    #[serde(flatten)]
    web: GraphStatistics,
    topical_locality: Option<TopicalLocality>,
}

fn stats(global: &Global, args: &GraphStatsArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let relations = open(global)?;
    let line = console::progress();
    line.set_message("counting");
    let web = GraphStatistics::compute(&relations, DISTANCE_MEMORY);
    let topical_locality = match args.samples {
        0 => None,
        samples => {
            Some(measure_topical_locality(&settings::data_dir(global), &config, &relations, samples, |_| {
                true
            })?)
        }
    };
    line.finish_and_clear();
    let statistics = StatisticsOutput { web: web?, topical_locality };
    if global.json {
        console::print_json(&statistics)?;
        return Ok(CommandOutcome::Good);
    }
    let web = &statistics.web;
    let share = |part: u64| 100.0 * part as f64 / web.sizes.pages.max(1) as f64;
    console::out!("pages      {:>12}   {} fetched", web.sizes.pages, web.sizes.fetched);
    console::out!("links      {:>12}", web.sizes.links);
    console::out!("sites      {:>12}   {} are mirrors", web.sizes.sites, web.mirrors);
    console::out!("domains    {:>12}", web.sizes.domains);
    console::out!("\nlinks per page");
    degree("in", &web.in_degree)?;
    degree("out", &web.out_degree)?;
    let tie = &web.bow_tie;
    console::out!("\nbow-tie    {} strongly connected components", tie.components);
    for (name, pages) in [
        ("core", tie.core),
        ("in", tie.leading_in),
        ("out", tie.leading_out),
        ("tubes", tie.tube),
        ("tendrils", tie.tendril),
        ("disconnected", tie.apart),
    ] {
        console::out!("  {name:<16} {pages:>10}  {:5.1} %", share(pages));
    }
    let far = &web.distances;
    console::out!("\ndirected distances in links");
    console::out!("  longest found    {:>10}", far.diameter_at_least);
    if let (Some(mean), Some(effective)) = (far.mean, far.effective_diameter) {
        console::out!("  mean             {mean:>10.2}\n  90th percentile  {effective:>10.2}");
    }
    console::out!("  0.35 + 2.06 lg N {:>10.2}", far.books_diameter);
    let closure = web.closure;
    console::out!("\nlink targets");
    console::out!("  same site        {:>10}", closure.same_site);
    console::out!("  same domain      {:>10}", closure.same_domain);
    console::out!(
        "  other domains    {:>10}   {:.1} % stay inside",
        closure.elsewhere,
        100.0 * closure.share_inside()
    );
    if let Some(locality) = &statistics.topical_locality {
        console::out!("\ntopical similarity (cosine)");
        for (name, pairs) in [
            ("linked, same domain", locality.same_domain),
            ("linked, other domain", locality.other_domain),
            ("siblings", locality.siblings),
            ("random", locality.random),
        ] {
            console::out!("  {name:<20} {:6.3}   {} pairs", pairs.mean, pairs.pairs);
        }
    }
    Ok(CommandOutcome::Good)
}

fn degree(name: &str, degrees: &DegreeSummary) -> anyhow::Result<()> {
    let law = degrees.power_law.as_ref().map_or(String::new(), |law| {
        format!(
            "   power law exponent {:.2} ± {:.2} from degree {}",
            law.exponent, law.standard_error, law.from_degree
        )
    });
    console::out!(
        "  {name:<8} mean {:.2}, largest {}, zero at {} pages{law}",
        degrees.mean,
        degrees.largest,
        degrees.without
    );
    Ok(())
}

fn top(global: &Global, args: &GraphTopArgs) -> anyhow::Result<CommandOutcome> {
    let is_rank = args.sites || matches!(args.by, RankBy::PageRank | RankBy::Trust);
    let is_computed = args.damping.is_some() || args.jump.is_some() || args.probability;
    if !is_rank && (is_computed || !args.seed.is_empty()) {
        bail!("--seed, --damping, --jump and --probability require --by page-rank or --by trust");
    }
    let config = settings::load(global)?;
    let relations = open(global)?;
    let shown = if args.sites {
        relations.highest_sites(&site_values(&relations, args, &config)?, args.count)
    } else {
        let values = page_values(&relations, args, &config)?;
        let pages = (0..).zip(values).filter(|(page, _)| !args.fetched || relations.is_fetched(*page));
        relations.highest_pages(pages, args.count)?
    };
    if global.json {
        console::print_json(&shown)?;
    } else {
        for ranked in &shown {
            console::out!("{:>14}  {}", console::figure(ranked.value), ranked.url);
        }
    }
    Ok(if shown.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

fn page_values(relations: &Relations, args: &GraphTopArgs, config: &Config) -> anyhow::Result<Vec<f64>> {
    let graph = relations.graph();
    let each = |value: &dyn Fn(u32) -> f64| (0..graph.pages()).map(value).collect();
    Ok(match args.by {
        RankBy::PageRank | RankBy::Trust => {
            let computed = args.damping.is_some() || args.jump.is_some() || args.probability;
            if matches!(args.by, RankBy::Trust) && args.seed.is_empty() {
                bail!("--by trust requires at least one --seed");
            }
            if args.seed.is_empty() && !computed {
                return Ok(relations.page_ranks().to_vec());
            }
            let seeds = args.seed.iter().map(|url| Ok((number(relations, url)?, 1.0)));
            let seeds = seeds.collect::<anyhow::Result<Vec<_>>>()?;
            let teleport = if seeds.is_empty() { Teleport::Everywhere } else { Teleport::Seeds(&seeds) };
            page_rank(graph, &rules(args, config), teleport, None)?.values
        }
        RankBy::LinkHits => each(&|page| f64::from(relations.counts(page).link_hits)),
        RankBy::Domains => each(&|page| f64::from(relations.counts(page).linking_domains)),
        RankBy::InDegree => each(&|page| f64::from(relations.counts(page).raw_link_hits)),
        RankBy::OutDegree => each(&|page| f64::from(relations.counts(page).out_degree)),
        RankBy::LinkWeight => each(&|page| f64::from(relations.link_weight(page))),
        RankBy::Mirrors => each(&|page| f64::from(relations.mirror_degree(page))),
        RankBy::Harmonic => {
            hyperball(
                graph,
                Direction::Backward,
                HyperBallOptions { memory: DISTANCE_MEMORY, ..HyperBallOptions::default() },
            )?
            .harmonic
        }
    })
}

fn site_values(relations: &Relations, args: &GraphTopArgs, config: &Config) -> anyhow::Result<Vec<f64>> {
    if args.damping.is_none() && args.jump.is_none() && !args.probability {
        return Ok(relations.site_ranks().to_vec());
    }
    let rules = rules(args, config);
    Ok(site_rank(relations.graph(), relations.page_sites()?, &rules, sorting(config))?.values)
}

/// Returns the memory limits for sorting links.
fn sorting(config: &Config) -> GraphOptions {
    GraphOptions { memory: config.graph.memory.bytes(), ..GraphOptions::default() }
}

fn rules(args: &GraphTopArgs, config: &Config) -> PageRankOptions {
    let of_config = rank_rules(&config.graph);
    let rules = PageRankOptions {
        damping: args.damping.unwrap_or(of_config.damping),
        scale: if args.probability { RankScale::Probability } else { RankScale::PerPage },
        ..of_config
    };
    args.jump.map_or(rules, |alpha| rules.jump_probability(alpha))
}

fn neighbours(global: &Global, args: &GraphNeighboursArgs) -> anyhow::Result<CommandOutcome> {
    let relations = open(global)?;
    let page = number(&relations, &args.url)?;
    let found = relations.neighbourhood(page, args.count)?;
    if global.json {
        console::print_json(&found)?;
        return Ok(CommandOutcome::Good);
    }
    let state = if found.fetched { "" } else { "   never fetched" };
    console::out!("{}{state}", found.url);
    console::out!(
        "page rank {:.3}, site rank {:.3}, link weight {:.3}",
        found.page_rank,
        found.site_rank,
        found.link_weight
    );
    console::out!(
        "linked from {} pages, {} of them in {} other domains; links to {} pages",
        found.in_degree,
        found.link_hits,
        found.linking_domains,
        found.out_degree
    );
    console::out!("domain depth {}, directory depth {}", found.domain_depth, found.directory_depth);
    if let Some(representative) = &found.representative {
        console::out!("{} duplicates; representative {representative}", found.mirror_degree);
    }
    if !found.anchors.is_empty() {
        console::out!("\nanchor texts");
        for anchor in found.anchors.iter().take(args.count) {
            console::out!("  {:5.2}  {}", anchor.weight, console::printable(&anchor.text));
        }
    }
    for (title, all, shown) in [
        ("linked from", found.in_degree, &found.linked_from),
        ("links to", found.out_degree, &found.links_to),
    ] {
        if all > 0 {
            console::out!("\n{title}");
        }
        for neighbour in shown {
            console::out!("  {:>10.3}  {}", neighbour.page_rank, neighbour.url);
        }
        if all as usize > shown.len() {
            console::out!("  … {} more", all as usize - shown.len());
        }
    }
    Ok(CommandOutcome::Good)
}

/// The output of `pharos graph hits`.
#[derive(Serialize)]
struct Hubs {
    root: usize,
    pages: usize,
    rounds: u32,
    authorities: Vec<RankedUrl>,
    hubs: Vec<RankedUrl>,
}

fn hubs(global: &Global, args: &GraphHitsArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let relations = open(global)?;
    let index = Stores::open(&settings::data_dir(global), &config)?.index()?;
    let search = QueryProcessor::new(index, &config);
    let query = args.query.join(" ");
    let root = root_set(&search, &relations, &query, args.root)?;
    if root.is_empty() {
        console::print_message(global.quiet, "no result is in the link graph");
        return Ok(CommandOutcome::NothingFound);
    }
    let places = if args.own_links { None } else { Some(relations.page_sites()?) };
    let rules = HitsOptions {
        max_root: args.root,
        max_pages: args.pages,
        max_rounds: args.rounds,
        ..HitsOptions::default()
    };
    let found = hits(relations.graph(), &root, places, rules)?;
    let best = |values: &[f64]| {
        let pages = found.pages.iter().copied().zip(values.iter().copied());
        relations.highest_pages(pages.filter(|(_, value)| *value > 0.0), args.count)
    };
    let shown = Hubs {
        root: root.len(),
        pages: found.pages.len(),
        rounds: found.rounds,
        authorities: best(&found.authority)?,
        hubs: best(&found.hub)?,
    };
    if global.json {
        console::print_json(&shown)?;
        return Ok(CommandOutcome::Good);
    }
    console::out!(
        "root set of {} results, base set of {} pages, {} iterations",
        shown.root,
        shown.pages,
        shown.rounds
    );
    for (title, ranked) in [("authorities", &shown.authorities), ("hubs", &shown.hubs)] {
        console::out!("\n{title}");
        for page in ranked {
            console::out!("  {:7.4}  {}", page.value, page.url);
        }
        if ranked.is_empty() {
            console::out!(
                "  none: no links between different domains (--own-links includes links within a domain)"
            );
        }
    }
    Ok(CommandOutcome::Good)
}

/// Returns up to `size` results of a query that are in the link graph.
fn root_set(
    search: &QueryProcessor,
    relations: &Relations,
    query: &str,
    size: usize,
) -> anyhow::Result<Vec<u32>> {
    let mut requested = size.max(1);
    // The graph may not contain all results; more are requested only if needed.
    loop {
        let results = search.best(query, requested)?;
        let is_all = results.len() < requested;
        let root: Vec<u32> = results.into_iter().filter_map(|id| relations.number(id)).take(size).collect();
        if is_all || root.len() >= size {
            return Ok(root);
        }
        requested = requested.saturating_mul(2);
    }
}

fn farm(global: &Global, args: &GraphFarmArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let relations = open(global)?;
    let home = number(&relations, &args.url)?;
    let farm = simulate_farm(&relations, home, args.pages, &rank_rules(&config.graph), &sorting(&config))?;
    if global.json {
        console::print_json(&farm)?;
        return Ok(CommandOutcome::Good);
    }
    console::out!("link farm of {} pages with links to {}", farm.pages, relations.url(home)?);
    console::out!("{:<28} {:>12} {:>12}", "", "before", "after");
    console::out!("{:<28} {:>12} {:>12}", "in-links", farm.in_degree.before, farm.in_degree.after);
    console::out!("{:<28} {:>12} {:>12}", "from other domains", farm.link_hits.before, farm.link_hits.after);
    console::out!("{:<28} {:>12.6} {:>12.6}", "site rank", farm.site_rank.before, farm.site_rank.after);
    console::out!("{:<28} {:>12.6} {:>12.6}", "page rank", farm.page_rank.before, farm.page_rank.after);
    console::out!("{:<28} {:>25.6}", "page rank gained", farm.page_rank.after - farm.page_rank.before);
    console::out!("{:<28} {:>25.6}", "upper bound", farm.bound);
    Ok(CommandOutcome::Good)
}
