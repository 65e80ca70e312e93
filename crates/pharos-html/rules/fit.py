#!/usr/bin/env python3
"""Fits the rules of pharos.toml to manually marked pages, and estimates their quality on other pages.

    pip install numpy lightgbm rapidfuzz
    cargo run --release -p pharos-html --example training_lines -- LINES DIR…
    python3 fit.py LINES sites               # cross-validation: five folds of whole sites
    python3 fit.py LINES sets                # cross-validation: each set in turn, trained on the others
    python3 fit.py LINES fit OUT.toml        # final fit on all pages

LINES holds what `training_lines` wrote about the pages of each DIR. The target of a line is the share of its words on
the longest common subsequence of the page's words and the marked ones. Three models are fitted, each on results of
the previous one for pages that it has not seen: genre of a page, first pass over its lines, final score of its lines.
Sets with pages of the same origin (`wcxb`, `wcxb-more`) are left out together.
"""

import json
import re
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import urlparse

import lightgbm
import numpy as np
from rapidfuzz.distance import LCSseq

FOLDS = 5
INNER_FOLDS = 3
FIRST_ROUNDS = 80
ROUNDS = 200
GENRE_ROUNDS = 40
GENRES = ["article", "documentation", "service", "forum", "collection", "listing", "product"]
# Few scores per rule, random thresholds, and a third of the features each: many weak rules generalise better than few
# strong ones.
PARAMETERS = dict(objective="cross_entropy", num_leaves=8, max_depth=6, learning_rate=0.1, extra_trees=True,
                  min_data_in_leaf=60, min_sum_hessian_in_leaf=0.0, lambda_l2=5.0, path_smooth=2.0,
                  feature_fraction=0.35, bagging_fraction=0.7, bagging_freq=1, max_bin=63, force_col_wise=True, num_threads=1, verbose=-1)
FIRST_PARAMETERS = dict(PARAMETERS, learning_rate=0.2)
GENRE_PARAMETERS = dict(objective="multiclass", num_class=len(GENRES), num_leaves=5, learning_rate=0.1, extra_trees=True,
                        min_data_in_leaf=10, lambda_l2=5.0, feature_fraction=0.3, bagging_fraction=0.8, bagging_freq=1,
                        max_bin=63, force_col_wise=True, num_threads=1, verbose=-1)
MAX_LINES = 150  # per page; a random sample is used beyond it
REACH = 4  # as in first_pass.rs
HEAD_ENDS = "start = "


def tokens(text, is_chinese):
    return [c for c in text if not c.isspace()] if is_chinese else re.findall(r"\w+", text.lower())


def read(folder):
    """Returns the feature names and the pages."""
    names = json.loads((folder / "names.json").read_text())
    features = np.fromfile(folder / "features.f32", np.float32).reshape(-1, len(names))
    # Numbers are names of kinds of words that the rule file does not define.
    features[:, [at for at, name in enumerate(names) if name[-1].isdigit() and "." in name]] = 0
    pages, at = [], 0
    for line in (folder / "lines.jsonl").open():
        page = json.loads(line)
        count = len(page["texts"])
        page["x"], at = features[at:at + count].astype(np.float32), at + count
        page["kind"] = page["set"]
        page["site"] = urlparse(page["url"] or "").hostname or page["id"]
        is_chinese = page["set"] == "zh"
        page["gold"] = tokens(page["gold"], is_chinese)
        page["lines"] = [tokens(text, is_chinese) for text in page.pop("texts")]
        if not page["lines"] or not page["gold"]:
            continue
        page["sizes"] = np.array([len(line) for line in page["lines"]], float)
        page["blocks"] = np.array(page["blocks"])
        page["templates"] = np.unique(page["templates"], return_inverse=True)[1]
        page["terms"] = np.maximum(1, page["x"][:, names.index("terms")])
        page["means"] = (page["x"] * page["terms"][:, None]).sum(0) / page["terms"].sum()
        page["y"], page["w"] = targets(page), weights(page)
        pages.append(page)
    return names, pages


def targets(page):
    """Share of each line that is marked; isolated matches of short lines are treated as chance."""
    flat = [word for line in page["lines"] for word in line]
    owner = [number for number, line in enumerate(page["lines"]) for _ in line]
    marked = np.zeros(len(page["lines"]))
    for step in LCSseq.opcodes(flat, page["gold"]):
        if step.tag == "equal":
            for at in range(step.src_start, step.src_end):
                marked[owner[at]] += 1
    sizes = np.maximum(1, page["sizes"])
    share = marked / sizes
    for number in np.where((sizes < 6) & (share > 0.5))[0]:
        near = slice(max(0, number - 2), number + 3)
        if (share[near] * sizes[near]).sum() - marked[number] < (sizes[near].sum() - sizes[number]) / 2:
            share[number] = 0.25
    return share


def weights(page):
    """Line weights by words, as in the metrics, normalised per page."""
    sizes = page["sizes"]
    weight = np.minimum(sizes / max(len(page["gold"]), 80), 0.5) + 0.15 / max(10, len(sizes))
    return weight / max(weight.sum(), 0.7) * {"aeb": 1.5, "zh": 2.5}.get(page["kind"], 1.0)


def fit_lines(pages, inputs, parameters, rounds, seed):
    random = np.random.RandomState(seed)
    parts = []
    for page, x in zip(pages, inputs):
        y, w = page["y"], page["w"]
        if len(w) > MAX_LINES:
            drawn = random.permutation(len(w))[:MAX_LINES]
            x, y, w = x[drawn], y[drawn], w[drawn] * w.sum() / w[drawn].sum()
        parts.append((x, y, w))
    x, y, w = (np.concatenate(part) for part in zip(*parts))
    return lightgbm.train(dict(parameters, seed=seed), lightgbm.Dataset(x, y, weight=w / w.mean()), rounds)


class Model:
    """Genre, first pass and final score."""

    def __init__(self, names, pages, seed=1):
        self.names, self.seed = names, seed
        sites = sorted({page["site"] for page in pages})
        fold_of = dict(zip(sites, np.random.RandomState(seed).permutation(len(sites)) % INNER_FOLDS))
        folds = [fold_of[page["site"]] for page in pages]
        # Every model learns from predictions for pages that were not used to make them.
        unseen = self.across(pages, folds, self.fit_genres, self.with_genres)
        self.fit_genres(pages)
        first = self.across(list(zip(pages, unseen)), folds, self.fit_first, self.with_first)
        self.fit_first(list(zip(pages, unseen)))
        self.final = fit_lines(pages, first, PARAMETERS, ROUNDS, seed)

    def across(self, items, folds, fit, predict):
        results = [None] * len(items)
        for fold in range(INNER_FOLDS):
            fit([item for item, f in zip(items, folds) if f != fold])
            for number, item in enumerate(items):
                if folds[number] == fold:
                    results[number] = predict(item)
        return results

    def fit_genres(self, pages):
        known = [page for page in pages if page["type"] in GENRES]
        labels = [GENRES.index(page["type"]) for page in known]
        data = lightgbm.Dataset(np.array([page["means"] for page in known]), labels)
        self.genres = lightgbm.train(dict(GENRE_PARAMETERS, seed=self.seed), data, GENRE_ROUNDS)

    def with_genres(self, page):
        x = page["x"].copy()
        at = self.names.index("genre.article")
        page["genres"] = self.genres.predict(page["means"][None])[0]
        x[:, at:at + len(GENRES)] = page["genres"]
        return x

    def fit_first(self, items):
        pages, inputs = zip(*items)
        self.first = fit_lines(pages, inputs, FIRST_PARAMETERS, FIRST_ROUNDS, self.seed)

    def with_first(self, item):
        """Fills the features `first…`, as in first_pass.rs."""
        page, x = item
        x = x.copy()
        p, terms = self.first.predict(x), page["terms"]
        sums = np.concatenate([[0], np.cumsum(p * terms)])
        all_terms = np.concatenate([[0], np.cumsum(terms)])

        def mean(start, end):
            return (sums[end] - sums[start]) / np.maximum(1, all_terms[end] - all_terms[start])

        n = len(p)
        padded = np.concatenate([[0, 0], p, [0, 0]])
        index = np.arange(n)
        templates = page["templates"]
        alike = np.bincount(templates, p * terms) / np.bincount(templates, terms)
        values = [p, padded[1:n + 1], padded[:n], padded[3:n + 3], padded[4:n + 4],
                  mean(np.maximum(0, index - REACH), np.minimum(n, index + REACH + 1)),
                  *(mean(page["blocks"][:, level, 0], page["blocks"][:, level, 1]) for level in range(4)),
                  alike[templates], np.full(n, mean(0, n))]
        at = self.names.index("first")
        x[:, at:at + len(values)] = np.array(values).T
        return x

    def predict(self, page):
        return self.final.predict(self.with_first((page, self.with_genres(page))))


def f1(page, chances):
    """Precision, recall and F1 of the lines above the threshold of the page."""
    order = np.argsort(-chances)
    sizes = page["terms"]
    right, kept = np.cumsum((chances * sizes)[order]), np.cumsum(sizes[order])
    cut = np.clip((2 * right / (kept + (chances * sizes).sum() + 1e-9)).max() / 2, 0.1, 0.5)
    text = [word for line, chance in zip(page["lines"], chances) if chance >= cut for word in line]
    size = 1 if page["kind"].startswith("wcxb") else 4

    def bag(words):
        return Counter(tuple(words[i:i + size]) for i in range(max(0, len(words) - size + 1)))

    shared = sum((bag(text) & bag(page["gold"])).values())
    precision = shared / max(1, sum(bag(text).values()))
    recall = shared / max(1, sum(bag(page["gold"]).values()))
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def format_rule(node, names):
    if "leaf_value" in node:
        return f"{round(node['leaf_value'], 3) or 0:g}"
    below, other = format_rule(node["left_child"], names), format_rule(node["right_child"], names)
    if "?" in below:
        below = f"({below})"
    # Trees test "at most" and rules "less than", so a threshold of zero is raised slightly.
    threshold = node["threshold"] if abs(node["threshold"]) > 1e-6 else 1e-6
    threshold = f"{threshold:.6f}".rstrip("0").rstrip(".")
    return f"{names[node['split_feature']]} < {threshold} ? {below} : {other}"


def format_rules(trees, names):
    rules = "".join(f'  "{format_rule(tree["tree_structure"], names)}",\n' for tree in trees)
    return f"start = 0.0\nrules = [\n{rules}]\n"


def report(scores, title):
    print(title)
    for kind in sorted(scores):
        precision, recall, mean = np.mean(scores[kind], axis=0)
        figure = mean if kind.startswith("wcxb") else 2 * precision * recall / max(1e-9, precision + recall)
        print(f"  {kind:<24} {len(scores[kind]):>5} pages  F1 {figure:.4f}  precision {precision:.3f}  recall {recall:.3f}")
    sys.stdout.flush()


def add(scores, page, chances, details):
    score = f1(page, chances)
    scores.setdefault(page["kind"], []).append(score)
    if page["kind"].startswith("wcxb"):
        scores.setdefault("wcxb all", []).append(score)
        scores.setdefault(f"wcxb all {page['type']}", []).append(score)
        is_right = GENRES[int(np.argmax(page["genres"]))] == page["type"]
        details.append(is_right)


def cross_validate(names, pages, held_out, title):
    """Prints the scores of the pages of each group in `held_out`, from models of the other pages."""
    scores, genres = {}, []
    for test in held_out:
        ids = {page["id"] for page in test}
        sites = {page["site"] for page in test}
        model = Model(names, [page for page in pages if page["id"] not in ids and page["site"] not in sites])
        for page in test:
            add(scores, page, model.predict(page), genres)
        report(scores, f"{title}, so far:")
    print(f"  genre right: {np.mean(genres):.3f} of {len(genres)} pages")


def main():
    folder, action, *rest = sys.argv[1:]
    names, pages = read(Path(folder))
    print(f"{len(pages)} pages, {sum(len(page['lines']) for page in pages)} lines, {len(names)} features", flush=True)
    if action == "sites":
        sites = sorted({page["site"] for page in pages})
        fold_of = dict(zip(sites, np.random.RandomState(1).permutation(len(sites)) % FOLDS))
        folds = [[page for page in pages if fold_of[page["site"]] == fold] for fold in range(FOLDS)]
        cross_validate(names, pages, folds, "held-out sites")
    elif action == "sets":
        origins = ["aeb", "zh", "wcxb"]
        folds = [[page for page in pages if page["kind"].startswith(origin)] for origin in origins]
        cross_validate(names, pages, folds, "held-out sets")
    else:
        model = Model(names, pages)
        head = (Path(__file__).parent / "pharos.toml").read_text().split(HEAD_ENDS)[0]
        parts = [head, format_rules(model.final.dump_model()["tree_info"], names)]
        parts += ["\n[first_pass]\n", format_rules(model.first.dump_model()["tree_info"], names)]
        trees = model.genres.dump_model()["tree_info"]
        for number, genre in enumerate(GENRES):
            parts += [f"\n[genres.{genre}]\n", format_rules(trees[number::len(GENRES)], names)]
        Path(rest[0]).write_text("".join(parts))


if __name__ == "__main__":
    main()
