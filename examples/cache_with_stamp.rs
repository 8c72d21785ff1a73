//! A cache of random values that survives neither fork nor clone.
//!
//! A program that keeps random values for later hands the same value out twice when it forks or
//! when its VM is cloned. A `Stamp` reports both, and every reseed of the kernel, for the price of
//! a few loads. The example forks and shows that parent and child use different values.

use headwater::{Error, Freshness, Stamp};

/// Identifiers drawn in advance.
struct Cache {
    ids: Vec<u64>,
    stamp: Stamp,
}

impl Cache {
    fn new() -> Cache {
        Cache { ids: Vec::new(), stamp: Stamp::new() }
    }

    /// Returns the next identifier. A cache that is empty or stale is filled again first.
    fn next(&mut self) -> Result<u64, Error> {
        match self.stamp.check() {
            Freshness::Fresh => {}
            // `Unknown`: this machine cannot say whether it was cloned, so nothing may be kept.
            Freshness::Stale | Freshness::Unknown => self.ids.clear(),
        }
        if self.ids.is_empty() {
            for _ in 0..64 {
                self.ids.push(headwater::u64()?);
            }
        }
        self.ids.pop().map_or_else(headwater::u64, Ok)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cache = Cache::new();
    println!("parent {:016x}", cache.next()?);

    let child = fork()?;
    let name = if child == 0 { "child" } else { "parent" };
    println!("{name} {:016x}", cache.next()?);
    if child != 0 {
        wait(child)?;
    }
    Ok(())
}

fn fork() -> std::io::Result<i32> {
    // SAFETY: the process has one thread, so the child may call anything.
    match unsafe { libc::fork() } {
        -1 => Err(std::io::Error::last_os_error()),
        pid => Ok(pid),
    }
}

fn wait(child: i32) -> std::io::Result<()> {
    let mut status = 0;
    // SAFETY: `status` is valid for the write.
    match unsafe { libc::waitpid(child, &raw mut status, 0) } {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}
