//! The web face of Pharos: search page, snapshot, cleaned view, JSON API, health and metrics over HTTP.
//!
//! **In:** requests from people, browsers and programs: none of them trusted.
//! **Out:** pages that work without JavaScript and ask no third party for anything, in English and Chinese;
//! the same [`Answer`](pharos_query::Answer) as `pharos search --json` under `/api/v1/search`.
//!
//! ```text
//! /                        home.rs       the box and how many pages can be searched
//! /search?q=…&page=1       results.rs    the result page          paging.rs   which pages it links to
//! /snapshot/ID?q=…         snapshot.rs   banner around the stored page; &at=… another version, &view=text cleaned
//! /snapshot/ID/content     snapshot.rs   the stored page itself, in a cage    stored.rs   which version, and may we
//! /clean?url=…             clean.rs      the stored page before and after cleaning, side by side
//! /search?format=rss       formats/      results as RSS, or as JSON and CSV in SearXNG's shape
//! /api/v1/search?q=…       api/          the answer as JSON, errors as application/problem+json; a page, pages like it,
//!                                        submissions, numbers; /api/v1/openapi.json tells of all, and /api for people
//! /api/v1/suggest?q=…      suggest.rs    what a query may become; /suggest for browsers; /api/v1/hot what many ask
//! /api/v1/click            click.rs      what was clicked; impressions.rs believes only what was shown
//! /bot?url=…               bot.rs        for webmasters: how we crawl, and what is known of a page of theirs
//! /admin                   admin/        the operator's desk: behind a login, and for this machine only unless told otherwise
//! /healthz /metrics        health.rs     metrics.rs
//! /static … /robots.txt    assets.rs     style, icons, robots.txt, OpenSearch description
//! ```
//!
//! A request passes `router.rs` (limits, time, panics), `headers.rs` (what browsers must not do), becomes a
//! visitor (`visitor.rs`: language and parameters, read leniently; the API reads them strictly), is answered through
//! `service.rs`, which with `stored.rs` (a stored copy), `known.rs` (one page) and `submission.rs` (an address to fetch) calls
//! other rooms, and is written by `page.rs` from the templates with the words of `words.rs`.
//!
//! Every query is written down with what was shown for it (`journal.rs`); `learning.rs` learns from that.
//!
//! The one call:
//!
//! ```no_run
//! # async fn example(search: std::sync::Arc<pharos_query::Search>, library: std::sync::Arc<dyn pharos_store::Library>,
//! # data: pharos_store::DataDir, learning: std::sync::Arc<pharos_web::Learning>,
//! # builds: std::sync::Arc<pharos_engine::Builds>) -> std::io::Result<()> {
//! let service = pharos_web::Service {
//!     data,
//!     search,
//!     library,
//!     config: Default::default(),
//!     learning,
//!     metrics: pharos_web::install_metrics().expect("no other recorder is installed"),
//!     settings: pharos_web::SettingsSource::new("data/pharos.toml", || Ok(Default::default())),
//!     builds,
//! };
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! pharos_web::serve(listener, service, async { tokio::signal::ctrl_c().await.unwrap_or(()) }).await
//! # }
//! ```
//!
//! 20,000 pages of the test web, client and server on the same two cores, answers packed with gzip (`cd bench && cargo run
//! --release -p bench-web -- --seconds 8`; answers, p50 and p99 by wrk, fairness by clients that count for themselves):
//!
//! | asked for | connections | answers/s | p50 | p99 | Jain's index of fairness | server's memory, MB |
//! |---|---|---|---|---|---|---|
//! | result page, known from before | 100 | 6,108 | 15 ms | 32 ms | 0.997 | 221 |
//! | | 1,000 | 5,515 | 175 ms | 277 ms | 1.000 | 261 |
//! | | 10,000 | 4,800 | 1.9 s | 2.8 s | 0.990 | 619 |
//! | result page, never asked before | 100 | 954 | 111 ms | 167 ms | 1.000 | 610 |
//! | home page | 10,000 | 13,840 | 643 ms | 988 ms | | 737 |
//! | nginx: a result page as a file | 10,000 | 47,813 | 185 ms | 314 ms | | |
//!
//! While 10,000 connections ask what was never asked, 715 a second are answered, and all others are told when to come back.
//! A result page takes 4 to 6 KB on the wire, all of a first visit 20 KB. In a browser that runs it is painted after 64 ms (a
//! page of one word: 40 ms); the first page of a browser that has just been started, after 320 ms (112 ms).
//!
//! # Invariants
//! * Nothing from outside reaches a page unescaped; the only HTML taken as it is was made by our own rooms.
//! * A stored page can run nothing, load nothing and reach nothing of our origin: it has its own document, a
//!   sandbox, and a policy that allows inline style and nothing else.
//! * No parameter, however odd, gives an error page of the 5xx kind; a panic gives one and no dropped connection.
//! * Only links to `http` and `https` addresses are links.

mod access;
mod admin;
mod api;
mod assets;
mod bot;
mod clean;
mod click;
mod failure;
mod formats;
mod guests;
mod headers;
mod health;
mod help;
mod home;
mod hot;
mod impressions;
mod journal;
mod known;
mod learning;
mod metrics;
mod open_files;
mod origin;
mod packing;
mod page;
mod paging;
mod patience;
mod pool;
mod privacy;
mod rate;
mod results;
mod router;
mod server;
mod service;
mod sessions;
mod settings;
mod snapshot;
mod stored;
mod submission;
mod suggest;
#[cfg(test)]
mod testing;
mod threads;
mod tls;
mod unsent;
mod visitor;
mod words;

pub use admin::{DeskSettingsError, SETUP_CODE_VARIABLE, check_desk};
pub use learning::Learning;
pub use metrics::{Metrics, MetricsError, install_metrics};
pub use router::router;
pub use server::{listen, serve};
pub use service::Service;
pub use settings::{LoadedSettings, SettingsSource};
