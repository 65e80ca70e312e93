#!/usr/bin/env python3
"""Generates variants.tsv and base.tsv from their sources.

usage: make_base.py OPENCC_DICTIONARIES JIEBA_DICT

OPENCC_DICTIONARIES is the folder with TSCharacters.txt, TWVariants.txt and HKVariants.txt of OpenCC (Apache-2.0),
JIEBA_DICT the file dict.txt of jieba (MIT). names.txt in the same folder adds words.

Word codes are stable: if base.tsv exists, its lines keep their positions, removed words keep their line with
frequency 0, and new words are appended.
"""
import collections
import pathlib
import sys
import unicodedata

HERE = pathlib.Path(__file__).parent


def pairs(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            source, targets = line.split("\t")
            yield source, targets.split()


def main(opencc, jieba):
    opencc = pathlib.Path(opencc)
    entries = [line.split() for line in pathlib.Path(jieba).read_text(encoding="utf-8").splitlines()]
    known = {word.lower() for word, _, _ in entries}
    names = [line for line in (HERE / "names.txt").read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    entries += [(word, "3", "n") for word in " ".join(names).split() if word not in known]
    usage = collections.Counter()
    for word, frequency, _ in entries:
        for c in word:
            usage[c] += int(frequency)

    # A traditional character with several simplified counterparts maps to the most frequent one, even where it may
    # also be kept (乾, 於, 著), so that both forms of a word are equal. A character that is nearly as frequent by
    # itself is kept (沈, 像).
    fold = {}
    for source, targets in pairs(opencc / "TSCharacters.txt"):
        best = max(targets, key=lambda c: usage[c])
        if best != source and not (source in targets and 5 * usage[source] > usage[best]):
            fold[source] = best
    for name in ["TWVariants.txt", "HKVariants.txt"]:
        for source, targets in pairs(opencc / name):
            for form in [source, *targets]:
                simple = next((fold[f] for f in [source, *targets] if f in fold), targets[0])
                if form not in fold and form != simple and usage[form] < usage[simple]:
                    fold[form] = simple

    def folded(c):
        seen = set()
        while c in fold and c not in seen:
            seen.add(c)
            c = fold[c]
        return c

    # Compatibility ideographs are handled by NFKC.
    table = sorted((c, folded(c)) for c in fold if folded(c) != c and unicodedata.normalize("NFKC", c) == c)
    with open(HERE / "variants.tsv", "w", encoding="utf-8") as out:
        out.write("# Forms of Han characters and the one form that stands for them when texts are compared.\n")
        out.write("# Made by make_base.py from OpenCC's TSCharacters, TWVariants and HKVariants (Apache-2.0).\n")
        for source, target in table:
            out.write(f"{source}\t{target}\n")
    table = dict(table)

    counts, tags = collections.Counter(), {}
    for word, frequency, tag in entries:
        word = "".join(table.get(c, c) for c in unicodedata.normalize("NFKC", word).lower())
        frequency = int(frequency)
        if frequency >= counts[word] or word not in tags:
            tags[word] = tag
        counts[word] += frequency

    lines = []
    base = HERE / "base.tsv"
    if base.exists():
        for line in base.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                word, _, tag = line.split("\t")
                lines.append((word, counts.pop(word, 0), tags.get(word, tag)))
    lines += [(w, n, tags[w]) for w, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    with open(base, "w", encoding="utf-8") as out:
        out.write("# The base dictionary: word, frequency, part of speech. The code of a word is the number of its\n")
        out.write("# line, comments not counted, from 0; lines are never moved nor removed. Made by make_base.py from\n")
        out.write("# jieba's dict.txt (MIT, Copyright (c) 2013 Sun Junyi), in the form the analyser compares.\n")
        for word, frequency, tag in lines:
            out.write(f"{word}\t{frequency}\t{tag}\n")
    print(f"{len(table)} variants, {len(lines)} words")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
