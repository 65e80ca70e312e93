#!/usr/bin/env python3
"""Checks the language of comments, documents and messages.

Reports every finding as file:line with the words to use instead, and exits with 1 if there is one:
  * words of a list (nobody, anew, told …), in comments, documents and message strings;
  * doc comments whose summary begins with What, Who, Is, Does, How or Whether;
  * sentences of more than 45 words in documents;
  * references to notes that are not public;
  * public items without a doc comment.

tools/language.toml lists accepted findings, each with its reason. An entry that no longer matches is an error.

usage: language.py [--table] [FILE...]
  --table   print how often words of the list and third-person summaries occur per 1,000 comment lines, and exit
"""

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = ROOT / "tools" / "language.toml"
LONGEST_SENTENCE = 45

# (pattern, words to use instead); patterns ignore case.
WORDS = [
    (r"\b(nobody|somebody|anybody|everybody)\b", "name the actor: the client, the user, the caller, the operator, no process"),
    (r"\bwho(so)?ever\b", "name the actor: the caller, the client, the operator"),
    (r"\banew\b", "again"),
    (r"\b(told|tells?|telling)\b(?! (\w+ )?apart)", "report, return, record, print, say"),
    (r"\b(stands?|stood|standing) (in|on|at|above|below|beside|behind|between|there|here|for|alone|by|before|after)\b",
     "is stored in, appears in, is"),
    (r"\b(let|lets|letting) go\b", "evict, drop, close, release"),
    (r"\b(mend|mends|mended|mending)\b", "repair"),
    (r"\bpass(ed|ing) over\b", "skip"),
    (r"\bat hand\b", "cached, current"),
    (r"\bknown from before\b", "cached"),
    (r"\b(made|make|makes) harmless\b", "sanitised"),
    (r"\bfor ever\b", "permanently, without limit, indefinitely"),
    (r"\b(is|are|was|were|be) to be had\b", "is available"),
    (r"\bwhat is (asked|wanted|sought|meant|found|shown|said|there|left|kept|known|new|more)\b",
     "name the thing: the query, the results, the rest"),
    (r"(?:^|[.:;(] ?|\b(?:to|for|by|from|with|or|than|only|of) )who (?!are\b)[a-z]", "name the actor: the client, the user, the caller"),
]
WORDS = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in WORDS]

RIDDLE = re.compile(r"^(What|Who|Whose|Is|Are|Does|Do|How|Whether|Where|Which)\b|^[^.\n]*\?(\n|$)")
NOUN_WHAT = re.compile(r"(?:^|(?<=[.:;] ))(What|Who|Whoever)\b[^.?!:]*(?:[.!:]|$)")
PRIVATE = re.compile(r"\b00[0-4],? (part \d|[A-Z]{1,2}\d+)|\bseed-00\d|\bcoverage-00\d|\breading notes\b|\bshared/(seeds|requirements)")
# Verbs that open a summary; plural nouns end like them, so they are listed.
SUMMARY = re.compile(
    r"^(Accepts|Adds|Advances|Answers|Appends|Applies|Asserts|Assigns|Builds|Calls|Cancels|Checks|Chooses|Clears|Closes|Collects"
    r"|Combines|Compares|Compiles|Compresses|Computes|Connects|Converts|Copies|Counts|Creates|Decides|Decodes|Decompresses"
    r"|Decreases|Deletes|Describes|Detects|Discards|Divides|Drops|Encodes|Ends|Ensures|Escapes|Estimates|Evaluates|Evicts"
    r"|Exports|Extracts|Fetches|Fills|Filters|Finds|Finishes|Fits|Flushes|Follows|Formats|Generates|Gives|Groups|Handles|Hashes"
    r"|Imports|Increases|Initialises|Inserts|Installs|Interprets|Iterates|Joins|Keeps|Limits|Lists|Listens|Loads|Locks|Logs"
    r"|Maps|Marks|Matches|Measures|Merges|Moves|Normalises|Notes|Notifies|Opens|Orders|Parses|Pauses|Picks|Prepares|Prints"
    r"|Processes|Propagates|Queries|Ranks|Reads|Rebuilds|Receives|Records|Reduces|Refuses|Registers|Rejects|Releases|Removes"
    r"|Renders|Repairs|Repeats|Replaces|Replays|Reports|Requests|Reserves|Resets|Resolves|Restores|Retries|Returns|Rewrites"
    r"|Rolls|Runs|Sanitises|Saves|Scans|Schedules|Scores|Searches|Segments|Selects|Sends|Serialises|Serves|Sets|Shows|Shuts"
    r"|Signals|Sizes|Skips|Sorts|Splits|Starts|Stops|Stores|Streams|Strips|Submits|Suggests|Sums|Syncs|Takes|Tests|Tokenises"
    r"|Tracks|Trains|Traverses|Treats|Trims|Truncates|Tries|Turns|Undoes|Unpacks|Updates|Uses|Validates|Verifies|Visits|Waits"
    r"|Wakes|Walks|Warms|Weighs|Wraps|Writes|Yields)\b"
)

# One pass over Rust text: comments, strings (raw ones too), characters, lifetimes.
RUST = re.compile(
    r'(?P<comment>//[^\n]*)|(?P<block>/\*.*?\*/)'
    r'|(?P<string>b?r(?P<hashes>\#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*")'
    r"|(?P<char>b?'(?:\\[^\n]|[^\\'\n])[^'\n]*?'|'\w+)",
    re.DOTALL,
)
PUBLIC = re.compile(r"^\s*pub (?:const |async |unsafe |extern \"C\" )*(struct|enum|trait|fn|mod|const|static|type|union) (\w+)")


@dataclass(frozen=True)
class Text:
    """A piece of prose and where it begins."""

    path: str
    line: int
    kind: str  # doc, comment, message, document
    text: str


@dataclass(frozen=True)
class Finding:
    """Something to reword."""

    path: str
    line: int
    found: str
    instead: str

    def __str__(self):
        return f"{self.path}:{self.line}: \"{self.found}\": {self.instead}"


def without_code(text):
    """Blanks code spans, links and quotations, whose words are not ours."""
    text = re.sub(r"`[^`\n]*`", lambda m: "`" + "x" * (len(m[0]) - 2) + "`" if len(m[0]) > 1 else m[0], text)
    return re.sub(r"\]\([^)\n]*\)", lambda m: "]" + " " * (len(m[0]) - 1), text)


def rust_texts(path, source):
    """Returns the comments of a Rust file, a block of lines as one text, and its message strings."""
    tests = source.find("#[cfg(test)]\nmod ")
    is_test = re.search(r"(^|/)(tests?|examples|benches)(/|\.rs$)|_tests\.rs$", path) is not None
    # Strings of the test web are the content of its pages.
    is_content = path.startswith("crates/pharos-testweb/")
    texts, block = [], []

    def close():
        if block:
            first = block[0]
            texts.append(Text(path, first[0], first[1], "\n".join(line for _, _, line in block)))
            block.clear()

    for match in RUST.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        if match["comment"]:
            kind = "doc" if re.match(r"//[/!](?!/)", match["comment"]) else "comment"
            text = re.sub(r"^//[/!]?", "", match["comment"]).strip()
            begins = source.rfind("\n", 0, match.start()) + 1
            alone = not source[begins:match.start()].strip()
            if not (block and alone and block[-1][0] == line - 1 and block[-1][1] == kind):
                close()
            block.append((line, kind, text))
        elif match["string"] and " " in match["string"] and not is_test and not is_content and (tests < 0 or match.start() < tests):
            close()
            texts.append(Text(path, line, "message", match["string"].replace("\\n", "\n")))
    close()
    return texts


def without_fences(text):
    """Blanks fenced code, keeping line numbers."""
    return re.sub(r"^[ ]*```.*?^[ ]*```[^\n]*$", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)


def hash_texts(path, source):
    """Returns the comments of a file whose comments begin with #."""
    found = []
    for number, line in enumerate(source.split("\n"), 1):
        match = re.search(r"(?:^|\s)#(?!!)\s?(.*)$", line)
        if match:
            found.append(Text(path, number, "comment", match[1]))
    return found


def slash_texts(path, source):
    """Returns the comments of a script or style sheet."""
    found = []
    for match in re.finditer(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", source, re.DOTALL):
        line = source.count("\n", 0, match.start()) + 1
        found.append(Text(path, line, "comment", match[0].strip("/* ")))
    return found


def template_texts(path, source):
    """Returns a template without its tags and expressions."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    return [Text(path, 1, "message", re.sub(r"\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", blank, source, flags=re.DOTALL))]


def texts_of(path, source):
    """Returns all prose of a file."""
    if path.endswith(".rs"):
        return rust_texts(path, source)
    if path.endswith(".md"):
        return [Text(path, 1, "document", without_fences(source))]
    if path.endswith((".js", ".css")):
        return slash_texts(path, source)
    if path.endswith((".html", ".xml")):
        return template_texts(path, source)
    return hash_texts(path, source)


def sentences(text):
    """Yields (line offset, sentence) of the prose of a document: paragraphs and list items, no tables or headings."""
    start, lines = 0, []

    def flush():
        paragraph = " ".join(lines)
        for sentence in re.split(r"(?<=[.!?。])\s+|\s\|\s", paragraph):
            yield start, sentence

    for number, line in enumerate(text.split("\n")):
        stripped = line.strip()
        if not stripped or stripped.startswith(("#", "|", "* ", "- ", "![", "<")) or re.match(r"\d+\. ", stripped):
            yield from flush()
            start, lines = number, []
        if stripped and not stripped.startswith(("#", "|", "![", "<")):
            lines.append(re.sub(r"^(\* |- |\d+\. )", "", stripped))
            if len(lines) == 1:
                start = number
    yield from flush()


def check_text(piece):
    """Returns the findings in one piece of prose."""
    found = []
    plain = without_code(without_fences(piece.text) if piece.kind == "doc" else piece.text)

    def report(offset, words, instead):
        line = piece.line + plain.count("\n", 0, offset)
        found.append(Finding(piece.path, line, " ".join(words.split()), instead))

    flat = plain.replace("\n", " ")
    for pattern, instead in WORDS:
        for match in pattern.finditer(flat):
            report(match.start(), match[0], instead)
    for match in PRIVATE.finditer(plain):
        report(match.start(), match[0], "cite a public source: author, year, section, or 《书名》§")
    if piece.kind == "doc" and RIDDLE.match(plain):
        report(0, " ".join(plain.split()[:4]), "begin the summary with a verb in the third person or a noun")
    elif piece.kind in ("doc", "comment", "document"):
        for match in NOUN_WHAT.finditer(flat if piece.kind != "document" else plain):
            report(match.start(), " ".join(match[0].split()[:4]), "name the thing or the actor")
    if piece.kind == "document":
        for offset, sentence in sentences(plain):
            words = len([word for word in sentence.split() if re.search(r"\w", word)])
            if words > LONGEST_SENTENCE:
                found.append(Finding(piece.path, piece.line + offset, f"{' '.join(sentence.split()[:5])} …",
                                     f"a sentence of {words} words: split it"))
    return found


def undocumented(path, source):
    """Returns the public items of a Rust file that have no doc comment."""
    if not path.startswith("crates/") or "/src/" not in path or re.search(r"(^|/|_)tests?(/|\.rs$)", path):
        return []
    found, documented = [], False
    lines = source.split("\n")
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if stripped == "#[cfg(test)]":
            following = next((text for text in lines[number:] if text.strip() and not text.strip().startswith("#[")), "")
            if re.match(r"\s*(pub )?mod \w+ \{", following):
                break
        if stripped.startswith(("///", "#[doc", "#![doc")):
            documented = True
        elif stripped.startswith("#[") or (documented is True and stripped.startswith(("//",))):
            continue
        else:
            item = PUBLIC.match(line)
            # The page of a file module is its own `//!`.
            if item and not documented and item[1] != "mod":
                found.append(Finding(path, number, f"pub {item[1]} {item[2]}", "a public item without a doc comment"))
            # Attributes over several lines end with `)]`.
            documented = documented and stripped.endswith((",", "(", '"')) and not item
    return found


def files():
    """Returns the paths of all files with prose of ours."""
    found = []
    for pattern in ["crates/**/*.rs", "bench/**/*.rs", "fuzz/targets/*.rs", "tests/**/*.rs", "examples/**/*.rs"]:
        found += ROOT.glob(pattern)
    for pattern in ["*.md", "docs/**/*.md", "crates/**/*.md", "bench/**/*.md", "packaging/**/*.md", ".github/**/*.md"]:
        found += ROOT.glob(pattern)
    for pattern in ["tools/*.py", "bench/**/*.py", "packaging/*.py", "crates/*/data/*.py", "crates/*/rules/*.py",
                    "check", "fuzz/run", ".ci/run", "packaging/deb/*", "packaging/systemd/*", "packaging/docker/*",
                    "packaging/proxy/*", "Cargo.toml", "crates/*/Cargo.toml", "tests/golden.toml"]:
        found += ROOT.glob(pattern)
    for pattern in ["crates/pharos-web/static/*.js", "crates/pharos-web/static/*.css", "crates/pharos-web/templates/**/*.html"]:
        found += ROOT.glob(pattern)
    skipped = ("target", "node_modules", "language.py", "test_language.py")
    return sorted({path for path in found if path.is_file() and not any(part in skipped for part in path.parts)})


def allowances():
    """Returns the accepted findings: (path, words, reason)."""
    if not ALLOWED.exists():
        return []
    entries = tomllib.loads(ALLOWED.read_text(encoding="utf-8")).get("allow", [])
    for entry in entries:
        if not entry.get("reason"):
            sys.exit(f"{ALLOWED.name}: the entry for {entry.get('path')} has no reason")
    return [(entry["path"], entry["words"].lower(), entry["reason"]) for entry in entries]


def check(paths):
    """Returns all findings that are not accepted, and the accepting entries that match nothing."""
    allowed, used, found = allowances(), set(), []
    for path in paths:
        name = str(path.relative_to(ROOT))
        source = path.read_text(encoding="utf-8")
        findings = [finding for piece in texts_of(name, source) for finding in check_text(piece)]
        findings += undocumented(name, source) if name.endswith(".rs") else []
        for finding in findings:
            entry = next((e for e in allowed if Path(name).match(e[0]) and e[1] in finding.found.lower()), None)
            if entry:
                used.add(entry)
            else:
                found.append(finding)
    return found, [entry for entry in allowed if entry not in used]


def table(paths):
    """Prints how the comments of all Rust files read, per 1,000 lines."""
    lines = words = riddles = summaries = returns = short = 0
    for path in paths:
        name = str(path)
        if not name.endswith(".rs"):
            continue
        for piece in rust_texts(name, path.read_text(encoding="utf-8")):
            if piece.kind == "message":
                continue
            lines += piece.text.count("\n") + 1
            plain = without_code(piece.text)
            words += sum(len(pattern.findall(plain.replace("\n", " "))) for pattern, _ in WORDS)
            if piece.kind == "doc":
                first = plain.split("\n")[0]
                riddles += bool(RIDDLE.match(first))
                summaries += bool(SUMMARY.match(first))
                returns += first.startswith("Returns")
                short += "\n" not in plain and len(plain.split()) <= 3
    per = 1000 / max(1, lines)
    print(f"{'comment lines':40} {lines:8}")
    for name, count in [("summaries with a third-person verb", summaries), ("… that begin with Returns", returns),
                        ("summaries that begin with What, Who, Is", riddles), ("words of the list", words),
                        ("doc comments of three words or fewer", short)]:
        print(f"{name:40} {count:8} {count * per:8.1f} per 1,000")


def main(arguments):
    show_table = "--table" in arguments
    named = [Path(argument).resolve() for argument in arguments if not argument.startswith("--")]
    paths = [inner for path in named for inner in (sorted(path.rglob("*.rs")) if path.is_dir() else [path])] or files()
    if show_table:
        table(paths)
        return 0
    found, unused = check(paths)
    for finding in found:
        print(finding)
    if not named:
        for path, words, _ in unused:
            print(f"tools/language.toml: the entry for {path}, \"{words}\", matches nothing: remove it")
    if found or (unused and not named):
        print(f"language: {len(found)} findings in {len(paths)} files; reword them as shown, "
              "or accept one in tools/language.toml with a reason", file=sys.stderr)
        return 1
    print(f"language: {len(paths)} files, nothing to reword")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
