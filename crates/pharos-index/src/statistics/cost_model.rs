//! Cost models of the literature: the size of an index, and the number of queries that a disk can serve.
//!
//! 《走进搜索引擎》§4.5.2 estimates the size of all posting lists from Zipf's law alone. 《搜索引擎——原理、技术与系统》§8.2 models an
//! inverted file (倒排文件) of M terms with lists of mean length α, and the bytes read for k simultaneous queries.
//! Symbols are those of the sources. Formulas whose print is not clearly legible are marked *reconstructed*. `pharos
//! index stats` prints all of them beside the measured values.

use std::ops::RangeInclusive;

/// Euler's constant γ.
const EULER: f64 = 0.577_215_664_901_532_9;

/// Harmonic numbers below this are summed; from here on the asymptotic series has full precision.
const SUMMED_UP_TO: u64 = 1_000;

/// S: number of words of the language, in the size estimate.
pub const ZIPF_WORDS: u64 = 500_000;
/// Number of words of a page, in the size estimate.
pub const ZIPF_PAGE_WORDS: f64 = 1_000.0;
/// k: bytes of a gap between document numbers, in the size estimate.
pub const ZIPF_GAP_BYTES: f64 = 1.0;
/// c: bytes of a posting or of a position in an uncompressed index.
pub const POSTING_BYTES: f64 = 10.0;
/// Lq: number of terms of a query.
pub const QUERY_TERMS: f64 = 5.0;
/// TF: mean frequency of a queried term if terms are words.
pub const QUERY_WORD_TF: f64 = 0.000_05;
/// TF: mean frequency of a queried term if terms are Chinese characters.
pub const QUERY_CHARACTER_TF: f64 = 0.000_5;
/// T_latency in seconds: a disk with 100 accesses per second.
pub const LATENCY_SECONDS: f64 = 0.01;
/// IO_bw: disk bandwidth in bytes per second.
pub const BANDWIDTH: f64 = 20e6;
/// r: response time in seconds.
pub const RESPONSE_SECONDS: f64 = 3.0;

/// Returns the harmonic number Hₙ = Σ 1/i for i = 1…n.
pub fn harmonic(n: u64) -> f64 {
    if n < SUMMED_UP_TO {
        // Summing the smallest values first avoids rounding errors.
        return (1..=n).rev().map(|i| 1.0 / i as f64).sum();
    }
    let n = n as f64;
    n.ln() + EULER + 1.0 / (2.0 * n) - 1.0 / (12.0 * n * n)
}

/// Returns the constant c of Zipf's law fᵢ = c/i, where the frequencies of S words sum to one: 1/13.7 for S =
/// 500,000. 《走进搜索引擎》§4.5.2 uses 1/13 by mistake.
pub fn zipf_constant(s: u64) -> f64 {
    if s == 0 { 0.0 } else { 1.0 / harmonic(s) }
}

/// Returns the number of words in a block. Word i is expected c·L/i times on a page of L words, so words up to rank
/// c·L are on every page (第一类), the same number on every second page, and so on. 《走进搜索引擎》§4.5.2 computes 76
/// with c = 1/13.
pub fn zipf_block(c: f64, page_words: f64) -> f64 {
    c * page_words
}

/// Returns the number of blocks of S words.
pub fn zipf_blocks(s: u64, block: f64) -> u64 {
    if block > 0.0 { (s as f64 / block).ceil() as u64 } else { 0 }
}

/// Returns the ranks of the words in block i, which occur on one of i pages. The book's third class should be
/// 153–228.
pub fn zipf_class(i: u64, block: u64) -> RangeInclusive<u64> {
    (i.saturating_sub(1) * block + 1)..=(i * block)
}

/// Returns the number of words whose gaps fit into one byte of seven bits: words of block i have gaps of i on
/// average.
pub fn zipf_one_byte_words(block: u64) -> u64 {
    127 * block
}

/// Returns the number of postings of n pages: block i has n/i for each of its words.
pub fn zipf_postings(n: f64, s: u64, block: f64) -> f64 {
    block * n * harmonic(zipf_blocks(s, block))
}

/// Returns the size of all lists of n pages at k bytes per posting: Σ block·k·n/i over all blocks (《走进搜索引擎》§4.5.2,
/// *reconstructed*).
pub fn zipf_size(n: f64, s: u64, block: f64, k: f64) -> f64 {
    k * zipf_postings(n, s, block)
}

/// Returns the expected number of distinct lists read by k queries of one term each, if all M terms are equally
/// likely: M·(1 − (1 − 1/M)ᵏ).
pub fn distinct_lists(m: f64, k: f64) -> f64 {
    if m < 1.0 || k <= 0.0 {
        return 0.0;
    }
    if m == 1.0 {
        return 1.0;
    }
    // Computes 1 − (1 − 1/M)ᵏ without cancellation for large M.
    -m * (k * (-1.0 / m).ln_1p()).exp_m1()
}

/// Returns the bytes read by k simultaneous queries if each list is read once (formula 8-1, *reconstructed*): D =
/// d·α·M·(1 − (1 − 1/M)ᵏ), with lists of α postings on average and d bytes per posting.
pub fn bytes_read(d: f64, alpha: f64, m: f64, k: f64) -> f64 {
    d * alpha * distinct_lists(m, k)
}

/// Returns the first approximation of (8-1), without shared lists: D ≈ d·α·k.
pub fn bytes_read_unshared(d: f64, alpha: f64, k: f64) -> f64 {
    d * alpha * k
}

/// Returns the second approximation of (8-1), with at most two queries per list: D ≈ d·α·(k − k(k − 1)/(2M)).
pub fn bytes_read_pairs(d: f64, alpha: f64, m: f64, k: f64) -> f64 {
    if m < 1.0 { 0.0 } else { d * alpha * (k - k * (k - 1.0) / (2.0 * m)) }
}

/// Returns the mean size of a list in an index without positions (formula 8-2): c·α.
pub fn list_bytes(c: f64, alpha: f64) -> f64 {
    c * alpha
}

/// Returns the mean size of a list in a full-text index (全文索引), which also stores the position of each occurrence
/// (formula 8-2): c·(α + T_N/M).
pub fn full_text_list_bytes(c: f64, alpha: f64, t_n: f64, m: f64) -> f64 {
    if m < 1.0 { 0.0 } else { c * (alpha + t_n / m) }
}

/// Returns the seconds that a disk needs to read a list.
pub fn list_seconds(bytes: f64, bandwidth: f64) -> f64 {
    bytes / bandwidth
}

/// Returns the maximum throughput m in queries per second with (T_latency + T_N·TF/IO_bw)·Lq·m ≤ 1.
///
/// Each of the Lq terms of a query costs one access and the reading of its list of T_N·TF occurrences at one byte
/// each. Without reading, this is IOPS/Lq.
pub fn throughput(latency: f64, list_bytes: f64, bandwidth: f64, query_terms: f64) -> f64 {
    1.0 / ((latency + list_bytes / bandwidth) * query_terms)
}

/// Returns the bytes that a query may read at throughput m: IO_bw/m.
pub fn query_bytes(bandwidth: f64, m: f64) -> f64 {
    bandwidth / m
}

/// Returns the maximum T_N with T_N·TF·Lq ≤ `query_bytes`: the text that one disk may hold, at one byte per
/// occurrence.
pub fn largest_text(query_bytes: f64, tf: f64, query_terms: f64) -> f64 {
    query_bytes / (tf * query_terms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} instead of {expected}");
    }

    #[test]
    fn the_constant_of_zipf() {
        near(harmonic(500_000), 13.70, 0.000_1);
        near(1.0 / zipf_constant(ZIPF_WORDS), 13.7, 0.000_1);
        assert_eq!((harmonic(0), harmonic(1), harmonic(2), zipf_constant(0)), (0.0, 1.0, 1.5, 0.0));
        // The sum and the series agree.
        near(harmonic(999) + 1.0 / 1_000.0, harmonic(1_000), 1e-14);
    }

    #[test]
    fn blocks_of_words_by_frequency() {
        assert_eq!(zipf_block(1.0 / 13.0, ZIPF_PAGE_WORDS).floor(), 76.0);
        let blocks = zipf_blocks(ZIPF_WORDS, 76.0);
        assert_eq!((blocks, blocks / 100 * 100), (6_579, 6_500));
        assert_eq!(zipf_one_byte_words(76), 9_652);
        assert_eq!(zipf_class(3, 76), 153..=228);
        assert_eq!(zipf_class(1, 76), 1..=76);
    }

    #[test]
    fn ten_billion_pages_are_seven_terabytes() {
        near(zipf_size(1e10, ZIPF_WORDS, 76.0, ZIPF_GAP_BYTES), 7.1e12, 0.005);
        // With the corrected constant.
        let block = zipf_block(zipf_constant(ZIPF_WORDS), ZIPF_PAGE_WORDS);
        near(zipf_size(1e10, ZIPF_WORDS, block, ZIPF_GAP_BYTES), 6.87e12, 0.001);
        // The book states about one gigabyte for a million pages.
        near(zipf_size(1e6, ZIPF_WORDS, 76.0, ZIPF_GAP_BYTES), 0.71e9, 0.005);
        assert_eq!(zipf_size(1e6, 0, 0.0, 1.0), 0.0);
    }

    /// Returns f_{M,k}(i) = S(k,i)·P(M,i)/Mᵏ with Stirling numbers of the second kind: the probability that k queries
    /// contain i different terms. One more query repeats one of the i, or uses one of the other M − i.
    fn different_terms(m: usize, k: usize) -> Vec<f64> {
        let mut f = vec![0.0; k + 1];
        f[0] = 1.0;
        for _ in 0..k {
            for i in (0..=k).rev() {
                let new = if i == 0 { 0.0 } else { f[i - 1] * (m as f64 - (i as f64 - 1.0)).max(0.0) };
                f[i] = (f[i] * i as f64 + new) / m as f64;
            }
        }
        f
    }

    #[test]
    fn lists_that_are_read_once_for_all() {
        for (m, k) in [(1, 1), (1, 4), (3, 2), (10, 7), (50, 200)] {
            let f = different_terms(m, k);
            near(f.iter().sum(), 1.0, 1e-12);
            let expected: f64 = f.iter().enumerate().map(|(i, p)| i as f64 * p).sum();
            near(distinct_lists(m as f64, k as f64), expected, 1e-9);
        }
        // S(3,2)·P(4,2)/4³ = 3·12/64.
        near(different_terms(4, 3)[2], 36.0 / 64.0, 1e-12);
        assert_eq!((distinct_lists(0.0, 5.0), distinct_lists(5.0, 0.0)), (0.0, 0.0));
    }

    #[test]
    fn approximations_of_bytes_read() {
        let (d, alpha, m) = (10.0, 50_000.0, 1e5);
        for k in [1.0, 10.0, 100.0] {
            let exact = bytes_read(d, alpha, m, k);
            assert!(exact <= bytes_read_unshared(d, alpha, k) * (1.0 + 1e-9));
            near(bytes_read_pairs(d, alpha, m, k), exact, 1e-6);
            near(bytes_read_unshared(d, alpha, k), exact, 0.001);
        }
        // Bounded by the size of all lists.
        near(bytes_read(d, alpha, m, 1e9), d * alpha * m, 1e-12);
    }

    #[test]
    fn bytes_of_a_list() {
        let (m, alpha, t_n) = (1e5, 5e4, 1e10);
        assert_eq!(list_bytes(POSTING_BYTES, alpha), 5e5);
        assert_eq!(full_text_list_bytes(POSTING_BYTES, alpha, t_n, m), 1.5e6);
        assert_eq!(full_text_list_bytes(POSTING_BYTES, 0.0, 0.0, 0.0), 0.0);
    }

    #[test]
    fn a_disk_answers_twenty_queries_a_second() {
        let m = throughput(LATENCY_SECONDS, 0.0, BANDWIDTH, QUERY_TERMS);
        near(m, 20.0, 1e-12);
        near(query_bytes(BANDWIDTH, m), 1e6, 1e-12);
        near(list_seconds(200e3, BANDWIDTH), 0.01, 1e-12);
        // Reading lists of this length takes as long as accessing them.
        near(throughput(LATENCY_SECONDS, 200e3, BANDWIDTH, QUERY_TERMS), 10.0, 1e-12);
    }

    #[test]
    fn text_that_one_disk_may_hold() {
        near(largest_text(1e6, QUERY_CHARACTER_TF, QUERY_TERMS), 400e6, 1e-12);
        near(largest_text(1e6, QUERY_WORD_TF, QUERY_TERMS), 4e9, 1e-12);
    }
}
