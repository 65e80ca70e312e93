//! Device classification by the `User-Agent` header.

use crate::log::records::Device;

/// Programs that fetch pages without a user, and the libraries they are built with.
const PROGRAMS: &[&str] = &[
    "bot",
    "crawl",
    "spider",
    "slurp",
    "curl/",
    "wget/",
    "python",
    "java/",
    "go-http-client",
    "okhttp",
    "libwww",
    "httpclient",
    "headless",
    "phantomjs",
    "axios",
    "node-fetch",
    "reqwest",
    "monitor",
    "feed",
    "scrapy",
];
const HANDHELDS: &[&str] = &[
    "mobile",
    "android",
    "iphone",
    "ipad",
    "ipod",
    "windows phone",
    "blackberry",
    "opera mini",
    "kindle",
    "tablet",
    "symbian",
    "harmonyos",
    "micromessenger",
];
const DESKTOPS: &[&str] = &["windows nt", "macintosh", "x11", "linux", "cros"];

/// Returns the device class for a `User-Agent` header.
pub fn classify_device(user_agent: &str) -> Device {
    let agent = user_agent.to_ascii_lowercase();
    let any = |names: &[&str]| names.iter().any(|name| agent.contains(name));
    match () {
        // Robots that emulate telephones also identify themselves.
        () if any(PROGRAMS) => Device::Program,
        () if any(HANDHELDS) => Device::Handheld,
        () if any(DESKTOPS) => Device::Desktop,
        () => Device::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_classified() {
        let cases = [
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/120.0 Safari/537.36",
                Device::Desktop,
            ),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0", Device::Desktop),
            (
                "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Mobile Safari/537.36",
                Device::Handheld,
            ),
            ("Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) AppleWebKit/605.1.15", Device::Handheld),
            ("Mozilla/5.0 (Linux; Android 6.0.1) Mobile (compatible; Googlebot/2.1)", Device::Program),
            ("curl/8.5.0", Device::Program),
            ("", Device::Unknown),
            ("灯塔\u{1b}[", Device::Unknown),
        ];
        for (agent, device) in cases {
            assert_eq!(classify_device(agent), device, "{agent}");
        }
    }
}
