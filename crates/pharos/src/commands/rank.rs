//! `pharos rank`: learning to rank.

mod clicks;
mod compare;
mod convert;
mod test;
mod train;

use pharos_learn::ranking::data::{RankingData, ReadOptions};
use pharos_learn::ranking::train::Algorithm;
use serde::Serialize;

use crate::cli::{Global, RankCommand, RankDataArgs};
use crate::{CommandOutcome, console};

pub(crate) fn run(global: &Global, command: RankCommand) -> anyhow::Result<CommandOutcome> {
    match command {
        RankCommand::Train(args) => train::run(global, &args),
        RankCommand::Test(args) => test::run(global, &args),
        RankCommand::Clicks(args) => clicks::run(global, &args),
        RankCommand::Compare(args) => compare::run(global, &args),
        RankCommand::Convert(args) => convert::run(global, &args),
        RankCommand::Models => models(global),
    }
}

/// Reads data files as one set.
fn read_data(paths: &[std::path::PathBuf], args: &RankDataArgs) -> anyhow::Result<RankingData> {
    let labels = args.labels.parse().map_err(|error| anyhow::anyhow!("--labels: {error}"))?;
    Ok(RankingData::read(paths, ReadOptions { labels })?)
}

/// Lists the algorithms.
fn models(global: &Global) -> anyhow::Result<CommandOutcome> {
    #[derive(Serialize)]
    struct Listed {
        name: &'static str,
        kind: &'static str,
        source: &'static str,
        parameters: Vec<pharos_learn::ranking::parameters::Parameter>,
    }
    let listed: Vec<Listed> = Algorithm::ALL
        .iter()
        .map(|info| Listed {
            name: info.name,
            kind: info.kind,
            source: info.source,
            parameters: info.algorithm.parameters(),
        })
        .collect();
    if global.json {
        console::print_json(&listed)?;
        return Ok(CommandOutcome::Good);
    }
    for model in listed {
        console::out!("{:<18} {:<12} {}", model.name, model.kind, model.source);
        for parameter in model.parameters {
            let range = format!("{} to {}", parameter.lowest, parameter.highest);
            console::out!(
                "    {:<18} {:<8} {} ({range})",
                parameter.name,
                parameter.default,
                parameter.meaning
            );
        }
    }
    Ok(CommandOutcome::Good)
}
