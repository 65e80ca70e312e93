//! Tree construction: html5ever parses, the sink here builds the [`Dom`], and a layer between them bounds the cost of
//! hostile pages.
//!
//! The tree builder scans its open elements and its active formatting elements at nearly every tag, so their number
//! ([`MAX_OPEN`], [`MAX_FORMATTING`]), the depth ([`MAX_DEPTH`]) and the number of attributes ([`prefilter`]) are
//! limited. The remaining work is measured: every question and operation of the tree builder is a *step*. A page that has
//! used its [nodes](MAX_NODES) or its [steps](STEPS_PER_BYTE) is not parsed any further; the rest becomes plain text.
//! The work on a page is therefore linear in its length.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{
    ElementFlags, NodeOrText, QuirksMode, Tracer, TreeBuilder, TreeBuilderOpts, TreeSink,
};
use html5ever::{Attribute, ExpandedName, LocalName, QualName, TokenizerResult, local_name, ns};

use pharos_core::work::spend_work;

use super::{Dom, Element, NodeData, NodeId};
use crate::dom::prefilter::{self, MAX_ATTRIBUTES};

/// Maximum number of nodes; content beyond is ignored. The tree then takes some 100 MB.
const MAX_NODES: usize = 1_000_000;

/// Minimum number of input bytes per node. Ordinary pages have fifteen bytes or more per node; unclosed formatting
/// elements multiply nodes.
const BYTES_PER_NODE: usize = 4;

/// Number of nodes allowed for any page regardless of its size.
const MIN_NODE_LIMIT: usize = 20_000;

/// Maximum nesting depth. Tags of deeper elements are ignored, as browsers do at about the same depth. The tree
/// builder scans all open elements at nearly every tag, so depth costs quadratic time.
const MAX_DEPTH: u32 = 500;

/// Maximum number of steps of the tree builder per input byte. Ordinary pages take less than two.
const STEPS_PER_BYTE: u64 = 32;

/// Number of steps allowed for any page regardless of its size.
const MIN_STEP_LIMIT: u64 = 500_000;

/// Maximum number of handles that the tree builder keeps: open elements and active formatting elements. Tags of
/// further elements are ignored.
const MAX_OPEN: usize = 1_000;

/// Maximum number of formatting elements among the handles that the tree builder keeps, where an element that is both
/// open and active counts twice. Further ones are ignored. Unclosed formatting elements are created again in every
/// following block (HTML standard §13.2.4.3).
const MAX_FORMATTING: usize = 128;

/// Maximum number of attributes of a formatting element. The tree builder compares them with those of all active
/// formatting elements.
const MAX_FORMATTING_ATTRIBUTES: usize = 16;

/// Number of tags between two counts of the handles that the tree builder keeps.
const TAGS_PER_COUNT: u32 = 32;

/// Maximum input length. It exceeds any page that a crawl accepts and keeps lengths within the parser's counters.
const MAX_INPUT: usize = 256 << 20;

impl Dom {
    /// Parses a page for its content; any text gives a tree. Scripts, style sheets and the attributes only they use
    /// are left out.
    pub(crate) fn parse(html: &str) -> Dom {
        // Scripting counts as enabled, as in a user's browser. Otherwise an image in a `<noscript>` in the head
        // would end the head, and the metadata after it would be parsed as content.
        Self::build(&prefilter::strip_scripts(bounded(html)), true)
    }

    /// Parses a page as a browser without scripts does: the contents of `<noscript>` belong to the page.
    pub(crate) fn parse_without_scripts(html: &str) -> Dom {
        Self::build(&prefilter::strip_scripts(bounded(html)), false)
    }

    /// Parses a page without removing anything but excess attributes.
    pub(crate) fn parse_unfiltered(html: &str) -> Dom {
        Self::build(&prefilter::limit_attributes(bounded(html)), true)
    }

    fn build(html: &str, scripting_enabled: bool) -> Dom {
        let options = TreeBuilderOpts { scripting_enabled, ..TreeBuilderOpts::default() };
        let builder = TreeBuilder::new(DomSink::new(!scripting_enabled, html.len()), options);
        let tokenizer = Tokenizer::new(LimitedTreeBuilder::new(builder), TokenizerOpts::default());
        let input = BufferQueue::default();
        input.push_back(StrTendril::from_slice(html));
        // The tokenizer pauses after each script and at charset declarations; neither matters here.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        tokenizer.end();
        tokenizer.sink.builder.sink.finish()
    }
}

fn bounded(html: &str) -> &str {
    &html[..html.floor_char_boundary(MAX_INPUT)]
}

/// Sits between tokenizer and tree builder and enforces the limits.
struct LimitedTreeBuilder {
    builder: TreeBuilder<Handle, DomSink>,
    /// Handles that the tree builder keeps, as of the last count.
    kept: Cell<KeptHandles>,
    tags_until_count: Cell<u32>,
    /// Receives the rest of a page whose budget is used up.
    rest: RefCell<Option<RestOfPage>>,
}

impl LimitedTreeBuilder {
    fn new(builder: TreeBuilder<Handle, DomSink>) -> Self {
        let tags_until_count = Cell::new(TAGS_PER_COUNT);
        LimitedTreeBuilder { builder, kept: Cell::default(), tags_until_count, rest: RefCell::default() }
    }

    /// Counts the handles that the tree builder keeps, now and then.
    fn count_handles(&self) {
        let left = self.tags_until_count.get() - 1;
        self.tags_until_count.set(if left == 0 { TAGS_PER_COUNT } else { left });
        if left == 0 {
            let counter = HandleCounter(Cell::default());
            self.builder.trace_handles(&counter);
            let kept = counter.0.get();
            self.builder.sink.add_steps(kept.all);
            self.kept.set(kept);
        }
    }

    /// Returns `false` for a start tag that would exceed a limit.
    fn admits(&self, tag: &Tag) -> bool {
        let kept = self.kept.get();
        let is_deep = self.builder.sink.open_depth.get() >= MAX_DEPTH || kept.all >= MAX_OPEN;
        let is_too_deep = is_deep && !stays_shallow(&tag.name);
        let is_too_formatted = kept.formatting >= MAX_FORMATTING && multiplies(&tag.name);
        !is_too_deep && !is_too_formatted
    }

    /// Prepares a tag for the tree builder, or returns `None` for a tag to ignore.
    fn limit_tag(&self, mut tag: Tag) -> Option<Tag> {
        self.count_handles();
        let sink = &self.builder.sink;
        if tag.kind == TagKind::EndTag {
            // Closing a tag need not change the tree, so the sink is not notified; the next insertion corrects the
            // depth.
            sink.open_depth.set(sink.open_depth.get().saturating_sub(1));
            return Some(tag);
        }
        if !self.admits(&tag) {
            return None;
        }
        if is_formatting(&tag.name) {
            limit_formatting_attributes(&mut tag);
            sink.add_steps(self.kept.get().formatting * (1 + tag.attrs.len()));
        }
        Some(tag)
    }
}

impl TokenSink for LimitedTreeBuilder {
    type Handle = Handle;

    fn process_token(&self, token: Token, line_number: u64) -> TokenSinkResult<Handle> {
        let sink = &self.builder.sink;
        if matches!(token, Token::EOFToken) {
            return self.builder.process_token(token, line_number);
        }
        if sink.is_exhausted() {
            let mut rest = self.rest.borrow_mut();
            return rest.get_or_insert_with(|| RestOfPage::new(sink)).process_token(sink, token);
        }
        match token {
            Token::TagToken(tag) => match self.limit_tag(tag) {
                Some(tag) => self.builder.process_token(Token::TagToken(tag), line_number),
                None => TokenSinkResult::Continue,
            },
            token => self.builder.process_token(token, line_number),
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Number of handles that the tree builder keeps.
#[derive(Clone, Copy, Default)]
struct KeptHandles {
    all: usize,
    /// Formatting elements. Those that are both open and active count twice.
    formatting: usize,
}

/// Counts the handles that the tree builder keeps. The builder itself does not publish their number.
struct HandleCounter(Cell<KeptHandles>);

impl Tracer for HandleCounter {
    type Handle = Handle;

    fn trace_handle(&self, handle: &Handle) {
        let KeptHandles { all, formatting } = self.0.get();
        let formatting = formatting + usize::from(is_formatting(&handle.name.local));
        self.0.set(KeptHandles { all: all + 1, formatting });
    }
}

/// Takes the rest of a page as plain text, without the contents of scripts and style sheets.
struct RestOfPage {
    text_parent: NodeId,
    /// The open element whose contents are dropped.
    dropped: Option<LocalName>,
}

impl RestOfPage {
    /// Creates the element that receives the text: the last child of the body, or of the document.
    fn new(sink: &DomSink) -> Self {
        let mut dom = sink.dom.borrow_mut();
        let parent =
            dom.elements(dom.root()).find(|(_, e)| e.tag() == "body").map_or(dom.root(), |(id, _)| id);
        let name = QualName::new(None, ns!(html), local_name!("div"));
        let text_parent = dom.push(NodeData::Element(Element {
            name,
            attributes: Vec::new(),
            template_contents: None,
            is_integration_point: false,
        }));
        dom.insert(parent, text_parent, None);
        RestOfPage { text_parent, dropped: None }
    }

    fn process_token(&mut self, sink: &DomSink, token: Token) -> TokenSinkResult<Handle> {
        let text = match token {
            Token::CharacterTokens(text) if self.dropped.is_none() => text,
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => match raw_kind(&tag.name) {
                Some(kind) => {
                    self.dropped = Some(tag.name);
                    return TokenSinkResult::RawData(kind);
                }
                None => StrTendril::from_char(' '),
            },
            Token::TagToken(tag) => {
                self.dropped.take_if(|name| *name == tag.name);
                StrTendril::from_char(' ')
            }
            _ => return TokenSinkResult::Continue,
        };
        sink.dom.borrow_mut().insert_text(self.text_parent, &text, None);
        TokenSinkResult::Continue
    }
}

/// Returns the kind of contents of elements whose contents are neither displayed nor parsed.
fn raw_kind(name: &LocalName) -> Option<RawKind> {
    match *name {
        local_name!("script") => Some(RawKind::ScriptData),
        local_name!("style") | local_name!("iframe") | local_name!("noembed") | local_name!("noframes") => {
            Some(RawKind::Rawtext)
        }
        _ => None,
    }
}

/// Returns `true` for the formatting elements of the HTML standard (§13.2.4.2).
fn is_formatting(name: &LocalName) -> bool {
    matches!(*name, local_name!("a")) || multiplies(name)
}

/// Returns `true` for formatting elements that can be active more than once. A link closes an active link.
fn multiplies(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("b")
            | local_name!("big")
            | local_name!("code")
            | local_name!("em")
            | local_name!("font")
            | local_name!("i")
            | local_name!("nobr")
            | local_name!("s")
            | local_name!("small")
            | local_name!("strike")
            | local_name!("strong")
            | local_name!("tt")
            | local_name!("u")
    )
}

/// Drops excess attributes of a formatting element, but never the target of a link.
fn limit_formatting_attributes(tag: &mut Tag) {
    if tag.attrs.len() > MAX_FORMATTING_ATTRIBUTES {
        if let Some(at) = tag.attrs.iter().position(|a| a.name.local == local_name!("href")) {
            tag.attrs.swap(0, at);
        }
        tag.attrs.truncate(MAX_FORMATTING_ATTRIBUTES);
    }
}

/// Returns `true` for elements that cannot nest deeply: empty ones, those with text content, and links, which close
/// each other. They are too important to be lost at the depth limit, and a `<script>` without its tag would become
/// content.
fn stays_shallow(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("a")
            | local_name!("area")
            | local_name!("base")
            | local_name!("br")
            | local_name!("hr")
            | local_name!("iframe")
            | local_name!("img")
            | local_name!("input")
            | local_name!("link")
            | local_name!("meta")
            | local_name!("noembed")
            | local_name!("noframes")
            | local_name!("noscript")
            | local_name!("plaintext")
            | local_name!("script")
            | local_name!("style")
            | local_name!("textarea")
            | local_name!("title")
            | local_name!("wbr")
            | local_name!("xmp")
    )
}

/// Handle of a node for the tree builder. It carries the name because the builder requests names constantly.
#[derive(Clone)]
struct Handle {
    id: NodeId,
    name: QualName,
}

/// Receives the operations of the tree builder.
struct DomSink {
    dom: RefCell<Dom>,
    /// Depth of the current insertion point, as far as insertions show.
    open_depth: Cell<u32>,
    max_nodes: usize,
    steps: Cell<u64>,
    max_steps: u64,
}

impl DomSink {
    fn new(without_scripts: bool, bytes: usize) -> Self {
        let mut dom = Dom { nodes: Vec::new(), without_scripts, errors: 0 };
        dom.push(NodeData::Other);
        dom.push(NodeData::Other);
        let max_nodes = (MIN_NODE_LIMIT + bytes / BYTES_PER_NODE).min(MAX_NODES);
        let max_steps = MIN_STEP_LIMIT + bytes as u64 * STEPS_PER_BYTE;
        let (open_depth, steps) = (Cell::new(0), Cell::new(0));
        DomSink { dom: RefCell::new(dom), open_depth, max_nodes, steps, max_steps }
    }

    /// Returns `true` if the page has used up its nodes or its steps.
    fn is_exhausted(&self) -> bool {
        self.steps.get() >= self.max_steps || self.dom.borrow().nodes.len() >= self.max_nodes
    }

    fn add_steps(&self, steps: usize) {
        self.steps.set(self.steps.get() + steps as u64);
        spend_work(steps as u64);
    }

    fn create(&self, data: NodeData) -> Handle {
        self.add_steps(1);
        let name = match &data {
            NodeData::Element(element) => element.name.clone(),
            _ => no_name(),
        };
        Handle { id: self.dom.borrow_mut().push(data), name }
    }

    fn insert_child(&self, parent: NodeId, child: &NodeOrText<Handle>, sibling: Option<NodeId>) {
        self.add_steps(1);
        let mut dom = self.dom.borrow_mut();
        match child {
            NodeOrText::AppendNode(child) => {
                dom.insert(parent, child.id, sibling);
                self.open_depth.set(dom.node(child.id).depth);
            }
            NodeOrText::AppendText(text) => {
                dom.insert_text(parent, text, sibling);
                self.open_depth.set(dom.node(parent).depth);
            }
        }
    }
}

fn no_name() -> QualName {
    QualName::new(None, ns!(), local_name!(""))
}

impl TreeSink for DomSink {
    type Handle = Handle;
    type Output = Dom;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Dom {
        self.dom.into_inner()
    }

    fn parse_error(&self, _message: Cow<'static, str>) {
        let mut dom = self.dom.borrow_mut();
        dom.errors = dom.errors.saturating_add(1);
    }

    fn get_document(&self) -> Handle {
        Handle { id: NodeId::DOCUMENT, name: no_name() }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        self.add_steps(1);
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> Handle {
        let template_contents = flags.template.then(|| self.create(NodeData::Other).id);
        self.create(NodeData::Element(Element {
            name,
            attributes,
            template_contents,
            is_integration_point: flags.mathml_annotation_xml_integration_point,
        }))
    }

    fn create_comment(&self, _text: StrTendril) -> Handle {
        self.create(NodeData::Other)
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> Handle {
        self.create(NodeData::Other)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.insert_child(parent.id, &child, None);
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let parent = self.dom.borrow().nodes[sibling.id.index()].parent;
        if let Some(parent) = parent {
            self.insert_child(parent, &child, Some(sibling.id));
        }
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        previous_element: &Handle,
        child: NodeOrText<Handle>,
    ) {
        let has_parent = self.dom.borrow().nodes[element.id.index()].parent.is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous_element, child);
        }
    }

    fn append_doctype_to_document(&self, _name: StrTendril, _public_id: StrTendril, _system_id: StrTendril) {}

    fn get_template_contents(&self, target: &Handle) -> Handle {
        let dom = self.dom.borrow();
        let contents = dom.element(target.id).and_then(|e| e.template_contents).unwrap_or(target.id);
        Handle { id: contents, name: no_name() }
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        self.add_steps(1);
        x.id == y.id
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Attribute>) {
        if let NodeData::Element(element) = &mut self.dom.borrow_mut().node(target.id).data {
            self.add_steps(attributes.len() * element.attributes.len());
            for attribute in attributes {
                if element.attributes.len() < MAX_ATTRIBUTES
                    && !element.attributes.iter().any(|a| a.name == attribute.name)
                {
                    element.attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.dom.borrow_mut().detach(target.id);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let mut dom = self.dom.borrow_mut();
        while let Some(child) = dom.node(node.id).first_child {
            self.add_steps(1);
            dom.insert(new_parent.id, child, None);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, target: &Handle) -> bool {
        self.dom.borrow().element(target.id).is_some_and(|e| e.is_integration_point)
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::work::measure_work;

    use super::*;

    /// Elements of every category that the tree builder distinguishes.
    const ELEMENTS: [&str; 40] = [
        "a",
        "b",
        "code",
        "font",
        "i",
        "nobr",
        "u", // formatting
        "table",
        "caption",
        "colgroup",
        "tbody",
        "tr",
        "td", // tables
        "address",
        "applet",
        "body",
        "button",
        "div",
        "dd",
        "form",
        "frameset",
        "h1",
        "head",
        "html",
        "li",
        "marquee",
        "object",
        "p",
        "pre",
        "select",
        "template",
        "ul", // special
        "option",
        "ruby",
        "rt",
        "span",
        "svg",
        "math",
        "mi",
        "foreignObject", // ordinary and foreign
    ];

    /// Returns a page that repeats mark-up until it has some `bytes`; `#` becomes the number of the repetition.
    fn repeated(unit: &str, bytes: usize) -> String {
        let mut page = String::new();
        let mut number = 0;
        while page.len() < bytes {
            page.push_str(&unit.replace('#', &number.to_string()));
            number += 1;
        }
        page
    }

    /// Asserts that the work on a page stays within its budget, apart from the last tag.
    fn assert_bounded_work(unit: &str, bytes: usize) {
        let page = repeated(unit, bytes);
        let (dom, steps) = measure_work(|| Dom::build(&page, true));
        let budget = MIN_STEP_LIMIT + page.len() as u64 * STEPS_PER_BYTE;
        let last_tag = 8 * (MAX_OPEN * MAX_FORMATTING) as u64 + dom.nodes.len() as u64;
        assert!(steps <= budget + last_tag, "{unit}: {steps} steps for {} bytes", page.len());
    }

    #[test]
    fn the_work_of_repeated_elements_is_linear() {
        for x in ELEMENTS {
            for y in ELEMENTS {
                assert_bounded_work(&format!("<{x} c#><{y}>x"), 8_000);
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn the_work_of_any_mark_up_is_linear(
            tags in proptest::collection::vec((0..ELEMENTS.len(), 0..4), 1..7),
        ) {
            let unit: String = tags
                .into_iter()
                .map(|(element, form)| match (ELEMENTS[element], form) {
                    (name, 0) => format!("<{name}>"),
                    (name, 1) => format!("<{name} c#>"),
                    (name, 2) => format!("</{name}>"),
                    (name, _) => format!("<{name} a=1 b=2 c=# d e f g h>x"),
                })
                .collect();
            assert_bounded_work(&unit, 40_000);
        }
    }

    #[test]
    fn the_rest_of_an_exhausted_page_is_text() {
        let page = format!(
            "<title>T</title>{}<p>the <b>last</b> word<script>if (a<b) x()</script><style>p {{}}</style>, really",
            repeated("<a><b c#><div>x", 300_000)
        );
        let dom = Dom::parse(&page);
        let rest = dom.nodes.iter().rev().find_map(|node| match &node.data {
            NodeData::Text(text) => Some(text.to_string()),
            _ => None,
        });
        let rest = rest.unwrap();
        let words: Vec<_> = rest.split_whitespace().collect();
        assert!(rest.ends_with("really") && words.contains(&"last"), "{}", &rest[rest.len() - 80..]);
        assert!(!words.iter().any(|word| word.contains("if")), "a script is not text");
        assert!(dom.elements(dom.root()).any(|(_, e)| e.tag() == "title"));
    }

    #[test]
    fn templates_count_towards_the_depth() {
        let dom = Dom::parse(&"<template><div>".repeat(20_000));
        assert!(dom.nodes.len() < 3 * MAX_DEPTH as usize, "{}", dom.nodes.len());
    }

    #[test]
    fn a_link_with_many_attributes_keeps_its_target() {
        let attributes: String = (0..150).map(|i| format!(" x{i}=y")).collect();
        let dom = Dom::parse(&format!("<a{attributes} href=/z>text</a>"));
        let (_, link) = dom.elements(dom.root()).find(|(_, e)| e.tag() == "a").unwrap();
        assert_eq!(link.attribute("href"), Some("/z"));
        assert_eq!(link.attributes().count(), MAX_FORMATTING_ATTRIBUTES);
    }

    #[test]
    fn depth_is_limited_and_nothing_is_lost() {
        let page =
            format!("{}<a href=x>deep</a>{}<p>after", "<div>".repeat(100_000), "</div>".repeat(100_000));
        let dom = Dom::parse(&page);
        let deepest = dom.nodes.iter().map(|n| n.depth).max().unwrap();
        assert!(deepest <= MAX_DEPTH + 5, "{deepest}");
        assert_eq!(dom.elements(dom.root()).filter(|(_, e)| matches!(e.tag(), "a" | "p")).count(), 2);
    }

    #[test]
    fn formatting_that_multiplies_stops_at_the_node_limit() {
        let page = "<b><i><p>x</b>".repeat(20_000);
        let nodes = Dom::parse(&page).nodes.len();
        let limit = MIN_NODE_LIMIT + page.len() / BYTES_PER_NODE;
        assert!((limit..limit + 2 * MAX_DEPTH as usize).contains(&nodes), "{nodes}");
    }
}
