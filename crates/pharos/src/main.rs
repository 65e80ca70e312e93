//! The command line of Pharos: parses arguments, calls one crate, prints the result.

mod cli;
mod commands;
mod console;
mod crawl_reporter;
mod long_task;
mod settings;
mod terminal;

use std::path::PathBuf;
use std::process::ExitCode;

use pharos_html::reader_process;

use cli::{Cli, Command, EvalCommand, IndexCommand};

/// Allocation takes a tenth of the time of page parsing; mimalloc halves that.
#[global_allocator]
static ALLOC: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(done) = reader_process::run_if_requested(std::env::args_os()) {
        return done;
    }
    reader_process::read_documents_in(own_program());
    let cli = cli::parse();
    console::init(cli.global.quiet, cli.global.verbose);
    let data = settings::data_dir(&cli.global);
    let is_new = !data.root().exists();
    let done = run(cli);
    if done.is_err() && is_new {
        settings::remove_without_records(&data);
    }
    match done {
        Ok(CommandOutcome::Good) => ExitCode::SUCCESS,
        Ok(CommandOutcome::NothingFound | CommandOutcome::PartlyBad) => ExitCode::from(1),
        Err(error) if console::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            console::error(&error);
            ExitCode::from(2)
        }
    }
}

/// Returns the path of this program. On Linux it is valid even if the file was replaced by another version meanwhile.
fn own_program() -> PathBuf {
    let this = PathBuf::from("/proc/self/exe");
    if this.exists() { this } else { std::env::current_exe().unwrap_or(this) }
}

/// Outcome of a command, which determines the exit code.
enum CommandOutcome {
    Good,
    NothingFound,
    /// Done, except for invalid parts of the input.
    PartlyBad,
}

fn run(cli: Cli) -> anyhow::Result<CommandOutcome> {
    let global = &cli.global;
    match cli.command {
        Command::Demo(args) => commands::start::demo::run(global, args),
        Command::Up(args) => commands::start::up::run(global, args),
        Command::Crawl(args) => commands::crawl::run::run(global, args),
        Command::Add(args) => commands::crawl::orders::add(global, args),
        Command::Page(args) => commands::crawl::page::run(global, args),
        Command::Refresh { command } => commands::crawl::refresh::run(global, command),
        Command::Remove(args) => commands::crawl::orders::remove(global, args),
        Command::Import(args) => commands::archive::import::run(global, args),
        Command::Load(args) => commands::archive::load::run(global, args),
        Command::Export(args) => commands::archive::export::run(global, args),
        Command::Compact => commands::maintenance::compact::run(global),
        Command::Doctor(args) => commands::maintenance::doctor::run(global, args),
        Command::Rebuild(args) => commands::maintenance::rebuild::run(global, args),
        Command::Backup(args) => commands::maintenance::backup::backup(global, args),
        Command::Restore(args) => commands::maintenance::backup::restore(global, args),
        Command::Index { command: IndexCommand::Build(args) } => {
            commands::search::index::build(global, &args)
        }
        Command::Index { command: IndexCommand::Status } => commands::search::index::status(global),
        Command::Index { command: IndexCommand::Verify } => commands::search::index::verify(global),
        Command::Index { command: IndexCommand::Rollback } => commands::search::index::rollback(global),
        Command::Index { command: IndexCommand::Stats(args) } => {
            commands::search::index_stats::run(global, &args)
        }
        Command::Index { command: IndexCommand::Explain(args) } => {
            commands::search::index_explain::run(global, &args)
        }
        Command::Search(args) => commands::search::query::run(global, args),
        Command::Suggest(args) => commands::search::suggest::run(global, &args),
        Command::Serve(args) => commands::start::serve::run(global, args),
        Command::Health(args) => commands::maintenance::health::run(global, &args),
        Command::Clean(args) => commands::search::clean::run(global, args),
        Command::Segment(args) => commands::search::segment::run(global, args),
        Command::Words { command } => commands::search::words::run(global, command),
        Command::Curate { command } => commands::search::curate::run(global, command),
        Command::Graph { command } => commands::insight::graph::run(global, command),
        Command::Dedup { command } => commands::insight::dedup::run(global, command),
        Command::Log { command } => commands::insight::log::run(global, command),
        Command::Hot(args) => commands::insight::hot::run(global, &args),
        Command::Eval { command: EvalCommand::Search(args) } => {
            commands::insight::eval_search::run(global, &args)
        }
        Command::Eval { command: EvalCommand::Clean(args) } => {
            commands::insight::eval_clean::run(global, &args)
        }
        Command::Eval { command: EvalCommand::Segment(args) } => {
            commands::insight::eval_segment::run(global, &args)
        }
        Command::Eval { command: EvalCommand::Retrieval(args) } => {
            commands::insight::eval_retrieval::run(global, &args)
        }
        Command::Eval { command: EvalCommand::Cache(args) } => {
            commands::insight::eval_cache::run(global, &args)
        }
        Command::Eval { command: EvalCommand::Correct(args) } => {
            commands::insight::eval_correct::run(global, &args)
        }
        Command::Eval { command: EvalCommand::Clicks(args) } => {
            commands::insight::eval_clicks::run(global, &args)
        }
        Command::Eval { command: EvalCommand::Spam } => commands::insight::eval_spam::run(global),
        Command::Rank { command } => commands::rank::run(global, command),
        Command::Classify { command } => commands::learn::classify::run(global, command),
        Command::Topics { command } => commands::learn::topics::run(global, command),
        Command::Stats => commands::insight::stats::run(global),
        Command::Keys { command } => commands::maintenance::keys::run(global, command),
        Command::Config => commands::start::config::run(global),
        Command::Man(args) => commands::maintenance::man::run(&args),
        Command::Completions(args) => commands::maintenance::completions::run(&args),
    }
}
