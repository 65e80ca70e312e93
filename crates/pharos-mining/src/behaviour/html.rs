//! The report as HTML: a page of its own, or its sections for a page of the desk.

use std::fmt::Write as _;

use super::plot::{escape, number};
use super::report::{BehaviourReport, Statistic};
use super::texts::{ReportLang, text, text_of};

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c2733;--paper:#fff;--soft:#5b6875;--line:#d7dde3;--mark:#1763a6;--fit:#b3441e}\
@media(prefers-color-scheme:dark){:root{--ink:#e4e9ee;--paper:#14191f;--soft:#a3afba;--line:#36414c;--mark:#6cb2ee;--fit:#f0936b}}\
body{margin:0 auto;max-width:64rem;padding:1rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}\
h1{font-size:1.5rem}h2{font-size:1.1rem;margin:2rem 0 .3rem}p,dl{margin:.3rem 0}.source,.hint{color:var(--soft);font-size:.875rem}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dt{color:var(--soft)}dd{margin:0;font-variant-numeric:tabular-nums}\
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem}figure{margin:.5rem 0}\
figcaption{font-size:.875rem;color:var(--soft)}@media(max-width:30rem){dl{grid-template-columns:1fr}dd{margin-bottom:.3rem}}";

/// Style of the plots, in the variables `--ink`, `--line`, `--mark` and `--fit` of the page.
pub const PLOT_STYLE: &str = "\
.plot{width:100%;height:auto}.plot .grid{stroke:var(--line)}.plot .tick{fill:var(--soft);font-size:11px}.plot .bar,.plot .point{fill:var(--mark)}\
.plot .line,.plot .fit{fill:none;stroke:var(--mark);stroke-width:2}.plot .fit{stroke:var(--fit);stroke-dasharray:5 4}";

/// Renders the report as a page without scripts or external resources.
pub fn render_page(report: &BehaviourReport, lang: ReportLang) -> String {
    let code = match lang {
        ReportLang::En => "en",
        ReportLang::Zh => "zh-CN",
    };
    let title = text("report", lang);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"{code}\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title} – Pharos</title><style>{STYLE}{PLOT_STYLE}</style></head><body><main><h1>{title}</h1>"
    );
    page.push_str(&render_notes(report, lang));
    for statistic in &report.statistics {
        page.push_str(&render_statistic(statistic, lang));
    }
    page + "</main></body></html>\n"
}

/// Renders the period, and what was read and missed.
pub fn render_notes(report: &BehaviourReport, lang: ReportLang) -> String {
    let coverage = &report.coverage;
    let mut notes = String::new();
    if let (Some(from), Some(to)) = (&report.from, &report.to) {
        let minutes = |time: &str| time.get(..16).unwrap_or(time).replace('T', " ");
        push_note(&mut notes, "period", &[minutes(from), minutes(to)], lang);
    }
    let counted = [coverage.queries, coverage.impressions, coverage.clicks].map(|count| number(count as f64));
    push_note(&mut notes, "read", &counted, lang);
    if coverage.is_undated {
        push_note(&mut notes, "undated", &[], lang);
    }
    let problems = [
        ("invalid", coverage.invalid),
        ("dropped", coverage.dropped),
        ("orphans", coverage.orphans),
        ("clock-jumps", coverage.clock_jumps),
        ("future", coverage.future),
    ];
    for (key, count) in problems.into_iter().filter(|(_, count)| *count > 0) {
        push_note(&mut notes, key, &[number(count as f64)], lang);
    }
    notes
}

fn push_note(notes: &mut String, key: &'static str, values: &[String], lang: ReportLang) {
    let mut note = String::new();
    let mut values = values.iter();
    for (nth, part) in text(key, lang).split("{}").enumerate() {
        if nth > 0 {
            note.push_str(values.next().map_or("", String::as_str));
        }
        note.push_str(part);
    }
    let _ = write!(notes, "<p class=\"hint\">{}</p>", escape(&note));
}

/// Renders the heading, figures and plots of a statistic.
pub fn render_statistic(statistic: &Statistic, lang: ReportLang) -> String {
    let mut html =
        format!("<section id=\"{}\"><h2>{}</h2>", statistic.name, escape(text(statistic.name, lang)));
    if let Some(about) = text_of(statistic.name, "-about", lang) {
        let _ = write!(html, "<p>{}</p>", escape(about));
    }
    if let Some(reason) = statistic.missing {
        let _ = write!(html, "<p class=\"hint\">{}</p>", escape(text(reason, lang)));
    }
    if !statistic.figures.is_empty() {
        html.push_str("<dl>");
        for (name, value) in &statistic.figures {
            let shown = if is_share(name) { percent(*value) } else { number(*value) };
            let _ = write!(html, "<dt>{}</dt><dd>{shown}</dd>", escape(text(name, lang)));
        }
        html.push_str("</dl>");
    }
    if !statistic.plots.is_empty() {
        html.push_str("<div class=\"plots\">");
        for plot in &statistic.plots {
            let svg = plot.svg(&|key| text(key, lang).to_string());
            let _ = write!(
                html,
                "<figure><figcaption>{}</figcaption>{svg}</figure>",
                escape(text(plot.name, lang))
            );
        }
        html.push_str("</div>");
    }
    let _ = write!(
        html,
        "<p class=\"source\">{}: {}</p></section>",
        text("source", lang),
        escape(statistic.source)
    );
    html
}

/// Returns `true` for figures that are shares of a whole.
fn is_share(name: &str) -> bool {
    name.starts_with("share-")
        || matches!(
            name,
            "any-operator"
                | "phrase"
                | "exclude"
                | "or"
                | "field"
                | "required"
                | "keystrokes-saved"
                | "clicks-of-top-third"
                | "mean-term-share"
        )
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 0.1 { format!("{percent:.3} %") } else { format!("{percent:.1} %") }
}
