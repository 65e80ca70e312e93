//! Limit on open files: connections and index files count against it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files reserved for index, logs and stores.
const RESERVED: u64 = 1_000;

/// Raises the limit of this process as far as allowed, and returns how many of the wanted connections fit below it.
pub(crate) fn raise_limit_for(connections: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let wanted = connections as u64 + RESERVED;
    let Some(current) = limit.current.filter(|current| *current < wanted) else { return connections.max(1) };
    let target = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let raised = match setrlimit(Resource::Nofile, Rlimit { current: Some(target), maximum: limit.maximum }) {
        Ok(()) => target,
        Err(error) => {
            tracing::warn!(%error, "cannot raise the limit on open files");
            current
        }
    };
    if raised >= wanted {
        return connections.max(1);
    }
    // A low limit is shared between connections and other files.
    let fit = raised.saturating_sub(RESERVED).max(raised / 4).max(1);
    let fit = usize::try_from(fit).unwrap_or(connections).min(connections.max(1));
    tracing::warn!(
        limit = raised,
        connections = fit,
        wanted = connections,
        "the limit on open files allows fewer connections than `web.connections`: raise it with `ulimit -n`"
    );
    fit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_least_one_and_at_most_the_wanted_connections_fit() {
        for wanted in [0, 1, 100, 1 << 40] {
            let fitting = raise_limit_for(wanted);
            assert!(fitting >= 1 && fitting <= wanted.max(1), "{wanted}: {fitting}");
        }
    }
}
