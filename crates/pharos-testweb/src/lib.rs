//! The test web: a loopback web with known truth.
//!
//! Generates a web of hosts and pages, in Chinese and English, from a seed; serves it on loopback; and knows every
//! URL, title, text, link, duplicate and change of it. The demo, the end-to-end tests and the benchmarks crawl it and
//! compare their results with the truth.
//!
//! **Input:** a [`WebSpec`], or nothing ([`Web::demo`]). **Output:** a running [`Server`], its [`Truth`] and its request
//! log.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
//! use pharos_testweb::{ServeOptions, Server, Web, WebSpec};
//!
//! let web = Web::generate(&WebSpec { seed: 7, hosts: 2, pages: 40, ..WebSpec::default() });
//! let server = Server::start(web, ServeOptions::default()).await?;
//! println!("crawl {:?} with --resolve {:?}", server.seeds(), server.resolve_args());
//! // … crawl, then compare with the pages that should be stored and the requests the server saw:
//! assert!(server.truth().stored().count() > 10);
//! assert_eq!(server.log().len(), 0);
//! server.stop().await;
//! # Ok(()) }
//! ```
//!
//! Flow: `plan/` decides which hosts, pages, links and changes exist ([`Web`]); `compose` writes the content of a
//! page at a given time, with sentences from `writer` and words from `words/`; `render` turns it into bytes; `server/`
//! sends them; `copies/` adds planted copies ([`CopySpec`]); `truth` computes the expected results from the same model.
//! [`Web::queries`] generates a Zipf-distributed query stream. The [`hostile`] web has every misbehaviour of servers.
//!
//! # Invariants
//! * The same [`WebSpec`] gives the same bytes, on every machine and in every run.
//! * The truth is computed from the model, never from the rendered HTML, and shares no code with the engine.
//! * A page is a function of web and time: only the [`TestClock`] changes it, never the server.
//! * Titles are unique in a web, except for copies.
//! * Two pages are copies of each other exactly if the truth gives them the same `content`.
//! * Caches, logs and connections of the server are bounded.

mod clock;
mod compose;
mod copies;
mod demo;
mod gbk;
pub mod hostile;
mod model;
mod pictures;
mod plan;
mod queries;
mod render;
mod rng;
mod robots;
mod server;
mod spec;
mod truth;
mod urls;
mod words;
mod writer;

pub use clock::{START, TestClock};
pub use copies::{CopyKind, TextEdit};
pub use model::{Behaviour, Charset, CharsetDeclaration, Host, Lang, PageKind, Web};
pub use queries::{QuerySpec, QueryStream};
pub use server::{LoggedRequest, ServeOptions, Server, ServerCounters};
pub use spec::{CopySpec, WebSpec};
pub use truth::{TrueCopy, TrueHost, TrueLink, TruePage, TruePages, Truth};
pub use words::VOCABULARY;
