//! Author names: cleaning of declared names and search in visible lines.

use super::date::{self, DateOrder};
use super::visible_lines::VisibleLine;
use crate::dom::visible_text::collapse_whitespace;
use pharos_text::is_han;

/// Maximum length of a list of authors.
const MAX_CHARS: usize = 120;

/// Number of lines after the heading that are searched for an author.
const MAX_LINES: usize = 40;

/// Removes labels and punctuation around a declared name; returns an empty string if it is not a name.
pub(super) fn clean_name(text: &str) -> String {
    let text = collapse_whitespace(text, MAX_CHARS + 1);
    let mut name = text.as_str();
    for start in ["by ", "by: ", "written by ", "posted by ", "author: ", "作者：", "作者:", "文/", "文／"]
    {
        if let Some(rest) = strip_prefix_ignore_case(name, start) {
            name = rest.trim_start();
        }
    }
    let name = name.trim_matches(|c: char| c.is_whitespace() || ",;|·-–/：:，、（）()[]【】".contains(c));
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    let is_address = name.contains("://") || name.starts_with("www.") || name.starts_with('@');
    let is_placeholder =
        ["by", "admin", "administrator", "unknown", "null", "undefined", "none", "author", "佚名"]
            .iter()
            .any(|placeholder| name.eq_ignore_ascii_case(placeholder));
    if letters < 2 || is_address || is_placeholder || name.chars().count() > MAX_CHARS {
        return String::new();
    }
    name.to_string()
}

/// Returns the author that a line near the heading names with a Chinese label. It wins over the declaration in the
/// head, which on Chinese pages often names the developer of the site.
pub(super) fn labelled_author(lines: &[VisibleLine], heading_at: Option<usize>) -> Option<String> {
    let is_chinese = |text: &str| text.contains("作者：") || text.contains("作者:");
    near(lines, heading_at)
        .iter()
        .filter(|line| is_chinese(&line.text))
        .find_map(|line| after_label(&line.text))
}

fn near(lines: &[VisibleLine], heading_at: Option<usize>) -> &[VisibleLine] {
    let from = start(lines, heading_at);
    &lines[from.saturating_sub(3)..lines.len().min(from + MAX_LINES)]
}

/// Returns the index of the heading's line.
fn start(lines: &[VisibleLine], heading_at: Option<usize>) -> usize {
    lines.iter().position(|line| heading_at.is_none_or(|at| line.at >= at)).unwrap_or(0)
}

/// Returns the author that a line near the heading names. Chinese reporters may also be named at the end of the
/// text.
pub(super) fn visible_author(lines: &[VisibleLine], heading_at: Option<usize>) -> String {
    let (from, near) = (start(lines, heading_at), near(lines, heading_at));
    near.iter()
        .find_map(|line| after_label(&line.text))
        .or_else(|| {
            let called = near.iter().filter(|line| line.hints.author && !line.hints.aside);
            called.take(3).find_map(|line| whole_line(&line.text))
        })
        .or_else(|| {
            lines[from..].iter().filter(|line| !line.hints.aside).find_map(|line| reporter(&line.text))
        })
        .or_else(|| lines[from..].iter().skip(1).take(3).find_map(|line| bare_name(&line.text)))
        .unwrap_or_default()
}

/// Parses `作者：某人` and `By Someone`.
fn after_label(text: &str) -> Option<String> {
    const LABELS: [&str; 9] =
        ["作者：", "作者:", "作 者：", "作　者：", "撰文：", "文/", "文／", "发文机关：", "发布者："];
    const NEXT: [&str; 12] =
        ["来源", "时间", "日期", "发布", "发表", "点击", "编辑", "责编", "字体", "阅读", "浏览", "更新"];
    /// English labels are also ordinary words, so they must begin the line.
    const ENGLISH: [&str; 4] = ["by ", "written by ", "posted by ", "author: "];
    let (rest, is_chinese) = LABELS
        .iter()
        .find_map(|label| Some((text.split_once(label)?.1, true)))
        .or_else(|| ENGLISH.iter().find_map(|label| Some((strip_prefix_ignore_case(text, label)?, false))))?;
    let rest = rest.trim_start();
    let mut end =
        rest.find(['|', '•', '·', '»', '⋅', '(', '（', '[', '【', '\u{3000}']).unwrap_or(rest.len());
    if is_chinese {
        end = NEXT.iter().filter_map(|word| rest.find(word)).fold(end, usize::min);
        end = end.min(rest.find(['；', '。', '，', '=', '：', ':']).unwrap_or(end));
    }
    if let Some(found) = date::find_dates(rest, 1, DateOrder::Unknown).first() {
        end = end.min(found.start);
    }
    let name = clean_name(&rest[..end]);
    let words = name.split_whitespace().count();
    let is_name = if is_chinese { name.chars().count() <= 30 } else { words <= 8 && starts_upper(&name) };
    (is_name && !name.is_empty()).then_some(name)
}

/// Parses `（记者 张三 李四）` and `本报记者张三`: names of two to four characters that end where a name can end.
fn reporter(text: &str) -> Option<String> {
    const MOST: usize = 6;
    let (_, after) = text.split_once("记者").or_else(|| text.split_once("文："))?;
    let rest = after.trim_start_matches(|c: char| c.is_whitespace() || c == '：' || c == ':');
    let end = rest.find(|c: char| !(is_han(c) || c.is_whitespace() || c == '、')).unwrap_or(rest.len());
    let names: Vec<&str> = rest[..end].split(|c: char| !is_han(c)).filter(|name| !name.is_empty()).collect();
    let is_name =
        |name: &&str| (2..=4).contains(&name.chars().count()) && !["报道", "摄影", "采访"].contains(name);
    let names: Vec<&str> = names.into_iter().take_while(is_name).take(MOST).collect();
    // Otherwise the words describe the work of reporters and are not names.
    let is_set_off =
        rest.len() < after.len() || rest[end..].is_empty() || rest[end..].starts_with(['）', ')', '/', '】']);
    (!names.is_empty() && is_set_off).then(|| names.join(" "))
}

/// Returns a name alone on its line below the heading, recognised by its surname.
fn bare_name(text: &str) -> Option<String> {
    /// The surnames of about four fifths of all Chinese people.
    const SURNAMES: &str = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤";
    let mut chars = text.chars();
    let is_surname = chars.next().is_some_and(|first| SURNAMES.contains(first));
    let given = chars.clone().count();
    (is_surname && (1..=2).contains(&given) && chars.all(is_han)).then(|| text.to_string())
}

/// Returns the name in a line whose element is marked as the author's.
fn whole_line(text: &str) -> Option<String> {
    const LONGEST: usize = 60;
    let end = date::find_dates(text, 1, DateOrder::Unknown).first().map_or(text.len(), |found| found.start);
    let name = clean_name(text[..end].split(['|', '•', '·']).next().unwrap_or_default());
    let is_name =
        name.chars().count() <= LONGEST && !name.contains(|c: char| c.is_numeric() || "。！？!?".contains(c));
    (!name.is_empty() && is_name).then_some(name)
}

fn starts_upper(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
}

fn strip_prefix_ignore_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::Dom;
    use crate::metadata::visible_lines::visible_lines;

    fn author_in(html: &str) -> String {
        visible_author(&visible_lines(&Dom::parse(html)), None)
    }

    #[test]
    fn names_lose_what_surrounds_them() {
        for (text, name) in [
            (" By  Ann Lee, ", "Ann Lee"),
            ("作者：茉莉", "茉莉"),
            ("https://example.org/ann", ""),
            ("admin", ""),
            ("42", ""),
        ] {
            assert_eq!(clean_name(text), name, "{text}");
        }
    }

    #[test]
    fn authors_are_named_in_lines() {
        assert_eq!(author_in("<h1>灯塔</h1><p>2008-12-22 来源：新华网 作者：张三 点击：5"), "张三");
        assert_eq!(author_in("<h1>Lit</h1><p>By Ann Lee | 22 Dec 2008"), "Ann Lee");
        assert_eq!(
            author_in("<h1>Lit</h1><p class=byline>Ann Lee December 22, 2008<p>By then it was lit."),
            "Ann Lee"
        );
        assert_eq!(author_in("<h1>灯塔</h1><p>新华社电（记者 张三 李四）记者近日从灯塔获悉"), "张三 李四");
        assert_eq!(author_in("<h1>灯塔</h1><p>张三丰<p>记者近日从灯塔获悉"), "张三丰");
        assert_eq!(author_in("<p>By night the lamp is lit."), "");
    }
}
