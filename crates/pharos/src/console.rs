//! Console output: messages and progress on stderr, results on stdout.

use std::io::{self, IsTerminal as _, Write};
use std::sync::LazyLock;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde::Serialize;
use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

/// All progress lines, which messages must not overwrite.
static PROGRESS_LINES: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Interval between two frames of a spinner.
const TICK_INTERVAL: Duration = Duration::from_millis(200);

/// Initialises logging to stderr, by default from level warning; `PHAROS_LOG` overrides the filter.
pub(crate) fn init(quiet: bool, verbose: u8) {
    if quiet {
        PROGRESS_LINES.set_draw_target(indicatif::ProgressDrawTarget::hidden());
    }
    let level = match (quiet, verbose) {
        (true, _) => "error",
        // Individual fetch failures are logged with -v; the summary counts them.
        (_, 0) => "warn,pharos_crawl=error",
        (_, 1) => "pharos=info,info",
        _ => "pharos=debug,pharos_crawl=debug,pharos_engine=debug,info",
    };
    let filter = EnvFilter::try_from_env("PHAROS_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .without_time()
        .with_ansi(io::stderr().is_terminal())
        .with_writer(|| StderrWriter)
        .init();
}

/// Writes to stderr without disturbing progress lines.
struct StderrWriter;

impl Write for StderrWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        PROGRESS_LINES.suspend(|| io::stderr().write_all(bytes)).map(|()| bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Prints a line of the result. Unlike `println!`, a closed pipe is an error, not a panic.
macro_rules! out {
    ($($text:tt)*) => { ::std::io::Write::write_fmt(&mut ::std::io::stdout().lock(), format_args!("{}\n", format_args!($($text)*)))? };
}
pub(crate) use out;

/// Prints a message that is not part of the result.
pub(crate) fn print_message(quiet: bool, message: &str) {
    if !quiet {
        let _ = writeln!(StderrWriter, "{message}");
    }
}

/// Prints an error with its causes on one line.
pub(crate) fn error(error: &anyhow::Error) {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        // Many messages already contain their cause.
        if !line.contains(&cause) {
            line.push_str(if line.is_empty() { "" } else { ": " });
            line.push_str(&cause);
        }
    }
    print_error(&line.replace('\n', " "));
}

/// Prints an error message.
pub(crate) fn print_error(message: &str) {
    let _ = writeln!(StderrWriter, "error: {message}");
}

/// Returns `true` if the reader of the output closed the pipe, as `head` does.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|e| e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe))
}

/// Prints a result as JSON.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

/// Creates a progress line.
pub(crate) fn progress() -> ProgressBar {
    let bar = PROGRESS_LINES.add(ProgressBar::new_spinner());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK_INTERVAL);
    bar
}

/// Stops the spinner of a progress line, which shows a state from now on.
pub(crate) fn pause_line(line: &ProgressBar, message: &str) {
    line.disable_steady_tick();
    if let Ok(style) = ProgressStyle::with_template("{msg}") {
        line.set_style(style);
    }
    line.set_message(message.to_string());
    line.tick();
}

/// Starts the spinner of a progress line again.
pub(crate) fn resume_line(line: &ProgressBar) {
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        line.set_style(style);
    }
    line.enable_steady_tick(TICK_INTERVAL);
}

/// Formats a duration roughly, such as `40 s`, `3 min` or `2 h`.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 90.0 * 60.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

/// Formats a number with its noun, such as `1 page` or `2 pages`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Formats a number with separators between thousands.
pub(crate) fn grouped(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

/// Removes control characters, so that page content cannot control the terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// Formats a value with as many decimals as it needs.
pub(crate) fn figure(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value}")
    } else if value < 0.001 {
        format!("{value:.3e}")
    } else {
        format!("{value:.6}")
    }
}

/// Formats a size, such as `12.3 MB`.
pub(crate) fn bytes(n: u64) -> String {
    indicatif::HumanBytes(n).to_string()
}

/// Returns a signal that becomes `true` on Ctrl-C or SIGTERM; a second one ends the process at once.
pub(crate) fn stop_signal() -> anyhow::Result<watch::Receiver<bool>> {
    let (stop, stopped) = watch::channel(false);
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::spawn(async move {
        for round in 0.. {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            if round > 0 {
                std::process::exit(130);
            }
            print_message(false, "stopping; stored data is safe (repeat to stop at once)");
            let _ = stop.send(true);
        }
    });
    Ok(stopped)
}

/// Waits for the signal.
pub(crate) async fn stopped(mut stop: watch::Receiver<bool>) {
    // A closed channel never signals.
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}
