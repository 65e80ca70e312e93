//! The whole web over real sockets: compares the responses with the truth.

mod copies;
mod serving;
mod truth;
mod visitor;
