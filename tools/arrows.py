#!/usr/bin/env python3
"""Check the dependencies (arrows) between the crates of the workspace, from `cargo metadata`."""

import sys

import metadata as cargo

ANY = "*"

# Crates that every other one may use, except those below.
FLOOR = {"pharos-core", "pharos-files"}

# Allowed dependencies of each crate, in addition to FLOOR.
ALLOWED = {
    "pharos-core": set(),
    "pharos-files": set(),
    "pharos-text": set(),
    "pharos-html": {"pharos-text"},
    "pharos-store": set(),
    "pharos-graph": {"pharos-text"},
    "pharos-index": {"pharos-text"},
    "pharos-crawl": {"pharos-store"},
    "pharos-learn": {"pharos-text"},  # the words of classified texts
    "pharos-mining": {"pharos-text", "pharos-store"},
    "pharos-query": {"pharos-text", "pharos-index", "pharos-graph", "pharos-learn", "pharos-mining"},
    "pharos-engine": {"pharos-crawl", "pharos-html", "pharos-text", "pharos-store", "pharos-graph",
                      "pharos-index", "pharos-learn", "pharos-mining"},
    "pharos-web": {"pharos-text", "pharos-store", "pharos-html", "pharos-query", "pharos-learn", "pharos-mining",
                   "pharos-engine"},
    "pharos-testweb": set(),
    "pharos": {ANY},
}

# The ground truth of the tests shares no code with the crates under test.
INDEPENDENT = {"pharos-testweb"}

# Further arrows that only dev-dependencies may use.
ALLOWED_IN_TESTS = {
    "pharos-web": {"pharos-index"},  # its tests fill a small real index; its code receives a search service
}


def allowed(source, target, kind):
    """Return whether `source` may depend on `target`; `kind` is cargo's None, "dev" or "build"."""
    if source in INDEPENDENT:
        return False
    if target in FLOOR:
        return source not in FLOOR  # core performs no I/O, and files knows nothing of pages
    if kind == "dev" and target in ALLOWED_IN_TESTS.get(source, set()):
        return True
    arrows = ALLOWED.get(source, set())
    return ANY in arrows or target in arrows


def violations(edges, crates):
    """Return an error message for each forbidden edge (source, target, kind) and each unknown crate."""
    errors = [f"{name} is not in the table: add it to ALLOWED in tools/arrows.py"
             for name in sorted(crates) if name not in ALLOWED]
    for source, target, kind in sorted(edges, key=str):
        if source in ALLOWED and not allowed(source, target, kind):
            section = {"dev": "dev-dependencies", "build": "build-dependencies"}.get(kind, "dependencies")
            errors.append(f"{source} -> {target} is not an allowed dependency: remove it from [{section}] of "
                         f"crates/{source}/Cargo.toml, or pass the data in from the caller")
    return errors


def unused(edges):
    """Return an error message for each allowed arrow that no crate uses."""
    used = {(source, target) for source, target, kind in edges if kind != "dev"}
    used_in_tests = {(source, target) for source, target, kind in edges if kind == "dev"}
    tables = [("ALLOWED", ALLOWED, used), ("ALLOWED_IN_TESTS", ALLOWED_IN_TESTS, used_in_tests)]
    return [f"{source} -> {target} is allowed but not used: remove it from {name} in tools/arrows.py"
            for name, table, edges in tables for source, targets in table.items()
            for target in sorted(targets - {ANY}) if (source, target) not in edges]


def edges_of(packages):
    """Return the crates of the workspace and the dependencies between them."""
    crates = {package["name"] for package in packages}
    edges = {(package["name"], dependency["name"], dependency["kind"])
             for package in packages for dependency in package["dependencies"]
             if dependency["name"] in crates}
    return crates, edges


def unclear_run(metadata):
    """Return an error if `cargo run -- demo`, as in the README, would be ambiguous."""
    default = set(metadata.get("workspace_default_members", []))
    binaries = [target["name"] for package in metadata["packages"] if package["id"] in default
                for target in package["targets"] if "bin" in target["kind"]]
    if binaries == ["pharos"]:
        return []
    return [f"`cargo run` finds the binaries {binaries} instead of only pharos: "
            "set default-members in Cargo.toml to crates/pharos"]


def main():
    metadata = cargo.load()
    crates, edges = edges_of(cargo.members(metadata))
    for source in sorted(crates):
        targets = sorted({target.removeprefix("pharos-") + (" (tests)" if kind == "dev" else "")
                          for origin, target, kind in edges if origin == source})
        print(f"  {source:<16} -> {', '.join(targets) or '-'}")
    errors = violations(edges, crates) + unused(edges) + unclear_run(metadata)
    for error in errors:
        print(f"arrows: {error}", file=sys.stderr)
    if not errors:
        print(f"arrows: {len(edges)} dependencies between {len(crates)} crates, all allowed")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
