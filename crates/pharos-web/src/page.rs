//! The frame of every page, and how a template becomes a response.

use askama::Template;
use axum::http::header::{CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE, SET_COOKIE, VARY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use pharos_core::Config;

use crate::assets;
use crate::visitor::Visitor;
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
    pub(crate) languages: Vec<LanguageChoice>,
}

/// One entry of the language switch.
pub(crate) struct LanguageChoice {
    pub(crate) lang: Lang,
    pub(crate) href: String,
    pub(crate) current: bool,
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
        let choice =
            |lang| LanguageChoice { lang, href: visitor.href_in(lang), current: lang == visitor.lang };
        Self {
            lang: visitor.lang,
            words: visitor.words(),
            style: assets::style_href(),
            version: pharos_core::VERSION,
            query_limit: config.query.max_length,
            languages: Lang::ALL.map(choice).into(),
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
    if let Some(cookie) = visitor.cookie().and_then(|c| HeaderValue::try_from(c).ok()) {
        headers.insert(SET_COOKIE, cookie);
    }
    response
}
