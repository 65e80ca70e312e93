//! One robots.txt rule and path matching (RFC 9309 §2.2.2 and §2.2.3).

use crate::interpret::wildcard::matches_wildcards;

/// Maximum canonical length of a URL; a rule with more literal characters matches nothing.
const MAX_PATTERN: usize = 3 * 2_048;
/// Maximum number of characters displayed.
const MAX_DISPLAYED: usize = 200;

/// `Allow` or `Disallow` with a canonical path, in which every `*` is a wildcard.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PathRule {
    pub(super) allow: bool,
    pub(super) pattern: String,
    pub(super) anchored: bool,
    /// Matches every path that begins like the pattern up to its first wildcard.
    is_widened: bool,
}

impl PathRule {
    /// Parses a path as written; returns `None` if the rule can never match.
    pub(super) fn new(allow: bool, path: &[u8]) -> Option<Self> {
        let (path, anchored) = match path.strip_suffix(b"$") {
            Some(path) => (path, true),
            None => (path, false),
        };
        let pattern = canonical(path, true);
        let letters = pattern.len() - pattern.bytes().filter(|b| *b == b'*').count();
        (letters <= MAX_PATTERN && (anchored || !pattern.is_empty())).then_some(Self {
            allow,
            pattern,
            anchored,
            is_widened: false,
        })
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        match self.pattern.split_once('*') {
            Some((first, _)) if self.is_widened => matches_wildcards(first, path, false),
            _ => matches_wildcards(&self.pattern, path, self.anchored),
        }
    }

    pub(super) fn has_wildcard(&self) -> bool {
        self.pattern.contains('*')
    }

    /// Ignores the text after the first wildcard, so that the rule matches more paths at less cost. Its precedence
    /// stays.
    pub(super) fn widen(&mut self) {
        self.is_widened = true;
    }

    /// Returns the precedence: the longest match wins, and `Allow` among equals; a `$` counts as a character.
    pub(super) fn precedence(&self) -> (usize, bool) {
        (self.pattern.len() + usize::from(self.anchored), self.allow)
    }

    pub(super) fn memory_size(&self) -> usize {
        size_of::<Self>() + self.pattern.len()
    }
}

/// Formats the rule as written in a file: `Disallow: /private/`.
impl std::fmt::Display for PathRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = if self.allow { "Allow" } else { "Disallow" };
        let end = if self.anchored { "$" } else { "" };
        write!(f, "{word}: {}{end}", &self.pattern[..self.pattern.len().min(MAX_DISPLAYED)])
    }
}

/// Returns the canonical spelling of a path (RFC 9309 §2.2.2).
///
/// Unreserved characters are plain, all others percent-encoded in upper case. `/`, `?`, `&` and `=` keep their
/// spelling if written plainly, except a `/` after the `?`. In a rule a plain `*` stays, as a wildcard.
pub(super) fn canonical(path: &[u8], is_rule: bool) -> String {
    let hex = |at: usize| path.get(at).and_then(|b| char::from(*b).to_digit(16));
    let mut out = String::with_capacity(path.len());
    let mut in_query = false;
    let mut at = 0;
    while at < path.len() {
        let (byte, was_escaped) = match (path[at], hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => ((high * 16 + low) as u8, true),
            (byte, ..) => (byte, false),
        };
        at += if was_escaped { 3 } else { 1 };
        let plain = match byte {
            b'-' | b'.' | b'_' | b'~' => true,
            b'/' => !was_escaped && !in_query,
            b'?' | b'&' | b'=' => !was_escaped,
            b'*' if is_rule && !was_escaped => {
                // `a**b` equals `a*b` but is slower to match.
                if !out.ends_with('*') {
                    out.push('*');
                }
                continue;
            }
            _ => byte.is_ascii_alphanumeric(),
        };
        in_query |= byte == b'?' && !was_escaped;
        if plain {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend(
                [byte >> 4, byte & 15].map(|digit| char::from(b"0123456789ABCDEF"[usize::from(digit)])),
            );
        }
    }
    out
}
