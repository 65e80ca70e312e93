//! Tree construction: html5ever parses, the sink here builds the [`Dom`] and bounds the cost of hostile pages.
//!
//! Three limits apply: [`MAX_NODES`], [`MAX_DEPTH`], and the number of attributes, which is reduced before parsing
//! ([`prefilter`]).

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeBuilder, TreeBuilderOpts, TreeSink};
use html5ever::{Attribute, ExpandedName, QualName, TokenizerResult, local_name, ns};

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
        let tokenizer = Tokenizer::new(LimitedTreeBuilder { builder }, TokenizerOpts::default());
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
}

impl TokenSink for LimitedTreeBuilder {
    type Handle = Handle;

    fn process_token(&self, token: Token, line_number: u64) -> TokenSinkResult<Handle> {
        let sink = &self.builder.sink;
        if sink.is_full() && token != Token::EOFToken {
            return TokenSinkResult::Continue;
        }
        if let Token::TagToken(tag) = &token {
            match tag.kind {
                TagKind::StartTag if sink.open_depth.get() >= MAX_DEPTH && !stays_shallow(&tag.name) => {
                    return TokenSinkResult::Continue;
                }
                // Closing a tag need not change the tree, so the sink is not notified; the next insertion corrects
                // the depth.
                TagKind::EndTag => sink.open_depth.set(sink.open_depth.get().saturating_sub(1)),
                TagKind::StartTag => {}
            }
        }
        self.builder.process_token(token, line_number)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Returns `true` for elements that cannot nest deeply: empty ones, those with text content, and links, which close
/// each other. They are too important to be lost at the depth limit, and a `<script>` without its tag would become
/// content.
fn stays_shallow(name: &html5ever::LocalName) -> bool {
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
}

impl DomSink {
    fn new(without_scripts: bool, bytes: usize) -> Self {
        let mut dom = Dom { nodes: Vec::new(), without_scripts, errors: 0 };
        dom.push(NodeData::Other);
        dom.push(NodeData::Other);
        let max_nodes = (MIN_NODE_LIMIT + bytes / BYTES_PER_NODE).min(MAX_NODES);
        DomSink { dom: RefCell::new(dom), max_nodes, open_depth: Cell::new(0) }
    }

    fn is_full(&self) -> bool {
        self.dom.borrow().nodes.len() >= self.max_nodes
    }

    fn create(&self, data: NodeData) -> Handle {
        let name = match &data {
            NodeData::Element(element) => element.name.clone(),
            _ => no_name(),
        };
        Handle { id: self.dom.borrow_mut().push(data), name }
    }

    fn insert_child(&self, parent: NodeId, child: &NodeOrText<Handle>, sibling: Option<NodeId>) {
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
        x.id == y.id
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Attribute>) {
        if let NodeData::Element(element) = &mut self.dom.borrow_mut().node(target.id).data {
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
            dom.insert(new_parent.id, child, None);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, target: &Handle) -> bool {
        self.dom.borrow().element(target.id).is_some_and(|e| e.is_integration_point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
