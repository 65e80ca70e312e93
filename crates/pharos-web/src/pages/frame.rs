//! The frame of every page, and rendering of templates.

use askama::Template;
use axum::http::header::{CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE, SET_COOKIE, VARY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use pharos_core::Config;

use super::assets;
use crate::messages::{Lang, Messages};
use crate::server::visitor::{Theme, Visitor};

/// Data of the elements around the content of a page.
pub(crate) struct PageFrame {
    pub(crate) lang: Lang,
    pub(crate) messages: &'static Messages,
    /// URL of the style sheet, with its version.
    pub(crate) style: &'static str,
    pub(crate) version: &'static str,
    /// Maximum length of a query in characters.
    pub(crate) query_limit: usize,
    pub(crate) languages: [SwitchOption<Lang>; 2],
    pub(crate) theme: Theme,
    pub(crate) themes: [SwitchOption<Theme>; 3],
    /// URL of the script, with its version.
    pub(crate) script: &'static str,
    /// Keyboard shortcuts are on.
    pub(crate) has_keys: bool,
}

/// An option of a switch.
pub(crate) struct SwitchOption<T> {
    pub(crate) value: T,
    pub(crate) href: String,
    pub(crate) is_current: bool,
}

/// A link and its text.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) href: String,
    pub(crate) text: String,
}

impl PageFrame {
    /// Builds the frame for a visitor.
    pub(crate) fn new(visitor: &Visitor, config: &Config) -> Self {
        let lang = |lang: Lang| SwitchOption {
            value: lang,
            href: visitor.href_with("lang", lang.code()),
            is_current: lang == visitor.lang,
        };
        let theme = |theme: Theme| SwitchOption {
            value: theme,
            href: visitor.href_with("theme", theme.code()),
            is_current: theme == visitor.theme,
        };
        Self {
            lang: visitor.lang,
            messages: visitor.messages(),
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
            Theme::Auto => self.messages.theme_auto,
            Theme::Light => self.messages.theme_light,
            Theme::Dark => self.messages.theme_dark,
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
