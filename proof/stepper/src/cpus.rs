//! Which CPU a thread runs on.

use std::io;

/// Returns the CPUs that the calling thread may run on.
pub fn allowed_cpus() -> Vec<usize> {
    let set = affinity().unwrap_or_else(|_| empty());
    let limit = 8 * size_of::<libc::cpu_set_t>();
    // SAFETY: every number is below the size of the set.
    (0..limit).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// Keeps the calling thread on one CPU, if that is granted.
pub(crate) fn pin(cpu: usize) {
    let mut set = empty();
    // SAFETY: `CPU_SET` ignores numbers above the size of the set.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    apply(&set);
}

/// Keeps the calling thread on one CPU until it is dropped. A tracer runs beside its tracee,
/// because waking another CPU takes longer than a step.
pub struct Pinned(Option<libc::cpu_set_t>);

impl Pinned {
    /// Moves it there, if that is granted.
    pub fn to(cpu: usize) -> Pinned {
        let before = affinity().ok();
        if before.is_some() {
            pin(cpu);
        }
        Pinned(before)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            apply(before);
        }
    }
}

fn empty() -> libc::cpu_set_t {
    // SAFETY: an array of bits, for which zeros are valid.
    unsafe { std::mem::zeroed() }
}

fn affinity() -> io::Result<libc::cpu_set_t> {
    let mut set = empty();
    // SAFETY: the set has the size that is given; 0 is the calling thread.
    match unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } {
        0 => Ok(set),
        _ => Err(io::Error::last_os_error()),
    }
}

fn apply(set: &libc::cpu_set_t) {
    // SAFETY: the set has the size that is given; 0 is the calling thread. A refusal changes
    // nothing.
    unsafe { libc::sched_setaffinity(0, size_of_val(set), set) };
}
