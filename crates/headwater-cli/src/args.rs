//! The command line, and its error messages of one line.

use crate::cmd::{bytes, completions, run, status, stream, uuid};
use crate::failure::Failure;
use crate::output;
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

/// Secure random bytes at memory speed, exactly as fresh as the kernel's
#[derive(Parser)]
#[command(
    name = "headwater",
    disable_version_flag = true,
    args_conflicts_with_subcommands = true,
    after_help = "\
Without a command: the status of this machine, and its speed.

Environment:
  HEADWATER_MODE     auto (default), buffered, hedged, strict or kernel
  HEADWATER_NO_RSEQ  1 replaces restartable sequences by locks, for debuggers and tracers
  NO_COLOR           any value turns colours off

Exit status: 0 success, also if the reader closes the pipe; 1 finding or failed check; 2 wrong
usage; 3 could not read or write. `run` uses the statuses of env(1)."
)]
pub(crate) struct Cli {
    /// Print the version in one line
    #[arg(short = 'V', conflicts_with = "long_version")]
    pub(crate) short_version: bool,

    /// Print the version and what a bug report needs: commit, target, features, cipher, guard
    /// and mode
    #[arg(long = "version")]
    pub(crate) long_version: bool,

    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

#[derive(Subcommand)]
pub(crate) enum Verb {
    Status(status::Args),
    Doctor(Box<headwater_doctor::Args>),
    Wait(headwater_doctor::WaitArgs),
    Bytes(bytes::Args),
    Uuid(uuid::Args),
    Stream(stream::Args),
    /// Measure headwater beside the other generators of this machine
    Bench(Box<headwater_bench::Args>),
    Lab(Box<headwater_lab::Args>),
    Quality(Box<headwater_quality::Args>),
    Run(run::Args),
    Completions(completions::Args),
}

/// Parses the command line of this process. Help goes to stdout and ends the process.
pub(crate) fn parse() -> Result<Cli, Failure> {
    Cli::try_parse().or_else(|error| match error.kind() {
        ErrorKind::DisplayHelp => {
            output::coloured(&error.render().ansi().to_string())?;
            std::process::exit(0)
        }
        _ => {
            let what = one_line(&error.render().to_string());
            // Every other status may be the command's own.
            let is_run = std::env::args_os().nth(1).is_some_and(|verb| verb == "run");
            Err(if is_run {
                Failure::Run { status: run::NOT_RUN, what }
            } else {
                Failure::Usage(what)
            })
        }
    })
}

/// Joins clap's message of several lines, without the usage and the pointer to `--help` after it.
fn one_line(message: &str) -> String {
    let mut line = String::new();
    for part in message
        .lines()
        .map(str::trim)
        .take_while(|part| !part.starts_with("Usage:") && !part.starts_with("For more information"))
        .filter(|part| !part.is_empty())
    {
        if part.starts_with("tip:") {
            line.push(';');
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(part);
    }
    line.strip_prefix("error: ").unwrap_or(&line).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }

    /// `SNAPSHOTS=overwrite cargo test -p headwater-cli` writes man/headwater.1 anew. The page is
    /// checked in, so that neither an installation nor the command needs a generator of man pages.
    #[test]
    fn the_man_page_is_what_the_command_line_says() {
        let page = man_page().unwrap();
        snapbox::assert_data_eq!(page, snapbox::file!["../man/headwater.1"].raw());
    }

    fn man_page() -> std::io::Result<String> {
        use clap_mangen::Man;
        let mut command = <Cli as clap::CommandFactory>::command();
        command.build();
        let man = Man::new(command.clone()).date("").source("headwater").manual("User Commands");
        let mut page = Vec::new();
        man.render_title(&mut page)?;
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
        // The verbs of the lab are for developers, and `headwater lab --help` has them.
        let is_ours = |verb: &&clap::Command| verb.get_name() != "help";
        let verbs = command.get_subcommands().filter(is_ours).flat_map(|verb| {
            let below = verb.get_subcommands().filter(|_| verb.get_name() == "stream");
            std::iter::once(verb).chain(below)
        });
        for verb in verbs {
            let path = verb.get_bin_name().unwrap_or_default().trim_start_matches("headwater ");
            let title = path.to_uppercase();
            let man = Man::new(verb.clone());
            let mut part = Vec::new();
            man.render_synopsis_section(&mut part)?;
            man.render_description_section(&mut part)?;
            man.render_options_section(&mut part)?;
            if verb.get_after_help().is_some() {
                man.render_extra_section(&mut part)?;
                part.extend_from_slice(b".fi\n");
            }
            let part = String::from_utf8(part).unwrap();
            let part = part.replace(".SH SYNOPSIS\n", "").replace(".SH DESCRIPTION\n", ".PP\n");
            let part =
                part.replace(".SH OPTIONS\n", ".PP\n").replace(".ie \\n(.g .ds Aq \\(aq\n", "");
            let part = part.replace(".el .ds Aq '\n", "").replace(".SH EXTRA\n", ".PP\n.nf\n");
            page.extend_from_slice(format!(".SH {title}\n{part}").as_bytes());
        }
        man.render_extra_section(&mut page)?;
        let page = String::from_utf8(page).unwrap().replace(".SH EXTRA\n", ".SH NOTES\n.nf\n");
        Ok(page.lines().map(|line| line.trim_end().to_string() + "\n").collect())
    }

    #[test]
    fn several_lines_become_one() {
        let clap = "error: unrecognized subcommand 'byte'\n\n  tip: a similar subcommand exists: \
                    'bytes'\n\nUsage: headwater [COMMAND]\n\nFor more information, try '--help'.\n";
        assert_eq!(
            one_line(clap),
            "unrecognized subcommand 'byte'; tip: a similar subcommand exists: 'bytes'"
        );
    }
}
