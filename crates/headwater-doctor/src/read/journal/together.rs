//! Files of one boot become one boot: the kernel's log and a unit's own, each asked of journalctl alone.

use crate::boot::{Boot, Clock};

/// What the files tell, each boot once. Boots of one id are one, wherever they lie; without ids a file of the kernel's alone and
/// one that has nothing of the kernel's are one boot, if each holds a single boot. Times must count from the kernel's start in
/// both: by the wall clock nothing tells how long before the unit's first line that was.
pub fn put_together(files: Vec<Vec<Boot>>) -> Vec<Boot> {
    let mut all: Vec<Boot> = Vec::new();
    let single = files.iter().all(|boots| boots.len() == 1);
    for boot in files.into_iter().flatten() {
        match all.iter_mut().find(|known| are_one(known, &boot, single)) {
            Some(known) => known.add(boot),
            None => all.push(boot),
        }
    }
    all
}

fn are_one(one: &Boot, other: &Boot, single: bool) -> bool {
    if one.clock != Clock::Kernel || other.clock != Clock::Kernel {
        return false;
    }
    match (&one.id, &other.id) {
        (Some(one), Some(other)) => one == other,
        _ => {
            single
                && has_kernel(one) != has_kernel(other)
                && one.units.is_empty() != other.units.is_empty()
        }
    }
}

/// Whether any of it is the kernel's word.
fn has_kernel(boot: &Boot) -> bool {
    boot.kernel.is_some() || boot.ready.is_some()
}

impl Boot {
    /// Adds what another file tells of it. What both tell is told once: the first file's.
    fn add(&mut self, other: Boot) {
        self.kernel_by = self.kernel_by.take().or(other.kernel_by);
        self.kernel = self.kernel.take().or(other.kernel);
        self.id = self.id.take().or(other.id);
        self.command_line = self.command_line.take().or(other.command_line);
        self.init = self.init.take().or(other.init);
        self.fast_init = self.fast_init.take().or(other.fast_init);
        self.ready = self.ready.take().or(other.ready);
        self.end = [self.end, other.end].into_iter().flatten().reduce(f64::max);
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

/// One file's list: joined, the same line would count twice.
fn or<T>(own: &mut Vec<T>, others: Vec<T>) {
    if own.is_empty() {
        *own = others;
    }
}
