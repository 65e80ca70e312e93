//! Features of a line that rules can use: its text, its position, its neighbours and the blocks around it.

use std::sync::LazyLock;

use memchr::memmem;

use super::WordKinds;
use super::genre::GENRES;
use super::page_clues::{DECLARATIONS, PageClues};
use super::page_context::{PageContext, TAG_KINDS};
use super::prose::NameRoles;
use super::word_finder::WordFinder;
use crate::blocks::{BlockLine, Blocks, ElementKind};

/// Maximum numbers of kinds of names and of phrases.
pub(crate) const NAME_KINDS: usize = 24;
pub(crate) const PHRASE_KINDS: usize = 12;

/// Maximum length of a line that is searched for phrases; in longer lines they are part of a sentence.
const PHRASE_TERMS: f32 = 25.0;

macro_rules! features {
    ($($(#[$meaning:meta])* $name:ident,)+) => {
        /// Features of one line as numbers; booleans are 1 or 0.
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct Features {
            $($(#[$meaning])* pub(crate) $name: f32,)+
            /// Levels up to the nearest block of each tag kind.
            pub(crate) tags: [f32; TAG_KINDS.len()],
            /// Levels up to the nearest block of each kind of name.
            pub(crate) names: [f32; NAME_KINDS],
            /// 1 for each kind of phrase found in the line.
            pub(crate) phrases: [f32; PHRASE_KINDS],
            /// 1 for each kind of phrase found in the preceding heading.
            pub(crate) heading_phrases: [f32; PHRASE_KINDS],
            /// Lines since the last line with each kind of phrase, and to the next one.
            pub(crate) since: [f32; PHRASE_KINDS],
            pub(crate) until: [f32; PHRASE_KINDS],
            /// Declarations of the page, see [`PageClues`].
            pub(crate) declared: [f32; DECLARATIONS.len()],
            /// Probability of each genre of the page.
            pub(crate) genres: [f32; GENRES.len()],
        }

        /// Names of the scalar features.
        pub(crate) const PLAIN: &[&str] = &[$(stringify!($name)),+];

        impl Features {
            /// Returns all features in the order of [`PLAIN`], then the groups in the order of their fields.
            pub(crate) fn values(&self) -> FeatureValues {
                let mut values = [0.0; COUNT];
                let plain = [$(self.$name),+];
                let parts: [&[f32]; 9] = [
                    &plain,
                    &self.tags,
                    &self.names,
                    &self.phrases,
                    &self.heading_phrases,
                    &self.since,
                    &self.until,
                    &self.declared,
                    &self.genres,
                ];
                let mut at = 0;
                for part in parts {
                    values[at..at + part.len()].copy_from_slice(part);
                    at += part.len();
                }
                values
            }
        }
    };
}

/// Total number of features.
pub(crate) const COUNT: usize =
    PLAIN.len() + TAG_KINDS.len() + NAME_KINDS + 4 * PHRASE_KINDS + DECLARATIONS.len() + GENRES.len();

/// Feature values of a line as a vector.
pub(crate) type FeatureValues = [f32; COUNT];

features! {
    /// Length in terms.
    terms,
    /// Length in characters.
    chars,
    /// Share of the characters inside links.
    link_share,
    /// Number of links.
    links,
    /// Share of emphasised characters.
    strong_share,
    /// Share of characters on buttons and labels.
    control_share,
    /// Pictures before or in the line.
    images,
    /// Share of digits.
    digit_share,
    /// Share of words that begin with a capital.
    capital_share,
    /// Share of capital letters.
    upper_share,
    /// Number of commas.
    commas,
    /// Number of full stops, question marks and exclamation marks.
    stops,
    /// Bars, arrows and bullets per term.
    symbol_share,
    /// 1 if the line ends like a sentence.
    ends_as_sentence,
    /// 1 if the line ends with a colon.
    ends_with_colon,
    /// 1 if the line begins with a lower-case letter.
    begins_small,
    /// Mean word length.
    word_chars,
    /// Heading level, 0 for other lines.
    heading,
    /// 1 for a paragraph.
    paragraph,
    /// 1 for a list item.
    item,
    /// 1 for a table cell.
    cell,
    /// 1 for a term or its definition.
    definition,
    /// 1 for preformatted text.
    preformatted,
    /// 1 for a quotation.
    quote,
    /// 1 for a caption.
    caption,
    /// Share of its words that occur in the title.
    in_title,
    /// Share of the title's words that occur in the line.
    title_covered,
    /// Number of occurrences of the same line on the page.
    repeats,
    /// The enclosing block: terms, share of links, lines, pictures, paragraphs and breaks, fields.
    block_terms,
    block_link_share,
    block_lines,
    block_images,
    block_paragraphs,
    block_fields,
    /// The next larger block: terms, share of links, lines, terms per line, fields.
    wider_terms,
    wider_link_share,
    wider_lines,
    wider_mean,
    wider_fields,
    /// The second larger block.
    wider2_terms,
    wider2_link_share,
    wider2_lines,
    wider2_mean,
    /// The third larger block.
    wider3_terms,
    wider3_link_share,
    wider3_lines,
    wider3_mean,
    /// Share of the page's prose in these blocks.
    block_prose,
    wider_prose,
    wider2_prose,
    wider3_prose,
    /// Blocks of the same template: lines, terms per line, share of links, share of the prose.
    alike_lines,
    alike_mean,
    alike_link_share,
    alike_prose,
    /// Share of lines of the same template that follow a line of links, which is high for teasers and low for
    /// paragraphs.
    alike_after_link,
    /// Number of blocks of the same template as the block, the next larger and the second larger block.
    block_twins,
    wider_twins,
    wider2_twins,
    /// Words about cookies and consent, per ten terms.
    cookie_words,
    /// Share of the next larger block's terms before the line.
    wider_before,
    /// Levels up to a block that contains the best candidate for the body block; 0 inside the candidate, 20 if only
    /// the page contains it. Then the share of the page's prose in the candidate.
    candidate_levels,
    candidate_prose,
    /// Share of the page's prose in the largest block named as the body.
    named_prose,
    /// Levels up to a block with half, and with nine tenths, of the page's prose.
    half_levels,
    most_levels,
    /// Share of the page's prose before the line.
    prose_before,
    /// Lines to the nearest line of prose, before and after.
    lines_since_prose,
    lines_to_prose,
    /// The last heading: its level, the lines since, its terms, and the share of it that is in the title.
    above_heading,
    above_lines,
    above_terms,
    above_in_title,
    /// Lines since the first top heading or the line most similar to the title; negative before it.
    since_top,
    /// The adjacent lines: terms and share of links.
    before_terms,
    before_link_share,
    before2_terms,
    before2_link_share,
    after_terms,
    after_link_share,
    after2_terms,
    after2_link_share,
    /// Number of consecutive link lines that include this one.
    link_run,
    /// Mean over eight lines on both sides.
    around_terms,
    around_link_share,
    /// 0 at the right, 1 at the top, 2 at the left, 3 in the middle.
    position,
    /// Position on the page from 0 to 1, by lines and by terms.
    place,
    place_terms,
    /// Lines from the beginning and from the end.
    index,
    index_from_end,
    /// The page: terms, lines, share of links, share of prose, articles, pictures, fields, share of list items.
    page_terms,
    page_lines,
    page_link_share,
    page_prose,
    page_articles,
    page_images,
    page_fields,
    page_items_share,
    /// Depth of the block.
    depth,
    /// 1 for a short line with a date or a time.
    dated,
    /// Lines with a phrase of comments in the block and the next larger ones, and lines with a date.
    block_replies,
    wider_replies,
    wider2_replies,
    wider3_replies,
    wider_dates,
    wider2_dates,
    wider3_dates,
    /// Number of top headings, and of ends of articles, before the line.
    top_headings,
    articles_ended,
    /// Result of the first pass: probability of the line, of its neighbours and of the blocks around it, weighted by
    /// terms.
    first,
    first_before,
    first_before2,
    first_after,
    first_after2,
    first_around,
    first_block,
    first_wider,
    first_wider2,
    first_wider3,
    first_alike,
    first_page,
}

/// Computes the features of every line.
pub(super) fn features(
    blocks: &Blocks,
    clues: &PageClues,
    phrases: &WordFinder,
    names: NameRoles,
) -> (Vec<Features>, PageContext) {
    let context = PageContext::new(blocks, &clues.title, names);
    let mut all: Vec<Features> = Vec::with_capacity(blocks.lines.len());
    let mut above = LastHeading::default();
    for (number, line) in blocks.lines.iter().enumerate() {
        let mut f = Features { declared: clues.declared, ..Features::default() };
        fill_own(&mut f, blocks, line, phrases);
        (f.in_title, f.title_covered) = context.title_similarity(number);
        f.repeats = context.repeats(number);
        f.above_heading = above.level;
        f.above_lines = (number - above.number).min(1_000) as f32;
        f.above_terms = above.terms;
        f.above_in_title = above.in_title;
        f.heading_phrases = above.phrases;
        if f.heading > 0.0 {
            above = LastHeading {
                number,
                level: f.heading,
                terms: f.terms,
                in_title: f.in_title,
                phrases: f.phrases,
            };
        }
        context.fill(&mut f, blocks, number, line);
        all.push(f);
    }
    neighbours(&mut all);
    distances(&mut all);
    context.count_in_blocks(&mut all, blocks);
    (all, context)
}

/// The last heading before the current line.
#[derive(Default)]
struct LastHeading {
    number: usize,
    level: f32,
    terms: f32,
    in_title: f32,
    phrases: [f32; PHRASE_KINDS],
}

fn fill_own(f: &mut Features, blocks: &Blocks, line: &BlockLine, phrases: &WordFinder) {
    let (counts, measure, text) = (&line.counts, &line.measure, blocks.text_of(line));
    let chars = counts.chars.max(1) as f32;
    let words = measure.words.max(1) as f32;
    f.terms = measure.terms();
    f.chars = counts.chars as f32;
    f.link_share = counts.link_share();
    f.links = counts.links as f32;
    f.strong_share = counts.strong_chars as f32 / chars;
    f.control_share = counts.control_chars as f32 / chars;
    f.images = counts.images as f32;
    f.digit_share = measure.digits as f32 / chars;
    f.capital_share = measure.capitals as f32 / words;
    f.upper_share = measure.uppers as f32 / chars;
    f.commas = measure.commas as f32;
    f.stops = measure.stops as f32;
    f.symbol_share = measure.symbols as f32 / f.terms.max(1.0);
    f.ends_as_sentence = as_number(measure.ends_as_sentence);
    f.ends_with_colon = as_number(measure.ends_with_colon);
    f.begins_small = as_number(measure.begins_small);
    f.word_chars = chars / f.terms.max(1.0);
    let tag = blocks.container_of(line).tag;
    f.heading = match tag {
        ElementKind::Heading1 => 1.0,
        ElementKind::Heading2 => 2.0,
        ElementKind::Heading3 => 3.0,
        ElementKind::Heading4 => 4.0,
        _ => 0.0,
    };
    f.paragraph = as_number(tag == ElementKind::Paragraph);
    f.item = as_number(tag == ElementKind::Item);
    f.cell = as_number(tag == ElementKind::Cell);
    f.definition = as_number(tag == ElementKind::Definition);
    f.preformatted = as_number(tag == ElementKind::Preformatted);
    f.quote = as_number(tag == ElementKind::Quote);
    f.caption = as_number(tag == ElementKind::Caption);
    f.cookie_words = cookie_words(text) as f32 * 10.0 / f.terms.max(10.0);
    if f.terms < PHRASE_TERMS {
        let found = phrases.find(text);
        for (kind, value) in f.phrases.iter_mut().enumerate() {
            *value = as_number(found >> kind & 1 == 1);
        }
        f.dated = as_number(measure.digits > 0 && names_a_time(text));
    }
}

/// Counts words about cookies; such notices look like prose but are not content.
fn cookie_words(text: &str) -> usize {
    static WORDS: LazyLock<[memmem::Finder; 2]> =
        LazyLock::new(|| ["ookie", "onsent"].map(memmem::Finder::new));
    WORDS.iter().map(|word| word.find_iter(text.as_bytes()).count()).sum()
}

/// Returns `true` if a text contains a year, a time of day or a period such as "2 days ago".
fn names_a_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits =
        |from: usize, to: usize| bytes.get(from..to).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let is_year = |at: usize| {
        matches!(bytes.get(at..at + 2), Some(b"19" | b"20"))
            && digits(at, at + 4)
            && !bytes.get(at + 4).is_some_and(u8::is_ascii_digit)
            && (at == 0 || !bytes[at - 1].is_ascii_digit())
    };
    let is_time =
        |at: usize| bytes.get(at + 1) == Some(&b':') && digits(at, at + 1) && digits(at + 2, at + 4);
    (0..bytes.len()).any(|at| is_year(at) || is_time(at))
        || text.contains(" ago")
        || ["分钟前", "小时前", "天前", "楼"].iter().any(|word| text.contains(word))
}

/// Fills the distances to the nearest lines with each kind of phrase.
fn distances(all: &mut [Features]) {
    const FARTHEST: f32 = 200.0;
    let mut since = [FARTHEST; PHRASE_KINDS];
    for f in all.iter_mut() {
        since.iter_mut().for_each(|lines| *lines = (*lines + 1.0).min(FARTHEST));
        f.since = since;
        for (lines, found) in since.iter_mut().zip(f.phrases) {
            *lines = if found > 0.0 { 0.0 } else { *lines };
        }
    }
    let mut until = [FARTHEST; PHRASE_KINDS];
    for f in all.iter_mut().rev() {
        until.iter_mut().for_each(|lines| *lines = (*lines + 1.0).min(FARTHEST));
        f.until = until;
        for (lines, found) in until.iter_mut().zip(f.phrases) {
            *lines = if found > 0.0 { 0.0 } else { *lines };
        }
    }
}

fn neighbours(all: &mut [Features]) {
    /// Number of lines on each side that form the neighbourhood.
    const REACH: usize = 8;
    let outside = (0.0, 1.0);
    let neighbour_stats: Vec<(f32, f32)> = all.iter().map(|f| (f.terms, f.link_share)).collect();
    let at = |number: Option<usize>| number.and_then(|n| neighbour_stats.get(n)).copied().unwrap_or(outside);
    // Prefix sums, so that the mean of a range costs two lookups.
    let mut sums = Vec::with_capacity(neighbour_stats.len() + 1);
    let (mut terms, mut linked) = (0.0f64, 0.0f64);
    sums.push((terms, linked));
    for (t, l) in &neighbour_stats {
        terms += f64::from(*t);
        linked += f64::from(*t * *l);
        sums.push((terms, linked));
    }
    let mut run = 0;
    for number in 0..=neighbour_stats.len() {
        if neighbour_stats.get(number).is_some_and(|(_, link_share)| *link_share > 0.8) {
            run += 1;
            continue;
        }
        all[number - run..number].iter_mut().for_each(|f| f.link_run = run as f32);
        run = 0;
    }
    for (number, f) in all.iter_mut().enumerate() {
        (f.before_terms, f.before_link_share) = at(number.checked_sub(1));
        (f.before2_terms, f.before2_link_share) = at(number.checked_sub(2));
        (f.after_terms, f.after_link_share) = at(Some(number + 1));
        (f.after2_terms, f.after2_link_share) = at(Some(number + 2));
        let (from, to) = (number.saturating_sub(REACH), (number + REACH + 1).min(neighbour_stats.len()));
        let (terms, linked) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        f.around_terms = (terms / (to - from) as f64) as f32;
        f.around_link_share = (linked / terms.max(1.0)) as f32;
    }
}

pub(super) fn as_number(value: bool) -> f32 {
    f32::from(u8::from(value))
}

/// Returns the index of a feature by its name: a scalar one, or `tag.nav`, `name.comment`, `phrase.share`,
/// `above.share`, `since.share`, `until.share`, `declared.product`, `genre.forum`.
pub(super) fn feature_index(name: &str, kinds: &WordKinds) -> Option<u16> {
    let Some((group, kind)) = name.split_once('.') else {
        return PLAIN.iter().position(|known| *known == name).and_then(|at| u16::try_from(at).ok());
    };
    let mut start = PLAIN.len();
    for (known, names, size) in groups(kinds) {
        if known == group {
            return u16::try_from(start + names.iter().position(|n| *n == kind)?).ok();
        }
        start += size;
    }
    None
}

/// Returns the names of all features, in the order of [`Features::values`].
pub(super) fn all_feature_names(kinds: &WordKinds) -> Vec<String> {
    let mut all: Vec<String> = PLAIN.iter().map(ToString::to_string).collect();
    for (group, names, size) in groups(kinds) {
        // Kinds that the rule file does not define keep their number.
        all.extend((0..size).map(|at| match names.get(at) {
            Some(name) => format!("{group}.{name}"),
            None => format!("{group}.{at}"),
        }));
    }
    all
}

/// Groups of features with their names and sizes, in the order of the fields of [`Features`].
fn groups(kinds: &WordKinds) -> [(&'static str, Vec<&str>, usize); 8] {
    let phrases = || kinds.phrases.iter().map(String::as_str).collect();
    [
        ("tag", TAG_KINDS.iter().map(|(_, tag)| *tag).collect(), TAG_KINDS.len()),
        ("name", kinds.names.iter().map(String::as_str).collect(), NAME_KINDS),
        ("phrase", phrases(), PHRASE_KINDS),
        ("above", phrases(), PHRASE_KINDS),
        ("since", phrases(), PHRASE_KINDS),
        ("until", phrases(), PHRASE_KINDS),
        ("declared", DECLARATIONS.to_vec(), DECLARATIONS.len()),
        ("genre", GENRES.to_vec(), GENRES.len()),
    ]
}
