"""Tests of language.py."""

import unittest

import language
from language import Text, check_text


def found(text, kind="comment"):
    return [finding.found.lower() for finding in check_text(Text("x", 1, kind, text))]


class Words(unittest.TestCase):
    def test_words_of_the_list_are_found_wherever_they_are(self):
        for text, word in [
            ("Nobody reads it.", "nobody"), ("It is built\nanew.", "anew"), ("The caller is told so.", "told"),
            ("It stands in the index.", "stands in"), ("The page is let\ngo.", "let go"), ("Mended files.", "mended"),
            ("Only for who asks.", "for who a"), ("See 003 part 1, D46.", "003 part 1"),
        ]:
            with self.subTest(text):
                self.assertEqual(found(text), [word])

    def test_code_and_plain_english_are_not(self):
        for text in [
            "Returns `nobody` as it is.", "The operator who started it.", "Can be told apart by length.",
            "A standing query.", "Users who search.", "[told](told.md)",
        ]:
            with self.subTest(text):
                self.assertEqual(found(text.replace("[told](told.md)", "[a page](told.md)")), [])

    def test_the_line_of_a_finding_is_its_own(self):
        findings = check_text(Text("x", 10, "comment", "one\ntwo anew"))
        self.assertEqual([finding.line for finding in findings], [11])


class Summaries(unittest.TestCase):
    def test_riddles_are_found(self):
        for text in ["What counts.", "Is there more to do?\nYes.", "Whether it ended.", "How many."]:
            with self.subTest(text):
                self.assertEqual(len(found(text, "doc")), 1)

    def test_the_first_line_counts(self):
        self.assertEqual(found("Returns the number of pages.\nWhich is exact.", "doc"), [])

    def test_what_as_a_subject_is_found_in_comments(self):
        self.assertEqual(found("What was read is kept."), ["what was read is"])
        self.assertEqual(found("What happens if it fails? It is retried."), [])


class Documents(unittest.TestCase):
    def test_long_sentences_are_found(self):
        long = " ".join(["word"] * 46) + "."
        self.assertEqual(len(found(long, "document")), 1)
        self.assertEqual(found(" ".join(["word"] * 45) + ".", "document"), [])
        self.assertEqual(found("* " + " ".join(["word"] * 30) + ".\n* " + " ".join(["word"] * 30) + ".", "document"), [])

    def test_fenced_code_is_skipped(self):
        self.assertEqual(language.without_fences("a\n```\nanew\n```\nb"), "a\n\n\n\nb")


class Rust(unittest.TestCase):
    SOURCE = '//! Page.\n//! More.\n\n/// Returns it.\npub fn a() {\n    fail("cannot read it"); // note\n    let c = \'"\';\n}\n'

    def test_comments_and_messages_are_separated(self):
        texts = language.rust_texts("crates/x/src/a.rs", self.SOURCE)
        self.assertEqual([(t.line, t.kind, t.text) for t in texts], [
            (1, "doc", "Page.\nMore."), (4, "doc", "Returns it."), (6, "message", '"cannot read it"'), (6, "comment", "note"),
        ])

    def test_strings_of_tests_are_no_messages(self):
        source = 'fn a() {}\n#[cfg(test)]\nmod tests {\n  const A: &str = "nobody is told";\n}\n'
        self.assertEqual(language.rust_texts("crates/x/src/a.rs", source), [])

    def test_public_items_need_documentation_and_fields_do_not(self):
        source = "pub struct A {\n    pub field: u8,\n}\n/// Returns 1.\n#[inline]\npub fn b() {}\npub(crate) fn c() {}\n"
        items = [finding.found for finding in language.undocumented("crates/x/src/a.rs", source)]
        self.assertEqual(items, ["pub struct A"])


if __name__ == "__main__":
    unittest.main()
