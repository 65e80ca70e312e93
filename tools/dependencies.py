#!/usr/bin/env python3
"""Check the dependencies against deny.toml: licences, banned crates, duplicate and yanked versions.

Runs `cargo deny` if it is installed; otherwise applies the same rules to the output of `cargo metadata`. Yanked versions
are read from cargo's copy of the registry index, which is as old as the last download.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import metadata as cargo

TOKEN = re.compile(r"\s*([()/]|[A-Za-z0-9][A-Za-z0-9.+:-]*)")


class BadExpression(ValueError):
    """An invalid licence expression."""


def tokens(expression):
    """Split an SPDX expression into tokens; `/` is the legacy form of OR."""
    found, position = [], 0
    text = expression.rstrip()
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match:
            raise BadExpression(f"unexpected `{text[position:].strip()[:20]}`")
        found.append("OR" if match[1] == "/" else match[1])
        position = match.end()
    return found


class Evaluator:
    """Recursive-descent evaluator of `a OR b AND c WITH d`: WITH binds closest, then AND, then OR."""

    def __init__(self, expression, allowed):
        self.tokens = tokens(expression)
        self.position = 0
        self.allowed = allowed

    def peek(self):
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self):
        token = self.peek()
        self.position += 1
        return token

    def operator(self, name):
        if (self.peek() or "").upper() != name:
            return False
        self.take()
        return True

    def whole(self):
        result = self.alternatives()
        if self.peek() is not None:
            raise BadExpression(f"unexpected `{self.peek()}`")
        return result

    def alternatives(self):
        result = self.conjunction()
        while self.operator("OR"):
            result = self.conjunction() or result
        return result

    def conjunction(self):
        result = self.term()
        while self.operator("AND"):
            result = self.term() and result
        return result

    def term(self):
        token = self.take()
        if token == "(":
            result = self.alternatives()
            if self.take() != ")":
                raise BadExpression("missing `)`")
            return result
        self.must_be_name(token)
        name = token.removesuffix("+")
        if self.operator("WITH"):
            exception = self.take()
            self.must_be_name(exception)
            name += f" WITH {exception}"
        return name.lower() in self.allowed

    @staticmethod
    def must_be_name(token):
        if token is None or token in "()" or token.upper() in {"OR", "AND", "WITH"}:
            raise BadExpression("a licence name is missing")


def acceptable(expression, allowed):
    """Return whether the allow-list satisfies the expression."""
    return Evaluator(expression, {name.lower() for name in allowed}).whole()


def licence_problem(name, version, expression, allowed):
    """Return the error of one package, or None."""
    package = f"{name} {version}"
    if not expression:
        return f"{package} declares no licence: drop the dependency"
    try:
        if acceptable(expression, allowed):
            return None
    except BadExpression as error:
        return f"{package} has an invalid licence expression `{expression}`: {error}"
    return (f"{package} has the licence `{expression}`, which deny.toml does not allow: `cargo tree -i {name}` shows "
            "the dependents; use another crate")


def banned(packages, bans):
    """Return an error for each package that deny.toml bans."""
    reasons = {ban["crate"]: ban["reason"] for ban in bans}
    return [f"{name} {version} is banned: {reasons[name]}" for name, version in packages if name in reasons]


def matches(spec, name, version):
    """Return whether a package matches `name` or `name@version`, where the version may be incomplete: `rand@0.9`."""
    spec_name, _, prefix = spec.partition("@")
    return spec_name == name and (not prefix or f"{version}.".startswith(f"{prefix}."))


def duplicates(packages, skipped):
    """Return an error for each crate with several versions that are not skipped, and for each unneeded skip."""
    versions = defaultdict(set)
    for name, version in packages:
        versions[name].add(version)
    errors = [f"`{spec}` is skipped in deny.toml, but there is no second version: remove it from the list"
              for spec in skipped
              if not any(matches(spec, name, version) and len(versions[name]) > 1 for name, version in packages)]
    for name, found in sorted(versions.items()):
        rest = sorted(version for version in found if not any(matches(spec, name, version) for spec in skipped))
        if len(rest) > 1:
            errors.append(f"{name} is compiled in several versions ({', '.join(rest)}): `cargo tree -i {name}@{rest[0]}` "
                          "shows the dependents; use one version, or add one to `skip` in deny.toml")
    return errors


def index_path(name):
    """Return the path of a crate in the registry index."""
    name = name.lower()
    folder = {1: "1", 2: "2", 3: f"3/{name[:1]}"}.get(len(name), f"{name[:2]}/{name[2:4]}")
    return f"{folder}/{name}"


def yanked_versions(entry):
    """Return the yanked versions in a file of cargo's index cache: a header, then versions and JSON, separated by NUL."""
    lines = (json.loads(part) for part in entry.split(b"\0") if part.startswith(b"{"))
    return {line["vers"] for line in lines if line.get("yanked")}


def yanked(packages, caches):
    """Return an error for each yanked version; crates that the index caches do not contain are not checked."""
    errors = []
    for name, version in packages:
        files = [cache / index_path(name) for cache in caches]
        if any(version in yanked_versions(file.read_bytes()) for file in files if file.is_file()):
            errors.append(f"{name} {version} was yanked: run `cargo update -p {name}`")
    return errors


def index_caches():
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    return sorted(home.glob("registry/index/*/.cache"))


def compiled(targets):
    """Return (name, version) of all packages that are compiled without the tests."""
    flags = [flag for target in targets for flag in ("--target", target)]
    tree = cargo.output("tree", "--workspace", "--edges", "normal,build", "--prefix", "none", *flags)
    return sorted({(words[0], words[1].removeprefix("v")) for line in tree.splitlines()
                   if len(words := line.split()) > 1 and words[1].startswith("v")})


def own_check(rules):
    """Return the errors of all rules, without cargo-deny."""
    packages = cargo.load()["packages"]
    found = Counter(package["license"] or "(none)" for package in packages)
    for expression, count in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        print(f"  {count:>4}  {expression}")
    external = sorted((package["name"], package["version"]) for package in packages if package["source"])
    built = compiled(rules["graph"]["targets"])
    errors = [error for package in packages if (error := licence_problem(
        package["name"], package["version"], package["license"], rules["licenses"]["allow"]))]
    errors += banned(built, rules["bans"]["deny"])
    errors += duplicates(built, [skip["crate"] for skip in rules["bans"]["skip"]])
    errors += yanked(external, index_caches())
    if not errors:
        print(f"dependencies: {len(packages)} packages follow deny.toml")
    return errors


def main():
    if shutil.which("cargo-deny"):
        # Advisories need the network; the CI workflow checks them.
        return subprocess.run(["cargo", "deny", "--locked", "check", "licenses", "bans", "sources"], cwd=cargo.ROOT,
                              check=False).returncode
    rules = tomllib.loads((cargo.ROOT / "deny.toml").read_text(encoding="utf-8"))
    errors = own_check(rules)
    for error in errors:
        print(f"dependencies: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
