//! A set of days of the week.

use std::fmt;

const NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A set of days of the week, written as `mon-fri` or `sat,sun`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeekDays {
    /// Bit 0 is Monday.
    bits: u8,
}

impl WeekDays {
    /// All seven days.
    pub const ALL: Self = Self { bits: 0x7f };

    /// Parses days and ranges of days, separated by commas or plus signs. A range may pass the end of the week.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bits = 0;
        for part in text.split([',', '+']) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (day_number(first)?, day_number(last)?);
            let mut day = first;
            bits |= 1 << day;
            while day != last {
                day = (day + 1) % 7;
                bits |= 1 << day;
            }
        }
        Some(Self { bits })
    }

    /// Returns `true` if the set contains a day, counted from Monday.
    pub fn contains(self, day: i8) -> bool {
        self.bits & (1 << day.rem_euclid(7)) != 0
    }
}

fn day_number(name: &str) -> Option<u32> {
    let name = name.trim().to_ascii_lowercase();
    NAMES.iter().position(|known| *known == name).and_then(|day| u32::try_from(day).ok())
}

impl fmt::Display for WeekDays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        let mut day = 0;
        while day < 7 {
            let length = (day..7).take_while(|day| self.bits & (1 << day) != 0).count();
            match length {
                0 => day += 1,
                1 | 2 => {
                    parts.extend(NAMES[day..day + length].iter().map(ToString::to_string));
                    day += length;
                }
                _ => {
                    parts.push(format!("{}-{}", NAMES[day], NAMES[day + length - 1]));
                    day += length;
                }
            }
        }
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_ranges_are_read_and_printed() {
        for (text, printed) in [
            ("mon-fri", "mon-fri"),
            ("Sat,SUN", "sat,sun"),
            ("sat+sun", "sat,sun"),
            ("fri-mon", "mon,fri-sun"),
            ("mon-sun", "mon-sun"),
            ("wed", "wed"),
        ] {
            let days = WeekDays::parse(text).unwrap();
            assert_eq!(days.to_string(), printed, "{text}");
            assert_eq!(WeekDays::parse(printed), Some(days));
        }
        assert!(WeekDays::parse("mon").unwrap().contains(0) && !WeekDays::parse("mon").unwrap().contains(6));
        assert!(WeekDays::parse("sun").unwrap().contains(-1), "the day before Monday");
        for bad in ["", "mo", "mon-", "mon,,tue", "1", "monday", "星期一"] {
            assert_eq!(WeekDays::parse(bad), None, "{bad}");
        }
    }
}
