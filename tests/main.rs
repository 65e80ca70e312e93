//! End-to-end tests: the real binary against a loopback web, with a data directory of its own for each test.
//!
//! All of them are modules of one test binary, because each binary links the whole engine. Tests that need Chromium are
//! ignored by default; `./check` runs them in its step `browser`.

#![allow(clippy::unwrap_used, unreachable_pub, reason = "tests")]
#![allow(clippy::print_stdout, reason = "tests print measurements")]

mod common;

mod alerts;
mod api_keys;
mod archives;
mod backup;
mod bad_input;
mod browser;
mod categories;
mod classifiers;
mod cleaning;
mod crawl;
mod curation;
mod desk;
mod doctor;
mod documents;
mod findable;
mod first_day;
mod freshness;
mod fuzz_targets;
mod generations;
mod graph;
mod help;
mod hostile;
mod index;
mod learning;
mod library;
mod log_study;
mod logs;
mod packaging;
mod politeness;
mod processes;
mod ranking;
mod ranking_models;
mod revisit;
mod safety;
mod schedules;
mod search_page;
mod upgrade;
mod web_limits;
mod words;
