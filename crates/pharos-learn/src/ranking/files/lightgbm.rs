//! The text format of LightGBM: a header, then blocks `Tree=N` of arrays by name.

use std::collections::BTreeMap;

use crate::ranking::trees::{MissingValue, Node, NodeRef, Tree, TreeEnsemble};

/// Formats an ensemble.
pub(super) fn format(ensemble: &TreeEnsemble) -> String {
    let features = ensemble.trees.iter().flat_map(|tree| &tree.nodes).map(|node| node.feature);
    let last = features.max().unwrap_or(0);
    let names: Vec<String> = (0..=last).map(|feature| format!("Column_{feature}")).collect();
    let infos = vec!["[-1e300:1e300]"; names.len()];
    let mut text = format!(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx={last}\n\
         objective=lambdarank\nfeature_names={}\nfeature_infos={}\n\n",
        names.join(" "),
        infos.join(" ")
    );
    for (number, tree) in ensemble.trees.iter().enumerate() {
        // The format has no base score; the first tree adds it.
        let base = if number == 0 { ensemble.base } else { 0.0 };
        text.push_str(&format!("Tree={number}\nnum_leaves={}\nnum_cat=0\n", tree.leaves.len()));
        let mut list =
            |name: &str, values: Vec<String>| text.push_str(&format!("{name}={}\n", values.join(" ")));
        let nodes = |value: &dyn Fn(&Node) -> String| tree.nodes.iter().map(value).collect::<Vec<String>>();
        if !tree.nodes.is_empty() {
            list("split_feature", nodes(&|node| node.feature.to_string()));
            list("split_gain", nodes(&|node| node.gain.to_string()));
            list("threshold", nodes(&|node| node.threshold.to_string()));
            list("decision_type", nodes(&|node| decision_type(node).to_string()));
            list("left_child", nodes(&|node| child_number(node.left).to_string()));
            list("right_child", nodes(&|node| child_number(node.right).to_string()));
        }
        list("leaf_value", tree.leaves.iter().map(|value| (value + base).to_string()).collect());
        text.push_str("is_linear=0\nshrinkage=1\n\n\n");
    }
    text.push_str("end of trees\n\npandas_categorical:null\n");
    text
}

fn decision_type(node: &Node) -> u8 {
    let missing = match node.missing {
        MissingValue::None => 0,
        MissingValue::Zero => 1,
        MissingValue::Nan => 2,
    };
    missing << 2 | u8::from(node.missing_left) << 1
}

fn child_number(child: NodeRef) -> i64 {
    match child {
        NodeRef::Node(node) => node.into(),
        NodeRef::Leaf(leaf) => -1 - i64::from(leaf),
    }
}

/// Parses an ensemble. Categorical splits and linear leaves are not supported.
pub(super) fn parse(text: &str) -> Result<TreeEnsemble, String> {
    let mut ensemble = TreeEnsemble::default();
    let body = text.split("\nend of trees").next().unwrap_or(text);
    let mut blocks = body.split("\nTree=");
    let header = parse_fields(blocks.next().unwrap_or(""));
    if header.get("num_class").is_some_and(|classes| *classes != "1") {
        return Err("a model of several classes has no single score".to_owned());
    }
    for (number, block) in blocks.enumerate() {
        let tree = parse_tree(&parse_fields(block)).map_err(|problem| format!("tree {number}: {problem}"))?;
        ensemble.trees.push(tree);
    }
    if ensemble.trees.is_empty() {
        return Err("no trees".to_owned());
    }
    if header.contains_key("average_output") || body.lines().any(|line| line == "average_output") {
        let share = 1.0 / ensemble.trees.len() as f64;
        ensemble.trees.iter_mut().flat_map(|tree| &mut tree.leaves).for_each(|value| *value *= share);
    }
    Ok(ensemble)
}

type Fields<'t> = BTreeMap<&'t str, &'t str>;

fn parse_fields(block: &str) -> Fields<'_> {
    block.lines().filter_map(|line| line.trim_end().split_once('=')).collect()
}

fn parse_tree(fields: &Fields<'_>) -> Result<Tree, String> {
    if fields.get("num_cat").is_some_and(|count| *count != "0") {
        return Err("categorical splits are not supported".to_owned());
    }
    if fields.get("is_linear").is_some_and(|linear| *linear != "0") {
        return Err("linear leaves are not supported".to_owned());
    }
    let leaves: Vec<f64> = parse_list(fields, "leaf_value")?;
    if leaves.len() == 1 {
        return Ok(Tree::constant(leaves[0]));
    }
    let features: Vec<u32> = parse_list(fields, "split_feature")?;
    let thresholds: Vec<f64> = parse_list(fields, "threshold")?;
    let left: Vec<i64> = parse_list(fields, "left_child")?;
    let right: Vec<i64> = parse_list(fields, "right_child")?;
    let types: Vec<u8> = if fields.contains_key("decision_type") {
        parse_list(fields, "decision_type")?
    } else {
        vec![0; features.len()]
    };
    let gains: Vec<f64> = parse_list(fields, "split_gain").unwrap_or_default();
    let count = features.len();
    if [thresholds.len(), left.len(), right.len(), types.len()].iter().any(|length| *length != count) {
        return Err("lists of different lengths".to_owned());
    }
    let child = |number: i64| -> Result<NodeRef, String> {
        let reference = if number >= 0 { number } else { -1 - number };
        let reference = u32::try_from(reference).map_err(|_| format!("child {number} is out of range"))?;
        Ok(if number >= 0 { NodeRef::Node(reference) } else { NodeRef::Leaf(reference) })
    };
    let mut nodes = Vec::with_capacity(count);
    for (number, &feature) in features.iter().enumerate() {
        if types[number] & 1 != 0 {
            return Err("categorical splits are not supported".to_owned());
        }
        nodes.push(Node {
            feature,
            // LightGBM writes an infinite threshold for splits of missing values only.
            threshold: thresholds[number].clamp(f64::from(f32::MIN), f64::from(f32::MAX)),
            left: child(left[number])?,
            right: child(right[number])?,
            missing: match types[number] >> 2 & 3 {
                0 => MissingValue::None,
                1 => MissingValue::Zero,
                _ => MissingValue::Nan,
            },
            missing_left: types[number] & 2 != 0,
            gain: gains.get(number).copied().filter(|gain| gain.is_finite()).unwrap_or(0.0),
        });
    }
    Ok(Tree { nodes, leaves })
}

fn parse_list<T: std::str::FromStr>(fields: &Fields<'_>, name: &str) -> Result<Vec<T>, String> {
    let text = fields.get(name).ok_or_else(|| format!("`{name}` is missing"))?;
    let value = |word: &str| word.parse().map_err(|_| format!("`{name}` has a wrong number"));
    text.split_ascii_whitespace().map(value).collect()
}
