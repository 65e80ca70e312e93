//! The command list of `pharos --help`, grouped under headings.
//!
//! clap lists subcommands in one block. The groups below name the commands; descriptions come from the subcommands
//! themselves, and a test ensures that every visible command is in exactly one group.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _, FromArgMatches as _};

use super::Cli;

/// Headings of `pharos --help` with the commands below them.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Start", &["demo", "up", "serve", "config"]),
    ("Crawl", &["crawl", "refresh", "add", "remove", "page"]),
    ("Index and search", &["index", "search", "suggest", "clean", "segment", "words", "curate"]),
    ("Archive", &["import", "export", "load"]),
    ("Insight", &["graph", "dedup", "log", "hot", "eval", "stats"]),
    ("Learn", &["rank", "classify", "topics"]),
    (
        "Maintenance",
        &["doctor", "rebuild", "compact", "backup", "restore", "keys", "health", "man", "completions"],
    ),
];

/// Parses the command line. Exits with a message if it is invalid or help is requested.
pub(crate) fn parse() -> Cli {
    let matches = command().get_matches();
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command()).exit())
}

/// Returns the command with the grouped help text.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let template = help_template(&command);
    command.help_template(template)
}

/// Composes the help template from the groups and the descriptions of the subcommands.
fn help_template(command: &Command) -> String {
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let names = GROUPS.iter().flat_map(|(_, names)| *names);
    let width = names.map(|name| name.len()).max().unwrap_or_default();
    let mut text = String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n");
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for inner in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{:<width$}{literal:#}  {about}", inner.get_name());
        }
        text.push('\n');
    }
    let _ = write!(text, "{header}Options:{header:#}\n{{options}}{{after-help}}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verbs that descriptions may begin with.
    const VERBS: [&str; 26] = [
        "Add", "Analyse", "Back", "Build", "Check", "Complete", "Crawl", "Evaluate", "Export", "Extract",
        "Generate", "Import", "Learn", "Load", "Manage", "Print", "Rebuild", "Reclaim", "Remove", "Report",
        "Restore", "Search", "Segment", "Serve", "Show", "Train",
    ];

    #[test]
    fn every_visible_command_is_in_exactly_one_group() {
        let command = Cli::command();
        let visible: Vec<&str> = command
            .get_subcommands()
            .filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
            .map(Command::get_name)
            .collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        for name in &visible {
            assert_eq!(grouped.iter().filter(|other| *other == name).count(), 1, "{name}");
        }
        grouped.retain(|name| !visible.contains(name));
        assert!(grouped.is_empty(), "unknown commands: {grouped:?}");
    }

    #[test]
    fn descriptions_are_short_and_begin_with_a_verb() {
        for inner in Cli::command().get_subcommands() {
            let about = inner.get_about().unwrap().to_string();
            assert!(about.chars().count() <= 60, "{}: {about}", inner.get_name());
            let verb = about.split([' ', ',']).next().unwrap();
            assert!(VERBS.contains(&verb), "{}: {about}", inner.get_name());
        }
    }

    #[test]
    fn the_help_text_lists_every_group_and_description() {
        let help = command().render_long_help().to_string();
        for (title, names) in GROUPS {
            assert!(help.contains(&format!("\n{title}:\n")), "{help}");
            for name in names {
                assert!(help.contains(&format!("\n  {name} ")), "{name}: {help}");
            }
        }
        assert!(help.contains("\nOptions:\n") && help.contains("--data <DIR>"), "{help}");
    }
}
