//! Parameters of desk pages. Invalid values are ignored.

use crate::pages::paging::page_number;
use crate::server::visitor::Visitor;

/// Rows per page of every list.
pub(super) const PAGE_SIZE: usize = 50;

/// Returns a text without surrounding space, truncated to `limit` characters.
pub(super) fn text(visitor: &Visitor, name: &str, limit: usize) -> String {
    visitor.param(name).unwrap_or_default().trim().chars().take(limit).collect()
}

/// Returns the number of the requested page and the number of rows before it.
pub(super) fn page(visitor: &Visitor) -> (usize, usize) {
    let page = page_number(visitor.param("page"));
    (page, (page - 1) * PAGE_SIZE)
}

/// Returns the chosen value and its name in links.
pub(super) fn choice<T: Copy>(
    visitor: &Visitor,
    name: &str,
    choices: &[(&'static str, T)],
) -> Option<(&'static str, T)> {
    choices.iter().find(|(value, _)| Some(*value) == visitor.param(name)).copied()
}

#[cfg(test)]
mod tests {
    use axum::http::{Extensions, HeaderMap};

    use super::*;

    #[test]
    fn invalid_values_are_ignored() {
        let visitor = |query: &str| {
            Visitor::new(
                &format!("/admin/sites?{query}").parse().unwrap(),
                &HeaderMap::new(),
                &Extensions::new(),
            )
        };
        let given = visitor("q=%20harbour%20&page=3&order=name");
        assert_eq!((text(&given, "q", 4), page(&given)), ("harb".into(), (3, 2 * PAGE_SIZE)));
        assert_eq!(choice(&given, "order", &[("pages", 1), ("name", 2)]), Some(("name", 2)));
        let odd = visitor("page=-1&order=x");
        assert_eq!((text(&odd, "q", 4), page(&odd)), (String::new(), (1, 0)));
        assert_eq!(choice(&odd, "order", &[("pages", 1)]), None);
    }
}
