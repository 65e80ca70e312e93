//! Parameters of a generated web.

use std::str::FromStr;
use std::time::Duration;

/// Parameters of a generated web; the same parameters always give the same bytes.
///
/// ```
/// use pharos_testweb::{Web, WebSpec};
///
/// let web = Web::generate(&WebSpec { seed: 7, hosts: 3, pages: 60, ..WebSpec::default() });
/// assert_eq!(web.hosts().len(), 3);
/// ```
#[derive(Clone, Debug)]
pub struct WebSpec {
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of hosts; at least one.
    pub hosts: usize,
    /// Number of URLs that respond with a page or a redirect at the start, over all hosts; at least three per host.
    /// Dead links are additional.
    pub pages: usize,
    /// Use addresses (`127.77.0.1`) as host names, for clients that cannot override name resolution.
    pub addresses_as_names: bool,
    /// Share of Chinese hosts; half of them use GBK.
    pub chinese: f64,
    /// Median number of words of an article; lengths are log-normal.
    pub median_words: f64,
    /// Standard deviation of the logarithm of the length.
    pub length_sigma: f64,
    /// Mean number of modifications per page and day; single pages have 0, 0.2, 1.4 or 6.4 times this rate.
    pub change_rate: f64,
    /// New pages per day, over the whole web.
    pub birth_rate: f64,
    /// Rate per day at which an article is deleted.
    pub death_rate: f64,
    /// Period after the start in which changes happen; afterwards the web is static.
    pub horizon: Duration,
    /// Copies beyond the few duplicates that every web has.
    pub copies: CopySpec,
}

/// Number of planted copies of each kind, in addition to [`WebSpec::pages`] and [`WebSpec::hosts`].
///
/// Articles of four paragraphs and more are copied, alternately in both languages. Different articles with the same
/// topic, vocabulary and phrases need no planting: all ordinary articles of a host are such.
///
/// ```
/// use pharos_testweb::CopySpec;
///
/// let copies: CopySpec = "reprints=20,mirrors=1".parse()?;
/// assert_eq!(copies, CopySpec { reprints: 20, mirrors: 1, ..CopySpec::default() });
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopySpec {
    /// Articles of one host on another, in its layout, with one [`TextEdit`](crate::TextEdit) each; a quarter has
    /// another headline. Needs two hosts.
    pub reprints: usize,
    /// Parts of articles, 40 to 75 % of their text, on another host. Needs two hosts.
    pub excerpts: usize,
    /// Articles that share two paragraphs of boilerplate with about four others of their host, and nothing else. They
    /// are no copies.
    pub series_articles: usize,
    /// Hosts that serve all pages of another host under the same paths; every second one says so in a banner.
    pub mirrors: usize,
    /// Second URLs of articles, with a canonical link to the first.
    pub canonical_variants: usize,
}

impl FromStr for CopySpec {
    type Err = String;

    /// Parses `reprints=20,excerpts=10,twins=15,mirrors=1,variants=10`, in any order; omitted kinds are 0.
    fn from_str(text: &str) -> Result<CopySpec, String> {
        let mut copies = CopySpec::default();
        for part in text.split(',') {
            let (kind, count) = part.split_once('=').unwrap_or((part, ""));
            let place = match kind.trim() {
                "reprints" => &mut copies.reprints,
                "excerpts" => &mut copies.excerpts,
                "twins" => &mut copies.series_articles,
                "mirrors" => &mut copies.mirrors,
                "variants" => &mut copies.canonical_variants,
                other => {
                    return Err(format!(
                        "unknown kind of copy {other:?}: expected reprints, excerpts, twins, mirrors or variants"
                    ));
                }
            };
            *place = count.trim().parse().map_err(|_| {
                format!("invalid count in {part:?}: expected a number, for example {}=10", kind.trim())
            })?;
        }
        Ok(copies)
    }
}

impl Default for WebSpec {
    fn default() -> WebSpec {
        WebSpec {
            seed: 1,
            hosts: 10,
            pages: 1000,
            addresses_as_names: false,
            chinese: 0.5,
            median_words: 260.0,
            length_sigma: 0.7,
            change_rate: 0.0,
            birth_rate: 0.0,
            death_rate: 0.0,
            horizon: Duration::from_secs(30 * 24 * 3600),
            copies: CopySpec::default(),
        }
    }
}
