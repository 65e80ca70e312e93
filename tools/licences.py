#!/usr/bin/env python3
"""Check the licences of all dependencies against an allow-list, from `cargo metadata`."""

import re
import sys
from collections import Counter

import metadata as cargo

ALLOWED = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "CDLA-Permissive-2.0",
    "ISC", "MIT", "MIT-0", "MPL-2.0", "Unicode-3.0", "Unicode-DFS-2016", "Unlicense", "Zlib",
}

# Exceptions only add permissions, so that an allowed licence stays allowed with one of these.
ALLOWED_EXCEPTIONS = {"LLVM-exception"}

# Packages with a `license-file` instead of an expression, reviewed manually: name -> expression.
REVIEWED = {}

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

    def __init__(self, expression):
        self.tokens = tokens(expression)
        self.position = 0

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
        result = known(token.removesuffix("+"), ALLOWED)
        if self.operator("WITH"):
            exception = self.take()
            self.must_be_name(exception)
            result = result and known(exception, ALLOWED_EXCEPTIONS)
        return result

    @staticmethod
    def must_be_name(token):
        if token is None or token in "()" or token.upper() in {"OR", "AND", "WITH"}:
            raise BadExpression("a licence name is missing")


def known(name, names):
    """Return whether a licence name is in the set, ignoring case."""
    return name.lower() in {each.lower() for each in names}


def acceptable(expression):
    """Return whether the allow-list satisfies the expression."""
    return Evaluator(expression).whole()


def problem(name, version, expression):
    """Return the error of one package, or None."""
    expression = REVIEWED.get(name, expression)
    package = f"{name} {version}"
    if not expression:
        return (f"{package} declares no licence: read its licence file and add it to REVIEWED in "
                "tools/licences.py, or drop the dependency")
    try:
        if acceptable(expression):
            return None
    except BadExpression as error:
        return f"{package} has an invalid licence expression `{expression}`: {error}"
    return (f"{package} has the licence `{expression}`, which is not on the allow-list: `cargo tree -i {name}` shows "
            "the dependents; use another crate")


def main():
    packages = cargo.load()["packages"]
    found = Counter(package["license"] or "(none)" for package in packages)
    for expression, count in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        print(f"  {count:>4}  {expression}")
    errors = [error for package in packages
             if (error := problem(package["name"], package["version"], package["license"]))]
    for error in errors:
        print(f"licences: {error}", file=sys.stderr)
    if not errors:
        print(f"licences: {len(packages)} packages, all on the allow-list")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
