//! The command line of Pharos: parses arguments, calls one room, prints.

mod cli;
mod commands;
mod console;
mod settings;

use std::process::ExitCode;

use clap::Parser as _;

use cli::{Cli, Command, EvalCommand, IndexCommand};

/// Allocation is a tenth of the work of parsing pages; mimalloc halves that.
#[global_allocator]
static ALLOC: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    console::init(cli.global.quiet, cli.global.verbose);
    match run(cli) {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::NothingFound | Outcome::PartlyBad) => ExitCode::from(1),
        Err(error) if console::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            console::error(&error);
            ExitCode::from(2)
        }
    }
}

/// How a command ended, for the exit code.
enum Outcome {
    Good,
    NothingFound,
    /// Done, but for parts of the input that cannot be read.
    PartlyBad,
}

fn run(cli: Cli) -> anyhow::Result<Outcome> {
    let global = &cli.global;
    match cli.command {
        Command::Demo(args) => commands::demo::run(global, args),
        Command::Up(args) => commands::up::run(global, args),
        Command::Crawl(args) => commands::crawl::run(global, args),
        Command::Add(args) => commands::orders::add(global, args),
        Command::Page(args) => commands::page::run(global, args),
        Command::Remove(args) => commands::orders::remove(global, args),
        Command::Import(args) => commands::import::run(global, args),
        Command::Load(args) => commands::load::run(global, args),
        Command::Export(args) => commands::export::run(global, args),
        Command::Compact => commands::compact::run(global),
        Command::Doctor(args) => commands::doctor::run(global, args),
        Command::Rebuild(args) => commands::rebuild::run(global, args),
        Command::Backup(args) => commands::backup::backup(global, args),
        Command::Restore(args) => commands::backup::restore(global, args),
        Command::Index { command: IndexCommand::Build } => commands::index::build(global),
        Command::Index { command: IndexCommand::Status } => commands::index::status(global),
        Command::Index { command: IndexCommand::Verify } => commands::index::verify(global),
        Command::Index { command: IndexCommand::Rollback } => commands::index::rollback(global),
        Command::Index { command: IndexCommand::Stats(args) } => commands::index_stats::run(global, &args),
        Command::Index { command: IndexCommand::Explain(args) } => {
            commands::index_explain::run(global, &args)
        }
        Command::Search(args) => commands::search::run(global, args),
        Command::Suggest(args) => commands::suggest::run(global, &args),
        Command::Serve(args) => commands::serve::run(global, args),
        Command::Health(args) => commands::health::run(global, &args),
        Command::Clean(args) => commands::clean::run(global, args),
        Command::Segment(args) => commands::segment::run(global, args),
        Command::Words { command } => commands::words::run(global, command),
        Command::Graph { command } => commands::graph::run(global, command),
        Command::Dedup { command } => commands::dedup::run(global, command),
        Command::Log { command } => commands::log::run(global, command),
        Command::Hot(args) => commands::hot::run(global, &args),
        Command::Eval { command: EvalCommand::Clean(args) } => commands::eval_clean::run(global, &args),
        Command::Eval { command: EvalCommand::Segment(args) } => commands::eval_segment::run(global, &args),
        Command::Eval { command: EvalCommand::Retrieval(args) } => {
            commands::eval_retrieval::run(global, &args)
        }
        Command::Eval { command: EvalCommand::Cache(args) } => commands::eval_cache::run(global, &args),
        Command::Eval { command: EvalCommand::Correct(args) } => commands::eval_correct::run(global, &args),
        Command::Eval { command: EvalCommand::Spam } => commands::eval_spam::run(global),
        Command::Stats => commands::stats::run(global),
        Command::Config => commands::config::run(global),
        Command::Man(args) => commands::man::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
    }
}
