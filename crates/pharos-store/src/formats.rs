//! Foreign storage and exchange formats: WARC files of other writers, CDXJ, Tianwang raw files and SOIF.

pub mod cdxj;
pub mod soif;
pub mod tianwang;
pub mod tianwang_index;
pub mod warc_file;
