//! Reads settings from a configuration file, the environment and the command line, and reports invalid ones.

use thiserror::Error;
use toml::de::{DeTable, DeValue};

use super::{Config, KEYS, environment_name, is_secret};

/// An invalid configuration.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ConfigError {
    #[error("{location}: {message}")]
    Syntax { location: String, message: String },
    #[error("{location}: unknown key `{key}`; did you mean `{nearest}`? (`pharos config` lists all keys)")]
    UnknownKey {
        /// File and line, environment variable or flag.
        location: String,
        key: String,
        /// Most similar known key.
        nearest: &'static str,
    },
    #[error("{location}: `{key}` must be {expected}, not `{found}`")]
    WrongValue {
        /// File and line, environment variable or flag.
        location: String,
        key: String,
        /// Description of valid values.
        expected: String,
        /// The invalid value as written.
        found: String,
    },
}

impl Config {
    /// Applies the text of a configuration file on top of the current values. `file` names it in error messages.
    pub fn read_toml(&mut self, file: &str, text: &str) -> Result<(), ConfigError> {
        let location =
            |at: usize| format!("{file} line {}", text[..at.min(text.len())].matches('\n').count() + 1);
        let root = DeTable::parse(text).map_err(|e| ConfigError::Syntax {
            location: location(e.span().map_or(0, |s| s.start)),
            message: e.message().to_string(),
        })?;
        for (section, value) in root.get_ref() {
            let DeValue::Table(table) = value.get_ref() else {
                return Err(unknown_key(location(section.span().start), section.get_ref()));
            };
            for (key, value) in table {
                let name = format!("{}.{}", section.get_ref(), key.get_ref());
                match self.set_value(&name, value.get_ref()) {
                    None => return Err(unknown_key(location(key.span().start), &name)),
                    Some(Err(expected)) => {
                        let location = location(key.span().start);
                        return Err(wrong_value(location, &name, expected, &text[value.span()]));
                    }
                    Some(Ok(())) => {}
                }
            }
        }
        Ok(())
    }

    /// Applies `PHAROS_SECTION_KEY` variables. Variables in `reserved` have another meaning and are skipped.
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
            let location = format!("environment variable {variable}");
            let upper = variable.to_ascii_uppercase();
            match KEYS.iter().find(|key| environment_name(key.name) == upper) {
                Some(key) => self.set(key.name, &text, &location)?,
                None => return Err(unknown_key(location, &rest.to_ascii_lowercase())),
            }
        }
        Ok(())
    }

    /// Sets one key from text. `location` names the source of the text (a flag, a variable) in error messages.
    pub fn set(&mut self, name: &str, text: &str, location: &str) -> Result<(), ConfigError> {
        match self.set_text(name, text) {
            None => Err(unknown_key(location.to_string(), name)),
            Some(Ok(())) => Ok(()),
            Some(Err(expected)) => Err(wrong_value(location.to_string(), name, expected, text)),
        }
    }
}

fn wrong_value(location: String, key: &str, expected: String, found: &str) -> ConfigError {
    // Error messages reach more readers than the configuration file does.
    let found = if is_secret(key) { "a hidden value" } else { found };
    ConfigError::WrongValue { location, key: key.to_string(), expected, found: found.to_string() }
}

fn unknown_key(location: String, key: &str) -> ConfigError {
    let flat = key.replace('.', "_");
    let nearest = KEYS
        .iter()
        .map(|k| k.name)
        .max_by(|a, b| {
            let similarity = |name: &str| strsim::jaro_winkler(&name.replace('.', "_"), &flat);
            similarity(a).total_cmp(&similarity(b))
        })
        .unwrap_or_default();
    ConfigError::UnknownKey { location, key: key.to_string(), nearest }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{ByteSize, LinkScope};
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
        assert_eq!(config.crawl.scope, LinkScope::Domain);
        assert_eq!(config.crawl.max_pages, 10);
        assert_eq!(config.crawl.body_limit, ByteSize(2 << 20));
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
        let error = read("[web]\napi_keys = \"a secret\"").unwrap_err().to_string();
        assert!(error.contains("`web.api_keys` must be") && !error.contains("secret"), "{error}");
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
        let list = |text: &str| {
            let mut config = Config::default();
            config
                .read_environment([("PHAROS_CRAWL_EXCLUDE".into(), text.into())], &[])
                .map(|()| config.crawl.exclude)
        };
        assert_eq!(list("*/a,*/b").unwrap(), ["*/a", "*/b"]);
        assert_eq!(list(r#" ["*/a,b", "*/c"] "#).unwrap(), ["*/a,b", "*/c"], "JSON");
        assert_eq!(list("[]").unwrap(), Vec::<String>::new());
        assert_eq!(list("[::1]").unwrap(), ["[::1]"], "an address");
        assert!(list(r#"["*/a", 7]"#).is_err());
        config.set("crawl.queue_ratio", "[7, 2]", "a test").unwrap();
        assert_eq!(config.crawl.queue_ratio, [7, 2]);
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
