//! Operator accounts: `desk/operators.json` in the data directory.
//!
//! The file is the source of truth, also for other processes, and is read again whenever it changed. A file that cannot be
//! parsed is an error, which locks the desk; only a missing file means that there is no operator yet.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Arc, Mutex, PoisonError};

use pharos_store::DataDir;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;

use super::folder::{Folder, read_up_to};
use super::password::is_hash;
use super::secret::mark;

const FILE: &str = "operators.json";

/// Maximum size of the file in bytes; a hundred operators take a third of it.
const LONGEST_FILE: u64 = 256 << 10;

/// Maximum number of operators.
pub(super) const MOST: usize = 100;

/// Maximum length of a name in characters.
pub(super) const LONGEST_NAME: usize = 64;

/// Permissions of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    Full,
    ReadOnly,
}

impl Role {
    /// Returns the value used in forms and in the file.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::ReadOnly => "read-only",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Full, Self::ReadOnly].into_iter().find(|role| role.code() == name)
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
    pub(super) fn stamp(&self) -> [u8; 32] {
        mark(&format!("{}\n{}\n{}\n{}", self.name, self.role.code(), self.password, self.created))
    }

    fn is_called(&self, name: &str) -> bool {
        folded(&self.name) == folded(name)
    }
}

/// All operator accounts.
pub(super) type Accounts = Vec<Account>;

/// Finds an account by its name, ignoring case and Unicode compatibility variants.
pub(super) fn find<'a>(accounts: &'a [Account], name: &str) -> Option<&'a Account> {
    accounts.iter().find(|account| account.is_called(name))
}

/// Folds case and Unicode compatibility variants, so that names that look alike are equal.
pub(super) fn folded(name: &str) -> String {
    let folded: String = name.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    // Some compatibility characters decompose to a space and a combining mark.
    folded.trim().to_string()
}

/// Returns `true` if this is a valid name: 1 to 64 characters, trimmed, without control characters.
pub(super) fn is_name(name: &str) -> bool {
    let length = name.chars().count();
    (1..=LONGEST_NAME).contains(&length)
        && name == name.trim()
        && !name.chars().any(char::is_control)
        && !folded(name).is_empty()
}

/// The operator file cannot be used: the desk is locked.
#[derive(Debug, Error)]
pub(crate) enum OperatorsError {
    #[error("cannot {what} {path}: {source}")]
    Io { what: &'static str, path: String, source: io::Error },
    #[error(
        "{path} is damaged: {why}; restore it, or delete it and restart Pharos to set up the desk again"
    )]
    Damaged { path: String, why: String },
}

/// The reason why a change of the accounts was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The name is in use.
    Taken,
    /// No operator has this name.
    Nobody,
    /// The operator is the last one with write permission.
    LastFull,
    /// [`MOST`] operators exist.
    TooMany,
    /// An operator exists already.
    NotFirst,
}

#[derive(Serialize, Deserialize)]
struct Written {
    operators: Accounts,
}

/// Identifies a version of the file: inode, length and modification time.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State {
    file: u64,
    length: u64,
    changed: (i64, i64),
}

/// The operator file with its cached content.
pub(super) struct Operators {
    folder: Folder,
    known: Mutex<Option<(State, Arc<Accounts>)>>,
}

impl Operators {
    pub(super) fn of(data: &DataDir) -> Self {
        Self { folder: Folder::at(data.desk()), known: Mutex::default() }
    }

    /// Returns all accounts; empty if the file does not exist.
    pub(super) fn all(&self) -> Result<Arc<Accounts>, OperatorsError> {
        let path = self.folder.file(FILE);
        let state = match fs::metadata(&path) {
            Ok(about) => {
                State { file: about.ino(), length: about.len(), changed: (about.mtime(), about.mtime_nsec()) }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Arc::default()),
            Err(error) => return Err(self.failed("stat")(error)),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, accounts)) = &*known
            && *then == state
        {
            return Ok(Arc::clone(accounts));
        }
        *known = None;
        let text = read_up_to(&path, LONGEST_FILE).map_err(self.failed("read"))?;
        let damaged = |why: String| OperatorsError::Damaged { path: path.display().to_string(), why };
        let written: Written = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        check(&written.operators).map_err(damaged)?;
        let accounts = Arc::new(written.operators);
        *known = Some((state, Arc::clone(&accounts)));
        Ok(accounts)
    }

    /// Changes the file under its lock, if `edit` agrees.
    pub(super) fn change(
        &self,
        edit: impl FnOnce(&mut Accounts) -> Result<(), Refused>,
    ) -> Result<Result<(), Refused>, OperatorsError> {
        let _lock = self.folder.lock().map_err(self.failed("lock"))?;
        let mut operators = Accounts::clone(&*self.all()?);
        if let Err(refused) = edit(&mut operators) {
            return Ok(Err(refused));
        }
        let mut text = serde_json::to_vec_pretty(&Written { operators })
            .map_err(|error| self.failed("write")(error.into()))?;
        text.push(b'\n');
        self.folder.replace(FILE, &text).map_err(self.failed("write"))?;
        Ok(Ok(()))
    }

    fn failed(&self, what: &'static str) -> impl FnOnce(io::Error) -> OperatorsError {
        let path = self.folder.file(FILE).display().to_string();
        move |source| OperatorsError::Io { what, path, source }
    }
}

/// Validates the accounts and says what is wrong, for operators who edit the file by hand.
fn check(accounts: &[Account]) -> Result<(), String> {
    for (place, account) in accounts.iter().enumerate() {
        let named = format!("operator {}", place + 1);
        if !is_name(&account.name) {
            return Err(format!("{named} has an invalid name"));
        }
        if !is_hash(&account.password) {
            return Err(format!("the password of {named} is not an argon2id hash"));
        }
        if accounts[..place].iter().any(|other| other.is_called(&account.name)) {
            return Err(format!("{named} has the same name as another operator"));
        }
    }
    if accounts.len() > MOST {
        return Err(format!("there are more than {MOST} operators"));
    }
    // The desk never writes such a file; emptying it must not reopen the setup.
    if !accounts.iter().any(|account| account.role == Role::Full) {
        return Err("no operator has full access".into());
    }
    Ok(())
}

/// Adds the first account, with full access.
pub(super) fn first(accounts: &mut Accounts, new: Account) -> Result<(), Refused> {
    if !accounts.is_empty() {
        return Err(Refused::NotFirst);
    }
    accounts.push(Account { role: Role::Full, ..new });
    Ok(())
}

/// Adds an account.
pub(super) fn add(accounts: &mut Accounts, new: Account) -> Result<(), Refused> {
    if accounts.len() >= MOST {
        return Err(Refused::TooMany);
    }
    if find(accounts, &new.name).is_some() {
        return Err(Refused::Taken);
    }
    accounts.push(new);
    Ok(())
}

/// Removes an account.
pub(super) fn remove(accounts: &mut Accounts, name: &str) -> Result<(), Refused> {
    let place = place_of(accounts, name)?;
    if is_last_full(accounts, place) {
        return Err(Refused::LastFull);
    }
    accounts.remove(place);
    Ok(())
}

/// Changes the role of an account.
pub(super) fn set_role(accounts: &mut Accounts, name: &str, role: Role) -> Result<(), Refused> {
    let place = place_of(accounts, name)?;
    if role != Role::Full && is_last_full(accounts, place) {
        return Err(Refused::LastFull);
    }
    accounts[place].role = role;
    Ok(())
}

/// Changes the password hash of an account.
pub(super) fn set_password(accounts: &mut Accounts, name: &str, hash: String) -> Result<(), Refused> {
    let place = place_of(accounts, name)?;
    accounts[place].password = hash;
    Ok(())
}

fn place_of(accounts: &[Account], name: &str) -> Result<usize, Refused> {
    accounts.iter().position(|account| account.is_called(name)).ok_or(Refused::Nobody)
}

fn is_last_full(accounts: &[Account], place: usize) -> bool {
    let is_full = |account: &&Account| account.role == Role::Full;
    accounts[place].role == Role::Full && accounts.iter().filter(is_full).count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str =
        "$argon2id$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

    fn account(name: &str, role: Role) -> Account {
        Account { name: name.into(), role, password: HASH.into(), created: "2026-01-31T12:00:00Z".into() }
    }

    fn operators() -> (tempfile::TempDir, Operators) {
        let dir = tempfile::tempdir().unwrap();
        let operators = Operators::of(&DataDir::at(dir.path()));
        (dir, operators)
    }

    #[test]
    fn the_first_is_named_once_and_another_process_sees_it() {
        let (dir, ours) = operators();
        let theirs = Operators::of(&DataDir::at(dir.path()));
        assert!(theirs.all().unwrap().is_empty());
        ours.change(|all| first(all, account("Keeper", Role::ReadOnly))).unwrap().unwrap();
        assert_eq!(theirs.all().unwrap()[0].role, Role::Full, "the first operator has full access");
        let again = theirs.change(|all| first(all, account("Thief", Role::Full))).unwrap();
        assert_eq!(again, Err(Refused::NotFirst));
        theirs.change(|all| add(all, account("Mate", Role::ReadOnly))).unwrap().unwrap();
        assert_eq!(ours.all().unwrap().len(), 2);
        assert!(find(&ours.all().unwrap(), " ＫＥＥＰＥＲ").is_some(), "names that look alike are the same");
        assert_eq!(ours.change(|all| add(all, account("keeper", Role::Full))).unwrap(), Err(Refused::Taken));
        let text = fs::read_to_string(dir.path().join("desk/operators.json")).unwrap();
        assert!(text.contains("\"role\": \"read-only\""), "{text}");
    }

    #[test]
    fn the_last_operator_with_full_access_stays() {
        let mut all = vec![account("a", Role::Full), account("b", Role::ReadOnly)];
        assert_eq!(remove(&mut all, "a"), Err(Refused::LastFull));
        assert_eq!(set_role(&mut all, "a", Role::ReadOnly), Err(Refused::LastFull));
        assert_eq!(set_role(&mut all, "a", Role::Full), Ok(()));
        set_role(&mut all, "b", Role::Full).unwrap();
        remove(&mut all, "a").unwrap();
        assert_eq!(
            (remove(&mut all, "b"), remove(&mut all, "c")),
            (Err(Refused::LastFull), Err(Refused::Nobody))
        );
        while all.len() < MOST {
            let name = all.len().to_string();
            add(&mut all, account(&name, Role::Full)).unwrap();
        }
        assert_eq!(add(&mut all, account("one more", Role::Full)), Err(Refused::TooMany));
    }

    #[test]
    fn a_damaged_file_is_an_error_that_says_what_is_wrong() {
        let (dir, operators) = operators();
        operators.change(|all| first(all, account("Keeper", Role::Full))).unwrap().unwrap();
        let path = dir.path().join("desk/operators.json");
        let good = fs::read_to_string(&path).unwrap();
        let long = format!("{good}{}", " ".repeat(LONGEST_FILE as usize));
        for (text, why) in [
            ("", "EOF"),
            ("{}", "missing field"),
            ("{\"operators\":[]}", "no operator has full access"),
            (&good[..good.len() / 2], "EOF"),
            (&good.replace("Keeper", ""), "an invalid name"),
            (&good.replace("Keeper", "a\\nb"), "an invalid name"),
            (&good.replace("$argon2id$", "$argon2x$"), "not an argon2id hash"),
            (&good.replace("full", "root"), "unknown variant"),
            (&good.replace("\"full\"", "\"read-only\""), "no operator has full access"),
            (&long, "too long"),
        ] {
            fs::write(&path, text).unwrap();
            let error = operators.all().unwrap_err().to_string();
            assert!(error.contains("operators.json") && error.contains(why), "{error}");
            assert!(operators.change(|all| first(all, account("Thief", Role::Full))).is_err(), "{why}");
        }
        fs::write(&path, &good).unwrap();
        assert_eq!(operators.all().unwrap().len(), 1);
    }

    #[test]
    fn a_stamp_changes_with_role_and_password() {
        let before = account("a", Role::Full);
        assert_eq!(before.stamp(), before.clone().stamp());
        assert_ne!(before.stamp(), account("a", Role::ReadOnly).stamp());
        assert_ne!(before.stamp(), Account { password: "other".into(), ..before.clone() }.stamp());
    }

    proptest::proptest! {
        #[test]
        fn valid_names_survive_the_file(name in "\\PC{0,70}|[\\x00-\\x7f]{0,8}") {
            if is_name(&name) {
                let text = serde_json::to_string(&account(&name, Role::Full)).unwrap();
                let back: Account = serde_json::from_str(&text).unwrap();
                proptest::prop_assert!(back.is_called(&name) && is_name(&back.name));
            }
            proptest::prop_assert_eq!(folded(&folded(&name)), folded(&name));
        }
    }
}
