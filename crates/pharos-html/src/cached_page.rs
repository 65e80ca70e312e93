//! Cached page (网页快照): the stored page sanitised for display, with the query terms highlighted and linked.
//!
//! The page is parsed, and a new page is written from the tree: only elements and attributes on an allow-list, with
//! all text escaped. No original markup is copied, so a browser cannot read the result differently from the parser
//! here. "Mutation XSS" exploits such differences in raw-text elements, comments, SVG and MathML, where the parsing
//! rules change. None of them is ever written, except style sheets without any `<`. The result is still meant for a
//! sandboxed frame, as a second line of defence.

mod allow_list;
mod highlights;
mod writer;

use pharos_core::{PageObject, PageUrl};

pub use self::highlights::{COLOURS, HighlightOptions};
use self::writer::CachedPageWriter;
use crate::dom::Dom;
use crate::formats::media_type::{self, MediaKind};
use crate::{charset, links};

/// A page sanitised for display.
#[derive(Clone, Debug, Default)]
pub struct CachedPage {
    /// Content of a `<body>`, with every occurrence of the `n`-th term in `<mark class="w{n % 10}">`.
    pub html: String,
    /// Number of occurrences of each colour.
    pub counts: [usize; COLOURS],
}

/// Sanitises a stored page in its own layout.
///
/// Nothing in the result runs, loads or submits anything. Links of the page are absolute and open in another
/// window, and no id or class of the page collides with those added here. Documents other than HTML, XML and text
/// give an empty page.
pub fn sanitise_page(
    url: &PageUrl,
    content_type: Option<&str>,
    body: &[u8],
    options: &HighlightOptions,
) -> CachedPage {
    let kind = media_type::detect(content_type, body);
    if !has_layout(kind) {
        return CachedPage::default();
    }
    let (text, _) = charset::decode(body, content_type, url.host());
    let mut writer = CachedPageWriter::new(options);
    if kind == MediaKind::Html {
        let dom = Dom::parse_unfiltered(&text);
        let base = links::base_url(&dom, url);
        writer.document(&dom, &base);
    } else {
        writer.preformatted(&text);
    }
    writer.finish()
}

/// Renders a cleaned page under its heading: its HTML if present, otherwise its text in paragraphs. The result is
/// as safe as that of [`sanitise_page`].
pub fn sanitise_cleaned(url: &PageUrl, page: &PageObject, options: &HighlightOptions) -> CachedPage {
    let mut writer = CachedPageWriter::new(options);
    let heading = if page.content_title.is_empty() { &page.title } else { &page.content_title };
    let has_content = !page.html.trim().is_empty() || !page.text.trim().is_empty();
    // Texts usually begin with their heading.
    let has_heading = page.html.contains("<h1") || page.text.trim_start().starts_with(heading.trim());
    if has_content && !has_heading {
        writer.element("h1", heading);
    }
    if page.html.trim().is_empty() {
        for paragraph in page.text.lines().filter(|line| !line.trim().is_empty()) {
            writer.element("p", paragraph);
        }
    } else {
        // The HTML written by cleaning is safe; it is parsed again so that one allow-list applies everywhere.
        writer.document(&Dom::parse_unfiltered(&page.html), url.as_url());
    }
    writer.finish()
}

/// Returns `true` if a page of this type can be displayed in its own layout. `body` decides if the header does not.
pub fn is_displayable(content_type: Option<&str>, body: &[u8]) -> bool {
    has_layout(media_type::detect(content_type, body))
}

fn has_layout(kind: MediaKind) -> bool {
    matches!(kind, MediaKind::Html | MediaKind::PlainText | MediaKind::Xml)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::allow_list::{ElementAction, element_action, is_allowed_attribute, is_safe_style};
    use super::writer::MAX_BYTES;
    use super::*;
    use crate::dom::Element;

    fn url() -> PageUrl {
        PageUrl::parse("http://example.org/d/").unwrap()
    }

    fn show(html: &str, terms: &[&str]) -> CachedPage {
        let terms: Vec<String> = terms.iter().map(|t| t.to_string()).collect();
        let options = HighlightOptions { terms: &terms, next_label: "\"on\"" };
        sanitise_page(&url(), Some("text/html"), html.as_bytes(), &options)
    }

    fn safe(html: &str, terms: &[&str]) -> String {
        show(html, terms).html
    }

    /// Parses a cached page as a browser would, and returns the first violation of the allow-list.
    fn violation(cached: &str) -> Option<String> {
        let dom = Dom::parse_unfiltered(cached);
        for (id, element) in dom.elements(dom.root()) {
            let tag = element.tag();
            if !matches!(tag, "html" | "head" | "body")
                && !matches!(element_action(element), ElementAction::Keep | ElementAction::Style)
            {
                return Some(format!("element {}", element.local_name()));
            }
            for (name, value) in element.attributes() {
                let is_own = matches!(name, "href" | "rel" | "target" | "aria-label" if tag == "a");
                if !is_allowed_attribute(name) && name != "style" && !is_own {
                    return Some(format!("attribute {name} of {tag}"));
                }
                if name == "style" && !is_safe_style(value) {
                    return Some(format!("style {value}"));
                }
                if name == "id" && highlights::is_reserved_id(value) && tag != "mark" {
                    return Some(format!("id {value} of {tag}"));
                }
                let has_colour = value.split_ascii_whitespace().any(highlights::is_reserved_class);
                if name == "class" && has_colour && !is_jump(element) && tag != "mark" {
                    return Some(format!("class {value} of {tag}"));
                }
            }
            if tag == "a" {
                let href = element.attribute("href").unwrap_or_default();
                let leads_away = href.starts_with("http://") || href.starts_with("https://");
                let is_of_page = leads_away && element.attribute("target") == Some("_blank");
                if !is_of_page && !is_jump(element) {
                    return Some(format!("link {href}"));
                }
                let around = std::iter::successors(dom.parent(id), |id| dom.parent(*id));
                if around.filter_map(|id| dom.element(id)).any(|outer| outer.tag() == "a") {
                    return Some(format!("link {href} in a link"));
                }
            }
        }
        None
    }

    /// Returns `true` for a jump link added by the sanitiser.
    fn is_jump(element: &Element) -> bool {
        let href = element.attribute("href").and_then(|href| href.strip_prefix('#'));
        element.attribute("target") == Some("_self") && href.is_some_and(highlights::is_reserved_id)
    }

    /// Returns the ids of occurrences and the targets of jump links, both in document order.
    fn occurrence_ids(cached: &str) -> (Vec<String>, Vec<String>) {
        let dom = Dom::parse_unfiltered(cached);
        let elements = || dom.elements(dom.root()).map(|(_, element)| element);
        let highlights = elements().filter(|e| e.tag() == "mark").filter_map(|e| e.attribute("id"));
        let jumps = elements().filter(|e| is_jump(e)).filter_map(|e| e.attribute("href"));
        (highlights.map(String::from).collect(), jumps.map(|href| href[1..].to_string()).collect())
    }

    #[test]
    fn an_ordinary_page_stays_readable() {
        assert_eq!(
            safe(
                "<title>t</title><body bgcolor=red onload=x()><h1 class=c onclick=y()>A &lt; B</h1>\
                  <p style='color: red'>text <a href='../x?a=1&amp;b=2#f'>link</a><br><img src=i.png alt='a \"view\"'></p>",
                &[]
            ),
            "<h1 class=\"c\">A &lt; B</h1><p style=\"color: red\">text <a href=\"http://example.org/x?a=1&amp;b=2\" \
             rel=\"noopener noreferrer nofollow\" target=\"_blank\">link</a><br>\
             <span class=\"img\">a &quot;view&quot;</span></p>"
        );
    }

    /// The text is highlighted because the unsafe style that would hide it is removed.
    #[test]
    fn text_of_removed_hiding_styles_is_marked() {
        let shown = safe("<p style='display:none;background:url(x)'>lamp", &["lamp"]);
        assert_eq!(shown, format!("<p>{}</p>", mark(0, 1, 1, "lamp")));
    }

    fn mark(colour: usize, number: usize, next: usize, text: &str) -> String {
        format!(
            "<mark class=\"w{colour}\" id=\"w{colour}-{number}\">\
             <a href=\"#w{colour}-{next}\" target=\"_self\">{text}</a></mark>"
        )
    }

    #[test]
    fn query_words_are_coloured_as_the_index_finds_them() {
        let shown = show("<p>Light, LIGHT and 北京大学生<script>light</script>", &["light", "大学", "ship"]);
        let (first, second) = (mark(0, 1, 2, "Light"), mark(0, 2, 1, "LIGHT"));
        let university = mark(1, 1, 1, "大学");
        assert_eq!(shown.html, format!("<p>{first}, {second} and 北京{university}生</p>"));
        assert_eq!(shown.counts[..3], [2, 1, 0]);
        assert_eq!(safe("a&lt;b", &["B"]), format!("a&lt;{}", mark(0, 1, 1, "b")));
    }

    #[test]
    fn occurrences_in_links_are_followed_by_an_arrow() {
        let page = "<p>lamp <a href=/x>the <b>lamp</b> and lamp</a>, a lamp <a name=y>old lamp</a> <a href=/z>lamp</a>";
        let html = safe(page, &["lamp"]);
        let behind = |next| {
            format!(
                "</a><a class=\"next w0\" href=\"#w0-{next}\" target=\"_self\" aria-label=\"&quot;on&quot;\">↓</a>"
            )
        };
        let inside = |n| format!("<mark class=\"w0\" id=\"w0-{n}\">lamp</mark>");
        let link = |path| {
            format!(
                "<a href=\"http://example.org/{path}\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">"
            )
        };
        let expected = [
            format!("<p>{} {}the <b>{}</b> and {}", mark(0, 1, 2, "lamp"), link("x"), inside(2), inside(3)),
            format!("{}, a {} ", behind(4), mark(0, 4, 5, "lamp")),
            format!("<span>old {}</span> {}{}{}</p>", mark(0, 5, 6, "lamp"), link("z"), inside(6), behind(1)),
        ];
        assert_eq!(html, expected.concat());
        assert_eq!(violation(&html), None);
    }

    #[test]
    fn links_are_never_nested() {
        for page in [
            "<a href=/1>lamp<table><tr><td><a href=/2>lamp</a></table>lamp</a> lamp",
            "<a href=/1>lamp<marquee><a href=/2>lamp</a></marquee> lamp</a>",
            "<a href=/1><object><a href=/2>lamp</a></object>lamp</a>lamp",
            "<a href=/1><p>lamp<a href=/2>lamp<p>lamp",
            "<p><a href=/1><button><p>lamp</p></button> lamp</a> lamp",
            "<table><a href=/1>lamp<tr><td>lamp</a>lamp<caption><a href=/2>lamp",
        ] {
            let html = safe(page, &["lamp"]);
            assert_eq!(violation(&html), None, "{page}\n{html}");
            assert!(html.contains("<mark"), "{html}");
        }
    }

    #[test]
    fn reserved_ids_classes_and_targets_are_removed() {
        let page = "<mark id=w0-1 class='w0 big'>x</mark><p id=' w0-2' class=w1>y</p><a id=w0-3 name=w0-4 \
                    class='next w0' target=_self href='#w0-1'>z</a><a href=# target=_top>t</a><div id=w5>u</div>";
        assert_eq!(
            safe(page, &[]),
            "<mark id=\"page-w0-1\" class=\"big\">x</mark><p id=\"page-w0-2\">y</p><a id=\"page-w0-3\" \
             class=\"next\" href=\"http://example.org/d/\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">z</a>\
             <a href=\"http://example.org/d/\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">t</a>\
             <div id=\"w5\">u</div>"
        );
        let (ids, _) = occurrence_ids(&safe(&format!("{page} lamp lamp"), &["lamp"]));
        assert_eq!(ids, ["page-w0-1", "w0-1", "w0-2"]);
    }

    #[test]
    fn hidden_occurrences_are_not_marked() {
        let html =
            safe("lamp <p hidden>lamp <b>lamp</b></p><div style='Display : none'>lamp</div> lamp", &["lamp"]);
        assert_eq!(html.matches("<mark").count(), 2, "{html}");
        assert!(html.ends_with(&mark(0, 2, 1, "lamp")), "{html}");
    }

    #[test]
    fn a_cleaned_page_is_shown_with_its_heading() {
        let terms = ["lamp".to_string()];
        let options = HighlightOptions { terms: &terms, next_label: "" };
        let page = PageObject {
            title: "A <lamp>".into(),
            html: "<p>It shines.</p>".into(),
            ..PageObject::default()
        };
        let shown = sanitise_cleaned(&url(), &page, &options);
        let heading = format!("<h1>A &lt;{}&gt;</h1>", mark(0, 1, 1, "lamp"));
        assert_eq!(shown.html, format!("{heading}<p>It shines.</p>"));
        assert_eq!(shown.counts[0], 1);
        let own = PageObject { html: "<h1>Its own</h1><script>x</script>".into(), ..page.clone() };
        assert_eq!(sanitise_cleaned(&url(), &own, &options).html, "<h1>Its own</h1>");
        let text = PageObject { html: String::new(), text: "one\n\n<b>two</b>".into(), ..page.clone() };
        assert_eq!(
            sanitise_cleaned(&url(), &text, &options).html,
            format!("{heading}<p>one</p><p>&lt;b&gt;two&lt;/b&gt;</p>")
        );
        let plain = PageObject { html: String::new(), text: "A <lamp>\nand more".into(), ..page.clone() };
        assert!(sanitise_cleaned(&url(), &plain, &options).html.starts_with("<p>A &lt;"));
        let empty = PageObject { html: String::new(), ..page };
        assert_eq!(sanitise_cleaned(&url(), &empty, &options).html, "");
    }

    #[test]
    fn plain_text_is_preformatted() {
        let terms = ["a".to_string()];
        let options = HighlightOptions { terms: &terms, next_label: "" };
        assert_eq!(
            sanitise_page(&url(), Some("text/plain"), b"<script>alert(1)</script> a", &options).html,
            format!("<pre>\n&lt;script&gt;alert(1)&lt;/script&gt; {}</pre>", mark(0, 1, 1, "a"))
        );
        assert_eq!(sanitise_page(&url(), Some("image/png"), b"\x89PNG", &options).html, "");
        assert!(
            is_displayable(Some("text/plain"), b"") && !is_displayable(Some("application/pdf"), b"%PDF-1.4")
        );
    }

    #[test]
    fn styles_stay_only_when_they_load_nothing() {
        assert_eq!(safe("<style>p { color: red }</style>x", &[]), "<style>p { color: red }</style>x");
        for style in [
            "@import 'x'",
            "a{background:url(x)}",
            "a{background:u\\72l(x)}",
            "a{b:image-set('x' 1x)}",
            "a{b:expression(alert(1))}",
            "</style><img src=x onerror=alert(1)>",
            "<!-- a -->",
        ] {
            assert!(!safe(&format!("<style>{style}</style>x"), &[]).contains("<style"), "{style}");
            let attribute = format!("<p style=\"{style}\">x");
            assert_eq!(violation(&safe(&attribute, &[])), None, "{style}");
        }
    }

    #[test]
    fn hostile_pages_are_disarmed() {
        for page in [
            "<script>alert(1)</script><SCRIPT/src=//x></SCRIPT><script>//<!--<script></script>--><img src=x onerror=alert(1)>",
            "<svg onload=alert(1)><script>alert(1)</script></svg><svg/onload=alert(1)//",
            "<svg></p><style><a id=\"</style><img src=1 onerror=alert(1)>\">",
            "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
            "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
            "<math><annotation-xml encoding=text/html><style><img src=x onerror=alert(1)></style></annotation-xml></math>",
            "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
            "<noembed><img title=\"</noembed><img src=x onerror=alert(1)>\"></noembed>",
            "<textarea><p title=\"</textarea><img src=x onerror=alert(1)>\">",
            "<title><img title=\"</title><img src=x onerror=alert(1)>\">",
            "<xmp><p title=\"</xmp><img src=x onerror=alert(1)>\">",
            "<iframe srcdoc='<script>alert(1)</script>' src=javascript:alert(1)></iframe><frameset><frame src=x>",
            "<a href='java\nscript:alert(1)'>x</a><a href=' &#1;javascript:alert(1)'>x</a><a href=vbscript:x>y</a>",
            "<a href='data:text/html,<script>alert(1)</script>'>x</a><a href='http://[bad'>z</a>",
            "<a href=\"http://x/&quot;onmouseover=&quot;alert(1)\">x</a><p title='\"><script>alert(1)</script>'>",
            "<img src=x onerror=alert(1) alt='<script>alert(1)</script>'><img srcset='x 1x'><picture><source srcset=x>",
            "<base href='javascript:alert(1)//'><meta http-equiv=refresh content='0;url=javascript:alert(1)'><a href=x>y</a>",
            "<form action=javascript:alert(1)><input type=image src=x formaction=x><button formaction=x>b</button></form>",
            "<object data=x><embed src=x><applet code=x><param name=a><link rel=stylesheet href=x><body background=x>",
            "<video src=x poster=y><audio src=x><track src=x><table background=x><td background=y>",
            "<p style='background:url(x)'><p style=\"background:u&#92;72l(x)\"><p ONCLICK=x oNmOuSeOvEr=y>",
            "<template><script>alert(1)</script></template><select><template><img src=x></template></select>",
            "<plaintext><img src=x onerror=alert(1)></plaintext>",
            "<!--><img src=x onerror=alert(1)>--><![CDATA[<img src=x onerror=alert(1)>]]><?xml <img src=x onerror=alert(1)>?>",
            "<p id='</p><script>alert(1)</script>'><custom-element is=x onfocus=alert(1) tabindex=1 autofocus>c</custom-element>",
            "<details open ontoggle=alert(1)><summary>s</summary></details><marquee onstart=alert(1)>m</marquee>",
            "\0<scr\0ipt>alert(1)</scr\0ipt><img\0src=x onerror=alert(1)>",
            "<a href=/x target=_top>x</a><a href=#w0-1 target=_self class='next w0' id=w0-1>x</a><mark id=w1-1>img</mark>",
            "<area href=x target=_top><form target=_top><base target=_top><a href=x aria-label=x ping=/y download>x</a>",
        ] {
            let cached = safe(page, &["alert", "x", "img"]);
            assert_eq!(violation(&cached), None, "{page}\n{cached}");
            // Sanitising the result again does not make it unsafe either.
            assert_eq!(violation(&safe(&cached, &[])), None, "{page}\n{cached}");
        }
    }

    #[test]
    fn multiplying_pages_end() {
        let fonts: String = (0..400).map(|i| format!("<font size={i} title={}>", "x".repeat(100))).collect();
        assert!(safe(&format!("{fonts}{}", "<p>x".repeat(3_000)), &[]).len() < MAX_BYTES + (1 << 20));
        assert!(safe(&"x ".repeat(500_000), &["x"]).len() < MAX_BYTES + (1 << 20));
    }

    const SOUP: &str = "(</?(p|a|b|div|table|tr|td|caption|svg|math|mi|mtext|mglyph|style|script|title|select|option|template|noscript|noembed|xmp|form|h1|li|html|body|textarea|iframe|desc|foreignObject|button|marquee|annotation-xml|font|img|plaintext|listing)( (href|src|onerror|style|id|title|encoding|class|alt|target|hidden)=(\"|'|)(javascript:1|/y|#w0-1|_self|w0-1|w0|text/html|x|url\\(x\\)|color:red|</style>|--&gt;|&quot;|<img src=x onerror=y>)(\"|'|))?( |/)?>|x|<!--|-->|--!>|<!\\[CDATA\\[|\\]\\]>|&lt;|&quot;|\"|'|<|\0|>){0,40}";

    proptest! {
        #[test]
        fn any_tag_soup_is_disarmed(soup in SOUP) {
            let cached = safe(&soup, &["x", "javascript"]);
            prop_assert_eq!(violation(&cached), None, "{}", cached);
        }

        #[test]
        fn any_bytes_give_a_safe_page(body in prop::collection::vec(any::<u8>(), 0..300)) {
            let terms = ["a".to_string()];
            let options = HighlightOptions { terms: &terms, next_label: "on" };
            for kind in ["text/html", "text/plain"] {
                prop_assert_eq!(violation(&sanitise_page(&url(), Some(kind), &body, &options).html), None);
            }
            let page = PageObject { html: String::from_utf8_lossy(&body).into(), ..PageObject::default() };
            prop_assert_eq!(violation(&sanitise_cleaned(&url(), &page, &options).html), None);
        }

        /// The jump links of any page visit the occurrences of a term in order.
        #[test]
        fn jumps_lead_through_any_page(soup in SOUP) {
            let (ids, jumps) = occurrence_ids(&safe(&soup, &["x"]));
            let ours: Vec<_> = ids.iter().filter(|id| highlights::is_reserved_id(id)).collect();
            let expected: Vec<_> = (1..=ours.len()).map(|n| format!("w0-{n}")).collect();
            prop_assert_eq!(ours, expected.iter().collect::<Vec<_>>());
            prop_assert!(jumps.iter().all(|jump| ids.contains(jump)), "{:?} {:?}", ids, jumps);
            let numbers: Vec<usize> = jumps.iter().map(|jump| jump[3..].parse().unwrap()).collect();
            if let Some((last, before)) = numbers.split_last() {
                prop_assert_eq!(*last, 1);
                prop_assert!(before.is_sorted_by(|a, b| a < b));
            }
        }
    }
}
