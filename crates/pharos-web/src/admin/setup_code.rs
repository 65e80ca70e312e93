//! The setup code that authorises creating the first operator: known to those who can read the log or set the environment.
//!
//! It is never written to disk by the desk, and expires as soon as an operator exists.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use super::secret::{random_bytes, secrets_match};
use super::settings::{DeskSettingsError, MIN_CODE_LENGTH};

/// Environment variable that may set the code.
pub const SETUP_CODE_VARIABLE: &str = "PHAROS_DESK_SETUP_CODE";

/// Crockford's alphabet, without letters that are easily confused. 20 letters are 100 bits.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH: usize = 20;
const GROUP: usize = 4;

/// The setup code until it expires.
pub(super) struct SetupCode {
    code: String,
    is_generated: bool,
    is_expired: AtomicBool,
}

impl SetupCode {
    /// Uses the code given in the environment, or generates one.
    pub(super) fn new(given: Option<&str>) -> io::Result<Self> {
        let given = check(given).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let code = given.map_or_else(generate, |given| Ok(given.to_string()))?;
        Ok(Self { code, is_generated: given.is_none(), is_expired: AtomicBool::new(false) })
    }

    /// Returns `true` if this is the code. In generated codes, case, spaces and hyphens are ignored.
    pub(super) fn matches(&self, typed: &str) -> bool {
        let is_equal = if self.is_generated {
            secrets_match(&normalized(&self.code), &normalized(typed))
        } else {
            secrets_match(&self.code, typed.trim())
        };
        is_equal && !self.is_expired()
    }

    /// Expires the code for the lifetime of the process, even if all operators are lost later.
    pub(super) fn expire(&self) {
        self.is_expired.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_expired(&self) -> bool {
        self.is_expired.load(Ordering::Relaxed)
    }

    /// Returns the code for the log; a code from the environment is not repeated.
    pub(super) fn display(&self) -> String {
        if self.is_generated { self.code.clone() } else { format!("from {SETUP_CODE_VARIABLE}") }
    }
}

/// Checks the length of a code given in the environment.
pub(super) fn check(given: Option<&str>) -> Result<Option<&str>, DeskSettingsError> {
    match given.map(str::trim) {
        Some(code) if code.chars().count() < MIN_CODE_LENGTH => Err(DeskSettingsError::SetupCode),
        code => Ok(code),
    }
}

fn generate() -> io::Result<String> {
    let mut code = String::new();
    for (index, byte) in random_bytes::<LENGTH>()?.into_iter().enumerate() {
        if index > 0 && index.is_multiple_of(GROUP) {
            code.push('-');
        }
        code.push(LETTERS[usize::from(byte) % LETTERS.len()].into());
    }
    Ok(code)
}

fn normalized(code: &str) -> String {
    let letters = code.chars().filter(char::is_ascii_alphanumeric).map(|c| match c.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        c => c,
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_code_ignores_case_and_separators_until_it_expires() {
        let code = SetupCode::new(None).unwrap();
        let shown = code.display();
        assert!(shown.len() == 24 && shown.split('-').count() == 5, "{shown}");
        assert!(
            code.matches(&shown)
                && code.matches(&shown.to_lowercase())
                && code.matches(&format!(" {} ", shown.replace('-', " ")))
        );
        assert!(
            !code.matches("")
                && !code.matches(&shown[..23])
                && !code.matches(&SetupCode::new(None).unwrap().display())
        );
        code.expire();
        assert!(!code.matches(&shown));
    }

    #[test]
    fn a_given_code_must_match_exactly_and_is_not_repeated() {
        let code = SetupCode::new(Some("correct horse")).unwrap();
        assert!(code.matches("correct horse") && code.matches(" correct horse\n"));
        assert!(
            !code.matches("Correct horse")
                && !code.matches("correcthorse")
                && !code.display().contains("horse")
        );
        for short in ["", "   ", "eleven char", "灯灯灯灯灯灯灯灯灯灯灯"] {
            assert_eq!(check(Some(short)), Err(DeskSettingsError::SetupCode), "{short}");
        }
        assert_eq!(check(Some("灯灯灯灯灯灯灯灯灯灯灯灯")).map(|code| code.is_some()), Ok(true));
        assert_eq!(check(None), Ok(None));
    }
}
