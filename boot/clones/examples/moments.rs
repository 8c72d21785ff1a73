//! Notes the moments at which a copy of this machine becomes visible inside it:
//!
//!     moments PAGE OUTPUT
//!
//! It looks as fast as it can at the count of `headwater clones watch` in PAGE, the kernel's reseed
//! generation, `headwater::copies()` and the step of the wall clock, and keeps the nanosecond of
//! each look. A copied machine's clock shows no gap, so nothing inside says when it was resumed.
//! But the looks from before the snapshot are the same in all copies, and the first look that no
//! other copy has came after it. `boot/clones/outside/moments.py` compares outputs by that.
//!
//! It ends half a second after the count moved, and then writes OUTPUT: a line for each event, and
//! the looks around the first one.

use anyhow::{Context, Result};
use headwater::ReseedGeneration;
use rustix::time::{ClockId, clock_gettime};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The place of the count in the page (docs/copies.md).
const COUNT: u64 = 24;
/// Looks that are kept: some seconds.
const LOOKS: usize = 1 << 19;
const AFTER_NS: u64 = 500_000_000;
const SHOWN_NS: u64 = 4_000_000_000;

fn ns(clock: ClockId) -> i128 {
    let now = clock_gettime(clock);
    i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec)
}

/// Returns the four numbers, with their names.
fn numbers(page: &File) -> Result<[(&'static str, u64); 4]> {
    let mut count = [0; 8];
    page.read_exact_at(&mut count, COUNT).context("the page is too short")?;
    let generation = match headwater::status().reseed_generation {
        ReseedGeneration::Live { value, .. } => value,
        _ => 0,
    };
    // In steps of 100 ms: both clocks are read one after the other, and a switch may come between.
    let step = (ns(ClockId::Realtime) - ns(ClockId::Monotonic)) / 100_000_000;
    Ok([
        ("generation", generation),
        ("copies()", headwater::copies()),
        ("count", u64::from_ne_bytes(count)),
        ("clock", u64::try_from(step)?),
    ])
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(page), Some(output)) = (arguments.next(), arguments.next()) else {
        anyhow::bail!("usage: moments PAGE OUTPUT");
    };
    let page = File::open(&page).with_context(|| page.clone())?;
    let mut before = numbers(&page)?;
    let (mut looks, mut events) = (VecDeque::new(), Vec::new());
    let mut end = u64::MAX;
    loop {
        let time = u64::try_from(ns(ClockId::Monotonic))?;
        let now = numbers(&page)?;
        for (old, new) in before.iter().zip(&now) {
            // The kernel's own reseeds come every minute; only those near the count are of use.
            if old.1 != new.1 {
                events.push((time, new.0, old.1, new.1));
                if new.0 == "count" {
                    end = time + AFTER_NS;
                }
            }
        }
        before = now;
        if looks.len() == LOOKS {
            looks.pop_front();
        }
        looks.push_back(time);
        if time > end {
            break;
        }
    }
    let mut text = String::new();
    for (time, name, old, new) in &events {
        writeln!(text, "event {time} {name} {old} {new}")?;
    }
    // Each look of the last seconds, as its distance from the one before.
    let mut last = 0;
    for time in looks.into_iter().filter(|time| *time > end.saturating_sub(SHOWN_NS)) {
        writeln!(text, "{}", time - last)?;
        last = time;
    }
    let beside = format!("{output}.part");
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, &output).context(output)
}
