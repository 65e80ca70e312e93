#!/usr/bin/env python3
"""Which room may depend on which: the arrows between our crates, checked from `cargo metadata`."""

import sys

import metadata as cargo

ANY = "*"

# A crate of the left column may use those of the right column, and `pharos-core` besides.
ALLOWED = {
    "pharos-core": set(),
    "pharos-text": set(),
    "pharos-html": {"pharos-text"},
    "pharos-store": set(),
    "pharos-graph": {"pharos-text", "pharos-store"},
    "pharos-index": {"pharos-text"},
    "pharos-crawl": {"pharos-store"},
    "pharos-learn": {"pharos-text", "pharos-index"},
    "pharos-mining": {"pharos-text", "pharos-store"},
    "pharos-query": {"pharos-text", "pharos-store", "pharos-index", "pharos-graph", "pharos-learn"},
    "pharos-engine": {"pharos-crawl", "pharos-html", "pharos-text", "pharos-store", "pharos-graph",
                      "pharos-index", "pharos-learn", "pharos-mining"},
    "pharos-web": {"pharos-store", "pharos-html", "pharos-query", "pharos-mining", "pharos-engine"},
    "pharos-testweb": set(),
    "pharos-lab": {ANY},
    "pharos": {ANY},
}

# The known truth of the tests shares no code with what it tests.
NOTHING_OF_OURS = {"pharos-testweb"}

# Who may use the loopback web in tests only.
TESTWEB_IN_TESTS = {"pharos", "pharos-crawl", "pharos-engine", "pharos-web", "pharos-lab"}


def allowed(source, target, kind):
    """May `source` depend on `target`? `kind` is cargo's: None, "dev" or "build"."""
    if source in NOTHING_OF_OURS:
        return False
    if target == "pharos-core":
        return True
    if target == "pharos-testweb" and kind == "dev":
        return source in TESTWEB_IN_TESTS
    if (source, target, kind) == ("pharos-web", "pharos-index", "dev"):
        return True  # its tests fill a real small index; its code is handed a search
    arrows = ALLOWED.get(source, set())
    return ANY in arrows or target in arrows


def violations(edges, crates):
    """What is wrong with `edges` (source, target, kind) between `crates`, one sentence each."""
    wrong = [f"{name} is not in the table: add it to ALLOWED in tools/arrows.py"
             for name in sorted(crates) if name not in ALLOWED]
    for source, target, kind in sorted(edges, key=str):
        if source in ALLOWED and not allowed(source, target, kind):
            section = {"dev": "dev-dependencies", "build": "build-dependencies"}.get(kind, "dependencies")
            wrong.append(f"{source} -> {target} is not an allowed arrow: remove it from [{section}] of "
                         f"crates/{source}/Cargo.toml, or hand the data in from the outside")
    return wrong


def edges_of(packages):
    """The crates of the workspace and the dependencies between them."""
    crates = {package["name"] for package in packages}
    edges = {(package["name"], dependency["name"], dependency["kind"])
             for package in packages for dependency in package["dependencies"]
             if dependency["name"] in crates}
    return crates, edges


def unclear_run(metadata):
    """Why `cargo run -- demo`, which the README gives, would not know what to run; nothing where it does."""
    default = set(metadata.get("workspace_default_members", []))
    binaries = [target["name"] for package in metadata["packages"] if package["id"] in default
                for target in package["targets"] if "bin" in target["kind"]]
    if binaries == ["pharos"]:
        return []
    return [f"`cargo run` would find the binaries {binaries}, not just pharos: "
            "set default-members in Cargo.toml to crates/pharos"]


def main():
    metadata = cargo.load()
    crates, edges = edges_of(cargo.members(metadata))
    for source in sorted(crates):
        targets = sorted({target.removeprefix("pharos-") + (" (tests)" if kind == "dev" else "")
                          for origin, target, kind in edges if origin == source})
        print(f"  {source:<16} -> {', '.join(targets) or '-'}")
    wrong = violations(edges, crates) + unclear_run(metadata)
    for sentence in wrong:
        print(f"arrows: {sentence}", file=sys.stderr)
    if not wrong:
        print(f"arrows: {len(edges)} arrows between {len(crates)} crates, all allowed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
