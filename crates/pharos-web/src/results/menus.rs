//! The filters of a result page: menus of what results are, with how many there are of each.

use pharos_query::{Age, Answer, Filters};

use super::asked::{Asked, Choice};
use crate::words::{Lang, Words, grouped};

/// Values of a menu that are shown.
const SHOWN: usize = 8;

/// One filter: what is chosen, and what could be.
pub(crate) struct Menu {
    /// What is chosen, or what the menu is about.
    pub(crate) title: String,
    /// Is something chosen?
    pub(crate) is_set: bool,
    pub(crate) entries: Vec<Entry>,
}

/// A value to choose.
pub(crate) struct Entry {
    pub(crate) href: String,
    pub(crate) text: String,
    /// How many results have it, where that is known.
    pub(crate) count: Option<String>,
    pub(crate) is_current: bool,
}

/// The menus for what was found: those that could change something.
pub(crate) fn menus(asked: &Asked, answer: &Answer, lang: Lang) -> Vec<Menu> {
    let words = lang.words();
    let Filters { site, lang: of_page, format, category, time } = &asked.filters;
    let menu = |choice, facet, any, current: Option<&str>, name: &dyn Fn(&str) -> String| {
        Menu::new(asked, answer, choice, facet, any, current, name)
    };
    let as_it_is = |value: &str| value.to_string();
    let menus = [
        menu(Choice::Time, "time", words.any_time, time.map(Age::name), &|value| words.age(value)),
        menu(Choice::Lang, "lang", words.any_language, of_page.as_deref(), &|value| {
            words.language_name(value)
        }),
        menu(Choice::Site, "site", words.any_site, site.as_deref(), &as_it_is),
        menu(Choice::Format, "type", words.any_type, format.as_deref(), &|value| words.format_name(value)),
        menu(Choice::Category, "category", words.any_category, category.as_deref(), &as_it_is),
    ];
    menus.into_iter().flatten().collect()
}

impl Menu {
    /// Nothing where there is nothing to choose.
    fn new(
        asked: &Asked,
        answer: &Answer,
        choice: Choice,
        facet: &str,
        any: &str,
        current: Option<&str>,
        name: &dyn Fn(&str) -> String,
    ) -> Option<Self> {
        let counted = answer.facets.get(facet).map(Vec::as_slice).unwrap_or_default();
        let found = counted.iter().filter(|value| !value.value.is_empty() && value.pages > 0).take(SHOWN);
        let mut entries: Vec<Entry> = found
            .map(|value| Entry {
                href: asked.with(choice, Some(&value.value)),
                text: name(&value.value),
                count: Some(grouped(value.pages)),
                is_current: current == Some(value.value.as_str()),
            })
            .collect();
        // One value that all results have is no choice, unless it was chosen. Times contain each other.
        let least = if choice == Choice::Time { 1 } else { 2 };
        if current.is_none() && entries.len() < least {
            return None;
        }
        entries.insert(
            0,
            Entry {
                href: asked.with(choice, None),
                text: any.to_string(),
                count: None,
                is_current: current.is_none(),
            },
        );
        let title = current.map_or_else(|| any.to_string(), name);
        Some(Self { title, is_set: current.is_some(), entries })
    }
}

impl Words {
    /// How old pages are at most.
    fn age(&self, name: &str) -> String {
        let phrase = match Age::named(name) {
            Some(Age::Day) => self.time_day,
            Some(Age::Week) => self.time_week,
            Some(Age::Month) => self.time_month,
            Some(Age::Year) => self.time_year,
            None => name,
        };
        phrase.to_string()
    }

    fn language_name(&self, code: &str) -> String {
        match code {
            "en" => self.in_english.to_string(),
            "zh" => self.in_chinese.to_string(),
            other => other.to_string(),
        }
    }

    fn format_name(&self, format: &str) -> String {
        if format == "html" { self.type_html.to_string() } else { format.to_uppercase() }
    }
}
