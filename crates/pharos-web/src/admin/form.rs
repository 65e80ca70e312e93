//! Fields of a submitted form.

use url::form_urlencoded;

/// Maximum number of fields that are read.
const MAX_FIELDS: usize = 10_000;

/// The fields of a form in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct FormFields(Vec<(String, String)>);

impl FormFields {
    /// Parses a request body of type `application/x-www-form-urlencoded`.
    pub(super) fn parse(body: &[u8]) -> Self {
        let fields = form_urlencoded::parse(body).take(MAX_FIELDS);
        Self(fields.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// Returns the first field with this name, or an empty string.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(n, _)| n == name).map_or("", |(_, value)| value)
    }

    /// Returns all fields with this name.
    pub(crate) fn values<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let form = FormFields::parse("site=a&site=b%26c&empty=&name=%E7%81%AF+%E5%A1%94".as_bytes());
        assert_eq!((form.text("site"), form.text("name"), form.text("none")), ("a", "灯 塔", ""));
        assert_eq!(form.values("site").collect::<Vec<_>>(), ["a", "b&c"]);
    }

    proptest::proptest! {
        #[test]
        fn no_body_is_too_odd(body in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
            let form = FormFields::parse(&body);
            proptest::prop_assert!(form.values("a").count() <= body.len());
        }
    }
}
