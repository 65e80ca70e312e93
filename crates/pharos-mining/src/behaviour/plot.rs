//! Plots as SVG: lines, bars and points with axes, complete without scripts and style sheets.

use std::fmt::Write as _;

use serde::Serialize;

/// Size of the drawing, and of the margins with the labels of the axes.
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 52.0;
const BOTTOM: f64 = 34.0;
const TOP: f64 = 8.0;
const RIGHT: f64 = 10.0;
/// Maximum number of values drawn; longer series are thinned out.
const MAX_DRAWN: usize = 400;

/// The form in which the values of a plot are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PlotKind {
    Line,
    Points,
    Bars,
}

/// A plot of one series, with an optional fitted curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plot {
    /// Key of the title and of the labels `…-x` and `…-y`.
    pub name: &'static str,
    pub kind: PlotKind,
    pub values: Vec<(f64, f64)>,
    /// A fitted curve.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fit: Vec<(f64, f64)>,
    /// Names of bars, if they are not numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<&'static str>,
}

impl Plot {
    /// Creates a plot of points (x, y). Values that are not finite are left out.
    pub fn new(name: &'static str, kind: PlotKind, values: Vec<(f64, f64)>) -> Self {
        let values = values.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        Self { name, kind, values, fit: Vec::new(), labels: Vec::new() }
    }

    /// Creates bars for x = `first`, `first` + 1, ….
    pub fn bars(name: &'static str, first: u32, values: impl IntoIterator<Item = f64>) -> Self {
        let values = (0..).map(|nth: u32| f64::from(first + nth)).zip(values).collect();
        Self::new(name, PlotKind::Bars, values)
    }

    /// Creates bars with names.
    pub fn named_bars(name: &'static str, values: impl IntoIterator<Item = (&'static str, f64)>) -> Self {
        let (labels, values): (Vec<&'static str>, Vec<f64>) = values.into_iter().unzip();
        Self { labels, ..Self::bars(name, 0, values) }
    }

    /// Adds a fitted curve.
    #[must_use]
    pub fn with_fit(self, fit: Vec<(f64, f64)>) -> Self {
        Self { fit, ..self }
    }

    /// Draws the plot. `text` returns the text of a key; the title is for assistive technology.
    pub fn svg(&self, text: &dyn Fn(&'static str) -> String) -> String {
        let step = self.values.len().div_ceil(MAX_DRAWN).max(1);
        let values: Vec<(f64, f64)> = self.values.iter().copied().step_by(step).collect();
        let scale = Scale::new(self.kind, values.iter().chain(&self.fit));
        let title = escape(&text(self.name));
        let mut svg = format!(
            "<svg class=\"plot\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>"
        );
        scale.draw_axes(&mut svg, self, text);
        match self.kind {
            PlotKind::Bars => {
                let width = (scale.x(1.0) - scale.x(0.0)).abs() * step as f64 * 0.8;
                for (nth, (x, y)) in values.iter().enumerate() {
                    let (left, top) = (scale.x(*x) - width / 2.0, scale.y(*y));
                    let height = (scale.y(0.0) - top).max(0.0);
                    let name = self.labels.get(nth).map_or_else(|| number(*x), |label| escape(&text(label)));
                    let _ = write!(
                        svg,
                        "<rect class=\"bar\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"><title>{name}: {}</title></rect>",
                        number(*y)
                    );
                }
            }
            PlotKind::Line => scale.draw_line(&mut svg, "line", &values),
            PlotKind::Points => {
                for (x, y) in &values {
                    let (cx, cy) = (scale.x(*x), scale.y(*y));
                    let _ = write!(svg, "<circle class=\"point\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"3\"/>");
                }
            }
        }
        scale.draw_line(&mut svg, "fit", &self.fit);
        svg + "</svg>"
    }
}

/// Maps values to the drawing.
struct Scale {
    x: (f64, f64),
    y: (f64, f64),
}

impl Scale {
    fn new<'v>(kind: PlotKind, values: impl Iterator<Item = &'v (f64, f64)> + Clone) -> Self {
        let range = |of: fn(&(f64, f64)) -> f64| {
            let low = values.clone().map(of).fold(f64::INFINITY, f64::min);
            let high = values.clone().map(of).fold(f64::NEG_INFINITY, f64::max);
            if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 1.0) }
        };
        let (mut x, mut y) = (range(|value| value.0), range(|value| value.1));
        if kind == PlotKind::Bars {
            x = (x.0 - 0.5, x.1 + 0.5);
        }
        if kind != PlotKind::Points {
            y.0 = y.0.min(0.0);
        }
        let widen = |(low, high): (f64, f64)| if high - low < 1e-12 { (low, low + 1.0) } else { (low, high) };
        Self { x: widen(x), y: widen(y) }
    }

    fn x(&self, x: f64) -> f64 {
        LEFT + (x - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, y: f64) -> f64 {
        HEIGHT - BOTTOM - (y - self.y.0) / (self.y.1 - self.y.0) * (HEIGHT - BOTTOM - TOP)
    }

    fn draw_axes(&self, svg: &mut String, plot: &Plot, text: &dyn Fn(&'static str) -> String) {
        let (left, right, bottom) = (LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM);
        for part in [0.0, 0.5, 1.0] {
            let y = self.y.0 + part * (self.y.1 - self.y.0);
            let at = self.y(y);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 5.0,
                at + 4.0,
                number(y)
            );
        }
        let below = bottom + 14.0;
        if plot.labels.is_empty() {
            let edge = if plot.kind == PlotKind::Bars { 0.5 } else { 0.0 };
            for (part, anchor) in [(0.0, "start"), (0.5, "middle"), (1.0, "end")] {
                let (low, high) = (self.x.0 + edge, self.x.1 - edge);
                let mut x = low + part * (high - low);
                if plot.kind == PlotKind::Bars {
                    x = x.round();
                }
                let _ = write!(
                    svg,
                    "<text class=\"tick\" x=\"{:.1}\" y=\"{below:.1}\" text-anchor=\"{anchor}\">{}</text>",
                    self.x(x),
                    number(x)
                );
            }
        } else {
            for ((x, _), label) in plot.values.iter().zip(&plot.labels) {
                let _ = write!(
                    svg,
                    "<text class=\"tick\" x=\"{:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{}</text>",
                    self.x(*x),
                    escape(&text(label))
                );
            }
        }
    }

    fn draw_line(&self, svg: &mut String, class: &str, values: &[(f64, f64)]) {
        if values.is_empty() {
            return;
        }
        let _ = write!(svg, "<polyline class=\"{class}\" points=\"");
        for (x, y) in values {
            let _ = write!(svg, "{:.1},{:.1} ", self.x(*x), self.y(*y));
        }
        svg.push_str("\"/>");
    }
}

/// Formats a number with at most three significant decimals.
pub fn number(value: f64) -> String {
    let size = value.abs();
    let text = match size {
        _ if size >= 1000.0 || (value.fract() == 0.0 && size >= 1.0) => {
            let whole = format!("{value:.0}");
            let digits = whole.trim_start_matches('-').len();
            let mut grouped = String::new();
            for (nth, digit) in whole.trim_start_matches('-').chars().enumerate() {
                if nth > 0 && (digits - nth) % 3 == 0 {
                    grouped.push(',');
                }
                grouped.push(digit);
            }
            return if value < 0.0 { format!("-{grouped}") } else { grouped };
        }
        _ if size >= 1.0 => format!("{value:.2}"),
        _ if size >= 0.001 || size == 0.0 => format!("{value:.3}"),
        _ => return format!("{value:.2e}"),
    };
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() || text == "-0" { "0".into() } else { text.to_string() }
}

/// Escapes text for HTML and SVG.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        let written = [0.0, 0.5, 12.0, 1234.5, -1_234_567.0, 0.0001234, 3.24159, 100.0].map(number);
        assert_eq!(written, ["0", "0.5", "12", "1,234", "-1,234,567", "1.23e-4", "3.24", "100"]);
    }

    #[test]
    fn every_plot_is_well_formed_and_escaped() {
        let text = |key: &'static str| format!("<{key}> & \"more\"");
        let line = Plot::new("a", PlotKind::Line, vec![(0.0, 0.0), (f64::NAN, 1.0), (1.0, 2.0)])
            .with_fit(vec![(0.0, 1.0)]);
        let plots = [
            line,
            Plot::bars("b", 1, vec![3.0, 4.0]),
            Plot::named_bars("c", [("typed", 3.0)]),
            Plot::new("d", PlotKind::Points, Vec::new()),
            Plot::bars("e", 0, vec![1.0; 5000]),
        ];
        for plot in plots {
            let svg = plot.svg(&text);
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("& ") && !svg.contains("inf"), "{svg}");
            assert_eq!(svg.matches('<').count(), svg.matches('>').count());
            assert!(svg.matches("<rect").count() <= MAX_DRAWN);
        }
    }
}
