//! The page of categories: starter taxonomy, training, deployment, decisions, and the directory that follows.

use super::*;

async fn text_of(keeper: &mut Browser<'_>, path: &str) -> String {
    keeper.get(path).await.text().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_makes_a_directory() {
    let running = start();
    let mut keeper = running.keeper().await;
    let public = |path: &'static str| crate::testing::get(&running.router, path);
    assert_eq!(public("/directory").await.status, StatusCode::NOT_FOUND);
    assert_eq!(public("/api/v1/directory").await.status, StatusCode::NOT_FOUND);
    assert!(!public("/?lang=en").await.text().contains("/directory"));

    keeper.act("/admin/categories/starter", &[]).await;
    let page = text_of(&mut keeper, "/admin/categories?edit=astronomy&lang=en").await;
    for part in ["<code>astronomy</code>", "There is no model yet", "name=\"parent\" value=\"science\""] {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
    let new = [("id", "lamps"), ("parent", "science"), ("en", "Lamps"), ("zh", "灯"), ("do", "save")];
    keeper.act("/admin/categories/save", &new).await;
    let examples =
        [("category", "灯"), ("kind", "text"), ("values", "A lamp with a wick\n\nOil for the lamp")];
    keeper.act("/admin/categories/examples", &examples).await;
    assert!(text_of(&mut keeper, "/admin/categories?lang=en").await.contains("Examples added: 2."));
    let cycle = [("id", "science"), ("parent", "lamps"), ("en", "Science"), ("do", "save")];
    keeper.act("/admin/categories/save", &cycle).await;
    assert!(text_of(&mut keeper, "/admin/categories?lang=en").await.contains("is below itself"));

    keeper.act("/admin/categories/train", &[]).await;
    while running.app.training().is_running {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(running.app.training().last, Some(Ok(1)));
    keeper.act("/admin/categories/deploy", &[("version", "1")]).await;
    let page = text_of(&mut keeper, "/admin/categories?lang=en").await;
    for part in ["Model 1 is deployed", "href=\"/directory/lamps\"", ">deployed<"] {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
    let category = public("/directory/lamps?lang=zh").await;
    for part in ["<h1>灯</h1>", "自然科学", "该类别暂时没有网页"] {
        assert!(category.text().contains(part), "{part} is missing in {}", category.text());
    }
    assert_eq!(public("/directory/unknown").await.status, StatusCode::NOT_FOUND);

    keeper.act("/admin/categories/decide", &[("target", "a.example"), ("category", "Lamps")]).await;
    keeper.act("/admin/categories/decide", &[("target", "a.example/x"), ("category", "Lamps")]).await;
    let page = text_of(&mut keeper, "/admin/categories?lang=en").await;
    assert!(
        page.contains("is neither the URL of a page nor a host") && page.contains("<bdi>a.example</bdi>")
    );
    keeper.act("/admin/categories/undecide", &[("target", "a.example")]).await;
    assert!(!text_of(&mut keeper, "/admin/categories").await.contains("<bdi>a.example</bdi>"));
    keeper.act("/admin/categories/rollback", &[]).await;
    assert_eq!(public("/directory").await.status, StatusCode::NOT_FOUND);
    let log = running.action_log();
    for part in ["categories.starter", "categories.train", "categories.deploy", "categories.decide"] {
        assert!(log.contains(part), "{part} is missing in {log}");
    }
}
