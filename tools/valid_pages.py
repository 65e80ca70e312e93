"""Check that every kind of page of the demo is valid HTML, with html-validate (npm).

usage: valid_pages.py PHAROS_BINARY NODE_MODULES
"""

import html
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from demo import Demo

# Pages to check: file name, path, expected status. {snapshot} and {clean} are links found in pages of the demo.
PAGES = [
    ("home-en", "/?lang=en", 200),
    ("home-zh", "/?lang=zh", 200),
    ("results-en", "/search?q=lighthouse&lang=en", 200),
    ("results-zh", "/search?q=灯塔&lang=zh", 200),
    ("results-page-2", "/search?q=lighthouse&page=2", 200),
    ("results-beyond", "/search?q=lighthouse&page=99", 200),
    ("results-phrase", "/search?q=\"the lighthouse\" -fog", 200),
    ("results-explained", "/search?q=lighthouse&explain=1", 200),
    ("results-none", "/search?q=zzzqqqxxyy", 200),
    ("snapshot", "{snapshot}", 200),
    ("snapshot-missing", "/snapshot/0", 404),
    ("snapshot-content", "{content}", 200),
    ("clean", "{clean}", 200),
    ("clean-empty", "/clean", 200),
    ("clean-missing", "/clean?url=http://nowhere.test/", 404),
    ("not-found", "/no/such/page", 404),
    ("results-filtered", "/search?q=lighthouse&site=nowhere.test&time=week&in=en", 200),
    ("snapshot-text", "{text}", 200),
    ("hot", "/hot", 200),
    ("directory", "/directory?lang=en", 200),
    ("directory-zh", "/directory?lang=zh", 200),
    ("directory-category", "/directory/science", 200),
    ("directory-category-zh", "/directory/science?lang=zh", 200),
    ("help", "/help", 200),
    ("help-zh", "/help?lang=zh", 200),
    ("privacy", "/privacy", 200),
    ("privacy-zh", "/privacy?lang=zh", 200),
    ("bot", "/bot", 200),
    ("bot-unknown", "/bot?url=https://unknown.example/", 200),
    ("bot-zh", "/bot?lang=zh", 200),
    ("api", "/api", 200),
    ("desk-setup", "/admin/setup", 200),
    ("desk-setup-zh", "/admin/setup?lang=zh", 200),
    ("desk-login", "/admin/login", 200),
    ("desk-login-zh", "/admin/login?lang=zh&next=/admin/sites", 200),
]

# Pages of the desk, which need a login.
DESK = [(f"desk-{name}{lang}", f"/admin{path}{'&' if '?' in path else '?'}lang={lang or 'en'}", 200)
        for lang in ("", "zh")
        for name, path in [
            ("overview", ""), ("crawl", "/crawl"), ("sites", "/sites"), ("site", "/site?name=campus.localhost:8081"),
            ("page", "/page"), ("page-unknown", "/page?url=https://unknown.example/"), ("trouble", "/trouble"),
            ("submissions", "/submissions"), ("index", "/index"), ("words", "/words"), ("calendar", "/calendar"),
            ("backup", "/backup"), ("alerts", "/alerts"), ("machine", "/machine"), ("queries", "/queries"),
            ("insight", "/insight"), ("insight-queries", "/insight/queries?list=slow"), ("insight-query", "/insight/query?q=lamp"),
            ("curation", "/curation"), ("categories", "/categories"), ("curation-edit", "/curation?edit=1&q=lamp"), ("settings", "/settings"),
            ("settings-rank", "/settings?section=rank"), ("logs", "/logs"), ("keys", "/keys"), ("operators", "/operators"),
            ("actions", "/actions"), ("account", "/account")]]

# Exceptions from the recommended rules.
RULES = {
    # Checkboxes of one name are a choice of several values.
    "form-dup-name": ["error", {"shared": ["radio", "button", "reset", "submit", "checkbox"]}],
    # `<!doctype html>` is valid in lower case.
    "doctype-style": "off",
    # Titles contain queries and page titles of any length.
    "long-title": "off",
    # Parsers insert a missing `<tbody>`.
    "prefer-tbody": "off",
}

# Time limit of html-validate in seconds.
TIME_LIMIT = 120


def configuration():
    """Return the html-validate configuration; `root` stops the search in parent folders."""
    return {"root": True, "extends": ["html-validate:recommended"], "rules": RULES}


def link_in(text, pattern):
    """Return the first link of a page that matches, unescaped."""
    found = re.search(rf'href="({pattern}[^"]*)"', text)
    return found and html.unescape(found[1])


def problems(report):
    """Return one line per error of the JSON report of html-validate."""
    return [f"{Path(file['filePath']).name}:{message['line']}:{message['column']}: {message['message']} "
            f"[{message['ruleId']}]"
            for file in report for message in file["messages"] if message["severity"] == 2]


def validate(folder, node_modules):
    """Run html-validate on a folder of pages and return its errors."""
    program = Path(node_modules).resolve() / "html-validate/bin/html-validate.mjs"
    # To a file: with a pipe, it exits before a long report is written completely.
    report = folder / "report.json"
    done = subprocess.run(["node", str(program), "--formatter", f"json={report}", "."], cwd=folder,
                          capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    try:
        return problems(json.loads(report.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        sys.exit(f"html-validate failed: {done.stderr.strip() or done.stdout.strip()}")


def fetch(demo, folder):
    """Save all pages; return an error for each unexpected status."""
    errors, links = [], {}
    _, results = demo.get("/search?q=lighthouse")
    links["snapshot"] = link_in(results, "/snapshot/")
    if links["snapshot"]:
        links["content"] = re.sub(r"(/snapshot/[^?/]+)", r"\1/content", links["snapshot"])
        links["text"] = links["content"] + "&view=text"
        links["clean"] = link_in(demo.get(links["snapshot"])[1], r"/clean\?")
    for name, path, expected in PAGES + DESK:
        if name == DESK[0][0]:
            demo.log_in()
        if path.startswith("{"):
            link = links.get(path.strip("{}"))
            if not link:
                errors.append(f"{name}: no page of the demo links to it")
                continue
            path = link
        status, text = demo.get(path)
        if status != expected:
            errors.append(f"{name}: {path} returns {status} instead of {expected}")
            continue
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return errors


def main(binary, node_modules):
    with tempfile.TemporaryDirectory(prefix="pages-") as folder:
        folder = Path(folder)
        (folder / ".htmlvalidate.json").write_text(json.dumps(configuration()), encoding="utf-8")
        with Demo(binary) as demo:
            errors = fetch(demo, folder)
        errors += validate(folder, node_modules)
    for line in errors:
        print(f"pages: {line}", file=sys.stderr)
    print(f"pages: {len(PAGES) + len(DESK)} pages, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    sys.exit(main(*sys.argv[1:]))
