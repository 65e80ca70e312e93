//! Checksums of files.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

/// Computes size and checksum (XXH3) of the first `limit` bytes of a file, reading it in chunks.
pub fn checksum(path: &Path, limit: u64) -> io::Result<(u64, u64)> {
    let mut file = File::open(path)?.take(limit);
    let (mut hasher, mut size) = (Xxh3::new(), 0);
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((size, hasher.digest())),
            n => {
                hasher.update(&buffer[..n]);
                size += n as u64;
            }
        }
    }
}
