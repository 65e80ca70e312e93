//! Reads the searches that a log command studies.

use anyhow::Context as _;
use pharos_core::{Clock as _, SystemClock};
use pharos_mining::ImportFormat;
use pharos_mining::import::{UtcOffset, parse_date};
use pharos_mining::search_log::{FileForm, ReadOptions, SearchLog, read_data_dir, read_file};

use super::{days_of, logs};
use crate::cli::{FileFormArg, Global, LogSourceArgs};

/// Reads a file, or the logs of the data directory.
pub(super) fn read_searches(global: &Global, args: &LogSourceArgs) -> anyhow::Result<SearchLog> {
    let now = SystemClock.now();
    let Some(path) = &args.log else {
        let (dir, days) = (logs(global)?, days_of(&args.days)?);
        return read_data_dir(&dir, &days, now).with_context(|| format!("cannot read {}", dir.display()));
    };
    let date = args.date.as_ref().map(|text| {
        parse_date(text)
            .with_context(|| format!("--date: invalid day `{text}`: expected a form such as 2008-06-01"))
    });
    let options =
        ReadOptions { form: args.form.map(form_of), zone: zone_of(args)?, date: date.transpose()?, now };
    read_file(path, &options).with_context(|| format!("cannot read {}", path.display()))
}

/// Returns the UTC offset of `--zone`.
pub(super) fn zone_of(args: &LogSourceArgs) -> anyhow::Result<UtcOffset> {
    UtcOffset::parse(&args.zone)
        .with_context(|| format!("--zone: invalid time zone `{}`: expected a form such as +08:00", args.zone))
}

fn form_of(form: FileFormArg) -> FileForm {
    match form {
        FileFormArg::Pharos => FileForm::Pharos,
        FileFormArg::Query5 => FileForm::Foreign(ImportFormat::Query5),
        FileFormArg::Click5 => FileForm::Foreign(ImportFormat::Click5),
        FileFormArg::Line => FileForm::Foreign(ImportFormat::Line),
        FileFormArg::Columns => FileForm::Foreign(ImportFormat::Columns),
        FileFormArg::Sogou => FileForm::Foreign(ImportFormat::Sogou),
    }
}
