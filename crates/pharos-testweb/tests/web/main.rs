//! The whole web over real sockets: what a visitor sees against what is true.

mod serving;
mod truth;
mod visitor;
