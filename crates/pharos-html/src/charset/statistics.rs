//! Charset detection from byte statistics, independent of declarations.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252,
};

use super::fluency::fluent_chinese;
use super::{Charset, seven_bit};

/// Bytes examined. Statistics are reliable after far fewer and expensive, since every charset is tried at once.
const MAX_SAMPLE: usize = 64 << 10;

/// Number of valid multi-byte sequences that proves UTF-8. Four characters of GBK are valid UTF-8 once in a
/// thousand times, ten once in tens of millions.
const MIN_UTF8_SEQUENCES: usize = 10;

/// At most one invalid sequence in this many valid ones is tolerated as a carelessly assembled page. In another
/// charset nearly all sequences are invalid.
const VALID_PER_INVALID: usize = 20;

/// Minimum number of non-ASCII byte pairs for a statistical decision.
const MIN_PAIRS: usize = 20;

/// Returns the text if it is UTF-8 with enough multi-byte characters to be certain. A character truncated at the
/// end of the body is tolerated, and a few invalid sequences become replacement characters.
pub(super) fn decode_if_utf8(body: &[u8]) -> Option<String> {
    let is_multi_byte = |b: &u8| *b >= 0xC0;
    let valid = match std::str::from_utf8(body) {
        Ok(text) => text,
        Err(e) if e.error_len().is_none() => std::str::from_utf8(&body[..e.valid_up_to()]).ok()?,
        Err(e) => {
            let before = body[..e.valid_up_to()].iter().filter(|b| is_multi_byte(b)).count();
            let (mut right, mut broken) = (0, 0);
            for chunk in body[e.valid_up_to()..].utf8_chunks() {
                right += chunk.valid().bytes().filter(is_multi_byte).count();
                broken += usize::from(!chunk.invalid().is_empty());
                // Another charset is detected within its first characters.
                if broken > MIN_UTF8_SEQUENCES && (before + right) < broken * VALID_PER_INVALID {
                    return None;
                }
            }
            let is_utf8 = before + right >= MIN_UTF8_SEQUENCES + broken * VALID_PER_INVALID;
            return is_utf8.then(|| String::from_utf8_lossy(body).into_owned());
        }
    };
    let multi_byte = valid.bytes().filter(is_multi_byte).take(MIN_UTF8_SEQUENCES).count();
    (multi_byte == MIN_UTF8_SEQUENCES).then(|| valid.to_string())
}

/// Returns `true` for valid UTF-8 with few multi-byte characters, such as quotation marks in English, that is declared
/// as another charset. In text of a Western charset, such sequences (`â€œ`, `Ã©`) do not occur. In text of an East
/// Asian one, the first three-byte sequences would be followed by invalid ones.
pub(super) fn is_utf8_declared_otherwise(body: &[u8], declared: Charset) -> bool {
    let Charset::Known(encoding) = declared else { return false };
    let Ok(text) = std::str::from_utf8(body) else { return false };
    let (mut long, mut short) = (0, 0);
    for c in text.chars().filter(|c| !c.is_ascii()) {
        if c.len_utf8() > 2 { long += 1 } else { short += 1 }
    }
    if encoding == WINDOWS_1252 { long + short > 0 } else { long > 1 && long > short }
}

/// Detects UTF-16 without a byte order mark. Markup and spaces make every other byte zero; no other text contains
/// zero bytes.
pub(super) fn utf16_without_mark(body: &[u8]) -> Option<&'static Encoding> {
    const MAX_HEAD: usize = 2_048;
    let head = &body[..body.len().min(MAX_HEAD) & !1];
    if head.len() < 4 {
        return None;
    }
    let zeros = |offset: usize| head.iter().skip(offset).step_by(2).filter(|b| **b == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let many = head.len() / 10;
    if odd > many && even * 20 < odd {
        Some(UTF_16LE)
    } else if even > many && odd * 20 < even {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Returns `true` for a declaration of UTF-16, which at this point [`utf16_without_mark`] has already ruled out.
pub(super) fn cannot_be_utf16(declared: Charset) -> bool {
    matches!(declared, Charset::Known(encoding) if encoding == UTF_16BE || encoding == UTF_16LE)
}

/// Counts the replacement characters in a text.
pub(super) fn count_replacements(text: &str) -> usize {
    text.matches('\u{FFFD}').count()
}

/// Returns the most likely charset.
pub(super) fn detect(body: &[u8], host: &str) -> Charset {
    let Some(first) = body.iter().position(|b| !b.is_ascii()) else {
        return match seven_bit::looks_like_iso_2022(body) {
            Some(name) => Charset::Iso2022(name),
            None if seven_bit::looks_like_hz(body) => Charset::Hz,
            None => Charset::Known(UTF_8),
        };
    };
    if let Some(found) = fluent_chinese(body) {
        return Charset::Known(found.encoding);
    }
    let sample = &body[first..body.len().min(first + MAX_SAMPLE)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    // The sample is never marked as the last input, so a truncated character at its end is not an error.
    detector.feed(sample, false);
    let top_level = host.rsplit('.').next().unwrap_or_default().as_bytes();
    let is_plain = top_level.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-');
    Charset::Known(
        detector.guess((is_plain && !top_level.is_empty()).then_some(top_level), Utf8Detection::Allow),
    )
}

/// Returns `true` if a text without replacement characters is plausible in this charset, judged by the frequency of
/// its common characters. `text` is the body decoded with it.
pub(super) fn is_plausible(charset: Charset, body: &[u8], text: &str) -> bool {
    let Charset::Known(encoding) = charset else { return true };
    let sample = || {
        let first = body.iter().position(|b| !b.is_ascii()).unwrap_or(body.len());
        &body[first..body.len().min(first + MAX_SAMPLE)]
    };
    if encoding == GBK || encoding == GB18030 {
        // Level 1 of GB 2312 and its punctuation; traditional text in GBK leaves this range more often.
        is_common(sample(), 2, |lead, trail| {
            (0xB0..=0xD7).contains(&lead) && trail >= 0xA1 || (0xA1..=0xA3).contains(&lead)
        })
    } else if encoding == BIG5 {
        // Level 1 of Big5 and its punctuation; two trail bytes in five are below those of GB 2312.
        is_common(sample(), 2, |lead, _| (0xA1..=0xC6).contains(&lead))
            && is_common(sample(), 10, |_, trail| trail < 0x7F)
    } else if encoding == EUC_KR {
        ScriptCounts::count(text).is_korean()
    } else if encoding == SHIFT_JIS || encoding == EUC_JP {
        ScriptCounts::count(text).is_japanese()
    } else if encoding == WINDOWS_1252 {
        !is_mostly_in_runs(sample())
    } else if encoding.is_single_byte() {
        !ScriptCounts::count(text).has_capitals_inside_words()
    } else {
        true
    }
}

/// Counts of non-ASCII characters by script.
#[derive(Default)]
struct ScriptCounts {
    han: usize,
    hangul: usize,
    kana: usize,
    /// Half-width kana, in which no running text is written.
    halfwidth_kana: usize,
    letters: usize,
    /// Capitals after a lower-case letter.
    inner_capitals: usize,
}

impl ScriptCounts {
    fn count(text: &str) -> Self {
        let first = text.find(|c: char| !c.is_ascii()).unwrap_or(text.len());
        let mut scripts = Self::default();
        let mut was_small = false;
        for c in text[first..].chars().take(MAX_SAMPLE / 2) {
            match c {
                '\u{00}'..='\u{7F}' => {}
                '\u{3041}'..='\u{30FA}' => scripts.kana += 1,
                '\u{FF61}'..='\u{FF9F}' => scripts.halfwidth_kana += 1,
                '\u{AC00}'..='\u{D7A3}' => scripts.hangul += 1,
                '\u{4E00}'..='\u{9FFF}' => scripts.han += 1,
                c if c.is_alphabetic() => {
                    scripts.letters += 1;
                    scripts.inner_capitals += usize::from(was_small && c.is_uppercase());
                }
                _ => {}
            }
            was_small = !c.is_ascii() && c.is_lowercase();
        }
        scripts
    }

    /// Korean text contains few Chinese characters.
    fn is_korean(&self) -> bool {
        self.han + self.hangul < MIN_PAIRS || self.hangul > self.han * 2
    }

    /// Japanese text always contains kana.
    fn is_japanese(&self) -> bool {
        let all = self.han + self.kana + self.halfwidth_kana;
        all < MIN_PAIRS || (self.kana * 10 > all && self.halfwidth_kana * 5 < all)
    }

    fn has_capitals_inside_words(&self) -> bool {
        self.letters >= MIN_PAIRS && self.inner_capitals * 10 > self.letters
    }
}

/// Returns `true` if more than one in `of` two-byte characters is common.
fn is_common(sample: &[u8], of: usize, is_common: impl Fn(u8, u8) -> bool) -> bool {
    let (mut pairs, mut common) = (0, 0);
    let mut rest = sample.iter();
    while let Some(&lead) = rest.next() {
        if lead < 0x81 {
            continue;
        }
        let Some(&trail) = rest.next() else { break };
        pairs += 1;
        common += usize::from(is_common(lead, trail));
    }
    pairs < MIN_PAIRS || common * of > pairs
}

/// Returns `true` if most non-ASCII bytes are adjacent. Western accented letters occur alone between ASCII letters;
/// in other scripts such bytes are adjacent.
fn is_mostly_in_runs(sample: &[u8]) -> bool {
    let (mut beyond, mut in_runs, mut run) = (0, 0, 0);
    for byte in sample.iter().chain(b" ") {
        if *byte >= 0x80 {
            run += 1;
            continue;
        }
        beyond += run;
        in_runs += if run > 1 { run } else { 0 };
        run = 0;
    }
    beyond >= MIN_PAIRS && in_runs * 2 > beyond
}
