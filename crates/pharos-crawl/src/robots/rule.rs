//! One rule, and whether an address fits it (RFC 9309 §2.2.2 and §2.2.3).

/// The canonical form of the longest address there is; a rule with more letters matches nothing.
const MAX_PATTERN: usize = 3 * 2_048;
/// A longer rule is shown up to here.
const SHOWN: usize = 200;

/// `Allow` or `Disallow`, with the path in canonical form: a `*` in it is always a wildcard.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rule {
    pub(super) allow: bool,
    pub(super) pattern: String,
    pub(super) anchored: bool,
}

impl Rule {
    /// The rule of a path as written; none where it can never matter.
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
        })
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        let Some((first, others)) = self.pattern.split_once('*') else {
            return if self.anchored { path == self.pattern } else { path.starts_with(&self.pattern) };
        };
        let Some(mut rest) = path.strip_prefix(first) else { return false };
        let mut parts = others.split('*').peekable();
        while let Some(part) = parts.next() {
            // The leftmost place is always right, except for the last part of a rule that ends in `$`.
            if parts.peek().is_none() && self.anchored {
                return rest.ends_with(part);
            }
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        true
    }

    /// The longest match decides, and `Allow` among equals; a `$` counts as a letter.
    pub(super) fn precedence(&self) -> (usize, bool) {
        (self.pattern.len() + usize::from(self.anchored), self.allow)
    }

    pub(super) fn weight(&self) -> usize {
        size_of::<Self>() + self.pattern.len()
    }
}

/// As one would write it: `Disallow: /private/`.
impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = if self.allow { "Allow" } else { "Disallow" };
        let end = if self.anchored { "$" } else { "" };
        write!(f, "{word}: {}{end}", &self.pattern[..self.pattern.len().min(SHOWN)])
    }
}

/// One spelling per path (RFC 9309 §2.2.2): unreserved characters plainly, everything else percent-encoded in upper
/// case; `/`, `?`, `&` and `=` stand for themselves where they are written plainly, except a `/` after the `?`.
/// In a rule a plain `*` stays, as a wildcard.
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
                // `a**b` means what `a*b` does, and is slower.
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
