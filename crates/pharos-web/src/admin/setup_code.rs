//! The setup code that authorises creating the first operator: known to those who can read the log or set the environment.
//!
//! It is never written to disk by the desk, and expires as soon as an operator exists.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use super::secret::{is_same, random};
use super::settings::{DeskSettingsError, SHORTEST_CODE};

/// Environment variable that may set the code.
pub const SETUP_CODE_VARIABLE: &str = "PHAROS_DESK_SETUP_CODE";

/// Crockford's alphabet, without letters that are easily confused. 20 letters are 100 bits.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH: usize = 20;
const GROUP: usize = 4;

/// The setup code until it expires.
pub(super) struct SetupCode {
    code: String,
    is_ours: bool,
    is_spent: AtomicBool,
}

impl SetupCode {
    /// Uses the code given in the environment, or generates one.
    pub(super) fn new(given: Option<&str>) -> io::Result<Self> {
        let given = checked(given).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let code = given.map_or_else(generated, |given| Ok(given.to_string()))?;
        Ok(Self { code, is_ours: given.is_none(), is_spent: AtomicBool::new(false) })
    }

    /// Returns `true` if this is the code. In generated codes, case, spaces and hyphens are ignored.
    pub(super) fn is(&self, typed: &str) -> bool {
        let fits = if self.is_ours {
            is_same(&folded(&self.code), &folded(typed))
        } else {
            is_same(&self.code, typed.trim())
        };
        fits && !self.is_spent()
    }

    /// Expires the code for the lifetime of the process, even if all operators are lost later.
    pub(super) fn spend(&self) {
        self.is_spent.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_spent(&self) -> bool {
        self.is_spent.load(Ordering::Relaxed)
    }

    /// Returns the code for the log; a code from the environment is not repeated.
    pub(super) fn told(&self) -> String {
        if self.is_ours { self.code.clone() } else { format!("from {SETUP_CODE_VARIABLE}") }
    }
}

/// Checks the length of a code given in the environment.
pub(super) fn checked(given: Option<&str>) -> Result<Option<&str>, DeskSettingsError> {
    match given.map(str::trim) {
        Some(code) if code.chars().count() < SHORTEST_CODE => Err(DeskSettingsError::SetupCode),
        code => Ok(code),
    }
}

fn generated() -> io::Result<String> {
    let mut code = String::new();
    for (place, byte) in random::<LENGTH>()?.into_iter().enumerate() {
        if place > 0 && place.is_multiple_of(GROUP) {
            code.push('-');
        }
        code.push(LETTERS[usize::from(byte) % LETTERS.len()].into());
    }
    Ok(code)
}

fn folded(code: &str) -> String {
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
        let told = code.told();
        assert!(told.len() == 24 && told.split('-').count() == 5, "{told}");
        assert!(
            code.is(&told)
                && code.is(&told.to_lowercase())
                && code.is(&format!(" {} ", told.replace('-', " ")))
        );
        assert!(!code.is("") && !code.is(&told[..23]) && !code.is(&SetupCode::new(None).unwrap().told()));
        code.spend();
        assert!(!code.is(&told));
    }

    #[test]
    fn a_given_code_must_match_exactly_and_is_not_repeated() {
        let code = SetupCode::new(Some("correct horse")).unwrap();
        assert!(code.is("correct horse") && code.is(" correct horse\n"));
        assert!(!code.is("Correct horse") && !code.is("correcthorse") && !code.told().contains("horse"));
        for short in ["", "   ", "eleven char", "灯灯灯灯灯灯灯灯灯灯灯"] {
            assert_eq!(checked(Some(short)), Err(DeskSettingsError::SetupCode), "{short}");
        }
        assert_eq!(checked(Some("灯灯灯灯灯灯灯灯灯灯灯灯")).map(|code| code.is_some()), Ok(true));
        assert_eq!(checked(None), Ok(None));
    }
}
