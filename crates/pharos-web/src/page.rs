//! The frame of every page, and how a template becomes a response.

use askama::Template;
use axum::http::header::{CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE, SET_COOKIE, VARY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use pharos_core::Config;

use crate::assets;
use crate::visitor::{Theme, Visitor};
use crate::words::{Lang, Words};

/// What every page shows around its content.
pub(crate) struct Frame {
    pub(crate) lang: Lang,
    pub(crate) words: &'static Words,
    /// Where the style sheet is, with its version.
    pub(crate) style: &'static str,
    pub(crate) version: &'static str,
    /// The longest query, in characters.
    pub(crate) query_limit: usize,
    pub(crate) languages: [Choice<Lang>; 2],
    pub(crate) theme: Theme,
    pub(crate) themes: [Choice<Theme>; 3],
    /// Where the script is.
    pub(crate) script: &'static str,
    /// Do single keys mean something?
    pub(crate) has_keys: bool,
}

/// One entry of a switch.
pub(crate) struct Choice<T> {
    pub(crate) of: T,
    pub(crate) href: String,
    pub(crate) is_current: bool,
}

/// A link and what it says.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) href: String,
    pub(crate) text: String,
}

impl Frame {
    /// The frame for this visitor.
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

    /// What a theme is called.
    pub(crate) fn theme_name(&self, theme: &Theme) -> &'static str {
        match theme {
            Theme::Auto => self.words.theme_auto,
            Theme::Light => self.words.theme_light,
            Theme::Dark => self.words.theme_dark,
        }
    }
}

/// The page as a response, in the visitor's language.
pub(crate) fn respond(visitor: &Visitor, status: StatusCode, page: &impl Template) -> Response {
    let html = match page.render() {
        Ok(html) => html,
        Err(error) => {
            tracing::error!(%error, "cannot write a page");
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
