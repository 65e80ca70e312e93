//! Reader for arbitrary XML: the text between its tags, one line per element.

use pharos_core::work::spend_work;
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, Event};

use super::ExtractedDocument;
use crate::dom::visible_text::collapse_whitespace;

/// Maximum length of a line in characters.
const MAX_LINE: usize = 100_000;

/// Reads a document; its title is the first `title` element.
pub(super) fn read(text: &str) -> Option<ExtractedDocument> {
    let mut document = ExtractedDocument::default();
    let mut is_xml = false;
    let mut line = String::new();
    walk(text, |event| {
        match event {
            XmlEvent::Start(_) | XmlEvent::End(_) => {
                is_xml = true;
                let ended = collapse_whitespace(&std::mem::take(&mut line), MAX_LINE);
                if matches!(event, XmlEvent::End("title")) && document.title.is_empty() {
                    document.title.clone_from(&ended);
                }
                document.push_line(&ended);
            }
            XmlEvent::Text(text) => line.push_str(text),
            XmlEvent::Attribute(..) => {}
        }
        !document.is_full()
    });
    is_xml.then_some(document)
}

/// Event of a walk over XML; names have no prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum XmlEvent<'a> {
    Start(&'a str),
    /// An attribute of the element that was started last.
    Attribute(&'a str, &'a str),
    Text(&'a str),
    End(&'a str),
}

/// Walks over XML without building a tree, until `each` returns `false` or an error occurs. The text after an error
/// cannot be distinguished from markup. Only the predefined XML entities are resolved, and nothing is loaded.
pub(super) fn walk(text: &str, mut each: impl FnMut(XmlEvent<'_>) -> bool) {
    let mut reader = Reader::from_str(text);
    let settings = reader.config_mut();
    settings.check_end_names = false;
    settings.allow_unmatched_ends = true;
    settings.allow_dangling_amp = true;
    let mut position = 0;
    while let Ok(event) = reader.read_event() {
        spend_work(1 + reader.buffer_position() - position);
        position = reader.buffer_position();
        let goes_on = match &event {
            Event::Start(element) | Event::Empty(element) => {
                let name = element.local_name();
                let mut goes_on = each(XmlEvent::Start(name.as_ref()));
                for attribute in element.attributes().with_checks(false).flatten() {
                    goes_on &=
                        each(XmlEvent::Attribute(attribute.key.local_name().as_ref(), &attribute.value));
                }
                if matches!(event, Event::Empty(_)) {
                    goes_on &= each(XmlEvent::End(name.as_ref()));
                }
                goes_on
            }
            Event::End(element) => each(XmlEvent::End(element.local_name().as_ref())),
            Event::Text(text) => each(XmlEvent::Text(&text.xml10_content())),
            Event::CData(text) => each(XmlEvent::Text(&text.xml10_content())),
            Event::GeneralRef(entity) => each(XmlEvent::Text(&character(entity))),
            Event::Eof => false,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => true,
        };
        if !goes_on {
            return;
        }
    }
}

/// Returns the character of a reference, or a space for entities that only a document type could define.
fn character(entity: &BytesRef<'_>) -> String {
    match entity.resolve_char_ref() {
        Ok(Some(character)) => character.to_string(),
        _ => resolve_xml_entity(&entity.xml10_content()).unwrap_or(" ").to_string(),
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::work::measure_work;

    use super::*;

    #[test]
    fn text_of_any_xml() {
        let read =
            read("<a><title>Lamps &amp; more</title><b x='1'>one<!-- no --> two</b><![CDATA[<three>]]></a>")
                .unwrap();
        assert_eq!(
            (read.title.as_str(), read.text.as_str()),
            ("Lamps & more", "Lamps & more\none two\n<three>")
        );
        assert_eq!(super::read("no markup"), None);
    }

    /// At most two steps per byte, and any number of events.
    #[test]
    fn the_work_on_a_document_is_linear() {
        let units = [
            "<a>",
            "</a>",
            "<a/>",
            "<a b=c ",
            "<a b='c'>x",
            "&",
            "&amp;",
            "&a",
            "&#65;",
            "<!-- x -->",
            "<!--",
            "<![CDATA[x]]>",
            "<![CDATA[",
            "]]>",
            "<?x?>",
            "<!DOCTYPE a [",
            "<",
            "x ",
            "<title>x</title>",
        ];
        for length in [8_000, 64_000] {
            for unit in units {
                let text = format!("<a>{}", unit.repeat(length / unit.len()));
                let steps = measure_work(|| read(&text)).1;
                assert!(steps <= 2 * text.len() as u64, "{unit}: {steps} steps for {} bytes", text.len());
            }
        }
    }

    #[test]
    fn entities_do_not_multiply() {
        let bomb = "<!DOCTYPE a [<!ENTITY x '&y;&y;&y;'><!ENTITY y 'lol'>]><a>&x;&#65;</a>";
        assert_eq!(read(bomb).unwrap().text, "A");
    }
}
