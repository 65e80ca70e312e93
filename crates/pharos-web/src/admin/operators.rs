//! Operator accounts: `desk/operators.json` in the data directory.
//!
//! The file is the source of truth, also for other processes, and is read again whenever it changed. A file that cannot be
//! parsed is an error, which locks the desk; only a missing file means that there is no operator yet.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use parking_lot::Mutex;
use pharos_store::DataDir;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;

use super::desk_dir::{DeskDir, read_limited};
use super::password::is_supported_hash;
use super::secret::digest_secret;

const FILE: &str = "operators.json";

/// Maximum size of the file in bytes; a hundred operators take a third of it.
const MAX_FILE_SIZE: u64 = 256 << 10;

/// Maximum number of operators.
pub(super) const MAX_OPERATORS: usize = 100;

/// Maximum length of a name in characters.
pub(super) const MAX_NAME_LENGTH: usize = 64;

/// Permissions of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// Earlier releases: `full`.
    #[serde(alias = "full")]
    Admin,
    Editor,
    /// Earlier releases: `read-only`.
    #[serde(alias = "read-only")]
    Analyst,
    Viewer,
}

impl Role {
    /// All roles, those with the most permissions first.
    pub(super) const ALL: [Self; 4] = [Self::Admin, Self::Editor, Self::Analyst, Self::Viewer];

    /// Returns the value used in forms and in the file.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Editor => "editor",
            Self::Analyst => "analyst",
            Self::Viewer => "viewer",
        }
    }

    pub(super) fn from_code(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.code() == name)
    }
}

/// An operator account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Account {
    pub(super) name: String,
    pub(super) role: Role,
    /// PHC string of the Argon2id hash.
    pub(super) password: String,
    /// Time of creation.
    pub(super) created: String,
}

impl Account {
    /// Returns a digest of the account. It changes with name, role and password, which ends the account's sessions.
    pub(super) fn digest(&self) -> [u8; 32] {
        digest_secret(&format!("{}\n{}\n{}\n{}", self.name, self.role.code(), self.password, self.created))
    }

    fn has_name(&self, name: &str) -> bool {
        fold_name(&self.name) == fold_name(name)
    }
}

/// All operator accounts.
pub(super) type Accounts = Vec<Account>;

/// Finds an account by its name, ignoring case and Unicode compatibility variants.
pub(super) fn find<'a>(accounts: &'a [Account], name: &str) -> Option<&'a Account> {
    accounts.iter().find(|account| account.has_name(name))
}

/// Folds case and Unicode compatibility variants, so that names that look alike are equal.
pub(crate) fn fold_name(name: &str) -> String {
    let fold_name: String = name.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    // Some compatibility characters decompose to a space and a combining mark.
    fold_name.trim().to_string()
}

/// Returns `true` if this is a valid name: 1 to 64 characters, trimmed, without control characters.
pub(crate) fn is_valid_name(name: &str) -> bool {
    let length = name.chars().count();
    (1..=MAX_NAME_LENGTH).contains(&length)
        && name == name.trim()
        && !name.chars().any(char::is_control)
        && !fold_name(name).is_empty()
}

/// The operator file cannot be used: the desk is locked.
#[derive(Debug, Error)]
pub(crate) enum OperatorsError {
    #[error("cannot {what} {path}: {source}")]
    Io { what: &'static str, path: String, source: io::Error },
    #[error("{path} is damaged: {why}; restore it, or delete it and restart Pharos to set up the desk again")]
    Damaged { path: String, why: String },
}

/// The reason why a change of the accounts was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperatorChangeError {
    /// The name is in use.
    Taken,
    /// No operator has this name.
    NoSuchOperator,
    /// The operator is the last one with write permission.
    LastFull,
    /// [`MAX_OPERATORS`] operators exist.
    TooMany,
    /// An operator exists already.
    NotFirst,
}

#[derive(Serialize, Deserialize)]
struct OperatorsFile {
    operators: Accounts,
}

/// Identifies a version of the file: inode, length and modification time.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    file: u64,
    length: u64,
    changed: (i64, i64),
}

/// The operator file with its cached content.
pub(super) struct OperatorStore {
    dir: DeskDir,
    cached: Mutex<Option<(FileStamp, Arc<Accounts>)>>,
}

impl OperatorStore {
    pub(super) fn open(data: &DataDir) -> Self {
        Self { dir: DeskDir::at(data.desk()), cached: Mutex::default() }
    }

    /// Returns all accounts; empty if the file does not exist.
    pub(super) fn load(&self) -> Result<Arc<Accounts>, OperatorsError> {
        let path = self.dir.file(FILE);
        let stamp = match fs::metadata(&path) {
            Ok(about) => FileStamp {
                file: about.ino(),
                length: about.len(),
                changed: (about.mtime(), about.mtime_nsec()),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Arc::default()),
            Err(error) => return Err(self.failed("stat")(error)),
        };
        let mut cached = self.cached.lock();
        if let Some((then, accounts)) = &*cached
            && *then == stamp
        {
            return Ok(Arc::clone(accounts));
        }
        *cached = None;
        let text = read_limited(&path, MAX_FILE_SIZE).map_err(self.failed("read"))?;
        let damaged = |why: String| OperatorsError::Damaged { path: path.display().to_string(), why };
        let written: OperatorsFile =
            serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        check(&written.operators).map_err(damaged)?;
        let accounts = Arc::new(written.operators);
        *cached = Some((stamp, Arc::clone(&accounts)));
        Ok(accounts)
    }

    /// Changes the file under its lock, if `edit` agrees.
    pub(super) fn change(
        &self,
        edit: impl FnOnce(&mut Accounts) -> Result<(), OperatorChangeError>,
    ) -> Result<Result<(), OperatorChangeError>, OperatorsError> {
        let _lock = self.dir.lock().map_err(self.failed("lock"))?;
        let mut operators = Accounts::clone(&*self.load()?);
        if let Err(refused) = edit(&mut operators) {
            return Ok(Err(refused));
        }
        let mut text = serde_json::to_vec_pretty(&OperatorsFile { operators })
            .map_err(|error| self.failed("write")(error.into()))?;
        text.push(b'\n');
        self.dir.replace(FILE, &text).map_err(self.failed("write"))?;
        Ok(Ok(()))
    }

    fn failed(&self, what: &'static str) -> impl FnOnce(io::Error) -> OperatorsError {
        let path = self.dir.file(FILE).display().to_string();
        move |source| OperatorsError::Io { what, path, source }
    }
}

/// Validates the accounts. The error describes the defect, for operators who edit the file by hand.
fn check(accounts: &[Account]) -> Result<(), String> {
    for (index, account) in accounts.iter().enumerate() {
        let named = format!("operator {}", index + 1);
        if !is_valid_name(&account.name) {
            return Err(format!("{named} has an invalid name"));
        }
        if !is_supported_hash(&account.password) {
            return Err(format!("the password of {named} is not an argon2id hash"));
        }
        if accounts[..index].iter().any(|other| other.has_name(&account.name)) {
            return Err(format!("{named} has the same name as another operator"));
        }
    }
    if accounts.len() > MAX_OPERATORS {
        return Err(format!("there are more than {MAX_OPERATORS} operators"));
    }
    // The desk never writes such a file; emptying it must not reopen the setup.
    if !accounts.iter().any(|account| account.role == Role::Admin) {
        return Err("no operator has full access".into());
    }
    Ok(())
}

/// Adds the first account, with full access.
pub(super) fn add_first(accounts: &mut Accounts, new: Account) -> Result<(), OperatorChangeError> {
    if !accounts.is_empty() {
        return Err(OperatorChangeError::NotFirst);
    }
    accounts.push(Account { role: Role::Admin, ..new });
    Ok(())
}

/// Adds an account.
pub(super) fn add(accounts: &mut Accounts, new: Account) -> Result<(), OperatorChangeError> {
    if accounts.len() >= MAX_OPERATORS {
        return Err(OperatorChangeError::TooMany);
    }
    if find(accounts, &new.name).is_some() {
        return Err(OperatorChangeError::Taken);
    }
    accounts.push(new);
    Ok(())
}

/// Removes an account.
pub(super) fn remove(accounts: &mut Accounts, name: &str) -> Result<(), OperatorChangeError> {
    let index = position_of(accounts, name)?;
    if is_last_full(accounts, index) {
        return Err(OperatorChangeError::LastFull);
    }
    accounts.remove(index);
    Ok(())
}

/// Changes the role of an account.
pub(super) fn set_role(accounts: &mut Accounts, name: &str, role: Role) -> Result<(), OperatorChangeError> {
    let index = position_of(accounts, name)?;
    if role != Role::Admin && is_last_full(accounts, index) {
        return Err(OperatorChangeError::LastFull);
    }
    accounts[index].role = role;
    Ok(())
}

/// Changes the password hash of an account.
pub(super) fn set_password(
    accounts: &mut Accounts,
    name: &str,
    hash: String,
) -> Result<(), OperatorChangeError> {
    let index = position_of(accounts, name)?;
    accounts[index].password = hash;
    Ok(())
}

fn position_of(accounts: &[Account], name: &str) -> Result<usize, OperatorChangeError> {
    accounts.iter().position(|account| account.has_name(name)).ok_or(OperatorChangeError::NoSuchOperator)
}

fn is_last_full(accounts: &[Account], index: usize) -> bool {
    let is_full = |account: &&Account| account.role == Role::Admin;
    accounts[index].role == Role::Admin && accounts.iter().filter(is_full).count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str =
        "$argon2id$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

    fn account(name: &str, role: Role) -> Account {
        Account { name: name.into(), role, password: HASH.into(), created: "2026-01-31T12:00:00Z".into() }
    }

    fn operators() -> (tempfile::TempDir, OperatorStore) {
        let temp = tempfile::tempdir().unwrap();
        let operators = OperatorStore::open(&DataDir::at(temp.path()));
        (temp, operators)
    }

    #[test]
    fn the_first_is_named_once_and_another_process_sees_it() {
        let (temp, ours) = operators();
        let theirs = OperatorStore::open(&DataDir::at(temp.path()));
        assert!(theirs.load().unwrap().is_empty());
        ours.change(|all| add_first(all, account("Keeper", Role::Analyst))).unwrap().unwrap();
        assert_eq!(theirs.load().unwrap()[0].role, Role::Admin, "the first operator has full access");
        let again = theirs.change(|all| add_first(all, account("Thief", Role::Admin))).unwrap();
        assert_eq!(again, Err(OperatorChangeError::NotFirst));
        theirs.change(|all| add(all, account("Mate", Role::Analyst))).unwrap().unwrap();
        assert_eq!(ours.load().unwrap().len(), 2);
        assert!(find(&ours.load().unwrap(), " ＫＥＥＰＥＲ").is_some(), "names that look alike are the same");
        assert_eq!(
            ours.change(|all| add(all, account("keeper", Role::Admin))).unwrap(),
            Err(OperatorChangeError::Taken)
        );
        let text = fs::read_to_string(temp.path().join("desk/operators.json")).unwrap();
        assert!(text.contains("\"role\": \"analyst\""), "{text}");
    }

    #[test]
    fn the_last_operator_with_full_access_stays() {
        let mut all = vec![account("a", Role::Admin), account("b", Role::Analyst)];
        assert_eq!(remove(&mut all, "a"), Err(OperatorChangeError::LastFull));
        assert_eq!(set_role(&mut all, "a", Role::Analyst), Err(OperatorChangeError::LastFull));
        assert_eq!(set_role(&mut all, "a", Role::Admin), Ok(()));
        set_role(&mut all, "b", Role::Admin).unwrap();
        remove(&mut all, "a").unwrap();
        assert_eq!(
            (remove(&mut all, "b"), remove(&mut all, "c")),
            (Err(OperatorChangeError::LastFull), Err(OperatorChangeError::NoSuchOperator))
        );
        while all.len() < MAX_OPERATORS {
            let name = all.len().to_string();
            add(&mut all, account(&name, Role::Admin)).unwrap();
        }
        assert_eq!(add(&mut all, account("one more", Role::Admin)), Err(OperatorChangeError::TooMany));
    }

    #[test]
    fn a_damaged_file_is_an_error_that_says_what_is_wrong() {
        let (temp, operators) = operators();
        operators.change(|all| add_first(all, account("Keeper", Role::Admin))).unwrap().unwrap();
        let path = temp.path().join("desk/operators.json");
        let good = fs::read_to_string(&path).unwrap();
        let long = format!("{good}{}", " ".repeat(MAX_FILE_SIZE as usize));
        for (text, why) in [
            ("", "EOF"),
            ("{}", "missing field"),
            ("{\"operators\":[]}", "no operator has full access"),
            (&good[..good.len() / 2], "EOF"),
            (&good.replace("Keeper", ""), "an invalid name"),
            (&good.replace("Keeper", "a\\nb"), "an invalid name"),
            (&good.replace("$argon2id$", "$argon2x$"), "not an argon2id hash"),
            (&good.replace("admin", "root"), "unknown variant"),
            (&good.replace("\"admin\"", "\"read-only\""), "no operator has full access"),
            (&long, "too long"),
        ] {
            fs::write(&path, text).unwrap();
            let error = operators.load().unwrap_err().to_string();
            assert!(error.contains("operators.json") && error.contains(why), "{error}");
            assert!(operators.change(|all| add_first(all, account("Thief", Role::Admin))).is_err(), "{why}");
        }
        fs::write(&path, &good).unwrap();
        assert_eq!(operators.load().unwrap().len(), 1);
        // As written by earlier releases.
        fs::write(&path, good.replace("\"admin\"", "\"full\"")).unwrap();
        assert_eq!(operators.load().unwrap()[0].role, Role::Admin);
    }

    #[test]
    fn a_stamp_changes_with_role_and_password() {
        let before = account("a", Role::Admin);
        assert_eq!(before.digest(), before.clone().digest());
        assert_ne!(before.digest(), account("a", Role::Analyst).digest());
        assert_ne!(before.digest(), Account { password: "other".into(), ..before.clone() }.digest());
    }

    proptest::proptest! {
        #[test]
        fn valid_names_survive_the_file(name in "\\PC{0,70}|[\\x00-\\x7f]{0,8}") {
            if is_valid_name(&name) {
                let text = serde_json::to_string(&account(&name, Role::Admin)).unwrap();
                let back: Account = serde_json::from_str(&text).unwrap();
                proptest::prop_assert!(back.has_name(&name) && is_valid_name(&back.name));
            }
            proptest::prop_assert_eq!(fold_name(&fold_name(&name)), fold_name(&name));
        }
    }
}
