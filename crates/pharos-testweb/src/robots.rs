//! robots.txt rules of a host (RFC 9309).

use std::fmt::Write;

/// The rules of one host for all crawlers.
#[derive(Clone, Debug)]
pub(crate) struct RobotsTxt {
    rules: Vec<(bool, &'static str)>,
}

impl RobotsTxt {
    /// Returns the rules of the generated hosts: prefixes, an exception and a wildcard.
    pub(crate) fn usual() -> RobotsTxt {
        RobotsTxt {
            rules: vec![
                (false, "/private/"),
                (true, "/private/open/"),
                (false, "/cgi-bin/"),
                (false, "/*session="),
            ],
        }
    }

    /// Returns rules that allow everything except these prefixes.
    pub(crate) fn disallow(prefixes: &[&'static str]) -> RobotsTxt {
        RobotsTxt { rules: prefixes.iter().map(|&prefix| (false, prefix)).collect() }
    }

    /// Returns `true` if the path is allowed: the longest matching rule decides.
    pub(crate) fn allow(&self, path: &str) -> bool {
        let matching = self.rules.iter().filter(|(_, pattern)| matches(pattern, path));
        matching.max_by_key(|(allow, pattern)| (pattern.len(), *allow)).is_none_or(|(allow, _)| *allow)
    }

    /// Returns the text of robots.txt.
    pub(crate) fn text(&self) -> String {
        let mut text = String::from("# please be gentle\nUser-agent: *\n");
        for (allow, pattern) in &self.rules {
            let verb = if *allow { "Allow" } else { "Disallow" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{verb}: {pattern}");
        }
        text
    }
}

/// Returns `true` if the pattern, in which `*` matches anything, matches the beginning of the path.
fn matches(pattern: &str, path: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| path.strip_prefix(first)) else { return false };
    for piece in pieces {
        match rest.find(piece) {
            Some(found) => rest = &rest[found + piece.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rule_decides() {
        let rules = RobotsTxt::usual();
        assert!(rules.allow("/"));
        assert!(!rules.allow("/private/1.html"));
        assert!(rules.allow("/private/open/1.html"));
        assert!(!rules.allow("/list?session=9"));
        assert!(rules.text().contains("Disallow: /private/\nAllow: /private/open/\n"));
    }
}
