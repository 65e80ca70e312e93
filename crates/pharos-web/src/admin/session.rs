//! Who is logged in: a random token in the browser's cookie, and here only its hash.
//!
//! Sessions live in memory: who restarts the process logs in again. A session ends when nothing is done in it for a while,
//! after a week in any case, and when its operator is not quite the same any more.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use axum::http::header::COOKIE;

use super::frame::Notice;
use super::operators::{Account, Role, find};
use super::secret::{mark, token};
use super::settings::LONGEST_SESSION;

/// The name of the cookie. `__Host-` would ask for the path `/`, and then every search would carry it.
const NAME: &str = "pharos_desk";

/// Sessions that are known at once; those that were used longest ago go.
const KNOWN: usize = 1_000;

/// What a session is known by.
pub(super) type Key = [u8; 32];

/// Somebody who is logged in.
#[derive(Clone, Debug)]
pub(crate) struct Operator {
    pub(crate) name: String,
    role: Role,
    /// What every form of theirs carries, so that no other site can fill one in for them.
    pub(crate) csrf: String,
    /// The address they come from.
    pub(crate) from: String,
    pub(super) session: Key,
}

impl Operator {
    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// May they change anything?
    pub(crate) fn may_act(&self) -> bool {
        self.role == Role::Full
    }
}

struct Session {
    name: String,
    /// Of the operator as it was at the login.
    stamp: [u8; 32],
    csrf: String,
    since: Instant,
    seen: Instant,
    /// Shown on the next page, once.
    notice: Option<Notice>,
}

/// All sessions of this process.
pub(super) struct Sessions {
    idle: Duration,
    known: Mutex<HashMap<Key, Session>>,
}

impl Sessions {
    pub(super) fn new(idle: Duration) -> Self {
        Self { idle, known: Mutex::default() }
    }

    /// Begins a session and gives its token, which is nowhere else.
    pub(super) fn begin(&self, account: &Account, now: Instant) -> io::Result<String> {
        let (token, csrf) = (token()?, token()?);
        let session = Session {
            name: account.name.clone(),
            stamp: account.stamp(),
            csrf,
            since: now,
            seen: now,
            notice: None,
        };
        let mut known = self.known();
        known.retain(|_, session| self.lasts(session, now));
        while known.len() >= KNOWN {
            let Some(oldest) = known.iter().min_by_key(|(_, session)| session.seen).map(|(key, _)| *key)
            else {
                break;
            };
            known.remove(&oldest);
        }
        known.insert(mark(&token), session);
        Ok(token)
    }

    /// Whose session this is, as long as it lasts and they are who they were when it began.
    /// What a page asks for by itself keeps nobody logged in (`by_hand`).
    pub(super) fn of(
        &self,
        token: &str,
        accounts: &[Account],
        from: &str,
        now: Instant,
        by_hand: bool,
    ) -> Option<Operator> {
        let key = mark(token);
        let mut known = self.known();
        let session = known.get_mut(&key)?;
        let account = find(accounts, &session.name).filter(|account| account.stamp() == session.stamp);
        let Some(account) = account.filter(|_| self.lasts(session, now)) else {
            known.remove(&key);
            return None;
        };
        if by_hand {
            session.seen = now;
        }
        Some(Operator {
            name: account.name.clone(),
            role: account.role,
            csrf: session.csrf.clone(),
            from: from.to_string(),
            session: key,
        })
    }

    /// Ends a session.
    pub(super) fn end(&self, key: &Key) {
        self.known().remove(key);
    }

    /// Ends the session of a token.
    pub(super) fn end_token(&self, token: &str) {
        self.end(&mark(token));
    }

    /// Leaves something to be said on the next page.
    pub(super) fn leave(&self, key: &Key, notice: Notice) {
        if let Some(session) = self.known().get_mut(key) {
            session.notice = Some(notice);
        }
    }

    /// Takes what was left.
    pub(super) fn take(&self, key: &Key) -> Option<Notice> {
        self.known().get_mut(key)?.notice.take()
    }

    fn lasts(&self, session: &Session, now: Instant) -> bool {
        now.saturating_duration_since(session.seen) < self.idle
            && now.saturating_duration_since(session.since) < LONGEST_SESSION
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Key, Session>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cookie that gives the browser a token.
pub(super) fn cookie(token: &str, is_secure: bool) -> String {
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{NAME}={token}; Path=/admin; HttpOnly; SameSite=Strict{secure}")
}

/// The cookie that takes it away.
pub(super) fn no_cookie(is_secure: bool) -> String {
    format!("{}; Max-Age=0", cookie("", is_secure))
}

/// The token that a request carries.
pub(super) fn token_of(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let cookies = lines.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    let mut tokens = cookies.filter(|(name, _)| *name == NAME).map(|(_, token)| token);
    tokens.find(|token| token.len() == 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(3600);

    fn account(name: &str, role: Role) -> Account {
        Account { name: name.into(), role, password: "hash".into(), created: String::new() }
    }

    #[test]
    fn a_session_ends_when_nothing_is_done_and_after_a_week_in_any_case() {
        let (sessions, start) = (Sessions::new(IDLE), Instant::now());
        let all = [account("Keeper", Role::Full)];
        let token = sessions.begin(&all[0], start).unwrap();
        let is_open = |at: Duration| sessions.of(&token, &all, "", start + at, true).is_some();
        assert!(is_open(IDLE / 2) && is_open(IDLE), "it was used in between");
        let mut at = IDLE;
        while at + IDLE / 2 < LONGEST_SESSION {
            at += IDLE / 2;
            assert!(is_open(at));
        }
        assert!(!is_open(LONGEST_SESSION), "a week is over");
        let token = sessions.begin(&all[0], start).unwrap();
        assert!(sessions.of(&token, &all, "", start + IDLE / 2, false).is_some());
        assert!(
            sessions.of(&token, &all, "", start + IDLE, true).is_none(),
            "a page that asks by itself is no hand"
        );
        assert!(sessions.of(&token, &all, "", start, true).is_none(), "what ended does not come back");
    }

    #[test]
    fn a_session_ends_with_any_change_of_its_operator() {
        let (sessions, now) = (Sessions::new(IDLE), Instant::now());
        let all = [account("Keeper", Role::Full)];
        let changed = [
            vec![],
            vec![account("Keeper", Role::ReadOnly)],
            vec![account("Other", Role::Full)],
            vec![Account { password: "another".into(), ..account("Keeper", Role::Full) }],
        ];
        for others in changed {
            let token = sessions.begin(&all[0], now).unwrap();
            assert!(
                sessions
                    .of(&token, &all, "::1", now, true)
                    .is_some_and(|who| who.may_act() && who.from == "::1")
            );
            assert!(sessions.of(&token, &others, "::1", now, true).is_none(), "{others:?}");
            assert!(sessions.of(&token, &all, "::1", now, true).is_none());
        }
    }

    #[test]
    fn those_used_longest_ago_make_room() {
        let (sessions, now) = (Sessions::new(IDLE), Instant::now());
        let all = [account("Keeper", Role::Full)];
        let tokens: Vec<_> = (0..=KNOWN)
            .map(|n| sessions.begin(&all[0], now + Duration::from_millis(n as u64)).unwrap())
            .collect();
        let now = now + Duration::from_secs(2);
        assert!(sessions.of(&tokens[0], &all, "", now, true).is_none());
        assert!(
            sessions.of(&tokens[1], &all, "", now, true).is_some()
                && sessions.of(&tokens[KNOWN], &all, "", now, true).is_some()
        );
        assert_eq!(sessions.known().len(), KNOWN);
    }

    #[test]
    fn a_notice_is_said_once() {
        let (sessions, now) = (Sessions::new(IDLE), Instant::now());
        let all = [account("Keeper", Role::Full)];
        let token = sessions.begin(&all[0], now).unwrap();
        let key = sessions.of(&token, &all, "", now, true).unwrap().session;
        sessions.leave(&key, Notice::good("done"));
        assert_eq!(sessions.take(&key).map(|notice| notice.text), Some("done".into()));
        assert!(sessions.take(&key).is_none());
        sessions.end_token(&token);
        assert!(sessions.of(&token, &all, "", now, true).is_none());
    }

    #[test]
    fn the_cookie_goes_to_the_desk_alone() {
        assert_eq!(cookie("t", false), "pharos_desk=t; Path=/admin; HttpOnly; SameSite=Strict");
        assert!(cookie("t", true).ends_with("; Secure") && no_cookie(false).ends_with("; Max-Age=0"));
        let of = |line: &str| {
            let headers: HeaderMap = [(COOKIE, line.parse().unwrap())].into_iter().collect();
            token_of(&headers).map(ToString::to_string)
        };
        let token = "a".repeat(64);
        assert_eq!(of(&format!("pharos_lang=en; pharos_desk={token}; x")).as_ref(), Some(&token));
        assert_eq!(of(&format!("pharos_desk=; pharos_desk={token}")).as_ref(), Some(&token));
        assert_eq!((of("pharos_desk=short"), of(&format!("xpharos_desk={token}"))), (None, None));
    }

    proptest::proptest! {
        #[test]
        fn no_cookie_is_too_odd(line in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let line = [b"pharos_desk=".as_slice(), &line].concat();
            if let Ok(value) = axum::http::HeaderValue::from_bytes(&line) {
                let headers: HeaderMap = [(COOKIE, value)].into_iter().collect();
                let sessions = Sessions::new(IDLE);
                let found = token_of(&headers).and_then(|token| sessions.of(token, &[], "", Instant::now(), true));
                proptest::prop_assert!(found.is_none());
            }
        }
    }
}
