//! The terms that the desk explains, from the section *On the desk* of `docs/glossary.md`.
//!
//! [`label`] adds a mark to a label that is a term: a link to the page *Glossary*, which shows the meaning when the pointer or
//! the focus is on it.

use std::sync::LazyLock;

use askama::Template;

use crate::messages::Lang;

const GLOSSARY: &str = include_str!("../../../../docs/glossary.md");
const SECTION: &str = "## On the desk";

/// A term in both languages.
pub(super) struct GlossaryTerm {
    name: [&'static str; 2],
    meaning: [&'static str; 2],
}

impl GlossaryTerm {
    pub(super) fn name(&self, lang: Lang) -> &'static str {
        self.name[column(lang)]
    }

    pub(super) fn meaning(&self, lang: Lang) -> &'static str {
        self.meaning[column(lang)]
    }

    /// Returns the id of the term on its page.
    pub(super) fn id(&self) -> String {
        format!("term-{}", self.name[0].replace(' ', "-"))
    }
}

fn column(lang: Lang) -> usize {
    match lang {
        Lang::En => 0,
        Lang::Zh => 1,
    }
}

static TERMS: LazyLock<Vec<GlossaryTerm>> = LazyLock::new(|| {
    let section = GLOSSARY.split_once(SECTION).map_or("", |(_, rest)| rest);
    let rows =
        section.lines().take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| "));
    // The first row has the names of the columns.
    rows.skip(1).filter_map(parse_row).collect()
});

fn parse_row(line: &'static str) -> Option<GlossaryTerm> {
    let mut cells = line.trim_matches('|').split('|').map(str::trim);
    let [en, zh, meaning, zh_meaning] = [cells.next()?, cells.next()?, cells.next()?, cells.next()?];
    Some(GlossaryTerm { name: [en, zh], meaning: [meaning, zh_meaning] })
}

/// Returns all terms.
pub(super) fn terms() -> &'static [GlossaryTerm] {
    &TERMS
}

/// A label of the desk, with the meaning of its term.
#[derive(Template)]
#[template(
    source = "{{ text }} <a class=\"term\" href=\"/admin/glossary#{{ id }}\"><span aria-hidden=\"true\">?</span>\
              <span class=\"meaning\"><span class=\"unseen\">{{ text }}: </span>{{ meaning }}</span></a>",
    ext = "html"
)]
struct ExplainedLabel<'a> {
    text: &'a str,
    id: String,
    meaning: &'a str,
}

#[derive(Template)]
#[template(source = "{{ text }}", ext = "html")]
struct PlainLabel<'a> {
    text: &'a str,
}

/// Returns a label as HTML. If it is a term of the glossary, a mark with its meaning follows.
pub(super) fn label(text: &str, lang: Lang) -> String {
    let term = TERMS.iter().find(|term| term.name(lang).to_lowercase() == text.to_lowercase());
    let html = match term {
        Some(term) => ExplainedLabel { text, id: term.id(), meaning: term.meaning(lang) }.render(),
        None => PlainLabel { text }.render(),
    };
    // Writing to a string cannot fail.
    html.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::pages::labels;

    #[test]
    fn every_term_is_a_label_of_the_desk_in_both_languages() {
        assert!(TERMS.len() > 10);
        let labels = labels();
        for term in terms() {
            let [en, zh] = term.name;
            let is_label =
                |(_, label, zh_label): &(&str, &str, &str)| label.to_lowercase() == en && *zh_label == zh;
            assert!(labels.iter().any(is_label), "no label is `{en}` and `{zh}`");
            assert!(term.meaning.iter().all(|meaning| !meaning.is_empty()));
        }
    }

    #[test]
    fn terms_get_a_mark_and_other_labels_none() {
        let marked = label("Refused", Lang::En);
        assert!(
            marked.starts_with("Refused <a class=\"term\" href=\"/admin/glossary#term-refused\">"),
            "{marked}"
        );
        assert!(marked.contains("</span>pages that robots.txt or a rule"), "{marked}");
        assert!(label("被拒绝", Lang::Zh).contains("robots.txt 或抓取规则"));
        assert_eq!(label("<b>", Lang::En), "&#60;b&#62;");
    }
}
