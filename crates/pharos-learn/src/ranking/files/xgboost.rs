//! The JSON dump of XGBoost (`dump_model(…, dump_format="json")`): a list of nested trees.
//!
//! Values less than the condition go to `yes`, missing values to `missing`. The dump has no base score, which does not
//! change the order.

use serde_json::{Value, json};

use super::feature_number;
use super::nested::{NestedSplit, NestedTree};
use crate::ranking::trees::{MissingValue, Tree, TreeEnsemble};

/// Formats an ensemble.
pub(super) fn format(ensemble: &TreeEnsemble) -> Result<Value, String> {
    let mut trees = Vec::with_capacity(ensemble.trees.len() + 1);
    if ensemble.base != 0.0 {
        trees.push(json!({"nodeid": 0, "leaf": ensemble.base}));
    }
    for tree in &ensemble.trees {
        let mut next = 0;
        trees.push(format_node(&NestedTree::from_tree(tree)?, 0, &mut next));
    }
    Ok(Value::Array(trees))
}

fn format_node(node: &NestedTree, depth: usize, next: &mut u32) -> Value {
    let number = *next;
    *next += 1;
    match node {
        NestedTree::Leaf(value) => json!({"nodeid": number, "leaf": value}),
        NestedTree::Split(split) => {
            let yes = *next;
            let left = format_node(&split.left, depth + 1, next);
            let no = *next;
            let right = format_node(&split.right, depth + 1, next);
            // NaN counts as 0 where it is not a value of its own. XGBoost has no missing zeros.
            let missing_left =
                if split.missing == MissingValue::None { 0.0 <= split.threshold } else { split.missing_left };
            // Up to t is less than the next greater number.
            let condition = f64::from((split.threshold as f32).next_up().clamp(f32::MIN, f32::MAX));
            json!({
                "nodeid": number,
                "depth": depth,
                "split": format!("f{}", split.feature),
                "split_condition": condition,
                "yes": yes,
                "no": no,
                "missing": if missing_left { yes } else { no },
                "children": [left, right],
            })
        }
    }
}

/// Parses a dump.
pub(super) fn parse(text: &str) -> Result<TreeEnsemble, String> {
    let trees: Vec<Value> =
        serde_json::from_str(text).map_err(|error| format!("not a dump of XGBoost: {error}"))?;
    parse_trees(&trees)
}

/// Parses the trees of a dump.
pub(super) fn parse_trees(trees: &[Value]) -> Result<TreeEnsemble, String> {
    if trees.is_empty() {
        return Err("no trees".to_owned());
    }
    let parse = |(number, tree): (usize, &Value)| -> Result<Tree, String> {
        let tree = parse_node(tree).map_err(|problem| format!("tree {number}: {problem}"))?;
        Ok(tree.into_tree(1.0))
    };
    Ok(TreeEnsemble { base: 0.0, trees: trees.iter().enumerate().map(parse).collect::<Result<_, _>>()? })
}

/// Parses a node. The JSON reader limits the depth.
fn parse_node(node: &Value) -> Result<NestedTree, String> {
    if let Some(leaf) = node.get("leaf") {
        return leaf
            .as_f64()
            .map(NestedTree::Leaf)
            .ok_or_else(|| "the value of a leaf is not a number".to_owned());
    }
    let split = node.get("split").ok_or("a node has neither `leaf` nor `split`")?;
    let feature = match split {
        Value::String(name) => feature_number(name)?,
        other => feature_number(&other.to_string())?,
    };
    let condition =
        node.get("split_condition").and_then(Value::as_f64).ok_or("`split_condition` is not a number")?
            as f32;
    let number = |name: &str| {
        node.get(name).and_then(Value::as_u64).ok_or_else(|| format!("`{name}` is not a number"))
    };
    let (yes, no) = (number("yes")?, number("no")?);
    let missing = number("missing").unwrap_or(yes);
    let children = node.get("children").and_then(Value::as_array).ok_or("`children` is missing")?;
    let child = |id: u64| -> Result<NestedTree, String> {
        let found = children.iter().find(|child| child.get("nodeid").and_then(Value::as_u64) == Some(id));
        parse_node(found.ok_or_else(|| format!("child {id} is missing"))?)
    };
    if yes == no {
        return Err("both children are the same".to_owned());
    }
    Ok(NestedTree::Split(Box::new(NestedSplit {
        feature,
        threshold: f64::from(condition.next_down()),
        missing: MissingValue::Nan,
        missing_left: missing == yes,
        left: child(yes)?,
        right: child(no)?,
    })))
}
