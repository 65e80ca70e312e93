//! Sitelinks: the most important pages of a site, below its home page in the results of a query that names the site.

use std::collections::HashSet;

use pharos_core::PageUrl;
use pharos_core::config::QueryConfig;
use pharos_index::{Candidate, IndexError};
use pharos_text::title::title_parts;

use super::QueryExecution;
use crate::language::intent::{QueryKind, letters_only};
use crate::language::parse::parse;
use crate::request::ResultOptions;
use crate::response::{SearchResponse, Sitelink};
use crate::retrieval::retriever::{RetrievalQuery, Retriever};

/// Maximum number of sitelinks, and the number of pages they are chosen from.
const MAX_SITELINKS: usize = 6;
const EXAMINED: usize = 24;
/// Minimum number: a single link does not describe a site.
const MIN_SITELINKS: usize = 2;

impl QueryExecution<'_> {
    /// Adds sitelinks to the first result if it is the home page of the site that the query names.
    pub(super) fn add_sitelinks(&self, response: &mut SearchResponse) -> Result<(), IndexError> {
        let is_named_site = response.kind == QueryKind::Site && response.page == 1;
        let Some(home) = response.hits.first_mut().filter(|_| is_named_site) else { return Ok(()) };
        if !PageUrl::parse(&home.url).is_ok_and(|url| url == url.home()) {
            return Ok(());
        }
        let text = format!("site:{}", home.site);
        let expression = parse(&text, self.retriever.analyser);
        let query = QueryConfig { max_results: EXAMINED, ..self.retriever.query.clone() };
        let retriever = Retriever { query: &query, state: None, ..self.retriever };
        let options = ResultOptions::default();
        let found = retriever.retrieve(RetrievalQuery { expression: &expression, text: &text, options })?;
        let candidates: Vec<Candidate> = found.results.iter().map(|scored| scored.candidate).collect();
        let pages = self.retriever.view.stored(&candidates)?.into_iter();
        let links = choose(&home.title, pages.map(|page| (page.fields.url, page.fields.title)));
        if links.len() >= MIN_SITELINKS {
            home.sitelinks = links;
        }
        Ok(())
    }
}

/// Chooses pages with titles of their own, given by URL and title, best first.
fn choose(home_title: &str, pages: impl Iterator<Item = (String, String)>) -> Vec<Sitelink> {
    let mut seen: HashSet<String> = HashSet::from([letters_only(home_title), String::new()]);
    let links = pages.filter_map(|(url, title)| {
        let is_home = PageUrl::parse(&url).map_or(true, |url| url == url.home());
        let title = without_site_name(&title, home_title);
        (!is_home && seen.insert(letters_only(&title))).then_some(Sitelink { url, title })
    });
    links.take(MAX_SITELINKS).collect()
}

/// Returns the first part of a title that does not name the site: the title of its home page does not contain it.
fn without_site_name(title: &str, home_title: &str) -> String {
    let home = letters_only(home_title);
    let is_own = |part: &&str| !home.contains(&letters_only(part));
    title_parts(title).find(is_own).unwrap_or(title.trim()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_lose_the_name_of_the_site() {
        for (title, home, expected) in [
            ("Lights - The Lighthouse Museum", "The Lighthouse Museum", "Lights"),
            ("Lighthouse Museum | Opening hours", "Lighthouse Museum", "Opening hours"),
            ("参观指南_灯塔博物馆", "灯塔博物馆", "参观指南"),
            ("Opening hours", "Lighthouse Museum - Home", "Opening hours"),
            ("Night report: to-do list - Star Club", "The Star Club: astronomy", "Night report: to-do list"),
            ("Lighthouse Museum", "Lighthouse Museum", "Lighthouse Museum"),
        ] {
            assert_eq!(without_site_name(title, home), expected);
        }
    }

    #[test]
    fn pages_with_titles_of_their_own_are_chosen() {
        let pages = [
            ("http://a.example/", "Museum"),
            ("http://a.example/lights", "Lights - Museum"),
            ("http://a.example/lights?page=2", "Lights - Museum"),
            ("http://a.example/untitled", ""),
            ("http://a.example/again", "Museum"),
            ("http://a.example/hours", "Hours - Museum"),
        ];
        let chosen = choose("Museum", pages.map(|(url, title)| (url.into(), title.into())).into_iter());
        let chosen: Vec<(&str, &str)> =
            chosen.iter().map(|link| (link.url.as_str(), link.title.as_str())).collect();
        assert_eq!(chosen, [("http://a.example/lights", "Lights"), ("http://a.example/hours", "Hours")]);
        let many = (0..100).map(|n| (format!("http://a.example/{n}"), format!("Page {n}")));
        assert_eq!(choose("Museum", many).len(), MAX_SITELINKS);
    }
}
