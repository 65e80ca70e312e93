#!/usr/bin/env python3
"""Check that files are replaced through `pharos-files` only, and that each caller has a power-cut test."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Calls that create, overwrite or rename a file.
PRIVATE = re.compile(r"\bfs::(?:write|rename)\(|\bFile::create(?:_new)?\(|\.persist(?:_noclobber)?\(")
# Calls that replace a file durably.
DURABLE = re.compile(r"\bpharos_files::(?:replace|replace_private|install|install_directory|rename)\(|\bNewFile::create")

# Files that may call PRIVATE functions, with the reason.
ALLOWED = {
    "crates/pharos-files/src/layer.rs": "the one place",
    "crates/pharos-testweb/src/main.rs": "output of a test server, which uses no crate of ours",
    "crates/pharos-text/src/vocabulary/editor.rs": "an empty lock file",
    "crates/pharos-engine/src/maintenance/backup.rs": "an empty lock file",
    "crates/pharos-learn/src/ranking/files.rs": "output to a path that the user names, possibly a pipe",
    "crates/pharos/src/commands/rank/clicks.rs": "output to a path that the user names, possibly a pipe",
    "crates/pharos/src/commands/rank/test.rs": "output to a path that the user names, possibly a pipe",
    "crates/pharos-learn/src/run.rs": "output to a path that the user names, possibly a pipe",
    "crates/pharos/src/commands/maintenance/man.rs": "output to a directory that the user names",
    "crates/pharos/src/commands/crawl/refresh.rs": "output to a path that the user names, possibly a pipe",
    "crates/pharos/src/commands/search/clean.rs": "output to a path that the user names, possibly a pipe",
    "crates/pharos-store/src/formats/tianwang/files.rs": "new files of an export, synced and then moved",
    "crates/pharos-graph/src/relations/checksums.rs": "new file in the directory of a build, synced and then installed",
    "crates/pharos-graph/src/relations/lookup.rs": "new file in the directory of a build, synced and then installed",
    "crates/pharos-graph/src/relations/string_file.rs": "new file in the directory of a build, synced and then installed",
    "crates/pharos-graph/src/relations/tables.rs": "new file in the directory of a build, synced and then installed",
}

# Callers whose power-cut test is in another file.
TESTED_IN = {
    "crates/pharos-graph/src/relations/builder.rs": "crates/pharos-graph/src/relations/tests.rs",
    "crates/pharos-store/src/derived/writer.rs": "crates/pharos-store/src/derived/tests.rs",
    "crates/pharos-store/src/library/compaction.rs": "crates/pharos-store/src/library/disk.rs",
    "crates/pharos-store/src/library/scan.rs": "crates/pharos-store/src/library/disk.rs",
} | {f"crates/pharos-index/src/{name}": "crates/pharos-index/src/durability_tests.rs" for name in (
    "document/link_maxima.rs", "generations/directory.rs", "generations/generation.rs", "generations/manifest.rs",
    "phrase_index.rs", "write/history_builder.rs")}

# Callers without one: a single call on a path that the user names.
UNTESTED = {
    "crates/pharos-engine/src/exchange/export.rs",
    "crates/pharos/src/commands/insight/log/report.rs",
    "crates/pharos/src/commands/insight/log/share.rs",
    "crates/pharos/src/commands/search/segment.rs",
}


def code_of(text):
    """Return the text of a Rust file without its tests, which are the last module, and without comments."""
    return re.sub(r"//.*", "", text.split("#[cfg(test)]\nmod tests", 1)[0])


def is_test(path):
    return "/tests" in path or path.endswith("tests.rs") or path.endswith("build.rs")


def violations(sources):
    """Return an error for each file of `sources` (path: text) that breaks a rule, and for each outdated exception."""
    errors = []
    for path, text in sorted(sources.items()):
        if is_test(path) or path.startswith("crates/pharos-files/") and path not in ALLOWED:
            continue
        code = code_of(text)
        if PRIVATE.search(code) and path not in ALLOWED:
            call = PRIVATE.search(code).group()
            errors.append(f"{path}: `{call}…`: use pharos_files::replace or NewFile, or enter the reason in ALLOWED")
        if DURABLE.search(code) and path not in UNTESTED:
            if "power_cut::" not in sources.get(TESTED_IN.get(path, path), ""):
                errors.append(f"{path}: no power-cut test: see pharos_files::power_cut")
    errors += [f"{path}: no longer needs its exception in ALLOWED" for path in ALLOWED
               if not PRIVATE.search(code_of(sources.get(path, "")))]
    errors += [f"{path}: no longer needs its exception" for path in [*TESTED_IN, *UNTESTED]
               if not DURABLE.search(code_of(sources.get(path, "")))]
    return errors


def main():
    files = sorted((ROOT / "crates").glob("*/src/**/*.rs"))
    sources = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}
    errors = violations(sources)
    for error in errors:
        print(f"replacements: {error}", file=sys.stderr)
    if not errors:
        callers = [path for path, text in sources.items() if DURABLE.search(code_of(text)) and not is_test(path)]
        print(f"replacements: {len(callers)} files replace others, all through pharos-files")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
