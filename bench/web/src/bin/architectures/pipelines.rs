//! An event loop per core, each with its own listener (SO_REUSEPORT), nothing shared.
//!
//! All cores are used without a lock. The kernel distributes connections by a hash of their addresses: with few
//! connections, one pipeline may have twice as many as another, and no other pipeline takes over from it.

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
            events::serve(listener, work).map_err(|error| eprintln!("pipeline failed: {error}"))
        });
    }
    events::serve(listener, work)
}
