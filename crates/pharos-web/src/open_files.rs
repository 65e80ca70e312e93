//! The limit on open files: every connection is one, and so is every file of the index.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files besides connections: index, logs, stores.
const OTHERS: u64 = 1_000;

/// Raises this process's limit as far as it is allowed to, and gives how many of the wanted connections fit below it.
pub(crate) fn room_for(connections: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let wanted = connections as u64 + OTHERS;
    let Some(current) = limit.current.filter(|current| *current < wanted) else { return connections.max(1) };
    let most = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let raised = match setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: limit.maximum }) {
        Ok(()) => most,
        Err(error) => {
            tracing::warn!(%error, "cannot raise the limit of open files");
            current
        }
    };
    if raised >= wanted {
        return connections.max(1);
    }
    // With few files there are still some for connections.
    let fit = raised.saturating_sub(OTHERS).max(raised / 4).max(1);
    let fit = usize::try_from(fit).unwrap_or(connections).min(connections.max(1));
    tracing::warn!(
        limit = raised,
        connections = fit,
        wanted = connections,
        "the limit of open files allows fewer connections at once than web.connections: raise it with `ulimit -n`"
    );
    fit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_room_and_never_more_than_wanted() {
        for wanted in [0, 1, 100, 1 << 40] {
            let room = room_for(wanted);
            assert!(room >= 1 && room <= wanted.max(1), "{wanted}: {room}");
        }
    }
}
