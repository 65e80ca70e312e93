#!/usr/bin/env python3
"""Check that every worked example of the literature in tests/golden.toml has a test.

`--waiting` lists the missing source files that examples wait for.
"""

import re
import sys
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = Path("tests/golden.toml")

REQUIRED = {"name", "source", "crate", "part", "given", "expect", "test"}
OPTIONAL = {"note"}

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
TEST = re.compile(r"[a-z][a-z0-9-]*(::[A-Za-z_][A-Za-z0-9_]*)+")
TEST_ATTRIBUTE = re.compile(r"#\[\s*(\w+\s*::\s*)*(test|rstest|test_case)\b")


def shape_problems(examples):
    """Return the errors of the entries themselves, independent of the source tree."""
    errors, seen = [], set()
    for number, example in enumerate(examples, 1):
        name = example.get("name") or f"example number {number}"
        keys = set(example)
        if missing := REQUIRED - keys:
            errors.append(f"{name}: key {', '.join(sorted(missing))} is missing")
            continue
        if unknown := keys - REQUIRED - OPTIONAL:
            errors.append(f"{name}: unknown key {', '.join(sorted(unknown))}")
        if not all(isinstance(value, str) for value in example.values()):
            errors.append(f"{name}: every value must be a string")
            continue
        if empty := [key for key in sorted(REQUIRED - {"test"}) if not example[key].strip()]:
            errors.append(f"{name}: {', '.join(empty)} is empty")
        if not NAME.fullmatch(name):
            errors.append(f"{name}: a name must be lower-case words joined by `-`")
        if name in seen:
            errors.append(f"{name}: the name is used twice")
        seen.add(name)
        if not re.fullmatch(rf"crates/{re.escape(example['crate'])}/([\w-]+/)*[\w-]+\.rs", example["part"]):
            errors.append(f"{name}: part `{example['part']}` is not a source file of crate {example['crate']}")
        if example["test"] and not TEST.fullmatch(example["test"]):
            errors.append(f"{name}: test `{example['test']}` is not written as crate::path::test_name")
    return errors


def has_test(source, function):
    """Return whether a Rust source defines `function` as a test, by the attributes in the lines above it."""
    lines = source.splitlines()
    definition = re.compile(rf"\s*(pub(\([\w\s]+\))?\s+)?(async\s+)?fn\s+{re.escape(function)}\b")
    for number, line in enumerate(lines):
        if not definition.match(line):
            continue
        for above in reversed(lines[:number]):
            text = above.strip()
            if TEST_ATTRIBUTE.match(text):
                return True
            if text and not text.startswith(("#", "//")):
                break
    return False


def test_exists(root, test):
    """Return whether the test `crate::path::name` exists in its crate; tests of the binary are also in the top-level `tests/`."""
    crate, *_, function = test.split("::")
    directories = [root / "crates" / crate] + ([root / "tests"] if crate == "pharos" else [])
    return any(has_test(source, function) for directory in directories for source in sources_of(directory))


@cache
def sources_of(directory):
    """Return the text of every Rust file below a directory, cached."""
    return [path.read_text(encoding="utf-8") for path in sorted(directory.glob("**/*.rs"))]


def state(example, part_exists, found):
    """Return "tested", "waiting" or an error message."""
    if example["test"]:
        if found(example["test"]):
            return "tested"
        return (f"{example['name']}: test `{example['test']}` does not exist: write it, or correct `test` in {FILE}")
    if part_exists(example["part"]):
        return (f"{example['name']}: {example['part']} exists, but no test uses the example: "
                f"write one ({example['given']} => {example['expect']}) and name it in {FILE}")
    return "waiting"


def main(arguments):
    try:
        examples = tomllib.loads((ROOT / FILE).read_text(encoding="utf-8")).get("example", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        print(f"golden: {FILE} cannot be read: {error}", file=sys.stderr)
        return 1
    for example in examples:
        # Entries written before the field was renamed.
        if "room" in example:
            example["crate"] = example.pop("room")
    errors = shape_problems(examples)
    if not errors:
        states = [state(example, lambda part: (ROOT / part).is_file(), lambda test: test_exists(ROOT, test))
                  for example in examples]
        errors = [each for each in states if each not in ("tested", "waiting")]
        report(examples, states, "--waiting" in arguments)
    for sentence in errors:
        print(f"golden: {sentence}", file=sys.stderr)
    return 1 if errors else 0


def report(examples, states, list_waiting):
    """Print the counts by crate and, on request, the missing source files that examples wait for."""
    counts = Counter((example["crate"], each) for example, each in zip(examples, states))
    crates = list(dict.fromkeys(example["crate"] for example in examples))
    print(f"  {'crate':<16} {'examples':>8} {'tested':>7} {'waiting':>8}")
    for crate in crates:
        total = sum(example["crate"] == crate for example in examples)
        print(f"  {crate:<16} {total:>8} {counts[crate, 'tested']:>7} {counts[crate, 'waiting']:>8}")
    if list_waiting:
        waiting = Counter(example["part"] for example, each in zip(examples, states) if each == "waiting")
        for part, count in waiting.items():
            print(f"  {count:>4}  {part}")
    print(f"golden: {len(examples)} examples, {states.count('tested')} tested, {states.count('waiting')} waiting")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
