"""Every kind of page of the demo is valid HTML: checked with html-validate (npm).

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

# A page to check: the name of its file, its path, and the status that it must come with. {snapshot} and {clean} are the
# links that the demo's own pages give. A new page is a line here.
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
    ("help", "/help", 200),
    ("help-zh", "/help?lang=zh", 200),
    ("privacy", "/privacy", 200),
    ("privacy-zh", "/privacy?lang=zh", 200),
    ("bot", "/bot", 200),
    ("bot-unknown", "/bot?url=https://nobody.example/", 200),
    ("bot-zh", "/bot?lang=zh", 200),
    ("api", "/api", 200),
    ("desk-setup", "/admin/setup", 200),
    ("desk-setup-zh", "/admin/setup?lang=zh", 200),
    ("desk-login", "/admin/login", 200),
    ("desk-login-zh", "/admin/login?lang=zh&next=/admin/sites", 200),
]

# The pages of the desk, which come after a login.
DESK = [(f"desk-{name}{lang}", f"/admin{path}{'&' if '?' in path else '?'}lang={lang or 'en'}", 200)
        for lang in ("", "zh")
        for name, path in [
            ("overview", ""), ("crawl", "/crawl"), ("sites", "/sites"), ("site", "/site?name=campus.localhost:8081"),
            ("page", "/page"), ("page-unknown", "/page?url=https://nobody.example/"), ("trouble", "/trouble"),
            ("submissions", "/submissions"), ("index", "/index"), ("machine", "/machine"), ("queries", "/queries"),
            ("settings", "/settings"), ("settings-rank", "/settings?section=rank"), ("logs", "/logs"),
            ("operators", "/operators"), ("actions", "/actions"), ("account", "/account")]]

# Everything that is recommended, except where it is a matter of taste.
RULES = {
    # A browser reads `<!doctype html>` in any case; ours is small.
    "doctype-style": "off",
    # Titles hold what was searched for, or what somebody called a page.
    "long-title": "off",
    # Rows without a `<tbody>` are given one by every parser.
    "prefer-tbody": "off",
}

# The longest that html-validate may take.
TIME_LIMIT = 120


def configuration():
    """For html-validate; `root` keeps it from looking for more in the folders above."""
    return {"root": True, "extends": ["html-validate:recommended"], "rules": RULES}


def link_in(text, pattern):
    """The first link of a page that fits, as a browser would follow it."""
    found = re.search(rf'href="({pattern}[^"]*)"', text)
    return found and html.unescape(found[1])


def problems(report):
    """One line for each error in what html-validate reports as JSON."""
    return [f"{Path(file['filePath']).name}:{message['line']}:{message['column']}: {message['message']} "
            f"[{message['ruleId']}]"
            for file in report for message in file["messages"] if message["severity"] == 2]


def validate(folder, node_modules):
    """Runs html-validate over a folder of pages."""
    program = Path(node_modules).resolve() / "html-validate/bin/html-validate.mjs"
    # Into a file: into a pipe, it ends before all of a long report is written.
    report = folder / "report.json"
    done = subprocess.run(["node", str(program), "--formatter", f"json={report}", "."], cwd=folder,
                          capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    try:
        return problems(json.loads(report.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        sys.exit(f"html-validate did not work: {done.stderr.strip() or done.stdout.strip()}")


def fetch(demo, folder):
    """Saves all pages; gives what is wrong with their status."""
    wrong, links = [], {}
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
                wrong.append(f"{name}: no page of the demo links to it")
                continue
            path = link
        status, text = demo.get(path)
        if status != expected:
            wrong.append(f"{name}: {path} gives {status}, not {expected}")
            continue
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return wrong


def main(binary, node_modules):
    with tempfile.TemporaryDirectory(prefix="pages-") as folder:
        folder = Path(folder)
        (folder / ".htmlvalidate.json").write_text(json.dumps(configuration()), encoding="utf-8")
        with Demo(binary) as demo:
            wrong = fetch(demo, folder)
        wrong += validate(folder, node_modules)
    for line in wrong:
        print(f"pages: {line}", file=sys.stderr)
    print(f"pages: {len(PAGES) + len(DESK)} pages, {len(wrong)} errors")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    sys.exit(main(*sys.argv[1:]))
