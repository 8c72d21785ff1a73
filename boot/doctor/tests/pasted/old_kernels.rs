//! Words that fit the kernel: jitter is gathered since 5.4, and getrandom(2) exists since 3.17.

use super::{of_log, one};
use headwater_doctor::Id;

/// Returns a log in which the generator is ready some seconds after the first program.
fn ready_after(version: &str, seconds: f64, line: &str) -> String {
    format!(
        "{version}[    1.500000] Freeing unused kernel memory: 4K\n\
         [    1.600000] systemd[1]: Starting OpenBSD Secure Shell server...\n\
         [{:12.6}] random: {line}\n\
         [{:12.6}] systemd[1]: Started OpenBSD Secure Shell server.\n",
        1.5 + seconds,
        1.6 + seconds
    )
}

const OLD: &str = "[    0.000000] Linux version 3.16.0-4-amd64 (x) #1\n";
const POOL: &str = "nonblocking pool is initialized";

#[test]
fn only_a_kernel_that_gathers_jitter_is_said_to() {
    for version in [OLD, ""] {
        let found = of_log(&ready_after(version, 2.0, POOL));
        let why = &one(&found, Id::ReadyLate).why;
        assert!(why.contains("interrupts alone"), "{version}{why}");
    }
    let found = of_log(&ready_after("", 2.0, "crng init done"));
    let why = &one(&found, Id::ReadyLate).why;
    assert!(why.contains("since 5.4"), "nothing shows the kernel: {why}");
    let found =
        of_log(&ready_after("[    0.0] Linux version 6.1.0 (x) #1\n", 2.0, "crng init done"));
    assert!(one(&found, Id::ReadyLate).why.starts_with("The kernel takes this time"));
}

#[test]
fn a_kernel_without_getrandom_hangs_no_caller_of_it() {
    let found = of_log(&ready_after(OLD, 92.0, POOL));
    let late = one(&found, Id::ReadyLate);
    assert!(late.why.contains("/dev/random") && !late.why.contains("each program"), "{}", late.why);
    assert!(late.verify.contains("nonblocking pool"), "{}", late.verify);
    let unit = one(&found, Id::UnitWaited);
    assert!(!unit.why.contains("getrandom()"), "{}", unit.why);
    let ends =
        format!("{OLD}[    1.500000] Freeing unused kernel memory: 4K\n[   90.0] usb 1-1: new\n");
    let found = of_log(&ends);
    let missing = one(&found, Id::NotReady);
    assert!(!missing.why.contains("getrandom()"), "{}", missing.why);
    let newer = OLD.replace("3.16.0-4", "4.19.0-6");
    let found = of_log(&ready_after(&newer, 92.0, "crng init done"));
    assert!(one(&found, Id::ReadyLate).why.contains("each program"));
    assert!(one(&found, Id::UnitWaited).why.contains("getrandom()"));
}
