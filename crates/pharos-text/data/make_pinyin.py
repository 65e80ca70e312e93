#!/usr/bin/env python3
"""Generates pinyin-characters.txt and pinyin-phrases.txt from the tables of pypinyin.

    make_pinyin.py .../pypinyin/pinyin_dict.json .../pypinyin/phrases_dict.json

Tones are dropped and ü is written v, as it is typed. A phrase is kept if
* its reading differs from the most common readings of its characters (stored with the reading);
* it has two or three characters and is ambiguous, or ends with the beginning of such a phrase;
* it contains a phrase of the first type and is read differently there.
All other phrases would not change any result.
"""

import json
import pathlib
import sys
import unicodedata

HERE = pathlib.Path(__file__).parent
SOURCE = """\
# {what}
# Made by make_pinyin.py from pypinyin 0.55.0, copyright (c) 2016 mozillazg and 闲耘,
# under the MIT licence (LICENSE-pinyin). {form}
"""
SHORT = 3

# Characters for which the source lists an outdated reading first.
USUAL = {"佛": "fo", "勒": "le", "嚼": "jiao", "幢": "zhuang", "泊": "bo", "谁": "shei", "靓": "liang"}

# Phrases that users search for and that the source lacks or reads differently.
ADDED = """
厦大 xia da|厦航 xia hang|单县 shan xian|洪洞 hong tong|涡阳 guo yang|浚县 xun xian|朝阳 chao yang|朝阳区 chao yang qu
重置 chong zhi|重装 chong zhuang|重写 chong xie|重构 chong gou|重试 chong shi|重载 chong zai|重制 chong zhi
重命名 chong ming ming|重定向 chong ding xiang|重做 chong zuo|重播 chong bo|重生 chong sheng|重组 chong zu
还款 huan kuan|还贷 huan dai|还书 huan shu|长文 chang wen|长图 chang tu|长租 chang zu|长焦 chang jiao|长假 chang jia
落下 luo xia|果脯 guo fu|呱呱 gua gua|削苹果 xiao ping guo
曾国藩 zeng guo fan|曾志伟 zeng zhi wei|查良镛 zha liang yong|单田芳 shan tian fang|朴槿惠 piao jin hui
解晓东 xie xiao dong|仇英 qiu ying
"""


def toneless(reading):
    letters = []
    for c in unicodedata.normalize("NFD", reading):
        if c == "\u0308":
            letters[-1] = "v"
        elif unicodedata.category(c) != "Mn":
            letters.append(c)
    return "".join(letters)


def is_private(c):
    return unicodedata.category(c) == "Co"


def read_characters(path):
    characters = {}
    for code, readings in json.loads(pathlib.Path(path).read_text("utf-8")).items():
        if not is_private(chr(int(code))):
            usual = USUAL.get(chr(int(code)))
            in_order = sorted(map(toneless, readings.split(",")), key=lambda reading: reading != usual)
            characters[chr(int(code))] = list(dict.fromkeys(in_order))
    return characters


def read_phrases(path, characters):
    phrases = {
        phrase: [toneless(alternatives[0]) for alternatives in readings]
        for phrase, readings in json.loads(pathlib.Path(path).read_text("utf-8")).items()
    }
    for entry in ADDED.strip().replace("\n", "|").split("|"):
        phrase, *readings = entry.split()
        phrases[phrase] = readings
    return {
        phrase: readings
        for phrase, readings in phrases.items()
        if len(phrase) > 1 and len(phrase) == len(readings) and all(c in characters for c in phrase)
    }


def choose(phrases, characters):
    """Returns the phrases to keep; phrases with the most common readings have none."""
    unusual = {p: r for p, r in phrases.items() if r != [characters[c][0] for c in p]}
    beginnings = {p[:n] for p in unusual for n in range(1, len(p))}

    def is_ambiguous(phrase):
        return any(len(characters[c]) > 1 for c in phrase)

    def overlaps(phrase):
        return any(phrase[n:] in beginnings for n in range(1, len(phrase)))

    def contains(phrase):
        return any(phrase[i:j] in unusual for i in range(len(phrase)) for j in range(i + 2, len(phrase) + 1))

    kept = dict(unusual)
    for phrase in phrases.keys() - unusual.keys():
        if contains(phrase) or len(phrase) <= SHORT and (is_ambiguous(phrase) or overlaps(phrase)):
            kept[phrase] = []
    return kept


def write(name, what, form, lines):
    text = SOURCE.format(what=what, form=form) + "".join(line + "\n" for line in lines)
    (HERE / name).write_text(text, "utf-8", newline="\n")
    print(f"{name}: {len(lines)} lines, {len(text.encode())} bytes")


def main(characters_path, phrases_path):
    characters = read_characters(characters_path)
    groups = {}
    for character in sorted(characters):
        groups.setdefault(" ".join(characters[character]), []).append(character)
    write("pinyin-characters.txt", "Readings of characters, the most usual first.",
          "A line: readings, tab, characters.",
          [f"{readings}\t{''.join(members)}" for readings, members in sorted(groups.items())])
    phrases = choose(read_phrases(phrases_path, characters), characters)
    write("pinyin-phrases.txt", "Phrases that settle how their characters are read, in the order of code points.",
          "A line: phrase, and its readings if any of them is not the usual one.",
          [" ".join([phrase, *phrases[phrase]]) for phrase in sorted(phrases)])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
