//! Parts of packages: manual pages, completions, and the health check.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::common::{Rig, Running, fail, pharos, succeed};
use pharos_testweb::{ServeOptions, WebSpec};

/// Returns the commands that `--help` lists.
fn commands() -> Vec<String> {
    let help = succeed(pharos().arg("--help"));
    let list = help.split("Options:\n").next().unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<String> = names.map(|line| line.split_whitespace().next().unwrap().to_string()).collect();
    assert!(names.len() > 20, "{names:?}");
    names.into_iter().filter(|name| name != "help").collect()
}

#[test]
fn completions_know_every_command() {
    // Pattern by which each shell's script names a command; # is the command.
    let shells = [
        ("bash", "pharos,#)"),
        ("zsh", "'#:"),
        ("fish", "-f -a \"#\""),
        ("elvish", "cand # '"),
        ("powershell", "'pharos;#'"),
    ];
    for (shell, written) in shells {
        let script = succeed(pharos().args(["completions", shell]));
        for command in commands() {
            assert!(script.contains(&written.replace('#', &command)), "{shell} does not know {command}");
        }
        assert!(script.contains("seeds-file"), "{shell} does not know flags");
    }
    assert_eq!(pharos().args(["completions", "tcsh"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("man/man1");
    assert_eq!(succeed(pharos().arg("man").arg(&to)), "");
    for command in commands() {
        assert!(to.join(format!("pharos-{command}.1")).is_file(), "{command}");
    }
    let first = std::fs::read_to_string(to.join("pharos.1")).unwrap();
    assert_eq!(succeed(pharos().arg("man")), first);
    let error = fail(pharos().arg("man").arg(to.join("pharos.1")));
    assert!(error.contains("cannot create"), "{error}");
}

#[test]
fn health_distinguishes_running_and_stopped_engines() {
    let rig =
        Rig::new(WebSpec { seed: 3, hosts: 1, pages: 5, ..WebSpec::default() }, ServeOptions::default());
    succeed(&mut rig.crawl("crawl"));
    let mut serve = Running::start(&mut rig.pharos(&["serve", "--listen", "127.0.0.1:0"]));
    let address = serve.address();
    succeed(pharos().env("PHAROS_WEB_LISTEN", &address).arg("health"));
    succeed(pharos().args(["health", &format!("http://{address}/readyz")]));

    let missing = pharos().args(["health", &format!("http://{address}/no/such/page")]).output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&missing.stderr).contains("404"),
        "{}",
        crate::common::describe(&missing)
    );
    serve.signal("TERM");
    serve.0.wait().unwrap();
    let gone = pharos().env("PHAROS_WEB_LISTEN", &address).args(["--json", "health"]).output().unwrap();
    assert_eq!(gone.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&gone.stdout).contains("\"healthy\": false"),
        "{}",
        crate::common::describe(&gone)
    );
    fail(pharos().args(["health", "127.0.0.1"]));
}

/// The first start of a service: no data, and no seeds.
#[test]
fn a_new_engine_waits_for_seeds() {
    let rig =
        Rig::new(WebSpec { seed: 4, hosts: 1, pages: 5, ..WebSpec::default() }, ServeOptions::default());
    let mut up =
        rig.pharos(&["up", "--allow-private", "--politeness", "own-site", "--listen", "127.0.0.1:0"]);
    for resolve in rig.server.resolve_args() {
        up.arg("--resolve").arg(resolve);
    }
    let mut up = Running::start(&mut up);
    let address = up.address();
    succeed(pharos().env("PHAROS_WEB_LISTEN", &address).arg("health"));
    succeed(rig.pharos(&["add"]).args(rig.server.seeds()));
    let deadline = Instant::now() + Duration::from_secs(60);
    while rig.pharos(&["search", "site:localhost OR the OR 的"]).output().unwrap().status.code() != Some(0) {
        assert!(Instant::now() < deadline, "added pages are not crawled");
        std::thread::sleep(Duration::from_millis(200));
    }
    up.signal("TERM");
    assert!(up.0.wait().unwrap().success());
    // A crawl that ends needs seeds.
    let error = fail(pharos().arg("--data").arg(rig.dir.path().join("new")).arg("crawl"));
    assert!(error.contains("nothing to crawl"), "{error}");
}

/// An open port is not yet a working engine.
#[test]
fn health_has_a_timeout() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let output = pharos().args(["health", &format!("http://{address}/")]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("no response within"),
        "{}",
        crate::common::describe(&output)
    );
}
