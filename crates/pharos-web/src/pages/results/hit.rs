//! One result of the result page.

use percent_encoding::percent_decode_str;
use pharos_core::PageUrl;
use pharos_query::rank::combine::Contribution;
use pharos_query::response::Sitelink;
use pharos_query::{HitExplanation, SearchHit};

use super::search_params::{SearchParam, SearchParams};
use crate::messages::{Lang, Messages, fill, grouped};
use crate::pages::frame::Link;
use crate::pages::site_icon::icon_path;
use crate::server::visitor::link;

/// Maximum number of path segments shown.
const MAX_SEGMENTS: usize = 8;

/// A result as shown.
pub(crate) struct HitView {
    pub(crate) link: Option<String>,
    /// Path of the site's icon, if icons are shown.
    pub(crate) icon: Option<String>,
    pub(crate) title_html: String,
    pub(crate) site: String,
    /// Breadcrumbs of the page, or else readable path segments of the URL.
    pub(crate) path: Vec<String>,
    pub(crate) date: Option<ShownDate>,
    pub(crate) snippet_html: String,
    pub(crate) lang: String,
    /// File type, unless it is HTML.
    pub(crate) format: Option<String>,
    pub(crate) cached_page: Option<String>,
    pub(crate) similar: Option<String>,
    pub(crate) more: Option<Link>,
    pub(crate) duplicates: Option<Link>,
    /// Words of the query that the page lacks.
    pub(crate) missing: String,
    /// The query that requires all words, if the page lacks some.
    pub(crate) exact: Option<Link>,
    pub(crate) indented: bool,
    /// Important pages of the site.
    pub(crate) sitelinks: Vec<Link>,
    pub(crate) is_pinned: bool,
    /// Decisions of operators and synonyms that concern the result, if requested.
    pub(crate) curation: Vec<String>,
    /// Components of the score, if requested.
    pub(crate) explanation: Vec<ScoreComponent>,
}

/// A component of a score.
pub(crate) struct ScoreComponent {
    pub(crate) part: &'static str,
    pub(crate) value: String,
    pub(crate) weight: String,
    pub(crate) gives: String,
}

pub(crate) struct ShownDate {
    pub(crate) machine: String,
    pub(crate) shown: String,
}

impl HitView {
    /// `exact_query` requires all words.
    pub(crate) fn new(hit: &SearchHit, exact_query: Option<&str>, params: &SearchParams, lang: Lang) -> Self {
        let exact_query = exact_query.filter(|_| !hit.missing.is_empty());
        let (messages, query) = (lang.messages(), params.query.as_str());
        let url = PageUrl::parse(&hit.url).ok();
        let is_ours = |path: &&String| path.starts_with("/snapshot/");
        Self {
            path: if hit.breadcrumbs.is_empty() {
                url.as_ref().map(path_segments).unwrap_or_default()
            } else {
                breadcrumbs(&hit.breadcrumbs)
            },
            similar: url.as_ref().map(|url| link("/search", [("q", format!("related:{url}").as_str())])),
            link: url.map(|url| url.as_str().to_string()),
            icon: None,
            title_html: hit.title_html.clone(),
            site: hit.site.clone(),
            date: hit.date.as_ref().map(|day| ShownDate { machine: day.clone(), shown: lang.date(day) }),
            snippet_html: hit.snippet_html.clone(),
            lang: hit.lang.clone(),
            format: (!hit.format.is_empty() && hit.format != "html").then(|| hit.format.to_uppercase()),
            cached_page: hit.cached_url.as_ref().filter(is_ours).map(|path| link(path, [("q", query)])),
            more: (hit.more_from_site > 0).then(|| Link {
                href: params.href_with(SearchParam::Site, Some(&hit.site)),
                text: fill(messages.more_from_site, &[&grouped(hit.more_from_site)]),
            }),
            duplicates: (hit.duplicates > 0).then(|| Link {
                href: params.with_duplicates(),
                text: messages.duplicate_count(hit.duplicates),
            }),
            missing: hit.missing.join(if lang == Lang::Zh { "、" } else { ", " }),
            exact: exact_query
                .map(|exact| Link { href: params.href_of_query(exact), text: messages.exact_query.into() }),
            indented: hit.indented,
            sitelinks: hit.sitelinks.iter().filter_map(sitelink).collect(),
            is_pinned: hit.pinned,
            curation: hit.explanation.as_ref().map(|of| curation_lines(of, messages)).unwrap_or_default(),
            explanation: hit.explanation.as_ref().map(score_components).unwrap_or_default(),
        }
    }

    /// Adds the icon of the site.
    pub(crate) fn with_icon(self) -> Self {
        let url = self.link.as_deref().and_then(|link| PageUrl::parse(link).ok());
        Self { icon: url.as_ref().map(icon_path), ..self }
    }

    /// Returns `true` if there is anything to show below the snippet.
    pub(crate) fn has_extras(&self) -> bool {
        self.cached_page.is_some()
            || self.similar.is_some()
            || self.more.is_some()
            || self.duplicates.is_some()
            || !self.missing.is_empty()
    }
}

/// Returns a sitelink, unless its URL is invalid.
fn sitelink(sitelink: &Sitelink) -> Option<Link> {
    let url = PageUrl::parse(&sitelink.url).ok()?;
    Some(Link { href: url.as_str().to_string(), text: sitelink.title.clone() })
}

/// Describes who pinned a result, and the synonyms that it contains.
fn curation_lines(explanation: &HitExplanation, messages: &Messages) -> Vec<String> {
    let pinned = explanation.pinned.as_ref().map(|by| fill(messages.pinned_by, &[&by.by, &by.at]));
    let synonyms = explanation.words.iter().filter_map(|word| word.synonym.as_ref());
    let synonyms = synonyms.map(|of| fill(messages.synonym_of, &[&of.text, &of.synonym_of]));
    pinned.into_iter().chain(synonyms).collect()
}

fn score_components(explanation: &HitExplanation) -> Vec<ScoreComponent> {
    let line = |part: &Contribution| ScoreComponent {
        part: part.part,
        value: format!("{:.3}", part.value),
        weight: format!("{:.2}", part.weight),
        gives: format!("{:.3}", part.gives),
    };
    explanation.parts.iter().map(line).collect()
}

/// Returns the decoded path segments without characters that could disturb the layout.
fn path_segments(url: &PageUrl) -> Vec<String> {
    url.as_url()
        .path()
        .split('/')
        .map(|step| {
            percent_decode_str(step).decode_utf8_lossy().chars().filter(|c| is_harmless(*c)).collect()
        })
        .filter(|step: &String| !step.trim().is_empty())
        .take(MAX_SEGMENTS)
        .collect()
}

/// Returns breadcrumbs without characters that could disturb the layout.
fn breadcrumbs(names: &[String]) -> Vec<String> {
    let names = names.iter().map(|name| name.chars().filter(|c| is_harmless(*c)).collect::<String>());
    names.filter(|name| !name.trim().is_empty()).take(MAX_SEGMENTS).collect()
}

/// Returns `true` unless the character is a control character or changes the writing direction.
fn is_harmless(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_segments_are_harmless() {
        let url = PageUrl::parse("http://a.b/x%E2%80%AEy/%00%0a//%ff/a/b/c/d/e/f/g/h").unwrap();
        assert_eq!(path_segments(&url), ["xy", "\u{fffd}", "a", "b", "c", "d", "e", "f"]);
        assert_eq!(breadcrumbs(&["Home".into(), "\u{202e}".into(), "Do\u{7}cs".into()]), ["Home", "Docs"]);
    }
}
