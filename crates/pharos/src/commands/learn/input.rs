//! Input files of learning commands.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use anyhow::Context as _;

/// Maximum length of a line in bytes; the rest of a longer line is another line.
const MAX_LINE: u64 = 1 << 20;

/// Opens a file, or standard input for `-`.
pub(crate) fn open(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Box::new(BufReader::new(file)))
}

/// Returns the name of a file for messages.
pub(crate) fn shown(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() }
}

/// Calls `f` with each line of a file, without its line end.
pub(crate) fn for_each_line(
    path: &Path,
    mut f: impl FnMut(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (mut input, mut line) = (open(path)?, Vec::new());
    loop {
        line.clear();
        let length = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        if length.with_context(|| format!("cannot read {}", shown(path)))? == 0 {
            return Ok(());
        }
        f(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']))?;
    }
}
