//! A DOM stored in one vector.
//!
//! html5ever builds it by the rules of the HTML standard ([`build`]). Nodes and the links between them are indexes,
//! and traversal ([`Dom::walk`]) is a loop. No page can overflow the stack, however deep it is, and the tree is
//! freed at once.

mod build;
pub(crate) mod layout;
pub(crate) mod prefilter;
pub(crate) mod tokenizer;
pub(crate) mod visible_text;

use std::num::NonZeroU32;

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, local_name, ns};
use pharos_core::work::spend_work;

/// Index of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(NonZeroU32);

impl NodeId {
    const DOCUMENT: NodeId = NodeId(NonZeroU32::MIN);

    /// Returns the index into a vector of [`Dom::len`] entries.
    pub(crate) fn index(self) -> usize {
        self.0.get() as usize
    }
}

/// An element with its name and attributes.
#[derive(Debug)]
pub(crate) struct Element {
    name: QualName,
    attributes: Vec<Attribute>,
    template_contents: Option<NodeId>,
    is_integration_point: bool,
}

impl Element {
    /// Returns the lower-case name of an HTML element; empty for SVG and MathML.
    pub(crate) fn tag(&self) -> &str {
        if self.name.ns == ns!(html) { &self.name.local } else { "" }
    }

    /// Returns the interned name of an HTML element, which is cheap to compare.
    pub(crate) fn html_name(&self) -> Option<&LocalName> {
        (self.name.ns == ns!(html)).then_some(&self.name.local)
    }

    /// Returns the local name in any namespace.
    pub(crate) fn local_name(&self) -> &str {
        &self.name.local
    }

    /// Returns the value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|a| &*a.name.local == name).map(|a| &*a.value)
    }

    /// Returns `true` for an executable script. Its text is often most of the page and carries no content, so it is
    /// dropped. Data in `<script type="application/ld+json">` is kept.
    fn is_executable_script(&self) -> bool {
        self.name.local == local_name!("script")
            && !self
                .attribute("type")
                .is_some_and(|kind| kind.trim().to_ascii_lowercase().contains("ld+json"))
    }

    /// Iterates over all attributes with their values.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attributes.iter().map(|a| (&*a.name.local, &*a.value))
    }
}

/// Content of a node.
#[derive(Debug)]
pub(crate) enum NodeData {
    Element(Element),
    Text(StrTendril),
    /// The document, template contents and comments, which carry no content.
    Other,
}

#[derive(Debug)]
struct Node {
    parent: Option<NodeId>,
    first_child: Option<NodeId>,
    last_child: Option<NodeId>,
    previous: Option<NodeId>,
    next: Option<NodeId>,
    /// Depth at the time of insertion; exact except below elements that were moved.
    depth: u32,
    data: NodeData,
}

/// A parsed document.
#[derive(Debug)]
pub(crate) struct Dom {
    /// Index 0 is unused so that a [`NodeId`] can be non-zero.
    nodes: Vec<Node>,
    /// `true` if the page was parsed as by a browser without scripts, which shows `<noscript>`.
    pub(crate) without_scripts: bool,
    /// Number of HTML parse errors.
    pub(crate) errors: u32,
}

impl Dom {
    /// Returns the document node.
    pub(crate) fn root(&self) -> NodeId {
        NodeId::DOCUMENT
    }

    /// Returns the content of a node.
    pub(crate) fn data(&self, id: NodeId) -> &NodeData {
        &self.nodes[id.index()].data
    }

    /// Returns the element of a node, if it is one.
    pub(crate) fn element(&self, id: NodeId) -> Option<&Element> {
        match self.data(id) {
            NodeData::Element(element) => Some(element),
            _ => None,
        }
    }

    /// Returns `true` for a `<noscript>` element that is displayed.
    pub(crate) fn shows_noscript(&self, element: &Element) -> bool {
        self.without_scripts && element.tag() == "noscript"
    }

    /// Returns the length of a vector that is indexed by [`NodeId::index`].
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the parent of a node.
    pub(crate) fn parent(&self, id: NodeId) -> Option<NodeId> {
        spend_work(1);
        self.nodes[id.index()].parent
    }

    /// Iterates over the children of a node.
    pub(crate) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let next = |id: &NodeId| {
            spend_work(1);
            self.nodes[id.index()].next
        };
        std::iter::successors(self.nodes[id.index()].first_child, next)
    }

    /// Walks over `root` and its descendants in document order; each node is entered and left.
    pub(crate) fn walk(&self, root: NodeId) -> DomWalk<'_> {
        DomWalk { dom: self, root, next: Some(WalkStep::Enter(root)) }
    }

    /// Iterates over the elements below `root` in document order.
    pub(crate) fn elements(&self, root: NodeId) -> impl Iterator<Item = (NodeId, &Element)> {
        self.walk(root).filter_map(|step| match step {
            WalkStep::Enter(id) => Some((id, self.element(id)?)),
            WalkStep::Leave(_) => None,
        })
    }

    fn push(&mut self, data: NodeData) -> NodeId {
        let id =
            u32::try_from(self.nodes.len()).ok().and_then(NonZeroU32::new).map_or(NodeId::DOCUMENT, NodeId);
        self.nodes.push(Node {
            parent: None,
            first_child: None,
            last_child: None,
            previous: None,
            next: None,
            depth: 0,
            data,
        });
        id
    }

    fn node(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    fn detach(&mut self, id: NodeId) {
        let node = self.node(id);
        let (parent, previous, next) = (node.parent.take(), node.previous.take(), node.next.take());
        match (previous, parent) {
            (Some(previous), _) => self.node(previous).next = next,
            (None, Some(parent)) => self.node(parent).first_child = next,
            (None, None) => {}
        }
        match (next, parent) {
            (Some(next), _) => self.node(next).previous = previous,
            (None, Some(parent)) => self.node(parent).last_child = previous,
            (None, None) => {}
        }
    }

    /// Inserts `id` below `parent`, before `sibling` or at the end.
    fn insert(&mut self, parent: NodeId, id: NodeId, sibling: Option<NodeId>) {
        self.detach(id);
        let depth = self.node(parent).depth + 1;
        let previous = match sibling {
            Some(sibling) => self.node(sibling).previous.replace(id),
            None => self.node(parent).last_child.replace(id),
        };
        match previous {
            Some(previous) => self.node(previous).next = Some(id),
            None => self.node(parent).first_child = Some(id),
        }
        let node = self.node(id);
        (node.parent, node.previous, node.next, node.depth) = (Some(parent), previous, sibling, depth);
        if let NodeData::Element(Element { template_contents: Some(contents), .. }) = node.data {
            self.node(contents).depth = depth;
        }
    }

    /// Inserts text below `parent`, before `sibling` or at the end, and joins it to adjacent text.
    fn insert_text(&mut self, parent: NodeId, text: &StrTendril, sibling: Option<NodeId>) {
        if self.element(parent).is_some_and(Element::is_executable_script) {
            return;
        }
        let previous = match sibling {
            Some(sibling) => self.node(sibling).previous,
            None => self.node(parent).last_child,
        };
        if let Some(previous) = previous
            && let NodeData::Text(existing) = &mut self.node(previous).data
        {
            existing.push_tendril(text);
            return;
        }
        let id = self.push(NodeData::Text(text.clone()));
        self.insert(parent, id, sibling);
    }
}

/// A step of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WalkStep {
    /// The node, before its contents.
    Enter(NodeId),
    /// The node, after its contents.
    Leave(NodeId),
}

/// A walk over a part of the document; see [`Dom::walk`].
pub(crate) struct DomWalk<'a> {
    dom: &'a Dom,
    root: NodeId,
    next: Option<WalkStep>,
}

impl DomWalk<'_> {
    /// Skips the contents of the node that was just entered; the next step leaves it.
    pub(crate) fn skip_contents(&mut self, entered: NodeId) {
        self.next = Some(WalkStep::Leave(entered));
    }
}

impl Iterator for DomWalk<'_> {
    type Item = WalkStep;

    fn next(&mut self) -> Option<WalkStep> {
        spend_work(1);
        let step = self.next?;
        self.next = match step {
            WalkStep::Enter(id) => match self.dom.nodes[id.index()].first_child {
                Some(child) => Some(WalkStep::Enter(child)),
                None => Some(WalkStep::Leave(id)),
            },
            WalkStep::Leave(id) if id == self.root => None,
            WalkStep::Leave(id) => {
                let node = &self.dom.nodes[id.index()];
                node.next.map(WalkStep::Enter).or(node.parent.map(WalkStep::Leave))
            }
        };
        Some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(html: &str) -> String {
        let dom = Dom::parse(html);
        let mut out = String::new();
        for step in dom.walk(dom.root()) {
            match step {
                WalkStep::Enter(id) => match dom.data(id) {
                    NodeData::Element(element) => out.push_str(&format!("({}", element.local_name())),
                    NodeData::Text(text) => out.push_str(text),
                    NodeData::Other => {}
                },
                WalkStep::Leave(id) if dom.element(id).is_some() => out.push(')'),
                WalkStep::Leave(_) => {}
            }
        }
        out
    }

    #[test]
    fn trees_are_built_by_the_standard() {
        assert_eq!(outline("<p>a<p>b"), "(html(head)(body(pa)(pb)))");
        assert_eq!(outline("<table>x<tr><td>y"), "(html(head)(bodyx(table(tbody(tr(tdy))))))");
        assert_eq!(outline("<b>1<p>2</b>3"), "(html(head)(body(b1)(p(b2)3)))");
        assert_eq!(outline("a<b>c</b>d<!-- x -->e"), "(html(head)(bodya(bc)de))");
    }

    #[test]
    fn title_belongs_to_the_head_and_headings_to_the_body() {
        let page = "<html><head><title>T</title></head><body><h1>H</h1><p>P</p></body></html>";
        assert_eq!(outline(page), "(html(head(titleT))(body(h1H)(pP)))");
    }

    /// An attribute has no parent and no siblings: it is not a node of the tree, and no walk visits it.
    #[test]
    fn attributes_are_no_nodes() {
        let (bare, dressed) = ("<p>x", "<p id=a class=b>x");
        assert_eq!(outline(dressed), outline(bare));
        assert_eq!(Dom::parse(dressed).nodes.len(), Dom::parse(bare).nodes.len());
        let dom = Dom::parse(dressed);
        let (_, p) = dom.elements(dom.root()).find(|(_, e)| e.tag() == "p").unwrap();
        assert_eq!(p.attributes().collect::<Vec<_>>(), [("id", "a"), ("class", "b")]);
    }

    #[test]
    fn templates_keep_their_contents_to_themselves() {
        assert_eq!(outline("<template><p>x</p></template>y"), "(html(head(template))(bodyy))");
    }

    #[test]
    fn a_walk_can_skip() {
        let dom = Dom::parse("<ul><li>a<li>b</ul>c");
        let mut walk = dom.walk(dom.root());
        let mut text = String::new();
        while let Some(step) = walk.next() {
            if let WalkStep::Enter(id) = step {
                match dom.data(id) {
                    NodeData::Element(element) if element.tag() == "ul" => walk.skip_contents(id),
                    NodeData::Text(t) => text.push_str(t),
                    _ => {}
                }
            }
        }
        assert_eq!(text, "c");
    }
}
