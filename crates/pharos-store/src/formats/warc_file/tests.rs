//! Intact files in all containers, and the records that survive all kinds of damage.

use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;
use crate::RecordContent;

const RECORDS: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq)]
enum TestContainer {
    Plain,
    /// One member per record.
    Gzip,
    /// One member for all records.
    GzipWhole,
    Zstd,
    ZstdDictionary,
    ZstdWhole,
}

use TestContainer::*;

const CONTAINERS: [TestContainer; 6] = [Plain, Gzip, GzipWhole, Zstd, ZstdDictionary, ZstdWhole];

/// Returns a record, identified by its number.
fn record(n: usize) -> Vec<u8> {
    // Some records compress well, others not at all.
    let noise: String = (0..300 * (n % 3)).map(|i| char::from(b'!' + (i * i * 31 / 7 % 90) as u8)).collect();
    let body = format!("<title>{n}</title>{}{noise}", "lighthouse ".repeat(40 * (n % 2)));
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}");
    let digest = data_encoding::BASE32.encode(&<sha1::Sha1 as sha1::Digest>::digest(&block));
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/{n}\r\n\
         WARC-Date: 2026-01-31T12:00:00Z\r\nWARC-Record-ID: <urn:uuid:{n}>\r\n\
         Content-Type: application/http; msgtype=response\r\nWARC-Block-Digest: sha1:{digest}\r\n\
         Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
    .into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd_with(dictionary: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ::zstd::stream::write::Encoder::with_dictionary(Vec::new(), 3, dictionary).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns the units that can be damaged independently.
fn units(container: TestContainer) -> Vec<Vec<u8>> {
    let records = (0..RECORDS).map(record);
    let dictionary = record(1);
    match container {
        Plain => records.collect(),
        Gzip => records.map(|r| gzip(&r)).collect(),
        Zstd => records.map(|r| zstd_with(&[], &r)).collect(),
        ZstdDictionary => records.map(|r| zstd_with(&dictionary, &r)).collect(),
        GzipWhole => vec![gzip(&records.collect::<Vec<_>>().concat())],
        ZstdWhole => vec![zstd_with(&[], &records.collect::<Vec<_>>().concat())],
    }
}

/// Returns the bytes before the first unit.
fn preamble(container: TestContainer) -> Vec<u8> {
    if container != ZstdDictionary {
        return Vec::new();
    }
    let packed = zstd_with(&[], &record(1));
    [&0x184d_2a5d_u32.to_le_bytes()[..], &(packed.len() as u32).to_le_bytes(), &packed].concat()
}

fn file(container: TestContainer) -> Vec<u8> {
    [preamble(container), units(container).concat()].concat()
}

/// Reads to the end and returns the numbers of the records and the damage. Small reads simulate a pipe.
fn read(bytes: &[u8]) -> (Vec<usize>, Vec<WarcDamage>) {
    collect(WarcScan::new(SmallReads(bytes)), bytes.len())
}

fn collect<R: Read>(scan: WarcScan<R>, length: usize) -> (Vec<usize>, Vec<WarcDamage>) {
    let (mut numbers, mut damages) = (Vec::new(), Vec::new());
    // More items than this would indicate an endless loop.
    for item in scan.take(2 * length + 2) {
        match item {
            Ok(record) => {
                // Damage to the header of an uncompressed record may remain undetected.
                let ours = record.to_record().ok().flatten();
                numbers.extend(ours.and_then(|r| r.url.path_and_query()[1..].parse::<usize>().ok()));
            }
            Err(damage) => damages.push(damage),
        }
    }
    assert!(numbers.len() + damages.len() < 2 * length + 2);
    (numbers, damages)
}

struct SmallReads<'a>(&'a [u8]);

impl Read for SmallReads<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = out.len().min(777);
        self.0.read(&mut out[..n])
    }
}

fn all_numbers() -> Vec<usize> {
    (0..RECORDS).collect()
}

#[test]
fn every_container_is_detected_and_read() {
    for container in CONTAINERS {
        assert_eq!(read(&file(container)), (all_numbers(), vec![]), "{container:?}");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("misnamed.txt");
        std::fs::write(&path, file(container)).unwrap();
        assert_eq!(open_warc(&path).unwrap().flatten().count(), RECORDS);
        let ahead: Vec<_> = open_warc(&path).unwrap().read_ahead().flatten().collect();
        assert_eq!(ahead, open_warc(&path).unwrap().flatten().collect::<Vec<_>>());
        assert!(open_warc(dir.path()).is_err());
    }
    assert_eq!(read(b""), (vec![], vec![]));
}

#[test]
fn offsets_are_those_of_members_frames_and_plain_records() {
    for container in [Plain, Gzip, Zstd, ZstdDictionary] {
        let mut expected = preamble(container).len() as u64;
        for (record, unit) in WarcScan::new(&file(container)[..]).zip(units(container)) {
            assert_eq!(record.unwrap().offset, expected, "{container:?}");
            expected += unit.len() as u64;
        }
    }
}

#[test]
fn loose_spelling_is_read() {
    let text = "WARC/0.18\nwarc-type: revisit\nWARC-Target-URI: <http://example.org/>\nX-Folded: a\n  b\n\
                Content-Length: 3\nContent-Length: 3\n\nabcWARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n";
    let records: Vec<_> = WarcScan::new(text.as_bytes()).map(Result::unwrap).collect();
    assert_eq!(records.len(), 2);
    assert_eq!((records[0].version.as_str(), records[0].kind()), ("0.18", "revisit"));
    assert_eq!(records[0].field("x-folded"), Some("a b"));
    assert_eq!(records[0].target(), Some("http://example.org/"));
    assert_eq!(records[0].block, b"abc");
    assert_eq!(records[0].to_record(), Ok(None));
    assert_eq!(records[1].offset, text.find("WARC/1.1").unwrap() as u64);
}

#[test]
fn a_damaged_header_costs_one_record_and_is_reported_once() {
    let good = String::from_utf8(record(1)).unwrap();
    let length = good.split("Content-Length: ").nth(1).unwrap().split('\r').next().unwrap().to_string();
    let stated = format!("Content-Length: {length}");
    for bad in [
        "Content-Length: 99999999",
        "Content-Length: 7",
        "Content-Length: -7",
        "Content-Length: 7e3",
        "Content-Length: 18446744073709551616",
        "Content-Length: 9\r\nContent-Length: 10",
        "X-Length: 9",
        &format!("{stated}\r\nX-Giant: {}", "x".repeat(300 << 10)),
    ] {
        let damaged = good.replace(&stated, bad).into_bytes();
        let plain = [record(0), damaged.clone(), record(2)].concat();
        let offset = record(0).len() as u64;
        let packed = [gzip(&record(0)), gzip(&damaged), gzip(&record(2))].concat();
        let frames =
            [zstd_with(&[], &record(0)), zstd_with(&[], &damaged), zstd_with(&[], &record(2))].concat();
        for (file, offset) in
            [(&plain, Some(offset)), (&packed, None), (&frames, None), (&gzip(&plain), Some(0))]
        {
            let (numbers, damages) = read(file);
            let bad = &bad[..bad.len().min(40)];
            assert_eq!(numbers, [0, 2], "{bad}: {damages:?}");
            assert_eq!(damages.len(), 1, "{bad}: {damages:?}");
            assert!(offset.is_none_or(|offset| damages[0].offset == offset), "{bad}: {damages:?}");
        }
    }
}

#[test]
fn blocks_over_the_limit_are_skipped() {
    for container in CONTAINERS {
        // Record 5 has the largest block.
        let bytes = file(container);
        let (numbers, damages) = collect(WarcScan::new(&bytes[..]).with_max_block(1000), bytes.len());
        assert_eq!((numbers, damages.len()), (vec![0, 1, 2, 3, 4], 1), "{container:?} {damages:?}");
        assert!(damages[0].detail.contains("limit"), "{damages:?}");
    }
    // A wrong length hides no record in a seekable file.
    let lying = String::from_utf8(record(0)).unwrap().replace("Content-Length: ", "Content-Length: 99999");
    let bytes = [lying.into_bytes(), record(1), record(2)].concat();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &bytes).unwrap();
    let (numbers, damages) = collect(open_warc(file.path()).unwrap().with_max_block(5000), bytes.len());
    assert_eq!((numbers, damages.len()), (vec![1, 2], 1), "{damages:?}");
}

#[test]
fn a_bomb_is_streamed() {
    // A block of 64 MB that must not be held in memory, then an intact record; and a long run of line ends.
    let head = format!("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: {}\r\n\r\n", 64 << 20);
    let bomb = [head.as_bytes(), &vec![0; 64 << 20], b"\r\n\r\n", &record(1)].concat();
    for packed in [gzip(&bomb), zstd_with(&[], &bomb)] {
        let mut scan = WarcScan::new(&packed[..]).with_max_block(1 << 20);
        assert!(scan.next().unwrap().unwrap_err().detail.contains("limit"));
        assert!(scan.next().unwrap().is_ok() && scan.next().is_none());
        assert!(scan.window.capacity() < 40 << 20, "{}", scan.window.capacity());
    }
    let (numbers, damages) = read(&[gzip(&vec![b'\n'; 8 << 20]), gzip(&record(1))].concat());
    assert_eq!((numbers, damages), (vec![1], vec![]));
}

#[test]
fn a_failing_input_is_reported_once() {
    struct Failing(Vec<u8>, usize);
    impl Read for Failing {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            if self.1 == self.0.len() {
                return Err(io::Error::other("the cable is gone"));
            }
            let n = (&self.0[self.1..]).read(out)?;
            self.1 += n;
            Ok(n)
        }
    }
    for container in CONTAINERS {
        let (numbers, damages) = collect(WarcScan::new(Failing(file(container), 0)), 9999);
        assert_eq!(numbers, all_numbers(), "{container:?}");
        assert!(damages.len() == 1 && damages[0].detail.contains("cable"), "{container:?} {damages:?}");
    }
}

#[test]
fn chunked_bodies_are_decoded() {
    let block = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let text = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/1\r\nWARC-Date: 2026-01-31T12:00:00Z\r\n\
         WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\nContent-Type: application/http\r\n\
         Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    );
    let record = WarcScan::new(text.as_bytes()).next().unwrap().unwrap().to_record().unwrap().unwrap();
    let RecordContent::Response(response) = record.content else { panic!() };
    assert_eq!((response.body.as_slice(), response.headers.len()), (&b"hello"[..], 0));
}

#[derive(Clone, Debug)]
enum TestDamage {
    Flip(usize, u8),
    Zero(usize, usize),
    Garbage(usize, Vec<u8>),
    Cut(usize),
    Drop(usize, usize),
}

fn damage() -> impl Strategy<Value = TestDamage> {
    prop_oneof![
        (any::<usize>(), 1u8..=255).prop_map(|(at, mask)| TestDamage::Flip(at, mask)),
        (any::<usize>(), 1..200usize).prop_map(|(at, n)| TestDamage::Zero(at, n)),
        (any::<usize>(), proptest::collection::vec(any::<u8>(), 1..200))
            .prop_map(|(at, g)| TestDamage::Garbage(at, g)),
        any::<usize>().prop_map(TestDamage::Cut),
        (any::<usize>(), 1..200usize).prop_map(|(at, n)| TestDamage::Drop(at, n)),
    ]
}

fn apply_damage(damage: &TestDamage, bytes: &mut Vec<u8>) {
    let length = bytes.len();
    let place = |at: usize| at % length;
    let stretch = |at: usize, n: usize| place(at)..(place(at) + n).min(length);
    match damage {
        TestDamage::Flip(at, mask) => bytes[place(*at)] ^= mask,
        TestDamage::Zero(at, n) => bytes[stretch(*at, *n)].fill(0),
        TestDamage::Garbage(at, garbage) => drop(bytes.splice(place(*at)..place(*at), garbage.clone())),
        TestDamage::Cut(at) => bytes.truncate(place(*at)),
        TestDamage::Drop(at, n) => drop(bytes.drain(stretch(*at, *n))),
    }
}

proptest! {
    /// Damage to one unit affects no record of another, in any order and with any truncation of the file.
    #[test]
    fn no_damage_costs_more_than_it_hits(
        kind in 0..4usize,
        hit in 0..RECORDS,
        damage in damage(),
        order in Just((0..RECORDS).collect::<Vec<_>>()).prop_shuffle(),
        tail in proptest::option::of(0..40usize),
    ) {
        let container = [Plain, Gzip, Zstd, ZstdDictionary][kind];
        let mut units = units(container);
        apply_damage(&damage, &mut units[hit]);
        let mut bytes = preamble(container);
        bytes.extend(order.iter().flat_map(|n| units[*n].clone()));
        let last = order[RECORDS - 1];
        if let Some(tail) = tail {
            bytes.truncate(bytes.len() - tail.min(units[last].len()));
        }
        let (numbers, damages) = read(&bytes);
        let spared = |n: &usize| *n != hit && (tail.is_none() || *n != last);
        let expected: Vec<_> = order.into_iter().filter(spared).collect();
        // The damaged record itself may be read as another one: a flipped bit can change the number in its URL.
        let mut rest = numbers.iter();
        let all_in_order = expected.iter().all(|spared| rest.any(|found| found == spared));
        prop_assert!(all_in_order, "{:?} of {:?}: {:?} {:?}", numbers, expected, damage, damages);
        prop_assert!(numbers.len() <= RECORDS, "{:?}", numbers);
        prop_assert!(damages.len() <= 3, "{:?}", damages);
        // A missing compressed record has been reported, unless none of its bytes were left.
        let gone = tail.is_some() || matches!(damage, TestDamage::Cut(_) | TestDamage::Drop(..));
        prop_assert!(container == Plain || gone || numbers.len() == RECORDS || !damages.is_empty());
    }

    /// Any damage to any container ends the scan without an endless loop.
    #[test]
    fn any_harm_to_any_packing_ends(kind in 0..6usize, damages in proptest::collection::vec(damage(), 1..6)) {
        let mut bytes = file(CONTAINERS[kind]);
        for damage in &damages {
            if !bytes.is_empty() {
                apply_damage(damage, &mut bytes);
            }
        }
        for item in WarcScan::new(&bytes[..]).take(2 * bytes.len() + 2).flatten() {
            let _ = item.to_record();
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300), start in 0..5usize) {
        let starts: [&[u8]; 5] = [b"", b"WARC/1.0\r\n", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18"];
        let bytes = [starts[start], &bytes].concat();
        prop_assert!(WarcScan::new(&bytes[..]).take(2 * bytes.len() + 2).count() < 2 * bytes.len() + 2);
    }
}
