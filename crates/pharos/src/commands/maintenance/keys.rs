//! `pharos keys …`: the keys of programs that use the API.

use pharos_core::{Clock as _, SystemClock};
use pharos_web::api_keys::{
    ApiKeyError, ApiKeyRecord, ApiKeyState, ApiKeyStore, ApiKeyUsage, IssuedApiKey, NewApiKey,
};
use serde::Serialize;

use crate::cli::{Global, KeysAddArgs, KeysChangeArgs, KeysCommand};
use crate::commands::search::curate::{parse_time, user_name};
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, command: KeysCommand) -> anyhow::Result<CommandOutcome> {
    settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let store = ApiKeyStore::at(&data);
    match command {
        KeysCommand::List => list(global, &store),
        KeysCommand::Add(args) => add(global, &store, args),
        KeysCommand::Change(args) => change(global, &store, args),
        KeysCommand::Rotate(args) => match store.rotate(&args.name, &user_name(None)) {
            Ok(issued) => report(global, &issued),
            Err(error) => missing_or(global, error),
        },
        KeysCommand::Revoke(args) => done(global, store.revoke(&args.name), "revoked"),
        KeysCommand::Remove(args) => done(global, store.remove(&args.name), "removed"),
    }
}

/// A key in the output of `pharos keys list`.
#[derive(Serialize)]
struct ListedKey<'a> {
    id: u64,
    name: &'a str,
    state: ApiKeyState,
    endpoints: &'a [String],
    sites: &'a [String],
    rate: Option<u32>,
    until: Option<&'a str>,
    by: &'a str,
    at: &'a str,
    #[serde(flatten)]
    usage: ApiKeyUsage,
}

impl<'a> ListedKey<'a> {
    fn new(key: &'a ApiKeyRecord, usage: ApiKeyUsage) -> Self {
        Self {
            id: key.id,
            name: &key.name,
            state: key.state(SystemClock.now()),
            endpoints: &key.endpoints,
            sites: &key.sites,
            rate: key.rate,
            until: key.until.as_deref(),
            by: &key.by,
            at: &key.at,
            usage,
        }
    }
}

fn list(global: &Global, store: &ApiKeyStore) -> anyhow::Result<CommandOutcome> {
    let (keys, mut usage) = (store.load()?, store.usage());
    let listed = keys.iter().map(|key| ListedKey::new(key, usage.remove(&key.id).unwrap_or_default()));
    let listed: Vec<ListedKey<'_>> = listed.collect();
    if global.json {
        console::print_json(&listed)?;
    } else {
        for key in &listed {
            console::out!("{}", describe(key));
        }
    }
    Ok(if listed.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

fn describe(key: &ListedKey<'_>) -> String {
    let state = match key.state {
        ApiKeyState::Active => "active",
        ApiKeyState::Ended => "ended",
        ApiKeyState::Revoked => "revoked",
    };
    let all = |list: &[String], what: &str| if list.is_empty() { what.to_string() } else { list.join(", ") };
    let endpoints = all(key.endpoints, "all endpoints");
    let sites = all(key.sites, "all sites");
    let rate = key.rate.map(|rate| format!(", {rate} per second")).unwrap_or_default();
    let until = key.until.map(|until| format!(", until {until}")).unwrap_or_default();
    let last = if key.usage.last.is_empty() { String::new() } else { format!(", last {}", key.usage.last) };
    let name = console::printable(key.name);
    format!("{state:<8} {name}: {endpoints}; {sites}{rate}{until}; {} requests{last}", key.usage.requests)
}

fn add(global: &Global, store: &ApiKeyStore, args: KeysAddArgs) -> anyhow::Result<CommandOutcome> {
    let KeysAddArgs { name, endpoints, sites, rate, until, by } = args;
    let until = until.as_deref().map(parse_time).transpose()?;
    let new = NewApiKey { name, endpoints, sites, rate, until, by: user_name(by) };
    report(global, &store.add(new)?)
}

fn change(global: &Global, store: &ApiKeyStore, args: KeysChangeArgs) -> anyhow::Result<CommandOutcome> {
    let KeysChangeArgs { name, endpoints, sites, rate, until } = args;
    let until = match until.as_deref() {
        None => None,
        Some("never") => Some(None),
        Some(time) => Some(Some(parse_time(time)?)),
    };
    // An empty list permits everything.
    let listed = |list: Vec<String>| if list == ["all"] { Vec::new() } else { list };
    let changed = store.change_scope(&name, None, |key| {
        if !endpoints.is_empty() {
            key.endpoints = listed(endpoints);
        }
        if !sites.is_empty() {
            key.sites = listed(sites);
        }
        if let Some(rate) = rate {
            key.rate = (rate > 0).then_some(rate);
        }
        if let Some(until) = until {
            key.until = until;
        }
    });
    done(global, changed, "changed")
}

/// Prints the secret of a key on stdout, so that it can be stored by a script.
fn report(global: &Global, issued: &IssuedApiKey) -> anyhow::Result<CommandOutcome> {
    if global.json {
        let IssuedApiKey { record, secret } = issued;
        console::print_json(&serde_json::json!({ "id": record.id, "name": record.name, "key": secret }))?;
    } else {
        console::out!("{}", issued.secret);
    }
    console::print_message(global.quiet, "copy the key now: it is not shown again");
    Ok(CommandOutcome::Good)
}

fn done(
    global: &Global,
    result: Result<ApiKeyRecord, ApiKeyError>,
    what: &str,
) -> anyhow::Result<CommandOutcome> {
    match result {
        Ok(key) => {
            console::print_message(global.quiet, &format!("{what}: {}", console::printable(&key.name)));
            Ok(CommandOutcome::Good)
        }
        Err(error) => missing_or(global, error),
    }
}

/// Reports an unknown name as nothing found, and other errors as errors.
fn missing_or(global: &Global, error: ApiKeyError) -> anyhow::Result<CommandOutcome> {
    if !matches!(error, ApiKeyError::Missing) {
        return Err(error.into());
    }
    console::print_message(global.quiet, "no key has this name: see `pharos keys list`");
    Ok(CommandOutcome::NothingFound)
}
