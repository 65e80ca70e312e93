//! Page snapshot (网页快照): the stored page made harmless for display, with the words of the query coloured.
//!
//! The page is parsed, and a new one is written from the tree: only elements and attributes on a list, every text
//! escaped. Nothing of the original markup is copied, so there is no second reading of it by a browser that could
//! differ from ours ("mutation XSS" lives on such differences: raw text elements, comments, SVG and MathML, where
//! the parsing rules change; none of them is ever written, except style sheets without any `<`).
//! It is still meant to be shown in a sandboxed frame: two locks are better than one.

use std::collections::HashMap;

use pharos_core::PageUrl;
use pharos_text::stem::stem_term;
use pharos_text::{Analyser, normalise};
use url::Url;

use crate::dom::{Dom, Element, NodeData, NodeId, Step};
use crate::media::MediaKind;
use crate::{charset, links, media};

/// A snapshot ends here; pages can be made whose tree is much larger than their text.
const MAX_BYTES: usize = 8 << 20;

/// Colours for query words: classes `w0` to `w9`.
const COLOURS: usize = 10;

/// The stored page as the content of a `<body>`, with every occurrence of the `n`-th term in
/// `<mark class="w{n % 10}">`.
///
/// Terms are words as in the query; each is analysed as the query was, so one may stand for several words.
/// Nothing in the result runs, loads or submits anything; links are absolute and open elsewhere.
/// What is neither HTML nor text gives an empty snapshot.
pub fn safe_html(url: &PageUrl, content_type: Option<&str>, body: &[u8], terms: &[String]) -> String {
    let kind = media::kind(content_type, body);
    if !matches!(kind, MediaKind::Html | MediaKind::PlainText | MediaKind::Xml) {
        return String::new();
    }
    let (text, _) = charset::decode(body, content_type, url.host());
    let mut writer = Writer { out: String::new(), colours: Colours::of(terms) };
    if kind == MediaKind::Html {
        let dom = Dom::parse_whole(&text);
        let base = links::base_url(&dom, url);
        writer.document(&dom, &base);
    } else {
        writer.out.push_str("<pre>\n");
        writer.text(&text[..text.floor_char_boundary(MAX_BYTES)]);
        writer.out.push_str("</pre>");
    }
    writer.out
}

/// What becomes of an element.
enum Fate {
    /// Written, under its own name.
    Keep,
    /// Written under another name.
    Rename(&'static str),
    /// Only its contents are written.
    Unwrap,
    /// Neither it nor its contents are written.
    Drop,
    /// A picture: what it is said to show is written instead.
    Describe,
    /// A style sheet: written if it loads nothing.
    Style,
}

fn fate(element: &Element) -> Fate {
    match element.tag() {
        "a" | "abbr" | "address" | "article" | "aside" | "b" | "bdi" | "bdo" | "big" | "blockquote"
        | "br" | "caption" | "center" | "cite" | "code" | "col" | "colgroup" | "dd" | "del" | "details"
        | "dfn" | "dir" | "div" | "dl" | "dt" | "em" | "figcaption" | "figure" | "font" | "footer" | "h1"
        | "h2" | "h3" | "h4" | "h5" | "h6" | "header" | "hgroup" | "hr" | "i" | "ins" | "kbd" | "li"
        | "main" | "mark" | "menu" | "nav" | "ol" | "p" | "pre" | "q" | "rp" | "rt" | "ruby" | "s"
        | "samp" | "section" | "small" | "span" | "strike" | "strong" | "sub" | "summary" | "sup"
        | "table" | "tbody" | "td" | "tfoot" | "th" | "thead" | "time" | "tr" | "tt" | "u" | "ul" | "var"
        | "wbr" => Fate::Keep,
        "form" | "fieldset" => Fate::Rename("div"),
        "listing" | "xmp" | "plaintext" => Fate::Rename("pre"),
        "img" => Fate::Describe,
        "style" => Fate::Style,
        // SVG and MathML have no tag name here: whole subtrees go.
        "" | "applet" | "area" | "audio" | "base" | "canvas" | "datalist" | "embed" | "frame"
        | "frameset" | "iframe" | "input" | "link" | "map" | "meta" | "noembed" | "noframes" | "noscript"
        | "object" | "option" | "param" | "script" | "select" | "source" | "template" | "textarea"
        | "title" | "track" | "video" => Fate::Drop,
        // `<html>`, `<body>`, buttons, labels, elements nobody knows: no harm in their text.
        _ => Fate::Unwrap,
    }
}

/// Attributes that say how something looks or what it means, and nothing else.
fn is_harmless(attribute: &str) -> bool {
    matches!(
        attribute,
        "abbr"
            | "align"
            | "bgcolor"
            | "border"
            | "cellpadding"
            | "cellspacing"
            | "class"
            | "color"
            | "colspan"
            | "datetime"
            | "dir"
            | "face"
            | "headers"
            | "height"
            | "hidden"
            | "id"
            | "lang"
            | "noshade"
            | "nowrap"
            | "open"
            | "reversed"
            | "rowspan"
            | "rules"
            | "scope"
            | "size"
            | "span"
            | "start"
            | "title"
            | "type"
            | "valign"
            | "value"
            | "width"
    )
}

/// Does a style sheet or attribute load nothing, whatever the browser?
///
/// Rather too strict: besides `url()`, CSS loads by `@import` and by strings in `image-set()`, old browsers run
/// `expression()` and bindings, and escapes can spell any of these differently.
fn is_harmless_style(css: &str) -> bool {
    const SUSPICIOUS: [&str; 11] = [
        "url",
        "import",
        "expression",
        "image",
        "src",
        "behavior",
        "binding",
        "script",
        "element(",
        "charset",
        "namespace",
    ];
    let css = css.to_lowercase();
    !css.contains(['\\', '<', '\0']) && !SUSPICIOUS.iter().any(|word| css.contains(word))
}

fn is_void(tag: &str) -> bool {
    matches!(tag, "br" | "col" | "hr" | "wbr")
}

struct Writer {
    out: String,
    colours: Colours,
}

impl Writer {
    fn document(&mut self, dom: &Dom, base: &Url) {
        let mut open: Vec<(NodeId, &str)> = Vec::new();
        let mut walk = dom.walk(dom.root());
        while let Some(step) = walk.next() {
            if self.out.len() > MAX_BYTES {
                break;
            }
            match step {
                Step::Enter(id) => match dom.data(id) {
                    NodeData::Text(text) => self.text(text),
                    NodeData::Element(element) => match fate(element) {
                        Fate::Keep => self.open(id, element.tag(), element, base, &mut open),
                        Fate::Rename(name) => self.open(id, name, element, base, &mut open),
                        Fate::Unwrap => {}
                        Fate::Drop => walk.skip_contents(id),
                        Fate::Describe => {
                            self.description(element);
                            walk.skip_contents(id);
                        }
                        Fate::Style => {
                            self.style(dom, id);
                            walk.skip_contents(id);
                        }
                    },
                    NodeData::Other => {}
                },
                Step::Leave(id) => {
                    if let Some((_, tag)) = open.pop_if(|(opened, _)| *opened == id) {
                        self.close(tag);
                    }
                }
            }
        }
        while let Some((_, tag)) = open.pop() {
            self.close(tag);
        }
    }

    fn open<'a>(
        &mut self,
        id: NodeId,
        tag: &'a str,
        element: &Element,
        base: &Url,
        open: &mut Vec<(NodeId, &'a str)>,
    ) {
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in element.attributes() {
            if is_harmless(name) || (name == "style" && is_harmless_style(value)) {
                self.attribute(name, value);
            } else if name == "href"
                && tag == "a"
                && let Ok(url) = PageUrl::join_to(base, value)
            {
                self.attribute("href", url.as_str());
                self.attribute("rel", "noopener noreferrer nofollow");
                self.attribute("target", "_blank");
            }
        }
        self.out.push('>');
        if tag == "pre" {
            // The parser drops one line feed after the tag; this is the one.
            self.out.push('\n');
        }
        if !is_void(tag) {
            open.push((id, tag));
        }
    }

    fn close(&mut self, tag: &str) {
        self.out.push_str("</");
        self.out.push_str(tag);
        self.out.push('>');
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push_str("=\"");
        self.escaped(value);
        self.out.push('"');
    }

    fn description(&mut self, image: &Element) {
        if let Some(alt) = image.attribute("alt").filter(|alt| !alt.trim().is_empty()) {
            self.out.push_str("<span class=\"img\">");
            self.text(alt);
            self.out.push_str("</span>");
        }
    }

    fn style(&mut self, dom: &Dom, id: NodeId) {
        let css: String = dom
            .walk(id)
            .filter_map(|step| match step {
                Step::Enter(id) => match dom.data(id) {
                    NodeData::Text(text) => Some(&**text),
                    _ => None,
                },
                Step::Leave(_) => None,
            })
            .collect();
        if is_harmless_style(&css) && !css.trim().is_empty() {
            self.out.push_str("<style>");
            self.out.push_str(&css);
            self.out.push_str("</style>");
        }
    }

    /// A text with its query words marked.
    fn text(&mut self, text: &str) {
        let mut written = 0;
        for (start, end, colour) in self.colours.spans(text) {
            if self.out.len() > MAX_BYTES {
                return;
            }
            self.escaped(&text[written..start]);
            self.out.push_str("<mark class=\"w");
            self.out.push_str(&colour.to_string());
            self.out.push_str("\">");
            self.escaped(&text[start..end]);
            self.out.push_str("</mark>");
            written = end;
        }
        self.escaped(&text[written..]);
    }

    fn escaped(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'', '\0']) {
            let (before, special) = rest.split_at(at);
            self.out.push_str(before);
            self.out.push_str(match special.as_bytes()[0] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                b'\'' => "&#39;",
                _ => "\u{FFFD}",
            });
            rest = &special[1..];
        }
        self.out.push_str(rest);
    }
}

/// Which words have which colour.
struct Colours {
    analyser: Analyser,
    terms: HashMap<String, usize>,
}

impl Colours {
    fn of(terms: &[String]) -> Self {
        let mut colours = HashMap::new();
        for (n, term) in terms.iter().enumerate() {
            let words = Analyser::shared().tokens(term).into_iter().map(|token| token.text);
            for word in words.chain([normalise(term)]) {
                if let Some(stem) = stem_term(&word) {
                    colours.entry(stem).or_insert(n % COLOURS);
                }
                colours.entry(word).or_insert(n % COLOURS);
            }
        }
        // Words that no dictionary has are found like any other.
        Self { analyser: Analyser::knowing(terms.iter().map(String::as_str)), terms: colours }
    }

    /// The marked spans of a text, in order, not overlapping. Words are found as the index finds them; where two
    /// overlap, the one that begins first wins, and of those the longest.
    fn spans(&self, text: &str) -> Vec<(usize, usize, usize)> {
        let mut spans: Vec<(usize, usize, usize)> = Vec::new();
        if self.terms.is_empty() {
            return spans;
        }
        self.analyser.for_each_index_token(text, |term, start, end, _| {
            let Some(&colour) = self.terms.get(term) else { return };
            match spans.last_mut() {
                Some(last) if last.0 == start => *last = (start, end.max(last.1), colour),
                Some(last) if start < last.1 => {}
                _ => spans.push((start, end, colour)),
            }
        });
        spans
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn safe(html: &str, terms: &[&str]) -> String {
        let terms: Vec<String> = terms.iter().map(|t| t.to_string()).collect();
        safe_html(
            &PageUrl::parse("http://example.org/d/").unwrap(),
            Some("text/html"),
            html.as_bytes(),
            &terms,
        )
    }

    /// Reads a snapshot as a browser would, and says what is wrong with it.
    fn harm(snapshot: &str) -> Option<String> {
        let dom = Dom::parse_whole(snapshot);
        for (_, element) in dom.elements(dom.root()) {
            let tag = element.tag();
            if !matches!(tag, "html" | "head" | "body") && !matches!(fate(element), Fate::Keep | Fate::Style)
            {
                return Some(format!("element {}", element.local_name()));
            }
            for (name, value) in element.attributes() {
                let is_own = matches!(name, "href" | "rel" | "target" if tag == "a");
                if !is_harmless(name) && name != "style" && !is_own {
                    return Some(format!("attribute {name} of {tag}"));
                }
                if name == "href" && !value.starts_with("http://") && !value.starts_with("https://") {
                    return Some(format!("address {value}"));
                }
                if name == "style" && !is_harmless_style(value) {
                    return Some(format!("style {value}"));
                }
            }
        }
        None
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

    #[test]
    fn query_words_are_coloured_as_the_index_finds_them() {
        assert_eq!(
            safe("<p>Light, LIGHT and 北京大学生<script>light</script>", &["light", "大学"]),
            "<p><mark class=\"w0\">Light</mark>, <mark class=\"w0\">LIGHT</mark> and \
             北京<mark class=\"w1\">大学</mark>生</p>"
        );
        assert_eq!(safe("a&lt;b", &["B"]), "a&lt;<mark class=\"w0\">b</mark>");
    }

    #[test]
    fn plain_text_is_preformatted() {
        let url = PageUrl::parse("http://example.org/").unwrap();
        assert_eq!(
            safe_html(&url, Some("text/plain"), b"<script>alert(1)</script> a", &["a".into()]),
            "<pre>\n&lt;script&gt;alert(1)&lt;/script&gt; <mark class=\"w0\">a</mark></pre>"
        );
        assert_eq!(safe_html(&url, Some("image/png"), b"\x89PNG", &[]), "");
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
            assert_eq!(harm(&safe(&attribute, &[])), None, "{style}");
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
        ] {
            let snapshot = safe(page, &["alert", "x", "img"]);
            assert_eq!(harm(&snapshot), None, "{page}\n{snapshot}");
            // Reading and writing again changes nothing dangerous either.
            assert_eq!(harm(&safe(&snapshot, &[])), None, "{page}\n{snapshot}");
        }
    }

    #[test]
    fn multiplying_pages_end() {
        let fonts: String = (0..400).map(|i| format!("<font size={i} title={}>", "x".repeat(100))).collect();
        assert!(safe(&format!("{fonts}{}", "<p>x".repeat(3_000)), &[]).len() < MAX_BYTES + (1 << 20));
        assert!(safe(&"x ".repeat(500_000), &["x"]).len() < MAX_BYTES + (1 << 20));
    }

    const SOUP: &str = "(</?(p|a|b|div|table|tr|td|caption|svg|math|mi|mtext|mglyph|style|script|title|select|option|template|noscript|noembed|xmp|form|h1|li|html|body|textarea|iframe|desc|foreignObject|annotation-xml|font|img|plaintext|listing)( (href|src|onerror|style|id|title|encoding|class|alt)=(\"|'|)(javascript:1|text/html|x|url\\(x\\)|color:red|</style>|--&gt;|&quot;|<img src=x onerror=y>)(\"|'|))?( |/)?>|x|<!--|-->|--!>|<!\\[CDATA\\[|\\]\\]>|&lt;|&quot;|\"|'|<|\0|>){0,40}";

    proptest! {
        #[test]
        fn any_tag_soup_is_disarmed(soup in SOUP) {
            let snapshot = safe(&soup, &["x", "javascript"]);
            prop_assert_eq!(harm(&snapshot), None, "{}", snapshot);
        }

        #[test]
        fn any_bytes_give_a_snapshot(body in prop::collection::vec(any::<u8>(), 0..300)) {
            let url = PageUrl::parse("http://example.org/").unwrap();
            for kind in ["text/html", "text/plain"] {
                prop_assert_eq!(harm(&safe_html(&url, Some(kind), &body, &["a".into()])), None);
            }
        }
    }
}
