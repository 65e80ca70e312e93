//! Filter menus of the result page, with the number of results of each value.

use pharos_learn::classify::taxonomy::Taxonomy;
use pharos_query::{Age, Filters, SearchResponse};

use super::search_params::{SearchParam, SearchParams};
use crate::messages::{Lang, Messages, grouped};

/// Maximum number of values shown per menu.
const SHOWN: usize = 8;

/// A filter menu.
pub(crate) struct FilterMenu {
    /// The selected value, or the name of the filter.
    pub(crate) title: String,
    /// A value is selected.
    pub(crate) is_set: bool,
    pub(crate) entries: Vec<FilterOption>,
}

/// A value of a filter.
pub(crate) struct FilterOption {
    pub(crate) href: String,
    pub(crate) text: String,
    /// Number of results, if known.
    pub(crate) count: Option<String>,
    pub(crate) is_current: bool,
}

/// Returns the menus that offer a choice.
pub(crate) fn menus(
    params: &SearchParams,
    answer: &SearchResponse,
    taxonomy: Option<&Taxonomy>,
    lang: Lang,
) -> Vec<FilterMenu> {
    let messages = lang.messages();
    let Filters { site, lang: of_page, format, category, time, .. } = &params.filters;
    let menu = |choice, facet, any, current: Option<&str>, name: &dyn Fn(&str) -> String| {
        FilterMenu::new(params, answer, choice, facet, any, current, name)
    };
    let as_it_is = |value: &str| value.to_string();
    let category_name = |id: &str| match taxonomy.and_then(|taxonomy| taxonomy.get(id)) {
        Some(category) => category.name(lang == Lang::Zh).to_string(),
        None => id.to_string(),
    };
    let menus = [
        menu(SearchParam::Time, "time", messages.any_time, time.map(Age::name), &|value| messages.age(value)),
        menu(SearchParam::Lang, "lang", messages.any_language, of_page.as_deref(), &|value| {
            lang.language_name(value)
        }),
        menu(SearchParam::Site, "site", messages.any_site, site.as_deref(), &as_it_is),
        menu(SearchParam::Format, "type", messages.any_type, format.as_deref(), &|value| {
            messages.format_name(value)
        }),
        menu(SearchParam::Category, "category", messages.any_category, category.as_deref(), &category_name),
    ];
    menus.into_iter().flatten().collect()
}

impl FilterMenu {
    /// Returns `None` if there is nothing to choose.
    fn new(
        params: &SearchParams,
        answer: &SearchResponse,
        choice: SearchParam,
        facet: &str,
        any: &str,
        current: Option<&str>,
        name: &dyn Fn(&str) -> String,
    ) -> Option<Self> {
        let counted = answer.facets.get(facet).map(Vec::as_slice).unwrap_or_default();
        let found = counted.iter().filter(|value| !value.value.is_empty() && value.pages > 0).take(SHOWN);
        let mut entries: Vec<FilterOption> = found
            .map(|value| FilterOption {
                href: params.href_with(choice, Some(&value.value)),
                text: name(&value.value),
                count: Some(grouped(value.pages)),
                is_current: current == Some(value.value.as_str()),
            })
            .collect();
        // A single value common to all results is not a choice, unless it is selected. Periods include each other.
        let least = if choice == SearchParam::Time { 1 } else { 2 };
        if current.is_none() && entries.len() < least {
            return None;
        }
        entries.insert(
            0,
            FilterOption {
                href: params.href_with(choice, None),
                text: any.to_string(),
                count: None,
                is_current: current.is_none(),
            },
        );
        let title = current.map_or_else(|| any.to_string(), name);
        Some(Self { title, is_set: current.is_some(), entries })
    }
}

impl Messages {
    /// Returns the name of a maximum age.
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

    fn format_name(&self, format: &str) -> String {
        if format == "html" { self.type_html.to_string() } else { format.to_uppercase() }
    }
}
