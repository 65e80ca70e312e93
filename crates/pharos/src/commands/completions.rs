//! `pharos completions`: what a shell needs to know to complete our commands and flags.

use std::io::{self, Write as _};

use clap::CommandFactory as _;

use crate::Outcome;
use crate::cli::{Cli, CompletionsArgs};

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<Outcome> {
    // Gathered first: the generator panics when its reader goes away.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "pharos", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(Outcome::Good)
}
