//! Lines that a mail program folded at its width: the rest of a message begins the next line.
//!
//! Any line without a time could be the rest of the one before it, but most are not: consoles mix
//! the kernel's lines with those of scripts. So we ask whether the line had to be folded, that is,
//! whether the next word would not have fitted. That holds for few pairs by chance. But those few
//! could join a script's words to the kernel's, so a file counts as folded only if joining
//! completes a message of the generator.

use super::entry;
use crate::read::logs::unpainted;

/// Mail programs fold at 72 to 80 columns, marks of quotations included.
const FOLDS_FROM: usize = 72;
const LONGEST: usize = 82;

/// Messages of the generator that have more words than one, after "random: ".
const MESSAGES: [&str; 6] = [
    "crng init done",
    "crng done",
    "fast init done",
    "nonblocking pool is initialized",
    ": uninitialized urandom read",
    "urandom read with",
];

/// Returns whether lines of a file are folded.
pub(super) fn is_one(first: &[u8]) -> bool {
    let lines: Vec<&[u8]> = first.split(|&byte| byte == b'\n').collect();
    lines.windows(2).any(|pair| {
        memchr::memmem::find(pair[0], b"random: ").is_some()
            && rest_of(pair[0], pair[1]).is_some_and(|rest| completes(&unpainted(pair[0]), &rest))
    })
}

/// Returns the log with its lines joined. An empty line stands for each line that was joined to the
/// one before, so that evidence names the lines of the user's file.
pub(super) fn unfolded(log: &[u8]) -> Vec<u8> {
    let mut text: Vec<u8> = Vec::with_capacity(log.len());
    let mut open: Option<(Vec<u8>, usize)> = None;
    let mut close = |open: Option<(Vec<u8>, usize)>| {
        let (line, joined) = open.unwrap_or_default();
        text.extend(line);
        text.extend(std::iter::repeat_n(b'\n', joined + 1));
    };
    let mut last: &[u8] = b"";
    for line in log.split(|&byte| byte == b'\n') {
        let rest = open.as_ref().and_then(|_| rest_of(last, line));
        match (&mut open, rest) {
            (Some((begin, joined)), Some(rest)) => {
                begin.push(b' ');
                begin.extend(rest.bytes());
                *joined += 1;
            }
            _ => {
                if let Some(line) = open.take() {
                    close(Some(line));
                }
                open = Some((line.trim_ascii_end().to_vec(), 0));
            }
        }
        last = line;
    }
    close(open);
    text
}

/// Returns a line without its marks of quotation, if it is the rest of the line before it.
fn rest_of(before: &[u8], line: &[u8]) -> Option<String> {
    let (before, line) = (unpainted(before.trim_ascii_end()), unpainted(line.trim_ascii_end()));
    let (mark, before_text) = marks(&before);
    let (own, text) = marks(&line);
    let word = text.split(' ').next().filter(|word| !word.is_empty())?;
    let is_full = before.chars().count() + 1 + word.chars().count() > FOLDS_FROM
        && before.chars().count() <= LONGEST
        && line.chars().count() <= LONGEST;
    let is_rest = mark == own && is_full && entry::parse(text).is_none();
    (is_rest && !before_text.is_empty()).then(|| text.to_owned())
}

/// Splits off the marks of a quotation.
fn marks(line: &str) -> (&str, &str) {
    let text = line.trim_start_matches(['>', ' ']);
    line.split_at(line.len() - text.len())
}

/// Returns whether a message of the generator stands in two lines together and in none of them
/// alone. One that is whole in the second is another message, whose time is damaged.
fn completes(first: &str, rest: &str) -> bool {
    let Some((_, begin)) = first.split_once("random: ") else { return false };
    let joined = format!("{} {rest}", begin.trim_end());
    let is_in_one = |text: &str| begin.contains(text) || rest.contains(text);
    MESSAGES.iter().any(|text| joined.contains(text) && !is_in_one(text))
}

#[cfg(test)]
mod tests {
    use super::is_one;

    #[test]
    fn a_message_in_two_lines_is_folded_and_two_messages_are_not() {
        let full = "[    2.700351] random: systemd: uninitialized urandom read (16 bytes read)";
        let cut = "Oct 25 10:40:06 debian-buster-vm1 kernel: [  107.200000] random: crng init";
        assert!(is_one(format!("{cut}\ndone\n").as_bytes()));
        assert!(is_one(format!("> {cut}\n> done\n").as_bytes()));
        // The time of the second message is damaged.
        assert!(!is_one(format!("{full}\n[x 107.200000] random: crng init done\n").as_bytes()));
        assert!(!is_one(format!("{full}\nrandom: crng init done\n").as_bytes()));
    }
}
