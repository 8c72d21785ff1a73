//! What the first fill of a process costs: finding the kernel's word, mapping the pools, drawing a page.
//!
//! Only a fresh process can tell, so this program starts itself again and again.

use crate::failure::Failure;
use headwater_bench::Row;
use memmap2::{Mmap, MmapMut};
use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The name of the case.
pub(crate) const CASE: &str = "first-fill";

/// Fresh processes for each number of mappings.
const PROCESSES: usize = 30;
/// Bytes of the fill.
const LEN: usize = 16;
/// Extra mappings: none, and as many as a large program has, because finding one among them may cost.
const MAPPINGS: [usize; 2] = [0, 2000];
/// The notes of their rows.
pub(crate) const NOTES: [&str; 2] = ["as started", "2000 mappings"];

/// One row for each number of mappings, measured in turns.
pub(crate) fn measure() -> Result<Vec<Row>, Failure> {
    let mut rounds = MAPPINGS.map(|_| Vec::new());
    for _ in 0..PROCESSES {
        for (rounds, mappings) in rounds.iter_mut().zip(MAPPINGS) {
            rounds.push(in_fresh_process(mappings)?);
        }
    }
    let rows = rounds.into_iter().zip(NOTES).map(|(rounds, note)| Row {
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        note: Some(note.to_owned()),
        ..Row::new(CASE, "headwater", LEN, 1, rounds)
    });
    Ok(rows.collect())
}

/// Nanoseconds, as a new process of this program reports them.
fn in_fresh_process(mappings: usize) -> Result<f64, Failure> {
    let failed = |reason: String| Failure::Other(format!("{CASE}: a child process {reason}"));
    let program =
        std::env::current_exe().map_err(|error| failed(format!("has no program: {error}")))?;
    let output = Command::new(program)
        .arg(format!("--first-fill-child={mappings}"))
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(format!("did not start: {error}")))?;
    if !output.status.success() {
        return Err(failed(format!("ended with {}", output.status)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().map_err(|_| failed(format!("answered {text:?}")))
}

/// The child's part: nanoseconds of its first fill.
pub(crate) fn child(mappings: usize) -> Result<u128, Failure> {
    let held = extra_mappings(mappings)?;
    let mut bytes = [0; LEN];
    black_box(Instant::now()); // the clock's own first call is not part of it
    let start = Instant::now();
    let outcome = headwater::fill(black_box(&mut bytes));
    let took = start.elapsed();
    outcome.map_err(|error| Failure::Other(format!("{CASE}: {error}")))?;
    drop(held);
    Ok(took.as_nanos())
}

/// Mappings that the kernel cannot merge, because neighbours differ in what they permit.
fn extra_mappings(count: usize) -> Result<Vec<(MmapMut, Mmap)>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::Other(format!("{CASE}: {count} mappings cannot be made: {error}"))
    };
    let pair = || Ok((MmapMut::map_anon(1)?, MmapMut::map_anon(1)?.make_read_only()?));
    (0..count / 2).map(|_| pair().map_err(failed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_mappings_are_not_merged() {
        let count = || std::fs::read_to_string("/proc/self/maps").unwrap().lines().count();
        let before = count();
        let held = extra_mappings(2000).unwrap();
        let extra = count() - before;
        assert!(extra >= 1990, "{extra} of 2000"); // a few may join the mappings of other tests' threads
        drop(held);
    }

    #[test]
    fn a_child_reports_nanoseconds() {
        let took = child(10);
        assert!(took.is_ok_and(|took| took > 0));
    }
}
