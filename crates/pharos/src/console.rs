//! What people see: messages and progress on stderr, results on stdout.

use std::io::{self, IsTerminal as _, Write};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use pharos_engine::CrawlStatus;
use serde::Serialize;
use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

/// All progress lines, so that messages do not run into them.
static LINES: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Messages go to stderr, warnings and worse unless asked otherwise; `PHAROS_LOG` takes a filter of tracing's.
pub(crate) fn init(quiet: bool, verbose: u8) {
    if quiet {
        LINES.set_draw_target(indicatif::ProgressDrawTarget::hidden());
    }
    let level = match (quiet, verbose) {
        (true, _) => "error",
        // One line per URL that fails belongs to -v; the summary counts them.
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
        .with_writer(|| BesideLines)
        .init();
}

/// Writes between progress lines.
struct BesideLines;

impl Write for BesideLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.suspend(|| io::stderr().write_all(bytes)).map(|()| bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Prints a line of the result. Unlike `println!`, a reader that went away is an error, not a panic.
macro_rules! out {
    ($($text:tt)*) => { ::std::io::Write::write_fmt(&mut ::std::io::stdout().lock(), format_args!("{}\n", format_args!($($text)*)))? };
}
pub(crate) use out;

/// A message that is not a result.
pub(crate) fn say(quiet: bool, message: &str) {
    if !quiet {
        let _ = writeln!(BesideLines, "{message}");
    }
}

/// One line: what, on what, what to do.
pub(crate) fn error(error: &anyhow::Error) {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        // Many messages of ours tell their cause already.
        if !line.contains(&cause) {
            line.push_str(if line.is_empty() { "" } else { ": " });
            line.push_str(&cause);
        }
    }
    let line = line.replace('\n', " ");
    let _ = writeln!(BesideLines, "pharos: {line}");
}

/// Did the reader of our output go away, as `head` does?
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

/// A progress line with a message.
pub(crate) fn progress() -> ProgressBar {
    let bar = LINES.add(ProgressBar::new_spinner());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Keeps a line about the crawl up to date, until dropped.
pub(crate) fn crawl_progress(status: Arc<CrawlStatus>) -> tokio::task::JoinHandle<()> {
    let bar = progress();
    tokio::spawn(async move {
        let mut before = status.snapshot();
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let now = status.snapshot();
            bar.set_message(format!(
                "{} pages ({}/s), {} ({}/s) · {} sites active, {} requests under way, {} queued · {} failed, {} refused{}",
                now.pages,
                now.pages - before.pages,
                bytes(now.bytes),
                bytes(now.bytes - before.bytes),
                now.sites,
                now.under_way,
                now.queued,
                now.failed,
                now.refused,
                if now.paused { " · paused: the disk is nearly full" } else { "" },
            ));
            before = now;
        }
    })
}

/// Without control characters: what a page says must not command the terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// A value with as many decimals as it needs: counts have none.
pub(crate) fn figure(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value}")
    } else if value < 0.001 {
        format!("{value:.3e}")
    } else {
        format!("{value:.6}")
    }
}

/// `12.3 MB`.
pub(crate) fn bytes(n: u64) -> String {
    indicatif::HumanBytes(n).to_string()
}

/// Becomes true on Ctrl-C or SIGTERM; a second one ends the process at once.
pub(crate) fn stop_signal() -> anyhow::Result<watch::Receiver<bool>> {
    let (tell, told) = watch::channel(false);
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
            say(false, "stopping; what is stored is safe (again to stop at once)");
            let _ = tell.send(true);
        }
    });
    Ok(told)
}

/// Waits for the signal.
pub(crate) async fn stopped(mut stop: watch::Receiver<bool>) {
    // A closed channel never signals: wait for ever.
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}
