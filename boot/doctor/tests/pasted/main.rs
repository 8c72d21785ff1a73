//! The patterns of a trial with 234 pasted logs, each in the smallest log that shows it: every test
//! here failed before the doctor was changed.

mod broken_cpu;
mod causes;
mod clock_steps;
mod early_keys;
mod forms;
mod old_kernels;
mod platform;
mod service_managers;

#[path = "../support/pasted.rs"]
mod support;

use support::{find, fixes, of_bytes, of_log, one};

/// Returns the log of a kernel that is ready before its first program, with one more line.
fn ready_with(kernel: &str, line: &str) -> String {
    format!(
        "[    0.000000] Linux version {kernel} (x) #1\n[    0.100000] {line}\n\
         [    0.900000] random: crng init done\n\
         [    2.000000] Run /sbin/init as init process\n"
    )
}
