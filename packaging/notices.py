#!/usr/bin/env python3
"""Print the licences of all libraries linked into the binary, which must accompany every copy of it."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import metadata as cargo  # noqa: E402: it is in tools/

NOTICE = re.compile(r"(licen[cs]e|copying|notice|copyright|unlicense)([-._].*)?", re.IGNORECASE)


def linked(metadata, root="pharos"):
    """Return the external packages linked into `root`, by name, without dev- and build-dependencies."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    workspace = set(metadata["workspace_members"])
    pending = [identity for identity in workspace if packages[identity]["name"] == root]
    seen = set(pending)
    while pending:
        for dependency in nodes[pending.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_linked and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                pending.append(dependency["pkg"])
    return sorted((packages[identity] for identity in seen - workspace),
                  key=lambda package: (package["name"], package["version"]))


def texts(folder):
    """Return the licence texts of a package."""
    return [path.read_text(encoding="utf-8", errors="replace").strip() for path in sorted(folder.iterdir())
            if path.is_file() and NOTICE.fullmatch(path.name)]


def main():
    packages = linked(cargo.load())
    holders = {}
    for package in packages:
        print(f"{package['name']} {package['version']}: {package['license']}")
        for text in texts(Path(package["manifest_path"]).parent):
            holders.setdefault(text, []).append(f"{package['name']} {package['version']}")
    for text, names in holders.items():
        print(f"\n{'=' * 80}\n{', '.join(names)}\n{'-' * 80}\n{text}")


if __name__ == "__main__":
    main()
