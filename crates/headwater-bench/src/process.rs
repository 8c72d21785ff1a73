//! What the standard library does not offer: forks, memory that they share, and the CPUs of a thread.

use std::io;
use std::ops::Deref;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// A value that this process and those it forks later see alike. It must hold nothing but numbers and
/// atomics: an address that one process writes means nothing in another.
pub(crate) struct Shared<T>(NonNull<T>);

// SAFETY: as `&T`, which is all that it gives out.
unsafe impl<T: Sync> Sync for Shared<T> {}

impl<T: Sync> Shared<T> {
    pub(crate) fn new(value: T) -> io::Result<Shared<T>> {
        const { assert!(align_of::<T>() <= 4096, "mappings begin on a page") };
        // SAFETY: an anonymous mapping at an address of the kernel's choosing touches nothing that exists.
        let mapping = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<T>().max(1),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANON,
                -1,
                0,
            )
        };
        if mapping == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let at = NonNull::new(mapping.cast::<T>()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        // SAFETY: long enough, aligned, writable, and nobody else's yet.
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
        // SAFETY: exactly the mapping made in `new`, in this process alone. The value is not dropped,
        // since others may still use it; it owns nothing.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<T>().max(1)) };
    }
}

/// A forked process, which is ended and waited for when this is dropped.
pub(crate) struct Child(libc::pid_t);

/// How long a thread that has been joined may still be listed.
const THREADS_END: Duration = Duration::from_secs(1);

/// Forks. The child runs `body` and ends, without running anything of its parent's. It ends with its parent
/// at the latest.
///
/// # Errors
///
/// If the kernel refuses, or if this process has several threads: one of those that the child lacks may
/// hold a lock that `body` needs.
pub(crate) fn fork(body: impl FnOnce()) -> io::Result<Child> {
    wait_until_alone()?;
    // SAFETY: this process has one thread, so that the child may do whatever its parent may.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            #[cfg(target_os = "linux")]
            // SAFETY: sets a property of this process, and touches no memory.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL)
            };
            let outcome = panic::catch_unwind(AssertUnwindSafe(body));
            // SAFETY: ends the process at once. Its memory is no longer needed.
            unsafe { libc::_exit(i32::from(outcome.is_err())) }
        }
        pid => Ok(Child(pid)),
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

/// Reads the number of threads of this process. The folder of its threads may look shorter than the
/// number while threads end.
fn threads() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Threads:"))?;
    line.trim().parse().ok()
}

impl Child {
    /// Waits for its end, and says whether that was a good one.
    pub(crate) fn wait(self) -> io::Result<()> {
        let mut status = 0;
        // SAFETY: `status` is an int that waitpid writes. The child has not been waited for, since that
        // consumes `self`.
        let waited = unsafe { libc::waitpid(self.0, &raw mut status, 0) };
        std::mem::forget(self);
        match waited {
            -1 => Err(io::Error::last_os_error()),
            _ if status == 0 => Ok(()),
            _ if libc::WIFSIGNALED(status) => Err(io::Error::other(format!(
                "a forked process ended by signal {}",
                libc::WTERMSIG(status)
            ))),
            _ => Err(io::Error::other("a forked process panicked")),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: the child has not been waited for, so that its number is still its own.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, std::ptr::null_mut(), 0);
        }
    }
}

/// The CPUs that the calling thread may run on, in ascending order.
#[cfg(target_os = "linux")]
pub(crate) fn cpus() -> io::Result<Vec<usize>> {
    // SAFETY: a set of bits, all of whose values are valid; none are set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: 0 is the calling thread; the kernel writes at most the size of the set.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: reads a bit within the set.
    let has = |&cpu: &usize| unsafe { libc::CPU_ISSET(cpu, &set) };
    Ok((0..8 * size_of_val(&set)).filter(has).collect())
}

/// Lets the calling thread run on these CPUs only.
#[cfg(target_os = "linux")]
pub(crate) fn set_cpus(cpus: &[usize]) -> io::Result<()> {
    // SAFETY: as in `cpus`.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in cpus.iter().filter(|&&cpu| cpu < 8 * size_of::<libc::cpu_set_t>()) {
        // SAFETY: writes a bit within the set.
        unsafe { libc::CPU_SET(cpu, &mut set) };
    }
    // SAFETY: 0 is the calling thread; the kernel reads the size of the set.
    match unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
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
                // SAFETY: takes nothing and touches no memory.
                assert_eq!(unsafe { libc::sched_getcpu() } as usize, cpu);
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
