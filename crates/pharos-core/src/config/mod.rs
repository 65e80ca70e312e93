//! Configuration: every key with its default and its meaning, in one table.
//!
//! A value comes from, in rising order: the default here, `pharos.toml`, the environment
//! (`PHAROS_CRAWL_MAX_PAGES` is `crawl.max_pages`), the command line. A key nobody knows or a value of the wrong
//! kind is an error that names the key, the line and what was probably meant.

mod value;

use std::time::Duration;

use thiserror::Error;
use toml::de::{DeTable, DeValue};

pub use value::{LibraryFormat, Politeness, Scope, Setting, Size};

/// What is wrong with a configuration.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ConfigError {
    /// Not TOML.
    #[error("{place}: {message}")]
    Syntax {
        /// File and line.
        place: String,
        /// What the TOML parser says.
        message: String,
    },
    /// A key that does not exist.
    #[error(
        "{place}: unknown key `{key}`; the nearest known key is `{nearest}` (`pharos config` lists them all)"
    )]
    UnknownKey {
        /// File and line, environment variable or flag.
        place: String,
        /// What was written.
        key: String,
        /// What was probably meant.
        nearest: &'static str,
    },
    /// A value that the key cannot take.
    #[error("{place}: `{key}` must be {expected}, not `{found}`")]
    WrongValue {
        /// File and line, environment variable or flag.
        place: String,
        /// The key.
        key: String,
        /// What it takes.
        expected: String,
        /// What was written.
        found: String,
    },
}

/// One line of the table that `pharos config` prints.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// `section.name`.
    pub name: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

/// Declares the sections of the configuration: struct, default, documentation and access by name from one list.
macro_rules! settings {
    ($( $(#[doc = $section_doc:literal])+ $section:ident: $Section:ident {
        $( $(#[doc = $doc:literal])+ $key:ident: $kind:ty = $default:expr, )+
    } )+) => {
        /// The whole configuration.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Config {
            $( $(#[doc = $section_doc])+ pub $section: $Section, )+
        }

        $(
            $(#[doc = $section_doc])+
            #[derive(Clone, Debug, PartialEq)]
            pub struct $Section { $( $(#[doc = $doc])+ pub $key: $kind, )+ }

            impl Default for $Section {
                fn default() -> Self { Self { $( $key: $default, )+ } }
            }
        )+

        /// Every key there is.
        pub const KEYS: &[Key] = &[ $( $( Key {
            name: concat!(stringify!($section), ".", stringify!($key)),
            meaning: concat!($($doc),+),
        }, )+ )+ ];

        impl Config {
            /// The value of a key, as TOML.
            pub fn get(&self, name: &str) -> Option<String> {
                match name {
                    $( $( concat!(stringify!($section), ".", stringify!($key)) => Some(self.$section.$key.to_toml()), )+ )+
                    _ => None,
                }
            }

            fn set_value(&mut self, name: &str, value: &DeValue<'_>) -> Option<Result<(), String>> {
                match name {
                    $( $( concat!(stringify!($section), ".", stringify!($key)) =>
                        Some(Setting::from_toml(value).map(|v| self.$section.$key = v)
                            .ok_or_else(<$kind as Setting>::expected)), )+ )+
                    _ => None,
                }
            }

            fn set_text(&mut self, name: &str, text: &str) -> Option<Result<(), String>> {
                match name {
                    $( $( concat!(stringify!($section), ".", stringify!($key)) =>
                        Some(Setting::from_text(text).map(|v| self.$section.$key = v)
                            .ok_or_else(<$kind as Setting>::expected)), )+ )+
                    _ => None,
                }
            }
        }
    };
}

settings! {
    /// Downloading.
    crawl: CrawlConfig {
        /// Mail address or page where the owners of crawled sites reach you; needed for public addresses.
        contact: String = String::new(),
        /// The name robots.txt knows us by.
        agent: String = "Pharos".into(),
        /// Which links are followed from the seeds: those on the same host, the same registrable domain, or any.
        scope: Scope = Scope::Host,
        /// Stop after this many stored pages; 0 is no limit.
        max_pages: u64 = 0,
        /// Follow links this many clicks away from a seed (17 covers every page a person finds: Chinese web survey).
        max_depth: u32 = 17,
        /// Stop after this long; 0 is no limit.
        run_for: Duration = Duration::ZERO,
        /// How gently hosts are treated: gentle waits 30 s between requests, normal 1 s, own-site not at all.
        politeness: Politeness = Politeness::Normal,
        /// A robots.txt Crawl-delay longer than this is cut to it.
        max_crawl_delay: Duration = Duration::from_secs(60),
        /// Requests under way at once, over all hosts.
        fetchers: usize = 64,
        /// Requests under way at once to one host.
        connections_per_host: usize = 1,
        /// Longer bodies are cut here.
        body_limit: Size = Size(5 << 20),
        /// How long a connection, with its name look-up and TLS, may take.
        connect_timeout: Duration = Duration::from_secs(10),
        /// How long the first byte of an answer may take.
        first_byte_timeout: Duration = Duration::from_secs(30),
        /// How long a whole answer may take.
        total_timeout: Duration = Duration::from_secs(120),
        /// Redirects followed in a row before a chain is given up.
        max_redirects: u32 = 5,
        /// Tries of a page that fails without an answer.
        max_attempts: u32 = 3,
        /// Wait before the second try; four times longer before each further one.
        retry_delay: Duration = Duration::from_secs(60),
        /// How long a robots.txt is believed (RFC 9309: at most 24 hours).
        robots_lifetime: Duration = Duration::from_secs(24 * 3600),
        /// Fetch from private and loopback addresses too.
        allow_private: bool = false,
        /// HOST:PORT:ADDR: use this address for this host and port, as in curl.
        resolve: Vec<String> = Vec::new(),
        /// HOST1:PORT1:HOST2:PORT2: connect to the second instead of the first, as in curl.
        connect_to: Vec<String> = Vec::new(),
    }
    /// The library of raw pages.
    library: LibraryConfig {
        /// A new file is begun when the current one is larger than this.
        file_size: Size = Size(1 << 30),
        /// How records are compressed: gzip (`.warc.gz`, which every tool reads) or zstd (`.warc.zst`).
        format: LibraryFormat = LibraryFormat::Gzip,
        /// Compression level of stored records: for gzip 1 (fast) to 12 (small), for zstd 1 to 19.
        level: u32 = 1,
        /// Whether the head of each request is kept beside its answer.
        requests: bool = true,
        /// Versions of a page that compaction keeps, the newest first; 0 keeps all.
        keep_versions: u32 = 0,
        /// How long compaction keeps versions that are not the current one; 0 keeps them for ever.
        keep_for: Duration = Duration::ZERO,
    }
    /// The index.
    index: IndexConfig {
        /// Memory of the index writer.
        memory: Size = Size(128 << 20),
        /// How often fetched pages become searchable.
        commit_every: Duration = Duration::from_millis(1000),
        /// Longer texts are indexed up to here.
        body_limit: Size = Size(1 << 20),
    }
    /// Searching.
    query: QueryConfig {
        /// Results on a page.
        page_size: usize = 10,
        /// Results that can be paged through (26 pages of ten).
        max_results: usize = 256,
        /// Longer queries are cut here, in characters.
        max_length: usize = 256,
    }
    /// The web page.
    web: WebConfig {
        /// Address and port to listen on.
        listen: String = "127.0.0.1:8080".into(),
        /// Longest time a request may take.
        timeout: Duration = Duration::from_secs(10),
    }
    /// The running engine.
    engine: EngineConfig {
        /// Threads that analyse pages; 0 is one per core.
        threads: usize = 0,
        /// Bytes of pages that may wait between two stages.
        queue: Size = Size(64 << 20),
        /// The crawl pauses while less disk space than this is free.
        disk_floor: Size = Size(512 << 20),
    }
}

impl Config {
    /// Reads a configuration file's text on top of what is there. `file` names it in messages.
    pub fn read_toml(&mut self, file: &str, text: &str) -> Result<(), ConfigError> {
        let place =
            |at: usize| format!("{file} line {}", text[..at.min(text.len())].matches('\n').count() + 1);
        let root = DeTable::parse(text).map_err(|e| ConfigError::Syntax {
            place: place(e.span().map_or(0, |s| s.start)),
            message: e.message().to_string(),
        })?;
        for (section, value) in root.get_ref() {
            let DeValue::Table(table) = value.get_ref() else {
                return Err(unknown_key(place(section.span().start), section.get_ref()));
            };
            for (key, value) in table {
                let name = format!("{}.{}", section.get_ref(), key.get_ref());
                match self.set_value(&name, value.get_ref()) {
                    None => return Err(unknown_key(place(key.span().start), &name)),
                    Some(Err(expected)) => {
                        let found = text[value.span()].to_string();
                        return Err(ConfigError::WrongValue {
                            place: place(key.span().start),
                            key: name,
                            expected,
                            found,
                        });
                    }
                    Some(Ok(())) => {}
                }
            }
        }
        Ok(())
    }

    /// Takes `PHAROS_SECTION_KEY` variables. `reserved` names the ones that mean something else.
    pub fn read_environment(
        &mut self,
        variables: impl IntoIterator<Item = (String, String)>,
        reserved: &[&str],
    ) -> Result<(), ConfigError> {
        for (variable, text) in variables {
            let Some(rest) = variable.strip_prefix("PHAROS_") else { continue };
            if reserved.contains(&variable.as_str()) {
                continue;
            }
            let written = rest.to_ascii_lowercase();
            let place = format!("environment variable {variable}");
            match KEYS.iter().find(|k| k.name.replace('.', "_") == written) {
                Some(key) => self.set(key.name, &text, &place)?,
                None => return Err(unknown_key(place, &written)),
            }
        }
        Ok(())
    }

    /// Sets one key from text; `place` says where it came from (a flag, a variable).
    pub fn set(&mut self, name: &str, text: &str, place: &str) -> Result<(), ConfigError> {
        match self.set_text(name, text) {
            None => Err(unknown_key(place.to_string(), name)),
            Some(Ok(())) => Ok(()),
            Some(Err(expected)) => Err(ConfigError::WrongValue {
                place: place.to_string(),
                key: name.to_string(),
                expected,
                found: text.to_string(),
            }),
        }
    }
}

fn unknown_key(place: String, key: &str) -> ConfigError {
    let flat = key.replace('.', "_");
    let nearest = KEYS
        .iter()
        .map(|k| k.name)
        .max_by(|a, b| {
            let likeness = |name: &str| strsim::jaro_winkler(&name.replace('.', "_"), &flat);
            likeness(a).total_cmp(&likeness(b))
        })
        .unwrap_or_default();
    ConfigError::UnknownKey { place, key: key.to_string(), nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, ConfigError> {
        let mut config = Config::default();
        config.read_toml("pharos.toml", text).map(|()| config)
    }

    #[test]
    fn an_empty_file_is_the_defaults() {
        assert_eq!(read("").unwrap(), Config::default());
    }

    #[test]
    fn values_of_every_kind_are_read() {
        let config = read(
            "[crawl]\nscope = \"domain\"\nmax_pages = 10\nbody_limit = \"2MB\"\nconnect_timeout = \"1500ms\"\n\
             allow_private = true\nresolve = [\"a:80:127.0.0.1\"]\n",
        )
        .unwrap();
        assert_eq!(config.crawl.scope, Scope::Domain);
        assert_eq!(config.crawl.max_pages, 10);
        assert_eq!(config.crawl.body_limit, Size(2 << 20));
        assert_eq!(config.crawl.connect_timeout, Duration::from_millis(1500));
        assert!(config.crawl.allow_private);
        assert_eq!(config.crawl.resolve, ["a:80:127.0.0.1"]);
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_the_nearest() {
        let error = read("[crawl]\n# a comment\nmax_page = 3\n").unwrap_err().to_string();
        assert!(error.starts_with("pharos.toml line 3: unknown key `crawl.max_page`"), "{error}");
        assert!(error.contains("`crawl.max_pages`"), "{error}");
        assert!(read("colour = 1").unwrap_err().to_string().contains("unknown key `colour`"));
        assert!(read("[kraul]\nscope = 1").unwrap_err().to_string().contains("`crawl.scope`"));
    }

    #[test]
    fn a_wrong_value_is_named_with_what_was_expected() {
        let error = read("\n[crawl]\nmax_pages = \"many\"\n").unwrap_err().to_string();
        assert_eq!(error, "pharos.toml line 3: `crawl.max_pages` must be a whole number, not `\"many\"`");
        assert!(read("[crawl]\nscope = \"world\"").unwrap_err().to_string().contains("host, domain or any"));
        assert!(read("[crawl]\nmax_depth = -1").is_err());
        assert!(read("[crawl\n").unwrap_err().to_string().starts_with("pharos.toml line 1: "));
    }

    #[test]
    fn the_environment_and_flags_override() {
        let mut config = read("[crawl]\nmax_pages = 1\n").unwrap();
        let variables = [("PHAROS_CRAWL_MAX_PAGES", "7"), ("PHAROS_LONG", "1"), ("HOME", "/")];
        let variables = variables.map(|(k, v)| (k.to_string(), v.to_string()));
        config.read_environment(variables, &["PHAROS_LONG"]).unwrap();
        assert_eq!(config.crawl.max_pages, 7);
        config.set("crawl.max_pages", "9", "--max-pages").unwrap();
        assert_eq!(config.crawl.max_pages, 9);
        let error = config.read_environment([("PHAROS_CRAWL_PAGES".into(), "1".into())], &[]).unwrap_err();
        assert!(error.to_string().contains("environment variable PHAROS_CRAWL_PAGES"));
    }

    #[test]
    fn printed_values_read_back_as_themselves() {
        let config = Config::default();
        for key in KEYS {
            let (section, name) = key.name.split_once('.').unwrap();
            let text = format!("[{section}]\n{name} = {}\n", config.get(key.name).unwrap());
            assert_eq!(read(&text).unwrap(), config, "{text}");
            assert!(!key.meaning.trim().is_empty());
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,120}") {
            let _ = read(&text);
            let _ = read(&format!("[crawl]\nscope = {text}"));
        }
    }
}
