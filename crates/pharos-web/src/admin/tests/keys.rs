//! The page of API keys.

use super::*;
use crate::testing::get_with;

/// Returns the secret that the page shows.
async fn shown_secret(browser: &mut Browser<'_>) -> String {
    let page = browser.get("/admin/keys?lang=en").await;
    let (_, rest) = page.text().split_once("pharos_").unwrap_or_else(|| panic!("{}", page.text()));
    format!("pharos_{}", rest.split(' ').next().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_created_shown_once_rotated_revoked_and_removed() {
    let running = start();
    let mut keeper = running.keeper().await;
    let status =
        async |secret: &str| get_with(&running.router, "/api/v1/stats", &[("api-key", secret)]).await.status;
    assert!(keeper.get("/admin/keys?lang=en").await.text().contains("everyone may use the API"));
    let fields = [("name", "Shop <1>"), ("endpoint", "stats"), ("endpoint", "search"), ("rate", "50")];
    assert_eq!(keeper.act("/admin/keys/add", &fields).await.header("location"), "/admin/keys");
    let first = shown_secret(&mut keeper).await;
    assert_eq!(status(&first).await, StatusCode::OK);
    let list = keeper.get("/admin/keys?lang=en").await;
    assert!(!list.text().contains(&first), "shown once");
    for part in ["Shop &#60;1&#62;", "stats, search", ">active<", ">1 <small>", "all sites"] {
        assert!(list.text().contains(part), "{part} is missing in {}", list.text());
    }
    let again = keeper.act("/admin/keys/add?lang=en", &fields).await;
    assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(again.text().contains("exists already") && again.text().contains("value=\"stats\" checked"));
    let form = keeper.get("/admin/keys?lang=en&edit=Shop+%3C1%3E").await;
    for part in ["Change a key", "value=\"stats\" checked", "name=\"version\" value=\"0\"", "value=\"50\""] {
        assert!(form.text().contains(part), "{part} is missing in {}", form.text());
    }
    let change = [("name", "Shop <1>"), ("version", "0"), ("endpoint", "search")];
    assert_eq!(keeper.act("/admin/keys/change", &change).await.header("location"), "/admin/keys");
    assert_eq!(status(&first).await, StatusCode::FORBIDDEN, "the endpoint is no longer permitted");
    let late = keeper.act("/admin/keys/change?lang=en", &change).await;
    assert_eq!(late.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(late.text().contains("Another operator changed this key"), "{}", late.text());
    let change = [("name", "Shop <1>"), ("version", "1"), ("endpoint", "search"), ("endpoint", "stats")];
    keeper.act("/admin/keys/change", &change).await;
    keeper.act("/admin/keys/rotate", &[("name", "Shop <1>")]).await;
    let second = shown_secret(&mut keeper).await;
    assert_eq!((status(&first).await, status(&second).await), (StatusCode::UNAUTHORIZED, StatusCode::OK));
    keeper.act("/admin/keys/revoke", &[("name", "Shop <1>")]).await;
    assert_eq!(status(&second).await, StatusCode::UNAUTHORIZED);
    keeper.act("/admin/keys/remove", &[("name", "Shop <1>")]).await;
    assert_eq!(status("").await, StatusCode::OK, "without keys the API is open");
    let log = running.action_log();
    for part in ["key.add", "key.change", "key.rotate", "key.revoke", "key.remove"] {
        assert!(log.contains(part), "{part} is missing in {log}");
    }
    assert!(!log.contains(&first) && !log.contains(&second), "no secret is logged");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_keys_are_refused_and_the_text_is_kept() {
    let running = start();
    let mut keeper = running.keeper().await;
    for (fields, why) in [
        (vec![("name", " ")], "1 to 64 characters"),
        (vec![("name", "a"), ("endpoint", "<hot>")], "is not an endpoint"),
        (vec![("name", "a"), ("sites", "<b>/x")], "is not a site"),
        (vec![("name", "a"), ("rate", "0")], "from 1 to 100,000"),
        (vec![("name", "a"), ("until", "soon")], "Invalid end"),
    ] {
        let reply = keeper.act("/admin/keys/add?lang=en", &fields).await;
        assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{why}");
        assert!(reply.text().contains(why), "{why}: {}", reply.text());
        assert!(!reply.text().contains("<b>") && !reply.text().contains("<hot>"));
    }
    assert!(!running.dir.path().join("desk/api_keys.json").exists());
    keeper.act("/admin/keys/revoke", &[("name", "none")]).await;
    assert!(keeper.get("/admin/keys?lang=en").await.text().contains("No key has this name."));
    assert_eq!(keeper.act("/admin/keys/nothing", &[]).await.status, StatusCode::NOT_FOUND);
    fs::create_dir_all(running.dir.path().join("desk")).unwrap();
    fs::write(running.dir.path().join("desk/api_keys.json"), "{").unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(600)).await;
    assert!(keeper.get("/admin/keys?lang=en").await.text().contains("is damaged"));
}
