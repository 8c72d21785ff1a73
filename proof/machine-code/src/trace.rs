//! The order of memory accesses in the built quick paths, on this machine's own CPU.
//!
//! The check runs a release build of the probe one instruction at a time and classifies each
//! operand in memory by its address, so that neither registers nor the arrangement of the code
//! matter. Then it repeats the draw, each time with one guard changed after the bytes were erased
//! from the page. A guard that is loaded but never compared would let the bytes leave.
//!
//! The environment forces the locked path, because the kernel restarts a sequence at every single
//! step, so that the sequence never ends. [`crate::sections`] reads sequences instead; here
//! [`check_aborted`] only sees that a draw ends although each of its sequences is aborted.

use crate::order::{self, Access, AccessKind, AccessPlace, Draw};
use ::object::{self as object, Object as _, ObjectSymbol as _};
use anyhow::{Context, Result, bail, ensure};
use headwater_stepper::{Touch, Tracee};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

/// Size and layout of a buffer page and of a slot's line in the core.
const PAGE: u64 = 4096;
const ROUND_KEYS: u64 = 256;
const DATA: u64 = 512 + 32;
const LINE: u64 = 128;
/// Offset in a slot's line; a handle's state begins with its account.
const STATE_AT: u64 = 8;
const NUMBER: u64 = 8;
const GENERATION: u64 = 16;
const MARKER: u64 = 24;

/// A draw counts as endless after so many instructions; the longest takes 700.
const TOO_LONG: usize = 100_000;

/// A draw takes another path if the kernel reseeds or the page is used up, so it is repeated.
const TRIES: usize = 4;

/// The ways to draw that have a quick path: mode, argument of the probe, request.
const WAYS: [(&str, &str, Draw); 11] = [
    ("buffered", "u64", Draw { slot: true, len: 8 }),
    ("buffered", "fill", Draw { slot: true, len: 5 }),
    ("buffered", "fill_16", Draw { slot: true, len: 16 }),
    ("buffered", "fill", Draw { slot: true, len: 100 }),
    ("buffered", "fill", Draw { slot: true, len: 600 }),
    ("hedged", "u64", Draw { slot: true, len: 8 }),
    ("hedged", "fill_16", Draw { slot: true, len: 16 }),
    ("buffered", "rng_u64", Draw { slot: false, len: 8 }),
    ("buffered", "rng_fill", Draw { slot: false, len: 5 }),
    ("buffered", "rng_fill", Draw { slot: false, len: 16 }),
    ("buffered", "rng_fill", Draw { slot: false, len: 100 }),
];

/// Checks every way to draw, and returns those that this machine cannot run, with the reason.
pub fn check(probe: &Path) -> Result<Vec<String>> {
    let mut left_out = Vec::new();
    for (mode, way, draw) in WAYS {
        let mut command = Command::new(probe);
        command.args([way, &draw.len.to_string()]).env("HEADWATER_MODE", mode);
        command.env("HEADWATER_NO_RSEQ", "1");
        let mut tracee = match Tracee::start(&mut command) {
            Ok(tracee) => tracee,
            Err(error) => {
                left_out.push(format!("{mode} {way}: {error:#}"));
                continue;
            }
        };
        // The probe prints the reason if a mode is unavailable here, and ends.
        let Ok(registers) = tracee.run_to_stop() else {
            left_out.push(format!("{mode} {way}: the mode is unavailable here"));
            continue;
        };
        let map = Map::of(&tracee, probe)?;
        let rng = registers.rsi..registers.rsi + registers.rdx;
        let mut trace = Trace { tracee, map, out: registers.rdi, rng, account: 0 };
        let what = format!("{mode}, {way}, {} bytes", draw.len);
        let summary = trace.check(draw).with_context(|| what.clone())?;
        println!("{what}: {summary}");
    }
    Ok(left_out)
}

/// Steps through draws whose restartable sequences are aborted at every try, and checks that each
/// draw still serves its bytes.
///
/// `aborts` are the addresses at which an aborted step ends. Returns the draws that this machine
/// cannot run, with the reason.
pub fn check_aborted(probe: &Path, aborts: &[u64]) -> Result<Vec<String>> {
    const WAYS: [(&str, &str, usize); 5] = [
        ("buffered", "fill", 8),
        ("buffered", "fill_16", 16),
        ("buffered", "fill", 100),
        ("buffered", "fill", 600),
        ("hedged", "fill_16", 16),
    ];
    let mut left_out = Vec::new();
    for (mode, way, len) in WAYS {
        let what = format!("{mode}, {way}, {len} bytes, stepped in a section");
        let mut command = Command::new(probe);
        command.args([way, &len.to_string()]).env("HEADWATER_MODE", mode);
        let mut tracee = Tracee::start(&mut command).with_context(|| what.clone())?;
        let Ok(registers) = tracee.run_to_stop() else {
            left_out.push(format!("{what}: the mode is unavailable here"));
            continue;
        };
        let mappings = mappings(&tracee.mappings()?);
        let image = mappings.iter().find(|mapping| Path::new(&mapping.name) == probe);
        let base = image.context("the probe's own mapping")?.range.start;
        let before = tracee.read(registers.rdi, len as u64)?;
        let (mut instructions, mut aborted) = (0, 0);
        loop {
            let at = tracee.registers()?.rip.wrapping_sub(base);
            aborted += usize::from(aborts.contains(&at));
            if tracee.step()?.stop {
                break;
            }
            instructions += 1;
            ensure!(instructions < TOO_LONG, "{what}: a draw does not end");
        }
        let after = tracee.read(registers.rdi, len as u64)?;
        ensure!(before != after, "{what}: the caller's buffer is as before");
        ensure!(aborted > 0, "{what}: no section was aborted");
        println!("{what}: {instructions} instructions, aborted {aborted} times");
    }
    Ok(left_out)
}

/// The addresses of pages, slots and guards in the traced process.
struct Map {
    /// Memory that the kernel may drop: pages.
    pages: Vec<Range<u64>>,
    /// Memory cleared by a fork: the canary, then the lines of slots.
    lines: Range<u64>,
    /// The vDSO's data.
    word: Range<u64>,
    clock: u64,
}

struct Trace {
    tracee: Tracee,
    map: Map,
    /// The caller's buffer and handle.
    out: u64,
    rng: Range<u64>,
    /// Address of the count of bytes, known once the handle has drawn or the slot is taken.
    account: u64,
}

/// One draw, from one breakpoint to the next.
struct Run {
    touches: Vec<(Touch, bool)>,
    instructions: usize,
    locked: usize,
}

impl Trace {
    /// Checks one draw, and returns its cost.
    fn check(&mut self, draw: Draw) -> Result<String> {
        let mut tries = 1;
        let (run, accesses) = loop {
            let run = self.draw()?;
            let accesses = self.accesses(draw, &run)?;
            match order::check(draw, &accesses) {
                Ok(()) => break (run, accesses),
                Err(_) if tries < TRIES => tries += 1,
                Err(error) => bail!("{error:#}\n{accesses:?}"),
            }
            self.tracee.run_to_stop()?;
        };
        let erasures = accesses.iter().filter(|access| is_erasure(access)).count();
        let state = if draw.slot { self.account + STATE_AT } else { self.account };
        let canary = self.map.lines.start;
        let mut guards = vec![("number", NUMBER), ("generation", GENERATION), ("marker", MARKER)];
        guards.iter_mut().for_each(|(_, at)| *at += state);
        if draw.slot {
            guards.push(("canary", canary));
        }
        // Only the number has to be noticed before the bytes are read: it is the tag's counterpart.
        let mut moves = vec![("number", state + NUMBER, 0)];
        moves.extend(guards.into_iter().map(|(name, at)| (name, at, erasures)));
        for (name, at, after) in moves {
            let mut is_void = false;
            for _ in 0..TRIES {
                self.tracee.run_to_stop()?;
                is_void = self.is_void_if_moved(draw, at, after)?;
                if is_void {
                    break;
                }
            }
            ensure!(
                is_void,
                "bytes leave although the {name} moved after {after} of {erasures} erasures"
            );
        }
        let Run { instructions, locked, .. } = run;
        Ok(format!("{instructions} instructions, {locked} locked"))
    }

    /// Steps through one draw.
    fn draw(&mut self) -> Result<Run> {
        let mut run = Run { touches: Vec::new(), instructions: 0, locked: 0 };
        loop {
            let step = self.tracee.step()?;
            if step.stop {
                return Ok(run);
            }
            run.instructions += usize::from(!step.again);
            run.locked += usize::from(step.locked);
            for touch in step.touches {
                run.touches.push((touch, touch.writes && self.is_zero(touch)?));
            }
            ensure!(run.instructions < TOO_LONG, "a draw does not end");
        }
    }

    fn is_zero(&self, touch: Touch) -> Result<bool> {
        Ok(self.tracee.read(touch.at, touch.len)?.iter().all(|&byte| byte == 0))
    }

    /// Returns the accesses that the rules name.
    fn accesses(&mut self, draw: Draw, run: &Run) -> Result<Vec<Access>> {
        let lines = self.map.lines.start + LINE..self.map.lines.end;
        // The first write to a line takes the slot, the first to a handle takes bytes off its
        // account.
        let owned = if draw.slot { &lines } else { &self.rng };
        let first = run.touches.iter().find(|(touch, _)| touch.writes && owned.contains(&touch.at));
        let (first, _) = first.context("nothing is taken off an account")?;
        self.account = first.at;
        let mut accesses = Vec::new();
        for &(touch, zero) in &run.touches {
            let Some(place) = self.place(draw, touch.at) else { continue };
            let kind = match (touch.reads, touch.writes) {
                (true, true) => AccessKind::Update,
                (true, false) => AccessKind::Read,
                _ if zero => AccessKind::Zero,
                _ => AccessKind::Write,
            };
            accesses.push(Access { place, kind, len: touch.len });
        }
        Ok(accesses)
    }

    fn place(&self, draw: Draw, at: u64) -> Option<AccessPlace> {
        let state = if draw.slot { self.account + STATE_AT } else { self.account };
        let map = &self.map;
        if map.pages.iter().any(|pages| pages.contains(&at)) {
            return match at % PAGE {
                0 => Some(AccessPlace::Tag),
                ROUND_KEYS..512 => Some(AccessPlace::Keys),
                offset @ DATA.. => Some(AccessPlace::Data(offset)),
                _ => None,
            };
        }
        if (self.out..self.out + draw.len).contains(&at) {
            return Some(AccessPlace::Out);
        }
        if map.word.contains(&at) {
            return Some(AccessPlace::Word);
        }
        match at {
            _ if at == self.account => Some(AccessPlace::Account),
            _ if at == state + NUMBER => Some(AccessPlace::Number),
            _ if at == state + GENERATION => Some(AccessPlace::Generation),
            _ if at == state + MARKER => Some(AccessPlace::Marker),
            _ if at == map.clock => Some(AccessPlace::Clock),
            _ if at == map.lines.start => Some(AccessPlace::Canary),
            _ => None,
        }
    }

    /// Runs one draw, from the breakpoint before it to the one after it, and adds 1 to the word at
    /// `at` after so many erasures. Returns whether the page is voided before the caller receives
    /// any of its bytes and, if nothing was erased yet, before any byte is read.
    fn is_void_if_moved(&mut self, draw: Draw, at: u64, after: usize) -> Result<bool> {
        let before = self.tracee.word(at)?;
        let outcome = self.watch(draw, after, |tracee| tracee.write(at, before + 1))?;
        // Only the canary would stay changed: the refill rewrites the other words.
        if at == self.map.lines.start {
            self.tracee.write(at, before)?;
        }
        if outcome != Outcome::Ended {
            self.tracee.run_to_stop()?;
        }
        Ok(outcome == Outcome::Void)
    }

    fn watch(
        &mut self,
        draw: Draw,
        after: usize,
        disturb: impl Fn(&Tracee) -> io::Result<()>,
    ) -> Result<Outcome> {
        let (mut erasures, mut moved) = (0, false);
        for _ in 0..TOO_LONG {
            if !moved && erasures == after {
                disturb(&self.tracee)?;
                moved = true;
            }
            let step = self.tracee.step()?;
            if step.stop {
                return Ok(Outcome::Ended);
            }
            for touch in step.touches {
                let zero = touch.writes && self.is_zero(touch)?;
                match self.place(draw, touch.at) {
                    Some(AccessPlace::Account) if moved && zero => return Ok(Outcome::Void),
                    Some(AccessPlace::Data(_)) if after == 0 => return Ok(Outcome::Leaves),
                    Some(AccessPlace::Data(_)) => erasures += usize::from(zero),
                    Some(AccessPlace::Out) if moved && draw.is_short() => {
                        return Ok(Outcome::Leaves);
                    }
                    _ => {}
                }
            }
        }
        bail!("a draw does not end")
    }
}

/// The outcome of a draw during which a guard was changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The page was voided.
    Void,
    /// Bytes were used although the guard had changed.
    Leaves,
    /// The draw ended without either.
    Ended,
}

fn is_erasure(access: &Access) -> bool {
    matches!(access.place, AccessPlace::Data(_)) && access.kind == AccessKind::Zero
}

impl Map {
    fn of(tracee: &Tracee, probe: &Path) -> Result<Map> {
        let mappings = mappings(&tracee.mappings()?);
        let find = |name: &str| mappings.iter().find(|mapping| mapping.name == name);
        let has = |mapping: &Mapping, flag: &str| mapping.flags.iter().any(|other| other == flag);
        // Droppable memory is wiped on fork too, so it is taken first.
        let (pages, others): (Vec<_>, Vec<_>) = mappings.iter().partition(|m| has(m, "dp"));
        let lines = others.into_iter().find(|mapping| has(mapping, "wf"));
        // The clone marker if there is a VMClock, else the constant that replaces it.
        let clock = match find("/dev/vmclock0") {
            Some(clock) => clock.range.start + 16,
            None => {
                let file = std::fs::read(probe)?;
                let file = object::File::parse(&*file)?;
                let symbol =
                    file.symbols().find(|s| s.name().is_ok_and(|n| n.contains("9NO_MARKER")));
                let image = mappings.iter().find(|m| Path::new(&m.name) == probe);
                let image = image.context("the probe's own mapping")?;
                image.range.start + symbol.context("NO_MARKER is no symbol")?.address()
            }
        };
        Ok(Map {
            pages: pages.into_iter().map(|mapping| mapping.range.clone()).collect(),
            lines: lines.context("no memory is wiped on fork")?.range.clone(),
            word: find("[vvar]").context("there is no [vvar]")?.range.clone(),
            clock,
        })
    }
}

/// A mapping, as smaps describes it.
struct Mapping {
    range: Range<u64>,
    name: String,
    flags: Vec<String>,
}

fn mappings(smaps: &str) -> Vec<Mapping> {
    let mut mappings = Vec::<Mapping>::new();
    for line in smaps.lines() {
        if let (Some(flags), Some(last)) = (line.strip_prefix("VmFlags:"), mappings.last_mut()) {
            last.flags = flags.split_whitespace().map(String::from).collect();
            continue;
        }
        let mut words = line.split_whitespace();
        let range = words.next().and_then(|word| word.split_once('-'));
        let number = |text| u64::from_str_radix(text, 16).ok();
        if let Some((Some(start), Some(end))) = range.map(|(a, b)| (number(a), number(b))) {
            let name = words.nth(4).unwrap_or_default().into();
            mappings.push(Mapping { range: start..end, name, flags: Vec::new() });
        }
    }
    mappings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_have_a_range_a_name_and_flags() {
        let smaps = "7f10-7f30 rw-p 00000000 00:00 0 \nSize: 8 kB\nVmFlags: rd wr wf dd \n\
                     7f30-7f50 r--p 00000000 00:00 0    [vvar]\nVmFlags: rd \n";
        let mappings = mappings(smaps);
        let [lines, word] = &mappings[..] else { panic!("{} mappings", mappings.len()) };
        assert_eq!((lines.range.clone(), lines.name.as_str()), (0x7f10..0x7f30, ""));
        assert_eq!(lines.flags, ["rd", "wr", "wf", "dd"]);
        assert_eq!((word.range.start, word.name.as_str()), (0x7f30, "[vvar]"));
    }
}
