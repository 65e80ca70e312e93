//! Arguments of `pharos health`.

use clap::Args;

#[derive(Args)]
#[command(after_help = "\
Requests /healthz, which succeeds as long as the process runs; specify /readyz to check that it can serve queries, too. \
The certificate is not verified, because the request goes to this machine.")]
pub(crate) struct HealthArgs {
    /// URL to request [default: /healthz at web.listen, on this machine]
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,
}
