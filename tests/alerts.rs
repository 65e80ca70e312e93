//! Alerts of a running engine, delivered to a local webhook and a local mail server.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::common::browser::stays;
use crate::common::{Running, TestFolder, fail, until};

/// Messages received by a server of the test.
type Received = Arc<Mutex<Vec<String>>>;

/// Starts a server whose `talk` handles one connection at a time. Returns its port.
fn serve(talk: impl Fn(TcpStream) -> std::io::Result<()> + Send + 'static) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = talk(stream);
        }
    });
    port
}

/// A webhook that fails at first.
fn webhook() -> (u16, Received) {
    let received = Received::default();
    let bodies = Arc::clone(&received);
    let failures = Mutex::new(1);
    let port = serve(move |mut stream| {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        std::io::Read::read_exact(&mut reader, &mut body)?;
        let mut left = failures.lock().unwrap();
        let status = if *left > 0 { "503 Unavailable" } else { "200 OK" };
        if *left == 0 {
            bodies.lock().unwrap().push(String::from_utf8(body).unwrap());
        }
        *left = (*left - 1).max(0);
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    });
    (port, received)
}

/// A mail server without TLS that accepts every message.
fn mail_server() -> (u16, Received) {
    let received = Received::default();
    let mails = Arc::clone(&received);
    let port = serve(move |mut stream| {
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let mut mail = String::new();
        write!(stream, "220 test ready\r\n")?;
        while let Some(Ok(line)) = lines.next() {
            mail.push_str(&format!("{line}\n"));
            match line.split([' ', ':']).next().unwrap_or_default() {
                "EHLO" => write!(stream, "250-test\r\n250 8BITMIME\r\n")?,
                "DATA" => {
                    write!(stream, "354 go on\r\n")?;
                    for line in lines.by_ref().map_while(Result::ok).take_while(|line| line != ".") {
                        mail.push_str(&format!("{line}\n"));
                    }
                    mails.lock().unwrap().push(std::mem::take(&mut mail));
                    write!(stream, "250 accepted\r\n")?;
                }
                "QUIT" => return write!(stream, "221 bye\r\n"),
                _ => write!(stream, "250 ok\r\n")?,
            }
        }
        Ok(())
    });
    (port, received)
}

#[test]
fn an_alert_is_sent_once_to_webhook_and_mail() {
    let ((hook, posts), (smtp, mails)) = (webhook(), mail_server());
    let folder = TestFolder::new();
    let settings = |disk_free: &str, allow_private: bool| {
        format!(
            "[alerts]\nwebhook = \"http://127.0.0.1:{hook}/hook\"\nmail_to = [\"ada@example.org\", \"bob@example.org\"]\n\
             mail_from = \"pharos@example.org\"\nsmtp_server = \"127.0.0.1:{smtp}\"\nsmtp_security = \"none\"\n\
             allow_private = {allow_private}\ndisk_free = \"{disk_free}\"\nclear_after = \"1s\"\n"
        )
    };
    let stored = || {
        let text = fs::read(folder.path("data/ALERTS")).unwrap_or_default();
        serde_json::from_slice::<Value>(&text).unwrap_or_default()["disk-nearly-full"].clone()
    };
    // Without the permission, private endpoints are not contacted, and the desk can say so.
    folder.file("data/pharos.toml", settings("1000TB", false));
    let start = || Running::start(&mut folder.on("data", &["up", "--listen", "127.0.0.1:0"]));
    let mut engine = start();
    engine.address();
    until("the refusal is recorded", || stored()["undelivered"].to_string().contains("alerts.allow_private"));
    assert!(posts.lock().unwrap().is_empty() && mails.lock().unwrap().is_empty());
    engine.signal("TERM");
    assert!(engine.0.wait().unwrap().success());

    // After a restart with the permission it is delivered, although the webhook fails at first.
    folder.file("data/pharos.toml", settings("1000TB", true));
    let mut engine = start();
    engine.address();
    until("both have it", || posts.lock().unwrap().len() == 1 && mails.lock().unwrap().len() == 1);
    until("nothing is left to deliver", || stored()["undelivered"].is_null() && !stored().is_null());
    stays("it is sent once", || posts.lock().unwrap().len() == 1 && mails.lock().unwrap().len() == 1);
    let post: Value = serde_json::from_str(&posts.lock().unwrap()[0]).unwrap();
    assert_eq!(post["alert"], "disk-nearly-full");
    assert!(post["text"].as_str().unwrap().contains("disk is nearly full"), "{post}");
    let mail = mails.lock().unwrap()[0].clone();
    for line in ["MAIL FROM:<pharos@example.org>", "RCPT TO:<ada@example.org>", "RCPT TO:<bob@example.org>"] {
        assert!(mail.contains(line), "{mail}");
    }

    // It clears when its cause is gone, and may then be sent again.
    folder.file("data/pharos.toml", settings("1B", true));
    until("it has cleared", || stored().is_null());
    folder.file("data/pharos.toml", settings("1000TB", true));
    until("it is sent again", || posts.lock().unwrap().len() == 2 && mails.lock().unwrap().len() == 2);
}

#[test]
fn invalid_endpoints_are_refused_at_the_start() {
    let folder = TestFolder::new();
    for (line, key) in [
        ("webhook = \"ftp://example.org/\"", "alerts.webhook"),
        ("mail_to = [\"ada\"]", "alerts.mail_to"),
        ("mail_to = [\"ada@example.org\"]", "alerts.mail_from"),
        ("smtp_security = \"perhaps\"", "alerts.smtp_security"),
    ] {
        folder.file("data/pharos.toml", format!("[alerts]\n{line}\n"));
        let error = fail(&mut folder.on("data", &["up", "--listen", "127.0.0.1:0"]));
        assert!(error.contains(key), "{error}");
    }
}
