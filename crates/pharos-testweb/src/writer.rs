//! Generates sentences, paragraphs and titles from the vocabulary: grammar from templates, words by Zipf's law.

use crate::model::Lang;
use crate::rng::Rng;
use crate::words::{CHINESE, ENGLISH, Lexicon, TOPICS, Topic};

/// In a template `n` is a noun, `N` a noun with its article (a lamp, an owl), `m` a plural, `a` and `A` the same for
/// adjectives, `v` a verb (past tense in English), each in braces.
const EN_SENTENCES: &[&str] = &[
    "The {a} {n} {v} {N} near the {n}.",
    "{A} {n} {v} the {m} of the {n}, and the {n} {v} them.",
    "When the {n} {v}, most {m} {v} the {a} {n}.",
    "In the {n} there is {N} that {v} many {m}.",
    "Nobody {v} the {n} before the {a} {m} {v}.",
    "Every {n} has its {n}, but only {A} {n} {v} the {n}.",
    "The {m} of this {n} {v} {A} {n} with {a} {m}.",
    "For {a} {m} the {n} {v} more than {N}.",
    "As the {n} shows, {m} and {m} {v} each other in {A} {n}.",
    "It was the {n} that {v} the {a} {n} and the {n}.",
    "Under the {a} {n} the {m} {v} {N} and {N}.",
    "Some {m} {v} early; others {v} the {n} of {m}.",
    "Between the {n} and the {n} lies {A} {n}.",
    "The first {n} {v} in the {a} {n}, the second {v} {N}.",
    "Without {m} the {n} would be {A} {n}.",
    "They {v} the {n}, {v} the {m} and {v} {A} {n}.",
];

const ZH_SENTENCES: &[&str] = &[
    "{a}的{n}在{n}附近{v}了{n}。",
    "人们{v}{n}，也{v}{a}的{n}。",
    "当{n}{v}{n}的时候，{n}变得更加{a}。",
    "这里的{n}和{n}都很{a}，许多人前来{v}。",
    "从{n}到{n}，{a}的{n}一直在{v}{n}。",
    "没有{n}，就没有今天的{n}与{n}。",
    "关于{n}的{n}，{n}已经{v}了很久。",
    "他们{v}{n}，{v}{n}，最后{v}了{a}的{n}。",
    "每一个{n}都有自己的{n}，只有{a}的{n}能够{v}它。",
    "{n}不仅{v}{n}，而且{v}{n}的{n}。",
    "在{a}的{n}里，{n}{v}着{n}。",
    "根据{n}的记载，{n}曾经{v}过{a}的{n}。",
    "{n}的{n}十分{a}，因此{n}需要{v}。",
    "如果{v}{n}，{n}就会{v}{a}的{n}。",
];

const EN_TITLES: &[&str] = &[
    "The {a} {n} of {r} and {r}",
    "{r} and the {r} {n}",
    "How the {r} {n} {v} the {r}",
    "{A} {n} for {r} {m}: notes on {r}",
    "From {r} to {r}: {A} {n}",
    "The {n} that {v} {r} {r}",
];

const ZH_TITLES: &[&str] = &[
    "{r}与{r}：{a}的{n}",
    "{a}的{r}{n}和{r}",
    "从{r}到{r}的{n}",
    "{n}里的{r}，{n}里的{r}",
    "{v}{r}：{r}{n}手记",
    "关于{r}和{r}的{n}",
];

/// Text generator for one language and topic.
pub(crate) struct TextWriter {
    lang: Lang,
    topic: usize,
}

impl TextWriter {
    pub(crate) fn new(lang: Lang, topic: usize) -> TextWriter {
        TextWriter { lang, topic: topic % TOPICS.len() }
    }

    fn lexicon(&self) -> &'static Lexicon {
        match self.lang {
            Lang::En => &ENGLISH,
            Lang::Zh => &CHINESE,
        }
    }

    fn topic_nouns(&self) -> &'static [&'static str] {
        let topic: &Topic = &TOPICS[self.topic];
        match self.lang {
            Lang::En => topic.en,
            Lang::Zh => topic.zh,
        }
    }

    /// Appends one sentence, with a space after an English one.
    pub(crate) fn sentence(&self, rng: &mut Rng, out: &mut String) {
        let template = rng.pick(match self.lang {
            Lang::En => EN_SENTENCES,
            Lang::Zh => ZH_SENTENCES,
        });
        self.expand(template, rng, out);
        if self.lang == Lang::En {
            out.push(' ');
        }
    }

    /// Returns sentences of about `words` words in total.
    pub(crate) fn paragraph(&self, words: usize, rng: &mut Rng) -> String {
        const WORDS_PER_SENTENCE: usize = 11;
        let mut out = String::with_capacity(words * 7);
        for _ in 0..words.div_ceil(WORDS_PER_SENTENCE).max(1) {
            self.sentence(rng, &mut out);
        }
        out.truncate(out.trim_end().len());
        out
    }

    /// Returns a noun to replace another word.
    pub(crate) fn word(&self, rng: &mut Rng) -> &'static str {
        self.noun(rng)
    }

    /// Returns a title with at least two rare words.
    pub(crate) fn title(&self, rng: &mut Rng) -> String {
        let template = rng.pick(match self.lang {
            Lang::En => EN_TITLES,
            Lang::Zh => ZH_TITLES,
        });
        let mut out = String::new();
        self.expand(template, rng, &mut out);
        if self.lang == Lang::En { title_case(&out) } else { out }
    }

    /// Returns the name of an author.
    pub(crate) fn name(&self, rng: &mut Rng) -> String {
        match self.lang {
            Lang::En => {
                let first = rng.pick(&[
                    "Ada", "Ben", "Clara", "Dinah", "Edwin", "Flora", "Hugo", "Iris", "Jonas", "Mira",
                ]);
                format!("{first} {}", capital(self.lexicon().nouns.draw_rare(rng)))
            }
            Lang::Zh => {
                let family =
                    rng.pick(&["王", "李", "张", "刘", "陈", "杨", "赵", "黄", "周", "吴", "林", "何"]);
                let given =
                    rng.pick(&["明", "海", "静", "晓雨", "文博", "子涵", "思远", "若兰", "一帆", "清扬"]);
                format!("{family}{given}")
            }
        }
    }

    fn noun(&self, rng: &mut Rng) -> &'static str {
        const SHARE_OF_TOPIC: f64 = 0.4;
        if rng.chance(SHARE_OF_TOPIC) {
            self.lexicon().nouns.draw_of_topic(rng, self.topic, self.topic_nouns())
        } else {
            self.lexicon().nouns.draw(rng)
        }
    }

    fn expand(&self, template: &str, rng: &mut Rng, out: &mut String) {
        let begin = out.len();
        let mut rest = template;
        while let Some((literal, after)) = rest.split_once('{') {
            out.push_str(literal);
            let (slot, after) = after.split_once('}').unwrap_or((after, ""));
            match slot {
                "v" => out.push_str(self.lexicon().verbs.draw(rng)),
                "a" => out.push_str(self.lexicon().adjectives.draw(rng)),
                "A" => push_with_article(self.lexicon().adjectives.draw(rng), out),
                "N" => push_with_article(self.noun(rng), out),
                "m" => push_plural(self.noun(rng), out),
                "r" => out.push_str(self.lexicon().nouns.draw_rare(rng)),
                _ => out.push_str(self.noun(rng)),
            }
            rest = after;
        }
        out.push_str(rest);
        if let Some(first) = out.get(begin..begin + 1).map(str::to_ascii_uppercase) {
            out.replace_range(begin..begin + 1, &first);
        }
    }
}

fn push_with_article(word: &str, out: &mut String) {
    out.push_str(if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an " } else { "a " });
    out.push_str(word);
}

fn push_plural(word: &str, out: &mut String) {
    let hissing = ["s", "x", "ch", "sh", "z"].iter().any(|ending| word.ends_with(ending));
    match word.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => {
            out.push_str(stem);
            out.push_str("ies");
        }
        _ => {
            out.push_str(word);
            out.push_str(if hissing { "es" } else { "s" });
        }
    }
}

/// Capitalises the first letter.
pub(crate) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn title_case(text: &str) -> String {
    let small = ["of", "and", "the", "for", "to", "that", "on", "a", "an"];
    let words: Vec<String> = text
        .split(' ')
        .enumerate()
        .map(|(place, word)| if place > 0 && small.contains(&word) { word.to_owned() } else { capital(word) })
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn english_reads_like_english() {
        let mut rng = Rng::from_parts(&[3]);
        let text = TextWriter::new(Lang::En, 0).paragraph(60, &mut rng);
        assert!(text.ends_with('.') && text.starts_with(|first: char| first.is_ascii_uppercase()), "{text}");
        assert!(!text.contains(['{', '}']));
        let mut article = String::new();
        push_with_article("owl", &mut article);
        push_plural("city", &mut article);
        assert_eq!(article, "an owlcities");
    }

    #[test]
    fn word_frequencies_fall_like_zipf_says() {
        let mut rng = Rng::from_parts(&[4]);
        let mut counts: HashMap<String, usize> = HashMap::new();
        for topic in 0..12 {
            let text = TextWriter::new(Lang::En, topic).paragraph(40_000, &mut rng).to_lowercase();
            for word in text.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty()) {
                *counts.entry(word.to_owned()).or_default() += 1;
            }
        }
        assert!(counts.len() > 30_000, "{} different words", counts.len());
        let mut frequencies: Vec<usize> = counts.into_values().collect();
        frequencies.sort_unstable_by(|left, right| right.cmp(left));
        // Least squares through (ln rank, ln frequency) in the middle, where neither grammar nor chance dominates.
        let points: Vec<(f64, f64)> =
            (20..2000).map(|rank| ((rank as f64).ln(), (frequencies[rank - 1] as f64).ln())).collect();
        let count = points.len() as f64;
        let (mean_x, mean_y) = (
            points.iter().map(|point| point.0).sum::<f64>() / count,
            points.iter().map(|point| point.1).sum::<f64>() / count,
        );
        let slope = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>()
            / points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>();
        assert!((-1.25..=-0.75).contains(&slope), "slope {slope}");
    }
}
