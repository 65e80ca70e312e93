//! A figure of lags, as SVG.

use std::fmt::Write as _;

use super::PolicyFigures;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;

const COLOURS: [&str; 8] =
    ["#1b6ca8", "#c4451c", "#2e8540", "#7b3fa0", "#8a6d00", "#00767a", "#a01e5a", "#555555"];

/// Times marked on the axis.
const MARKS: [(f64, &str); 8] = [
    (1.0, "1 s"),
    (60.0, "1 min"),
    (3600.0, "1 h"),
    (6.0 * 3600.0, "6 h"),
    (86_400.0, "1 d"),
    (7.0 * 86_400.0, "1 wk"),
    (30.0 * 86_400.0, "30 d"),
    (365.0 * 86_400.0, "1 y"),
];

/// Draws the share of changes, by weight, that each policy collects within a time, which has a logarithmic axis.
pub fn lag_figure(policies: &[(String, PolicyFigures)]) -> String {
    let lags = || policies.iter().flat_map(|(_, figures)| &figures.distribution).map(|(lag, _)| lag.max(1.0));
    let (low, high) = lags().fold((f64::INFINITY, 10.0f64), |(low, high), lag| (low.min(lag), high.max(lag)));
    let low = if low.is_finite() { low.max(high * 1e-5).min(high / 10.0) } else { 1.0 };
    let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    let x = |lag: f64| LEFT + width * ((lag.max(low) / low).ln() / (high / low).ln()).clamp(0.0, 1.0);
    let y = |share: f64| TOP + height * (1.0 - share);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"14\">Changes collected within a time</text>\n"
    );
    for percent in [0, 25, 50, 75, 90, 100] {
        let at = y(f64::from(percent) / 100.0);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#dddddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{percent} %</text>",
            LEFT + width,
            LEFT - 6.0,
            at + 4.0
        );
    }
    for (lag, label) in MARKS.iter().filter(|(lag, _)| (low..=high).contains(lag)) {
        let at = x(*lag);
        let bottom = TOP + height;
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{bottom}\" stroke=\"#eeeeee\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
            bottom + 18.0
        );
    }
    for (number, (name, figures)) in policies.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let mut points = String::new();
        let mut last = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for (lag, share) in &figures.distribution {
            let point = (x(*lag), y(*share));
            // Points closer than a pixel add nothing.
            if (point.0 - last.0).abs() + (point.1 - last.1).abs() >= 1.0 {
                let _ = write!(points, "{:.1},{:.1} ", point.0, point.1);
                last = point;
            }
        }
        let label = TOP + 16.0 + 20.0 * number as f64;
        let legend = LEFT + width + 16.0;
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\
             <line x1=\"{legend}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"2\"/>\
             <text x=\"{:.1}\" y=\"{label}\">{}</text>",
            points.trim_end(),
            legend + 18.0,
            label - 4.0,
            label - 4.0,
            legend + 24.0,
            escape(name)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">lag (logarithmic)</text>\n</svg>",
        LEFT + width / 2.0,
        HEIGHT - 10.0
    );
    svg
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
