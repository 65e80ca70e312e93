//! Parameters of the API, declared once: a struct that derives `Deserialize` and `IntoParams` is both read from the query string
//! and described in the OpenAPI document. Invalid and repeated values are errors, unlike on the pages; unknown names are ignored.
//!
//! ```text
//! String    any text              Integer<1, 100>   a number within its documented range
//! bool      1, 0, true or false   UrlParam          the full URL of a page
//! enum      one of its variants   Option<…>         a parameter that may be missing
//! ```

use std::fmt;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use pharos_core::PageUrl;
use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use url::form_urlencoded;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

use super::problem::ApiError;
use crate::pages::paging::MAX_PAGE;
use crate::server::visitor::MAX_PARAMS;

/// Extracts the parameters of a request.
pub(crate) struct Params<T>(pub(crate) T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        parse_query(parts.uri.query().unwrap_or_default()).map(Self)
    }
}

/// Reads parameters from a query string. The first invalid one is reported by name.
fn parse_query<T: DeserializeOwned>(query: &str) -> Result<T, ApiError> {
    let pairs = form_urlencoded::parse(query.as_bytes()).take(MAX_PARAMS).map(|(name, text)| {
        let value = ParamValue { name: name.to_string(), text: text.into_owned() };
        (name.into_owned(), value)
    });
    T::deserialize(MapDeserializer::new(pairs)).map_err(|error| ApiError::bad_request(error.text))
}

/// An integer from `MIN` to `MAX`, in decimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Integer<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Integer<MIN, MAX> {
    pub(crate) fn get(self) -> u64 {
        self.0
    }

    /// Returns a count, or the default of the configuration within the same range.
    pub(crate) fn count_or(given: Option<Self>, default: usize) -> usize {
        let count = given.map_or((default as u64).clamp(MIN, MAX), Self::get);
        usize::try_from(count).unwrap_or(usize::MAX)
    }
}

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Integer<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let all_digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let number = text.parse().ok().filter(|number| all_digits && (MIN..=MAX).contains(number));
        let wrong = || de::Error::custom(format_args!("must be an integer from {MIN} to {MAX}"));
        number.map(Self).ok_or_else(wrong)
    }
}

impl<const MIN: u64, const MAX: u64> PartialSchema for Integer<MIN, MAX> {
    fn schema() -> RefOr<Schema> {
        integer_schema(MIN, MAX).build().into()
    }
}

impl<const MIN: u64, const MAX: u64> ToSchema for Integer<MIN, MAX> {}

fn integer_schema(min: u64, max: u64) -> ObjectBuilder {
    let format = if max <= u32::MAX.into() { KnownFormat::Int32 } else { KnownFormat::Int64 };
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(format)))
        .minimum(Some(min))
        .maximum(Some(max))
}

/// Number of a result page; the first one unless given.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct PageNumber(Integer<1, { MAX_PAGE as u64 }>);

impl PageNumber {
    pub(crate) fn get(self) -> usize {
        Integer::count_or(Some(self.0), 1)
    }
}

impl Default for PageNumber {
    fn default() -> Self {
        Self(Integer(1))
    }
}

impl PartialSchema for PageNumber {
    fn schema() -> RefOr<Schema> {
        let default = serde_json::Value::from(Self::default().get());
        integer_schema(1, MAX_PAGE as u64).default(Some(default)).build().into()
    }
}

impl ToSchema for PageNumber {}

/// The full URL of a page, as text.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[schema(
    pattern = r"^https?://([A-Za-z0-9-]+\.)*[A-Za-z][A-Za-z0-9-]*(:[0-5]?[0-9]{1,4})?(/[!-~]*)?$",
    max_length = 2047
)]
pub(crate) struct UrlParam(String);

impl UrlParam {
    /// Parses the value of the parameter `url`.
    pub(crate) fn parse(&self) -> Result<PageUrl, ApiError> {
        PageUrl::parse(&self.0).map_err(|_| {
            ApiError::bad_request(
                "parameter `url` is missing or not a valid URL: use ?url=https://www.example.org/",
            )
        })
    }
}

/// A value and the name of its parameter, for error messages.
struct ParamValue {
    name: String,
    text: String,
}

impl IntoDeserializer<'_, ParamError> for ParamValue {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for ParamValue {
    type Error = ParamError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamError> {
        visitor.visit_string(self.text).map_err(|error: ParamError| error.about(&self.name))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamError> {
        match self.text.as_str() {
            "0" | "false" => visitor.visit_bool(false),
            "1" | "true" => visitor.visit_bool(true),
            _ => Err(<ParamError as de::Error>::custom("must be `1` or `0`").about(&self.name)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamError> {
        let name = self.name.clone();
        visitor.visit_some(self).map_err(|error| error.about(&name))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ParamError> {
        let name = self.name.clone();
        visitor.visit_newtype_struct(self).map_err(|error| error.about(&name))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ParamError> {
        visitor.visit_enum(self.text.into_deserializer()).map_err(|error: ParamError| error.about(&self.name))
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// Error in a parameter.
#[derive(Debug)]
struct ParamError {
    text: String,
    /// The text names the parameter.
    is_named: bool,
}

impl ParamError {
    fn about(self, name: &str) -> Self {
        if self.is_named { self } else { Self::named(name, &self.text) }
    }

    fn named(name: &str, text: &str) -> Self {
        Self { text: format!("parameter `{name}` {text}"), is_named: true }
    }
}

impl de::Error for ParamError {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self { text: text.to_string(), is_named: false }
    }

    fn unknown_variant(_variant: &str, expected: &'static [&'static str]) -> Self {
        let words: Vec<String> = expected.iter().map(|word| format!("`{word}`")).collect();
        Self::custom(format_args!("must be {}", words.join(" or ")))
    }

    fn missing_field(name: &'static str) -> Self {
        Self::named(name, "is missing")
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::named(name, "is given more than once")
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for ParamError {}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Sample {
        n: Option<Integer<1, 100>>,
        #[serde(default)]
        page: PageNumber,
        #[serde(default)]
        flag: bool,
        kind: Option<Kind>,
        #[serde(default)]
        url: UrlParam,
        #[serde(rename = "in")]
        text: Option<String>,
    }

    #[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Top,
        Today,
        Rising,
    }

    fn read(query: &str) -> Result<Sample, String> {
        parse_query(query).map_err(|error| match error {
            ApiError::Client { status: StatusCode::BAD_REQUEST, detail, .. } => detail,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn every_kind_of_parameter_is_read() {
        let given = read("n=7&page=2&flag=true&kind=today&url=https://a.example/&in=a+b%26&other=1&other=2");
        let given = given.unwrap();
        assert_eq!((given.n.map(Integer::get), given.page.get(), given.flag), (Some(7), 2, true));
        assert_eq!((given.kind, given.text.as_deref()), (Some(Kind::Today), Some("a b&")));
        assert_eq!(given.url.parse().unwrap().as_str(), "https://a.example/");
        let none = read("").unwrap();
        assert_eq!((none.n, none.page.get(), none.flag, none.kind, none.text), (None, 1, false, None, None));
        assert!(none.url.parse().is_err());
        assert_eq!(Integer::<1, 100>::count_or(None, 500), 100);
    }

    #[test]
    fn numbers_are_checked_and_bounded() {
        assert_eq!(read("n=100").unwrap().n.map(Integer::get), Some(100));
        for wrong in ["", "0", "101", "-1", "abc", "1.5", "%201", "+1", "99999999999999999999999"] {
            let error = read(&format!("n={wrong}")).unwrap_err();
            assert_eq!(error, "parameter `n` must be an integer from 1 to 100", "{wrong:?}");
        }
    }

    #[test]
    fn errors_name_the_parameter() {
        for (query, error) in [
            ("flag=x", "parameter `flag` must be `1` or `0`"),
            ("kind=", "parameter `kind` must be `top` or `today` or `rising`"),
            ("page=0", "parameter `page` must be an integer from 1 to 1000000"),
            ("in=a&in=a", "parameter `in` is given more than once"),
            ("n=1&n=x", "parameter `n` is given more than once"),
        ] {
            assert_eq!(read(query).unwrap_err(), error);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_query_is_too_odd(query in "([a-z=&%+]|n=|page=|kind=|flag=|url=|in=|\\PC){0,40}") {
            let _ = read(&query);
        }
    }
}
