//! The groups of hostile hosts, one file per kind of misbehaviour.

mod bombs;
mod charsets;
mod directives;
mod discovery;
mod framing;
mod freshness;
mod good;
mod markup;
mod names;
mod overload;
pub(super) mod redirects;
mod robots_states;
mod secure;
mod slow;
mod traps;

use super::host::HostileHost;

/// Returns all hosts, group by group.
pub(super) fn all_hosts() -> Vec<HostileHost> {
    let groups = [
        good::hosts(),
        redirects::hosts(),
        slow::hosts(),
        bombs::hosts(),
        framing::hosts(),
        markup::hosts(),
        charsets::hosts(),
        traps::hosts(),
        overload::hosts(),
        robots_states::hosts(),
        secure::hosts(),
        names::hosts(),
        directives::hosts(),
        discovery::hosts(),
        freshness::hosts(),
    ];
    groups.into_iter().flatten().collect()
}
