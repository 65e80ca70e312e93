//! `pharos rank convert`: writes a model in the format of another program.

use pharos_learn::ranking::files::{self, ModelFormat};

use crate::cli::{Global, RankConvertArgs};
use crate::{CommandOutcome, console};

pub(crate) fn run(global: &Global, args: &RankConvertArgs) -> anyhow::Result<CommandOutcome> {
    let format: ModelFormat = args.to.parse().map_err(|error| anyhow::anyhow!("--to: {error}"))?;
    let model = files::read(&args.model_file)?;
    files::write_as(&args.out, &model, format)?;
    if global.json {
        console::print_json(&serde_json::json!({"from": model.algorithm, "to": args.to, "out": args.out}))?;
    } else {
        console::out!("wrote {}", args.out.display());
    }
    Ok(CommandOutcome::Good)
}
