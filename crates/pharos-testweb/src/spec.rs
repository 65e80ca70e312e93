//! What kind of web to make.

use std::str::FromStr;
use std::time::Duration;

/// The recipe of a generated web; the same recipe always gives the same bytes.
///
/// ```
/// use pharos_testweb::{Web, WebSpec};
///
/// let web = Web::generate(&WebSpec { seed: 7, hosts: 3, pages: 60, ..WebSpec::default() });
/// assert_eq!(web.hosts().len(), 3);
/// ```
#[derive(Clone, Debug)]
pub struct WebSpec {
    /// Everything that is left to chance follows from this number.
    pub seed: u64,
    /// How many hosts; at least one.
    pub hosts: usize,
    /// How many URLs answer with a page or a redirect at the start, over all hosts; at least three per host.
    /// Dead links come on top.
    pub pages: usize,
    /// Hosts are called by their own address (`127.77.0.1`) instead of a name, for clients that cannot be told
    /// where a name lives.
    pub addresses_as_names: bool,
    /// The share of hosts that are written in Chinese; half of those in GBK.
    pub chinese: f64,
    /// Median number of words of an article; lengths are log-normal.
    pub median_words: f64,
    /// Standard deviation of the logarithm of the length.
    pub length_sigma: f64,
    /// Mean number of modifications per page and day; single pages have 0, 0.2, 1.4 or 6.4 times this rate.
    pub change_rate: f64,
    /// New pages per day, over the whole web.
    pub birth_rate: f64,
    /// The rate per day at which an article is deleted.
    pub death_rate: f64,
    /// How long after the start changes go on; afterwards the web stands still.
    pub horizon: Duration,
    /// Copies beyond the few duplicates that every web has.
    pub copies: CopySpec,
}

/// How many copies of each kind are planted, and how much that only looks copied; all of it comes on top of
/// [`WebSpec::pages`] and [`WebSpec::hosts`].
///
/// Copied are articles of four paragraphs and more, in turn in both languages. That different articles have the same
/// topic, vocabulary and turns of phrase needs no planting: all ordinary articles of a host do.
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
    /// Articles of one host on another, in its layout, with one [`Edit`](crate::Edit) each; a quarter has another
    /// headline. Needs two hosts.
    pub reprints: usize,
    /// Parts of articles, 40 to 75 % of their text, on another host. Needs two hosts.
    pub excerpts: usize,
    /// Articles that share two paragraphs of boilerplate with about four others of their host, and nothing else:
    /// these are no copies.
    pub template_twins: usize,
    /// Hosts that serve all pages of another host under the same paths; every second one says so in a line on top.
    pub mirrors: usize,
    /// Second URLs of articles, with a canonical link to the first.
    pub canonical_variants: usize,
}

impl FromStr for CopySpec {
    type Err = String;

    /// `reprints=20,excerpts=10,twins=15,mirrors=1,variants=10`, in any order; what is not named is 0.
    fn from_str(text: &str) -> Result<CopySpec, String> {
        let mut copies = CopySpec::default();
        for part in text.split(',') {
            let (kind, count) = part.split_once('=').unwrap_or((part, ""));
            let place = match kind.trim() {
                "reprints" => &mut copies.reprints,
                "excerpts" => &mut copies.excerpts,
                "twins" => &mut copies.template_twins,
                "mirrors" => &mut copies.mirrors,
                "variants" => &mut copies.canonical_variants,
                other => {
                    return Err(format!(
                        "no kind of copy is called {other:?}: there are reprints, excerpts, twins, mirrors and variants"
                    ));
                }
            };
            *place = count
                .trim()
                .parse()
                .map_err(|_| format!("{part:?} does not say how many: write {}=10", kind.trim()))?;
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
