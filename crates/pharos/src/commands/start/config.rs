//! `pharos config`: prints every setting with value, default and meaning.

use std::collections::BTreeMap;

use pharos_core::config::{Config, KEYS};

use crate::cli::Global;
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let default = Config::default();
    let value = |config: &Config, name: &str| config.get(name).unwrap_or_default();
    if global.json {
        let keys: BTreeMap<_, _> = KEYS
            .iter()
            .map(|key| {
                let entry = serde_json::json!({
                    "value": value(&config, key.name),
                    "default": value(&default, key.name),
                    "meaning": key.meaning.trim(),
                });
                (key.name, entry)
            })
            .collect();
        console::print_json(&keys)?;
        return Ok(CommandOutcome::Good);
    }
    // The output is itself a valid pharos.toml.
    let mut section = "";
    for key in KEYS {
        let (of, name) = key.name.split_once('.').unwrap_or(("", key.name));
        if of != section {
            console::out!("{}[{of}]", if section.is_empty() { "" } else { "\n" });
            section = of;
        }
        let (now, usual) = (value(&config, key.name), value(&default, key.name));
        console::out!("# {}", key.meaning.trim());
        if now == usual {
            console::out!("{name} = {now}")
        } else {
            console::out!("{name} = {now}  # default: {usual}")
        }
    }
    Ok(CommandOutcome::Good)
}
