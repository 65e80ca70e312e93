//! Small SVG charts. They are complete without scripts; a script only appends new values.

use std::fmt::Write as _;

/// A chart: the points of its line and of the area below it, in a box of 300 by 60.
pub(crate) struct Chart {
    /// Field of `Sample` that the chart shows.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Number format: `count`, `bytes` or `part`.
    pub(crate) unit: &'static str,
    /// Latest value, formatted.
    pub(crate) now: String,
    /// Value at the upper edge, and as it is shown.
    pub(crate) top: f64,
    pub(crate) top_label: String,
    pub(crate) line: String,
    pub(crate) area: String,
}

pub(crate) const WIDTH: usize = 300;
pub(crate) const HEIGHT: f64 = 60.0;
/// Seconds from the left edge to the right one.
pub(crate) const SPAN: usize = 300;

impl Chart {
    /// Draws the newest [`SPAN`] values, given oldest first.
    pub(crate) fn new(name: &'static str, title: &'static str, unit: &'static str, values: &[f64]) -> Self {
        let values: Vec<f64> = values[values.len().saturating_sub(SPAN)..]
            .iter()
            .map(|value| if value.is_finite() { *value } else { 0.0 })
            .collect();
        let top = if unit == "part" { 1.0 } else { values.iter().copied().fold(1.0, f64::max) };
        let first = WIDTH - values.len().min(WIDTH);
        let mut line = String::new();
        for (nth, value) in values.iter().enumerate() {
            let y = HEIGHT - (value / top).clamp(0.0, 1.0) * (HEIGHT - 4.0) - 2.0;
            let _ = write!(line, "{},{y:.1} ", first + nth);
        }
        let area = if values.is_empty() {
            String::new()
        } else {
            format!("{first},{HEIGHT} {line}{},{HEIGHT}", first + values.len() - 1)
        };
        let now = format_value(values.last().copied().unwrap_or_default(), unit);
        let top_label = format_value(top, unit);
        Self { name, title, unit, now, top, top_label, line: line.trim_end().to_string(), area }
    }
}

/// Formats a number for display.
pub(crate) fn format_value(value: f64, unit: &str) -> String {
    match unit {
        "bytes" => format_bytes(value),
        "part" => format!("{:.0} %", 100.0 * value),
        _ if value >= 1000.0 => crate::messages::grouped(value.round() as u64),
        _ if value >= 10.0 || value == value.round() => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}

/// Formats a number of bytes for display.
pub(crate) fn format_bytes(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];
    let (mut value, mut unit) = (bytes.max(0.0), 0);
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1000.0, unit + 1);
    }
    if unit == 0 || value >= 100.0 {
        format!("{value:.0} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_value_is_at_the_right_edge() {
        let chart = Chart::new("pages", "Pages", "count", &[0.0, 5.0, 10.0]);
        assert_eq!(chart.line, "297,58.0 298,30.0 299,2.0");
        assert_eq!(chart.area, "297,60 297,58.0 298,30.0 299,2.0 299,60");
        assert_eq!((chart.now.as_str(), chart.top_label.as_str()), ("10", "10"));
        let many = Chart::new("pages", "Pages", "count", &vec![1.0; 1000]);
        assert!(many.line.starts_with("0,2.0 ") && many.line.ends_with("299,2.0"));
        assert_eq!(Chart::new("pages", "Pages", "count", &[]).area, "");
        let odd = Chart::new("pages", "Pages", "count", &[f64::NAN, f64::INFINITY, -1.0]);
        assert_eq!(odd.line, "297,58.0 298,58.0 299,58.0");
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(format_bytes(999.0), "999 B");
        assert_eq!(format_bytes(1_500_000.0), "1.5 MB");
        assert_eq!(format_bytes(123_456.0), "123 KB");
        assert_eq!(
            (format_value(0.25, "part"), format_value(12_345.0, "count")),
            ("25 %".into(), "12,345".into())
        );
        assert_eq!((format_value(0.5, "count"), format_value(3.0, "count")), ("0.5".into(), "3".into()));
    }
}
