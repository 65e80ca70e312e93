//! Who may use the desk: `desk/operators.json` in the data directory.
//!
//! The file is the truth, also for other processes: it is read anew when it changed. A file that cannot be understood is an
//! error, which locks the desk; only a file that does not exist means that nobody was named yet.

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

/// Bytes of the file: a hundred operators take a third of it.
const LONGEST_FILE: u64 = 256 << 10;

/// How many there may be.
pub(super) const MOST: usize = 100;

/// Characters of a name.
pub(super) const LONGEST_NAME: usize = 64;

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// Everything.
    Full,
    /// Look at everything.
    ReadOnly,
}

impl Role {
    /// In forms.
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

/// Somebody who may use the desk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Account {
    pub(super) name: String,
    pub(super) role: Role,
    /// The hash of the password.
    pub(super) password: String,
    /// The moment it was made.
    pub(super) created: String,
}

impl Account {
    /// Changes whenever what was agreed on at a login does: the sessions of before end.
    pub(super) fn stamp(&self) -> [u8; 32] {
        mark(&format!("{}\n{}\n{}\n{}", self.name, self.role.code(), self.password, self.created))
    }

    fn is_called(&self, name: &str) -> bool {
        folded(&self.name) == folded(name)
    }
}

/// All who may use the desk.
pub(super) type Accounts = Vec<Account>;

/// Finds an account by its name.
pub(super) fn find<'a>(accounts: &'a [Account], name: &str) -> Option<&'a Account> {
    accounts.iter().find(|account| account.is_called(name))
}

/// Names that look alike to a person are the same.
pub(super) fn folded(name: &str) -> String {
    let folded: String = name.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    // Some marks become a space and another mark.
    folded.trim().to_string()
}

/// Is this a name?
pub(super) fn is_name(name: &str) -> bool {
    let length = name.chars().count();
    (1..=LONGEST_NAME).contains(&length)
        && name == name.trim()
        && !name.chars().any(char::is_control)
        && !folded(name).is_empty()
}

/// Why the file is of no use: the desk is locked.
#[derive(Debug, Error)]
pub(crate) enum OperatorsError {
    #[error("cannot {what} {path}: {source}")]
    Io { what: &'static str, path: String, source: io::Error },
    #[error(
        "{path} is damaged: {why}; restore it, or remove it and start anew to name the first operator again"
    )]
    Damaged { path: String, why: String },
}

/// Why a change was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// There is somebody of that name.
    Taken,
    /// There is nobody of that name.
    Nobody,
    /// Without them nobody could change anything any more.
    LastFull,
    /// There are as many as there may be.
    TooMany,
    /// Somebody was named before.
    NotFirst,
}

#[derive(Serialize, Deserialize)]
struct Written {
    operators: Accounts,
}

/// What tells one state of the file from another.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State {
    file: u64,
    length: u64,
    changed: (i64, i64),
}

/// The file, and what it said when it was last read.
pub(super) struct Operators {
    folder: Folder,
    known: Mutex<Option<(State, Arc<Accounts>)>>,
}

impl Operators {
    pub(super) fn of(data: &DataDir) -> Self {
        Self { folder: Folder::at(data.desk()), known: Mutex::default() }
    }

    /// All of them; none where nobody was named yet.
    pub(super) fn all(&self) -> Result<Arc<Accounts>, OperatorsError> {
        let path = self.folder.file(FILE);
        let state = match fs::metadata(&path) {
            Ok(about) => {
                State { file: about.ino(), length: about.len(), changed: (about.mtime(), about.mtime_nsec()) }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Arc::default()),
            Err(error) => return Err(self.failed("look at")(error)),
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

    /// Changes the file, where `edit` agrees, and no two processes at once.
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

/// Whoever edits the file by hand is told what is wrong with it.
fn check(accounts: &[Account]) -> Result<(), String> {
    for (place, account) in accounts.iter().enumerate() {
        let named = format!("operator {}", place + 1);
        if !is_name(&account.name) {
            return Err(format!("{named} has no proper name"));
        }
        if !is_hash(&account.password) {
            return Err(format!("the password of {named} is no argon2id hash"));
        }
        if accounts[..place].iter().any(|other| other.is_called(&account.name)) {
            return Err(format!("{named} has the name of another"));
        }
    }
    if accounts.len() > MOST {
        return Err(format!("there are more than {MOST} operators"));
    }
    // We never write that; who empties the file does not thereby open the door.
    if !accounts.iter().any(|account| account.role == Role::Full) {
        return Err("no operator may do everything".into());
    }
    Ok(())
}

/// Names the first one.
pub(super) fn first(accounts: &mut Accounts, new: Account) -> Result<(), Refused> {
    if !accounts.is_empty() {
        return Err(Refused::NotFirst);
    }
    accounts.push(Account { role: Role::Full, ..new });
    Ok(())
}

/// Names one more.
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

/// Removes one.
pub(super) fn remove(accounts: &mut Accounts, name: &str) -> Result<(), Refused> {
    let place = place_of(accounts, name)?;
    if is_last_full(accounts, place) {
        return Err(Refused::LastFull);
    }
    accounts.remove(place);
    Ok(())
}

/// Changes what somebody may do.
pub(super) fn set_role(accounts: &mut Accounts, name: &str, role: Role) -> Result<(), Refused> {
    let place = place_of(accounts, name)?;
    if role != Role::Full && is_last_full(accounts, place) {
        return Err(Refused::LastFull);
    }
    accounts[place].role = role;
    Ok(())
}

/// Gives somebody another password.
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
        assert_eq!(theirs.all().unwrap()[0].role, Role::Full, "whoever is first may do everything");
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
    fn the_last_who_may_do_everything_stays() {
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
            ("{\"operators\":[]}", "no operator may do everything"),
            (&good[..good.len() / 2], "EOF"),
            (&good.replace("Keeper", ""), "no proper name"),
            (&good.replace("Keeper", "a\\nb"), "no proper name"),
            (&good.replace("$argon2id$", "$argon2x$"), "no argon2id hash"),
            (&good.replace("full", "root"), "unknown variant"),
            (&good.replace("\"full\"", "\"read-only\""), "no operator may do everything"),
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
        fn any_name_is_taken_or_not(name in "\\PC{0,70}|[\\x00-\\x7f]{0,8}") {
            if is_name(&name) {
                let text = serde_json::to_string(&account(&name, Role::Full)).unwrap();
                let back: Account = serde_json::from_str(&text).unwrap();
                proptest::prop_assert!(back.is_called(&name) && is_name(&back.name));
            }
            proptest::prop_assert_eq!(folded(&folded(&name)), folded(&name));
        }
    }
}
