//! Recognises numbers in Chinese numerals, which are one word each: 三百二十一, 百分之五, 第三十二, 一九九八年, 十二月.
//!
//! Only numbers of at least two numerals are recognised: a single one is a dictionary word or a part of one.

/// Bit set of the numerals among the Han characters from U+4E00 on.
static NUMERALS: [u64; BITS] = numerals();
const BITS: usize = (0x9FFF - 0x4E00) / 64 + 1;
const FIRST: u32 = 0x4E00;

const fn numerals() -> [u64; BITS] {
    let characters = [
        '一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '百', '千', '万', '亿', '零', '两', '几',
        '数',
    ];
    let mut bits = [0; BITS];
    let mut nth = 0;
    while nth < characters.len() {
        let place = characters[nth] as u32 - FIRST;
        bits[(place / 64) as usize] |= 1 << (place % 64);
        nth += 1;
    }
    bits
}

/// Returns `true` if numbers are written with this character.
#[inline]
pub(crate) fn is_numeral(c: char) -> bool {
    match (c as u32).checked_sub(FIRST) {
        Some(place) => NUMERALS.get((place / 64) as usize).is_some_and(|bits| bits >> (place % 64) & 1 != 0),
        None => is_zero(c),
    }
}

fn is_zero(c: char) -> bool {
    matches!(c, '○' | '〇')
}

fn is_digit(c: char) -> bool {
    value(c).is_some()
}

fn value(c: char) -> Option<u32> {
    if is_zero(c) {
        Some(0)
    } else {
        "零一二三四五六七八九".chars().position(|digit| digit == c).map(|v| v as u32)
    }
}

fn is_unit(c: char) -> bool {
    matches!(c, '十' | '百' | '千' | '万' | '亿')
}

/// Sets, for each character of a run, the length of the number that begins there. `characters` is a buffer.
pub(crate) fn find(run: &str, characters: &mut Vec<char>, numbers: &mut Vec<u32>) {
    characters.clear();
    characters.extend(run.chars());
    numbers.clear();
    numbers.resize(characters.len(), 0);
    let mut at = 0;
    while at < characters.len() {
        let len = number(&characters[at..], at.checked_sub(1).and_then(|before| characters.get(before)));
        if let Some(number) = numbers.get_mut(at) {
            *number = len as u32;
        }
        at += len.max(1);
    }
}

/// Returns `true` if the whole word is one number.
pub(crate) fn is_number(word: &str) -> bool {
    let mut numbers = Vec::new();
    find(word, &mut Vec::new(), &mut numbers);
    !numbers.is_empty() && numbers[0] as usize == numbers.len()
}

/// Returns the length of the number that `rest` begins with, or 0. Time is linear in that length.
fn number(rest: &[char], before: Option<&char>) -> usize {
    let ordinal = usize::from(rest.first() == Some(&'第'));
    let end = ordinal + numeral_run(&rest[ordinal..]);
    let date = date_unit(&rest[ordinal..end], &rest[end..], before);
    if date > 0 || (end >= 2 && end > ordinal) { end + date } else { 0 }
}

fn numeral_run(rest: &[char]) -> usize {
    let mut at = 0;
    loop {
        let step = numeral_step(rest, at);
        if step == 0 {
            return at;
        }
        at += step;
    }
}

/// Returns the length of the next element: a numeral, a point between digits, 分之 between numerals, 几 and 数
/// beside the units they count.
fn numeral_step(rest: &[char], at: usize) -> usize {
    let character = |nth: usize| rest.get(nth).copied().unwrap_or_default();
    let before = at.checked_sub(1).map(character).unwrap_or_default();
    let next = character(at + 1);
    match character(at) {
        '几' | '数' => usize::from(is_unit(next) || before == '十'),
        '点' => usize::from(is_digit(before) && is_digit(next)),
        '分' if is_numeral(before) && next == '之' && is_numeral(character(at + 2)) => 2,
        c => usize::from(is_numeral(c)),
    }
}

/// Returns the number of date characters after the numerals: 年 after digits, 月 and 日 in the range of the
/// calendar.
fn date_unit(written: &[char], after: &[char], before: Option<&char>) -> usize {
    let Some(unit) = after.first() else { return 0 };
    let next = after.get(1).copied().unwrap_or_default();
    let only_digits = written.iter().all(|c| is_digit(*c));
    match unit {
        '年' if only_digits && written.len() == 4 && !matches!(next, '代' | '度') => 1,
        '月' | '日' if written.len() < 2 && before.is_none_or(|b| !matches!(b, '年' | '月')) => 0,
        '月' if small(written).is_some_and(|n| (1..=12).contains(&n)) => 1 + usize::from(next == '份'),
        '日' if small(written).is_some_and(|n| (1..=31).contains(&n)) => 1,
        _ => 0,
    }
}

/// Returns the value of numerals below a hundred.
fn small(written: &[char]) -> Option<u32> {
    match written {
        [one] if *one == '十' => Some(10),
        [one] => value(*one),
        ['十', one] => Some(10 + value(*one)?),
        [tens, '十'] => Some(10 * value(*tens)?),
        [tens, '十', one] => Some(10 * value(*tens)? + value(*one)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(run: &str) -> Vec<String> {
        let mut lens = Vec::new();
        find(run, &mut Vec::new(), &mut lens);
        let characters: Vec<char> = run.chars().collect();
        lens.iter()
            .enumerate()
            .filter(|(_, len)| **len > 0)
            .map(|(at, len)| characters[at..at + *len as usize].iter().collect())
            .collect()
    }

    #[test]
    fn numbers_are_found_among_other_characters() {
        assert_eq!(numbers("共三百二十一人占百分之五点三"), ["三百二十一", "百分之五点三"]);
        assert_eq!(numbers("一九九八年十二月三十一日"), ["一九九八年", "十二月", "三十一日"]);
        assert_eq!(numbers("二○○一年五月三日"), ["二○○一年", "五月", "三日"]);
        assert_eq!(numbers("第三十二届第一名十几个数百人"), ["第三十二", "第一", "十几", "数百"]);
        assert_eq!(numbers("九十年代三点半一个统一分之"), ["九十"]);
        assert!(numbers("十分一定几个数学点分").is_empty());
    }
}
