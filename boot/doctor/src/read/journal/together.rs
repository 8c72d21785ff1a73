//! Several files of one boot become one boot: the kernel's log and a unit's own, for example.

use crate::boot::{Boot, Clock};

/// A unit's first line may precede the kernel's by so much: journald stamps both.
const EARLY_S: f64 = 5.0;
/// A unit's log may begin so long after the kernel's last line, as with `dmesg | grep random`.
const LATE_S: f64 = 1800.0;

/// Joins the boots of several files, in any order of the files. Boots with one id are one boot.
/// Otherwise nothing says so, and we join only what can hardly be anything else: a boot with lines
/// of the kernel and one without, if their times count from the same origin. Either both count from
/// the kernel's start, or both go by the wall clock and the second lies inside the first.
pub fn put_together(files: Vec<Vec<Boot>>) -> Vec<Boot> {
    let is_single = files.iter().all(|boots| boots.len() == 1);
    // The kernel's boots first: the others are joined to them.
    let (kernels, others): (Vec<Boot>, Vec<Boot>) =
        files.into_iter().flatten().partition(has_kernel);
    let mut all: Vec<Boot> = Vec::new();
    for boot in kernels.into_iter().chain(others) {
        // The last match: of several boots by the wall clock, the one that began last before it.
        match all.iter_mut().rev().find(|known| are_one(known, &boot, is_single)) {
            Some(known) => known.add(boot),
            None => all.push(boot),
        }
    }
    if all.iter().all(|boot| boot.wall.is_some() && boot.id.is_none()) {
        all.sort_by(|one, other| one.wall.unwrap_or(0.0).total_cmp(&other.wall.unwrap_or(0.0)));
    }
    all
}

fn are_one(one: &Boot, other: &Boot, is_single: bool) -> bool {
    if let (Some(one), Some(other)) = (&one.id, &other.id) {
        return one == other;
    }
    if has_kernel(one) == has_kernel(other) || one.units.is_empty() == other.units.is_empty() {
        return false;
    }
    if one.clock == Clock::Kernel && other.clock == Clock::Kernel && other.wall.is_none() {
        return is_single;
    }
    let (Some(zero), Some(other_zero)) = (one.wall, other.wall) else { return false };
    let begins = other_zero - zero + other.begin.unwrap_or(0.0);
    begins >= one.begin.unwrap_or(0.0) - EARLY_S && begins <= one.end.unwrap_or(0.0) + LATE_S
}

/// Returns whether any line is the kernel's.
fn has_kernel(boot: &Boot) -> bool {
    boot.kernel.is_some()
        || boot.ready.is_some()
        || boot.fast_init.is_some()
        || !boot.early_callers.is_empty()
        || !boot.early_reads.is_empty()
}

impl Boot {
    /// Adds the facts of another file. If both have a fact, the first file's counts, because the
    /// kernel's log comes first.
    fn add(&mut self, mut other: Boot) {
        if let (Some(zero), Some(other_zero)) = (self.wall, other.wall) {
            other.shift(other_zero - zero);
        }
        // Only of the file that shows when the generator was ready.
        if self.readiness().is_none() {
            self.has_gap = other.has_gap;
        }
        self.resolution = self.resolution.max(other.resolution);
        self.has_kernel_times |= other.has_kernel_times;
        self.kernel_by = self.kernel_by.take().or(other.kernel_by);
        self.kernel = self.kernel.take().or(other.kernel);
        self.id = self.id.take().or(other.id);
        self.command_line = self.command_line.take().or(other.command_line);
        self.init = self.init.take().or(other.init);
        self.program = self.program.take().or(other.program);
        self.fast_init = self.fast_init.take().or(other.fast_init);
        self.ready = self.ready.take().or(other.ready);
        self.seed_wait = self.seed_wait.take().or(other.seed_wait);
        self.secure_random = self.secure_random.take().or(other.secure_random);
        self.has_systemd |= other.has_systemd;
        self.program_wait = self.program_wait.take().or(other.program_wait);
        self.trace = self.trace.take().or(other.trace);
        self.is_ready_first |= other.is_ready_first;
        self.end = [self.end, other.end].into_iter().flatten().reduce(f64::max);
        self.begin = [self.begin, other.begin].into_iter().flatten().reduce(f64::min);
        self.warnings_missed = self.warnings_missed.max(other.warnings_missed);
        or(&mut self.early_callers, other.early_callers);
        or(&mut self.early_reads, other.early_reads);
        or(&mut self.forks, other.forks);
        or(&mut self.resumptions, other.resumptions);
        or(&mut self.hints, other.hints);
        for unit in other.units {
            if self.units.iter().all(|known| known.name != unit.name) {
                self.units.push(unit);
            }
        }
    }
}

/// Keeps one file's list: joined, the same line would count twice.
fn or<T>(own: &mut Vec<T>, others: Vec<T>) {
    if own.is_empty() {
        *own = others;
    }
}
