//! Learning to rank from the command line: training, evaluation, errors.

use std::fmt::Write as _;

use serde_json::Value;

use crate::common::{TestFolder, fail, succeed};

/// Returns judged results where feature 1 has most of the grade, feature 2 is noise and feature 3 is sometimes missing.
fn letor(first_query: usize, queries: usize) -> String {
    let mut text = String::new();
    let mut state = 7_u64 + first_query as u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1_u64 << 24) as f64
    };
    for query in first_query..first_query + queries {
        for row in 0..12 {
            let value = random();
            let grade = ((value + 0.2 * random()) * 2.6) as u32;
            let third = if row % 4 == 0 { "NULL".to_owned() } else { format!("{}", value * value) };
            writeln!(
                text,
                "{} qid:{query} 1:{value:.4} 2:{:.4} 3:{third} # d{query}-{row}",
                grade.min(2),
                random()
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn a_model_is_trained_and_evaluated() {
    let desk = TestFolder::new();
    let train = desk.file("train.txt", letor(0, 60));
    let valid = desk.file("valid.txt", letor(100, 30));
    let test = desk.file("test.txt", format!("{}0 qid:none 1:1\n0 qid:none 1:2\n", letor(200, 39)));
    let [train, valid, test] = [&train, &valid, &test].map(|path| path.to_str().unwrap());
    let model = desk.path("model.json");
    let model = model.to_str().unwrap();
    for name in ["lambdamart", "gbdt", "ridge"] {
        let arguments = ["rank", "train", "--letor", train, "--model", name, "--out", model];
        let trained = desk.json("unused", &[&arguments[..], &["--valid", valid]].concat());
        assert_eq!((trained["model"].as_str(), trained["queries"].as_u64()), (Some(name), Some(60)));
        assert!(trained["validation"].as_f64().unwrap() > 0.9, "{trained}");
        let evaluate = |more: &[&str]| -> Value {
            let arguments = ["rank", "test", "--letor", test, "--model-file", model];
            desk.json("unused", &[&arguments[..], more].concat())
        };
        let report = evaluate(&[]);
        assert_eq!((report["queries"].as_u64(), report["empty_queries"].as_u64()), (Some(40), Some(1)));
        let means = report["means"].as_object().unwrap();
        for measure in ["nDCG@1", "nDCG@10", "nDCG@10 LETOR", "MAP", "ERR", "P@10"] {
            assert!(means.contains_key(measure), "{measure}");
        }
        let ndcg = |report: &Value| report["means"]["nDCG@10"].as_f64().unwrap();
        let [zero, one, out] = ["0", "1", "out"].map(|empty| ndcg(&evaluate(&["--empty", empty])));
        assert_eq!(zero, ndcg(&report), "0 is the default");
        assert!(zero > 0.85 && zero < out && out < one, "{zero} {out} {one}");
        assert!((one - zero - 1.0 / 40.0).abs() < 1e-9);
    }
    let run = desk.path("run.txt");
    let text = succeed(&mut desk.on(
        "unused",
        &["rank", "test", "--letor", test, "--model-file", model, "--run", run.to_str().unwrap()],
    ));
    assert!(text.contains("1 queries without a relevant document count as 0\n"), "{text}");
    let run = std::fs::read_to_string(run).unwrap();
    assert!(run.lines().next().is_some_and(|line| line.starts_with("200 Q0 d200-")), "{run}");
}

#[test]
fn training_is_deterministic() {
    let desk = TestFolder::new();
    let train = desk.file("train.txt", letor(0, 60));
    let model = |name: &str, threads: &str| {
        let path = desk.path(name);
        let arguments =
            ["rank", "train", "--letor", train.to_str().unwrap(), "--out", path.to_str().unwrap()];
        succeed(desk.on("unused", &arguments).env("RAYON_NUM_THREADS", threads));
        std::fs::read(path).unwrap()
    };
    assert_eq!(model("one.json", "1"), model("four.json", "4"));
}

#[test]
fn models_are_converted_and_compared() {
    let desk = TestFolder::new();
    let data = desk.file("train.txt", letor(0, 60));
    let data = data.to_str().unwrap();
    let path = |name: &str| desk.path(name).to_str().unwrap().to_owned();
    let [trees, linear] = [path("trees.json"), path("linear.json")];
    for (name, out) in [("lambdamart", &trees), ("ridge", &linear)] {
        succeed(&mut desk.on("unused", &["rank", "train", "--letor", data, "--model", name, "--out", out]));
    }
    let ndcg = |model: &str| {
        let report = desk.json("unused", &["rank", "test", "--letor", data, "--model-file", model]);
        report["means"]["nDCG@10"].as_f64().unwrap()
    };
    for format in ["pharos", "lightgbm", "xgboost", "ranklib", "solr", "opensearch"] {
        let out = path(format);
        succeed(
            &mut desk
                .on("unused", &["rank", "convert", "--model-file", &trees, "--to", format, "--out", &out]),
        );
        // XGBoost, RankLib and Solr treat missing values differently.
        assert!((ndcg(&out) - ndcg(&trees)).abs() < 0.05, "{format}");
    }
    let error = fail(
        &mut desk
            .on("unused", &["rank", "convert", "--model-file", &linear, "--to", "ranklib", "--out", "x"]),
    );
    assert!(error.contains("this format holds trees only"), "{error}");
    let arguments = ["rank", "compare", "--letor", data, "--model-file", &linear, &trees];
    let compared = desk.json("unused", &arguments);
    let difference = compared[1]["against_first"]["mean_difference"].as_f64().unwrap();
    assert!((difference - (ndcg(&trees) - ndcg(&linear))).abs() < 1e-9, "{compared}");
    assert!(compared[0]["against_first"].is_null());
    let text = succeed(&mut desk.on("unused", &arguments));
    assert!(text.contains("60 queries; 0 without a relevant document are left out"), "{text}");
}

#[test]
fn a_grid_is_searched() {
    let desk = TestFolder::new();
    let train = desk.file("train.txt", letor(0, 30));
    let out = desk.path("model.json");
    let arguments = ["rank", "train", "--letor", train.to_str().unwrap(), "--model", "ridge"];
    let more = ["--grid", "lambda=0.1,1,1000", "--folds", "3", "--out", out.to_str().unwrap()];
    let trained = desk.json("unused", &[arguments, more].concat());
    assert_eq!(trained["grid"].as_array().map(Vec::len), Some(3), "{trained}");
    assert!(trained["grid"][0]["figure"].as_f64().unwrap() > 0.8);
}

#[test]
fn click_models_estimate_what_users_examine() {
    let desk = TestFolder::new();
    let mut sessions = String::new();
    for session in 0..300 {
        // The first position is clicked in half of the sessions, the second in a tenth; both show each result equally often.
        let results = if session % 2 == 0 { "\"a\",\"b\"" } else { "\"b\",\"a\"" };
        let clicks = if session % 10 == 3 {
            "1"
        } else if session % 4 < 2 {
            "0"
        } else {
            ""
        };
        writeln!(sessions, "{{\"query\":\"q\",\"results\":[{results}],\"clicks\":[{clicks}]}}").unwrap();
    }
    let log = desk.file("sessions.jsonl", &sessions);
    let log = log.to_str().unwrap();
    let labels = desk.path("labels.tsv");
    let arguments = ["rank", "clicks", "--sessions", log, "--test", log, "--out", labels.to_str().unwrap()];
    for model in ["pbm", "cascade", "dcm", "sdbn", "dbn", "ubm"] {
        let found = desk.json("unused", &[&arguments[..], &["--model", model]].concat());
        assert_eq!((found["sessions"].as_u64(), found["pairs"].as_u64()), (Some(300), Some(2)));
        assert_eq!(found["train"]["log_likelihood"], found["test"]["log_likelihood"], "the same sessions");
        assert!(found["propensities"][1].as_f64().unwrap() < 0.9, "{found}");
        let labels = std::fs::read_to_string(&labels).unwrap();
        assert!(labels.starts_with("q\ta\t0.") && labels.lines().count() == 2, "{labels}");
    }
    let text = succeed(&mut desk.on("unused", &arguments));
    assert!(text.contains("pbm: 300 sessions, 2 pairs of query and result\n"), "{text}");
    let few = desk.file("few.jsonl", sessions.lines().next().unwrap());
    let error = fail(&mut desk.on("unused", &["rank", "clicks", "--sessions", few.to_str().unwrap()]));
    assert!(
        error.contains("1 sessions are too few to estimate a click model: 99 more are needed"),
        "{error}"
    );
}

#[test]
fn wrong_input_is_reported() {
    let desk = TestFolder::new();
    let good = desk.file("good.txt", letor(0, 5));
    let good = good.to_str().unwrap();
    let out = desk.path("model.json");
    let out = out.to_str().unwrap();
    let train = |arguments: &[&str]| {
        fail(&mut desk.on("unused", &[&["rank", "train", "--out", out], arguments].concat()))
    };
    let bad = desk.file("bad.txt", "1 qid:1 1:1\n0 qid:1 1:much\n");
    let error = train(&["--letor", bad.to_str().unwrap()]);
    assert!(error.contains("bad.txt, line 2: value `much` is not a number"), "{error}");
    let error = train(&["--letor", good, "--model", "magic"]);
    assert!(error.contains("unknown model `magic`: use one of lambdamart, "), "{error}");
    let error = train(&["--letor", good, "--set", "leaves=1"]);
    assert!(error.contains("leaves = 1: expected a whole number from 2 to 4096"), "{error}");
    let error = train(&["--letor", good, "--set", "leafs=7"]);
    assert!(error.contains("unknown parameter `leafs` of this model: use "), "{error}");
    let equal = desk.file("equal.txt", "1 qid:1 1:1\n1 qid:1 1:2\n0 qid:2 1:1\n");
    let error = train(&["--letor", equal.to_str().unwrap()]);
    assert!(error.contains("nothing to learn: no query of 2 has results of different grades"), "{error}");
    assert!(!std::path::Path::new(out).exists());
    let error = fail(&mut desk.on("unused", &["rank", "test", "--letor", good, "--model-file", good]));
    assert!(error.contains("good.txt: not a ranking model"), "{error}");
    assert!(!desk.path("unused").exists(), "no data directory is created");
}
