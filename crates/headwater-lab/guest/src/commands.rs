//! What the lab asks over the line, one command at a time, each answered by lines and at last `HW ok`.

use crate::boot::is_of_interest;
use crate::doctor;
use crate::kernel;
use crate::port::{self, say};
use crate::ring::Ring;
use crate::witness::{COUNT, NAMES};
use crate::workers::Workers;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::time::Duration;

/// Bytes of a file that are told in one line.
const CHUNK: usize = 1536;
/// A file is told to this length at most.
const LONGEST: u64 = 4 << 20;

/// Serves until the lab says `off` or hangs up.
pub(crate) fn serve(input: &mut BufReader<File>, workers: &Workers) {
    let modes: Vec<&str> = workers.list.iter().map(|worker| worker.mode.as_str()).collect();
    say!(
        "ready at={:.6} cycles={} workers={} witnesses={}",
        kernel::now(),
        kernel::cycles(),
        modes.join(","),
        NAMES.join(",")
    );
    while let Some(line) = port::command(input) {
        let mut words = line.split(' ');
        let verb = words.next().unwrap_or_default();
        let rest = line[verb.len()..].trim_start();
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        match verb {
            "stop" => {
                if !workers.stop(number()) {
                    say!("failed text=a worker does not stop");
                }
            }
            "go" => workers.go(),
            "reseeded" => kernel::wait_for_reseed(Duration::from_secs(number())),
            "status" => workers.tell_status(),
            "marks" => {
                let step = number().max(1);
                for (index, worker) in workers.list.iter().enumerate() {
                    marks(index, worker.ring, step);
                }
            }
            "draws" => {
                let (worker, from, count) = (number(), number(), number());
                if let Some(worker) = workers.list.get(worker as usize) {
                    draws(worker.ring, from, count);
                }
            }
            "kmsg" => {
                for (at, text) in kernel::log() {
                    if rest == "all" || is_of_interest(&text) {
                        say!("kmsg at={at:.6} text={text}");
                    }
                }
            }
            "doctor" => doctor::examine(),
            "read" => read(rest),
            "list" => list(rest),
            "off" => return,
            _ => say!("failed text=there is no command '{verb}'"),
        }
        say!("ok");
    }
}

/// The marks of every `step`th iteration that is left, so that the lab finds where two clones parted.
fn marks(index: usize, ring: Ring, step: u64) {
    let (oldest, begun) = (ring.oldest(), ring.begun());
    let first = oldest.next_multiple_of(step);
    let mut marks = String::new();
    for iteration in (first..begun).step_by(step as usize) {
        let _ = write!(
            marks,
            "{}{:x}",
            if marks.is_empty() { "" } else { "," },
            ring.get(iteration, 0).begun
        );
    }
    say!("marks worker={index} first={first} step={step} begun={begun} list={marks}");
}

/// The draws of `count` iterations: for each witness its mark and its bytes.
fn draws(ring: Ring, from: u64, count: u64) {
    let from = from.max(ring.oldest());
    for iteration in from..(from.saturating_add(count)).min(ring.begun()) {
        let mut list = String::new();
        for witness in 0..COUNT {
            let draw = ring.get(iteration, witness);
            let separator = if witness == 0 { "" } else { "," };
            let _ = write!(list, "{separator}{:x}:", draw.begun);
            // Zeros are what an absent witness gives.
            if draw.bytes != [0; 16] {
                let _ = write!(list, "{:032x}", u128::from_be_bytes(draw.bytes));
            }
        }
        say!("draw i={iteration} list={list}");
    }
}

/// A file, in hexadecimal: what /proc and /sys hold need not be text.
fn read(path: &str) {
    let mut bytes = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    if let Err(error) = opened {
        say!("error number={} text={error}", error.raw_os_error().unwrap_or(0));
        return;
    }
    for chunk in bytes.chunks(CHUNK) {
        let mut hex = String::with_capacity(2 * CHUNK);
        for byte in chunk {
            let _ = write!(hex, "{byte:02x}");
        }
        say!("data hex={hex}");
    }
}

/// A folder: the kind of each entry (d, f, l or o for others), its name, and where a link leads.
fn list(path: &str) {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => {
            say!("error number={} text={error}", error.raw_os_error().unwrap_or(0));
            return;
        }
    };
    for entry in entries.flatten() {
        let kind = entry.file_type().map_or('o', |kind| match kind {
            kind if kind.is_dir() => 'd',
            kind if kind.is_symlink() => 'l',
            kind if kind.is_file() => 'f',
            _ => 'o',
        });
        let target = fs::read_link(entry.path()).unwrap_or_default();
        say!("entry kind={kind} name={} text={}", entry.file_name().display(), target.display());
    }
}
