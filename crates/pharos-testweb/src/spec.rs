//! What kind of web to make.

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
        }
    }
}
