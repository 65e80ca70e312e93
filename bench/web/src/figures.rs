//! Statistics and formatting of numbers.

/// Returns the quantile (0 to 1) of sorted numbers.
pub fn quantile(sorted: &[u32], part: f64) -> u32 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part).round() as usize).copied().unwrap_or(0)
}

/// Returns Jain's fairness index (Jain, Chiu & Hawe 1984): (Σx)² / (n Σx²). 1 if all are equal, 1/n if one has
/// everything.
pub fn jain(numbers: &[u32]) -> f64 {
    let sum: f64 = numbers.iter().copied().map(f64::from).sum();
    let squares: f64 = numbers.iter().map(|x| f64::from(*x).powi(2)).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (numbers.len() as f64 * squares) }
}

/// Formats a time.
pub fn time(micros: f64) -> String {
    match micros {
        micros if micros < 1_000.0 => format!("{micros:.0} µs"),
        micros if micros < 100_000.0 => format!("{:.1} ms", micros / 1e3),
        micros if micros < 1e6 => format!("{:.0} ms", micros / 1e3),
        micros => format!("{:.1} s", micros / 1e6),
    }
}

/// Formats a count with separators.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_between_one_for_all_and_one_for_one() {
        assert_eq!(jain(&[7, 7, 7, 7]), 1.0);
        assert_eq!(jain(&[8, 0, 0, 0]), 0.25);
        assert_eq!(jain(&[0, 0]), 1.0);
        assert_eq!(jain(&[]), 1.0);
    }

    #[test]
    fn quantiles_are_numbers_of_the_list() {
        let numbers: Vec<u32> = (0..=100).collect();
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|part| quantile(&numbers, part)), [0, 50, 99, 100]);
        assert_eq!(quantile(&[], 0.5), 0);
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!([7, 999, 1_000, 1_234_567].map(count), ["7", "999", "1,000", "1,234,567"]);
        assert_eq!([850.0, 12_340.0, 230_000.0, 2.5e6].map(time), ["850 µs", "12.3 ms", "230 ms", "2.5 s"]);
    }
}
