//! Commands of the lab, one at a time, each answered by messages with `Done` as the last.

use crate::linux::port::{self, fail, send};
use crate::linux::ring::Ring;
use crate::linux::witness::{COUNT, NAMES};
use crate::linux::workers::Workers;
use crate::linux::{doctor, facts, hibernation, job, kernel, nodes, sections};
use headwater_lab_protocol::{
    Command, Data, Done, Draw, Entry, EntryKind, FileError, Marks, Ready, Round, Symbol,
};
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::time::Duration;

/// Bytes of a file in one message.
const CHUNK: usize = 1536;
/// Bytes of a file that are sent at most.
const LONGEST: u64 = 4 << 20;

/// Serves commands until the lab sends `Off` or closes the line.
pub(crate) fn serve(input: &mut BufReader<File>, workers: &Workers) {
    send(Ready {
        at_us: kernel::now_us(),
        cycles: kernel::cycles(),
        threads: workers.list.iter().map(|worker| worker.mode.clone()).collect(),
        witnesses: NAMES.map(str::to_owned).to_vec(),
    });
    while let Some(command) = port::command(input) {
        let before = port::sent();
        match command {
            Command::Stop { more } => {
                if !workers.stop(more) {
                    fail("a thread does not stop");
                }
            }
            Command::Reseeded { limit_s } => kernel::wait_for_reseed(Duration::from_secs(limit_s)),
            Command::Status => workers.send_status(),
            Command::Marks { step } => {
                for (thread, worker) in workers.list.iter().enumerate() {
                    send(marks(thread, worker.ring, step.max(1)));
                }
            }
            Command::Draws { thread, from, count } => match workers.list.get(thread) {
                Some(worker) => rounds(worker.ring, from, count).for_each(send),
                None => fail(format!("thread {thread} does not exist")),
            },
            Command::Hibernate => {
                if let Err(error) = hibernation::hibernate() {
                    fail(format!("cannot hibernate: {error}"));
                }
            }
            Command::Log { all } => facts::send_log(all),
            Command::Doctor => doctor::examine(),
            Command::Sections(plan) => sections::examine(plan),
            Command::Nodes(plan) => nodes::examine(plan),
            Command::Run(job) => job::run(&job),
            Command::Symbol { name } => send(Symbol { address: kernel::symbol(&name) }),
            Command::Read { path } => read(&path),
            Command::List { path } => list(&path),
            Command::Off => return,
        }
        send(Done { messages: port::sent() - before });
    }
}

/// Returns the marks of every `step`th round in a ring, by which the lab finds where clones
/// diverge.
fn marks(thread: usize, ring: Ring, step: u64) -> Marks {
    let first = ring.oldest().next_multiple_of(step);
    let rounds = (first..ring.begun()).step_by(step as usize);
    Marks { thread, first, step, marks: rounds.map(|round| ring.get(round, 0).mark).collect() }
}

/// Returns the draws of `count` rounds, as far as the ring holds them.
fn rounds(ring: Ring, from: u64, count: u64) -> impl Iterator<Item = Round> {
    let from = from.max(ring.oldest());
    (from..from.saturating_add(count).min(ring.begun())).map(move |number| {
        let draw = |witness| {
            let slot = ring.get(number, witness);
            // A witness that is unavailable draws zeros.
            Draw { mark: slot.mark, bytes: (slot.bytes != [0; 16]).then_some(slot.bytes) }
        };
        Round { number, draws: (0..COUNT).map(draw).collect() }
    })
}

fn send_error(error: &io::Error) {
    send(FileError { errno: error.raw_os_error().unwrap_or(0), text: error.to_string() });
}

fn read(path: &str) {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes)) {
        Ok(_) => bytes.chunks(CHUNK).for_each(|chunk| send(Data { bytes: chunk.to_vec() })),
        Err(error) => send_error(&error),
    }
}

fn list(path: &str) {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => return send_error(&error),
    };
    for entry in entries.flatten() {
        let kind = entry.file_type().map_or(EntryKind::Other, |kind| match kind {
            kind if kind.is_dir() => EntryKind::Directory,
            kind if kind.is_symlink() => EntryKind::Link,
            kind if kind.is_file() => EntryKind::File,
            _ => EntryKind::Other,
        });
        let target = fs::read_link(entry.path()).unwrap_or_default();
        send(Entry {
            kind,
            name: entry.file_name().to_string_lossy().into_owned(),
            target: target.display().to_string(),
        });
    }
}
