//! Names of the languages of pages.

use super::Lang;

/// Code (ISO 639-1), English name and Chinese name of each language that pages are recognised in.
const NAMES: [(&str, &str, &str); 70] = [
    ("af", "Afrikaans", "南非语"),
    ("ak", "Akan", "阿肯语"),
    ("am", "Amharic", "阿姆哈拉语"),
    ("ar", "Arabic", "阿拉伯语"),
    ("az", "Azerbaijani", "阿塞拜疆语"),
    ("be", "Belarusian", "白俄罗斯语"),
    ("bg", "Bulgarian", "保加利亚语"),
    ("bn", "Bengali", "孟加拉语"),
    ("ca", "Catalan", "加泰罗尼亚语"),
    ("cs", "Czech", "捷克语"),
    ("cy", "Welsh", "威尔士语"),
    ("da", "Danish", "丹麦语"),
    ("de", "German", "德语"),
    ("el", "Greek", "希腊语"),
    ("en", "English", "英文"),
    ("eo", "Esperanto", "世界语"),
    ("es", "Spanish", "西班牙语"),
    ("et", "Estonian", "爱沙尼亚语"),
    ("fa", "Persian", "波斯语"),
    ("fi", "Finnish", "芬兰语"),
    ("fr", "French", "法语"),
    ("gu", "Gujarati", "古吉拉特语"),
    ("he", "Hebrew", "希伯来语"),
    ("hi", "Hindi", "印地语"),
    ("hr", "Croatian", "克罗地亚语"),
    ("hu", "Hungarian", "匈牙利语"),
    ("hy", "Armenian", "亚美尼亚语"),
    ("id", "Indonesian", "印度尼西亚语"),
    ("it", "Italian", "意大利语"),
    ("ja", "Japanese", "日语"),
    ("jv", "Javanese", "爪哇语"),
    ("ka", "Georgian", "格鲁吉亚语"),
    ("km", "Khmer", "高棉语"),
    ("kn", "Kannada", "卡纳达语"),
    ("ko", "Korean", "韩语"),
    ("la", "Latin", "拉丁语"),
    ("lt", "Lithuanian", "立陶宛语"),
    ("lv", "Latvian", "拉脱维亚语"),
    ("mk", "Macedonian", "马其顿语"),
    ("ml", "Malayalam", "马拉雅拉姆语"),
    ("mr", "Marathi", "马拉地语"),
    ("my", "Burmese", "缅甸语"),
    ("nb", "Norwegian", "挪威语"),
    ("ne", "Nepali", "尼泊尔语"),
    ("nl", "Dutch", "荷兰语"),
    ("or", "Odia", "奥里亚语"),
    ("pa", "Punjabi", "旁遮普语"),
    ("pl", "Polish", "波兰语"),
    ("pt", "Portuguese", "葡萄牙语"),
    ("ro", "Romanian", "罗马尼亚语"),
    ("ru", "Russian", "俄语"),
    ("si", "Sinhala", "僧伽罗语"),
    ("sk", "Slovak", "斯洛伐克语"),
    ("sl", "Slovenian", "斯洛文尼亚语"),
    ("sn", "Shona", "绍纳语"),
    ("sr", "Serbian", "塞尔维亚语"),
    ("sv", "Swedish", "瑞典语"),
    ("ta", "Tamil", "泰米尔语"),
    ("te", "Telugu", "泰卢固语"),
    ("th", "Thai", "泰语"),
    ("tk", "Turkmen", "土库曼语"),
    ("tl", "Tagalog", "他加禄语"),
    ("tr", "Turkish", "土耳其语"),
    ("uk", "Ukrainian", "乌克兰语"),
    ("ur", "Urdu", "乌尔都语"),
    ("uz", "Uzbek", "乌兹别克语"),
    ("vi", "Vietnamese", "越南语"),
    ("yi", "Yiddish", "意第绪语"),
    ("zh", "Chinese", "中文"),
    ("zu", "Zulu", "祖鲁语"),
];

impl Lang {
    /// Returns the name of the language of a page; an unknown code is returned unchanged.
    pub(crate) fn language_name(self, code: &str) -> String {
        let name = NAMES.binary_search_by_key(&code, |(code, ..)| code).map(|at| match self {
            Self::En => NAMES[at].1,
            Self::Zh => NAMES[at].2,
        });
        name.unwrap_or(code).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_have_names() {
        assert!(NAMES.is_sorted_by_key(|(code, ..)| *code));
        assert_eq!(Lang::En.language_name("nb"), "Norwegian");
        assert_eq!(Lang::Zh.language_name("af"), "南非语");
        assert_eq!(Lang::Zh.language_name("zu"), "祖鲁语");
        for unknown in ["", "x-klingon"] {
            assert_eq!(Lang::En.language_name(unknown), unknown);
        }
    }
}
