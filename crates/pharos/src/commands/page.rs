//! `pharos page`: the story and the versions of one page.

use std::io::{self, Write as _};

use anyhow::{Context as _, bail};
use pharos_core::PageUrl;
use pharos_engine::{Kept, Story, story, version};
use pharos_store::PageState;

use crate::cli::{Global, PageArgs};
use crate::{Outcome, console, settings};

pub(crate) fn run(global: &Global, args: PageArgs) -> anyhow::Result<Outcome> {
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let url = PageUrl::parse(&args.url).context("this is no address of a page")?;
    let Some(story) = story(&data, &url)? else {
        console::say(global.quiet, &format!("{url} is not in the library: nobody ever heard of it"));
        return Ok(Outcome::NothingFound);
    };
    match args.show {
        Some(number) => show(global, &args, &data, &story, number),
        None if global.json => {
            console::print_json(&story)?;
            Ok(Outcome::Good)
        }
        None => {
            print(&story)?;
            let stored = !story.versions.is_empty();
            Ok(if stored { Outcome::Good } else { Outcome::NothingFound })
        }
    }
}

/// Prints one version: the body as it was sent, or what it says.
fn show(
    global: &Global,
    args: &PageArgs,
    data: &pharos_store::DataDir,
    story: &Story,
    number: usize,
) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let count = story.versions.len();
    let Some(wanted) = number.checked_sub(1).and_then(|n| story.versions.get(n)) else {
        bail!("there is no version {number}: the library has {count} of {}, 1 is the newest", story.page.url);
    };
    if wanted.kept == Kept::Dropped {
        bail!("version {number} of {} is gone: the retention rule let it go", story.page.url);
    }
    let response = version(data, wanted.version.position)?;
    let body = response.content(config.crawl.body_limit.bytes());
    if args.text || global.json {
        let page = pharos_html::understand(&story.page.url, response.header("Content-Type"), &body);
        if global.json {
            console::print_json(&page)?;
        } else {
            console::out!("{}", page.text);
        }
    } else {
        io::stdout().lock().write_all(&body)?;
    }
    Ok(Outcome::Good)
}

fn print(story: &Story) -> anyhow::Result<()> {
    let page = &story.page;
    let state = match page.state {
        PageState::Waiting => "waiting: known, not yet asked for",
        PageState::Stored => "stored",
        PageState::Failed => "failed",
        PageState::Refused => "refused",
        PageState::Deleted => "deleted by a feed",
        PageState::Removed => "removed for good",
    };
    let status = page.status.map(|s| format!(", status {s}")).unwrap_or_default();
    let reason = page.reason.as_ref().map(|r| format!(": {}", console::printable(r))).unwrap_or_default();
    console::out!("{}", page.url);
    console::out!("  state    {state}{status}{reason}");
    if page.state == PageState::Removed {
        return Ok(());
    }
    let searched = if page.indexable { "yes" } else { "no" };
    console::out!("  search   {searched}");
    let clicks = match page.depth {
        0 => "as a seed, or brought in".to_string(),
        1 => "1 click from a seed".to_string(),
        n => format!("{n} clicks from a seed"),
    };
    let anchor = console::printable(&page.anchor);
    let anchor = if anchor.is_empty() { anchor } else { format!(", called “{anchor}”") };
    console::out!("  found    {}, {clicks}{anchor}", page.found_at);
    if let Some(origin) = &page.origin {
        console::out!("  origin   redirected from {}", console::printable(origin));
    }
    if let Some(visited) = page.visited_at {
        console::out!("  visited  {visited}, {} answers", page.visits);
    }
    if let Some(due) = page.due {
        console::out!("  due      {due}");
    }
    for other in &story.same {
        console::out!("  same     as {other}, to the byte");
    }
    for (number, stored) in (1..).zip(&story.versions) {
        let kept = match stored.kept {
            Kept::Whole(bytes) => console::bytes(bytes as u64),
            Kept::Unchanged => "unchanged".into(),
            Kept::Dropped => "let go".into(),
            Kept::Damaged => "damaged".into(),
        };
        let version = &stored.version;
        console::out!(
            "  version  {number:>3}  {}  {}  {kept:>10}  at {}",
            version.at,
            version.status,
            version.position
        );
    }
    Ok(())
}
