//! What a word weighs against others when a text is cut.

use super::Entry;

/// Costs are counted in this many parts of a natural logarithm.
pub(crate) const NAT: f64 = 2048.0;

/// The negative logarithm of a word's probability: costs of a path add up to that of the whole path.
pub(crate) fn cost(frequency: u32, total: u64) -> u16 {
    in_parts(nats(frequency, total))
}

/// The same with what the frequencies do not say. They were counted in texts that had been cut into the longest words
/// of the list, so that every compound took its parts' share: words of two characters get a bonus, compounds pay, and
/// a number with its measure word (三年, 两次), which standards cut in two, pays more. The sizes were measured on the
/// People's Daily of January 1998.
pub(crate) fn cutting_cost(entry: &Entry<'_>, total: u64) -> u16 {
    let correction = match entry.word.chars().count() {
        2 if is_counted(entry) => 6.0,
        0 | 1 => -0.5,
        2 => -1.5,
        3 => 0.0,
        _ => 1.5,
    };
    in_parts(nats(entry.frequency, total) + correction)
}

/// A numeral and a measure word. 一个 is a word by itself.
fn is_counted(entry: &Entry<'_>) -> bool {
    let mut characters = entry.word.chars();
    let (Some(first), Some(second)) = (characters.next(), characters.next()) else { return false };
    entry.tag == "m" && entry.word != "一个" && NUMERALS.contains(first) && MEASURES.contains(second)
}

const NUMERALS: &str = "一二三四五六七八九十两几";
const MEASURES: &str = "个年种次位条批项天名份件场片部支张座台间篇届岁元人国户所队段周亩吨米封本句根层辆棵只双套块首股幅滴杯斤颗株幢栋艘架枚具笔桩家步";

fn nats(frequency: u32, total: u64) -> f64 {
    -(f64::from(frequency.max(1)) / (total.max(1) as f64)).ln()
}

fn in_parts(nats: f64) -> u16 {
    (nats * NAT).round().clamp(0.0, f64::from(u16::MAX)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compounds_and_counted_things_weigh_more() {
        let weight = |word, tag| cutting_cost(&Entry { word, frequency: 10, tag }, 1000);
        assert!(
            weight("改革", "v") < weight("体育场", "n") && weight("体育场", "n") < weight("改革开放", "v")
        );
        assert!(weight("一种", "m") > weight("一个", "m"));
        assert_eq!(weight("一起", "m"), weight("改革", "v"));
    }
}
