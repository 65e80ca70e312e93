//! Delivery of alerts to a webhook and by mail: a bounded queue, and retries with back-off.

use std::collections::VecDeque;
use std::time::Duration;

use pharos_core::config::{AlertsConfig, Config};
use pharos_core::{BackOff, Timestamp};
use pharos_crawl::FetchError;
use pharos_crawl::fetch::outgoing::Outgoing;
use serde_json::json;
use tracing::{info, warn};

use super::mail::{format_message, is_address};
use super::smtp::{Envelope, SmtpServer, send_mail};
use super::{Alert, AlertKind};
use crate::EngineError;

/// Maximum number of messages waiting; the oldest is dropped.
const MAX_WAITING: usize = 64;
/// Delay before the second attempt, the law by which it grows, and the number of attempts.
const RETRY: Duration = Duration::from_secs(5);
const RETRY_LAW: BackOff = BackOff { factor: 3, longest: Duration::from_secs(3600) };
const MAX_ATTEMPTS: u32 = 12;

/// An endpoint of alerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Endpoint {
    Webhook,
    Mail,
}

impl Endpoint {
    fn name(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Mail => "mail",
        }
    }
}

/// Returns the names of the configured endpoints.
pub(super) fn endpoint_names(config: &AlertsConfig) -> impl Iterator<Item = &'static str> {
    configured(config).map(Endpoint::name)
}

fn configured(config: &AlertsConfig) -> impl Iterator<Item = Endpoint> + use<> {
    let endpoints =
        [(Endpoint::Webhook, !config.webhook.is_empty()), (Endpoint::Mail, !config.mail_to.is_empty())];
    endpoints.into_iter().filter(|(_, is_configured)| *is_configured).map(|(endpoint, _)| endpoint)
}

/// A message that was not accepted yet.
#[derive(Clone, Debug)]
struct Message {
    endpoint: Endpoint,
    alert: Alert,
    attempts: u32,
    next_try: Timestamp,
}

/// Messages waiting for their endpoints.
#[derive(Default)]
pub(super) struct DeliveryQueue(VecDeque<Message>);

/// The last error of an alert at one endpoint, or `None` once it was accepted.
pub(super) struct DeliveryOutcome {
    pub(super) kind: AlertKind,
    pub(super) since: Timestamp,
    pub(super) endpoint: &'static str,
    pub(super) error: Option<String>,
}

/// Checks the settings of the endpoints.
pub fn check_endpoints(config: &Config) -> Result<(), EngineError> {
    let alerts = &config.alerts;
    let wrong = |reason: String| Err(EngineError::Settings(reason));
    let is_web = ["http://", "https://"].iter().any(|scheme| alerts.webhook.starts_with(scheme));
    if !alerts.webhook.is_empty() && (!is_web || alerts.webhook.contains(char::is_whitespace)) {
        return wrong("`alerts.webhook` must be a URL that begins with http:// or https://".into());
    }
    if alerts.mail_to.is_empty() {
        return Ok(());
    }
    if let Some(bad) = alerts.mail_to.iter().find(|address| !is_address(address)) {
        return wrong(format!("`alerts.mail_to`: `{bad}` is not a mail address"));
    }
    if !is_address(&alerts.mail_from) {
        return wrong(format!("`alerts.mail_from` must be a mail address, not `{}`", alerts.mail_from));
    }
    match smtp_server(alerts) {
        Some(server)
            if server.login.is_some() && server.security == pharos_core::config::SmtpSecurity::Plain =>
        {
            wrong(
                "`alerts.smtp_password` is sent over encrypted connections only: set `alerts.smtp_security`"
                    .into(),
            )
        }
        Some(_) => Ok(()),
        None => {
            wrong(format!("`alerts.smtp_server` must have the form HOST:PORT, not `{}`", alerts.smtp_server))
        }
    }
}

fn smtp_server(alerts: &AlertsConfig) -> Option<SmtpServer> {
    let (host, port) = alerts.smtp_server.rsplit_once(':')?;
    let is_host = !host.is_empty() && !host.contains(char::is_whitespace) && !host.contains('/');
    let login =
        (!alerts.smtp_user.is_empty()).then(|| (alerts.smtp_user.clone(), alerts.smtp_password.clone()));
    let port = port.parse().ok().filter(|port| *port > 0 && is_host)?;
    Some(SmtpServer { host: host.to_string(), port, security: alerts.smtp_security, login })
}

/// Describes an error of a connection. Private addresses have a setting of their own here.
pub(super) fn explain(error: &FetchError) -> String {
    match error {
        FetchError::PrivateAddress(address) => {
            format!("private address {address} (allow with alerts.allow_private)")
        }
        other => other.to_string(),
    }
}

impl DeliveryQueue {
    /// Enqueues an alert for every configured endpoint.
    pub(super) fn enqueue(&mut self, alert: &Alert, config: &AlertsConfig, now: Timestamp) {
        for endpoint in configured(config) {
            if self.0.len() >= MAX_WAITING {
                self.0.pop_front();
            }
            self.0.push_back(Message { endpoint, alert: alert.clone(), attempts: 0, next_try: now });
        }
    }

    /// Tries to deliver the messages that are due. Returns the outcome of each attempt.
    pub(super) async fn deliver(&mut self, config: &Config, now: Timestamp) -> Vec<DeliveryOutcome> {
        let mut outcomes = Vec::new();
        for _ in 0..self.0.len() {
            let Some(mut message) = self.0.pop_front() else { break };
            if message.next_try > now {
                self.0.push_back(message);
                continue;
            }
            let sent = send(message.endpoint, &MessageText::from(&message.alert), config).await;
            let (kind, since) = (message.alert.kind, message.alert.since);
            let endpoint = message.endpoint.name();
            outcomes.push(DeliveryOutcome { kind, since, endpoint, error: sent.as_ref().err().cloned() });
            match sent {
                Ok(()) => info!(alert = kind.name(), endpoint = ?message.endpoint, "alert sent"),
                Err(error) => {
                    message.attempts += 1;
                    message.next_try = now.plus(RETRY_LAW.wait(RETRY, message.attempts));
                    let is_last = message.attempts >= MAX_ATTEMPTS;
                    warn!(alert = kind.name(), endpoint = ?message.endpoint, error, is_last, "alert not sent");
                    if !is_last {
                        self.0.push_back(message);
                    }
                }
            }
        }
        outcomes
    }
}

/// The content of a message.
struct MessageText<'a> {
    /// Name of the kind of alert.
    name: &'static str,
    value: &'a str,
    text: String,
    since: Timestamp,
}

impl<'a> From<&'a Alert> for MessageText<'a> {
    fn from(alert: &'a Alert) -> Self {
        let text = alert.kind.describe(&alert.value);
        Self { name: alert.kind.name(), value: &alert.value, text, since: alert.since }
    }
}

/// Sends a test message to every configured endpoint, once. Returns the error of each endpoint, or `None` if it accepted
/// the message.
pub async fn send_test_message(config: &Config, now: Timestamp) -> Vec<(&'static str, Option<String>)> {
    let message = MessageText {
        name: "test",
        value: "",
        text: "this is a test message: alerts of this installation arrive here".into(),
        since: now,
    };
    let mut outcomes = Vec::new();
    for endpoint in configured(&config.alerts) {
        outcomes.push((endpoint.name(), send(endpoint, &message, config).await.err()));
    }
    outcomes
}

async fn send(endpoint: Endpoint, message: &MessageText<'_>, config: &Config) -> Result<(), String> {
    let alerts = &config.alerts;
    let outgoing = Outgoing::new(&config.crawl, alerts.allow_private).map_err(|error| error.to_string())?;
    match endpoint {
        Endpoint::Webhook => {
            let status = outgoing.post_json(&alerts.webhook, webhook_body(message)).await;
            match status.map_err(|error| explain(&error))? {
                200..=299 => Ok(()),
                status => Err(format!("status {status}")),
            }
        }
        Endpoint::Mail => {
            let server = smtp_server(alerts).ok_or("alerts.smtp_server must have the form HOST:PORT")?;
            let MessageText { text, since, .. } = message;
            let body = format!("{text}\n\nSince {since}. The desk shows all alerts: /admin/alerts\n");
            let (from, to) = (alerts.mail_from.as_str(), alerts.mail_to.as_slice());
            let mail = format_message(from, to, &format!("Pharos: {text}"), &body, *since);
            let envelope = Envelope { from, to, message: &mail };
            send_mail(&outgoing, &server, &envelope).await
        }
    }
}

fn webhook_body(message: &MessageText<'_>) -> Vec<u8> {
    let body = json!({
        "alert": message.name,
        "value": message.value,
        "text": format!("Pharos: {}", message.text),
        "since": message.since.to_string(),
    });
    body.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    fn alert() -> Alert {
        Alert {
            kind: AlertKind::DiskNearlyFull,
            value: "1MB".into(),
            since: Timestamp::from_millis(5),
            acknowledged_by: None,
            undelivered: Vec::new(),
        }
    }

    fn config(change: impl FnOnce(&mut AlertsConfig)) -> Config {
        let mut config = Config::default();
        config.alerts.allow_private = true;
        change(&mut config.alerts);
        config
    }

    #[test]
    fn endpoints_are_checked() {
        let error = |change: fn(&mut AlertsConfig)| check_endpoints(&config(change)).unwrap_err().to_string();
        assert!(check_endpoints(&Config::default()).is_ok());
        assert!(error(|alerts| alerts.webhook = "ftp://a".into()).contains("alerts.webhook"));
        assert!(error(|alerts| alerts.mail_to = vec!["ada".into()]).contains("`ada` is not"));
        assert!(error(|alerts| alerts.mail_to = vec!["a@b.c".into()]).contains("alerts.mail_from"));
        let with_server = |server: &str, security, user: &str| {
            let (server, user) = (server.to_string(), user.to_string());
            check_endpoints(&config(move |alerts| {
                alerts.mail_to = vec!["a@b.c".into()];
                alerts.mail_from = "p@b.c".into();
                (alerts.smtp_server, alerts.smtp_user, alerts.smtp_security) = (server, user, security);
            }))
        };
        use pharos_core::config::SmtpSecurity::{Plain, StartTls};
        for server in ["", "mail", "mail:0", "mail:smtp", ":25", "http://mail:25"] {
            assert!(with_server(server, StartTls, "").is_err(), "{server}");
        }
        assert!(with_server("mail.example.org:587", StartTls, "ada").is_ok());
        assert!(with_server("mail.example.org:25", Plain, "").is_ok());
        assert!(with_server("mail.example.org:25", Plain, "ada").is_err(), "a password in the clear");
    }

    #[tokio::test]
    async fn an_endpoint_that_is_down_is_tried_again_a_bounded_number_of_times() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let config = config(|alerts| alerts.webhook = format!("http://127.0.0.1:{port}/hook"));
        let mut queue = DeliveryQueue::default();
        let mut now = Timestamp::EPOCH;
        queue.enqueue(&alert(), &config.alerts, now);
        let mut attempts = 0;
        while !queue.0.is_empty() {
            attempts += queue.deliver(&config, now).await.len() as u32;
            assert_eq!(queue.deliver(&config, now).await.len(), 0, "not at once");
            now = now.plus(RETRY_LAW.longest);
        }
        assert_eq!(attempts, MAX_ATTEMPTS);
        for _ in 0..2 * MAX_WAITING {
            queue.enqueue(&alert(), &config.alerts, now);
        }
        assert_eq!(queue.0.len(), MAX_WAITING);
    }

    #[tokio::test]
    async fn private_endpoints_are_refused_by_default() {
        let mut config = config(|alerts| alerts.webhook = "http://127.0.0.1:9/".into());
        config.alerts.allow_private = false;
        config.crawl.allow_private = true;
        let mut queue = DeliveryQueue::default();
        queue.enqueue(&alert(), &config.alerts, Timestamp::EPOCH);
        let error = queue.deliver(&config, Timestamp::EPOCH).await.remove(0).error.unwrap();
        assert!(error.contains("alerts.allow_private"), "{error}");
    }

    #[tokio::test]
    async fn a_test_message_is_sent_once_to_each_endpoint() {
        assert_eq!(send_test_message(&Config::default(), Timestamp::EPOCH).await, []);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let config = config(|alerts| {
            alerts.webhook = format!("http://127.0.0.1:{port}/hook");
            (alerts.mail_to, alerts.mail_from) = (vec!["a@b.c".into()], "p@b.c".into());
            alerts.smtp_server = format!("127.0.0.1:{port}");
        });
        let outcomes = send_test_message(&config, Timestamp::EPOCH).await;
        assert_eq!(outcomes.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["webhook", "mail"]);
        assert!(outcomes.iter().all(|(_, error)| error.is_some()), "nothing listens: {outcomes:?}");
    }

    #[tokio::test]
    async fn a_webhook_gets_json_and_its_status_counts() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = tokio::spawn(async move {
            let mut requests = Vec::new();
            for status in ["500 Error", "204 No Content"] {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"}") {
                    let mut bytes = [0; 1024];
                    let read = stream.read(&mut bytes).await.unwrap();
                    request.extend_from_slice(&bytes[..read]);
                }
                let reply = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                stream.write_all(reply.as_bytes()).await.unwrap();
                requests.push(String::from_utf8(request).unwrap());
            }
            requests
        });
        let config = config(|alerts| alerts.webhook = format!("http://127.0.0.1:{port}/hook"));
        let mut queue = DeliveryQueue::default();
        queue.enqueue(&alert(), &config.alerts, Timestamp::EPOCH);
        let refused = queue.deliver(&config, Timestamp::EPOCH).await;
        assert_eq!(refused[0].error.as_deref(), Some("status 500"));
        let sent = queue.deliver(&config, Timestamp::EPOCH.plus(RETRY)).await;
        assert_eq!((sent[0].error.as_deref(), queue.0.len()), (None, 0));
        let request = server.await.unwrap().remove(1);
        assert!(request.starts_with("POST /hook HTTP/1.1\r\n"), "{request}");
        assert!(
            request.contains("\"alert\":\"disk-nearly-full\"") && request.contains("1MB free"),
            "{request}"
        );
    }
}
