use super::*;

#[test]
fn examples_are_read_from_csv_and_from_lists() {
    let csv = "category,kind,value\nsea,section,https://a.example/sea/\nsea,text,\"Ships, \"\"tall\"\" ones\"\nsea,none,x\nsky,url\n";
    let (examples, unusable) = parse(csv);
    assert_eq!((examples.len(), unusable), (2, 2));
    assert_eq!(
        (examples[0].value.as_str(), examples[1].value.as_str()),
        ("a.example/sea/", "Ships, \"tall\" ones")
    );
    assert_eq!(parse(&to_csv(&examples)), (examples.clone(), 0));
    let (list, unusable) = parse("sea\thttps://a.example/1\nsky\tStars at night\nno tab\n");
    assert_eq!((list[0].kind, list[1].kind, unusable), (ExampleKind::Url, ExampleKind::Text, 1));
    let mut all = examples.clone();
    assert_eq!((merge(&mut all, examples), merge(&mut all, list)), (0, 2));
}

#[test]
fn sections_end_at_divisions() {
    for url in ["a.example/sea", "a.example/sea/1", "a.example/sea?x"] {
        assert!(is_in_section(url, "a.example/sea"), "{url}");
    }
    assert!(!is_in_section("a.example/search", "a.example/sea"));
    assert!(is_in_section("a.example/sea-1", "a.example/sea-"));
    assert!(is_in_section("a.example/x", "a.example") && !is_in_section("a.example.org/x", "a.example"));
}
