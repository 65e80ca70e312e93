//! `pharos completions`: generates shell completions.

use std::io::{self, Write as _};

use clap::CommandFactory as _;

use crate::CommandOutcome;
use crate::cli::{Cli, CompletionsArgs};

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<CommandOutcome> {
    // Collected first, because the generator panics if the reader closes the pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pharos", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(CommandOutcome::Good)
}
