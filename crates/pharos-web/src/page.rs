//! The frame of every page, and rendering of templates.

use askama::Template;
use axum::http::header::{CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE, SET_COOKIE, VARY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use pharos_core::Config;

use crate::assets;
use crate::visitor::{Theme, Visitor};
use crate::words::{Lang, Words};

/// Data of the elements around the content of a page.
pub(crate) struct Frame {
    pub(crate) lang: Lang,
    pub(crate) words: &'static Words,
    /// URL of the style sheet, with its version.
    pub(crate) style: &'static str,
    pub(crate) version: &'static str,
    /// Maximum length of a query in characters.
    pub(crate) query_limit: usize,
    pub(crate) languages: [Choice<Lang>; 2],
    pub(crate) theme: Theme,
    pub(crate) themes: [Choice<Theme>; 3],
    /// URL of the script, with its version.
    pub(crate) script: &'static str,
    /// Keyboard shortcuts are on.
    pub(crate) has_keys: bool,
}

/// An option of a switch.
pub(crate) struct Choice<T> {
    pub(crate) of: T,
    pub(crate) href: String,
    pub(crate) is_current: bool,
}

/// A link and its text.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) href: String,
    pub(crate) text: String,
}

impl Frame {
    /// Builds the frame for a visitor.
    pub(crate) fn new(visitor: &Visitor, config: &Config) -> Self {
        let lang = |lang: Lang| Choice {
            of: lang,
            href: visitor.href_with("lang", lang.code()),
            is_current: lang == visitor.lang,
        };
        let theme = |theme: Theme| Choice {
            of: theme,
            href: visitor.href_with("theme", theme.code()),
            is_current: theme == visitor.theme,
        };
        Self {
            lang: visitor.lang,
            words: visitor.words(),
            style: assets::style_href(),
            version: pharos_core::VERSION,
            query_limit: config.query.max_length,
            languages: Lang::ALL.map(lang),
            theme: visitor.theme,
            themes: Theme::ALL.map(theme),
            script: assets::script_href(),
            has_keys: visitor.has_keys,
        }
    }

    /// Returns the name of a theme.
    pub(crate) fn theme_name(&self, theme: &Theme) -> &'static str {
        match theme {
            Theme::Auto => self.words.theme_auto,
            Theme::Light => self.words.theme_light,
            Theme::Dark => self.words.theme_dark,
        }
    }
}

/// Renders a page in the visitor's language.
pub(crate) fn respond(visitor: &Visitor, status: StatusCode, page: &impl Template) -> Response {
    let html = match page.render() {
        Ok(html) => html,
        Err(error) => {
            tracing::error!(%error, "cannot render a page");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    };
    let mut response = (status, html).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_LANGUAGE, HeaderValue::from_static(visitor.lang.tag()));
    headers.insert(VARY, HeaderValue::from_static("Accept-Language, Cookie"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    for cookie in visitor.cookies().filter_map(|cookie| HeaderValue::try_from(cookie).ok()) {
        headers.append(SET_COOKIE, cookie);
    }
    response
}
