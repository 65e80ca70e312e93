#!/usr/bin/env python3
"""Evaluate searches on documentation packages of Debian, beside BM25 over the same pages.

usage: documentation.py PHAROS [--held-out] [--folder DIR] [--queries N] [--margin M]

PHAROS is a release binary. Downloads the packages with apt-get, imports their HTML pages as eight sites (12,600 pages, English and
Chinese), builds the index, and prints three tables. With --held-out, packages and queries are others, on which nothing was tuned.
  judged       nDCG@5 of the queries in tests/documentation, in the order of the result page, by language
  BM25         the same for BM25 (k1 1.2, b 0.75) over title x 3 + body + anchors, any word, words of Pharos's export
  known items  `pharos eval search` with N queries of each kind (default 200)
DIR (--folder) keeps packages and data directory for another run; an existing data directory in it is used as it is.
With --margin, the exit code is 1 unless the mean nDCG@5 is at least M above that of BM25.
"""

import argparse
import collections
import json
import math
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Site: directories below /usr/share of a package, and where they are in the site.
DEVELOPMENT = {
    "python": [("python3.11-doc", "doc/python3.11/html", "")],
    "git": [("git-doc", "doc/git-doc", "")],
    "postgresql": [("postgresql-doc-15", "doc/postgresql-doc-15/html", "")],
    "sqlite": [("sqlite3-doc", "doc/sqlite3", "")],
    "linux": [("linux-doc-6.1", "doc/linux-doc-6.1/html", "")],
    "handbook": [("debian-handbook", f"doc/debian-handbook/html/{name}", name) for name in ("en-US", "zh-CN")],
    "office": [("libreoffice-help-en-us", "libreoffice/help/en-US", "en-US"),
               ("libreoffice-help-zh-cn", "libreoffice/help/zh-CN", "zh-CN")],
    "gimp": [("gimp-help-en", "gimp/2.0/help/en", "en"), ("gimp-help-zh-cn", "gimp/2.0/help/zh_CN", "zh_CN")],
}
HELD_OUT = {
    "apache": [("apache2-doc", f"doc/apache2-doc/manual/{name}", name) for name in ("en", "zh-cn")],
    "reference": [("debian-reference-en", "debian-reference", "en"), ("debian-reference-zh-cn", "debian-reference", "zh-cn")],
    "faq": [("debian-faq", "doc/debian/FAQ", "en"), ("debian-faq-zh-cn", "doc/debian/FAQ/zh-cn", "zh-cn")],
    "policy": [("debian-policy", "doc/debian-policy", "")],
    "devref": [("developers-reference", "developers-reference", "")],
    "exim": [("exim4-doc-html", "doc/exim4-doc-html", "")],
    "gnucash": [("gnucash-docs", "doc/gnucash-docs/gnucash-guide-en", "guide")],
    "octave": [("octave-doc", "doc/octave", "")],
    "zsh": [("zsh-doc", "doc/zsh-common/html", "")],
    "newmaint": [("maint-guide", "doc/maint-guide/html", "en"), ("maint-guide-zh-cn", "doc/maint-guide-zh-cn/html", "zh-cn")],
    "kicad": [("kicad-doc-en", "doc/kicad/help/en", "en"), ("kicad-doc-zh", "doc/kicad/help/zh", "zh")],
}
WORD = re.compile(r"[a-z0-9_]+|[\u4e00-\u9fff]+")


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def download(folder, sites):
    """Write the HTML pages of all packages to folder/sites/SITE."""
    packages, unpacked = folder / "packages", folder / "unpacked"
    for made in (packages, unpacked):
        made.mkdir(parents=True, exist_ok=True)
    names = sorted({package for parts in sites.values() for package, _, _ in parts})
    run("apt-get", "download", "-q", *names, cwd=packages)
    for package in packages.glob("*.deb"):
        run("dpkg-deb", "-x", package, unpacked / package.name.split("_")[0])
    for site, parts in sites.items():
        for package, source, target in parts:
            source = unpacked / package / "usr/share" / source
            for page in source.rglob("*.html"):
                # Links lead to untranslated pages and to other names of a page.
                if page.is_file() and not page.is_symlink():
                    copy = folder / "sites" / site / target / page.relative_to(source)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(page, copy)
    shutil.rmtree(unpacked)


def words(text):
    """Return the words of a text: Latin words, and pairs of neighbouring Han characters."""
    found = []
    for word in WORD.findall(text.lower()):
        if word[0] < "\u4e00" or len(word) == 1:
            found.append(word)
        else:
            found += [word[at : at + 2] for at in range(len(word) - 1)]
    return found


class Bm25:
    def __init__(self, pages):
        anchors = collections.defaultdict(list)
        for page in pages:
            for link in page["links"]:
                if link["kind"] == "page" and link["anchor"]:
                    anchors[link["url"].split("#")[0]].append(link["anchor"])
        self.urls, self.lengths, self.postings = [], [], collections.defaultdict(list)
        for page in pages:
            text = " ".join([page["title"]] * 3 + [page["text"]] + sorted(set(anchors[page["url"]])))
            counts = collections.Counter(words(text))
            for word, times in counts.items():
                self.postings[word].append((len(self.urls), times))
            self.urls.append(page["url"])
            self.lengths.append(sum(counts.values()))
        self.mean = sum(self.lengths) / len(self.lengths)

    def search(self, query, count):
        scores = collections.Counter()
        for word in words(query):
            postings = self.postings.get(word, [])
            rarity = math.log(1 + (len(self.urls) - len(postings) + 0.5) / (len(postings) + 0.5))
            for page, times in postings:
                scores[page] += rarity * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * self.lengths[page] / self.mean))
        return [self.urls[page] for page, _ in scores.most_common(count)]


def ndcg(ranked, grades, depth=5):
    def gain(values):
        return sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(values[:depth]))

    return gain([grades.get(url, 0) for url in ranked]) / gain(sorted(grades.values(), reverse=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pharos", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--margin", type=float)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        evaluate(given, (given.folder or Path(temporary)).absolute())


def evaluate(given, folder):
    sites = HELD_OUT if given.held_out else DEVELOPMENT
    judged = ROOT / "tests/documentation" / ("held-out" if given.held_out else "development")
    data = folder / "data"
    pharos = [given.pharos.absolute(), "--quiet", "--data", data]
    if not (data / "catalog.db").exists():
        if not (folder / "sites").exists():
            download(folder, sites)
        for site in sites:
            run(*pharos, "import", folder / "sites" / site, "--base-url", f"http://{site}.example/")
        run(*pharos, "index", "build")
    ranked_by_pharos = folder / "run.txt"
    run(*pharos, "eval", "retrieval", "--pages", judged, "--run", ranked_by_pharos, stdout=subprocess.DEVNULL)
    by_pharos = collections.defaultdict(list)
    for line in ranked_by_pharos.read_text().splitlines():
        query, _, url, *_ = line.split()
        by_pharos[query].append(url)
    exported = run(*pharos, "export", "--format", "jsonl", stdout=subprocess.PIPE).stdout
    bm25 = Bm25([json.loads(line) for line in exported.splitlines()])
    grades = collections.defaultdict(dict)
    for line in (judged / "qrels.txt").read_text().splitlines():
        query, _, url, grade = line.split()
        grades[query][url] = int(grade)
    rows = collections.defaultdict(list)
    for line in (judged / "queries.tsv").read_text().splitlines():
        query, text = line.split("\t")
        lang = "zh" if any("\u4e00" <= character <= "\u9fff" for character in text) else "en"
        pair = ndcg(by_pharos[query], grades[query]), ndcg(bm25.search(text, 10), grades[query])
        rows[lang].append(pair)
        rows["all"].append(pair)
        print(f"{query}  {pair[0]:.3f}  {pair[1]:.3f}  {text}")
    print(f"\n{'nDCG@5':8} {'queries':>8} {'Pharos':>8} {'BM25':>8}")
    for lang, pairs in rows.items():
        means = [sum(column) / len(pairs) for column in zip(*pairs)]
        print(f"{lang:8} {len(pairs):8} {means[0]:8.3f} {means[1]:8.3f}")
    print(flush=True)
    run(*pharos, "eval", "search", "--queries", given.queries)
    ours, theirs = (sum(column) / len(rows["all"]) for column in zip(*rows["all"]))
    if given.margin is not None and ours < theirs + given.margin:
        raise SystemExit(f"documentation: nDCG@5 is {ours:.3f}, less than {given.margin} above {theirs:.3f}")


if __name__ == "__main__":
    main()
