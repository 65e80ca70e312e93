//! Text classifiers and topic models through the real binary, without a data directory.

use crate::common::{TestFolder, fail, succeed};
use serde_json::Value;

/// Texts of three classes: weather, sports and politics.
fn texts(count: usize) -> String {
    let line = |i: usize| match i % 3 {
        0 => format!("rain and wind on day {i}\tweather\n"),
        1 => format!("a goal in match {i}\tsports\n"),
        _ => format!("parliament votes on law {i}\tpolitics\n"),
    };
    (0..count).map(line).collect()
}

#[test]
fn a_classifier_is_trained_tested_and_applied() {
    let desk = TestFolder::new();
    let path = |name: &str| desk.path(name).to_str().unwrap().to_string();
    desk.file("train.tsv", format!("text\tlabel\n{}broken line\n\tempty\n", texts(60)));
    desk.file("test.tsv", format!("{}\"the rain\"\tweather\nrain\tunknown class\n", texts(9)));
    let model = path("model");
    for algorithm in
        ["linear", "svm", "bayes", "bayes-complement", "rocchio", "knn", "knn-hierarchical", "tree"]
    {
        let train = [
            "classify",
            "train",
            "--json",
            "--tsv",
            &path("train.tsv"),
            "--out",
            &model,
            "--model",
            algorithm,
        ];
        let trained: Value = serde_json::from_str(&succeed(&mut desk.on("none", &train))).unwrap();
        assert_eq!((trained["examples"].as_u64(), trained["classes"].as_u64()), (Some(61), Some(4)));
        let test = ["classify", "test", "--json", "--tsv", &path("test.tsv"), "--model-file", &model];
        let tested: Value = serde_json::from_str(&succeed(&mut desk.on("none", &test))).unwrap();
        assert_eq!(tested["examples"], 11, "{algorithm}");
        assert!(tested["accuracy"].as_f64().unwrap() > 0.9, "{algorithm}: {tested}");
        assert!(tested["micro_f1"].is_f64() && tested["macro_f1"].is_f64());
        assert!(tested["classes"].as_array().unwrap().iter().any(|class| class["class"] == "unknown class"));
    }
    let linear = [
        "classify",
        "train",
        "--tsv",
        &path("train.tsv"),
        "--out",
        &model,
        "--select",
        "chi",
        "--features",
        "90%",
    ];
    assert!(succeed(&mut desk.on("none", &linear)).contains("held-out texts: accuracy"));
    desk.file("lines", "wind and rain\n");
    let apply = ["classify", "text", &path("lines"), "--model-file", &model, "--explain"];
    let applied = succeed(&mut desk.on("none", &apply));
    assert!(applied.starts_with("wind and rain\tweather ") && applied.contains("rain +"), "{applied}");
    assert!(!desk.path("none").exists(), "no data directory is needed");
}

#[test]
fn several_classes_per_text_and_wrong_input() {
    let desk = TestFolder::new();
    let path = |name: &str| desk.path(name).to_str().unwrap().to_string();
    let line = |i: usize| match i % 4 {
        0 => format!("grain harvest {i}\tgrain\n"),
        1 => format!("wheat field {i}\twheat\n"),
        2 => format!("grain harvest and wheat field {i}\tgrain,wheat\n"),
        _ => format!("crude oil {i}\toil\n"),
    };
    desk.file("train.tsv", (0..80).map(line).collect::<String>());
    let validate = ["classify", "validate", "--json", "--tsv", &path("train.tsv")];
    let validated: Value = serde_json::from_str(&succeed(&mut desk.on("none", &validate))).unwrap();
    assert!(validated["micro_f1"].as_f64().unwrap() > 0.95, "{validated}");
    assert_eq!(validated["classes"].as_array().unwrap().len(), 3);
    let single: Value = {
        let arguments = [&validate[..], &["--single-label"]].concat();
        serde_json::from_str(&succeed(&mut desk.on("none", &arguments))).unwrap()
    };
    assert_eq!(single["classes"].as_array().unwrap().len(), 4);
    let curve = [&validate[1..2], &["--curve", "2,10"]].concat();
    let examples = path("train.tsv");
    let curve = [&["classify"], &curve[..], &["--tsv", &examples]].concat();
    assert!(succeed(&mut desk.on("none", &curve)).contains("per class"));

    desk.file("one.tsv", "a\tx\nb\tx\n");
    desk.file("empty.tsv", "");
    for (file, option, value) in [
        ("one.tsv", "--k", "20"),
        ("empty.tsv", "--k", "20"),
        ("none.tsv", "--k", "20"),
        ("train.tsv", "--k", "0"),
        ("train.tsv", "--cost", "0"),
        ("train.tsv", "--thresholds", "best"),
    ] {
        fail(&mut desk.on("none", &["classify", "validate", "--tsv", &path(file), option, value]));
    }
    desk.file("model", "no model");
    fail(
        &mut desk
            .on("none", &["classify", "test", "--tsv", &path("train.tsv"), "--model-file", &path("model")]),
    );
}

#[test]
fn topics_are_learnt_shown_and_inferred() {
    let desk = TestFolder::new();
    let line = |i: usize| match i % 2 {
        0 => "rain wind snow storm rain wind\n",
        _ => "goal match player team goal match\n",
    };
    desk.file("texts", (0..60).map(line).collect::<String>());
    desk.file("lines", "snow and storm\n");
    desk.file("unknown", "zzzz\n");
    for method in ["gibbs", "em"] {
        let train = [
            "topics", "train", "texts", "--out", "model", "--topics", "2", "--method", method, "--passes",
            "40",
        ];
        let trained = desk.json("none", &train);
        assert_eq!((trained["texts"].as_u64(), trained["held_out"].as_u64()), (Some(54), Some(6)));
        assert!(trained["perplexity"].as_f64().unwrap() < 6.0, "{method}: {trained}");
        let shown = desk.json("none", &["topics", "show", "model", "-n", "4"]);
        assert_eq!(shown.as_array().unwrap().len(), 2);
        assert_eq!(shown[0]["words"].as_array().unwrap().len(), 4);
        let inferred = desk.json("none", &["topics", "infer", "model", "lines"]);
        assert!(inferred["topics"][0]["share"].as_f64().unwrap() > 0.8, "{method}: {inferred}");
    }
    let unknown = desk.on("none", &["topics", "infer", "model", "unknown"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(1));
    fail(&mut desk.on("none", &["topics", "show", "texts"]));
    fail(&mut desk.on("none", &["topics", "train", "unknown", "--out", "other"]));
    fail(&mut desk.on("none", &["topics", "train", "texts", "--out", "other", "--alpha", "0"]));
}
