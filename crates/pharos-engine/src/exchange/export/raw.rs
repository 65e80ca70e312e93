//! Export of raw responses: WARC and Tianwang.

use std::io::Write;
use std::path::Path;

use pharos_core::{Clock as _, LibraryPosition, SystemClock};
use pharos_store::formats::tianwang;
use pharos_store::formats::tianwang::{FILE_LIMIT, MAX_RECORD, RawFileWriter, TianwangRecord};
use pharos_store::formats::tianwang_index::{DOC_INDEX, TianwangIndexWriter, URL_INDEX};
use pharos_store::library::WarcWriter;
use pharos_store::{LibraryRecord, RawResponse, RecordContent, StoreError, StoredRecord};

use super::ExportMonitor;
use super::selection::ExportSource;
use crate::EngineError;

/// Maximum number of bytes that the format adds to header and body of a record.
const TIANWANG_EXTRA: usize = 16;

/// Writes the selected responses as a WARC file.
pub(super) fn write_warc(
    source: &ExportSource<'_>,
    monitor: &mut ExportMonitor<'_>,
    out: &mut dyn Write,
    path: &Path,
) -> Result<(), EngineError> {
    let failed = || StoreError::io("write", path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A stream has no name, but its `warcinfo` record needs one.
    let name = if name.contains(".warc") { name } else { "pharos.warc.gz".into() };
    let mut writer = WarcWriter::begin(out, &name, SystemClock.now()).map_err(failed())?;
    for_each_response(source, monitor, true, &mut |_, _, record| {
        writer.write(&record).map_err(failed())?;
        Ok(true)
    })?;
    writer.finish().map_err(failed())?;
    Ok(())
}

/// Writes the selected responses as Tianwang raw files with their index into an empty directory.
pub(super) fn write_tianwang(
    source: &ExportSource<'_>,
    monitor: &mut ExportMonitor<'_>,
    dir: &Path,
) -> Result<(), EngineError> {
    let mut files = RawFileWriter::create(dir, FILE_LIMIT)?;
    let mut index = TianwangIndexWriter::create(dir)?;
    for_each_response(source, monitor, false, &mut |monitor, position, record| {
        let Some(record) = to_tianwang(record) else { return Ok(false) };
        if record.head.len() + record.body.len() + TIANWANG_EXTRA > MAX_RECORD as usize {
            monitor.bad(position, format!("{} exceeds the maximum size of a Tianwang record", record.url));
            return Ok(false);
        }
        let offset = files.append(&record)?;
        index.add(offset, &record.url, &record.body)?;
        Ok(true)
    })?;
    index.finish(files.finish()?)?;
    Ok(())
}

/// Returns `true` if this is the name of a file that [`write_tianwang`] writes.
pub(super) fn is_tianwang_file(name: &Path) -> bool {
    let Some(name) = name.to_str() else { return false };
    let number = name.rsplit('.').next().and_then(|number| number.parse().ok());
    [DOC_INDEX, URL_INDEX].contains(&name) || number.is_some_and(|n| tianwang::raw_file_name(n) == name)
}

/// Writes an exported record and returns whether it was written.
type RecordSink<'a, 'w> =
    &'a mut dyn FnMut(&mut ExportMonitor<'w>, LibraryPosition, LibraryRecord) -> Result<bool, EngineError>;

/// Passes the selected responses to `each`; unchanged ones as references if `references` is set and possible.
fn for_each_response<'w>(
    source: &ExportSource<'_>,
    monitor: &mut ExportMonitor<'w>,
    references: bool,
    each: RecordSink<'_, 'w>,
) -> Result<(), EngineError> {
    for stored in source.records()? {
        monitor.check_stop()?;
        let Some(stored) = monitor.accept(stored)? else { continue };
        let record = &stored.record;
        if record.status().is_none()
            || !source.includes(record.kind, &record.url, record.at, stored.position)?
        {
            continue;
        }
        let position = stored.position;
        let Some(record) = exported_record(source, monitor, stored, references)? else { continue };
        if each(monitor, position, record)? {
            monitor.written();
        }
    }
    Ok(())
}

fn exported_record(
    source: &ExportSource<'_>,
    monitor: &mut ExportMonitor<'_>,
    stored: StoredRecord,
    references: bool,
) -> Result<Option<LibraryRecord>, EngineError> {
    let mut record = stored.record.clone();
    let RecordContent::Revisit(revisit) = &stored.record.content else { return Ok(Some(record)) };
    if references && source.includes_original(revisit.refers_to_at) {
        return Ok(Some(record));
    }
    let (position, address) = (stored.position, revisit.address);
    let full = match source.library.with_content(stored) {
        // The version exists but its content is missing: report a loss.
        Err(StoreError::NoRecord(of)) => {
            Err(StoreError::Damaged { position, detail: format!("its content at {of} is missing") })
        }
        full => full,
    };
    let Some(full) = monitor.accept(full)? else { return Ok(None) };
    record.content = RecordContent::Response(RawResponse { address: address.or(full.address), ..full });
    Ok(Some(record))
}

fn to_tianwang(record: LibraryRecord) -> Option<TianwangRecord> {
    let RecordContent::Response(mut response) = record.content else { return None };
    let head = match response.head.take() {
        Some(head) => head,
        None => render_head(&response),
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

/// Returns status line and headers of a response that was stored without its raw header, as the library holds them.
fn render_head(response: &RawResponse) -> Vec<u8> {
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
    use crate::exchange::import::convert_tianwang;
    use crate::stores::test_stores;
    use pharos_core::{LibraryPositions, Timestamp};
    use pharos_store::DataDir;
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
        /// A Tianwang page is exported byte for byte as imported, for any server response.
        #[test]
        fn a_tianwang_page_is_exported_as_imported(page in record()) {
            prop_assume!(tianwang::read_record(&tianwang::write_record(&page)) == Ok(page.clone()));
            let dir = tempfile::tempdir().unwrap();
            let start = LibraryPositions::START;
            let library =
                test_stores(&DataDir::at(dir.path())).own_library(&start, Timestamp::EPOCH).unwrap();
            if let Ok(Some(record)) = convert_tianwang(page.clone()) {
                let (position, _) = library.append(&[record]).unwrap()[0];
                let stored = library.read(position).unwrap();
                prop_assert_eq!(to_tianwang(stored.record), Some(page));
            }
        }
    }
}
