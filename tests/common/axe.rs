//! What keeps people who cannot see, hear or point from using a page: axe-core, run inside the page itself.

#![allow(clippy::unwrap_used, unreachable_pub, reason = "tests")]

use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::rig::Browser;

/// Where `./check` puts the packages of its step `pages`.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/node/node_modules/axe-core/axe.min.js");

/// Frames are left out: what stands in them is other people's pages. `done` is what WebDriver waits for.
const RUN: &str = "
    const done = arguments[arguments.length - 1];
    axe.run(document, { iframes: false, resultTypes: ['violations'] }).then(
        (found) => done({ violations: found.violations }),
        (error) => done({ failed: String(error) }));";

/// All of it at once: the page's own policy forbids scripts from elsewhere, not what its driver runs.
static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    let axe = std::fs::read_to_string(Path::new(FILE)).unwrap_or_else(|error| {
        panic!("cannot read {FILE} ({error}): ./check installs it in its step `pages`")
    });
    format!("{axe};{RUN}")
});

#[derive(Deserialize)]
struct Report {
    #[serde(default)]
    violations: Vec<Violation>,
    failed: Option<String>,
}

/// A rule that does not hold, and where.
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
    /// What is seriously wrong with the open page, one line for each element: the rule, the element and why.
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
