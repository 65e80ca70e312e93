//! Random tokens, digests of secrets, and their comparison in constant time.

use std::fmt::Write as _;
use std::io;

use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

/// Returns `N` bytes from the system's random number generator.
pub(crate) fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("no system randomness available"))?;
    Ok(bytes)
}

/// Returns 256 random bits in hexadecimal, for cookies and forms.
pub(crate) fn random_token() -> io::Result<String> {
    let mut text = String::new();
    for byte in random_bytes::<32>()? {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Returns the SHA-256 digest of a secret, for storage instead of the secret itself.
pub(crate) fn digest_secret(secret: &str) -> [u8; 32] {
    let mut digest_bytes = [0; 32];
    digest_bytes.copy_from_slice(digest(&SHA256, secret.as_bytes()).as_ref());
    digest_bytes
}

/// Compares two secrets by their digests, so that the time taken reveals nothing about matching prefixes.
pub(crate) fn secrets_match(a: &str, b: &str) -> bool {
    digest_secret(a) == digest_secret(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_hexadecimal_and_unique() {
        let (a, b) = (random_token().unwrap(), random_token().unwrap());
        assert!(a.len() == 64 && a.bytes().all(|byte| byte.is_ascii_hexdigit()) && a != b);
        assert!(
            secrets_match(&a, &a.clone())
                && !secrets_match(&a, &b)
                && !secrets_match(&a, "")
                && !secrets_match(&a, &a[..63])
        );
    }
}
