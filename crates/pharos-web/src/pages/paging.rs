//! Pagination of results.

/// Number of page links shown at once.
const WINDOW: usize = 10;

/// Maximum page number; larger ones are clamped.
pub(crate) const MAX_PAGE: usize = 1_000_000;

/// Parses a page number; anything but a positive integer is 1.
pub(crate) fn page_number(text: Option<&str>) -> usize {
    let text = text.unwrap_or_default().trim();
    let all_digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    // Numbers too large for the type are clamped, not rejected.
    if all_digits { text.parse().unwrap_or(MAX_PAGE).clamp(1, MAX_PAGE) } else { 1 }
}

/// Maximum number of results per page.
pub(crate) const MAX_PAGE_SIZE: usize = 100;

/// Parses a number of results per page; `None` if it is invalid.
pub(crate) fn page_size(text: &str) -> Option<usize> {
    let all_digits = text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|size| all_digits && (1..=MAX_PAGE_SIZE).contains(size))
}

/// Returns the last reachable page: results beyond `max_results` are not shown.
pub(crate) fn last_page(total: u64, size: usize, max_results: usize) -> usize {
    let reachable = usize::try_from(total).unwrap_or(usize::MAX).min(max_results);
    reachable.div_ceil(size.max(1))
}

/// Returns the page numbers to link: up to ten, with the current one in the middle where possible.
pub(crate) fn page_window(current: usize, last: usize) -> std::ops::RangeInclusive<usize> {
    let first = current.saturating_sub(WINDOW / 2).min(last.saturating_sub(WINDOW - 1)).max(1);
    first..=last.min(first + WINDOW - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_page_numbers_are_one_and_huge_ones_are_clamped() {
        for odd in [None, Some(""), Some("abc"), Some("-1"), Some("0"), Some("1.5"), Some("+1"), Some("１")]
        {
            assert_eq!(page_number(odd), 1, "{odd:?}");
        }
        assert_eq!(page_number(Some(" 7 ")), 7);
        assert_eq!(page_number(Some("99999999999999999999")), MAX_PAGE);
    }

    #[test]
    fn invalid_page_sizes_are_ignored() {
        for odd in ["", "0", "101", "-1", "+5", "x", "99999999999999999999"] {
            assert_eq!(page_size(odd), None, "{odd:?}");
        }
        assert_eq!((page_size("1"), page_size("100")), (Some(1), Some(MAX_PAGE_SIZE)));
    }

    #[test]
    fn the_last_page_ends_at_the_results_or_at_the_limit() {
        assert_eq!(last_page(0, 10, 256), 0);
        assert_eq!(last_page(1, 10, 256), 1);
        assert_eq!(last_page(100, 10, 256), 10);
        assert_eq!(last_page(101, 10, 256), 11);
        assert_eq!(last_page(u64::MAX, 10, 256), 26);
        assert_eq!(last_page(5, 0, 256), 5);
    }

    #[test]
    fn ten_numbers_surround_the_current_page() {
        assert_eq!(page_window(1, 3), 1..=3);
        assert_eq!(page_window(1, 26), 1..=10);
        assert_eq!(page_window(6, 26), 1..=10);
        assert_eq!(page_window(7, 26), 2..=11);
        assert_eq!(page_window(26, 26), 17..=26);
        assert_eq!(page_window(11, 11), 2..=11);
    }
}
