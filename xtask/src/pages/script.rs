//! A page's blocks as one script of bash.

use super::block::{Block, Expected, Place};
use std::fmt::Write;

/// Runs one command of a page, and says which of them did not end as it should.
const HEAD: &str = r#"# Written by `cargo xtask`: the commands of a document.
failed=0
# expect PLACE STATUSES COMMAND: in this shell, since a command may change directory or variables.
expect() {
    printf '%s\n' "$1: $3"
    eval "$3" < /dev/null > ~/output 2>&1
    local status=$?
    case " $2 " in
    *" $status "*) ;;
    *)
        failed=1
        cat ~/output
        printf '%s\n' "$1: status $status, and not $2"
        ;;
    esac
}
# lasting PLACE COMMAND: a shell of its own, which is ended after some seconds.
lasting() {
    printf '%s\n' "$1: $2"
    timeout 8 bash -c "$2" < /dev/null > ~/output 2>&1
    local status=$?
    if [ "$status" != 124 ]; then
        failed=1
        cat ~/output
        printf '%s\n' "$1: ended with $status, and should last"
    fi
}
"#;

/// Writes the script for the blocks of a page that belong to a place, if it has such blocks.
pub(super) fn script(page: &str, blocks: &[Block], place: Place) -> Option<String> {
    let mut script = String::from(HEAD);
    let directory = match place {
        Place::Checkout => "headwater",
        Place::Dist => "dist",
    };
    let _ = writeln!(script, "cd ~/{directory} || exit 1");
    let mut runs = false;
    for block in blocks.iter().filter(|block| block.place == place) {
        let at = quoted(&format!("{page}:{}", block.line));
        for command in &block.before {
            let _ = writeln!(script, "expect {at} '0' {}", quoted(command));
        }
        for command in &block.commands {
            let mut text = quoted(&command.text);
            if block.as_root {
                // sudo has a PATH of its own, without the reader's programs.
                text = quoted(&format!("sudo env PATH=\"$PATH\" bash -c {text}"));
            }
            let _ = match &command.expected {
                Expected::Status(statuses) => {
                    let statuses: Vec<String> = statuses.iter().map(u8::to_string).collect();
                    writeln!(script, "expect {at} '{}' {text}", statuses.join(" "))
                }
                Expected::Lasts => writeln!(script, "lasting {at} {text}"),
                Expected::NotRun(reason) => {
                    let said = quoted(&format!("not run, {reason}: {}", command.text));
                    writeln!(script, "printf '%s: %s\\n' {at} {said}")
                }
            };
            runs |= !matches!(command.expected, Expected::NotRun(_));
        }
    }
    script.push_str("exit $failed\n");
    runs.then_some(script)
}

/// Quotes a text for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::super::block::blocks;
    use super::*;
    use std::process::Command;

    /// Runs the script of a page in a home of its own, and returns its status and output.
    fn run(name: &str, page: &str) -> (Option<i32>, String) {
        let home = std::env::temp_dir().join(format!("headwater-{name}-{}", std::process::id()));
        std::fs::create_dir_all(home.join("headwater")).unwrap();
        let script = script("page.md", &blocks(page).unwrap(), Place::Checkout).unwrap();
        let done = Command::new("bash").arg("-c").arg(script).env("HOME", &home).output().unwrap();
        std::fs::remove_dir_all(&home).unwrap();
        (done.status.code(), String::from_utf8(done.stdout).unwrap())
    }

    #[test]
    fn commands_share_a_shell_and_end_as_expected() {
        let page = "<!-- commands\nbefore: mkdir a\nstatus 3: sh -c\nlasts: sleep\n\
                    not run: false | would fail at once\n-->\n\
                    ```sh\ncd a && b='x y'\n[ \"$b $PWD\" = \"x y $HOME/headwater/a\" ]   # both\n\
                    sh -c 'exit 3'\nsleep 60\nfalse\n```\n";
        let (status, output) = run("pages-right", page);
        assert_eq!(status, Some(0), "{output}");
        assert!(output.contains("page.md:7: not run, would fail at once: false"), "{output}");
    }

    #[test]
    fn a_command_that_fails_is_named_and_the_next_one_runs() {
        let page = "```sh\necho said; exit_not_there\ntrue\nfalse\n```\n";
        let (status, output) = run("pages-wrong", page);
        assert_eq!(status, Some(1));
        assert!(output.contains("said") && output.contains("page.md:1: status 127, and not 0"));
        assert!(output.contains("page.md:1: status 1, and not 0"), "{output}");
    }

    #[test]
    fn a_command_that_should_last_and_ends_is_a_fault() {
        let page = "<!-- commands\nlasts: true\n-->\n```sh\ntrue\n```\n";
        let (status, output) = run("pages-lasts", page);
        assert!(status == Some(1) && output.contains("ended with 0, and should last"), "{output}");
    }
}
