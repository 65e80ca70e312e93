#!/usr/bin/env python3
"""Generates hmm.tsv from jieba's hidden Markov model.

usage: make_hmm.py HMM_MODEL

HMM_MODEL is the file hmm.model of jieba-rs (MIT). Characters that the analyser maps to others (variants.tsv) are
omitted: normalised text does not contain them.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
HEAD = """\
# A hidden Markov model of word borders: begin, middle, end of a word, single character. Columns are the costs, in
# thousandths of a natural logarithm, `-` for never: of beginning in a state, of going from a state to another, of a
# character in a state. Made by make_hmm.py from jieba's hmm.model (MIT, Copyright (c) 2013 Sun Junyi).
"""
ORDER = "BMES"


def cost(value):
    return "-" if value < -1000 else str(round(-1000 * value))


def main(model):
    lines = [line for line in pathlib.Path(model).read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    numbers = [[float(n) for n in line.split()] for line in lines[:5]]
    place = ["BEMS".index(state) for state in ORDER]
    variants = (HERE / "variants.tsv").read_text(encoding="utf-8").splitlines()
    folded = {line.split("\t")[0] for line in variants if line and not line.startswith("#")}
    emissions = {}
    for state, line in zip("BEMS", lines[5:], strict=True):
        for pair in line.split(","):
            character, _, value = pair.rpartition(":")
            emissions.setdefault(character, {})[state] = float(value)
    rows = [("start", [numbers[0][n] for n in place])]
    rows += [(state, [numbers[1 + n][m] for m in place]) for state, n in zip(ORDER, place)]
    rows += [
        (character, [states.get(state, -1e9) for state in ORDER])
        for character, states in sorted(emissions.items())
        if character not in folded
    ]
    text = HEAD + "".join("\t".join([name, *map(cost, values)]) + "\n" for name, values in rows)
    (HERE / "hmm.tsv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
