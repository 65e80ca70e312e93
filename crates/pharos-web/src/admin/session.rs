//! Sessions of logged-in operators: a random token in a cookie, of which the server stores only the digest.
//!
//! Sessions are held in memory, so a restart requires a new login. A session ends after a period without activity, after a
//! week at the latest, and with any change of its operator's account.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use parking_lot::{Mutex, MutexGuard};

use super::frame::Notice;
use super::operators::{Account, Role, find};
use super::permissions::Permission;
use super::secret::{digest_secret, random_token};
use super::settings::MAX_LIFETIME;

/// Name of the cookie. The prefix `__Host-` would require the path `/`, and then every search would send the cookie.
const COOKIE_NAME: &str = "pharos_desk";

/// Maximum number of sessions; the least recently used one is evicted.
const MAX_SESSIONS: usize = 1_000;

/// Digest of a session token.
pub(super) type SessionKey = [u8; 32];

/// A logged-in operator.
#[derive(Clone, Debug)]
pub(crate) struct Operator {
    pub(crate) name: String,
    role: Role,
    /// Token of the session's forms, against cross-site request forgery.
    pub(crate) csrf: String,
    /// Client address.
    pub(crate) from: String,
    pub(super) session: SessionKey,
}

impl Operator {
    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// Returns `true` if the operator may change anything.
    pub(crate) fn may_act(&self) -> bool {
        self.role.allows(Permission::Administer)
    }
}

struct Session {
    name: String,
    /// Digest of the account at login.
    account_digest: [u8; 32],
    csrf: String,
    since: Instant,
    seen: Instant,
    /// Shown once on the next page.
    notice: Option<Notice>,
}

/// The sessions of this process.
pub(super) struct DeskSessions {
    idle: Duration,
    sessions: Mutex<HashMap<SessionKey, Session>>,
}

impl DeskSessions {
    pub(super) fn new(idle: Duration) -> Self {
        Self { idle, sessions: Mutex::default() }
    }

    /// Starts a session and returns its token, which is stored nowhere else.
    pub(super) fn start(&self, account: &Account, now: Instant) -> io::Result<String> {
        let (token, csrf) = (random_token()?, random_token()?);
        let session = Session {
            name: account.name.clone(),
            account_digest: account.digest(),
            csrf,
            since: now,
            seen: now,
            notice: None,
        };
        let mut sessions = self.lock();
        sessions.retain(|_, session| self.is_valid(session, now));
        while sessions.len() >= MAX_SESSIONS {
            let Some(oldest) = sessions.iter().min_by_key(|(_, session)| session.seen).map(|(key, _)| *key)
            else {
                break;
            };
            sessions.remove(&oldest);
        }
        sessions.insert(digest_secret(&token), session);
        Ok(token)
    }

    /// Returns the operator of a session, if it is valid and the account unchanged since login.
    /// Requests of scripts (`is_interactive` is false) do not extend the session.
    pub(super) fn authenticate(
        &self,
        token: &str,
        accounts: &[Account],
        from: &str,
        now: Instant,
        is_interactive: bool,
    ) -> Option<Operator> {
        let key = digest_secret(token);
        let mut sessions = self.lock();
        let session = sessions.get_mut(&key)?;
        let account =
            find(accounts, &session.name).filter(|account| account.digest() == session.account_digest);
        let Some(account) = account.filter(|_| self.is_valid(session, now)) else {
            sessions.remove(&key);
            return None;
        };
        if is_interactive {
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
    pub(super) fn end(&self, key: &SessionKey) {
        self.lock().remove(key);
    }

    /// Ends the session of a token.
    pub(super) fn end_token(&self, token: &str) {
        self.end(&digest_secret(token));
    }

    /// Stores a notice for the next page.
    pub(super) fn set_notice(&self, key: &SessionKey, notice: Notice) {
        if let Some(session) = self.lock().get_mut(key) {
            session.notice = Some(notice);
        }
    }

    /// Takes the stored notice.
    pub(super) fn take_notice(&self, key: &SessionKey) -> Option<Notice> {
        self.lock().get_mut(key)?.notice.take()
    }

    fn is_valid(&self, session: &Session, now: Instant) -> bool {
        now.saturating_duration_since(session.seen) < self.idle
            && now.saturating_duration_since(session.since) < MAX_LIFETIME
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionKey, Session>> {
        self.sessions.lock()
    }
}

/// Returns the `Set-Cookie` value for a token.
pub(super) fn cookie(token: &str, is_secure: bool) -> String {
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{COOKIE_NAME}={token}; Path=/admin; HttpOnly; SameSite=Strict{secure}")
}

/// Returns the `Set-Cookie` value that deletes the cookie.
pub(super) fn delete_cookie(is_secure: bool) -> String {
    format!("{}; Max-Age=0", cookie("", is_secure))
}

/// Returns the token in the cookies of a request.
pub(super) fn session_token(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let cookies = lines.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    let mut tokens = cookies.filter(|(name, _)| *name == COOKIE_NAME).map(|(_, token)| token);
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
    fn a_session_ends_when_idle_and_after_a_week() {
        let (sessions, start) = (DeskSessions::new(IDLE), Instant::now());
        let all = [account("Keeper", Role::Admin)];
        let token = sessions.start(&all[0], start).unwrap();
        let is_open = |at: Duration| sessions.authenticate(&token, &all, "", start + at, true).is_some();
        assert!(is_open(IDLE / 2) && is_open(IDLE), "used in between");
        let mut at = IDLE;
        while at + IDLE / 2 < MAX_LIFETIME {
            at += IDLE / 2;
            assert!(is_open(at));
        }
        assert!(!is_open(MAX_LIFETIME), "maximum lifetime");
        let token = sessions.start(&all[0], start).unwrap();
        assert!(sessions.authenticate(&token, &all, "", start + IDLE / 2, false).is_some());
        assert!(
            sessions.authenticate(&token, &all, "", start + IDLE, true).is_none(),
            "requests of scripts do not extend it"
        );
        assert!(
            sessions.authenticate(&token, &all, "", start, true).is_none(),
            "an ended session stays ended"
        );
    }

    #[test]
    fn a_session_ends_with_any_change_of_its_operator() {
        let (sessions, now) = (DeskSessions::new(IDLE), Instant::now());
        let all = [account("Keeper", Role::Admin)];
        let changed = [
            vec![],
            vec![account("Keeper", Role::Analyst)],
            vec![account("Other", Role::Admin)],
            vec![Account { password: "another".into(), ..account("Keeper", Role::Admin) }],
        ];
        for others in changed {
            let token = sessions.start(&all[0], now).unwrap();
            assert!(
                sessions
                    .authenticate(&token, &all, "::1", now, true)
                    .is_some_and(|who| who.may_act() && who.from == "::1")
            );
            assert!(sessions.authenticate(&token, &others, "::1", now, true).is_none(), "{others:?}");
            assert!(sessions.authenticate(&token, &all, "::1", now, true).is_none());
        }
    }

    #[test]
    fn the_least_recently_used_session_is_evicted() {
        let (sessions, now) = (DeskSessions::new(IDLE), Instant::now());
        let all = [account("Keeper", Role::Admin)];
        let tokens: Vec<_> = (0..=MAX_SESSIONS)
            .map(|n| sessions.start(&all[0], now + Duration::from_millis(n as u64)).unwrap())
            .collect();
        let now = now + Duration::from_secs(2);
        assert!(sessions.authenticate(&tokens[0], &all, "", now, true).is_none());
        assert!(
            sessions.authenticate(&tokens[1], &all, "", now, true).is_some()
                && sessions.authenticate(&tokens[MAX_SESSIONS], &all, "", now, true).is_some()
        );
        assert_eq!(sessions.lock().len(), MAX_SESSIONS);
    }

    #[test]
    fn a_notice_is_shown_once() {
        let (sessions, now) = (DeskSessions::new(IDLE), Instant::now());
        let all = [account("Keeper", Role::Admin)];
        let token = sessions.start(&all[0], now).unwrap();
        let key = sessions.authenticate(&token, &all, "", now, true).unwrap().session;
        sessions.set_notice(&key, Notice::success("done"));
        assert_eq!(sessions.take_notice(&key).map(|notice| notice.text), Some("done".into()));
        assert!(sessions.take_notice(&key).is_none());
        sessions.end_token(&token);
        assert!(sessions.authenticate(&token, &all, "", now, true).is_none());
    }

    #[test]
    fn the_cookie_is_restricted_to_the_desk() {
        assert_eq!(cookie("t", false), "pharos_desk=t; Path=/admin; HttpOnly; SameSite=Strict");
        assert!(cookie("t", true).ends_with("; Secure") && delete_cookie(false).ends_with("; Max-Age=0"));
        let of = |line: &str| {
            let headers: HeaderMap = [(COOKIE, line.parse().unwrap())].into_iter().collect();
            session_token(&headers).map(ToString::to_string)
        };
        let token = "a".repeat(64);
        assert_eq!(of(&format!("pharos_lang=en; pharos_desk={token}; x")).as_ref(), Some(&token));
        assert_eq!(of(&format!("pharos_desk=; pharos_desk={token}")).as_ref(), Some(&token));
        assert_eq!((of("pharos_desk=short"), of(&format!("xpharos_desk={token}"))), (None, None));
    }

    proptest::proptest! {
        #[test]
        fn any_cookie_is_handled(line in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let line = [b"pharos_desk=".as_slice(), &line].concat();
            if let Ok(value) = axum::http::HeaderValue::from_bytes(&line) {
                let headers: HeaderMap = [(COOKIE, value)].into_iter().collect();
                let sessions = DeskSessions::new(IDLE);
                let found = session_token(&headers).and_then(|token| sessions.authenticate(token, &[], "", Instant::now(), true));
                proptest::prop_assert!(found.is_none());
            }
        }
    }
}
