//! Answers as they came: WARC and Tianwang.

use std::io::Write;
use std::path::Path;

use pharos_core::{Clock as _, LibraryPosition, SystemClock};
use pharos_store::tianwang::{self, FILE_LIMIT, MAX_RECORD, RawFiles, TianwangRecord};
use pharos_store::tianwang_index::{DOC_INDEX, IndexWriter, URL_INDEX};
use pharos_store::{Content, Library as _, Record, Response, StoreError, StoredRecord, WarcWriter};

use super::Watch;
use super::select::Shelves;
use crate::EngineError;

/// Bytes that the format adds to a record's head and body, at most.
const TIANWANG_EXTRA: usize = 16;

/// Writes the selected answers as a WARC file.
pub(super) fn write_warc(
    shelves: &Shelves<'_>,
    watch: &mut Watch<'_>,
    out: &mut dyn Write,
    path: &Path,
) -> Result<(), EngineError> {
    let failed = || StoreError::io("write", path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A stream has no name; what it holds has one all the same.
    let name = if name.contains(".warc") { name } else { "pharos.warc.gz".into() };
    let mut writer = WarcWriter::begin(out, &name, SystemClock.now()).map_err(failed())?;
    each(shelves, watch, true, &mut |_, _, record| {
        writer.write(&record).map_err(failed())?;
        Ok(true)
    })?;
    writer.finish().map_err(failed())?;
    Ok(())
}

/// Writes the selected answers as Tianwang raw files, with their index, into a folder that has none.
pub(super) fn write_tianwang(
    shelves: &Shelves<'_>,
    watch: &mut Watch<'_>,
    dir: &Path,
) -> Result<(), EngineError> {
    let mut files = RawFiles::create(dir, FILE_LIMIT)?;
    let mut index = IndexWriter::create(dir)?;
    each(shelves, watch, false, &mut |watch, position, record| {
        let Some(record) = to_tianwang(record) else { return Ok(false) };
        if record.head.len() + record.body.len() + TIANWANG_EXTRA > MAX_RECORD as usize {
            watch.bad(position, format!("{} is larger than a Tianwang record may be", record.url));
            return Ok(false);
        }
        let offset = files.append(&record)?;
        index.add(offset, &record.url, &record.body)?;
        Ok(true)
    })?;
    index.finish(files.finish()?)?;
    Ok(())
}

/// Is this a file that [`write_tianwang`] writes?
pub(super) fn is_ours(name: &Path) -> bool {
    let Some(name) = name.to_str() else { return false };
    let number = name.rsplit('.').next().and_then(|number| number.parse().ok());
    [DOC_INDEX, URL_INDEX].contains(&name) || number.is_some_and(|n| tianwang::file_name(n) == name)
}

/// What is done with a record that goes out. Was it written?
type Each<'a, 'w> = &'a mut dyn FnMut(&mut Watch<'w>, LibraryPosition, Record) -> Result<bool, EngineError>;

/// Gives the selected answers; unchanged ones as `references` where that is possible, in full otherwise.
fn each<'w>(
    shelves: &Shelves<'_>,
    watch: &mut Watch<'w>,
    references: bool,
    each: Each<'_, 'w>,
) -> Result<(), EngineError> {
    for stored in shelves.records()? {
        watch.go_on()?;
        let Some(stored) = watch.note(stored)? else { continue };
        let record = &stored.record;
        if record.status().is_none() || !shelves.wants(&record.url, record.at, stored.position)? {
            continue;
        }
        let position = stored.position;
        let Some(record) = outgoing(shelves, watch, stored, references)? else { continue };
        if each(watch, position, record)? {
            watch.written();
        }
    }
    Ok(())
}

fn outgoing(
    shelves: &Shelves<'_>,
    watch: &mut Watch<'_>,
    stored: StoredRecord,
    references: bool,
) -> Result<Option<Record>, EngineError> {
    let mut record = stored.record.clone();
    let Content::Revisit(revisit) = &stored.record.content else { return Ok(Some(record)) };
    if references && shelves.wants_original(revisit.of_at) {
        return Ok(Some(record));
    }
    let (position, address) = (stored.position, revisit.address);
    let full = match shelves.library.with_content(stored) {
        // The version is there, but what it refers to is not: that is a loss to be told.
        Err(StoreError::NoRecord(of)) => {
            Err(StoreError::Damaged { position, detail: format!("its content at {of} is gone") })
        }
        full => full,
    };
    let Some(full) = watch.note(full)? else { return Ok(None) };
    record.content = Content::Response(Response { address: address.or(full.address), ..full });
    Ok(Some(record))
}

fn to_tianwang(record: Record) -> Option<TianwangRecord> {
    let Content::Response(mut response) = record.content else { return None };
    let head = match response.head.take() {
        Some(head) => head,
        None => head_of(&response),
    };
    Some(TianwangRecord {
        url: record.spelling.unwrap_or_else(|| record.url.into()),
        origin: record.origin,
        date: record.at,
        ip: response.address,
        compressed: false,
        head,
        body: response.body,
    })
}

/// Status line and header of an answer whose header says no more than its fields: to the byte what the library holds.
fn head_of(response: &Response) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {} \r\n", response.status);
    for (name, value) in &response.headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    head.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::convert_tianwang;
    use pharos_core::{LibraryPosition, Timestamp};
    use pharos_store::{DiskLibrary, Writing};
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    prop_compose! {
        fn record()(
            url in "(http|HTTP|https)://[A-Za-z]{1,8}\\.example(:80|:8080)?(/[!-~]{0,20})?",
            origin in option::of("http://[a-z]{1,8}\\.example/[!-~]{0,20}"),
            seconds in 0..2_000_000_000i64,
            ip in option::of(any::<u32>()),
            line in "HTTP/1\\.[01] [2-5][0-9][0-9]( [ -~]{0,10})?",
            fields in vec(("[A-Za-z-]{1,12}:? ?", vec(any::<u8>().prop_filter("one line", |b| *b != b'\n' && *b != b'\r'), 0..20)), 0..6),
            body in vec(any::<u8>(), 0..200),
        ) -> TianwangRecord {
            let mut head = format!("{line}\r\n").into_bytes();
            for (name, value) in fields {
                head.extend_from_slice(name.as_bytes());
                head.extend_from_slice(&value);
                head.extend_from_slice(b"\r\n");
            }
            head.extend_from_slice(b"\r\n");
            let ip = ip.map(|ip| std::net::Ipv4Addr::from(ip).into());
            let date = Timestamp::from_millis(seconds * 1000);
            TianwangRecord { url, origin, date, ip, compressed: false, head, body }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Into the library and out again, whatever the server sent.
        #[test]
        fn a_tianwang_page_goes_out_as_it_came_in(page in record()) {
            prop_assume!(tianwang::read(&tianwang::write(&page)) == Ok(page.clone()));
            let dir = tempfile::tempdir().unwrap();
            let start = LibraryPosition::START;
            let library =
                DiskLibrary::open_writer(dir.path(), Writing::default(), start, Timestamp::EPOCH).unwrap();
            if let Ok(Some(record)) = convert_tianwang(page.clone()) {
                let (position, _) = library.append(&[record]).unwrap()[0];
                let stored = library.read(position).unwrap();
                prop_assert_eq!(to_tianwang(stored.record), Some(page));
            }
        }
    }
}
