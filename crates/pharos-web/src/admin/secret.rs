//! Random texts that nobody guesses, and comparing them in a way that tells nothing about them.

use std::fmt::Write as _;
use std::io;

use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

/// So many bytes of the system's randomness.
pub(super) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("the system has no randomness"))?;
    Ok(bytes)
}

/// 256 random bits as text that may stand in cookies and forms.
pub(super) fn token() -> io::Result<String> {
    let mut text = String::new();
    for byte in random::<32>()? {
        // Writing into a text does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Stands for a secret where the secret itself is not to be kept.
pub(super) fn mark(secret: &str) -> [u8; 32] {
    let mut mark = [0; 32];
    mark.copy_from_slice(digest(&SHA256, secret.as_bytes()).as_ref());
    mark
}

/// Are they the same? Marks are compared, so that the time it takes says nothing about how much of a guess was right.
pub(super) fn is_same(a: &str, b: &str) -> bool {
    mark(a) == mark(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_plain_and_never_the_same() {
        let (a, b) = (token().unwrap(), token().unwrap());
        assert!(a.len() == 64 && a.bytes().all(|byte| byte.is_ascii_hexdigit()) && a != b);
        assert!(is_same(&a, &a.clone()) && !is_same(&a, &b) && !is_same(&a, "") && !is_same(&a, &a[..63]));
    }
}
