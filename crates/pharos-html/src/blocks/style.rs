//! Visual style and size of an element, from its attributes and its inline style.

use crate::dom::Element;

/// Declared width or height of an element. A missing value counts as the full available space (100 %).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DeclaredSize {
    Missing,
    Pixels(f32),
    Percent(f32),
}

impl DeclaredSize {
    /// Reads `width="80%"`, `height="300"` or the same property of the inline style. As in a browser, the style
    /// wins.
    pub(crate) fn from_element(element: &Element, name: &str) -> DeclaredSize {
        let styled = element.attribute("style").and_then(|style| declaration(style, name));
        styled.or(element.attribute(name)).map_or(DeclaredSize::Missing, DeclaredSize::parse)
    }

    fn parse(text: &str) -> DeclaredSize {
        let text = text.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let Ok(number) = text[..digits].parse::<f32>() else { return DeclaredSize::Missing };
        match text[digits..].trim() {
            "%" => DeclaredSize::Percent(number),
            "" | "px" => DeclaredSize::Pixels(number),
            // Approximate browser values.
            "em" | "rem" => DeclaredSize::Pixels(number * 16.0),
            "pt" => DeclaredSize::Pixels(number * 4.0 / 3.0),
            _ => DeclaredSize::Missing,
        }
    }

    /// Returns the size in pixels, relative to a page of `page` pixels.
    pub(crate) fn pixels(self, page: f32) -> f32 {
        match self {
            DeclaredSize::Missing => page,
            DeclaredSize::Pixels(pixels) => pixels,
            DeclaredSize::Percent(percent) => percent / 100.0 * page,
        }
    }
}

/// Font, colour, size and background of an element's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextStyle {
    font: String,
    colour: String,
    size: String,
    background: String,
}

impl TextStyle {
    /// Applies the attributes and the style of an element; properties that it does not set stay.
    pub(crate) fn with_element(mut self, element: &Element) -> TextStyle {
        let style = element.attribute("style").unwrap_or_default();
        let properties = [
            (&mut self.font, "face", "font-family"),
            (&mut self.colour, "color", "color"),
            (&mut self.size, "size", "font-size"),
            (&mut self.background, "bgcolor", "background-color"),
        ];
        for (field, attribute, property) in properties {
            if let Some(value) = declaration(style, property).or(element.attribute(attribute)) {
                *field = value.trim().to_ascii_lowercase();
            }
        }
        self
    }
}

/// Returns the value of a property in an inline style; the last declaration wins.
fn declaration<'a>(style: &'a str, property: &str) -> Option<&'a str> {
    let declarations = style.split(';').filter_map(|declaration| declaration.split_once(':'));
    let named = declarations.filter(|(name, _)| name.trim().eq_ignore_ascii_case(property));
    named.map(|(_, value)| value.trim().trim_end_matches("!important").trim_end()).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::Dom;

    fn first(html: &str, size: impl Fn(&Element) -> DeclaredSize) -> DeclaredSize {
        let dom = Dom::parse(html);
        let table = dom.elements(dom.root()).find(|(_, e)| e.tag() == "table");
        table.map_or(DeclaredSize::Missing, |(_, e)| size(e))
    }

    #[test]
    fn sizes_are_read_from_attributes_and_style() {
        let width = |e: &Element| DeclaredSize::from_element(e, "width");
        assert_eq!(first("<table width=80%>", width), DeclaredSize::Percent(80.0));
        assert_eq!(first("<table width=600>", width), DeclaredSize::Pixels(600.0));
        assert_eq!(
            first("<table width=1 style='Width: 50% !important'>", width),
            DeclaredSize::Percent(50.0)
        );
        assert_eq!(first("<table width=wide>", width), DeclaredSize::Missing);
        assert_eq!(DeclaredSize::Missing.pixels(800.0), 800.0);
    }
}
