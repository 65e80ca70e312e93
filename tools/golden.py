#!/usr/bin/env python3
"""Every worked example of the literature has its test: checks tests/golden.toml against the tree.

`--waiting` lists the parts that examples wait for.
"""

import re
import sys
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = Path("tests/golden.toml")

REQUIRED = {"name", "source", "room", "part", "given", "expect", "test"}
OPTIONAL = {"note"}

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
TEST = re.compile(r"[a-z][a-z0-9-]*(::[A-Za-z_][A-Za-z0-9_]*)+")
TEST_ATTRIBUTE = re.compile(r"#\[\s*(\w+\s*::\s*)*(test|rstest|test_case)\b")


def shape_problems(examples):
    """What is wrong with the entries themselves, whatever the tree holds."""
    wrong, seen = [], set()
    for number, example in enumerate(examples, 1):
        name = example.get("name") or f"example number {number}"
        keys = set(example)
        if missing := REQUIRED - keys:
            wrong.append(f"{name}: key {', '.join(sorted(missing))} is missing")
            continue
        if unknown := keys - REQUIRED - OPTIONAL:
            wrong.append(f"{name}: unknown key {', '.join(sorted(unknown))}")
        if not all(isinstance(value, str) for value in example.values()):
            wrong.append(f"{name}: every value is a text in quotes")
            continue
        if empty := [key for key in sorted(REQUIRED - {"test"}) if not example[key].strip()]:
            wrong.append(f"{name}: {', '.join(empty)} is empty")
        if not NAME.fullmatch(name):
            wrong.append(f"{name}: a name is lower-case words joined by `-`")
        if name in seen:
            wrong.append(f"{name}: the name is used twice")
        seen.add(name)
        if not re.fullmatch(rf"crates/{re.escape(example['room'])}/([\w-]+/)*[\w-]+\.rs", example["part"]):
            wrong.append(f"{name}: part `{example['part']}` is not a source file of room {example['room']}")
        if example["test"] and not TEST.fullmatch(example["test"]):
            wrong.append(f"{name}: test `{example['test']}` is not written as crate::path::test_name")
    return wrong


def has_test(source, function):
    """Does this Rust source define `function` as a test? Attributes stand in the lines right above it."""
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
    """Is the test `crate::path::name` somewhere in its crate, in `src` or in `tests`? Those of the binary stand at the top."""
    crate, *_, function = test.split("::")
    places = [root / "crates" / crate] + ([root / "tests"] if crate == "pharos" else [])
    return any(has_test(source, function) for place in places for source in sources_of(place))


@cache
def sources_of(directory):
    """The text of every Rust file below a directory, read once."""
    return [path.read_text(encoding="utf-8") for path in sorted(directory.glob("**/*.rs"))]


def state(example, part_exists, found):
    """The rule: "tested" or "waiting", or else the sentence that says what is wrong."""
    if example["test"]:
        if found(example["test"]):
            return "tested"
        return (f"{example['name']}: there is no test `{example['test']}`; write it, or correct `test` in {FILE}")
    if part_exists(example["part"]):
        return (f"{example['name']}: {example['part']} exists but no test uses the example; "
                f"write one ({example['given']} => {example['expect']}) and name it in {FILE}")
    return "waiting"


def main(arguments):
    try:
        examples = tomllib.loads((ROOT / FILE).read_text(encoding="utf-8")).get("example", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        print(f"golden: {FILE} cannot be read: {error}", file=sys.stderr)
        return 1
    wrong = shape_problems(examples)
    if not wrong:
        states = [state(example, lambda part: (ROOT / part).is_file(), lambda test: test_exists(ROOT, test))
                  for example in examples]
        wrong = [each for each in states if each not in ("tested", "waiting")]
        report(examples, states, "--waiting" in arguments)
    for sentence in wrong:
        print(f"golden: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


def report(examples, states, list_waiting):
    """The table of counts, and on request the parts that examples wait for."""
    counts = Counter((example["room"], each) for example, each in zip(examples, states))
    rooms = list(dict.fromkeys(example["room"] for example in examples))
    print(f"  {'room':<16} {'examples':>8} {'tested':>7} {'waiting':>8}")
    for room in rooms:
        total = sum(example["room"] == room for example in examples)
        print(f"  {room:<16} {total:>8} {counts[room, 'tested']:>7} {counts[room, 'waiting']:>8}")
    if list_waiting:
        waiting = Counter(example["part"] for example, each in zip(examples, states) if each == "waiting")
        for part, count in waiting.items():
            print(f"  {count:>4}  {part}")
    print(f"golden: {len(examples)} examples, {states.count('tested')} tested, {states.count('waiting')} waiting")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
