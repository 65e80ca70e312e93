//! The whole web over real sockets: what a visitor sees against what is true.

mod copies;
mod serving;
mod truth;
mod visitor;
