//! Conformance tests of the library. Every implementation passes `conforms` unchanged.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use pharos_core::{PageUrl, Timestamp};
use pharos_store::library::Revisit;
use pharos_store::{
    DiskLibrary, Library, LibraryEvent, LibraryPosition, LibraryPositions, LibraryRecord,
    LibraryWriteOptions, RawResponse, RecordContent, StoreError,
};

/// Opens a library in a directory for appending, as its owner does after every start.
type Open<'a> = &'a dyn Fn(&Path) -> Box<dyn Library>;

fn conforms(open: Open<'_>) {
    appended_records_read_back_in_order_and_at_random(open);
    ranges_can_be_scanned(open);
    records_survive_reopening(open);
    revisits_resolve_to_their_content(open);
    unknown_positions_are_errors(open);
    groups_stay_together(open);
    sealing_changes_nothing(open);
}

#[test]
fn the_library_on_disk_conforms() {
    conforms(&|dir| {
        let options = LibraryWriteOptions { file_size: 3000, ..LibraryWriteOptions::default() };
        Box::new(DiskLibrary::open_writer(dir, options, LibraryPosition::START, Timestamp::EPOCH).unwrap())
    });
}

fn url(n: usize) -> PageUrl {
    PageUrl::parse(&format!("http://example.org/{n}")).unwrap()
}

fn page(n: usize) -> LibraryRecord {
    let response = RawResponse {
        status: 200,
        headers: vec![
            ("Content-Type".into(), "text/html; charset=gbk".into()),
            ("Content-Length".into(), { (n * 50).to_string() }),
        ],
        body: (0..n * 50).map(|b| (b * 7 % 256) as u8).collect(),
        address: Some("127.0.0.1".parse().unwrap()),
        ..RawResponse::default()
    };
    let at = Timestamp::from_millis(1_700_000_000_000 + n as i64);
    LibraryRecord {
        depth: 2,
        attempt: 1,
        ..LibraryRecord::new(url(n), at, RecordContent::Response(response))
    }
}

fn failure(n: usize) -> LibraryRecord {
    let content = RecordContent::Event(LibraryEvent::Failed { reason: "no answer\r\nin time".into() });
    LibraryRecord {
        attempt: 3,
        origin: Some("http://example.org".into()),
        ..LibraryRecord::new(url(n), Timestamp::EPOCH, content)
    }
}

fn fresh(open: Open<'_>) -> (tempfile::TempDir, Box<dyn Library>) {
    let dir = tempfile::tempdir().unwrap();
    let library = open(dir.path());
    (dir, library)
}

fn appended_records_read_back_in_order_and_at_random(open: Open<'_>) {
    let (_dir, library) = fresh(open);
    let records: Vec<LibraryRecord> =
        (0..30).map(|n| if n % 5 == 4 { failure(n) } else { page(n) }).collect();
    let mut positions = Vec::new();
    for group in records.chunks(7) {
        positions.extend(library.append(group).unwrap());
    }
    assert!(positions.windows(2).all(|p| p[0].0 < p[0].1 && p[0].1 <= p[1].0), "positions increase");
    let scanned: Vec<_> = library.scan(LibraryPosition::START, None).unwrap().map(Result::unwrap).collect();
    assert_eq!(scanned.iter().map(|s| (s.position, s.next)).collect::<Vec<_>>(), positions);
    for (stored, record) in scanned.iter().zip(&records) {
        assert_eq!(stored.record, *record);
    }
    for (n, (position, next)) in positions.iter().enumerate().rev() {
        let stored = library.read(*position).unwrap();
        assert_eq!((&stored.record, stored.next), (&records[n], *next));
    }
    assert_eq!(library.end().unwrap(), positions[29].1.into());
}

fn ranges_can_be_scanned(open: Open<'_>) {
    let (_dir, library) = fresh(open);
    let positions: Vec<_> = (0..20).flat_map(|n| library.append(&[page(n)]).unwrap()).collect();
    for (from, to) in [(0, 20), (5, 6), (3, 17), (9, 9)] {
        let until = positions.get(to).map(|p| p.0);
        let scan = library.scan(positions[from].0, until).unwrap();
        let urls: Vec<_> = scan.map(|s| s.unwrap().record.url).collect();
        assert_eq!(urls, (from..to).map(url).collect::<Vec<_>>(), "{from} to {to}");
    }
    assert_eq!(library.scan(library.end().unwrap().get(0), None).unwrap().count(), 0);
    assert_eq!(library.scan(LibraryPosition::start_of_log(999), None).unwrap().count(), 0);
    let all = library.scan_logs(&LibraryPositions::START, None).unwrap();
    assert_eq!(all.count(), positions.len());
    let middle = positions[9].1.into();
    let first_half = library.scan_logs(&LibraryPositions::START, Some(&middle)).unwrap();
    assert_eq!(first_half.count() + library.scan_logs(&middle, None).unwrap().count(), positions.len());
}

fn records_survive_reopening(open: Open<'_>) {
    let (dir, library) = fresh(open);
    let first = library.append(&[page(1)]).unwrap()[0];
    drop(library);
    let library = open(dir.path());
    assert_eq!(library.read(first.0).unwrap().record, page(1));
    let second = library.append(&[page(2)]).unwrap()[0];
    assert!(second.0 >= first.1);
    assert_eq!(library.scan(first.1, None).unwrap().count(), 1);
}

fn revisits_resolve_to_their_content(open: Open<'_>) {
    let (_dir, library) = fresh(open);
    let full = library.append(&[page(3)]).unwrap()[0].0;
    let revisit = Revisit {
        status: 200,
        headers: vec![("ETag".into(), "\"x\"".into())],
        address: None,
        refers_to: full,
        refers_to_at: page(3).at,
        digest: "sha1:AAAA".into(),
    };
    let again = LibraryRecord::new(url(3), Timestamp::EPOCH, RecordContent::Revisit(revisit));
    let position = library.append(std::slice::from_ref(&again)).unwrap()[0].0;
    assert_eq!(library.read(position).unwrap().record, again);
    let RecordContent::Response(mut expected) = page(3).content else { unreachable!() };
    assert_eq!(library.response(full).unwrap(), expected);
    expected.headers.push(("ETag".into(), "\"x\"".into()));
    assert_eq!(library.response(position).unwrap(), expected, "with the header of the revisit");
}

fn unknown_positions_are_errors(open: Open<'_>) {
    let (_dir, library) = fresh(open);
    let (position, next) = library.append(&[page(1)]).unwrap()[0];
    let elsewhere = [next, LibraryPosition::new(999, 0), LibraryPosition { log: 999, ..position }];
    for nowhere in elsewhere {
        assert!(matches!(library.read(nowhere), Err(StoreError::NoRecord(_))), "{nowhere}");
    }
    assert!(library.read(LibraryPosition { offset: position.offset + 1, ..position }).is_err());
    assert!(library.append(&[]).unwrap().is_empty());
    let event = library.append(&[failure(2)]).unwrap()[0].0;
    assert!(library.response(event).is_err());
}

fn groups_stay_together(open: Open<'_>) {
    let (_dir, library) = fresh(open);
    std::thread::scope(|threads| {
        for writer in 0..4 {
            let library = &library;
            threads.spawn(move || {
                for n in 0..10 {
                    let group: Vec<_> = (0..5).map(|i| page(writer * 1000 + n * 10 + i)).collect();
                    library.append(&group.iter().map(small).collect::<Vec<_>>()).unwrap();
                }
            });
        }
    });
    let urls: Vec<_> =
        library.scan(LibraryPosition::START, None).unwrap().map(|s| s.unwrap().record.url).collect();
    assert_eq!(urls.len(), 200);
    for group in urls.chunks(5) {
        let first: usize = group[0].path_and_query()[1..].parse().unwrap();
        assert_eq!(group, (first..first + 5).map(url).collect::<Vec<_>>());
    }
}

fn sealing_changes_nothing(open: Open<'_>) {
    let (_dir, library) = fresh(open);
    library.seal().unwrap();
    let before = library.append(&[page(1)]).unwrap()[0];
    library.seal().unwrap();
    library.seal().unwrap();
    let after = library.append(&[page(2)]).unwrap()[0];
    assert!(after.0 > before.1);
    assert_eq!(library.read(before.0).unwrap().record, page(1));
    assert_eq!(library.scan(LibraryPosition::START, None).unwrap().count(), 2);
}

fn small(record: &LibraryRecord) -> LibraryRecord {
    LibraryRecord {
        content: RecordContent::Event(LibraryEvent::Failed { reason: "small".into() }),
        ..record.clone()
    }
}
