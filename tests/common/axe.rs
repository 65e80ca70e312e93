//! Accessibility checks with axe-core, run inside the page.

use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::common::browser::Browser;

/// File of the packages that `tools/setup node` installs.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/node/node_modules/axe-core/axe.min.js");

/// Frames are skipped: they contain pages of other sites. WebDriver waits for `done`.
const RUN: &str = "
    const done = arguments[arguments.length - 1];
    axe.run(document, { iframes: false, resultTypes: ['violations'] }).then(
        (found) => done({ violations: found.violations }),
        (error) => done({ failed: String(error) }));";

/// Injected as a whole: the content security policy of the page forbids external scripts, but not scripts of the
/// driver.
static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    let axe = std::fs::read_to_string(Path::new(FILE))
        .unwrap_or_else(|error| panic!("cannot read {FILE} ({error}): `tools/setup node` installs it"));
    format!("{axe};{RUN}")
});

#[derive(Deserialize)]
struct Report {
    #[serde(default)]
    violations: Vec<Violation>,
    failed: Option<String>,
}

/// A violated rule and its elements.
#[derive(Deserialize)]
struct Violation {
    id: String,
    impact: Option<String>,
    help: String,
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    html: String,
    #[serde(default)]
    failure_summary: String,
}

impl Browser {
    /// Returns the serious violations of the open page, one line per element: rule, element and reason.
    #[track_caller]
    pub fn accessibility(&self) -> Vec<String> {
        let answer = self.run(self.driver.execute_async(SCRIPT.as_str(), Vec::new()));
        let report: Report = serde_json::from_value(answer.json().clone()).unwrap();
        assert_eq!(report.failed, None, "axe did not run");
        let is_serious =
            |violation: &Violation| matches!(violation.impact.as_deref(), Some("serious" | "critical"));
        report.violations.into_iter().filter(is_serious).flat_map(lines).collect()
    }
}

fn lines(violation: Violation) -> Vec<String> {
    let Violation { id, help, nodes, .. } = violation;
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line =
        |node: Node| format!("{id} ({help}): {} – {}", one_line(&node.html), one_line(&node.failure_summary));
    nodes.into_iter().map(line).collect()
}
