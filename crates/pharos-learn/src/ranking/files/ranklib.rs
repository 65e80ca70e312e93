//! The XML format of RankLib's tree ensembles, after comment lines that begin with `#`.
//!
//! Values up to the threshold go left. RankLib has no missing values; the side of NaN is that of 0.

use super::nested::{MAX_DEPTH, NestedSplit, NestedTree};
use crate::ranking::data::letor::MAX_FEATURE;
use crate::ranking::trees::{MissingValue, TreeEnsemble};

/// Formats an ensemble.
pub(super) fn format(ensemble: &TreeEnsemble) -> Result<String, String> {
    let mut text = format!("## LambdaMART\n## No. of trees = {}\n\n<ensemble>\n", ensemble.trees.len());
    for (number, tree) in ensemble.trees.iter().enumerate() {
        text.push_str(&format!("\t<tree id=\"{}\" weight=\"1\">\n", number + 1));
        let mut tree = tree.clone();
        if number == 0 {
            tree.leaves.iter_mut().for_each(|value| *value += ensemble.base);
        }
        format_node(&NestedTree::from_tree(&tree)?, "", 2, &mut text);
        text.push_str("\t</tree>\n");
    }
    text.push_str("</ensemble>\n");
    Ok(text)
}

fn format_node(node: &NestedTree, position: &str, depth: usize, text: &mut String) {
    let tabs = "\t".repeat(depth);
    text.push_str(&format!("{tabs}<split{position}>\n"));
    match node {
        NestedTree::Leaf(value) => text.push_str(&format!("{tabs}\t<output>{value}</output>\n")),
        NestedTree::Split(split) => {
            text.push_str(&format!("{tabs}\t<feature>{}</feature>\n", split.feature));
            text.push_str(&format!("{tabs}\t<threshold>{}</threshold>\n", split.threshold));
            format_node(&split.left, " pos=\"left\"", depth + 1, text);
            format_node(&split.right, " pos=\"right\"", depth + 1, text);
        }
    }
    text.push_str(&format!("{tabs}</split>\n"));
}

/// Parses an ensemble.
pub(super) fn parse(text: &str) -> Result<TreeEnsemble, String> {
    let start = text.find('<').ok_or("no <ensemble>")?;
    let mut reader = TagReader { rest: &text[start..] };
    if !reader.next_tag()?.starts_with("ensemble") {
        return Err("expected <ensemble>: only tree ensembles of RankLib are read".to_owned());
    }
    let mut ensemble = TreeEnsemble::default();
    loop {
        let tag = reader.next_tag()?;
        if tag == "/ensemble" {
            break;
        }
        if !tag.starts_with("tree") {
            return Err(format!("<{}> instead of <tree>", shorten(tag)));
        }
        let weight = match attribute(tag, "weight") {
            Some(weight) => parse_number(weight)?,
            None => 1.0,
        };
        if !reader.next_tag()?.starts_with("split") {
            return Err("a tree without <split>".to_owned());
        }
        ensemble.trees.push(parse_split(&mut reader, 0)?.into_tree(weight));
        if reader.next_tag()? != "/tree" {
            return Err("expected </tree>".to_owned());
        }
    }
    if ensemble.trees.is_empty() { Err("no trees".to_owned()) } else { Ok(ensemble) }
}

/// Parses a split or leaf after its opening tag, through its closing tag.
fn parse_split(reader: &mut TagReader<'_>, depth: usize) -> Result<NestedTree, String> {
    if depth > MAX_DEPTH {
        return Err(format!("a tree is deeper than {MAX_DEPTH} nodes"));
    }
    let (mut feature, mut threshold, mut output) = (None, None, None);
    let (mut left, mut right) = (None, None);
    loop {
        let tag = reader.next_tag()?;
        match tag {
            "feature" => feature = Some(parse_number(reader.text_of(tag)?)?),
            "threshold" => threshold = Some(parse_number(reader.text_of(tag)?)?),
            "output" => output = Some(parse_number(reader.text_of(tag)?)?),
            "/split" => break,
            _ => match attribute(tag, "pos").filter(|_| tag.starts_with("split")) {
                Some("left") if left.is_none() => left = Some(parse_split(reader, depth + 1)?),
                Some("right") if right.is_none() => right = Some(parse_split(reader, depth + 1)?),
                _ => return Err(format!("unexpected <{}>", shorten(tag))),
            },
        }
    }
    match (output, feature, threshold, left, right) {
        (Some(value), None, None, None, None) => Ok(NestedTree::Leaf(value)),
        (None, Some(feature), Some(threshold), Some(left), Some(right)) => {
            if !(0.0..=f64::from(MAX_FEATURE)).contains(&feature) {
                return Err(format!("feature {feature} is out of range"));
            }
            let (missing, feature) = (MissingValue::None, feature as u32);
            Ok(NestedTree::Split(Box::new(NestedSplit {
                feature,
                threshold,
                missing,
                missing_left: false,
                left,
                right,
            })))
        }
        _ => Err("a split needs an output, or feature, threshold, left and right".to_owned()),
    }
}

fn parse_number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("`{}` is not a number", shorten(text)))
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Returns the value of an attribute of a tag.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, after) = tag.split_once(&format!("{name}=\""))?;
    after.split_once('"').map(|(value, _)| value)
}

/// Reads tags in order. Entities and CDATA do not occur in the format.
struct TagReader<'t> {
    rest: &'t str,
}

impl<'t> TagReader<'t> {
    /// Returns the next tag without its brackets, skipping text and comments.
    fn next_tag(&mut self) -> Result<&'t str, String> {
        loop {
            let start = self.rest.find('<').ok_or("the file ends within the ensemble")?;
            let end = self.rest[start..].find('>').ok_or("a tag is not closed")? + start;
            let tag = self.rest[start + 1..end].trim();
            self.rest = &self.rest[end + 1..];
            if !tag.starts_with(['!', '?']) {
                return Ok(tag);
            }
        }
    }

    /// Returns the text up to the closing tag.
    fn text_of(&mut self, tag: &str) -> Result<&'t str, String> {
        let end = self.rest.find('<').ok_or("the file ends within the ensemble")?;
        let text = &self.rest[..end];
        if self.next_tag()?.strip_prefix('/') != Some(tag) {
            return Err(format!("<{tag}> is not closed"));
        }
        Ok(text)
    }
}
