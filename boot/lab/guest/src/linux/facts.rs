//! Facts that decide how soon a kernel is ready, and its log.

use crate::linux::kernel;
use crate::linux::port::send;
use headwater_lab_protocol::{Cpu, Devices, Fact, Log};
use std::fs;

pub(crate) fn send_all() {
    for path in [
        "/proc/cmdline",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "/sys/devices/system/clocksource/clocksource0/available_clocksource",
        "/sys/class/misc/hw_random/rng_available",
        "/sys/class/misc/hw_random/rng_current",
        "/proc/sys/kernel/random/entropy_avail",
        "/proc/sys/kernel/random/poolsize",
        "/sys/devices/system/cpu/online",
    ] {
        let text = fs::read_to_string(path).unwrap_or_default();
        send(Fact { path: path.to_owned(), text: text.trim().replace('\n', "|") });
    }
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = cpu.lines().find(|line| line.starts_with("flags") || line.starts_with("Features"));
    let has =
        |flag| flags.is_some_and(|line| line.split_ascii_whitespace().any(|word| word == flag));
    send(Cpu {
        rdrand: has("rdrand") || has("rng"),
        rdseed: has("rdseed"),
        tsc: has("tsc") || cfg!(target_arch = "aarch64"),
        aes: has("aes"),
        hypervisor: has("hypervisor"),
    });
    let vmgenid = ["platform", "acpi"]
        .iter()
        .filter_map(|bus| fs::read_dir(format!("/sys/bus/{bus}/drivers/vmgenid")).ok())
        .flatten()
        .flatten()
        .any(|entry| {
            entry.file_type().is_ok_and(|kind| kind.is_symlink()) && entry.file_name() != "module"
        });
    send(Devices {
        efi: fs::metadata("/sys/firmware/efi").is_ok(),
        vmgenid,
        vmclock: fs::metadata("/dev/vmclock0").is_ok(),
    });
}

/// Sends the kernel's log: all lines, or only those that belong to a timeline.
pub(crate) fn send_log(all: bool) {
    for (at_us, text) in kernel::log() {
        if all || is_of_interest(&text) {
            send(Log { at_us, text });
        }
    }
}

fn is_of_interest(text: &str) -> bool {
    const MARKS: [&str; 15] = [
        "random:",
        "crng",
        "vmgenid",
        "vmclock",
        "hwrng",
        "rng_core",
        "entropy",
        "clocksource:",
        "tsc:",
        "EFI",
        "arch_timer",
        "Run /init",
        "get_random",
        "Linux version",
        "Hypervisor detected",
    ];
    MARKS.iter().any(|mark| text.contains(mark))
}
