//! Statistics of a piece of text: words, punctuation and how it ends.

/// Weight of one character of a script without spaces, in words.
const TERM_PER_IDEOGRAPH: f32 = 0.6;

/// Statistics of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TextMeasure {
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
    /// `true` if the text begins with a lower-case letter.
    pub(crate) begins_small: bool,
}

impl TextMeasure {
    /// Returns the length in terms: words, with Chinese characters converted by [`TERM_PER_IDEOGRAPH`].
    pub(crate) fn terms(&self) -> f32 {
        self.words as f32 + self.ideographs as f32 * TERM_PER_IDEOGRAPH
    }
}

/// Computes the statistics of a text in one pass.
pub(crate) fn measure(text: &str) -> TextMeasure {
    let mut stats = TextMeasure::default();
    let mut in_word = false;
    for c in text.chars() {
        if c.is_ascii() {
            match c {
                'a'..='z' => stats.words += u32::from(!in_word),
                'A'..='Z' => {
                    stats.words += u32::from(!in_word);
                    stats.capitals += u32::from(!in_word);
                    stats.uppers += 1;
                }
                '0'..='9' => {
                    stats.words += u32::from(!in_word);
                    stats.digits += 1;
                }
                ',' | ';' => stats.commas += 1,
                '.' | '!' | '?' => stats.stops += 1,
                '|' | '>' | '<' | '/' | '#' | '*' | '+' | '=' => stats.symbols += 1,
                _ => {}
            }
            in_word = c.is_ascii_alphanumeric() || (in_word && c == '\'');
            continue;
        }
        match c {
            '，' | '、' | '；' => stats.commas += 1,
            '。' | '！' | '？' | '…' => stats.stops += 1,
            '»' | '«' | '·' | '•' | '›' | '‹' | '→' | '←' | '©' | '｜' | '■' | '▲' | '►' => {
                stats.symbols += 1
            }
            '’' if in_word => continue,
            _ if is_ideograph(c) => stats.ideographs += 1,
            _ if c.is_alphanumeric() => {
                stats.words += u32::from(!in_word);
                in_word = true;
                continue;
            }
            _ => {}
        }
        in_word = false;
    }
    let closing = ['"', '\'', '”', '’', ')', '）', '」', '』', '»', ' '];
    let last = text.trim_end_matches(closing).chars().next_back();
    stats.ends_as_sentence = last.is_some_and(|c| matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '…'));
    stats.ends_with_colon = last.is_some_and(|c| matches!(c, ':' | '：'));
    stats.begins_small = text.chars().next().is_some_and(char::is_lowercase);
    stats
}

/// Returns `true` for characters of Chinese, Japanese and Korean.
pub(crate) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}')
}
