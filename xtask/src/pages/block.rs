//! Blocks of shell commands in a document, with what their author says about running them.
//!
//! A comment directly before a block holds what a reader sees and a runner cannot:
//!
//! ```text
//! <!-- commands
//! before: cp ../sample.log boot.log
//! status 1: headwater doctor
//! lasts: headwater clones watch
//! not run: ssh HOST | no other machine is here
//! in: dist
//! as: root
//! -->
//! ```
//!
//! `before` makes what the page presumes. A command ends with 0 unless `status` names others for
//! the commands that begin so. A command that `lasts` must still run after some seconds. `not run`
//! has the reason as well; without a beginning it stands for the whole block. Blocks are run in a
//! checkout, or among the files of a release with `in: dist`. A user types them who may use sudo,
//! or root does, each command in a shell of its own then.

use anyhow::{Result, bail, ensure};

/// A block of commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// The line of its fence.
    pub(super) line: usize,
    /// Its commands, each with the lines that it continues on.
    pub(super) commands: Vec<Command>,
    /// Commands that make what the page presumes.
    pub(super) before: Vec<String>,
    pub(super) place: Place,
    /// Root types the commands.
    pub(super) as_root: bool,
}

/// The directory in which a block is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// A checkout of the repository, as the last block of the page left it.
    #[default]
    Checkout,
    /// A directory with the files of a release, on a machine without a compiler.
    Dist,
}

/// A command, and what its run must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) text: String,
    pub(super) expected: Expected,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// It ends with one of these statuses.
    Status(Vec<u8>),
    /// It runs until it is ended.
    Lasts,
    /// It cannot be run, for this reason.
    NotRun(String),
}

/// Words of a comment about the commands that begin so.
struct Note {
    beginning: String,
    expected: Expected,
    used: bool,
}

/// Returns the blocks of a page, or an error that names the line of a faulty one.
pub(super) fn blocks(page: &str) -> Result<Vec<Block>> {
    let mut lines = page.lines().enumerate().map(|(number, line)| (number + 1, line));
    let (mut found, mut comment) = (Vec::new(), Vec::new());
    while let Some((number, line)) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        let text = line.trim();
        if text == "<!-- commands" {
            let is_inside = |(_, line): &(usize, &str)| line.trim() != "-->";
            comment = lines.by_ref().take_while(is_inside).map(|(_, line)| line.trim()).collect();
        } else if text == "```sh" {
            let is_inside = |(_, line): &(usize, &str)| line.trim() != "```";
            let body = lines.by_ref().take_while(is_inside);
            let body: Vec<&str> =
                body.map(|(_, line)| line.get(indent..).unwrap_or_default()).collect();
            match block(number, &body, &comment) {
                Ok(block) => found.push(block),
                Err(error) => bail!("line {number}: {error}"),
            }
            comment.clear();
        } else {
            ensure!(comment.is_empty(), "line {number}: a comment on commands is not before one");
            if text.starts_with("```") && text.len() > 3 {
                // The inside of another block may look like a fence of ours.
                let _ = lines.by_ref().find(|(_, line)| line.trim() == "```");
            }
        }
    }
    ensure!(comment.is_empty(), "the last comment on commands is not before one");
    Ok(found)
}

fn block(line: usize, body: &[&str], comment: &[&str]) -> Result<Block> {
    let mut block = Block { line, ..Block::default() };
    let mut notes = Vec::new();
    for said in comment {
        let Some((key, value)) = said.split_once(": ") else { bail!("'{said}' has no value") };
        match key {
            "before" => block.before.push(value.to_owned()),
            "in" => {
                ensure!(value == "dist", "there is no place '{value}'");
                block.place = Place::Dist;
            }
            "as" => {
                ensure!(value == "root", "there is no user '{value}'");
                block.as_root = true;
            }
            "lasts" => notes.push((value, Expected::Lasts)),
            "not run" => {
                let (beginning, reason) = value.split_once(" | ").unwrap_or(("", value));
                ensure!(reason.split_whitespace().count() > 2, "'{reason}' is no reason");
                notes.push((beginning, Expected::NotRun(reason.to_owned())));
            }
            _ => match key.strip_prefix("status ").map(statuses) {
                Some(Some(statuses)) => notes.push((value, Expected::Status(statuses))),
                _ => bail!("no such word as '{key}'"),
            },
        }
    }
    let mut notes: Vec<Note> = notes
        .into_iter()
        .map(|(beginning, expected)| Note { beginning: beginning.into(), expected, used: false })
        .collect();
    for text in commands(body) {
        // The longest beginning is the one that its author meant for this command.
        let note = notes.iter_mut().filter(|note| text.starts_with(&note.beginning));
        let note = note.max_by_key(|note| note.beginning.len());
        let expected = note.map_or(Expected::Status(vec![0]), |note| {
            note.used = true;
            note.expected.clone()
        });
        block.commands.push(Command { text, expected });
    }
    ensure!(!block.commands.is_empty(), "an empty block");
    if let Some(note) = notes.iter().find(|note| !note.used) {
        bail!("no command begins with '{}'", note.beginning);
    }
    Ok(block)
}

fn statuses(words: &str) -> Option<Vec<u8>> {
    words.split(' ').map(|word| word.parse().ok()).collect()
}

/// Joins lines that end in a backslash with the next one, and drops empty lines and comments.
fn commands(body: &[&str]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in body {
        let is_empty = line.trim().is_empty() || line.trim_start().starts_with('#');
        match commands.last_mut() {
            Some(last) if goes_on => {
                last.push('\n');
                last.push_str(line);
            }
            _ if is_empty => continue,
            _ => commands.push((*line).to_owned()),
        }
        goes_on = line.ends_with('\\');
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str, expected: Expected) -> Command {
        Command { text: text.to_owned(), expected }
    }

    #[test]
    fn a_block_is_its_commands_with_their_ends() {
        let page = "# Page\n\n<!-- commands\nbefore: touch a\nstatus 1 4: b\nlasts: c d\n\
                    not run: e | there is no e here\n-->\n```sh\na   # says a\n\n# alone\nb \\\n  \
                    -x\nc d\ne f\n```\n";
        let block = Block {
            line: 9,
            commands: vec![
                command("a   # says a", Expected::Status(vec![0])),
                command("b \\\n  -x", Expected::Status(vec![1, 4])),
                command("c d", Expected::Lasts),
                command("e f", Expected::NotRun("there is no e here".to_owned())),
            ],
            before: vec!["touch a".to_owned()],
            ..Block::default()
        };
        assert_eq!(blocks(page).unwrap(), [block]);
    }

    #[test]
    fn other_languages_and_indents_are_told_apart() {
        let page =
            "```c\n```sh\n```\n1. list\n\n   ```sh\n   cargo x\n     y\n   ```\n```sh\nz\n```\n";
        let found = blocks(page).unwrap();
        let texts: Vec<Vec<&str>> = found
            .iter()
            .map(|block| block.commands.iter().map(|command| command.text.as_str()).collect())
            .collect();
        assert_eq!(texts, [vec!["cargo x", "  y"], vec!["z"]]);
    }

    #[test]
    fn what_is_said_of_a_whole_block_needs_no_beginning() {
        let page = "<!-- commands\nin: dist\nnot run: needs a machine of another maker\n-->\n```sh\na\nb\n```\n";
        let found = blocks(page).unwrap();
        assert_eq!(found[0].place, Place::Dist);
        let reason = Expected::NotRun("needs a machine of another maker".to_owned());
        assert!(found[0].commands.iter().all(|command| command.expected == reason));
    }

    #[test]
    fn faulty_comments_are_refused_with_their_line() {
        for (comment, error) in [
            ("status 1: b", "line 5: no command begins with 'b'"),
            ("status x: a", "line 5: no such word as 'status x'"),
            ("not run: a | no", "line 5: 'no' is no reason"),
            ("in: cellar", "line 5: there is no place 'cellar'"),
            ("before", "line 5: 'before' has no value"),
        ] {
            let page = format!("x\n<!-- commands\n{comment}\n-->\n```sh\na\n```\n");
            assert_eq!(blocks(&page).unwrap_err().to_string(), error);
        }
        let apart = "<!-- commands\nbefore: a\n-->\nx\n```sh\na\n```\n";
        assert!(blocks(apart).unwrap_err().to_string().contains("line 4"));
        assert!(blocks("```sh\n```\n").is_err());
    }
}
