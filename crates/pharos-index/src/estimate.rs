//! What the books say an index will cost, before there is one: its size, and how many queries a disk can answer.
//!
//! Two models, with the symbols of their sources. 《走进搜索引擎》 estimates the size of all lists from Zipf's law alone.
//! 《搜索引擎—原理、技术与系统》, chapter 8, models an inverted file (倒排文件) of M terms whose lists are α postings long on
//! average, and asks how many bytes must be read for k queries at once. Formulas whose print cannot be read with
//! certainty are marked *reconstructed*. `pharos index stats` puts all of them beside what it measures.

use std::ops::RangeInclusive;

/// Euler's constant γ.
const EULER: f64 = 0.577_215_664_901_532_9;

/// Up to here harmonic numbers are added up; from here on their asymptotic series is exact to the last digit.
const ADDED_UP: u64 = 1_000;

/// Words of the language, S, in the estimate of the size of an index.
pub const ZIPF_WORDS: u64 = 500_000;
/// Words of a page in the same estimate.
pub const ZIPF_PAGE_WORDS: f64 = 1_000.0;
/// Bytes of a gap between document numbers, k, in the same estimate.
pub const ZIPF_GAP_BYTES: f64 = 1.0;
/// Bytes of a posting or of a place, c, of an index that compresses nothing.
pub const POSTING_BYTES: f64 = 10.0;
/// Terms of a query, Lq.
pub const QUERY_TERMS: f64 = 5.0;
/// Mean frequency TF of a term that is asked for, where terms are words.
pub const QUERY_WORD_TF: f64 = 0.000_05;
/// The same where terms are Chinese characters.
pub const QUERY_CHARACTER_TF: f64 = 0.000_5;
/// T_latency in seconds: a disk of 100 accesses a second.
pub const LATENCY_SECONDS: f64 = 0.01;
/// IO_bw: bytes that the disk gives in a second.
pub const BANDWIDTH: f64 = 20e6;
/// Response time r in seconds.
pub const RESPONSE_SECONDS: f64 = 3.0;

/// Hₙ = Σ 1/i for i = 1…n.
pub fn harmonic(n: u64) -> f64 {
    if n < ADDED_UP {
        // Smallest first: nothing is lost.
        return (1..=n).rev().map(|i| 1.0 / i as f64).sum();
    }
    let n = n as f64;
    n.ln() + EULER + 1.0 / (2.0 * n) - 1.0 / (12.0 * n * n)
}

/// The constant c of Zipf's law fᵢ = c/i, where the frequencies of S words sum to one: 1/13.7 for S = 500,000
/// (《走进搜索引擎》 takes 1/13, a slip).
pub fn zipf_constant(s: u64) -> f64 {
    if s == 0 { 0.0 } else { 1.0 / harmonic(s) }
}

/// How many words a block has: word i is expected c·L/i times on a page of L words, so those up to rank c·L are on every
/// page (第一类), as many on every second, and so on (《走进搜索引擎》; 76 there, with c = 1/13).
pub fn zipf_block(c: f64, page_words: f64) -> f64 {
    c * page_words
}

/// How many blocks S words make.
pub fn zipf_blocks(s: u64, block: f64) -> u64 {
    if block > 0.0 { (s as f64 / block).ceil() as u64 } else { 0 }
}

/// The ranks of the words in block i, which stand on one of i pages (in the book's third class these should be
/// 153–228).
pub fn zipf_class(i: u64, block: u64) -> RangeInclusive<u64> {
    (i.saturating_sub(1) * block + 1)..=(i * block)
}

/// How many words have lists whose gaps fit in one byte of seven bits: words of block i have gaps of i on average.
pub fn zipf_one_byte_words(block: u64) -> u64 {
    127 * block
}

/// How many postings the lists of n pages have: block i holds n/i for each of its words.
pub fn zipf_postings(n: f64, s: u64, block: f64) -> f64 {
    block * n * harmonic(zipf_blocks(s, block))
}

/// Bytes of all lists of n pages, at k bytes a posting: Σ block·k·n/i over all blocks (《走进搜索引擎》, *reconstructed*).
pub fn zipf_size(n: f64, s: u64, block: f64, k: f64) -> f64 {
    k * zipf_postings(n, s, block)
}

/// How many different lists k queries of one term each read, where all M terms are asked for equally often:
/// M·(1 − (1 − 1/M)ᵏ).
pub fn distinct_lists(m: f64, k: f64) -> f64 {
    if m < 1.0 || k <= 0.0 {
        return 0.0;
    }
    if m == 1.0 {
        return 1.0;
    }
    // 1 − (1 − 1/M)ᵏ without cancelling where M is large.
    -m * (k * (-1.0 / m).ln_1p()).exp_m1()
}

/// Formula (8-1), *reconstructed*: bytes that k queries at once read, each list once however many ask for it:
/// D = d·α·M·(1 − (1 − 1/M)ᵏ), with lists of α postings on average and d bytes a posting.
pub fn bytes_read(d: f64, alpha: f64, m: f64, k: f64) -> f64 {
    d * alpha * distinct_lists(m, k)
}

/// The first approximation of (8-1): D ≈ d·α·k. No list is shared.
pub fn bytes_read_unshared(d: f64, alpha: f64, k: f64) -> f64 {
    d * alpha * k
}

/// The second approximation of (8-1): D ≈ d·α·(k − k(k − 1)/(2M)). At most two share a list.
pub fn bytes_read_pairs(d: f64, alpha: f64, m: f64, k: f64) -> f64 {
    if m < 1.0 { 0.0 } else { d * alpha * (k - k * (k - 1.0) / (2.0 * m)) }
}

/// Formula (8-2) of an index without places: a list has c·α bytes on average.
pub fn list_bytes(c: f64, alpha: f64) -> f64 {
    c * alpha
}

/// Formula (8-2) of a full-text index (全文索引), which holds the place of each occurrence, too: c·(α + T_N/M).
pub fn full_text_list_bytes(c: f64, alpha: f64, t_n: f64, m: f64) -> f64 {
    if m < 1.0 { 0.0 } else { c * (alpha + t_n / m) }
}

/// Seconds that a disk needs for one list.
pub fn list_seconds(bytes: f64, bandwidth: f64) -> f64 {
    bytes / bandwidth
}

/// The largest throughput m, in queries a second, with (T_latency + T_N·TF/IO_bw)·Lq·m ≤ 1: each of a query's Lq
/// terms costs one access and the reading of its list, which has T_N·TF occurrences at one byte each. Without
/// reading, this is IOPS/Lq.
pub fn throughput(latency: f64, list_bytes: f64, bandwidth: f64, query_terms: f64) -> f64 {
    1.0 / ((latency + list_bytes / bandwidth) * query_terms)
}

/// Bytes a query may read at this throughput: IO_bw/m.
pub fn query_bytes(bandwidth: f64, m: f64) -> f64 {
    bandwidth / m
}

/// The largest T_N with T_N·TF·Lq ≤ these bytes a query: what one disk may hold, at one byte an occurrence.
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
        // Added up and by the series alike.
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
        // With the constant as it should be.
        let block = zipf_block(zipf_constant(ZIPF_WORDS), ZIPF_PAGE_WORDS);
        near(zipf_size(1e10, ZIPF_WORDS, block, ZIPF_GAP_BYTES), 6.87e12, 0.001);
        // A million pages: about a gigabyte, says the book.
        near(zipf_size(1e6, ZIPF_WORDS, 76.0, ZIPF_GAP_BYTES), 0.71e9, 0.005);
        assert_eq!(zipf_size(1e6, 0, 0.0, 1.0), 0.0);
    }

    /// f_{M,k}(i) = S(k,i)·P(M,i)/Mᵏ with Stirling numbers of the second kind: the probability that k queries ask for i
    /// different terms. One query more asks for one of the i again, or for one of the M − i others.
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
        // Never more than everything.
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
        // Reading lists of that length takes as long as finding them.
        near(throughput(LATENCY_SECONDS, 200e3, BANDWIDTH, QUERY_TERMS), 10.0, 1e-12);
    }

    #[test]
    fn text_that_one_disk_may_hold() {
        near(largest_text(1e6, QUERY_CHARACTER_TF, QUERY_TERMS), 400e6, 1e-12);
        near(largest_text(1e6, QUERY_WORD_TF, QUERY_TERMS), 4e9, 1e-12);
    }
}
