//! The JSON formats of Solr (`MultipleAdditiveTreesModel`, `LinearModel`) and of the LTR plug-ins of OpenSearch and
//! Elasticsearch (`model/xgboost+json`, `model/linear`). Features are named f1, f2 …

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::nested::{NestedSplit, NestedTree};
use super::{feature_number, xgboost};
use crate::ranking::model::{LinearScorer, Scorer};
use crate::ranking::trees::{MissingValue, TreeEnsemble};

const TREES: &str = "org.apache.solr.ltr.model.MultipleAdditiveTreesModel";
const LINEAR: &str = "org.apache.solr.ltr.model.LinearModel";
const NO_OTHERS: &str = "this format holds trees and linear models only";

/// Formats a model for Solr.
pub(super) fn format(scorer: &Scorer) -> Result<String, String> {
    let features = |numbers: BTreeSet<u32>| -> Vec<Value> {
        numbers.into_iter().map(|number| json!({"name": format!("f{number}")})).collect()
    };
    let value = match scorer {
        Scorer::Linear(linear) => {
            let used = linear.weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
            let numbers = used.map(|(number, _)| number as u32).collect();
            json!({"class": LINEAR, "name": "pharos", "features": features(numbers), "params": {"weights": weights(linear)}})
        }
        Scorer::Trees(ensemble) => {
            let used = ensemble.trees.iter().flat_map(|tree| &tree.nodes).map(|node| node.feature).collect();
            let mut trees = Vec::new();
            if ensemble.base != 0.0 {
                trees.push(json!({"weight": "1", "root": {"value": ensemble.base.to_string()}}));
            }
            for tree in &ensemble.trees {
                trees.push(json!({"weight": "1", "root": format_node(&NestedTree::from_tree(tree)?)}));
            }
            json!({"class": TREES, "name": "pharos", "features": features(used), "params": {"trees": trees}})
        }
        _ => return Err(NO_OTHERS.to_owned()),
    };
    Ok(value.to_string() + "\n")
}

fn weights(linear: &LinearScorer) -> Map<String, Value> {
    let used = linear.weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
    used.map(|(number, weight)| (format!("f{number}"), json!(weight))).collect()
}

fn format_node(node: &NestedTree) -> Value {
    match node {
        NestedTree::Leaf(value) => json!({"value": value.to_string()}),
        NestedTree::Split(split) => json!({
            "feature": format!("f{}", split.feature),
            "threshold": split.threshold.to_string(),
            "left": format_node(&split.left),
            "right": format_node(&split.right),
        }),
    }
}

/// Formats a model for the LTR plug-ins.
pub(super) fn format_opensearch(scorer: &Scorer) -> Result<String, String> {
    let (kind, definition) = match scorer {
        Scorer::Linear(linear) => ("model/linear", Value::Object(weights(linear))),
        Scorer::Trees(ensemble) => ("model/xgboost+json", xgboost::format(ensemble)?),
        _ => return Err(NO_OTHERS.to_owned()),
    };
    let model =
        json!({"model": {"name": "pharos", "model": {"type": kind, "definition": definition.to_string()}}});
    Ok(model.to_string() + "\n")
}

/// Parses a model of Solr.
pub(super) fn parse(model: &Value) -> Result<Scorer, String> {
    let params = model.get("params").ok_or("`params` is missing")?;
    match model.get("class").and_then(Value::as_str) {
        Some(LINEAR) => parse_weights(params.get("weights")),
        Some(TREES) => {
            let trees = params.get("trees").and_then(Value::as_array).ok_or("`trees` is missing")?;
            let mut ensemble = TreeEnsemble::default();
            for tree in trees {
                let weight = tree.get("weight").map_or(Ok(1.0), parse_number)?;
                let root = parse_node(tree.get("root").ok_or("a tree has no `root`")?)?;
                ensemble.trees.push(root.into_tree(weight));
            }
            Ok(Scorer::Trees(ensemble))
        }
        _ => Err(format!("unknown class of model: only {TREES} and {LINEAR} are read")),
    }
}

/// Parses a model of the LTR plug-ins.
pub(super) fn parse_opensearch(model: &Value) -> Result<Scorer, String> {
    let inner =
        model.get("model").map(|model| model.get("model").unwrap_or(model)).ok_or("`model` is missing")?;
    let definition = match inner.get("definition") {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => return Err("`definition` is missing".to_owned()),
    };
    match inner.get("type").and_then(Value::as_str) {
        Some("model/linear") => {
            let weights =
                serde_json::from_str(&definition).map_err(|error| format!("wrong definition: {error}"))?;
            parse_weights(Some(&weights))
        }
        Some("model/xgboost+json") => xgboost::parse(&definition).map(Scorer::Trees),
        Some("model/ranklib") => super::ranklib::parse(&definition).map(Scorer::Trees),
        _ => {
            Err("unknown type of model: model/linear, model/xgboost+json and model/ranklib are read"
                .to_owned())
        }
    }
}

fn parse_weights(weights: Option<&Value>) -> Result<Scorer, String> {
    let weights = weights.and_then(Value::as_object).ok_or("`weights` is missing")?;
    let mut linear = LinearScorer::default();
    for (name, weight) in weights {
        let number = feature_number(name)? as usize;
        linear.weights.resize(linear.weights.len().max(number + 1), 0.0);
        linear.weights[number] = parse_number(weight)?;
    }
    Ok(Scorer::Linear(linear))
}

/// Parses a number, which Solr accepts as a string, too.
fn parse_number(value: &Value) -> Result<f64, String> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    number.ok_or_else(|| "a value is not a number".to_owned())
}

/// Parses a node. The JSON reader limits the depth.
fn parse_node(node: &Value) -> Result<NestedTree, String> {
    if let Some(value) = node.get("value") {
        return parse_number(value).map(NestedTree::Leaf);
    }
    let part = |name: &str| node.get(name).ok_or_else(|| format!("a node has no `{name}`"));
    let feature = part("feature")?.as_str().ok_or("`feature` is not a name")?;
    Ok(NestedTree::Split(Box::new(NestedSplit {
        feature: feature_number(feature)?,
        threshold: parse_number(part("threshold")?)?,
        missing: MissingValue::None,
        missing_left: false,
        left: parse_node(part("left")?)?,
        right: parse_node(part("right")?)?,
    })))
}
