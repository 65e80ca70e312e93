//! Reads documents in a child process with limits on memory, processor time and files.
//!
//! The readers of PDF and Office files are large third-party parsers, whose memory and work cannot be bounded from
//! outside. A program that reads untrusted files calls [`read_documents_in`] with itself as the reader program and, at
//! its start, [`run_if_requested`]:
//!
//! ```text
//! parent   formats::read ──▶ spawn PROGRAM --read-document pdf ──▶ body on stdin
//! child    run_if_requested ──▶ limit_process ──▶ read ──▶ document as JSON on stdout
//! ```
//!
//! The child has nothing of the parent's environment and may not open files or sockets. It is killed when the work
//! budget of the waiting thread ends. Without a reader program, documents are read in the same process.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pharos_core::work::check_interruption;
use rustix::process::{Resource, Rlimit, setrlimit};

use super::media_type::MediaKind;
use super::{ExtractedDocument, MAX_TEXT, ReadFailure, read_in_process};

/// First argument of a reader process. The second one names the reader.
const ARGUMENT: &str = "--read-document";

/// Maximum memory of a reader process in bytes.
const MAX_MEMORY: u64 = 512 << 20;

/// Maximum processor time of a reader process in seconds.
const MAX_SECONDS: u64 = 20;

/// Maximum length of the document as JSON. A control character takes six bytes.
const MAX_OUTPUT: u64 = 6 * MAX_TEXT as u64 + (1 << 20);

/// Time between two looks at the work budget of the waiting thread.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Reads documents in child processes from now on. `program` must call [`run_if_requested`] at its start.
///
/// Only the first call has an effect.
pub fn read_documents_in(program: impl Into<PathBuf>) {
    let _ = PROGRAM.set(program.into());
}

/// Reads the document on standard input if the arguments of this process ask for it.
///
/// Returns the exit code of the process; `None` if it was started for another purpose.
pub fn run_if_requested(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    arguments.nth(1).filter(|argument| argument == ARGUMENT)?;
    let kind = arguments.next().and_then(|name| ISOLATED.into_iter().find(|kind| *name == *name_of(*kind)));
    let is_done = kind.is_some_and(|kind| run(kind).is_ok());
    Some(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the reader program for this kind of document.
pub(super) fn program_for(kind: MediaKind) -> Option<&'static Path> {
    PROGRAM.get().filter(|_| ISOLATED.contains(&kind)).map(PathBuf::as_path)
}

/// Kinds of documents whose readers are third-party parsers.
const ISOLATED: [MediaKind; 2] = [MediaKind::Pdf, MediaKind::Office];

fn name_of(kind: MediaKind) -> String {
    format!("{kind:?}").to_lowercase()
}

fn run(kind: MediaKind) -> io::Result<()> {
    limit_process()?;
    let mut body = Vec::new();
    io::stdin().lock().read_to_end(&mut body)?;
    let document = read_in_process(kind, &body, None, "");
    serde_json::to_writer(io::stdout().lock(), &document)?;
    io::stdout().flush()
}

/// Limits what this process can consume. Files that are open already, the three standard streams, stay usable.
fn limit_process() -> io::Result<()> {
    let limits = [
        (Resource::Data, MAX_MEMORY),
        (Resource::Cpu, MAX_SECONDS),
        (Resource::Nofile, 3),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
    ];
    for (resource, limit) in limits {
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
    }
    Ok(())
}

/// Reads a document in a child process.
///
/// Unwinds like [`spend_work`](pharos_core::work::spend_work) if the work budget of this thread ends meanwhile.
pub(super) fn read_in_child(
    program: &Path,
    kind: MediaKind,
    body: &[u8],
) -> Result<ExtractedDocument, ReadFailure> {
    let failed = |_: io::Error| ReadFailure::NoReader;
    let mut command = Command::new(program);
    command.args([ARGUMENT, &name_of(kind)]).env_clear().current_dir("/");
    // mimalloc would reserve more memory than the limit allows before it needs it.
    command.env("MIMALLOC_ARENA_EAGER_COMMIT", "0");
    // Ctrl-C in a terminal must not end the child before the parent decides what happens to the page.
    command.process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    let pipes = child.stdin.take().zip(child.stdout.take());
    thread::scope(|scope| {
        // Dropped, and the child killed, before the scope waits for the other thread.
        let mut child = KilledOnDrop(child);
        let (stdin, stdout) = pipes.ok_or(ReadFailure::NoReader)?;
        let (sender, receiver) = mpsc::channel();
        scope.spawn(move || sender.send(exchange(stdin, stdout, body)));
        let output = loop {
            match receiver.recv_timeout(CHECK_INTERVAL) {
                Ok(output) => break output.map_err(failed)?,
                Err(RecvTimeoutError::Timeout) => check_interruption(),
                Err(RecvTimeoutError::Disconnected) => return Err(ReadFailure::NoReader),
            }
        };
        // A reader that is killed by a signal has exceeded a limit.
        match child.0.wait().map_err(failed)?.code() {
            Some(0) => serde_json::from_slice(&output).unwrap_or(Err(ReadFailure::LimitExceeded)),
            Some(_) => Err(ReadFailure::NoReader),
            None => Err(ReadFailure::LimitExceeded),
        }
    })
}

/// Sends the body to the child and returns its output.
fn exchange(mut stdin: ChildStdin, stdout: ChildStdout, body: &[u8]) -> io::Result<Vec<u8>> {
    // A child that ended early does not read everything. Its exit status shows why.
    let _ = stdin.write_all(body);
    drop(stdin);
    let mut output = Vec::new();
    stdout.take(MAX_OUTPUT).read_to_end(&mut output)?;
    Ok(output)
}

struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use pharos_core::work::{WorkBudget, WorkExceeded};
    use tempfile::TempDir;

    use super::*;

    fn script(dir: &TempDir, commands: &str) -> PathBuf {
        let path = dir.path().join("reader");
        fs::write(&path, format!("#!/bin/sh\n{commands}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn the_output_of_a_reader_is_not_trusted() {
        let dir = TempDir::new().unwrap();
        let document = ExtractedDocument { title: "灯塔".into(), ..ExtractedDocument::default() };
        let good = serde_json::to_string(&Ok::<_, ReadFailure>(&document)).unwrap();
        let cases = [
            (format!("cat > /dev/null; echo '{good}'"), Ok(document)),
            ("cat > /dev/null; echo rubbish".into(), Err(ReadFailure::LimitExceeded)),
            ("kill -9 $$".into(), Err(ReadFailure::LimitExceeded)),
            ("exit 1".into(), Err(ReadFailure::NoReader)),
        ];
        // Longer than a pipe holds, so that a child which reads nothing is noticed.
        let body = vec![b'x'; 1 << 20];
        for (commands, expected) in cases {
            let read = read_in_child(&script(&dir, &commands), MediaKind::Pdf, &body);
            assert_eq!(read, expected, "{commands}");
        }
        let missing = read_in_child(Path::new("/does/not/exist"), MediaKind::Pdf, &body);
        assert_eq!(missing, Err(ReadFailure::NoReader));
    }

    #[test]
    fn a_reader_ends_with_the_budget_of_its_page() {
        let dir = TempDir::new().unwrap();
        let alive = dir.path().join("alive");
        let program = script(&dir, &format!("echo $$ > {}; exec sleep 1000", alive.display()));
        let read = || read_in_child(&program, MediaKind::Pdf, b"");
        let budget = WorkBudget::new(1);
        assert_eq!(budget.clone().with_time(Duration::from_secs(1)).run(read), Err(WorkExceeded::Time));
        let pid = fs::read_to_string(&alive).unwrap();
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "the reader is killed");
        let cancelled = Arc::new(AtomicBool::new(true));
        assert_eq!(budget.with_cancellation(cancelled).run(read), Err(WorkExceeded::Cancelled));
    }
}
