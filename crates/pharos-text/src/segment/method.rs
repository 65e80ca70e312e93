//! The dictionary methods by name.

use std::fmt::{self, Display};
use std::str::FromStr;
use std::sync::LazyLock;

use serde::Serialize;
use thiserror::Error;

use super::Segmenter;
use super::bigram_model::BigramModel;
use super::fewest_words::FewestWords;
use super::hmm::{Hmm, UnigramHmm};
use super::maximum_matching::{Direction, MaximumMatching};
use super::statistical::{Bigram, Unigram};
use crate::dictionary::Lexicon;

/// A dictionary-based segmentation method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentationMethod {
    /// Forward maximum matching.
    Forward,
    /// Reverse maximum matching.
    Reverse,
    /// Both directions, with backtracking where they differ.
    Bidirectional,
    /// Fewest words.
    Fewest,
    /// The most probable words.
    #[default]
    Unigram,
    /// The most probable words, with a hidden Markov model for unknown words.
    Hmm,
    /// The most probable pairs of words, by a trained model.
    Bigram,
}

/// Error: no method has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown method `{0}`: expected forward, reverse, bidirectional, fewest, unigram, hmm or bigram")]
pub struct UnknownMethod(String);

/// Error: the method requires a trained model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the method `{0}` requires a trained model")]
pub struct ModelRequired(SegmentationMethod);

impl SegmentationMethod {
    /// All methods.
    pub const ALL: [SegmentationMethod; 7] = [
        SegmentationMethod::Forward,
        SegmentationMethod::Reverse,
        SegmentationMethod::Bidirectional,
        SegmentationMethod::Fewest,
        SegmentationMethod::Unigram,
        SegmentationMethod::Hmm,
        SegmentationMethod::Bigram,
    ];

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SegmentationMethod::Forward => "forward",
            SegmentationMethod::Reverse => "reverse",
            SegmentationMethod::Bidirectional => "bidirectional",
            SegmentationMethod::Fewest => "fewest",
            SegmentationMethod::Unigram => "unigram",
            SegmentationMethod::Hmm => "hmm",
            SegmentationMethod::Bigram => "bigram",
        }
    }

    /// Returns `true` if the method requires a trained model.
    pub fn needs_model(self) -> bool {
        self == SegmentationMethod::Bigram
    }

    pub(crate) fn direction(self) -> Option<Direction> {
        match self {
            SegmentationMethod::Forward => Some(Direction::Forward),
            SegmentationMethod::Reverse => Some(Direction::Reverse),
            SegmentationMethod::Bidirectional => Some(Direction::Both),
            _ => None,
        }
    }
}

impl Display for SegmentationMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for SegmentationMethod {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| UnknownMethod(name.to_string()))
    }
}

/// Dictionaries and models of a method.
#[derive(Clone, Copy, Default)]
pub struct SegmenterResources<'a> {
    /// Defaults to the base dictionary.
    pub lexicon: Option<Lexicon<'a>>,
    /// MaxLen of maximum matching in characters. Defaults to the longest word.
    pub max_len: Option<usize>,
    /// Model of the method `hmm`. Defaults to the built-in model.
    pub hmm: Option<&'a Hmm>,
    /// Model of the method `bigram`.
    pub bigrams: Option<&'a BigramModel>,
}

impl<'a> SegmenterResources<'a> {
    pub(crate) fn lexicon(&self) -> Lexicon<'a> {
        self.lexicon.unwrap_or_default()
    }

    pub(crate) fn maximum_matching(&self, direction: Direction) -> MaximumMatching<'a> {
        let matching = MaximumMatching::new(self.lexicon(), direction);
        match self.max_len {
            Some(characters) => matching.with_max_len(characters),
            None => matching,
        }
    }
}

/// Creates the segmenter of a method.
///
/// # Errors
/// Fails if the method requires a trained model and none is given.
pub fn segmenter<'a>(
    method: SegmentationMethod,
    resources: &SegmenterResources<'a>,
) -> Result<Box<dyn Segmenter + 'a>, ModelRequired> {
    let lexicon = resources.lexicon();
    Ok(match method {
        SegmentationMethod::Forward => Box::new(resources.maximum_matching(Direction::Forward)),
        SegmentationMethod::Reverse => Box::new(resources.maximum_matching(Direction::Reverse)),
        SegmentationMethod::Bidirectional => Box::new(resources.maximum_matching(Direction::Both)),
        SegmentationMethod::Fewest => Box::new(FewestWords::new(lexicon)),
        SegmentationMethod::Unigram => Box::new(Unigram::new(lexicon)),
        SegmentationMethod::Hmm => {
            let shipped: &'a Hmm = Hmm::shipped();
            Box::new(UnigramHmm::new(lexicon, resources.hmm.unwrap_or(shipped)))
        }
        SegmentationMethod::Bigram => {
            Box::new(Bigram::new(lexicon, resources.bigrams.ok_or(ModelRequired(method))?))
        }
    })
}

/// Returns the process-wide segmenter of the default method with the base dictionary.
pub fn default_segmenter() -> &'static dyn Segmenter {
    static SHARED: LazyLock<Unigram<'static>> = LazyLock::new(|| Unigram::new(Lexicon::default()));
    &*SHARED
}

#[cfg(test)]
mod tests {
    use pharos_core::work::measure_work;
    use proptest::prelude::*;

    use super::super::SegmenterBuffers;
    use super::*;
    use crate::dictionary::{Dictionary, DictionaryEntry};

    fn trained() -> &'static BigramModel {
        static MODEL: LazyLock<BigramModel> = LazyLock::new(|| {
            let lines = [
                "我 从 小学 毕业 了",
                "他 从小 学 电脑",
                "从小 学 画画",
                "我们 早起 先 刷牙 后 吃饭",
                "起先 我 不 信",
                "地铁 中 将 禁止 吸烟",
                "大会 中 将 讨论 问题",
                "美军 中将 说",
                "他 学 历史学",
                "学 历史 知识 好",
            ];
            BigramModel::train(lines.iter().map(|line| line.split(' ')))
        });
        &MODEL
    }

    fn every_method<'a>(lexicon: Lexicon<'a>) -> Vec<(SegmentationMethod, Box<dyn Segmenter + 'a>)> {
        let resources = SegmenterResources {
            lexicon: Some(lexicon),
            bigrams: Some(trained()),
            ..SegmenterResources::default()
        };
        SegmentationMethod::ALL.into_iter().map(|m| (m, segmenter(m, &resources).unwrap())).collect()
    }

    fn words(method: SegmentationMethod, text: &str) -> String {
        let resources = SegmenterResources { bigrams: Some(trained()), ..SegmenterResources::default() };
        segmenter(method, &resources).unwrap().words(text).join("/")
    }

    #[test]
    fn methods_have_names() {
        for method in SegmentationMethod::ALL {
            assert_eq!(method.name().parse(), Ok(method));
        }
        assert!("magic".parse::<SegmentationMethod>().unwrap_err().to_string().contains("bidirectional"));
        assert!(segmenter(SegmentationMethod::Bigram, &SegmenterResources::default()).is_err());
        assert_eq!(default_segmenter().words("我的笔记本"), ["我", "的", "笔记本"]);
    }

    /// Results of each method for the examples of the books: forward, reverse, both, fewest, unigram, bigram.
    #[test]
    fn examples_of_the_books() {
        let table = [
            ("我的笔记本", ["我/的/笔记本"; 6]),
            ("走进搜索引擎", ["走进/搜索引擎"; 6]),
            ("网络与分布式系统实验室", ["网络/与/分布式系统/实验室"; 6]),
            (
                "学历史知识",
                [
                    "学历/史/知识",
                    "学/历史/知识",
                    "学/历史/知识",
                    "学/历史/知识",
                    "学/历史/知识",
                    "学/历史/知识",
                ],
            ),
            (
                "学历史学好",
                [
                    "学历/史学/好",
                    "学/历史/学好",
                    "学/历史/学好",
                    "学历/史学/好",
                    "学历/史学/好",
                    "学/历史学/好",
                ],
            ),
            (
                "早起先刷牙",
                [
                    "早起/先/刷牙",
                    "早/起先/刷牙",
                    "早/起先/刷牙",
                    "早起/先/刷牙",
                    "早起/先/刷牙",
                    "早起/先/刷牙",
                ],
            ),
        ];
        let methods = [
            SegmentationMethod::Forward,
            SegmentationMethod::Reverse,
            SegmentationMethod::Bidirectional,
            SegmentationMethod::Fewest,
            SegmentationMethod::Unigram,
            SegmentationMethod::Bigram,
        ];
        for (text, expected) in table {
            assert_eq!(methods.map(|m| words(m, text)), expected, "{text}");
        }
    }

    /// Overlap ambiguity (交集型): a character may belong to the previous or the following word.
    #[test]
    fn overlap_ambiguity() {
        assert_eq!(words(SegmentationMethod::Forward, "从小学毕业"), "从小/学/毕业");
        for method in [
            SegmentationMethod::Reverse,
            SegmentationMethod::Bidirectional,
            SegmentationMethod::Fewest,
            SegmentationMethod::Unigram,
            SegmentationMethod::Bigram,
        ] {
            assert_eq!(words(method, "从小学毕业"), "从/小学/毕业");
        }
        // The same three characters in another segmentation: unigrams cannot distinguish them, bigrams can.
        assert_eq!(words(SegmentationMethod::Forward, "从小学电脑"), "从小/学/电脑");
        for method in [
            SegmentationMethod::Reverse,
            SegmentationMethod::Bidirectional,
            SegmentationMethod::Fewest,
            SegmentationMethod::Unigram,
        ] {
            assert_eq!(words(method, "从小学电脑"), "从/小学/电脑");
        }
        assert_eq!(words(SegmentationMethod::Bigram, "从小学电脑"), "从小/学/电脑");
    }

    /// Combination ambiguity (组合型): two adjacent words form a third one.
    #[test]
    fn combination_ambiguity() {
        for method in SegmentationMethod::ALL.into_iter().filter(|m| *m != SegmentationMethod::Hmm) {
            assert_eq!(words(method, "美军中将竟公然说"), "美军/中将/竟/公然/说");
        }
        for method in [
            SegmentationMethod::Forward,
            SegmentationMethod::Reverse,
            SegmentationMethod::Bidirectional,
            SegmentationMethod::Fewest,
            SegmentationMethod::Unigram,
        ] {
            assert_eq!(words(method, "新建地铁中将禁止商业摊点"), "新建/地铁/中将/禁止/商业/摊点");
        }
        assert_eq!(
            words(SegmentationMethod::Bigram, "新建地铁中将禁止商业摊点"),
            "新建/地铁/中/将/禁止/商业/摊点"
        );
    }

    /// Mixed ambiguity (混合型): words overlap, and one of them may be two words.
    #[test]
    fn mixed_ambiguity() {
        let text = "人才能力";
        for (method, expected) in [
            (SegmentationMethod::Forward, "人才/能力"),
            (SegmentationMethod::Reverse, "人才/能力"),
            (SegmentationMethod::Fewest, "人才/能力"),
            (SegmentationMethod::Unigram, "人才/能力"),
        ] {
            assert_eq!(words(method, text), expected, "{method}");
        }
        // 这样的人 / 才能 against 人才 / 能, and 才能 may be 才 and 能.
        let lines = ["这样 的 人 才 能 经受 考验", "他 的 才能", "人才 很 多", "人 才 能 成功"];
        let model = BigramModel::train(lines.iter().map(|line| line.split(' ')));
        let resources = SegmenterResources { bigrams: Some(&model), ..SegmenterResources::default() };
        let bigram = segmenter(SegmentationMethod::Bigram, &resources).unwrap();
        assert_eq!(bigram.words("这样的人才能经受住考验").join("/"), "这样/的/人/才/能/经受/住/考验");
        assert_eq!(
            words(SegmentationMethod::Unigram, "这样的人才能经受住考验"),
            "这样/的/人才/能/经受/住/考验"
        );
    }

    #[test]
    fn own_words_hold_together_in_every_method() {
        let entries = [
            DictionaryEntry { word: "灯塔的海", frequency: 1, tag: "nz" },
            DictionaryEntry { word: "爱心社", frequency: 1, tag: "" },
        ];
        let own = Dictionary::new(&entries);
        for (method, segmenter) in every_method(Lexicon::default().with_own(&own)) {
            let words = segmenter.words("我在爱心社看灯塔的海。");
            assert!(words.contains(&"爱心社") && words.contains(&"灯塔的海"), "{method}: {words:?}");
        }
    }

    #[test]
    fn words_of_several_scripts_hold_together() {
        let own = ["c++", "5g手机", "哆啦a梦", "卡拉ok"].map(|word| DictionaryEntry {
            word,
            frequency: 1,
            tag: "",
        });
        let own = Dictionary::new(&own);
        for (method, segmenter) in every_method(Lexicon::default().with_own(&own)) {
            let words = segmenter.words("看哆啦a梦,买t恤和5g手机,唱卡拉ok,c++okay").join("/");
            assert_eq!(words, "看/哆啦a梦/,/买/t恤/和/5g手机/,/唱/卡拉ok/,/c++/okay", "{method}");
        }
    }

    #[test]
    fn megabytes_without_a_space_are_segmented() {
        let unit = "中华人民共和国一二三𠮷○了的学历史知识";
        let long = unit.repeat((2 << 20) / unit.len());
        let (mut work, mut ends) = (SegmenterBuffers::default(), Vec::new());
        for (method, segmenter) in every_method(Lexicon::default()) {
            for text in [
                &long,
                &"1".repeat(1 << 20),
                &"二".repeat(1 << 20),
                &"é".repeat(1 << 19),
                &"两".repeat(1 << 20),
                &"a1é、".repeat(1 << 16),
            ] {
                ends.clear();
                segmenter.segment(text, &mut work, &mut ends);
                assert_eq!(ends.last(), Some(&text.len()), "{method}");
            }
        }
    }

    /// At most 20 steps per byte: edges of the word graph, and their pairs for the bigram. At a point or after letters
    /// a name of up to 256 bytes is looked for, which makes 140.
    #[test]
    fn the_work_of_segmentation_is_linear() {
        let own = ["中华中华", "中华中华中", "二二二二"].map(|word| DictionaryEntry {
            word,
            frequency: 1,
            tag: "",
        });
        let own = Dictionary::new(&own);
        let (mut buffers, mut ends) = (SegmenterBuffers::default(), Vec::new());
        let units = [
            "中华人民共和国",
            "中华",
            "研究生命",
            "学历史知识",
            "𠮷",
            "一",
            "二点",
            "百分之",
            "第",
            "几十",
            "1",
            "1,",
            "1.",
            "1年",
            "a",
            "é",
            "a中",
            "中a",
            "卡拉o",
            "t恤",
            "中 ",
            "。",
            "…",
            "\u{301}",
            "👨\u{200D}",
            "a,",
            ".,",
            "a.",
            "ab-",
        ];
        for (method, segmenter) in every_method(Lexicon::default().with_own(&own)) {
            for (length, unit) in
                [1_000, 8_000].into_iter().flat_map(|length| units.map(|unit| (length, unit)))
            {
                let text = unit.repeat(length / unit.len());
                ends.clear();
                let steps = measure_work(|| segmenter.segment(&text, &mut buffers, &mut ends)).1;
                let limit = if unit.contains(['.', ',', '-']) { 140 } else { 20 };
                assert!(
                    steps <= limit * text.len() as u64,
                    "{method} {unit}: {steps} steps for {} bytes",
                    text.len()
                );
            }
        }
    }

    fn check(text: &str, lexicon: Lexicon<'_>) -> Result<(), TestCaseError> {
        let mut work = SegmenterBuffers::default();
        for (method, segmenter) in every_method(lexicon) {
            let mut ends = vec![1];
            segmenter.segment(text, &mut work, &mut ends);
            prop_assert_eq!(ends.remove(0), 1);
            prop_assert!(ends.is_sorted_by(|a, b| a < b), "{} {:?}", method, ends);
            prop_assert!(ends.first().is_none_or(|end| *end > 0));
            prop_assert!(ends.iter().all(|end| text.is_char_boundary(*end)));
            prop_assert_eq!(ends.last().copied().unwrap_or_default(), text.len());
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn any_text_keeps_the_contract(text in "\\PC{0,40}|(?s).{0,40}|[中国人民共和大学历史知识第一二十百○〇年月日几点分之两0-9a-cé\u{301}万亿%.,:/· 👨\u{200D}𠮷。—…]{0,40}") {
            check(&text, Lexicon::default())?;
        }

        #[test]
        fn own_words_change_nothing_in_the_contract(own in prop::collection::vec("[中国人民𠮷一二]{1,5}", 0..5), text in "[中国人民共和大学𠮷一二年。a]{0,30}") {
            let entries: Vec<_> = own.iter().map(|word| DictionaryEntry { word, frequency: 1, tag: "" }).collect();
            let own = Dictionary::new(&entries);
            check(&text, Lexicon::default().with_own(&own))?;
        }
    }
}
