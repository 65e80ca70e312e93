#!/usr/bin/env python3
"""Train LambdaMART and regression trees with Pharos and with LightGBM on the same data, and compare quality, time and files.

usage: rank.py PHAROS TRAIN TEST [--trees N] [--rate R] [--threads N] [--rounds N]

PHAROS is a release binary, TRAIN and TEST are files that `pharos rank train --letor` reads, in the LETOR form, plain or compressed.
Both programs get the same trees, rate, 31 leaves and at least 20 rows per leaf, take turns, and the least time of the rounds
counts; neither includes reading the file. nDCG@10 is computed here for both, over the queries with
a relevant document. The last rows exchange models: scores of the model of one program in the other, largest difference.

Requires LightGBM: python3 -m venv DIR && DIR/bin/pip install lightgbm
"""

import argparse
import gzip
import json
import subprocess
import tempfile
import time
from pathlib import Path

import lightgbm
import numpy


def read(path):
    """Returns features, grades and numbers of rows per query; feature N is column N."""
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")
    rows = {}
    width = 0
    with opened as lines:
        for line in lines:
            fields = line.split("#")[0].split()
            if fields:
                values = [field.split(":") for field in fields[2:]]
                width = max([width, *(int(number) + 1 for number, _ in values)])
                rows.setdefault(fields[1], []).append((float(fields[0]), values))
    features = numpy.zeros((sum(map(len, rows.values())), width), dtype=numpy.float32)
    grades = numpy.zeros(len(features))
    for row, (grade, values) in enumerate(row for query in rows.values() for row in query):
        grades[row] = max(grade, 0)
        for number, value in values:
            features[row, int(number)] = numpy.nan if value.lower() in ("null", "nan", "?") else float(value)
    return features, grades, [len(query) for query in rows.values()]


def ndcg(grades, scores, groups, depth=10):
    """Returns the mean nDCG with the discount 1/log2(1+j) over the queries with a relevant document."""
    found, start = [], 0
    for size in groups:
        own, order = grades[start:start + size], numpy.argsort(-scores[start:start + size], kind="stable")
        start += size
        def dcg(ranked):
            return ((2.0 ** ranked[:depth] - 1) / numpy.log2(numpy.arange(2, 2 + len(ranked[:depth])))).sum()
        if (own > 0).any():
            found.append(dcg(own[order]) / dcg(numpy.sort(own)[::-1]))
    return numpy.mean(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pharos")
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    train, test = read(args.train), read(args.test)
    width = max(train[0].shape[1], test[0].shape[1])
    train, test = ((numpy.pad(x, ((0, 0), (0, width - x.shape[1]))), y, g) for x, y, g in (train, test))
    folder = Path(tempfile.mkdtemp())

    def run(*command):
        environment = {"RAYON_NUM_THREADS": str(args.threads), "PATH": "/usr/bin:/bin"}
        return subprocess.run([args.pharos, "rank", *command], check=True, capture_output=True, text=True, env=environment).stdout

    def scores(model):
        run("test", "--letor", args.test, "--model-file", str(model), "--scores", str(folder / "scores"))
        return numpy.loadtxt(folder / "scores")

    print(f"{'program':<10} {'objective':<12} {'nDCG@10':>8} {'seconds':>8}")
    for name, objective in (("lambdamart", "lambdarank"), ("gbdt", "regression")):
        times = {"lightgbm": [], "pharos": []}
        ours = folder / f"{name}.json"
        for _ in range(args.rounds):
            start = time.perf_counter()
            settings = {"objective": objective, "learning_rate": args.rate, "num_leaves": 31, "min_data_in_leaf": 20,
                        "num_threads": args.threads, "deterministic": True, "verbose": -1}
            data = lightgbm.Dataset(train[0], train[1], group=train[2] if name == "lambdamart" else None)
            theirs = lightgbm.train(settings, data, args.trees)
            times["lightgbm"].append(time.perf_counter() - start)
            result = json.loads(run("train", "--json", "--letor", args.train, "--model", name, "--out", str(ours), "--holdout", "0",
                                    "--set", f"trees={args.trees}", "--set", f"learning-rate={args.rate}"))
            times["pharos"].append(result["seconds"])
        found = {"lightgbm": theirs.predict(test[0]), "pharos": scores(ours)}
        for program, values in found.items():
            print(f"{program:<10} {name:<12} {ndcg(test[1], values, test[2]):8.4f} {min(times[program]):8.2f}")
        theirs.save_model(str(folder / "theirs.txt"))
        run("convert", "--model-file", str(ours), "--to", "lightgbm", "--out", str(folder / "ours.txt"))
        read_by_us = numpy.abs(scores(folder / "theirs.txt") - found["lightgbm"]).max()
        read_by_them = numpy.abs(lightgbm.Booster(model_file=str(folder / "ours.txt")).predict(test[0]) - found["pharos"]).max()
        print(f"model of LightGBM read by Pharos: {read_by_us:.1e}; model of Pharos read by LightGBM: {read_by_them:.1e}")


if __name__ == "__main__":
    main()
