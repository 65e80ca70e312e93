//! Statistics of a piece of text: words, punctuation and how it ends.

/// Weight of one character of a script without spaces, in words.
const TERM_PER_IDEOGRAPH: f32 = 0.6;

/// Statistics of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Measure {
    /// Words separated by spaces.
    pub(crate) words: u32,
    /// Characters of scripts without spaces.
    pub(crate) ideographs: u32,
    /// Commas, semicolons and their full-width forms.
    pub(crate) commas: u32,
    /// Full stops, question marks, exclamation marks and ellipses.
    pub(crate) stops: u32,
    pub(crate) digits: u32,
    /// Words that begin with a capital.
    pub(crate) capitals: u32,
    /// Capital letters.
    pub(crate) uppers: u32,
    /// Bars, arrows, bullets and similar symbols.
    pub(crate) symbols: u32,
    pub(crate) ends_as_sentence: bool,
    pub(crate) ends_with_colon: bool,
    /// True if the text begins with a lower-case letter.
    pub(crate) begins_small: bool,
}

impl Measure {
    /// Returns the length in terms: words, with Chinese characters converted by [`TERM_PER_IDEOGRAPH`].
    pub(crate) fn terms(&self) -> f32 {
        self.words as f32 + self.ideographs as f32 * TERM_PER_IDEOGRAPH
    }
}

/// Computes the statistics of a text in one pass.
pub(crate) fn measure(text: &str) -> Measure {
    let mut seen = Measure::default();
    let mut in_word = false;
    for c in text.chars() {
        if c.is_ascii() {
            match c {
                'a'..='z' => seen.words += u32::from(!in_word),
                'A'..='Z' => {
                    seen.words += u32::from(!in_word);
                    seen.capitals += u32::from(!in_word);
                    seen.uppers += 1;
                }
                '0'..='9' => {
                    seen.words += u32::from(!in_word);
                    seen.digits += 1;
                }
                ',' | ';' => seen.commas += 1,
                '.' | '!' | '?' => seen.stops += 1,
                '|' | '>' | '<' | '/' | '#' | '*' | '+' | '=' => seen.symbols += 1,
                _ => {}
            }
            in_word = c.is_ascii_alphanumeric() || (in_word && c == '\'');
            continue;
        }
        match c {
            '，' | '、' | '；' => seen.commas += 1,
            '。' | '！' | '？' | '…' => seen.stops += 1,
            '»' | '«' | '·' | '•' | '›' | '‹' | '→' | '←' | '©' | '｜' | '■' | '▲' | '►' => {
                seen.symbols += 1
            }
            '’' if in_word => continue,
            _ if is_ideograph(c) => seen.ideographs += 1,
            _ if c.is_alphanumeric() => {
                seen.words += u32::from(!in_word);
                in_word = true;
                continue;
            }
            _ => {}
        }
        in_word = false;
    }
    let closing = ['"', '\'', '”', '’', ')', '）', '」', '』', '»', ' '];
    let last = text.trim_end_matches(closing).chars().next_back();
    seen.ends_as_sentence = last.is_some_and(|c| matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '…'));
    seen.ends_with_colon = last.is_some_and(|c| matches!(c, ':' | '：'));
    seen.begins_small = text.chars().next().is_some_and(char::is_lowercase);
    seen
}

/// Returns `true` for characters of Chinese, Japanese and Korean.
pub(crate) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}')
}
