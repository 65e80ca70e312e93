//! Compares the copies of the truth with the text of the pages.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::visitor::Client;
use pharos_testweb::{
    CopyKind, CopySpec, Lang, START, ServeOptions, Server, TextEdit, TruePage, Truth, Web, WebSpec,
};

const COPIES: CopySpec =
    CopySpec { reprints: 36, excerpts: 12, series_articles: 15, mirrors: 2, canonical_variants: 12 };

pub(crate) fn spec() -> WebSpec {
    WebSpec { seed: 7, hosts: 8, pages: 400, copies: COPIES, ..WebSpec::default() }
}

/// Returns pages by kind of copy, without those of mirrors.
fn planted(truth: &Truth, kind: CopyKind) -> Vec<&TruePage> {
    let of_kind = |page: &&TruePage| page.copy.as_ref().is_some_and(|copy| copy.kind == kind);
    truth.copies().filter(of_kind).collect()
}

#[test]
fn requested_copies_exist_in_both_languages_and_are_reachable() {
    let truth = Web::generate(&spec()).truth(80);
    let mirrors: HashMap<&str, &str> = truth
        .hosts
        .iter()
        .filter_map(|host| Some((host.name.as_str(), host.mirror_of.as_deref()?)))
        .collect();
    let series: Vec<&TruePage> =
        truth.pages.iter().filter(|page| page.series.is_some() && page.copy.is_none()).collect();
    for (pages, count) in [
        (planted(&truth, CopyKind::Reprint), COPIES.reprints),
        (planted(&truth, CopyKind::Excerpt), COPIES.excerpts),
        (planted(&truth, CopyKind::Variant), COPIES.canonical_variants),
        (series, COPIES.series_articles),
    ] {
        assert_eq!(pages.len(), count);
        assert_eq!(pages.iter().map(|page| page.lang).collect::<HashSet<Lang>>().len(), 2);
        assert!(pages.iter().all(|page| page.stored() && page.status == 200));
    }
    let edits = planted(&truth, CopyKind::Reprint).into_iter().filter_map(|page| page.copy.as_ref());
    let edits: HashSet<_> = edits.map(|copy| std::mem::discriminant(&copy.edit)).collect();
    assert_eq!(edits.len(), 6);

    assert_eq!(mirrors.len(), COPIES.mirrors);
    for (mirror, original) in mirrors {
        let pages = |host: &str| -> BTreeMap<String, (u16, bool, bool)> {
            let pages = truth.pages.iter().filter(|page| page.host == host);
            pages
                .map(|page| (page.url.replacen(host, "", 1), (page.status, page.allowed, page.reachable)))
                .collect()
        };
        assert_eq!(pages(mirror), pages(original));
    }
}

#[test]
fn a_copy_says_what_its_edit_left_now_and_later() {
    let changing = WebSpec { change_rate: 0.3, birth_rate: 3.0, death_rate: 0.01, ..spec() };
    let web = Web::generate(&changing);
    for moment in [START, START + 10 * 24 * 3600] {
        let truth = web.truth_at(80, moment);
        let pages: HashMap<&str, &TruePage> =
            truth.pages.iter().map(|page| (page.url.as_str(), page)).collect();
        let mut checked = 0;
        for page in truth.copies() {
            let Some(copy) = &page.copy else { continue };
            let original = pages[copy.of.as_str()];
            if original.status == 200 {
                assert_eq!(page.content, original.content, "{}", page.url);
                compare(page, original, copy.kind, copy.edit);
                checked += 1;
            }
        }
        assert!(checked > 100, "{checked}");
    }
}

fn compare(page: &TruePage, original: &TruePage, kind: CopyKind, edit: TextEdit) {
    let url = &page.url;
    let (copied, lines): (Vec<&str>, Vec<&str>) =
        (page.text.lines().collect(), original.text.lines().collect());
    match kind {
        CopyKind::Reprint | CopyKind::Excerpt => assert_ne!(page.host, original.host),
        CopyKind::Variant => {
            assert_eq!((&page.host, page.canonical.as_ref()), (&original.host, Some(&original.url)));
        }
        CopyKind::Duplicate | CopyKind::NearDuplicate | CopyKind::Mirror => {}
    }
    let sorted = |lines: &[&str]| lines.iter().map(|line| line.to_string()).collect::<BTreeSet<String>>();
    let common = sorted(&copied).intersection(&sorted(&lines)).count();
    match edit {
        TextEdit::Nothing => assert_eq!(page.text, original.text, "{url}"),
        TextEdit::Words { percent } => {
            assert!((1..=8).contains(&percent) && copied.len() == lines.len() && page.text != original.text);
            let pieces = |text: &str| -> HashSet<Vec<char>> {
                text.chars().collect::<Vec<_>>().windows(4).map(<[char]>::to_vec).collect()
            };
            let (left, right) = (pieces(&page.text), pieces(&original.text));
            let same = left.intersection(&right).count() as f64 / left.len() as f64;
            assert!((0.7..1.0).contains(&same), "{url}: {percent} % replaced, {same} the same");
        }
        TextEdit::Added => assert_eq!((copied.len(), common), (lines.len() + 1, lines.len()), "{url}"),
        TextEdit::Dropped => assert_eq!((copied.len(), common), (lines.len() - 1, lines.len() - 1), "{url}"),
        TextEdit::Moved => {
            assert!(copied != lines && common == lines.len() && copied.len() == lines.len(), "{url}");
        }
        TextEdit::Source => {
            assert_eq!((copied.len(), common), (lines.len() + 1, lines.len()), "{url}");
            assert!(page.text.contains(&original.host));
            assert!(page.links.iter().any(|link| link.url == original.url));
        }
        TextEdit::Part { .. } => {
            let share = page.text.chars().count() as f64 / original.text.chars().count() as f64;
            assert!((0.4..=0.75).contains(&share), "{url} has {share}");
            let sentences = page.text.split(['\n', '.', '。']).map(str::trim);
            assert!(sentences.into_iter().all(|sentence| original.text.contains(sentence)), "{url}");
        }
        TextEdit::Banner => assert_eq!(copied.get(1..), Some(&lines[..]), "{url}"),
        // Near-duplicates are tested elsewhere.
        TextEdit::Ending => {}
    }
}

#[test]
fn pages_of_different_content_share_nothing_but_boilerplate() {
    let truth = Web::generate(&spec()).truth(80);
    let mut contents: HashMap<&str, HashSet<&str>> = HashMap::new();
    let mut series: HashMap<&str, HashSet<Option<u32>>> = HashMap::new();
    for page in &truth.pages {
        for line in page.text.lines() {
            contents.entry(line).or_default().extend(page.content.as_deref());
            series.entry(line).or_default().insert(page.series);
        }
    }
    let mut boilerplate: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for (line, _) in contents.into_iter().filter(|(_, contents)| contents.len() > 1) {
        if line.starts_with("This is a mirror of ") || line.starts_with("本站是") {
            continue;
        }
        let of: Vec<Option<u32>> = series[line].iter().copied().collect();
        match of[..] {
            [Some(series)] => boilerplate.entry(series).or_default().push(line),
            _ => panic!("{line} is shared by {of:?}"),
        }
    }
    assert_eq!(boilerplate.len(), COPIES.series_articles / 5);
    for (series, lines) in boilerplate {
        assert_eq!(lines.len(), 2);
        let parts: Vec<&TruePage> =
            truth.pages.iter().filter(|page| page.series == Some(series) && page.copy.is_none()).collect();
        let text = lines.join(" ");
        let (length, usual) = match parts[0].lang {
            Lang::En => (text.split(' ').count(), 40..=80),
            Lang::Zh => (text.chars().count(), 80..=160),
        };
        assert!(usual.contains(&length), "{length}: {text}");
        for part in &parts {
            assert!(lines.iter().all(|line| part.text.contains(line)) && part.host == parts[0].host);
            assert!(part.text.len() > 2 * text.len(), "{}", part.url);
        }
    }
}

#[test]
fn groups_hold_the_pages_of_one_content() {
    let truth = Web::generate(&spec()).truth(80);
    let groups = truth.content_groups();
    let mut contents = HashSet::new();
    for group in &groups {
        assert!(group.len() > 1 && contents.insert(group[0].content.as_deref()));
        assert!(group.iter().all(|page| page.stored() && page.content == group[0].content));
    }
    let grouped: usize = groups.iter().map(Vec::len).sum();
    let labelled = truth.stored().filter(|page| page.content.is_some()).count();
    let all: HashSet<&str> = truth.stored().filter_map(|page| page.content.as_deref()).collect();
    assert_eq!(labelled - grouped, all.len() - groups.len());
    // Home pages and lists of mirrors are copies, too; and some contents are on more than two pages.
    assert!(groups.iter().any(|group| group[0].kind == pharos_testweb::PageKind::Hub));
    assert!(groups.iter().any(|group| group.len() > 3));
}

#[tokio::test]
async fn a_mirror_serves_many_pages_byte_for_byte_and_second_urls_name_the_first() {
    let server = Server::start(Web::generate(&spec()), ServeOptions::default()).await.expect("a free port");
    let truth = server.truth();
    let mut client = Client::connect(server.address()).await;
    let (mut same, mut mirrored) = (0, 0);
    for page in truth.copies() {
        let Some(copy) = &page.copy else { continue };
        let body = client.get(&page.url, &[]).await;
        if copy.kind == CopyKind::Mirror && copy.edit == TextEdit::Nothing {
            mirrored += 1;
            same += usize::from(client.get(&copy.of, &[]).await.body == body.body);
        }
        let head = page.canonical.as_ref().map(|url| format!("<link rel=\"canonical\" href=\"{url}\">"));
        assert_eq!(head.is_some(), body.text().contains("rel=\"canonical\""), "{}", page.url);
        assert!(head.is_none_or(|head| body.text().contains(&head)), "{}", page.url);
    }
    assert!(same * 4 > mirrored && same < mirrored, "{same} of {mirrored}");
    server.stop().await;
}

#[test]
fn the_same_seed_plants_the_same_copies() {
    let json = |seed| {
        let truth = Web::generate(&WebSpec { seed, ..spec() }).truth(80);
        serde_json::to_string(&truth).expect("serialises")
    };
    assert_eq!(json(1), json(1));
    assert_ne!(json(1), json(2));
}

#[test]
fn a_web_too_small_for_some_copies_has_the_others() {
    for (hosts, pages) in [(1, 3), (2, 6), (1, 60)] {
        let truth = Web::generate(&WebSpec { hosts, pages, ..spec() }).truth(80);
        assert_eq!(truth.hosts.len(), hosts + COPIES.mirrors);
        assert!(truth.pages.iter().filter(|page| page.series.is_some()).all(TruePage::stored));
        if hosts == 1 {
            assert!(planted(&truth, CopyKind::Reprint).is_empty());
        }
    }
}
