//! Visual style and size of an element, from its attributes and its inline style.

use crate::dom::Element;

/// Declared width or height of an element. A missing value counts as the full available space (100 %).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Extent {
    Missing,
    Pixels(f32),
    Percent(f32),
}

impl Extent {
    /// Reads `width="80%"`, `height="300"` or the same property of the inline style. As in a browser, the style
    /// wins.
    pub(crate) fn of(element: &Element, name: &str) -> Extent {
        let styled = element.attribute("style").and_then(|style| declaration(style, name));
        styled.or(element.attribute(name)).map_or(Extent::Missing, Extent::parse)
    }

    fn parse(text: &str) -> Extent {
        let text = text.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let Ok(number) = text[..digits].parse::<f32>() else { return Extent::Missing };
        match text[digits..].trim() {
            "%" => Extent::Percent(number),
            "" | "px" => Extent::Pixels(number),
            // Approximate browser values.
            "em" | "rem" => Extent::Pixels(number * 16.0),
            "pt" => Extent::Pixels(number * 4.0 / 3.0),
            _ => Extent::Missing,
        }
    }

    /// Returns the size in pixels, relative to a page of `page` pixels.
    pub(crate) fn pixels(self, page: f32) -> f32 {
        match self {
            Extent::Missing => page,
            Extent::Pixels(pixels) => pixels,
            Extent::Percent(percent) => percent / 100.0 * page,
        }
    }
}

/// Font, colour, size and background of an element's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    font: String,
    colour: String,
    size: String,
    background: String,
}

impl Look {
    /// Applies the attributes and the style of an element; properties that it does not set stay.
    pub(crate) fn and(mut self, element: &Element) -> Look {
        let style = element.attribute("style").unwrap_or_default();
        let told = [
            (&mut self.font, "face", "font-family"),
            (&mut self.colour, "color", "color"),
            (&mut self.size, "size", "font-size"),
            (&mut self.background, "bgcolor", "background-color"),
        ];
        for (field, attribute, property) in told {
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

    fn first(html: &str, look: impl Fn(&Element) -> Extent) -> Extent {
        let dom = Dom::parse(html);
        let table = dom.elements(dom.root()).find(|(_, e)| e.tag() == "table");
        table.map_or(Extent::Missing, |(_, e)| look(e))
    }

    #[test]
    fn sizes_are_read_from_attributes_and_style() {
        let width = |e: &Element| Extent::of(e, "width");
        assert_eq!(first("<table width=80%>", width), Extent::Percent(80.0));
        assert_eq!(first("<table width=600>", width), Extent::Pixels(600.0));
        assert_eq!(first("<table width=1 style='Width: 50% !important'>", width), Extent::Percent(50.0));
        assert_eq!(first("<table width=wide>", width), Extent::Missing);
        assert_eq!(Extent::Missing.pixels(800.0), 800.0);
    }
}
