//! The command line, and its error messages of one line.

use crate::cmd::{bytes, completions, run, status, stream, uuid};
use crate::failure::Failure;
use crate::output;
use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory, Parser, Subcommand};
use std::ffi::OsString;

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
    Clones(headwater_clones::Args),
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
        kind => {
            let what = match kind {
                // clap answers with the whole help, of which the first line names no error.
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                    "a command is missing".to_owned()
                }
                _ => one_line(&error.render().to_string()),
            };
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

/// Returns the command whose help says most about this command line, such as `headwater lab boot`.
pub(crate) fn asked() -> String {
    asked_by(std::env::args_os().skip(1))
}

fn asked_by(words: impl IntoIterator<Item = OsString>) -> String {
    let mut command = Cli::command();
    // Only then does an option know how many values it has, and a command which options are global.
    command.build();
    let mut path = command.get_name().to_owned();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let word = word.to_string_lossy();
        if word.starts_with('-') {
            // The value may have the name of a command, or none, and neither is one that is asked.
            if has_value_after(&command, &word) {
                words.next();
            }
            continue;
        }
        // The command "help", which clap adds in the meantime, has no help of its own.
        let below =
            command.find_subcommand(word.as_ref()).filter(|below| below.get_name() != "help");
        let Some(below) = below.cloned() else { break };
        path = format!("{path} {}", below.get_name());
        command = below;
    }
    path
}

/// Returns whether the word after this one is the value of an option: `--cache DIR` and not
/// `--cache=DIR`, `-o FILE` and not `-oFILE`.
fn has_value_after(command: &Command, word: &str) -> bool {
    let is_it = |option: &&Arg| match word.strip_prefix("--") {
        Some(long) => option.get_long() == Some(long),
        None => option.get_short().is_some_and(|short| word[1..] == short.to_string()),
    };
    let option = command.get_arguments().find(is_it);
    option.is_some_and(|option| option.get_num_args().is_some_and(|count| count.min_values() > 0))
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
    use clap_mangen::Man;
    use std::io::Write as _;
    use std::path::Path;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// `SNAPSHOTS=overwrite cargo test -p headwater-cli` writes man/ anew. The pages are checked
    /// in, so that neither an installation nor the command needs a generator of man pages.
    #[test]
    fn the_man_page_is_what_the_command_line_says() {
        snapbox::assert_data_eq!(man_page(), snapbox::file!["../man/headwater.1"].raw());
    }

    #[test]
    fn each_verb_has_a_man_page() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("man");
        let mut names = vec!["headwater.1".to_owned()];
        for verb in verbs(&built()) {
            let name = format!("headwater-{}.1", verb.get_name());
            let expected = snapbox::Data::read_from(&folder.join(&name), None).raw();
            snapbox::assert_data_eq!(verb_page(&verb), expected);
            names.push(name);
        }
        let mut found: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        found.sort();
        names.sort();
        assert_eq!(found, names, "a page without a verb, or a verb without a page");
    }

    fn built() -> clap::Command {
        let mut command = Cli::command();
        command.build();
        command
    }

    /// Returns the verbs without the "help" that clap adds.
    fn verbs(command: &clap::Command) -> Vec<clap::Command> {
        let is_ours = |verb: &&clap::Command| verb.get_name() != "help";
        command.get_subcommands().filter(is_ours).cloned().collect()
    }

    fn man(command: clap::Command, title: &str) -> Man {
        let man = Man::new(command).title(title).date("").source("headwater");
        man.manual("User Commands")
    }

    /// Returns headwater(1): the options of every verb in one page.
    fn man_page() -> String {
        let command = built();
        let man = man(command.clone(), "headwater");
        let mut page = text(|page| {
            man.render_title(page)?;
            man.render_name_section(page)?;
            man.render_synopsis_section(page)?;
            man.render_description_section(page)?;
            man.render_options_section(page)
        });
        // The verbs of the lab are for developers, and headwater-lab(1) has them.
        let all = verbs(&command);
        let with_those_below = all.iter().flat_map(|verb| {
            let below = if verb.get_name() == "stream" { verbs(verb) } else { Vec::new() };
            std::iter::once(verb.clone()).chain(below)
        });
        for verb in with_those_below {
            page.push_str(&section(&verb));
        }
        page.push_str(".SH SEE ALSO\n");
        let also = all.iter().map(|verb| format!("\\fBheadwater\\-{}\\fR(1)", verb.get_name()));
        page.push_str(&also.collect::<Vec<_>>().join(",\n"));
        page.push('\n');
        let notes = text(|page| man.render_extra_section(page));
        tidy(&(page + &notes.replace(".SH EXTRA\n", ".SH NOTES\n.nf\n")))
    }

    /// Returns the page of one verb, and of the verbs below it.
    fn verb_page(verb: &clap::Command) -> String {
        let title = format!("headwater-{}", verb.get_name());
        let man = man(verb.clone(), &title);
        let mut page = text(|page| {
            man.render_title(page)?;
            // The line that apropos(1) finds has the page's name.
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let about = about.replace('\'', "\\(aq").replace('-', "\\-");
            writeln!(page, ".SH NAME\n{} \\- {about}", title.replace('-', "\\-"))?;
            man.render_synopsis_section(page)?;
            man.render_description_section(page)?;
            man.render_options_section(page)
        });
        for below in verbs(verb) {
            page.push_str(&section(&below));
        }
        if verb.get_after_help().is_some() {
            let notes = text(|page| man.render_extra_section(page));
            page.push_str(&notes.replace(".SH EXTRA\n", ".SH NOTES\n.nf\n"));
            page.push_str(".fi\n");
        }
        page.push_str(".SH SEE ALSO\n\\fBheadwater\\fR(1)\n");
        tidy(&page)
    }

    /// Returns a verb as a section of another page.
    fn section(verb: &clap::Command) -> String {
        let path = verb.get_bin_name().unwrap_or_default().trim_start_matches("headwater ");
        let man = Man::new(verb.clone());
        let part = text(|part| {
            man.render_synopsis_section(part)?;
            man.render_description_section(part)?;
            man.render_options_section(part)?;
            if verb.get_after_help().is_some() {
                man.render_extra_section(part)?;
                part.extend_from_slice(b".fi\n");
            }
            Ok(())
        });
        let part = part.replace(".SH SYNOPSIS\n", "").replace(".SH DESCRIPTION\n", ".PP\n");
        let part = part.replace(".SH OPTIONS\n", ".PP\n").replace(".ie \\n(.g .ds Aq \\(aq\n", "");
        let part = part.replace(".el .ds Aq '\n", "").replace(".SH EXTRA\n", ".PP\n.nf\n");
        format!(".SH {}\n{part}", path.to_uppercase())
    }

    fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
        let mut page = Vec::new();
        write(&mut page).unwrap();
        String::from_utf8(page).unwrap()
    }

    fn tidy(page: &str) -> String {
        page.lines().map(|line| line.trim_end().to_string() + "\n").collect()
    }

    #[test]
    fn the_value_of_an_option_is_no_command_that_is_asked() {
        let of = |line: &str| asked_by(line.split(' ').map(OsString::from));
        assert_eq!(of("lab --cache /x boot --rng dice"), "headwater lab boot");
        assert_eq!(of("lab --cache=/x boot --rng dice"), "headwater lab boot");
        assert_eq!(of("lab --cache boot"), "headwater lab");
        assert_eq!(of("lab --cache boot clone --mode boot"), "headwater lab clone");
        assert_eq!(of("lab boot --cache /x --rng dice"), "headwater lab boot");
        // A switch has no value, and what no command has is skipped alone.
        assert_eq!(of("-V lab"), "headwater lab");
        assert_eq!(of("lab --none boot"), "headwater lab boot");
        assert_eq!(of("lab frobnicate boot"), "headwater lab");
        assert_eq!(of("lab help boots"), "headwater lab");
        assert_eq!(of("lab --cache"), "headwater lab");
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
