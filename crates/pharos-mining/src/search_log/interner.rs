//! Strings as numbers.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;

/// Maps distinct strings to numbers, in order of first use.
#[derive(Debug, Default)]
pub struct Interner {
    numbers: HashMap<Arc<str>, u32, RandomState>,
    texts: Vec<Arc<str>>,
}

impl Interner {
    /// Maximum number of distinct strings.
    pub const MAX: usize = 8_000_000;

    /// Returns the number of a string, which is added if it is new. Returns `None` if there are too many strings.
    pub fn intern(&mut self, text: &str) -> Option<u32> {
        if let Some(number) = self.numbers.get(text) {
            return Some(*number);
        }
        if self.texts.len() >= Self::MAX {
            return None;
        }
        let number = self.texts.len() as u32;
        let text: Arc<str> = text.into();
        self.numbers.insert(Arc::clone(&text), number);
        self.texts.push(text);
        Some(number)
    }

    /// Returns the number of a string, if it was added before.
    pub fn number(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// Returns the string with a number; empty if there is none.
    pub fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", |text| text)
    }

    /// Returns the number of strings.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns `true` if there are no strings.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
