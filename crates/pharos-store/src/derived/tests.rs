use std::fs;
use std::path::Path;

use pharos_core::SiteName;
use proptest::prelude::*;

use super::blocks::{BlockEncoder, DerivedKind, Sections};
use super::*;
use crate::StoreError;

const START: LibraryPosition = LibraryPosition::START;
const END: LibraryPosition = LibraryPosition::new(9, 0);

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

fn position(file: u32, offset: u64) -> LibraryPosition {
    LibraryPosition::new(file, offset)
}

/// Returns a record of 100 bytes after a file header of 50 bytes, as page `n` of a small site.
fn record(file: u32, n: u64) -> DerivedRecord {
    let link =
        |text: &str, anchor: String, kind, rel: &str| Link { url: url(text), anchor, kind, rel: rel.into() };
    let here = url(&format!("http://www{}.example.org/{file}/{n}?q=灯", n % 3));
    let links = [
        link("http://www0.example.org/", "首页".into(), LinkKind::Page, ""),
        link(
            &format!("https://www0.example.org/{file}/{}", n + 1),
            format!("page {n}"),
            LinkKind::Page,
            "nofollow",
        ),
        link("https://elsewhere.example:8080/%C3%A9", String::new(), LinkKind::Frame, "ugc noopener"),
        link(&format!("http://www0.example.org/{n}.png"), String::new(), LinkKind::Resource, "icon"),
    ];
    let page = PageObject {
        url: here.as_str().into(),
        title: format!("Page {n} 灯塔"),
        text: "text of a page\nwith lines ".repeat(1 + n as usize % 40),
        related_links: links[..1].to_vec(),
        robots: if n % 5 == 4 { "nofollow".into() } else { String::new() },
        links: links[..n as usize % 5].to_vec(),
        ..Default::default()
    };
    DerivedRecord {
        position: position(file, 50 + 100 * n),
        next: position(file, 150 + 100 * n),
        at: Timestamp::from_millis(1_700_000_000_123 + n as i64),
        url: here,
        page: (n % 7 != 6).then_some(page),
    }
}

/// Three library files of twenty records.
fn library() -> Vec<DerivedRecord> {
    (1..=3).flat_map(|file| (0..20).map(move |n| record(file, n))).collect()
}

fn stored(record: &DerivedRecord) -> Option<DerivedPage> {
    let DerivedRecord { position, next, at, url, page } = record.clone();
    page.map(|page| DerivedPage { position, next, at, url, page })
}

/// Adds all records that the writer has not processed, with a flush after every seventh record.
fn replay(writer: &mut DerivedWriter) {
    let from = writer.durable_position();
    for batch in library().into_iter().filter(|r| r.position >= from).collect::<Vec<_>>().chunks(7) {
        writer.add(batch.to_vec()).unwrap();
        writer.flush().unwrap();
    }
}

fn write_all(dir: &Path) {
    replay(&mut DerivedWriter::open(dir, 1).unwrap());
}

fn collect<T>(
    items: impl Iterator<Item = Result<DerivedItem<T>, StoreError>>,
) -> (Vec<T>, Vec<(LibraryPosition, LibraryPosition)>) {
    let (mut kept, mut gaps) = (Vec::new(), Vec::new());
    for item in items {
        match item.unwrap() {
            DerivedItem::Present(item) => kept.push(item),
            DerivedItem::Gap { from, to } => gaps.push((from, to)),
        }
    }
    (kept, gaps)
}

/// Reads all data in all ways. Checks that the items returned are those written and that all others lie in a gap.
/// Returns the number of pages returned with their links.
fn verify(dir: &Path) -> usize {
    let end = library().last().unwrap().next;
    let reader = DerivedReader::open(dir, 1);
    let whole: Vec<_> = library().iter().filter_map(stored).collect();
    let within = |gaps: &[(LibraryPosition, LibraryPosition)], p| {
        gaps.iter().any(|(from, to)| (*from..*to).contains(&p))
    };

    let (pages, gaps) = collect(reader.pages(START, end));
    for pair in gaps.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "{gaps:?}");
    }
    let expected: Vec<_> = whole.iter().filter(|p| !within(&gaps, p.position)).cloned().collect();
    assert!(pages == expected, "pages differ");

    let (texts, text_gaps) = collect(reader.pages_without_links(START, end));
    let expected: Vec<_> = whole
        .iter()
        .filter(|p| !within(&text_gaps, p.position))
        .map(|p| {
            let mut p = p.clone();
            p.page.links.clear();
            p
        })
        .collect();
    assert!(texts == expected, "texts differ");

    let (links, link_gaps) = collect(reader.links(START, end));
    let expected: Vec<_> = whole
        .iter()
        .filter(|p| !within(&link_gaps, p.position))
        .cloned()
        .map(|p| PageLinks { position: p.position, next: p.next, url: p.url, links: p.page.links })
        .collect();
    assert!(links == expected, "links differ");

    let (pairs, pair_gaps) = collect(reader.link_pairs(START, end));
    let expected: Vec<_> = whole
        .iter()
        .filter(|p| !within(&pair_gaps, p.position))
        .flat_map(|p| {
            p.page.links.iter().map(|link| LinkPair {
                from: p.url.id(),
                to: link.url.id(),
                kind: link.kind,
                nofollow: link.is_nofollow() || p.page.no_follow(),
            })
        })
        .collect();
    assert!(pairs == expected, "pairs differ");

    for page in &whole {
        if let Some(found) = reader.page(page.position).unwrap() {
            assert_eq!(found, *page);
        }
    }
    collect(reader.sites(START, end));
    collect(reader.page_urls(START, end));
    pages.len()
}

fn page_count() -> usize {
    library().iter().filter(|r| r.page.is_some()).count()
}

#[test]
fn the_progress_survives_a_power_cut() {
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path());
    fs::write(dir.path().join(PROGRESS_FILE), "1:0").unwrap();
    let mut writer = DerivedWriter::open(dir.path(), 1).unwrap();
    pharos_files::power_cut::check(dir.path(), || writer.flush().unwrap()).unwrap();
}

#[test]
fn added_pages_are_read_in_order_and_at_random() {
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path());
    assert_eq!(verify(dir.path()), page_count());
    let reader = DerivedReader::open(dir.path(), 1);
    let end = library().last().unwrap().next;
    assert_eq!(reader.check(end).unwrap(), []);
    let page = record(2, 12);
    assert_eq!(reader.page(page.position).unwrap(), stored(&page));
    assert_eq!(reader.page(record(2, 13).position).unwrap(), None);
    let (some, gaps) = collect(reader.pages(record(1, 18).position, record(2, 3).position));
    assert_eq!(
        some.iter().map(|p| p.position).collect::<Vec<_>>(),
        [record(1, 18), record(1, 19), record(2, 0), record(2, 1), record(2, 2)].map(|r| r.position)
    );
    assert_eq!(gaps, []);
    let (beyond, gaps) = collect(reader.pages(end, END));
    assert_eq!((beyond, gaps), (vec![], vec![(end, END)]));
    let (mut sites, _) = collect(reader.sites(START, end));
    sites.sort();
    sites.dedup();
    assert_eq!(
        sites.iter().map(SiteName::as_str).collect::<Vec<_>>(),
        ["elsewhere.example:8080", "www0.example.org", "www1.example.org", "www2.example.org"]
    );
    let (urls, _) = collect(reader.page_urls(START, end));
    assert!(urls.contains(&page.url) && urls.contains(&url("https://elsewhere.example:8080/%C3%A9")));
}

#[test]
fn standard_tools_see_json_lines() {
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path());
    let file = fs::File::open(dir.path().join("pages/00000002.pages.zst")).unwrap();
    let text = String::from_utf8(zstd::stream::decode_all(file).unwrap()).unwrap();
    let titles: Vec<_> = text
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["position"]["file"], 2);
            line["page"]["title"].as_str().unwrap().to_string()
        })
        .collect();
    assert_eq!(
        titles,
        library()
            .iter()
            .filter(|r| r.position.volume == 2)
            .filter_map(|r| r.page.clone())
            .map(|p| p.title)
            .collect::<Vec<_>>()
    );
}

#[test]
fn positions_advance_only_when_durable_and_nothing_is_stored_twice() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = DerivedWriter::open(dir.path(), 1).unwrap();
    assert_eq!(writer.durable_position(), START);
    writer.add((0..5).map(|n| record(1, n))).unwrap();
    assert_eq!(
        (writer.durable_position(), writer.pending(), writer.pending_position()),
        (START, 5, record(1, 4).next)
    );
    writer.add((2..6).map(|n| record(1, n))).unwrap();
    assert_eq!(writer.pending(), 6);
    writer.flush().unwrap();
    assert_eq!((writer.durable_position(), writer.pending()), (record(1, 5).next, 0));
    // The last record of the file has no page: its position counts all the same.
    writer.add([record(1, 5), record(1, 6)]).unwrap();
    writer.flush().unwrap();
    assert_eq!(writer.durable_position(), record(1, 6).next);
    writer.add((7..20).map(|n| record(1, n))).unwrap();
    writer.add([record(2, 0)]).unwrap();
    assert_eq!((writer.durable_position(), writer.pending()), (position(2, 0), 1));
    drop(writer);
    write_all(dir.path());
    assert_eq!(verify(dir.path()), page_count());
}

#[test]
fn a_dropped_file_is_rebuilt_and_the_others_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path());
    let end = library().last().unwrap().next;
    let mut writer = DerivedWriter::open(dir.path(), 1).unwrap();
    assert_eq!(writer.durable_position(), end);
    writer.drop_file(2).unwrap();
    assert_eq!(writer.durable_position(), position(2, 0));
    let (_, gaps) = collect(DerivedReader::open(dir.path(), 1).pages(START, end));
    assert_eq!(gaps, [(position(2, 0), position(3, 0))]);
    let defects = DerivedReader::open(dir.path(), 1).check(end).unwrap();
    assert!(
        defects[0].to_string().ends_with("pages: no data for 00000002:0 to 00000003:0"),
        "{}",
        defects[0]
    );
    let third = dir.path().join("pages/00000003.pages.zst");
    let before = fs::read(&third).unwrap();
    writer.add((0..20).map(|n| record(2, n))).unwrap();
    // The first record of the next file closes the gap, and the valid data after it counts again.
    writer.add([record(3, 0)]).unwrap();
    assert_eq!((writer.durable_position(), writer.pending()), (end, 0));
    assert_eq!(fs::read(&third).unwrap(), before);
    assert_eq!(verify(dir.path()), page_count());
    writer.clear().unwrap();
    assert_eq!(writer.durable_position(), START);
    assert_eq!(verify(dir.path()), 0);
    replay(&mut writer);
    assert_eq!(verify(dir.path()), page_count());
}

#[test]
fn another_analyser_starts_again_file_by_file() {
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path());
    let end = library().last().unwrap().next;
    let reader = DerivedReader::open(dir.path(), 2);
    assert_eq!(collect(reader.pages(START, end)), (vec![], vec![(position(1, 0), end)]));
    assert!(matches!(reader.check(end).unwrap()[0].problem, DerivedDefectKind::Stale { analyser: 1, .. }));
    let mut writer = DerivedWriter::open(dir.path(), 2).unwrap();
    assert_eq!(writer.durable_position(), START);
    writer.add((0..20).map(|n| record(1, n))).unwrap();
    writer.flush().unwrap();
    drop(writer);
    assert_eq!(DerivedWriter::open(dir.path(), 2).unwrap().durable_position(), record(1, 19).next);
    let (pages, _) = collect(reader.pages(START, end));
    assert_eq!(pages.len(), 18);
    replay(&mut DerivedWriter::open(dir.path(), 2).unwrap());
    assert_eq!(reader.check(end).unwrap(), []);
}

#[test]
fn a_newer_format_is_an_error_for_the_writer_and_a_gap_for_the_reader() {
    let dir = tempfile::tempdir().unwrap();
    write_all(dir.path());
    let path = dir.path().join("links/00000001.links.zst");
    let mut bytes = fs::read(&path).unwrap();
    bytes[16] = 2;
    let length = 8 + u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let sum = xxhash_rust::xxh3::xxh3_64(&bytes[..length - 8]);
    bytes[length - 8..length].copy_from_slice(&sum.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    assert!(matches!(DerivedWriter::open(dir.path(), 1), Err(StoreError::NewerFormat { found: 2, .. })));
    assert!(verify(dir.path()) < page_count());
}

/// Measures 20,000 pages of 100 links in 20 sites: most links stay within the site, half of them in its menus. Run
/// it with `--release -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement, not a test"]
fn measure() {
    const PAGES: u64 = 20_000;
    const LINKS: u64 = 100;
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let words =
        ["灯塔", "search", "engine", "网页", "the", "of", "lighthouse", "链接", "a", "harbour", "index"];
    let address = |site: u64, page: u64| {
        url(&format!(
            "https://www.site{site}.example.org/{}/2026/article-{page}.html",
            words[page as usize % 11]
        ))
    };
    let records: Vec<_> = (0..PAGES)
        .map(|n| {
            let site = n * 20 / PAGES;
            let mut phrase = |length: u64| {
                (0..length)
                    .map(|_| words[random(11) as usize].to_string() + &random(500).to_string())
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            let text = phrase(600);
            let anchors: Vec<_> = (0..LINKS).map(|_| phrase(2)).collect();
            let links = (0..LINKS)
                .zip(anchors)
                .map(|(i, anchor)| {
                    let (target, anchor) = match i {
                        0..45 => (address(site, i), format!("menu {i}")),
                        45..90 => (address(site, random(PAGES / 20)), anchor),
                        _ => (address(random(5_000), random(1_000)), anchor),
                    };
                    let rel = if i > 95 { "nofollow" } else { "" };
                    Link { url: target, anchor, kind: LinkKind::Page, rel: rel.into() }
                })
                .collect();
            let url = address(site, n);
            let page = PageObject {
                url: url.as_str().into(),
                title: "a title".into(),
                text,
                links,
                ..Default::default()
            };
            let (position, next) = (position(1, n * 5_000), position(1, (n + 1) * 5_000));
            DerivedRecord { position, next, at: Timestamp::EPOCH, url, page: Some(page) }
        })
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let (count, links) = (PAGES as f64, (PAGES * LINKS) as f64);
    // CPU time, so that the load of the machine does not matter.
    let on_core = || {
        let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
    };
    let start = on_core();
    let mut writer = DerivedWriter::open(dir.path(), 1).unwrap();
    writer.add(records).unwrap();
    writer.flush().unwrap();
    println!("write             {:8.1} µs a page of {LINKS} links", (on_core() - start) * 1e6 / count);
    let size = |kind: DerivedKind| fs::metadata(kind.path(dir.path(), 1)).unwrap().len() as f64;
    println!("pages             {:8.1} bytes a page", size(DerivedKind::Pages) / count);
    println!("links             {:8.2} bytes a link", size(DerivedKind::Links) / links);
    for kind in [DerivedKind::Links, DerivedKind::Pages] {
        let file = fs::File::open(kind.path(dir.path(), 1)).unwrap();
        let mut plain = vec![Vec::new(); if kind == DerivedKind::Links { links::SECTIONS } else { 1 }];
        for (_, found) in blocks::scan_blocks(&file, kind, 1).unwrap() {
            let blocks::BlockRead::Block(block) = found else { panic!("damaged") };
            for index in 0..block.sections.len() {
                let sort = index % plain.len();
                plain[sort].push(block.section(&file, index).unwrap());
            }
        }
        for (name, sections) in ["sites", "pages", "ids", "links", "anchors"].iter().zip(plain) {
            print!("  {:<15}", if kind == DerivedKind::Links { name } else { "texts" });
            for level in [1, 3] {
                let start = on_core();
                let bytes: usize =
                    sections.iter().map(|s| zstd::bulk::compress(s, level).unwrap().len()).sum();
                let each = (bytes as f64 / count, (on_core() - start) * 1e6 / count);
                print!("  level {level}: {:7.1} bytes {:5.1} µs a page", each.0, each.1);
            }
            println!();
        }
    }
    let reader = DerivedReader::open(dir.path(), 1);
    let end = position(1, PAGES * 5_000);
    let run = |what: &str, scan: &dyn Fn() -> usize| {
        let start = on_core();
        let items = scan();
        let seconds = on_core() - start;
        let (speed, each) = (items as f64 / 1e6 / seconds, seconds * 1e6 / count);
        println!("{what:<17} {speed:8.2} M items/s, {each:6.1} µs a page, {items} items");
    };
    run("link_pairs", &|| reader.link_pairs(START, end).count());
    run("sites", &|| reader.sites(START, end).count());
    run("page_urls", &|| reader.page_urls(START, end).count());
    run("links", &|| reader.links(START, end).count());
    run("without links", &|| reader.pages_without_links(START, end).count());
    run("pages", &|| reader.pages(START, end).count());
    let start = on_core();
    (0..20).for_each(|n| assert!(reader.page(position(1, n * 5_000_000)).unwrap().is_some()));
    println!("page              {:8.2} ms", (on_core() - start) * 1e3 / 20.0);
    let start = on_core();
    (0..20).for_each(|n| assert!(reader.page_without_links(position(1, n * 5_000_000)).unwrap().is_some()));
    println!("without links     {:8.2} ms", (on_core() - start) * 1e3 / 20.0);
}

/// One of the six files.
fn any_file() -> impl Strategy<Value = String> {
    (1..=3, any::<bool>()).prop_map(|(file, pages)| {
        let kind = if pages { "pages" } else { "links" };
        format!("{kind}/{file:08}.{kind}.zst")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A flipped byte costs only the block it hits, and a replay repairs it.
    #[test]
    fn damage_is_a_gap_and_hides_nothing(file in any_file(), at in 0.0..1.0f64, mask in 1u8..=255) {
        let dir = tempfile::tempdir().unwrap();
        write_all(dir.path());
        let path = dir.path().join(&file);
        let mut bytes = fs::read(&path).unwrap();
        let index = (bytes.len() as f64 * at) as usize;
        bytes[index] ^= mask;
        fs::write(&path, bytes).unwrap();
        prop_assert!(verify(dir.path()) >= page_count() - 7);
        let end = library().last().unwrap().next;
        let reader = DerivedReader::open(dir.path(), 1);
        prop_assert_eq!(reader.check(end).unwrap().len(), 1);
        let mut writer = DerivedWriter::open(dir.path(), 1).unwrap();
        writer.drop_file(file[6..14].parse().unwrap()).unwrap();
        replay(&mut writer);
        prop_assert_eq!(verify(dir.path()), page_count());
        prop_assert_eq!(reader.check(end).unwrap(), []);
    }

    /// Wherever the last files were truncated, opening and replaying restores them.
    #[test]
    fn a_crash_costs_only_a_replay(pages in 0.0..1.0f64, links in 0.0..1.0f64, last in 1u32..=3) {
        let dir = tempfile::tempdir().unwrap();
        write_all(dir.path());
        for (kind, left) in [("pages", pages), ("links", links)] {
            for file in last..=3 {
                let path = dir.path().join(format!("{kind}/{file:08}.{kind}.zst"));
                if file == last {
                    let length = fs::metadata(&path).unwrap().len() as f64 * left;
                    fs::File::options().write(true).open(&path).unwrap().set_len(length as u64).unwrap();
                } else {
                    fs::remove_file(path).unwrap();
                }
            }
        }
        verify(dir.path());
        write_all(dir.path());
        prop_assert_eq!(verify(dir.path()), page_count());
        let end = library().last().unwrap().next;
        prop_assert_eq!(DerivedReader::open(dir.path(), 1).check(end).unwrap(), []);
    }

}

proptest! {
    /// Sections with valid checksums and invalid contents are rejected or read without harm.
    #[test]
    fn invalid_contents_with_valid_checksums_do_no_harm(
        section in 0usize..5, at in 0.0..1.0f64, bytes in prop::collection::vec(any::<u8>(), 1..6),
        note in prop::option::of(any::<u64>()), cut in any::<bool>(),
        to in prop::option::of((0u32..3, prop_oneof![Just(0), any::<u64>()])), count in 0u32..20,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (mut pages, mut links) = (pages::PagesBuilder::default(), links::LinksBuilder::default());
        let records = || (0..20).map(|n| record(1, n)).filter(|r| r.page.is_some());
        for mut record in records() {
            let page = record.page.take().unwrap();
            pages.add(record.position, &pages::encode_line(&record, &page).unwrap());
            links.add(record.position, record.next, record.url, false, page.links);
        }
        let to = to.map_or(record(1, 19).next, |(file, offset)| position(file, offset));
        let corrupt = |sections: &mut Sections| {
            let count = sections.len();
            let (plain, old_note) = &mut sections[section % count];
            let index = (plain.len() as f64 * at) as usize;
            let end = plain.len().min(index + bytes.len());
            plain.splice(index..end, bytes.iter().copied());
            if cut { plain.truncate(index) }
            *old_note = note.unwrap_or(*old_note);
        };
        for (kind, mut sections) in
            [(DerivedKind::Pages, pages.sections(position(1, 0)).clone()), (DerivedKind::Links, links.sections(position(1, 0)))]
        {
            corrupt(&mut sections);
            let mut encoder = BlockEncoder::new(kind, 1).unwrap();
            let block = encoder.encode(position(1, 0), to, count, &sections).unwrap();
            fs::create_dir_all(kind.folder(dir.path())).unwrap();
            fs::write(kind.path(dir.path(), 1), block).unwrap();
        }
        let reader = DerivedReader::open(dir.path(), 1);
        collect(reader.pages(START, END));
        collect(reader.pages_without_links(START, END));
        collect(reader.links(START, END));
        collect(reader.link_pairs(START, END));
        collect(reader.sites(START, END));
        collect(reader.page_urls(START, END));
        reader.check(END).unwrap();
        DerivedWriter::open(dir.path(), 1).unwrap();
    }
}
