//! Recognition of fluent Chinese by the frequency of its characters.
//!
//! Nearly every pair of bytes is some character of GB18030 or Big5, so that validity proves little. The 250 most
//! frequent characters, however, make up more than half of any Chinese text, while text of other languages or in
//! another charset contains them by chance: about one character in twenty.

use std::collections::HashSet;
use std::sync::LazyLock;

use encoding_rs::{BIG5, Encoding, GB18030, GBK, UTF_8};
use pharos_core::work::spend_work;

use super::Charset;

/// Frequent characters, simplified and traditional (现代汉语常用字).
const FREQUENT: &str = "\
的一是不了在人有我他这这個个们們中来來上大为為和国國地到以说說时時要就出会會可也你对對生能而子那得于於着下自之年过過发發\
后後作里裡用道行所然家种種事成方多经經么麼去法学學如都同现現当當没沒动動面起看定天分还還进進好小部其些主样樣理心她本前开開但\
因只从從想实實日军軍者意无無力它与與长長把机機十民第公此已工使情明性知全三又关關点點正业業外将將两兩高间間由问問很最重并\
并物手应應战戰向头頭文体體政美相见見被利什二等产產或新己制身果加西斯月话話合回特代内內信表化老给給世位次度门門任常先海通教\
儿兒原东東声聲提立及比员員解水名真论論处處走义義各入几幾口认認条條平系气氣题題活尔爾更别別打女变變四神总總何电電数數安少报報才\
结結反受目太量再感建务務做接必场場件计計管期市直德资資命山金指克许許统統区區保至队隊形社便空决決治展马馬科司五基眼书書非则則听聽\
白却卻界达達光放强強即像难難且权權思王象完设設式色路记記南品住告类類求据據程北边邊死张張该該交规規万萬取拉格望觉覺术術领領共确確传傳师師\
网網站页頁搜索图圖版今请請选選文件户戶登录錄注册冊首发表回复復";

/// Minimum number of Chinese characters for a decision.
const MIN_CHARS: usize = 12;

/// Minimum share of frequent characters in fluent text.
const MIN_SHARE: f32 = 0.25;

/// Minimum share of frequent characters that outweighs any declaration.
const CERTAIN_SHARE: f32 = 0.35;

/// At most one invalid sequence for this many characters.
const CHARS_PER_ERROR: usize = 20;

/// Maximum number of non-ASCII bytes examined.
const MAX_SAMPLE: usize = 16 << 10;

/// Fluency of a body in a Chinese charset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ChineseFluency {
    pub(super) encoding: &'static Encoding,
    /// Share of frequent characters among the Chinese ones.
    pub(super) share: f32,
}

impl ChineseFluency {
    /// Returns `true` if the share is far above that of any text in another language or charset.
    pub(super) fn is_certain(&self) -> bool {
        self.share >= CERTAIN_SHARE
    }

    /// Returns `true` if `charset` is the charset of the fluent text; GB18030 contains GBK.
    pub(super) fn is_in(&self, charset: Charset) -> bool {
        matches!(charset, Charset::Known(encoding)
            if encoding == self.encoding || (encoding == GB18030 && self.encoding == GBK))
    }
}

/// Returns the Chinese charset in which the body is fluent, if there is one.
pub(super) fn fluent_chinese(body: &[u8]) -> Option<ChineseFluency> {
    let sample = non_ascii_sample(body);
    let found = [GBK, BIG5].into_iter().filter_map(|encoding| fluency(&sample, encoding));
    found.max_by(|a, b| a.share.total_cmp(&b.share))
}

fn fluency(sample: &[u8], encoding: &'static Encoding) -> Option<ChineseFluency> {
    static KNOWN: LazyLock<HashSet<char, foldhash::fast::FixedState>> =
        LazyLock::new(|| FREQUENT.chars().collect());
    // GB18030 is a superset of GBK.
    let decoder = if encoding == GBK { GB18030 } else { encoding };
    let (text, _) = decoder.decode_without_bom_handling(sample);
    let (mut chars, mut frequent, mut errors) = (0usize, 0usize, 0usize);
    for c in text.chars() {
        match c {
            '\u{4E00}'..='\u{9FFF}' => {
                chars += 1;
                frequent += usize::from(KNOWN.contains(&c));
            }
            '\u{FFFD}' | '\u{E000}'..='\u{F8FF}' => errors += 1,
            _ => {}
        }
    }
    let share = frequent as f32 / chars.max(1) as f32;
    // Japanese also uses frequent Chinese characters, but always among kana.
    let kana = text.chars().filter(|c| matches!(c, '\u{3041}'..='\u{30FA}')).count();
    let is_fluent =
        chars >= MIN_CHARS && share >= MIN_SHARE && errors <= 1 + chars / CHARS_PER_ERROR && kana * 5 < chars;
    is_fluent.then_some(ChineseFluency { encoding, share })
}

/// Copies the runs of non-ASCII bytes with the byte after them, which may be the second one of a character.
fn non_ascii_sample(body: &[u8]) -> Vec<u8> {
    let mut sample = Vec::new();
    let mut at = 0;
    while at < body.len() && sample.len() < MAX_SAMPLE {
        if body[at].is_ascii() {
            at += 1;
            continue;
        }
        let start = at;
        // Characters of two bytes whose second byte is ASCII belong to the run.
        while at < body.len()
            && (!body[at].is_ascii() || (at > start && !body[at - 1].is_ascii() && body[at] >= 0x40))
        {
            at += 1;
        }
        sample.extend(&body[start..at.min(start + MAX_SAMPLE)]);
        sample.push(b' ');
    }
    spend_work(at as u64);
    sample
}

/// Decodes a page assembled from parts in UTF-8 and in GBK or Big5: each part between ASCII characters by itself.
/// Returns `None` if the page is not such a page.
pub(super) fn decode_mixed(body: &[u8]) -> Option<(String, &'static Encoding)> {
    /// Minimum number of characters in each of the two charsets.
    const MIN_PART: usize = 20;
    let (mut utf8, mut other) = (0usize, Vec::new());
    for part in parts(body) {
        match std::str::from_utf8(part) {
            Ok(text) if is_certain_utf8(text) => utf8 += text.chars().filter(|c| !c.is_ascii()).count(),
            _ => {
                if other.len() < MAX_SAMPLE {
                    other.extend(part.iter().take(MAX_SAMPLE));
                    other.push(b' ');
                }
            }
        }
    }
    if utf8 < MIN_PART || other.len() < 2 * MIN_PART {
        return None;
    }
    let encoding = fluent_chinese(&other)?.encoding;
    let mut text = String::with_capacity(body.len() * 3 / 2);
    for part in parts(body) {
        match std::str::from_utf8(part) {
            Ok(utf8) if utf8.is_ascii() || is_certain_utf8(utf8) => text.push_str(utf8),
            _ => text.push_str(&encoding.decode_without_bom_handling(part).0),
        }
    }
    spend_work(2 * body.len() as u64);
    let greater = if utf8 * 2 > other.len() { UTF_8 } else { encoding };
    Some((text, greater))
}

/// Divides a body after tags and line ends.
fn parts(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.split_inclusive(|b| matches!(b, b'>' | b'<' | b'\n'))
}

/// Returns `true` if a valid UTF-8 text consists of three-byte characters; two-byte ones may be GBK by chance.
fn is_certain_utf8(text: &str) -> bool {
    let (mut long, mut short) = (0, 0);
    for c in text.chars().filter(|c| !c.is_ascii()) {
        if c.len_utf8() == 3 { long += 1 } else { short += 1 }
    }
    long > short
}

#[cfg(test)]
mod tests {
    use encoding_rs::{EUC_KR, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};

    use super::*;

    #[test]
    fn only_chinese_is_fluent() {
        let chinese = "灯塔是建在海岸上的高塔，在夜里发光，为船只指路。最古老的灯塔之一建在亚历山大港。";
        assert_eq!(fluent_chinese(&GBK.encode(chinese).0).map(|f| f.encoding), Some(GBK));
        let traditional = "燈塔是一個網路搜尋引擎，它下載網頁，理解網頁，並回答讀者的問題。";
        assert_eq!(fluent_chinese(&BIG5.encode(traditional).0).map(|f| f.encoding), Some(BIG5));
        let others: [(&'static Encoding, &str); 4] = [
            (
                WINDOWS_1252,
                "Où sont passés les élèves du collège ? À la forêt, près du château, près de la mer.",
            ),
            (WINDOWS_1251, "Маяк освещает море ночью, чтобы корабли находили дорогу домой"),
            (EUC_KR, "등대는 바다를 비추어 배들이 집으로 가는 길을 찾게 해 준다. 세계 어디에나 있다."),
            (SHIFT_JIS, "灯台は船のために夜の海を照らす建物である。世界中の海岸に見られる。"),
        ];
        for (encoding, text) in others {
            assert_eq!(fluent_chinese(&encoding.encode(&text.repeat(4)).0), None, "{text}");
        }
    }

    #[test]
    fn parts_in_two_charsets_are_decoded_apart() {
        let (template, content) =
            ("首页导航，关于我们，联系方式，版权所有。", "灯塔是建在海岸上的高塔，在夜里发光，为船只指路。");
        let mut page = format!("<div>{template}</div>").into_bytes();
        page.extend(b"<p>");
        page.extend(&*GBK.encode(&content.repeat(2)).0);
        page.extend(b"</p>");
        page.extend(format!("<footer>{template}</footer>").as_bytes());
        let (text, _) = decode_mixed(&page).unwrap();
        assert_eq!(
            text,
            format!("<div>{template}</div><p>{}</p><footer>{template}</footer>", content.repeat(2))
        );
        assert_eq!(decode_mixed(template.as_bytes()), None);
        assert_eq!(decode_mixed(&GBK.encode(&content.repeat(9)).0), None);
    }
}
