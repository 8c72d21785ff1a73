//! Forks, memory that processes share, and the CPUs of a thread, which the standard library lacks.

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;
use std::ops::Deref;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::{NonNull, null_mut};
use std::time::{Duration, Instant};

/// A value that this process and those it forks later see alike. It must hold nothing but numbers
/// and atomics: an address that one process writes means nothing in another.
pub(crate) struct Shared<T>(NonNull<T>);

// SAFETY: a `Shared` lends `&T` only, and `T` is `Sync`.
unsafe impl<T: Sync> Sync for Shared<T> {}

impl<T: Sync> Shared<T> {
    pub(crate) fn new(value: T) -> io::Result<Shared<T>> {
        const { assert!(align_of::<T>() <= 4096, "mappings begin on a page") };
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: an anonymous mapping at an address that the kernel chooses replaces no other
        // memory.
        let mapping = unsafe { mmap_anonymous(null_mut(), size_of::<T>().max(1), access, kind) }?;
        let at = NonNull::new(mapping.cast::<T>()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        // SAFETY: long enough, aligned, writable, and not in use by other code yet.
        unsafe { at.write(value) };
        Ok(Shared(at))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: written in `new`, unmapped in `drop` only, and never lent for writing.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`, in this process alone. The value is not
        // dropped, because other processes may still use it. It owns nothing.
        let unmapped = unsafe { munmap(self.0.as_ptr().cast(), size_of::<T>().max(1)) };
        debug_assert_eq!(unmapped, Ok(()), "an error here means that the mapping was not ours");
    }
}

/// A forked process, which is ended and waited for when this is dropped.
pub(crate) struct Child(Pid);

/// A joined thread may stay in the list for so long.
const THREADS_END: Duration = Duration::from_secs(1);

/// Forks. The child runs `body` and ends, without running anything of its parent's. It ends with
/// its parent at the latest.
///
/// # Errors
///
/// If the kernel refuses, or if this process has several threads: one of those that the child lacks
/// may hold a lock that `body` needs.
pub(crate) fn fork(body: impl FnOnce()) -> io::Result<Child> {
    wait_until_alone()?;
    // SAFETY: this process has one thread, so the child may do everything that its parent may.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            #[cfg(target_os = "linux")]
            let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
            let outcome = panic::catch_unwind(AssertUnwindSafe(body));
            // SAFETY: ends the process at once, without the parent's destructors and exit handlers.
            unsafe { libc::_exit(i32::from(outcome.is_err())) }
        }
        pid => {
            Pid::from_raw(pid).map(Child).ok_or_else(|| io::Error::other("fork returned no pid"))
        }
    }
}

/// Fails if this process has another thread. Where there is no /proc, the caller is believed.
fn wait_until_alone() -> io::Result<()> {
    let start = Instant::now();
    while let Some(threads) = threads() {
        match threads {
            0 | 1 => break,
            count if start.elapsed() > THREADS_END => {
                return Err(io::Error::other(format!(
                    "a process with {count} threads cannot be forked"
                )));
            }
            _ => std::thread::yield_now(),
        }
    }
    Ok(())
}

/// Reads the number of threads of this process. The directory of its threads may look shorter than
/// the number while threads end.
fn threads() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Threads:"))?;
    line.trim().parse().ok()
}

impl Child {
    /// Waits for the end of the process.
    ///
    /// # Errors
    ///
    /// If a signal ended it, or if its body panicked.
    pub(crate) fn wait(self) -> io::Result<()> {
        let status = waitpid(Some(self.0), WaitOptions::empty());
        std::mem::forget(self); // the number may belong to another process from here on
        let (_, status) = status?.ok_or_else(|| io::Error::other("a forked process is lost"))?;
        match (status.exit_status(), status.terminating_signal()) {
            (Some(0), _) => Ok(()),
            (_, Some(signal)) => {
                Err(io::Error::other(format!("a forked process ended by signal {signal}")))
            }
            _ => Err(io::Error::other("a forked process panicked")),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The process has not been waited for, so its number is still its own.
        let _ = kill_process(self.0, Signal::KILL);
        let _ = waitpid(Some(self.0), WaitOptions::empty());
    }
}

/// Returns the CPUs that the calling thread may run on, in ascending order.
#[cfg(target_os = "linux")]
pub(crate) fn cpus() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// Lets the calling thread run on these CPUs only.
#[cfg(target_os = "linux")]
pub(crate) fn set_cpus(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    cpus.iter().filter(|&&cpu| cpu < CpuSet::MAX_CPU).for_each(|&cpu| set.set(cpu));
    Ok(sched_setaffinity(None, &set)?)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cpus() -> io::Result<Vec<usize>> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn set_cpus(_: &[usize]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_threads_is_not_forked() {
        // The harness of tests has a thread of its own.
        let error = fork(|| ()).err().expect("refused").to_string();
        assert!(error.contains("threads cannot be forked"), "{error}");
    }

    #[test]
    fn a_thread_runs_where_it_was_told_to() {
        std::thread::spawn(|| {
            for cpu in cpus().unwrap() {
                set_cpus(&[cpu]).unwrap();
                assert_eq!(cpus().unwrap(), [cpu]);
                assert_eq!(rustix::thread::sched_getcpu(), cpu);
            }
        })
        .join()
        .unwrap();
    }

    #[test]
    fn no_cpu_at_all_is_refused() {
        assert!(set_cpus(&[]).is_err());
    }
}
