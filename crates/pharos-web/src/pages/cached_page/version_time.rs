//! The time of a version in links to cached pages: `?at=20260131120000`.

use pharos_core::Timestamp;

/// Parses a time such as `20260131120000`.
pub(super) fn parse_version_time(text: &str) -> Option<Timestamp> {
    if text.len() != 14 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (date, time) = text.split_at(8);
    Timestamp::parse(&format!(
        "{}-{}-{}T{}:{}:{}Z",
        &date[..4],
        &date[4..6],
        &date[6..],
        &time[..2],
        &time[2..4],
        &time[4..]
    ))
}

/// Formats a time, to the second.
pub(crate) fn format_version_time(at: Timestamp) -> String {
    at.to_string().chars().filter(char::is_ascii_digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_written() {
        let at = Timestamp::parse("2026-01-31T12:00:59Z").unwrap();
        assert_eq!(format_version_time(at), "20260131120059");
        assert_eq!(parse_version_time("20260131120059"), Some(at));
        for wrong in ["", "2026", "2026013112005x", "20261331120059", "202601311200590"] {
            assert_eq!(parse_version_time(wrong), None, "{wrong}");
        }
    }
}
