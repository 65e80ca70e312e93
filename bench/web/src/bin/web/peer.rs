//! nginx with one file: the cost of HTTP without a search.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use bench_web::Outcome;
use tempfile::TempDir;

/// Debian installs it in a directory of root's PATH.
const PLACES: [&str; 3] = ["nginx", "/usr/sbin/nginx", "/usr/local/sbin/nginx"];

pub struct Nginx {
    pub address: SocketAddr,
    child: Child,
    _dir: TempDir,
}

impl Nginx {
    /// Serves `body` under `/page`. Returns `None` if nginx is not installed.
    pub fn start(body: &[u8], connections: usize) -> Outcome<Option<Self>> {
        let runs = |place: &&&str| Command::new(place).arg("-v").stderr(Stdio::null()).status().is_ok();
        let Some(program) = PLACES.iter().find(runs) else { return Ok(None) };
        let dir = tempfile::tempdir()?;
        fs::write(dir.path().join("page"), body)?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let configuration = dir.path().join("nginx.conf");
        fs::write(&configuration, Self::configuration(dir.path().to_path_buf(), port, connections))?;
        let mut command = Command::new(program);
        command
            .arg("-p")
            .arg(dir.path())
            .arg("-c")
            .arg(&configuration)
            .arg("-e")
            .arg(dir.path().join("errors"));
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let nginx = Self { address: (Ipv4Addr::LOCALHOST, port).into(), child, _dir: dir };
        for _ in 0..100 {
            if TcpStream::connect(nginx.address).is_ok() {
                return Ok(Some(nginx));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err("nginx does not answer".into())
    }

    fn configuration(dir: PathBuf, port: u16, connections: usize) -> String {
        let dir = dir.display();
        // As root, its workers would read the file as an unprivileged user.
        let user = if rustix::process::getuid().is_root() { "user root root;" } else { "" };
        let most = connections + 100;
        format!(
            "{user} worker_processes 2; worker_rlimit_nofile {most}; daemon off; pid {dir}/pid; error_log {dir}/errors;
             events {{ worker_connections {most}; }}
             http {{
                 access_log off; keepalive_requests 1000000000; default_type text/html;
                 client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/fastcgi;
                 uwsgi_temp_path {dir}/uwsgi; scgi_temp_path {dir}/scgi;
                 server {{ listen 127.0.0.1:{port} backlog=4096; root {dir}; }}
             }}\n"
        )
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Its workers exit with it only on SIGQUIT.
        let _ = Command::new("kill").arg("-QUIT").arg(self.child.id().to_string()).status();
        for _ in 0..40 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let _ = Command::new("kill").arg("-TERM").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}
