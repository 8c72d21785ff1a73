//! Logs become [`Boot`]s: of systemd's journal as journalctl(1) prints it (short, short-precise,
//! short-iso, short-full, short-unix, short-monotonic, with-unit, json, export), of the kernel's
//! buffer as dmesg(1) and /dev/kmsg give it (with and without times and levels, by the calendar),
//! of syslog.
//!
//! The file itself shows its format, so there is no option for it. A log may have gigabytes, so it
//! passes in blocks, in flat memory, and most of it is only searched for a few words (`words`).
//!
//! Only the kernel's lines, and those of systemd as process 1, count as proof. It would be easy to
//! believe every line with "crng init done", but other programs write about the random generator
//! without knowing its state, and a mail reader that logs a quotation would make a boot ready.

mod arranged;
mod boots;
mod calendar;
mod capture;
mod clock_set;
mod console_json;
mod cpu_mark;
mod entry;
mod event;
mod export;
mod folded;
mod generator;
mod head;
mod json;
mod log_event;
mod logcat;
mod machine;
mod programs;
mod shortened;
mod split;
pub(crate) mod stamp;
mod times;
mod together;
mod units;
mod waiters;
mod words;

pub use together::put_together;

use crate::boot::Boot;
use crate::read::logs::{Blocks, Input, quoted, scan, unpack, unpainted};
use crate::{Evidence, LogError};
use arranged::Arrangement;
use boots::Boots;
use entry::{Entry, Writer};
use head::HeadFacts;
use stamp::Stamp;
use std::io::Read;
use std::path::Path;

/// The number of lines that decide the format of a file.
const LOOKED_AT: usize = 1000;

/// Reads a file; `-` is standard input. On a terminal, a bar is shown while a large one is read.
///
/// # Errors
///
/// If it cannot be read, or is no log.
pub fn read_file(path: &Path) -> Result<Vec<Boot>, LogError> {
    let input = Input::open(path)?;
    let name = input.name.clone();
    read(input, &name)
}

/// Reads a stream that evidence calls `name`. The boots are in the log's order.
///
/// # Errors
///
/// If it cannot be read, or is no log.
pub fn read(source: impl Read, name: &str) -> Result<Vec<Boot>, LogError> {
    let source = unpack(source).map_err(|reason| LogError::read(name, reason))?;
    let mut blocks = Blocks::new(source);
    let first = blocks.peek().map_err(|reason| LogError::read(name, reason))?;
    if let Some(error) = LogError::by_magic(name, first) {
        return Err(error);
    }
    if let Some(rewrite) = rewriting(first) {
        return rewritten(blocks.into_reader(), name, rewrite);
    }
    match recognise(first, name)? {
        Format::Text => {
            let facts = head::facts(first);
            return match arranged::arrangement(first) {
                Arrangement::Usual => text(&mut blocks, name, None, &facts)
                    .map_err(|reason| LogError::read(name, reason)),
                found => out_of_order(blocks.into_reader(), name, found, &facts),
            };
        }
        Format::Json => by_json(&mut blocks, name),
        Format::Export => by_export(blocks.into_reader(), name),
    }
    .map_err(|reason| LogError::read(name, reason))
}

/// Makes lines that the other readers take of a whole file; `None` if the file turns out to be
/// another document.
type Rewrite = fn(&[u8]) -> Option<Vec<u8>>;

/// Returns the function for a form whose lines have to be written again before anything is looked
/// for: the words of the search would not be found in them.
fn rewriting(first: &[u8]) -> Option<Rewrite> {
    if console_json::is_one(first) {
        Some(console_json::unwrapped)
    } else if logcat::is_one(first) {
        Some(|log| Some(logcat::as_syslog(log)))
    } else if folded::is_one(first) {
        Some(|log| Some(folded::unfolded(log)))
    } else {
        None
    }
}

/// Reads a log after its lines were written again. These logs are pasted or printed by hand, so
/// they fit into memory.
fn rewritten(source: impl Read, name: &str, rewrite: Rewrite) -> Result<Vec<Boot>, LogError> {
    let mut log = Vec::new();
    let read = source.take(arranged::MOST + 1).read_to_end(&mut log);
    read.map_err(|reason| LogError::read(name, reason))?;
    if log.len() as u64 > arranged::MOST {
        let instead = "split it, or write it with `dmesg` or `journalctl -b`";
        return Err(LogError::Wrong { of: name.to_owned(), seems: "a very long paste", instead });
    }
    let log = rewrite(&log).unwrap_or(log);
    let mut blocks = Blocks::new(&*log);
    let first = blocks.peek().map_err(|reason| LogError::read(name, reason))?;
    if first.is_empty() {
        return Err(LogError::Empty { of: name.to_owned() });
    }
    recognise(first, name)?;
    let facts = head::facts(first);
    text(&mut blocks, name, None, &facts).map_err(|reason| LogError::read(name, reason))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Export,
}

/// Returns the format of a file. The first line with a known form decides.
fn recognise(first: &[u8], name: &str) -> Result<Format, LogError> {
    let wrong = |seems, instead| Err(LogError::Wrong { of: name.to_owned(), seems, instead });
    if crate::strace::is_trace(first) {
        return wrong("a trace by strace", "give it with --strace");
    }
    for line in first
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty())
        .take(LOOKED_AT)
    {
        if line == b"{" && memchr::memmem::find(first, b"\"dmesg\":").is_some() {
            return Ok(Format::Text);
        }
        if line == b"{" {
            return wrong("journalctl's json-pretty", "write it with -o json");
        }
        if memchr::memmem::find(line, b" [s=").is_some() && line.ends_with(b"]") {
            return wrong("journalctl's verbose", "write it with -o export");
        }
        if json::parse(line).is_some() {
            return Ok(Format::Json);
        }
        if line.starts_with(b"__") && export::is_field(line) {
            return Ok(Format::Export);
        }
        let line = unpainted(line);
        let is_known = entry::parse(&line).is_some()
            || programs::of_program(&line).is_some()
            || programs::blamed(&line).is_some()
            || programs::is_blame(&line)
            || is_analysis(&line)
            || waiters::stack(&line).is_some();
        if is_known {
            return Ok(Format::Text);
        }
    }
    wrong(
        "an unknown log format",
        "give what `journalctl -b`, `journalctl -b -o export` or `dmesg` prints",
    )
}

/// Reports whether a line begins a picture of `systemd-analyze plot` or is of its other reports,
/// whose line about the seed's unit may come much later.
fn is_analysis(line: &str) -> bool {
    line.starts_with("<svg ")
        || line.starts_with("The time when unit became active or started is printed after the")
        || line.starts_with("The time after the unit is active or started is printed after the")
}

/// Reads a log whose lines have to be put in order first.
fn out_of_order(
    source: impl Read,
    name: &str,
    found: Arrangement,
    facts: &HeadFacts,
) -> Result<Vec<Boot>, LogError> {
    let mut log = Vec::new();
    let read = source.take(arranged::MOST + 1).read_to_end(&mut log);
    read.map_err(|reason| LogError::read(name, reason))?;
    if log.len() as u64 > arranged::MOST {
        let (seems, instead) = match found {
            Arrangement::Distances => {
                ("a long log of dmesg -H", "write it with plain `dmesg`, which has whole times")
            }
            _ => ("a long log with the last line first", "write it without -r"),
        };
        return Err(LogError::Wrong { of: name.to_owned(), seems, instead });
    }
    let (log, lines) = match found {
        Arrangement::Distances => (arranged::with_minutes(&log), None),
        _ => {
            let (log, lines) = arranged::reversed(&log);
            (log, Some(lines))
        }
    };
    let mut blocks = Blocks::new(&*log);
    text(&mut blocks, name, lines, facts).map_err(|reason| LogError::read(name, reason))
}

/// Reads a text. `reversed` has the number of lines if they were put in order, so that evidence
/// names the line in the user's file.
fn text(
    blocks: &mut Blocks<impl Read>,
    name: &str,
    reversed: Option<u64>,
    facts: &HeadFacts,
) -> std::io::Result<Vec<Boot>> {
    let place = |number: u64| {
        let number = reversed.map_or(number, |lines| (lines + 1).saturating_sub(number));
        format!("{name}:{number}")
    };
    let mut boots = Boots::default();
    let time = |line: &[u8]| entry::parse(&unpainted(line)).map(|entry| entry.stamp);
    if let Some(stamp) = blocks.peek()?.split(|&byte| byte == b'\n').take(LOOKED_AT).find_map(time)
    {
        boots.first(stamp);
    }
    // A journal or a syslog is written by a program, which ran when the first line was stamped.
    let head = (1..).zip(blocks.peek()?.split(|&byte| byte == b'\n').take(LOOKED_AT));
    let mut lines = head.map(|(number, line)| (number, unpainted(line)));
    if let Some((number, line)) = lines.find(|(_, line)| entry::parse(line).is_some())
        && let Some(stamp) = entry::written_by_a_program(&line)
    {
        let evidence = || Evidence { place: place(number), says: quoted(&line) };
        boots.program(stamp, evidence);
    }
    let last = scan(
        blocks,
        &words::in_text(),
        |found| {
            let line = unpainted(found.text);
            let evidence = || Evidence { place: place(found.number()), says: quoted(&line) };
            if line.starts_with("-- Boot ") || line.starts_with("-- Reboot --") {
                boots.separator(|| time(found.before()));
            } else if let Some(says) = waiters::stack(&line) {
                boots.note_untimed(says, evidence);
            } else if let Some(entry) =
                entry::parse(&line).or_else(|| entry::of_dmesg_json(&line, found.before()))
            {
                boots.note(&entry, || time(found.before()), evidence);
            } else if let Some(says) =
                programs::of_program(&line).or_else(|| programs::blamed(&line))
            {
                boots.note_untimed(says, evidence);
            }
        },
        |line| time(line).is_some_and(|stamp| stamp != Stamp::default()),
    )?;
    let mut boots = boots.finish(time(&last));
    boots.iter_mut().for_each(|boot| facts.complete(boot));
    Ok(boots)
}

fn by_json(blocks: &mut Blocks<impl Read>, name: &str) -> std::io::Result<Vec<Boot>> {
    let mut boots = Boots::default();
    let time = |line: &[u8]| json::parse(line).map(|entry| entry.stamp);
    let last = scan(
        blocks,
        &words::in_json(),
        |found| {
            if let Some(entry) = json::parse(found.text) {
                let evidence = || evidence(&entry, format!("{name}:{}", found.number()));
                boots.note(&entry, || time(found.before()), evidence);
            }
        },
        |line| time(line).is_some(),
    )?;
    Ok(boots.finish(time(&last)))
}

fn by_export(source: impl Read, name: &str) -> std::io::Result<Vec<Boot>> {
    let mut boots = Boots::default();
    let mut last: Option<Stamp> = None;
    export::read(source, |number, fields| {
        let entry = fields.entry();
        let before = last.replace(entry.stamp);
        boots.note(&entry, || before, || evidence(&entry, format!("{name}, entry {number}")));
    })?;
    Ok(boots.finish(last))
}

/// Returns an entry as one line of evidence, with the kernel's or systemd's name in front.
fn evidence(entry: &Entry<'_>, place: String) -> Evidence {
    let writer = match entry.writer {
        Writer::Kernel => "kernel: ",
        Writer::Init => "systemd[1]: ",
        Writer::Audit => "audit: ",
        Writer::Criu => "criu: ",
        Writer::Seed => "systemd-random-seed: ",
        Writer::Strace(_) => "strace: ",
        Writer::Clock | Writer::Other => "",
    };
    Evidence { place, says: quoted(&format!("{writer}{}", entry.message)) }
}
