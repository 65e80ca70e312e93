//! One thread with one event loop (epoll, through tokio).
//!
//! A connection costs only its buffers, and nothing is shared or locked. But there is one thread: while it computes, no
//! client is read from or written to, and it uses one core.

use std::net::TcpListener;

use bench_web::Outcome;
use tokio::runtime::Builder;
use tokio::task::LocalSet;

use crate::task::{Work, converse};

pub fn serve(listener: TcpListener, work: Work) -> Outcome<()> {
    listener.set_nonblocking(true)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            tokio::task::spawn_local(converse(stream, move |request| async move { work.answer(&request) }));
        }
    })
}
