use super::*;

#[test]
fn targets_are_pages_or_sites() {
    assert_eq!(parse_target(" http://A.example/b/../c "), Some("http://a.example/c".into()));
    assert_eq!(parse_target("A.Example"), Some("a.example".into()));
    for wrong in ["", "a.example/b", "user@a.example", "http://", "a b"] {
        assert_eq!(parse_target(wrong), None, "{wrong}");
    }
}

#[test]
fn one_decision_per_target() {
    let decision = |category: &str| CategoryDecision {
        target: "a.example".into(),
        category: Some(category.into()),
        by: String::new(),
        at: String::new(),
    };
    let mut decisions = CategoryDecisions::default();
    assert!(decisions.put(decision("sea")) && decisions.put(decision("sky")));
    assert_eq!(decisions.by_target(), HashMap::from([("a.example", Some("sky"))]));
    assert!(decisions.remove("a.example") && !decisions.remove("a.example"));
}
