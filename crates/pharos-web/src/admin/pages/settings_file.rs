//! Edits single settings in `pharos.toml` and preserves everything else in the file, including comments.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::net::ToSocketAddrs as _;
use std::path::Path;

use pharos_core::Config;
use pharos_core::config::KEYS;
use toml_edit::{DocumentMut, Item, Table, value};

use crate::admin::settings::DeskSettings;
use crate::server::tls::Certificates;

/// Maximum size of the file.
const MAX_BYTES: u64 = 1 << 20;

/// The content of the configuration file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SettingsFile {
    pub(crate) text: String,
    /// Hash of the text, for optimistic locking: a change applies only to the version it was made from.
    pub(crate) stamp: String,
}

impl SettingsFile {
    /// Reads the file; a missing file has an empty text.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let text = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
            Ok(file) if file.len() > MAX_BYTES => {
                return Err(io::Error::other("the file is larger than 1 MB"));
            }
            Ok(_) => fs::read_to_string(path)?,
        };
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let stamp = format!("{:016x}", hasher.finish());
        Ok(Self { text, stamp })
    }

    /// Replaces the file durably, with missing directories.
    pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
        if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
            pharos_files::create_dir_all(dir)?;
        }
        pharos_files::replace(path, text.as_bytes())
    }
}

/// A change of one setting.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SettingEdit {
    /// Sets a value. Lists have one item per line.
    Set(String),
    /// Removes the setting from the file, so that the default applies.
    Reset,
}

/// Returns `true` if the setting is a list of strings, which is edited line by line.
pub(crate) fn is_list(key: &str) -> bool {
    let default = Config::default().get(key).unwrap_or_default();
    default.starts_with('[')
        && default.trim_matches(['[', ']']).split(',').all(|item| item.trim().parse::<f64>().is_err())
}

/// Formats a setting for a form field.
pub(crate) fn format_setting(config: &Config, key: &str) -> String {
    let toml = config.get(key).unwrap_or_default();
    match toml.parse::<toml_edit::Value>() {
        Ok(toml_edit::Value::String(text)) => text.into_value(),
        Ok(toml_edit::Value::Array(items)) if is_list(key) => {
            items.iter().filter_map(|item| item.as_str()).collect::<Vec<_>>().join("\n")
        }
        // A list of numbers is written as on the command line.
        Ok(toml_edit::Value::Array(_)) => toml.trim_matches(['[', ']']).to_string(),
        _ => toml,
    }
}

/// Returns the text of a configuration file with one setting changed, or an error message.
pub(crate) fn edit_setting(text: &str, key: &str, edit: &SettingEdit) -> Result<String, String> {
    let key =
        KEYS.iter().find(|known| known.name == key).ok_or_else(|| format!("there is no setting `{key}`"))?;
    let (section, name) = key.name.split_once('.').unwrap_or(("", key.name));
    let mut document: DocumentMut = text.parse().map_err(syntax_error)?;
    match edit {
        SettingEdit::Reset => {
            if let Some(table) = document.get_mut(section).and_then(Item::as_table_like_mut) {
                table.remove(name);
            }
        }
        SettingEdit::Set(value_text) => {
            let table = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
            let table = table.as_table_like_mut().ok_or_else(|| format!("`{section}` is not a section"))?;
            let new = toml_value(key.name, value_text)?;
            // Keep the comment behind the old value.
            match table.get_mut(name).and_then(Item::as_value_mut) {
                Some(old) => {
                    let decor = old.decor().clone();
                    *old = new;
                    *old.decor_mut() = decor;
                }
                None => {
                    table.insert(name, value(new));
                }
            }
        }
    }
    let text = document.to_string();
    parse_settings(&text)?;
    Ok(text)
}

/// Reports the kind of a syntax error without quoting the file, which may contain secrets.
fn syntax_error(error: toml_edit::TomlError) -> String {
    format!("invalid configuration file: {}", error.message())
}

fn toml_value(key: &str, value_text: &str) -> Result<toml_edit::Value, String> {
    if is_list(key) {
        let items = value_text.lines().map(str::trim).filter(|line| !line.is_empty());
        return Ok(toml_edit::Value::Array(items.collect()));
    }
    let mut config = Config::default();
    config.set(key, value_text.trim(), "this form").map_err(|error| error.to_string())?;
    let toml = config.get(key).unwrap_or_default();
    toml.parse().map_err(|error| format!("`{value_text}` cannot be written: {error}"))
}

/// Parses and validates settings.
pub(crate) fn parse_settings(text: &str) -> Result<Config, String> {
    let mut config = Config::default();
    config.read_toml("pharos.toml", text).map_err(|error| error.to_string())?;
    pharos_engine::control::dispatch::check_settings(&config).map_err(|error| error.to_string())?;
    // A saved file must not lock the operators out.
    DeskSettings::from_config(&config.desk).map_err(|error| error.to_string())?;
    Certificates::from_config(&config.web).map_err(|error| error.to_string())?;
    let listen = config.web.listen.as_str();
    listen.to_socket_addrs().map_err(|error| format!("invalid `web.listen` `{listen}`: {error}"))?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = "# ours\n[crawl]\ncontact = \"me@example.org\" # mail\nfetchers = 8\n\n[web]\nlisten = \"[::1]:80\"\n";

    fn set(text: &str, key: &str, to: &str) -> Result<String, String> {
        edit_setting(text, key, &SettingEdit::Set(to.into()))
    }

    #[test]
    fn one_setting_changes_and_the_rest_is_preserved() {
        let text = set(FILE, "crawl.contact", "you@example.org").unwrap();
        assert_eq!(text, FILE.replace("me@", "you@"));
        let text = set(&text, "rank.block", " spam.example \n\n\"odd\" one").unwrap();
        assert!(text.ends_with("[rank]\nblock = [\"spam.example\", '\"odd\" one']\n"), "{text}");
        assert_eq!(
            format_setting(&parse_settings(&text).unwrap(), "rank.block"),
            "spam.example\n\"odd\" one"
        );
        let text = edit_setting(&text, "rank.block", &SettingEdit::Reset).unwrap();
        assert!(!text.contains("spam") && text.contains("# ours"), "{text}");
        assert_eq!(edit_setting("", "crawl.scope", &SettingEdit::Reset).unwrap(), "");
        assert_eq!(set("", "crawl.politeness", "gentle").unwrap(), "[crawl]\npoliteness = \"gentle\"\n");
    }

    #[test]
    fn every_setting_survives_its_form() {
        let config = Config::default();
        for key in KEYS {
            let value_text = format_setting(&config, key.name);
            let text = set("", key.name, &value_text).unwrap_or_else(|error| panic!("{}: {error}", key.name));
            assert_eq!(parse_settings(&text).unwrap().get(key.name), config.get(key.name), "{}", key.name);
        }
        assert!(is_list("crawl.include") && !is_list("crawl.queue_ratio") && !is_list("crawl.fetchers"));
    }

    #[test]
    fn what_cannot_be_used_is_not_written() {
        for (key, to, value_text) in [
            ("crawl.fetchers", "many", "a whole number"),
            ("crawl.no_such", "1", "there is no setting"),
            ("crawl.site_settings", "www.example.org delay=soon", "delay"),
            ("crawl.scope", "planet", "crawl.scope"),
            ("desk.allow", "somewhere", "desk.allow"),
            ("web.listen", "nowhere", "web.listen"),
            ("web.key", "key.pem", "web.certificate"),
            ("crawl.extra_ca", "/no/such/file.pem", "file.pem"),
        ] {
            let error = set(FILE, key, to).unwrap_err();
            assert!(error.contains(value_text), "{error}");
        }
        assert!(set("[crawl", "crawl.scope", "host").is_err(), "an invalid file is not changed");
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pharos.toml");
        let none = SettingsFile::read(&path).unwrap();
        assert_eq!(none.text, "");
        SettingsFile::replace(&path, FILE).unwrap();
        let some = SettingsFile::read(&path).unwrap();
        assert!(some.text == FILE && some.stamp != none.stamp);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
        let replace = || SettingsFile::replace(&path, "# a new text\n").unwrap();
        pharos_files::power_cut::check(dir.path(), replace).unwrap();
    }

    proptest! {
        #[test]
        fn nothing_typed_panics(text in "\\PC{0,40}", value_text in "[\\PC\n]{0,40}", nth in 0..KEYS.len()) {
            let _ = set(&text, KEYS[nth].name, &value_text);
            let _ = set("", KEYS[nth].name, &value_text);
        }
    }
}
