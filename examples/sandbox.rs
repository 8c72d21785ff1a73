//! Set-up before a seccomp filter that allows getrandom(2) alone.
//!
//! Set-up reads a few files and maps memory. `headwater::init()` does all of it, so a program calls
//! it before it drops its rights. Afterwards draws make no system call but getrandom(2).

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use std::collections::BTreeMap;

/// System calls that stay allowed: random bytes, output and the end of the process. The heap is
/// left alone, because the example allocates nothing after the filter.
const ALLOWED: [i64; 4] =
    [libc::SYS_getrandom, libc::SYS_write, libc::SYS_exit_group, libc::SYS_exit];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    headwater::init()?;

    let rules = ALLOWED.map(|call| (call, Vec::new())).into_iter().collect::<BTreeMap<_, _>>();
    let filter: BpfProgram = SeccompFilter::new(
        rules,
        SeccompAction::KillProcess,
        SeccompAction::Allow,
        std::env::consts::ARCH.try_into()?,
    )?
    .try_into()?;
    seccompiler::apply_filter(&filter)?;

    // Ten thousand draws need several refills of a page, and at least each eighth asks the kernel.
    let mut ones = 0;
    for _ in 0..10_000 {
        ones += headwater::u64()?.count_ones();
    }
    write(if ones > 300_000 { b"drew 10000 words\n" } else { b"drew too few ones\n" });
    // A return from main would run destructors, whose system calls the filter does not allow.
    // SAFETY: ends the process; nothing is left to be flushed.
    unsafe { libc::_exit(0) }
}

/// Writes to the standard output without the buffers of `println!`, which allocate.
fn write(text: &[u8]) {
    // SAFETY: `text` is valid for its length.
    unsafe { libc::write(1, text.as_ptr().cast(), text.len()) };
}
