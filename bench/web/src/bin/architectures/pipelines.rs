//! An event loop on every core, each with a listener of its own (SO_REUSEPORT), nothing shared.
//!
//! All cores are used, and still there is no lock. The system deals out connections by a hash of their addresses: with few of
//! them one pipeline may have twice as many as another, and nobody takes over from it.

use std::net::TcpListener;
use std::thread::{self, available_parallelism};

use bench_web::Outcome;

use crate::events;
use crate::task::{Work, listen};

pub fn serve(listener: TcpListener, work: Work) -> Outcome<()> {
    let address = listener.local_addr()?;
    for _ in 1..available_parallelism()?.get() {
        let listener = listen(address)?;
        thread::spawn(move || {
            events::serve(listener, work).map_err(|error| eprintln!("a pipeline ended: {error}"))
        });
    }
    events::serve(listener, work)
}
