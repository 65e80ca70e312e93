//! The title of a page, and the heading of its content where the title is that of the site.

use strsim::sorensen_dice;

use super::lines::Line;
use crate::text::collapse;
use pharos_text::is_han;

/// Titles that authoring programs and careless authors leave (DocView, B89), lower case and without punctuation.
const MEANINGLESS: [&str; 22] = [
    "untitled",
    "untitled document",
    "untitled page",
    "new page",
    "new page 1",
    "welcome",
    "welcome to",
    "home",
    "home page",
    "homepage",
    "index",
    "default",
    "no title",
    "document",
    "title",
    "欢迎访问",
    "欢迎光临",
    "欢迎",
    "首页",
    "无标题文档",
    "无标题",
    "网页标题",
];

/// What stands between the title of a page and the name of its site.
const SEPARATORS: [&str; 13] =
    [" | ", " - ", " – ", " — ", " · ", " :: ", " : ", " » ", " • ", "_", "|", "－", "—"];

/// From here on two texts say the same.
const ALIKE: f64 = 0.75;

/// What is known of a page's title before the choice.
#[derive(Debug, Default)]
pub(super) struct Clues {
    /// The `<title>`.
    pub(super) title: String,
    /// `og:title`, `twitter:title`, or the headline of JSON-LD.
    pub(super) declared: Vec<String>,
    /// The `h1`s, in order.
    pub(super) headings: Vec<String>,
    /// The site's name, where the page gives it.
    pub(super) site_name: String,
}

/// Does a title say nothing?
pub(super) fn is_meaningless(title: &str) -> bool {
    let plain = plain(title);
    plain.chars().count() < 2
        || MEANINGLESS.iter().any(|word| plain == self::plain(word))
        || ["欢迎访问", "欢迎光临"].iter().any(|greeting| plain.starts_with(greeting))
}

/// Is this a title that a person gave a document, and not one that a program did: `Microsoft Word - draft3.doc`?
pub(crate) fn is_page_title(title: &str) -> bool {
    const PROGRAMS: [&str; 7] = [
        "microsoft word",
        "microsoft powerpoint",
        "powerpoint",
        "slide 1",
        "幻灯片 1",
        "word document",
        "演示文稿",
    ];
    const ENDINGS: [&str; 12] =
        [".doc", ".docx", ".ppt", ".pptx", ".xls", ".xlsx", ".pdf", ".wps", ".indd", ".tex", ".dvi", ".rtf"];
    let lower = title.trim().to_lowercase();
    !is_meaningless(title)
        && !PROGRAMS.iter().any(|program| lower.starts_with(program))
        && !ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

/// The heading of the content (正文标题), and the place of its line.
///
/// A heading that the title repeats is the heading; then the only heading there is; then what the page declares; then
/// the part of the title that a line of the page repeats; then the first heading; then the longest part of the title.
pub(super) fn content_title(clues: &Clues, lines: &[Line], max_chars: usize) -> (String, Option<usize>) {
    let parts = parts(&clues.title);
    let is_site = |text: &str| {
        let is_last = parts.len() > 1 && parts.last().is_some_and(|last| is_alike(text, last));
        is_last || !clues.site_name.is_empty() && is_alike(text, &clues.site_name)
    };
    let says_title =
        |text: &str| {
            clues.declared.iter().chain([&clues.title]).any(|title| {
                is_alike(text, title) || self::parts(title).iter().any(|part| is_alike(text, part))
            })
        };
    let headings = || clues.headings.iter().filter(|heading| !is_meaningless(heading) && !is_site(heading));
    let declared = || clues.declared.iter().find(|declared| !is_meaningless(declared) && !is_site(declared));
    let chosen = headings()
        .find(|heading| says_title(heading))
        .or_else(|| headings().next().filter(|heading| clues.headings.len() == 1 && is_long_enough(heading)))
        .cloned()
        .or_else(|| declared().map(|declared| without_site(declared, &clues.site_name)))
        .or_else(|| repeated_part(&parts, lines))
        .or_else(|| headings().next().cloned())
        .or_else(|| {
            let telling = parts.iter().filter(|part| !is_meaningless(part));
            telling.max_by_key(|part| part.chars().count()).map(|part| part.to_string())
        })
        .unwrap_or_default();
    let at = lines.iter().find(|line| !line.hints.aside && is_alike(&line.text, &chosen)).map(|line| line.at);
    (collapse(&chosen, max_chars), at)
}

/// A heading that the title does not repeat must say something by itself.
fn is_long_enough(heading: &str) -> bool {
    let han = heading.chars().filter(|c| is_han(*c)).count();
    han >= 5 || heading.split_whitespace().count() >= 4
}

/// The part of a title that a short line of the page repeats; the line itself, which is whole.
fn repeated_part(parts: &[&str], lines: &[Line]) -> Option<String> {
    const SHORTEST: usize = 3;
    let longest_first = {
        let mut sorted: Vec<&&str> = parts.iter().filter(|part| part.chars().count() >= SHORTEST).collect();
        sorted.sort_by_key(|part| std::cmp::Reverse(part.chars().count()));
        sorted
    };
    longest_first.into_iter().find_map(|part| {
        lines
            .iter()
            .find(|line| !line.hints.aside && !line.hints.link && plain(&line.text) == plain(part))
            .map(|line| line.text.clone())
    })
}

/// A title cut where the site's name may begin.
fn parts(title: &str) -> Vec<&str> {
    let mut parts = vec![title.trim()];
    for separator in SEPARATORS {
        parts = parts.into_iter().flat_map(|part| part.split(separator)).collect();
    }
    parts = parts.into_iter().flat_map(cut_at_hyphens).map(str::trim).collect();
    parts.retain(|part| part.chars().any(char::is_alphanumeric));
    parts
}

/// A hyphen beside a Chinese character separates; one inside a word does not.
fn cut_at_hyphens(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices('-') {
        let beside = [text[..at].chars().next_back(), text[at + 1..].chars().next()];
        if beside.into_iter().flatten().any(is_han) {
            pieces.push(&text[from..at]);
            from = at + 1;
        }
    }
    pieces.push(&text[from..]);
    pieces
}

fn without_site(title: &str, site_name: &str) -> String {
    let parts = parts(title);
    match parts.as_slice() {
        [first, .., last] if is_alike(last, site_name) || is_name_after_bar(title, first, last) => {
            let end = title.rfind(last).unwrap_or(title.len());
            let kept = title[..end]
                .trim_end()
                .trim_end_matches(|c: char| !c.is_alphanumeric() && !")）”\"'?!？！".contains(c));
            if kept.is_empty() { first.to_string() } else { kept.to_string() }
        }
        _ => title.to_string(),
    }
}

/// `Lamp is lit | Pharos`: a bar and less than before it.
fn is_name_after_bar(title: &str, first: &str, last: &str) -> bool {
    const LONGEST: usize = 25;
    title.trim_end().strip_suffix(last).is_some_and(|before| before.trim_end().ends_with('|'))
        && last.chars().count() <= LONGEST.min(first.chars().count())
}

/// Do two texts say the same, but for punctuation and a few letters?
pub(super) fn is_alike(one: &str, other: &str) -> bool {
    // Comparing is dear and not for books, and texts of unlike length cannot be alike.
    const LONGEST: usize = 1_000;
    let is_comparable =
        |one: usize, other: usize| one > 0 && other > 0 && one.min(other) * 2 > one.max(other);
    if one.len() > LONGEST || other.len() > LONGEST || !is_comparable(one.len(), other.len()) {
        return false;
    }
    let (one, other) = (plain(one), plain(other));
    is_comparable(one.len(), other.len()) && (one == other || sorensen_dice(&one, &other) >= ALIKE)
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::Dom;
    use crate::metadata::lines::lines;

    fn chosen(title: &str, declared: &[&str], html: &str) -> String {
        let lines = lines(&Dom::parse(html));
        let headings = lines.iter().filter(|l| l.hints.heading).map(|l| l.text.clone()).collect();
        let declared = declared.iter().map(|d| d.to_string()).collect();
        let clues = Clues { title: title.into(), declared, headings, site_name: "Pharos News".into() };
        content_title(&clues, &lines, 100).0
    }

    #[test]
    fn some_titles_say_nothing() {
        for title in ["Untitled Document", "New page", "welcome", "欢迎访问", "欢迎访问灯塔网站", "-", ""]
        {
            assert!(is_meaningless(title), "{title}");
        }
        assert!(!is_meaningless("Welcome to the machine"));
    }

    #[test]
    fn the_heading_of_the_content() {
        assert_eq!(
            chosen("Lamp is lit - Pharos News", &[], "<h1>Pharos News</h1><h1>Lamp is lit</h1>"),
            "Lamp is lit"
        );
        assert_eq!(chosen("Pharos News", &["Lamp is lit | Pharos News"], "<p>x"), "Lamp is lit");
        assert_eq!(chosen("灯塔亮了_新闻_灯塔网", &[], "<p>灯塔亮了<p>昨夜…"), "灯塔亮了");
        assert_eq!(chosen("灯塔网", &[], "<h1>灯塔又亮了</h1>"), "灯塔又亮了");
        assert_eq!(chosen("A well-known lamp", &[], "<p>x"), "A well-known lamp");
        assert_eq!(chosen("", &[], ""), "");
    }

    proptest::proptest! {
        #[test]
        fn any_title_is_cut(title in "([a-c灯é]| - |_|\\||—|-| ){0,20}") {
            chosen(&title, &[&title], &title);
        }
    }
}
