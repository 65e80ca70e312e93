#!/usr/bin/env python3
"""Fits the scores of pharos.toml to manually marked pages.

    pip install numpy lightgbm rapidfuzz
    python3 fit.py PHAROS OUT.toml DIR…

PHAROS is the binary: `clean --explain --json` prints the features of every line. Each DIR holds html/*.html.gz and
gold.json (id → text, set, url). The target of a line is the share of its words on the longest common subsequence of
the page's words and the marked ones. Five-fold cross-validation with whole sites held out is printed before the final
fit on all pages; it estimates the quality on other pages. SEEDS=3 repeats it with other folds and random numbers;
differences smaller than the spread are not significant.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import urlparse

import lightgbm
import numpy as np
from rapidfuzz.distance import LCSseq

FOLDS = 5
ROUNDS = 300
# Few scores per rule, random thresholds, and a third of the features each: many weak rules generalise better than few
# strong ones.
PARAMETERS = dict(objective="cross_entropy", num_leaves=8, max_depth=6, learning_rate=0.08, extra_trees=True,
                  min_data_in_leaf=60, min_sum_hessian_in_leaf=0.0, lambda_l2=5.0, path_smooth=2.0,
                  feature_fraction=0.35, bagging_fraction=0.7, bagging_freq=1, max_bin=63, force_col_wise=True, num_threads=1, verbose=-1)
MAX_LINES = 300  # per page; a random sample is used beyond it
HEAD_ENDS = "rules = ["


def tokens(text, is_chinese):
    return [c for c in text if not c.isspace()] if is_chinese else re.findall(r"\w+", text.lower())


def read(pharos, folder):
    for page_id, gold in json.loads((folder / "gold.json").read_text()).items():
        path = folder / "html" / f"{page_id}.html.gz"
        explained = json.loads(subprocess.run([pharos, "clean", path, "--explain", "--json"], check=True,
                                              capture_output=True).stdout)
        is_chinese = "set" not in gold
        lines = [tokens(line["text"], is_chinese) for line in explained["lines"]]
        yield dict(id=page_id, kind=gold.get("set", "zh"), site=urlparse(gold.get("url", "")).hostname or page_id,
                   gold=tokens(gold["text"], is_chinese), lines=lines,
                   features=[line["features"] for line in explained["lines"]])


def targets(page):
    """Share of each line that is marked; isolated matches of short lines are treated as chance."""
    flat = [word for line in page["lines"] for word in line]
    owner = [number for number, line in enumerate(page["lines"]) for _ in line]
    marked = np.zeros(len(page["lines"]))
    for step in LCSseq.opcodes(flat, page["gold"]):
        if step.tag == "equal":
            for at in range(step.src_start, step.src_end):
                marked[owner[at]] += 1
    sizes = np.array([max(1, len(line)) for line in page["lines"]])
    share = marked / sizes
    for number in np.where((sizes < 6) & (share > 0.5))[0]:
        near = slice(max(0, number - 2), number + 3)
        if (share[near] * sizes[near]).sum() - marked[number] < (sizes[near].sum() - sizes[number]) / 2:
            share[number] = 0.25
    return share


def weights(page):
    """Line weights by words, as in the metrics, normalised per page."""
    sizes = np.array([len(line) for line in page["lines"]], float)
    weight = np.minimum(sizes / max(len(page["gold"]), 80), 0.5) + 0.15 / max(10, len(sizes))
    return weight / max(weight.sum(), 0.7) * {"aeb": 1.3, "zh": 1.5}.get(page["kind"], 1.0)


def fit(pages, seed=1):
    random = np.random.RandomState(seed)
    parts = []
    for page in pages:
        x, y, w = page["x"], page["y"], page["w"]
        if len(w) > MAX_LINES:
            drawn = random.permutation(len(w))[:MAX_LINES]
            x, y, w = x[drawn], y[drawn], w[drawn] * w.sum() / w[drawn].sum()
        parts.append((x, y, w))
    x, y, w = (np.concatenate(part) for part in zip(*parts))
    return lightgbm.train(dict(PARAMETERS, seed=seed), lightgbm.Dataset(x, y, weight=w / w.mean()), ROUNDS)


def f1(page, chances):
    """Precision, recall and F1 of the lines above the threshold of the page."""
    sizes = np.array([len(line) for line in page["lines"]], float)
    order = np.argsort(-chances)
    right, kept = np.cumsum((chances * sizes)[order]), np.cumsum(sizes[order])
    cut = np.clip((2 * right / (kept + (chances * sizes).sum() + 1e-9)).max() / 2, 0.1, 0.5)
    text = [word for line, chance in zip(page["lines"], chances) if chance >= cut for word in line]
    size = 1 if page["kind"] == "wcxb" else 4

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


def cross_validate(pages, seed):
    sites = sorted({page["site"] for page in pages})
    fold_of = dict(zip(sites, np.random.RandomState(seed).permutation(len(sites)) % FOLDS))
    scores = {}
    for fold in range(FOLDS):
        model = fit([page for page in pages if fold_of[page["site"]] != fold], seed)
        for page in pages:
            if fold_of[page["site"]] == fold:
                scores.setdefault(page["kind"], []).append(f1(page, model.predict(page["x"])))
    for kind, of_pages in sorted(scores.items()):
        precision, recall, mean = np.mean(of_pages, axis=0)
        figure = mean if kind == "wcxb" else 2 * precision * recall / (precision + recall)
        print(f"{kind}: {len(of_pages)} pages, F1 {figure:.4f} by cross-validation {seed}", flush=True)


def main():
    pharos, out, *folders = sys.argv[1:]
    pages = [page for folder in folders for page in read(pharos, Path(folder))]
    pages = [page for page in pages if page["lines"] and page["gold"]]
    names = sorted({name for page in pages for values in page["features"] for name in values})
    for page in pages:
        page["x"] = np.array([[values.get(name, 0) for name in names] for values in page.pop("features")], np.float32)
        page["y"], page["w"] = targets(page), weights(page)

    for seed in range(1, 1 + int(os.environ.get("SEEDS", "1"))):
        cross_validate(pages, seed)

    trees = fit(pages).dump_model()["tree_info"]
    head = (Path(__file__).parent / "pharos.toml").read_text().split(HEAD_ENDS)[0]
    rules = "".join(f'  "{format_rule(tree["tree_structure"], names)}",\n' for tree in trees)
    Path(out).write_text(f"{head}{HEAD_ENDS}\n{rules}]\n")


if __name__ == "__main__":
    main()
