//! Sends one mail to a mail server (RFC 5321, RFC 3207, RFC 4954).

use std::time::Duration;

use data_encoding::BASE64;
use pharos_core::config::SmtpSecurity;
use pharos_crawl::fetch::outgoing::{Outgoing, OutgoingStream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

/// Time allowed for a whole conversation.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of one reply of the server.
const MAX_REPLY: usize = 8 << 10;

/// A mail server with its credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SmtpServer {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) security: SmtpSecurity,
    /// User name and password.
    pub(super) login: Option<(String, String)>,
}

/// A mail with its envelope.
pub(super) struct Envelope<'a> {
    pub(super) from: &'a str,
    pub(super) to: &'a [String],
    pub(super) message: &'a str,
}

/// Sends a mail. Returns an error message if the server does not accept it.
pub(super) async fn send_mail(
    outgoing: &Outgoing,
    server: &SmtpServer,
    mail: &Envelope<'_>,
) -> Result<(), String> {
    let late = format!("the mail server did not finish within {} s", TIMEOUT.as_secs());
    timeout(TIMEOUT, converse(outgoing, server, mail)).await.unwrap_or(Err(late))
}

async fn converse(outgoing: &Outgoing, server: &SmtpServer, mail: &Envelope<'_>) -> Result<(), String> {
    let text = |error: pharos_crawl::FetchError| super::delivery::explain(&error);
    let stream = outgoing.open(&server.host, server.port).await.map_err(text)?;
    let mut session = match server.security {
        SmtpSecurity::Tls => {
            let stream = outgoing.start_tls(stream, &server.host).await.map_err(text)?;
            let mut session = SmtpSession::new(stream);
            session.expect(&[220], "greeting").await?;
            session
        }
        SmtpSecurity::Plain => {
            let stream: Box<dyn OutgoingStream> = Box::new(stream);
            let mut session = SmtpSession::new(stream);
            session.expect(&[220], "greeting").await?;
            session
        }
        SmtpSecurity::StartTls => {
            let mut plain = SmtpSession::new(stream);
            plain.expect(&[220], "greeting").await?;
            plain.command("EHLO pharos", &[250]).await?;
            plain.command("STARTTLS", &[220]).await?;
            // Bytes sent before the handshake would not be protected (RFC 3207 §6).
            let stream = plain.into_stream().ok_or("the mail server sent data before TLS")?;
            SmtpSession::new(outgoing.start_tls(stream, &server.host).await.map_err(text)?)
        }
    };
    session.command("EHLO pharos", &[250]).await?;
    if let Some((user, password)) = &server.login {
        if server.security == SmtpSecurity::Plain {
            return Err("a password is sent over encrypted connections only: set alerts.smtp_security".into());
        }
        let secret = BASE64.encode(format!("\0{user}\0{password}").as_bytes());
        session.send(&format!("AUTH PLAIN {secret}\r\n")).await?;
        session.expect(&[235], "AUTH").await?;
    }
    session.command(&format!("MAIL FROM:<{}>", mail.from), &[250]).await?;
    for to in mail.to {
        session.command(&format!("RCPT TO:<{to}>"), &[250, 251]).await?;
    }
    session.command("DATA", &[354]).await?;
    session.send(&format!("{}.\r\n", stuff_dots(mail.message))).await?;
    session.expect(&[250], "message").await?;
    // The mail is accepted, whatever comes now.
    let _ = session.command("QUIT", &[221]).await;
    Ok(())
}

/// Doubles the dot at the start of a line, which would otherwise end the message (RFC 5321 §4.5.2).
fn stuff_dots(message: &str) -> String {
    let lines = message.split_inclusive("\r\n");
    lines.map(|line| if line.starts_with('.') { format!(".{line}") } else { line.to_string() }).collect()
}

/// A conversation with a mail server.
struct SmtpSession<S> {
    stream: S,
    buffer: Vec<u8>,
}

impl<S: OutgoingStream> SmtpSession<S> {
    fn new(stream: S) -> Self {
        Self { stream, buffer: Vec::new() }
    }

    /// Returns the stream, unless bytes of it are buffered.
    fn into_stream(self) -> Option<S> {
        self.buffer.is_empty().then_some(self.stream)
    }

    async fn send(&mut self, text: &str) -> Result<(), String> {
        let sent = self.stream.write_all(text.as_bytes()).await;
        sent.map_err(|error| format!("the connection to the mail server failed: {error}"))?;
        self.stream
            .flush()
            .await
            .map_err(|error| format!("the connection to the mail server failed: {error}"))
    }

    async fn command(&mut self, command: &str, expected: &[u16]) -> Result<(), String> {
        self.send(&format!("{command}\r\n")).await?;
        self.expect(expected, command.split([' ', ':']).next().unwrap_or_default()).await
    }

    /// Reads a reply and checks its code.
    async fn expect(&mut self, expected: &[u16], what: &str) -> Result<(), String> {
        let reply = self.read_reply().await?;
        let code = reply.get(..3).and_then(|code| code.parse().ok()).unwrap_or(0);
        if expected.contains(&code) {
            return Ok(());
        }
        let line: String = reply.lines().next_back().unwrap_or_default().chars().take(200).collect();
        Err(format!("the mail server refused {what}: {line}"))
    }

    /// Reads a reply of one or more lines; the last has a space after its code.
    async fn read_reply(&mut self) -> Result<String, String> {
        loop {
            if let Some(end) = reply_end(&self.buffer) {
                let rest = self.buffer.split_off(end);
                let reply = std::mem::replace(&mut self.buffer, rest);
                return Ok(String::from_utf8_lossy(&reply).trim_end().to_string());
            }
            if self.buffer.len() > MAX_REPLY {
                return Err("the mail server sent a reply that is too long".into());
            }
            let mut bytes = [0; 1024];
            match self.stream.read(&mut bytes).await {
                Ok(0) => return Err("the mail server closed the connection".into()),
                Ok(read) => self.buffer.extend_from_slice(&bytes[..read]),
                Err(error) => return Err(format!("the connection to the mail server failed: {error}")),
            }
        }
    }
}

/// Returns the end of the first complete reply.
fn reply_end(bytes: &[u8]) -> Option<usize> {
    let mut start = 0;
    loop {
        let length = bytes[start..].iter().position(|byte| *byte == b'\n')? + 1;
        let is_last = bytes.get(start + 3) != Some(&b'-');
        start += length;
        if is_last {
            return Some(start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_end_with_their_last_line() {
        assert_eq!(reply_end(b"250 ok\r\n"), Some(8));
        assert_eq!(reply_end(b"250-a\r\n250 b\r\nrest"), Some(14));
        assert_eq!(reply_end(b"250-a\r\n250 b"), None);
        assert_eq!((reply_end(b""), reply_end(b"\n"), reply_end(b"25\n")), (None, Some(1), Some(3)));
    }

    #[test]
    fn dots_do_not_end_the_message() {
        assert_eq!(stuff_dots("a\r\n.\r\n..b\r\n"), "a\r\n..\r\n...b\r\n");
    }

    #[tokio::test]
    async fn replies_are_bounded_and_refusals_are_quoted() {
        let (mut server, client) = tokio::io::duplex(64 << 10);
        let mut session = SmtpSession::new(client);
        server.write_all(b"550-no\r\n550 not here\r\n").await.unwrap();
        let error = session.command("RCPT TO:<a@b>", &[250]).await.unwrap_err();
        assert_eq!(error, "the mail server refused RCPT: 550 not here");
        server.write_all(&vec![b'x'; 9 << 10]).await.unwrap();
        assert!(session.expect(&[250], "x").await.unwrap_err().contains("too long"));
        drop(server);
        let mut closed = SmtpSession::new(tokio::io::duplex(64).1);
        assert!(closed.expect(&[220], "greeting").await.unwrap_err().contains("closed"));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..100)) {
            let end = reply_end(&bytes);
            proptest::prop_assert!(end.is_none_or(|end| end <= bytes.len()));
        }
    }
}
