//! The methods by their names.

use std::fmt::{self, Display};
use std::str::FromStr;
use std::sync::LazyLock;

use serde::Serialize;
use thiserror::Error;

use super::Segmenter;
use super::bigram_model::BigramModel;
use super::fewest::FewestWords;
use super::hmm::{Hmm, UnigramHmm};
use super::maximum_matching::{Direction, MaximumMatching};
use super::statistical::{Bigram, Unigram};
use crate::dictionary::Lexicon;

/// A way of cutting Han characters with a dictionary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
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
    /// The same, with a hidden Markov model for unknown words.
    Hmm,
    /// The most probable pairs of words, by a trained model.
    Bigram,
}

/// No method has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown method `{0}`: one of forward, reverse, bidirectional, fewest, unigram, hmm, bigram")]
pub struct UnknownMethod(String);

/// The method needs what only training gives.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the method `{0}` needs a trained model")]
pub struct NeedsModel(Method);

impl Method {
    /// All of them.
    pub const ALL: [Method; 7] = [
        Method::Forward,
        Method::Reverse,
        Method::Bidirectional,
        Method::Fewest,
        Method::Unigram,
        Method::Hmm,
        Method::Bigram,
    ];

    /// As it is written in commands.
    pub fn name(self) -> &'static str {
        match self {
            Method::Forward => "forward",
            Method::Reverse => "reverse",
            Method::Bidirectional => "bidirectional",
            Method::Fewest => "fewest",
            Method::Unigram => "unigram",
            Method::Hmm => "hmm",
            Method::Bigram => "bigram",
        }
    }

    /// Does it work with what comes with the program?
    pub fn needs_model(self) -> bool {
        self == Method::Bigram
    }

    pub(crate) fn direction(self) -> Option<Direction> {
        match self {
            Method::Forward => Some(Direction::Forward),
            Method::Reverse => Some(Direction::Reverse),
            Method::Bidirectional => Some(Direction::Both),
            _ => None,
        }
    }
}

impl Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| UnknownMethod(name.to_string()))
    }
}

/// What a method works with.
#[derive(Clone, Copy, Default)]
pub struct Resources<'a> {
    /// The words; without any, those that come with the program.
    pub lexicon: Option<Lexicon<'a>>,
    /// MaxLen of maximum matching in characters; without it, the longest word.
    pub max_len: Option<usize>,
    /// The model of the method `hmm`; without it, the one that comes with the program.
    pub hmm: Option<&'a Hmm>,
    /// The model of the method `bigram`.
    pub bigrams: Option<&'a BigramModel>,
}

impl<'a> Resources<'a> {
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

/// The segmenter of a method.
pub fn segmenter<'a>(
    method: Method,
    resources: &Resources<'a>,
) -> Result<Box<dyn Segmenter + 'a>, NeedsModel> {
    let lexicon = resources.lexicon();
    Ok(match method {
        Method::Forward => Box::new(resources.maximum_matching(Direction::Forward)),
        Method::Reverse => Box::new(resources.maximum_matching(Direction::Reverse)),
        Method::Bidirectional => Box::new(resources.maximum_matching(Direction::Both)),
        Method::Fewest => Box::new(FewestWords::new(lexicon)),
        Method::Unigram => Box::new(Unigram::new(lexicon)),
        Method::Hmm => {
            let shipped: &'a Hmm = Hmm::shipped();
            Box::new(UnigramHmm::new(lexicon, resources.hmm.unwrap_or(shipped)))
        }
        Method::Bigram => Box::new(Bigram::new(lexicon, resources.bigrams.ok_or(NeedsModel(method))?)),
    })
}

/// The segmenter of the default method with the words that come with the program, one for the whole process.
pub fn default_segmenter() -> &'static dyn Segmenter {
    static SHARED: LazyLock<Unigram<'static>> = LazyLock::new(|| Unigram::new(Lexicon::default()));
    &*SHARED
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Work;
    use super::*;
    use crate::dictionary::{Dictionary, Entry};

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

    fn every_method<'a>(lexicon: Lexicon<'a>) -> Vec<(Method, Box<dyn Segmenter + 'a>)> {
        let resources =
            Resources { lexicon: Some(lexicon), bigrams: Some(trained()), ..Resources::default() };
        Method::ALL.into_iter().map(|m| (m, segmenter(m, &resources).unwrap())).collect()
    }

    fn words(method: Method, text: &str) -> String {
        let resources = Resources { bigrams: Some(trained()), ..Resources::default() };
        segmenter(method, &resources).unwrap().words(text).join("/")
    }

    #[test]
    fn methods_have_names() {
        for method in Method::ALL {
            assert_eq!(method.name().parse(), Ok(method));
        }
        assert!("magic".parse::<Method>().unwrap_err().to_string().contains("bidirectional"));
        assert!(segmenter(Method::Bigram, &Resources::default()).is_err());
        assert_eq!(default_segmenter().words("我的笔记本"), ["我", "的", "笔记本"]);
    }

    /// What each method gives for the books' examples: forward, reverse, both, fewest, unigram, bigram.
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
            Method::Forward,
            Method::Reverse,
            Method::Bidirectional,
            Method::Fewest,
            Method::Unigram,
            Method::Bigram,
        ];
        for (text, expected) in table {
            assert_eq!(methods.map(|m| words(m, text)), expected, "{text}");
        }
    }

    /// 交集型: a character may belong to the word before it or to the one after it.
    #[test]
    fn overlap_ambiguity() {
        assert_eq!(words(Method::Forward, "从小学毕业"), "从小/学/毕业");
        for method in
            [Method::Reverse, Method::Bidirectional, Method::Fewest, Method::Unigram, Method::Bigram]
        {
            assert_eq!(words(method, "从小学毕业"), "从/小学/毕业");
        }
        // The same three characters, cut otherwise: words on their own cannot tell, pairs can.
        assert_eq!(words(Method::Forward, "从小学电脑"), "从小/学/电脑");
        for method in [Method::Reverse, Method::Bidirectional, Method::Fewest, Method::Unigram] {
            assert_eq!(words(method, "从小学电脑"), "从/小学/电脑");
        }
        assert_eq!(words(Method::Bigram, "从小学电脑"), "从小/学/电脑");
    }

    /// 组合型: two words together are a third one.
    #[test]
    fn combination_ambiguity() {
        for method in Method::ALL.into_iter().filter(|m| *m != Method::Hmm) {
            assert_eq!(words(method, "美军中将竟公然说"), "美军/中将/竟/公然/说");
        }
        for method in
            [Method::Forward, Method::Reverse, Method::Bidirectional, Method::Fewest, Method::Unigram]
        {
            assert_eq!(words(method, "新建地铁中将禁止商业摊点"), "新建/地铁/中将/禁止/商业/摊点");
        }
        assert_eq!(words(Method::Bigram, "新建地铁中将禁止商业摊点"), "新建/地铁/中/将/禁止/商业/摊点");
    }

    /// 混合型: words overlap, and one of them may be two.
    #[test]
    fn mixed_ambiguity() {
        let text = "人才能力";
        for (method, expected) in [
            (Method::Forward, "人才/能力"),
            (Method::Reverse, "人才/能力"),
            (Method::Fewest, "人才/能力"),
            (Method::Unigram, "人才/能力"),
        ] {
            assert_eq!(words(method, text), expected, "{method}");
        }
        // 这样的人 / 才能 against 人才 / 能, and 才能 is 才 and 能.
        let lines = ["这样 的 人 才 能 经受 考验", "他 的 才能", "人才 很 多", "人 才 能 成功"];
        let model = BigramModel::train(lines.iter().map(|line| line.split(' ')));
        let resources = Resources { bigrams: Some(&model), ..Resources::default() };
        let bigram = segmenter(Method::Bigram, &resources).unwrap();
        assert_eq!(bigram.words("这样的人才能经受住考验").join("/"), "这样/的/人/才/能/经受/住/考验");
        assert_eq!(words(Method::Unigram, "这样的人才能经受住考验"), "这样/的/人才/能/经受/住/考验");
    }

    #[test]
    fn own_words_hold_together_in_every_method() {
        let entries = [
            Entry { word: "灯塔的海", frequency: 1, tag: "nz" },
            Entry { word: "爱心社", frequency: 1, tag: "" },
        ];
        let own = Dictionary::new(&entries);
        for (method, segmenter) in every_method(Lexicon::default().with_own(&own)) {
            let words = segmenter.words("我在爱心社看灯塔的海。");
            assert!(words.contains(&"爱心社") && words.contains(&"灯塔的海"), "{method}: {words:?}");
        }
    }

    #[test]
    fn words_of_several_scripts_hold_together() {
        let own = ["c++", "5g手机", "哆啦a梦", "卡拉ok"].map(|word| Entry { word, frequency: 1, tag: "" });
        let own = Dictionary::new(&own);
        for (method, segmenter) in every_method(Lexicon::default().with_own(&own)) {
            let words = segmenter.words("看哆啦a梦,买t恤和5g手机,唱卡拉ok,c++okay").join("/");
            assert_eq!(words, "看/哆啦a梦/,/买/t恤/和/5g手机/,/唱/卡拉ok/,/c++/okay", "{method}");
        }
    }

    #[test]
    fn megabytes_without_a_space_are_cut() {
        let unit = "中华人民共和国一二三𠮷○了的学历史知识";
        let long = unit.repeat((2 << 20) / unit.len());
        let (mut work, mut ends) = (Work::default(), Vec::new());
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
                segmenter.cut(text, &mut work, &mut ends);
                assert_eq!(ends.last(), Some(&text.len()), "{method}");
            }
        }
    }

    fn check(text: &str, lexicon: Lexicon<'_>) -> Result<(), TestCaseError> {
        let mut work = Work::default();
        for (method, segmenter) in every_method(lexicon) {
            let mut ends = vec![1];
            segmenter.cut(text, &mut work, &mut ends);
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
            let entries: Vec<_> = own.iter().map(|word| Entry { word, frequency: 1, tag: "" }).collect();
            let own = Dictionary::new(&entries);
            check(&text, Lexicon::default().with_own(&own))?;
        }
    }
}
