use proptest::prelude::*;

use super::*;

fn category(id: &str, parent: &str, en: &str, zh: &str) -> Category {
    let parent = (!parent.is_empty()).then(|| parent.to_string());
    Category { id: id.into(), parent, en: en.into(), zh: zh.into(), synonyms: Vec::new() }
}

fn arts() -> Taxonomy {
    Taxonomy::new(vec![
        category("photography", "visual-arts", "Photography", "摄影"),
        category("arts", "", "Arts and humanities", "人文与艺术"),
        category("visual-arts", "arts", "Visual arts", "视觉艺术"),
    ])
    .unwrap()
}

#[test]
fn a_path_leads_from_the_top_to_the_category() {
    let taxonomy = arts();
    let path: Vec<&str> = taxonomy.path("photography").iter().map(|category| category.zh.as_str()).collect();
    assert_eq!(path, ["人文与艺术", "视觉艺术", "摄影"]);
    assert!(taxonomy.path("none").is_empty());
    let tree: Vec<(usize, &str)> =
        taxonomy.tree().into_iter().map(|(level, category)| (level, category.id.as_str())).collect();
    assert_eq!(tree, [(0, "arts"), (1, "visual-arts"), (2, "photography")]);
    assert_eq!(taxonomy.find("摄影"), taxonomy.find("PHOTOGRAPHY "));
    assert!(taxonomy.find("").is_none());
}

/// Classes, training pages and test pages of the twelve top classes of table 11-1.
const TABLE: [(u64, u64, u64); 12] = [
    (24, 419, 110),
    (7, 125, 19),
    (48, 839, 214),
    (88, 1510, 374),
    (58, 925, 238),
    (18, 286, 85),
    (53, 891, 235),
    (113, 1892, 514),
    (18, 288, 84),
    (104, 1765, 479),
    (136, 2295, 616),
    (66, 1101, 301),
];

#[test]
fn counts_are_added_to_the_categories_above() {
    let top = (0..12).map(|n| category(&format!("top-{n}"), "all", &format!("Top {n}"), ""));
    let categories = std::iter::once(category("all", "", "All", "全部")).chain(top).collect();
    let taxonomy = Taxonomy::new(categories).unwrap();
    let sum = |column: fn(&(u64, u64, u64)) -> u64| {
        let counts = TABLE.iter().enumerate().map(|(n, row)| (format!("top-{n}"), column(row)));
        taxonomy.roll_up(&counts.collect())["all"]
    };
    assert_eq!((sum(|row| row.0), sum(|row| row.1), sum(|row| row.2)), (733, 12_336, 3_269));
}

#[test]
fn defects_are_reported() {
    let new = |categories: &[Category]| Taxonomy::new(categories.to_vec()).unwrap_err();
    let a = category("a", "", "A", "");
    assert_eq!(new(&[a.clone(), a.clone()]), TaxonomyError::Duplicate("a".into()));
    assert_eq!(new(&[category("A b", "", "A", "")]), TaxonomyError::InvalidId("A b".into()));
    assert_eq!(new(&[category("a", "", " ", "")]), TaxonomyError::NoName("a".into()));
    let unknown = TaxonomyError::UnknownParent { id: "b".into(), parent: "c".into() };
    assert_eq!(new(&[category("b", "c", "B", "")]), unknown);
    let cycle = [category("b", "c", "B", ""), category("c", "b", "C", ""), category("d", "b", "D", "")];
    assert_eq!(new(&cycle), TaxonomyError::Cycle("b".into()));
    assert!(matches!(new(&[cycle[2].clone(), cycle[0].clone(), cycle[1].clone()]), TaxonomyError::Cycle(_)));
    assert_eq!(new(&[category("a", "a", "A", "")]), TaxonomyError::Cycle("a".into()));
    let chain: Vec<Category> = (0..9)
        .map(|n| {
            category(&format!("c{n}"), &if n > 0 { format!("c{}", n - 1) } else { String::new() }, "C", "")
        })
        .collect();
    assert_eq!(new(&chain), TaxonomyError::TooDeep("c8".into()));
    assert!(Taxonomy::new(chain[..8].to_vec()).is_ok());
    let many: Vec<Category> = (0..=MAX_CATEGORIES).map(|n| category(&format!("c{n}"), "", "C", "")).collect();
    assert_eq!(new(&many), TaxonomyError::TooMany);
    assert!(Taxonomy::new(many[1..].to_vec()).is_ok());
}

#[test]
fn categories_are_added_replaced_and_removed() {
    let taxonomy = arts().put(category("music", "arts", "Music", "音乐")).unwrap();
    let renamed = taxonomy.put(category("music", "arts", "Sound", "音乐")).unwrap();
    assert_eq!(renamed.get("music").unwrap().en, "Sound");
    assert_eq!(renamed.categories().len(), 4);
    assert_eq!(taxonomy.remove("arts"), Err(TaxonomyError::HasChildren("arts".into())));
    assert_eq!(taxonomy.remove("none"), Err(TaxonomyError::Missing("none".into())));
    assert_eq!(taxonomy.remove("music"), Ok(arts()));
}

#[test]
fn both_forms_are_read_back() {
    let mut taxonomy = arts();
    let synonyms = vec!["photos".into(), "照片".into()];
    let named = Category { synonyms, ..category("photography", "visual-arts", "Photos, \"old\"", "摄影") };
    taxonomy = taxonomy.put(named).unwrap();
    assert_eq!(Taxonomy::parse(&taxonomy.to_json()), Ok(taxonomy.clone()));
    assert_eq!(Taxonomy::parse(&taxonomy.to_csv()), Ok(taxonomy.clone()));
    let short = Taxonomy::parse("\u{FEFF}ID,en\r\nsea,Sea\r\n").unwrap();
    assert_eq!(short.get("sea").unwrap().name(true), "Sea");
    assert!(matches!(Taxonomy::parse("name\nsea\n"), Err(TaxonomyError::Format(_))));
    assert!(matches!(Taxonomy::parse("{\"categories\": 1}"), Err(TaxonomyError::Format(_))));
}

proptest! {
    #[test]
    fn any_text_is_read_or_rejected(text in "[a-c\",|{}\n]{0,60}") {
        for text in [text.clone(), format!("id,parent,en\n{text}")] {
            if let Ok(taxonomy) = Taxonomy::parse(&text) {
                prop_assert_eq!(Taxonomy::parse(&taxonomy.to_csv()), Ok(taxonomy.clone()));
                prop_assert_eq!(taxonomy.tree().len(), taxonomy.categories().len());
            }
        }
    }
}
