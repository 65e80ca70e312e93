//! Lists the records of a library: responses, revisits and events in the order of their arrival.
//!
//! Run it with a small temporary library, or with a data directory, which may be in use by an engine:
//!
//! ```text
//! cargo run -p pharos-store --example list_records
//! cargo run -p pharos-store --example list_records -- data
//! ```
//!
//! `pharos_store::formats::warc_file::open_warc` reads the WARC files of other programs.

use std::env;
use std::error::Error;

use pharos_core::{PageUrl, Timestamp};
use pharos_store::{
    DataDir, DiskLibrary, Library, LibraryEvent, LibraryPosition, LibraryRecord, LibraryWriteOptions,
    RawResponse, RecordContent,
};

fn main() -> Result<(), Box<dyn Error>> {
    let sample = tempfile::tempdir()?;
    let data = match env::args_os().nth(1) {
        Some(directory) => DataDir::at(directory),
        None => write_sample(DataDir::at(sample.path()))?,
    };
    let library = DiskLibrary::open_reader(&data.library())?;
    println!("{} volumes in {}", library.volumes()?.len(), data.library().display());
    for stored in library.scan(LibraryPosition::START, None)? {
        match stored {
            Ok(stored) => {
                let record = &stored.record;
                let content = match &record.content {
                    RecordContent::Response(response) => format!("response {}", response.status),
                    RecordContent::Revisit(revisit) => format!("revisit of {}", revisit.refers_to),
                    RecordContent::Event(event) => format!("{event:?}"),
                };
                let size = record.body_size();
                println!("{} {} {} {size} bytes, {content}", stored.position, record.at, record.url);
            }
            // The scan continues after a damaged range.
            Err(error) => eprintln!("damaged: {error}"),
        }
    }
    Ok(())
}

fn write_sample(data: DataDir) -> Result<DataDir, Box<dyn Error>> {
    let (url, at) = (PageUrl::parse("http://example.org/")?, Timestamp::from_millis(1_769_860_800_000));
    let (options, start) = (LibraryWriteOptions::default(), LibraryPosition::START);
    let library = DiskLibrary::open_writer(&data.library(), options, start, at)?;
    let body = b"<title>Home</title>".to_vec();
    let response = RecordContent::Response(RawResponse { status: 200, body, ..RawResponse::default() });
    let failure = RecordContent::Event(LibraryEvent::Failed { reason: "connection refused".into() });
    let missing = url.join("missing.html")?;
    library.append(&[LibraryRecord::new(url, at, response), LibraryRecord::new(missing, at, failure)])?;
    Ok(data)
}
