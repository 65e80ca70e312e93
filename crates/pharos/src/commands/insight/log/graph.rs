//! `pharos log graph`.

use anyhow::bail;
use pharos_core::config::Config;
use pharos_core::{Clock as _, SystemClock};
use pharos_mining::clicks::ClickGraph;
use pharos_mining::clicks::clusters::{ClusterBy, ClusterRules, cluster_queries, preferred_pages};
use pharos_mining::clicks::days::{GraphRules, graph_of};
use pharos_mining::clicks::similarity::{ClickSimilarity, Side, most_similar};
use pharos_mining::clicks::walk::{WalkRules, walk_from_page, walk_from_query};
use serde_json::{Value, json};

use super::source::read_searches;
use crate::cli::{
    ClusterByArg, Global, LogGraphClustersArgs, LogGraphCommand, LogGraphNeighboursArgs, LogGraphStatsArgs,
};
use crate::{CommandOutcome, console, settings};

pub(super) fn run(global: &Global, command: &LogGraphCommand) -> anyhow::Result<CommandOutcome> {
    match command {
        LogGraphCommand::Stats(args) => stats(global, args),
        LogGraphCommand::Neighbours(args) => neighbours(global, args),
        LogGraphCommand::Clusters(args) => clusters(global, args),
    }
}

fn read_graph(global: &Global, args: &LogGraphStatsArgs) -> anyhow::Result<(ClickGraph, Config)> {
    let config = settings::load(global)?;
    let log = read_searches(global, &args.source)?;
    let rules = GraphRules::from_config(&config);
    let min_visits = args.min_visits.unwrap_or(rules.min_visits);
    // The newest click of another engine counts fully, however old the log is.
    let now = log.period().map_or_else(|| SystemClock.now(), |(_, last)| last);
    let graph = graph_of(&log, &GraphRules { min_visits, ..rules }, now);
    if graph.queries.is_empty() {
        let hint = format!("no clicked query of at least {min_visits} visits (log.k); -k 1 shows all");
        console::print_message(global.quiet, &hint);
    }
    Ok((graph, config))
}

fn stats(global: &Global, args: &LogGraphStatsArgs) -> anyhow::Result<CommandOutcome> {
    let (graph, _) = read_graph(global, args)?;
    let sizes = graph.sizes();
    if global.json {
        console::print_json(&sizes)?;
    } else {
        console::out!("{:>12}  queries", sizes.queries);
        console::out!("{:>12}  clicked pages", sizes.pages);
        console::out!("{:>12}  edges", sizes.edges);
        console::out!("{:>12.1}  weight", sizes.weight);
    }
    Ok(if sizes.edges == 0 { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

fn neighbours(global: &Global, args: &LogGraphNeighboursArgs) -> anyhow::Result<CommandOutcome> {
    let (graph, config) = read_graph(global, &args.graph)?;
    let stay = args.stay.unwrap_or(config.clicks.stay);
    if !(0.0..1.0).contains(&stay) {
        bail!("--stay: {stay} is no probability below 1");
    }
    let steps = args.steps.unwrap_or(u32::try_from(config.clicks.steps).unwrap_or(u32::MAX).clamp(1, 1000));
    let rules = WalkRules { steps, stay, is_backward: args.backward, ..WalkRules::default() };
    let text = pharos_text::normalise(&args.node).split_whitespace().collect::<Vec<_>>().join(" ");
    let query = graph.queries.number(&text);
    let page = graph.pages.number(&args.node);
    let (side, node) = match (query, page) {
        (Some(query), _) => (Side::Queries, query),
        (None, Some(page)) => (Side::Pages, page),
        (None, None) => {
            console::print_message(global.quiet, &format!("`{}` is not in the click graph", args.node));
            return Ok(CommandOutcome::NothingFound);
        }
    };
    let walked = match side {
        Side::Queries => walk_from_query(&graph, node, &rules),
        Side::Pages => walk_from_page(&graph, node, &rules),
    };
    let named = |side: Side, nodes: Vec<(u32, f64)>| -> Vec<(String, f64)> {
        let text = |node: u32| match side {
            Side::Queries => graph.queries.text(node).to_string(),
            Side::Pages => graph.pages.text(node).to_string(),
        };
        nodes.into_iter().map(|(node, value)| (text(node), value)).collect()
    };
    let direct: Vec<(u32, f64)> = match side {
        Side::Queries => graph.pages_of(node).map(|(page, weight)| (page, f64::from(weight))).collect(),
        Side::Pages => graph.queries_of(node).map(|(query, weight)| (query, f64::from(weight))).collect(),
    };
    let mut direct = direct;
    direct.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    direct.truncate(args.count);
    let other_side = if side == Side::Queries { Side::Pages } else { Side::Queries };
    let lists = [
        ("clicks", named(other_side, direct)),
        ("similar", named(side, most_similar(&graph, side, node, ClickSimilarity::Cosine, args.count))),
        ("walk_queries", named(Side::Queries, walked.top_queries(args.count))),
        ("walk_pages", named(Side::Pages, walked.top_pages(args.count))),
    ];
    if global.json {
        let list = |entries: &[(String, f64)]| -> Value {
            entries.iter().map(|(text, value)| json!({ "text": text, "value": value })).collect()
        };
        let lists: serde_json::Map<_, _> =
            lists.iter().map(|(name, all)| ((*name).into(), list(all))).collect();
        console::print_json(&lists)?;
    } else {
        for (name, entries) in lists.iter().filter(|(_, entries)| !entries.is_empty()) {
            console::out!("{}", name.replace('_', ", "));
            for (text, value) in entries {
                console::out!("  {value:>10.4}  {}", console::printable(text));
            }
        }
    }
    Ok(CommandOutcome::Good)
}

fn clusters(global: &Global, args: &LogGraphClustersArgs) -> anyhow::Result<CommandOutcome> {
    let (graph, config) = read_graph(global, &args.graph)?;
    let by = match args.by {
        ClusterByArg::Walk => ClusterBy::Walk,
        ClusterByArg::Content => ClusterBy::Content,
    };
    let steps = u32::try_from(config.clicks.steps).unwrap_or(u32::MAX).clamp(1, 1000);
    let walk = WalkRules { steps, stay: config.clicks.stay.clamp(0.0, 0.999), ..WalkRules::default() };
    let clusters = cluster_queries(&graph, &ClusterRules { by, threshold: config.clicks.cluster, walk });
    let shown = clusters.iter().take(args.count).map(|cluster| {
        let queries: Vec<&str> = cluster.members.iter().map(|query| graph.queries.text(*query)).collect();
        let pages = preferred_pages(&graph, cluster, 3);
        let pages: Vec<&str> = pages.iter().map(|(page, _)| graph.pages.text(*page)).collect();
        (cluster.weight, queries, pages)
    });
    if global.json {
        let shown: Vec<_> = shown
            .map(|(weight, queries, pages)| json!({ "weight": weight, "queries": queries, "pages": pages }))
            .collect();
        console::print_json(&json!({ "clusters": clusters.len(), "shown": shown }))?;
    } else {
        for (weight, queries, pages) in shown {
            console::out!("{weight:>10.1}  {}", console::printable(&queries.join(" · ")));
            for page in pages {
                console::out!("            {}", console::printable(page));
            }
        }
    }
    Ok(if clusters.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}
