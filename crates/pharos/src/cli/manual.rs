//! Arguments of `pharos man` and `pharos completions`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
#[command(after_help = "\
Without DIR, pharos(1) is printed to standard output: `pharos man | man -l -` displays it.")]
pub(crate) struct ManArgs {
    /// Write pharos.1 and one page per command into this directory
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Installation:
  bash        pharos completions bash > ~/.local/share/bash-completion/completions/pharos
  zsh         pharos completions zsh > _pharos, in a directory of $fpath
  fish        pharos completions fish > ~/.config/fish/completions/pharos.fish")]
pub(crate) struct CompletionsArgs {
    /// Name of the shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}
