//! Local time of a site, from the UTC offset of its country domain or else the operator's.
//!
//! Servers have spare capacity at night, and the night that counts is the server's own (《走进搜索引擎》§2.4.7).

use std::time::Duration;

use pharos_core::schedule::Zone;
use pharos_core::{SiteName, Timestamp};

/// First hour of the night, and first hour of the day.
const NIGHT: (i64, i64) = (23, 7);
/// UTC offsets range from -12:00 to +14:00.
const MAX_OFFSET_MINUTES: i32 = 14 * 60;
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A standard UTC offset. Daylight saving time is ignored: one hour does not matter for politeness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UtcOffset {
    minutes: i32,
}

impl UtcOffset {
    /// Creates an offset of `minutes` east of Greenwich.
    pub fn from_minutes(minutes: i32) -> Option<Self> {
        (minutes.abs() <= MAX_OFFSET_MINUTES).then_some(Self { minutes })
    }

    /// Parses `+08:00`, `-03:30` or `Z`.
    pub fn parse(text: &str) -> Option<Self> {
        if matches!(text, "Z" | "z" | "UTC") {
            return Some(Self::default());
        }
        let (sign, rest) = match text.split_at_checked(1)? {
            ("+", rest) => (1, rest),
            ("-", rest) => (-1, rest),
            _ => return None,
        };
        let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "0"));
        let number = |text: &str| text.parse::<u8>().ok().map(i32::from);
        let minutes = number(minutes).filter(|m| *m < 60)?;
        Self::from_minutes(sign * (number(hours)? * 60 + minutes))
    }

    /// Returns the offset of a time zone at a point in time.
    pub fn of_zone(zone: &Zone, now: Timestamp) -> Self {
        Self::from_minutes(zone.offset_minutes(now)).unwrap_or_default()
    }

    /// Returns the time zone that has this offset always.
    pub fn to_zone(self) -> Zone {
        let (sign, minutes) = (if self.minutes < 0 { '-' } else { '+' }, self.minutes.abs());
        Zone::parse(&format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)).unwrap_or_default()
    }

    /// Returns the usual offset of a site's country, if its name has a country domain.
    pub fn of_country_domain(site: &SiteName) -> Option<Self> {
        let (_, label) = site.host().trim_end_matches('.').rsplit_once('.')?;
        let row =
            COUNTRY_OFFSETS.iter().find(|(_, labels)| labels.split(' ').any(|listed| listed == label))?;
        Self::from_minutes(row.0)
    }

    /// Returns `true` if it is night at this offset.
    pub fn is_night(self, now: Timestamp) -> bool {
        let hour = self.local_millis(now).rem_euclid(DAY) / HOUR;
        hour >= NIGHT.0 || hour < NIGHT.1
    }

    /// Returns the local day number.
    pub fn day(self, now: Timestamp) -> i64 {
        self.local_millis(now).div_euclid(DAY)
    }

    /// Returns the time at which the next local day begins.
    pub fn next_day(self, now: Timestamp) -> Timestamp {
        let left = DAY - self.local_millis(now).rem_euclid(DAY);
        now.plus(Duration::from_millis(u64::try_from(left).unwrap_or_default()))
    }

    fn local_millis(self, now: Timestamp) -> i64 {
        now.millis().saturating_add(i64::from(self.minutes) * MINUTE)
    }
}

/// Country domains by the usual UTC offset of the country; the most populous zone where it has several. Domains sold
/// worldwide (`io`, `tv`, `co`) say nothing about the location and are omitted.
const COUNTRY_OFFSETS: &[(i32, &str)] = &[
    (-660, "as um"),
    (-600, "ck pf"),
    (-480, "pn"),
    (-360, "us edu gov mil mx cr sv gt hn ni bz gp"),
    (-300, "ca pe ec pa cu jm ht ky bs tc"),
    (-240, "cl ve bo py do pr tt bb dm gd kn lc vg vi ms aw bm gy mq cw sx bq fk mf bl"),
    (-180, "br ar uy sr gf pm"),
    (-120, "gl gs"),
    (-60, "cv"),
    (0, "uk gb ie pt is gh sn ci ml bf gn gw gm sl lr mr tg je im fo"),
    (
        60,
        "de fr it es nl be lu ch at pl cz sk hu si hr ba rs mk al dk no se mt mc sm va li ad gi xk eu \
         ng cm ga gq cg cd td cf ne bj ao dz tn ma eh sj bv",
    ),
    (
        120,
        "gr cy bg ro md ua fi ee lv lt il ps lb eg ly sd ss za zw zm mw mz bw na ls sz rw bi ax xn--j1amh xn--qxam",
    ),
    (
        180,
        "ru su by tr sa iq kw bh qa ye jo sy ke tz ug et er dj so mg km yt xn--p1ai xn--90ais xn--mgberp4a5d4ar \
         xn--mgbayh7gpa",
    ),
    (210, "ir xn--mgba3a4f16a"),
    (240, "ae om az ge am mu sc re xn--mgbaam7a8h xn--y9a3aq xn--node"),
    (270, "af"),
    (300, "pk uz tm tj mv kz tf hm xn--80ao21a xn--mgbai9azgqp6j"),
    (330, "in lk xn--h2brj9c xn--fzc2c9e2c xn--xkc2al3hye2a"),
    (345, "np"),
    (360, "bd bt kg xn--54b7fta0cc"),
    (390, "mm"),
    (420, "th vn la kh id cx xn--o3cw4h"),
    (
        480,
        "cn hk mo tw sg my ph bn mn xn--fiqs8s xn--fiqz9s xn--j6w193g xn--mix891f xn--kprw13d xn--kpry57d \
         xn--yfro4i67o xn--l1acc",
    ),
    (540, "jp kr kp tl xn--3e0b707e"),
    (600, "au pg gu mp"),
    (660, "sb vu nc nf"),
    (720, "nz fj ki mh nr wf aq"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn country(host: &str) -> Option<i32> {
        UtcOffset::of_country_domain(&SiteName::from_stored(host.into())).map(|zone| zone.minutes)
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_country_domain_determines_the_offset() {
        assert_eq!(country("www.pku.edu.cn"), Some(480));
        assert_eq!(country("www.example.co.uk:8080"), Some(0));
        assert_eq!(country("xn--fiq228c.xn--fiqs8s"), Some(480));
        assert_eq!(country("www.mit.edu"), Some(-360));
        for anywhere in ["www.example.com", "localhost", "127.0.0.1", "[::1]", ""] {
            assert_eq!(country(anywhere), None, "{anywhere}");
        }
        let mut labels: Vec<&str> =
            COUNTRY_OFFSETS.iter().flat_map(|(_, labels)| labels.split(' ')).collect();
        labels.sort_unstable();
        assert!(
            labels.windows(2).all(|pair| pair[0] != pair[1] && !pair[0].is_empty()),
            "each label occurs once"
        );
    }

    #[test]
    fn night_is_the_sites_own() {
        let noon_in_london = at("2026-01-31T12:00:00Z");
        let (beijing, new_york) = (UtcOffset { minutes: 480 }, UtcOffset { minutes: -300 });
        assert!(!UtcOffset::default().is_night(noon_in_london) && !beijing.is_night(noon_in_london));
        assert!(beijing.is_night(at("2026-01-31T15:00:00Z")), "23 h there");
        assert!(!beijing.is_night(at("2026-01-31T23:00:00Z")), "7 h there");
        assert!(new_york.is_night(at("2026-01-31T11:59:59Z")) && !new_york.is_night(noon_in_london));
        assert_eq!(beijing.next_day(noon_in_london), at("2026-01-31T16:00:00Z"));
        assert_eq!(beijing.day(at("2026-01-31T16:00:00Z")), beijing.day(noon_in_london) + 1);
    }

    #[test]
    fn zones_are_written_as_everywhere() {
        for (text, minutes) in [("+08:00", 480), ("-03:30", -210), ("+5", 300), ("Z", 0), ("+14:00", 840)] {
            assert_eq!(UtcOffset::parse(text), Some(UtcOffset { minutes }), "{text}");
            let zone = UtcOffset { minutes }.to_zone();
            assert_eq!(UtcOffset::of_zone(&zone, Timestamp::EPOCH), UtcOffset { minutes });
        }
        for bad in ["", "8", "+", "+25:00", "+08:60", "+08:", "east", "+-8", "灯"] {
            assert_eq!(UtcOffset::parse(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_moment_panics(text in "\\PC{0,8}", millis in any::<i64>(), minutes in -840..=840i32) {
            let _ = UtcOffset::parse(&text);
            let (zone, now) = (UtcOffset { minutes }, Timestamp::from_millis(millis));
            let _ = zone.is_night(now);
            prop_assert!(zone.next_day(now) >= now);
        }
    }
}
