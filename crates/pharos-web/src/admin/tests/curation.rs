//! The curation page: entries, conflicts, preview, synonyms and stop words.

use super::*;
use crate::testing::TestPage;

fn start_with_pages() -> Running {
    let pages = [
        TestPage::new("https://a.example/1", "The lamp", "a lamp in the tower"),
        TestPage::new("https://a.example/2", "Oil", "oil for the lamp and more of the kind"),
        TestPage::new("https://a.example/3", "Tea", "nothing of the kind"),
    ];
    let (dir, service) = engine(&pages, Config::default());
    let app = AppState::new(service).unwrap();
    let desk = Arc::clone(app.desk());
    Running { dir, router: router::build(app.clone()), app, desk }
}

impl Running {
    async fn found(&self, query: &str) -> Vec<String> {
        let reply = crate::testing::get(&self.router, &format!("/api/v1/search?q={query}")).await;
        let answer: serde_json::Value = serde_json::from_slice(&reply.bytes).unwrap();
        let hits = answer["hits"].as_array().unwrap();
        hits.iter().map(|hit| hit["url"].as_str().unwrap().replace("https://a.example/", "")).collect()
    }
}

fn hidden_value(page: &str, form: &str, name: &str) -> String {
    let (_, form) = page.split_once(&format!("action=\"/admin/curation/{form}\"")).unwrap();
    let (_, rest) = form.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
    rest.split('"').next().unwrap().to_string()
}

const PIN: [(&str, &str); 4] =
    [("kind", "pin"), ("query", "Lamp"), ("url", "https://a.example/3"), ("place", "1")];

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_is_previewed_saved_changed_and_removed() {
    let running = start_with_pages();
    let mut keeper = running.keeper().await;
    assert_eq!(running.found("lamp").await, ["1", "2"]);
    let preview = keeper.act("/admin/curation/save", &[PIN.as_slice(), &[("do", "preview")]].concat()).await;
    assert_eq!(preview.status, StatusCode::OK);
    assert!(preview.text().contains("Preview of “Lamp”") && preview.text().contains("value=\"Lamp\""));
    assert!(preview.text().contains("<span class=\"ok\">pinned</span> <bdi>Tea</bdi>"), "{}", preview.text());
    assert_eq!(running.found("lamp").await, ["1", "2"], "a preview changes nothing");

    let saved = keeper.act("/admin/curation/save", &PIN).await;
    assert_eq!(saved.header("location"), "/admin/curation");
    assert_eq!(running.found("lamp").await, ["3", "1", "2"], "it takes effect at once");
    let again = keeper.act("/admin/curation/save", &PIN).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(again.text().contains("Such an entry exists already"));

    let list = keeper.get("/admin/curation?lang=en").await;
    for part in ["<bdi>Lamp</bdi>", "https://a.example/3", "<bdi>Keeper</bdi>", ">active<"] {
        assert!(list.text().contains(part), "{part} is missing in {}", list.text());
    }
    let removed = keeper.act("/admin/curation/remove", &[("id", "1"), ("version", "1")]).await;
    assert_eq!(removed.header("location"), "/admin/curation");
    assert_eq!(running.found("lamp").await, ["1", "2"]);
    let log = running.action_log();
    for part in ["curation.add", "curation.remove", "pin Lamp", "such an entry exists already"] {
        assert!(log.contains(part), "{part} is missing in {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_of_two_operators_keeps_the_text_and_learns_of_the_first() {
    let running = start_with_pages();
    let mut keeper = running.keeper().await;
    let notice = |text, version| {
        [("kind", "notice"), ("query", "lamp"), ("text", text), ("id", "1"), ("version", version)]
    };
    keeper.act("/admin/curation/save", &notice("First", "0")[..3]).await;
    assert!(running.found("lamp").await.len() == 2);
    let edit = keeper.get("/admin/curation?edit=1&lang=en").await;
    assert_eq!(hidden_value(edit.text(), "save", "version"), "1");
    assert!(edit.text().contains("Change entry 1") && edit.text().contains(">First</textarea>"));
    let first = keeper.act("/admin/curation/save", &notice("Of the first", "1")).await;
    assert_eq!(first.header("location"), "/admin/curation");
    let second = keeper.act("/admin/curation/save", &notice("Of the <second>", "1")).await;
    assert_eq!(second.status, StatusCode::CONFLICT);
    let text = second.text();
    assert!(text.contains("Keeper has changed this entry"), "{text}");
    assert!(text.contains("Of the &#60;second&#62;</textarea>") && text.contains("Of the first"), "{text}");
    let version = hidden_value(text, "save", "version");
    let replaced = keeper.act("/admin/curation/save", &notice("Of the <second>", &version)).await;
    assert_eq!(replaced.header("location"), "/admin/curation");
    let results = crate::testing::get(&running.router, "/search?q=LAMP&lang=en").await;
    assert!(results.text().contains("<p>Of the &#60;second&#62;</p>"), "{}", results.text());
    keeper.act("/admin/curation/remove", &[("id", "1"), ("version", "3")]).await;
    let late = keeper.act("/admin/curation/save", &notice("Again", "3")).await;
    assert!(late.text().contains("no longer exists") && late.text().contains(">Again</textarea>"));
    assert_eq!(hidden_value(late.text(), "save", "id"), "0", "saving adds it again");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_entries_are_refused_and_the_text_is_kept() {
    let running = start_with_pages();
    let mut keeper = running.keeper().await;
    for (fields, why) in [
        (
            vec![("kind", "pin"), ("query", ""), ("url", "https://a.example/"), ("place", "1")],
            "Enter a query.",
        ),
        (vec![("kind", "pin"), ("query", "<a>"), ("url", "a"), ("place", "1")], "“a” is not the URL"),
        (vec![("kind", "pin"), ("query", "<a>"), ("url", "https://a/"), ("place", "x")], "from 1 to 10"),
        (vec![("kind", "notice"), ("query", "<a>"), ("text", " ")], "Enter the text"),
        (
            vec![("kind", "notice"), ("query", "<a>"), ("text", "x"), ("link", "javascript:alert(1)")],
            "is not a link",
        ),
        (vec![("kind", "hide"), ("url", "https://a/"), ("until", "soon")], "Invalid end"),
        (vec![("kind", "sell")], "Unknown kind"),
    ] {
        let reply = keeper.act("/admin/curation/save?lang=en", &fields).await;
        assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{why}");
        assert!(reply.text().contains(why), "{why}: {}", reply.text());
        assert!(!reply.text().contains("<a>"), "escaped");
    }
    assert!(!running.dir.path().join("models/curation.json").exists());
    let gone = [("kind", "pin"), ("query", "lamp"), ("url", "https://a.example/gone"), ("place", "1")];
    keeper.act("/admin/curation/save", &gone).await;
    assert_eq!(running.found("lamp").await, ["1", "2"], "a page that does not exist is not shown");
    assert!(keeper.get("/admin/curation?lang=en").await.text().contains("page not in the index"));
    fs::write(running.dir.path().join("models/curation.json"), "{").unwrap();
    let page = keeper.get("/admin/curation?lang=en").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.text().contains("is damaged"), "{}", page.text());
    let refused = keeper.act("/admin/curation/save", &PIN).await;
    assert!(refused.text().contains("Not saved") && refused.status == StatusCode::CONFLICT);
}

#[tokio::test(flavor = "multi_thread")]
async fn synonyms_and_stop_words_have_editors() {
    let running = start_with_pages();
    let mut keeper = running.keeper().await;
    let page = keeper.get("/admin/curation?lang=en").await;
    let stamp = hidden_value(page.text(), "synonyms", "stamp");
    let typed = [("stamp", stamp.as_str()), ("text", "# ours\r\ntea, infusion\r\nalone")];
    assert_eq!(keeper.act("/admin/curation/synonyms", &typed).await.header("location"), "/admin/curation");
    let stored = fs::read_to_string(running.dir.path().join("models/synonyms.tsv")).unwrap();
    assert_eq!(stored, "# ours\ntea\tinfusion\nalone\n");
    assert_eq!(running.found("infusion").await, ["3"]);
    let page = keeper.get("/admin/curation?lang=en").await;
    assert!(page.text().contains("Line 3 is not used") && page.text().contains("tea, infusion"));
    let late = [("stamp", stamp.as_str()), ("text", "mine, <own>")];
    let refused = keeper.act("/admin/curation/synonyms?lang=en", &late).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.text().contains("mine, &#60;own&#62;</textarea>"), "{}", refused.text());
    assert!(refused.text().contains("The file has been changed meanwhile"));

    let stamp = hidden_value(page.text(), "stop-words", "stamp");
    let typed = [("stamp", stamp.as_str()), ("text", "pharos")];
    keeper.act("/admin/curation/stop-words", &typed).await;
    assert_eq!(running.found("pharos+tower").await, ["1"]);
    assert_eq!(keeper.act("/admin/curation/nothing", &[]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread")]
async fn proposed_synonyms_are_accepted_or_rejected() {
    let running = start_with_pages();
    let mut keeper = running.keeper().await;
    let proposal = |a: &str, b: &str| {
        let queries = [format!("{a} house"), format!("{b} house")];
        serde_json::json!({ "words": [a, b], "visits": 4, "similarity": 0.5, "queries": queries })
    };
    let proposals = [proposal("infusion", "tea"), proposal("<oil>", "lamp")];
    fs::create_dir_all(running.dir.path().join("graph")).unwrap();
    fs::create_dir_all(running.dir.path().join("models")).unwrap();
    fs::write(running.dir.path().join("graph/synonyms.json"), serde_json::to_vec(&proposals).unwrap())
        .unwrap();
    fs::write(running.dir.path().join("models/synonyms.tsv"), "# ours").unwrap();
    let page = keeper.get("/admin/curation?lang=en").await;
    assert!(page.text().contains("replaced by 4 visits, clicks agree to 50 %"), "{}", page.text());
    assert!(page.text().contains("infusion house") && !page.text().contains("<oil>"));

    keeper.act("/admin/curation/proposal", &[("a", "infusion"), ("b", "tea"), ("do", "accept")]).await;
    let stored = fs::read_to_string(running.dir.path().join("models/synonyms.tsv")).unwrap();
    assert_eq!(stored, "# ours\ninfusion\ttea\n");
    assert_eq!(running.found("infusion").await, ["3"]);
    keeper.act("/admin/curation/proposal", &[("a", "lamp"), ("b", "<oil>"), ("do", "reject")]).await;
    let page = keeper.get("/admin/curation?lang=en").await;
    assert!(!page.text().contains("Proposed synonyms"), "{}", page.text());
    let log = running.action_log();
    assert!(log.contains("curation.accept-synonyms") && log.contains("curation.reject-synonyms"), "{log}");
    let odd = keeper.act("/admin/curation/proposal", &[("do", "x")]).await;
    assert_eq!(odd.status, StatusCode::NOT_FOUND);
}
