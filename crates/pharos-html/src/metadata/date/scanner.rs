//! Scanner for the components of a date: numbers, separators and month names.

use pharos_core::work::spend_work;

/// The unread rest of a text.
pub(super) struct DateScanner<'a>(pub(super) &'a str);

impl<'a> DateScanner<'a> {
    /// Reads a number of at least `min` and at most `max` digits, four at most.
    pub(super) fn number(&mut self, min: usize, max: usize) -> Option<i16> {
        let len = self.0.bytes().take(max).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at(len);
        let number = if len >= min { digits.parse().ok() } else { None };
        if number.is_some() {
            self.0 = rest;
        }
        number
    }

    /// Reads the first of `candidates` that comes next; an empty candidate always matches.
    pub(super) fn any_of<'c>(&mut self, candidates: &[&'c str]) -> Option<&'c str> {
        let (found, rest) = candidates.iter().find_map(|c| Some((*c, self.0.strip_prefix(c)?)))?;
        self.0 = rest;
        Some(found)
    }

    pub(super) fn blanks(&mut self) {
        let rest = self.0.trim_start();
        spend_work((self.0.len() - rest.len()) as u64);
        self.0 = rest;
    }

    pub(super) fn character(&mut self) -> Option<char> {
        let c = self.0.chars().next()?;
        self.0 = &self.0[c.len_utf8()..];
        Some(c)
    }

    pub(super) fn ordinal_ending(&mut self) {
        self.any_of(&["st", "nd", "rd", "th"]);
    }

    /// Reads the name of a month, in full or its first three letters.
    pub(super) fn month_name(&mut self) -> Option<i8> {
        const MONTHS: [&str; 12] = [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ];
        let len = self.0.bytes().take_while(u8::is_ascii_alphabetic).count();
        spend_work(len as u64);
        let (name, rest) = self.0.split_at(len);
        if len < 3 {
            return None;
        }
        let month = MONTHS.iter().position(|month| {
            let is_short = len == 3 || (len == 4 && *month == "september");
            (len == month.len() || is_short)
                && month.get(..len).is_some_and(|start| start.eq_ignore_ascii_case(name))
        })?;
        self.0 = rest;
        i8::try_from(month + 1).ok()
    }

    /// Reads a Chinese number of a month or day: `二十二`, `十`, `三`.
    pub(super) fn chinese_number(&mut self) -> Option<i8> {
        let mut trial = DateScanner(self.0);
        let tens = match trial.0.chars().next()? {
            '十' => 1,
            c if trial.0[c.len_utf8()..].starts_with('十') => {
                let digit = chinese_digit(c)?;
                trial.character();
                digit
            }
            _ => 0,
        };
        if tens > 0 {
            trial.character();
        }
        let ones = trial.0.chars().next().and_then(chinese_digit);
        if ones.is_some() {
            trial.character();
        }
        if tens == 0 && ones.is_none() {
            return None;
        }
        self.0 = trial.0;
        Some(tens * 10 + ones.unwrap_or(0))
    }
}

/// Returns the digit of a Chinese numeral.
pub(super) fn chinese_digit(c: char) -> Option<i8> {
    let digits = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];
    let c = if matches!(c, '○' | '零') { '〇' } else { c };
    digits.iter().position(|d| *d == c).and_then(|digit| i8::try_from(digit).ok())
}
