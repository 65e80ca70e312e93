//! Arguments of `pharos health`.

use clap::Args;

#[derive(Args)]
#[command(after_help = "\
Asks /healthz, which is answered as long as the process lives; name /readyz to know whether queries are answered, too. \
Whose certificate it is does not matter: the question is asked of this machine.")]
pub(crate) struct HealthArgs {
    /// What to ask [default: /healthz at web.listen, on this machine]
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,
}
