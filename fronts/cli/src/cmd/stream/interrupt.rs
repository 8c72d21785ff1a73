//! Ctrl-C and its relatives: the first one ends the work in order, the second one at once.

use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Makes the first of these signals set `stop`, and the second one end the process; and takes its
/// effect from the signal of a file's limit.
pub(super) fn sets(stop: &Arc<AtomicBool>) -> io::Result<()> {
    headwater_clones::stop_in_order(stop)?;
    // A file at the limit of `ulimit -f` is an error of the write, with a name and a reason, unless
    // this signal ends the process first.
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}

/// Returns the command line of this process, quoted for a shell, with `option` at its end.
pub(super) fn command_with(option: &str) -> String {
    let mut words: Vec<String> =
        std::env::args_os().map(|word| quoted(&word.to_string_lossy())).collect();
    if !words.iter().any(|word| word == option) {
        words.push(option.to_owned());
    }
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, text) in [
            ("--seed", "--seed"),
            ("a b", "'a b'"),
            ("", "''"),
            ("it's", "'it'\\''s'"),
            ("$HOME", "'$HOME'"),
            ("{host}", "'{host}'"),
        ] {
            assert_eq!(quoted(word), text);
        }
    }
}
