//! The events in messages: `generator` reads those of drivers/char/random.c, `programs` those of
//! systemd and of programs, and this file the kernel's others. The texts are those of the kernel's
//! init/main.c and arch/x86 from 3.17 to 6.18, and of the LRNG patches.

use super::clock_set::{clock_set, set_by_systemd};
use super::entry::{Entry, Writer};
use super::generator::generator;
use super::log_event::LogEvent;
use super::machine;
use super::programs::{JOB, START_JOB, of_program, seed_job, startup, without_count};
use super::waiters::{BLOCKED, frame_of_kernel, waiter};
use crate::boot::HintKind;
use crate::read::logs::Texts;

/// The line of readiness as Oracle's 5.4 and board makers' kernels print it: without "random: ".
pub(super) const BARE_READY: &str = "crng init done";

/// A table of the kernel's, which it makes after the earliest seeds and long before any program.
pub(super) const DENTRIES: &str = "Dentry cache hash table entries";

/// Returns the event of an entry, if the entry is relevant.
pub(super) fn event<'a>(entry: &'a Entry<'_>) -> Option<LogEvent<'a>> {
    let message = entry.message.as_ref();
    match entry.writer {
        Writer::Kernel => kernel(message),
        Writer::Init if message.starts_with("Startup finished in ") => startup(message),
        Writer::Init
            if [START_JOB, JOB].iter().any(|job| without_count(message).starts_with(job)) =>
        {
            seed_job(message)
        }
        Writer::Init if message.starts_with("Detected ") => {
            machine::by_systemd(message).map(LogEvent::Machine)
        }
        Writer::Init => {
            let step = set_by_systemd(message).map(LogEvent::ClockSet);
            Some(step.unwrap_or(LogEvent::Unit))
        }
        Writer::Audit => seccomp(message),
        Writer::Criu => message.contains("estore").then_some(LogEvent::Hint(HintKind::Criu)),
        Writer::Clock => clock_set(message).map(LogEvent::ClockSet),
        Writer::Seed => message
            .starts_with("Kernel entropy pool is not initialized")
            .then_some(LogEvent::SeedWait),
        Writer::Strace(pid) => Some(LogEvent::Traced(pid)),
        Writer::Other => of_program(message),
    }
}

/// Texts that may stand anywhere in a message of the kernel, one of which [`kernel`] must find to
/// read further.
static INSIDE: Texts = Texts::new(&[
    "Hypervisor detected: ",
    "Machine model: ",
    "Memory Encryption Features active: ",
    "Switched to clocksource ",
    "clocksource: timekeeping watchdog",
    "funky smelling output",
    "RDRAND is not reliable on this platform",
    "rdrand: disabled",
    "hiding RDRAND via CPUID",
    "RDSEED is not reliable on this platform",
    "RDSEED32 is broken",
    "seeding entropy pool",
    VIRTUALBOX_CLOCK,
]);

/// The part of VirtualBox's guest service that sets the clock. A line of it is in the kernel's log,
/// too, where its own log cannot be opened.
const VIRTUALBOX_CLOCK: &str = "vgsvcTimeSync";

fn kernel(message: &str) -> Option<LogEvent<'_>> {
    if let Some(random) = message.strip_prefix("random: ") {
        return generator(random);
    }
    if message == BARE_READY {
        return Some(LogEvent::Ready { trusted: false });
    }
    if let Some(version) = message.strip_prefix("Linux version ") {
        return Some(LogEvent::Version(version));
    }
    if let Some(line) = message
        .strip_prefix("Kernel command line: ")
        .or_else(|| message.strip_prefix("Command line: "))
    {
        return Some(LogEvent::CommandLine(line));
    }
    // Before 4.18 the kernel does not name the first program, but frees its own start-up code
    // immediately before.
    if message.starts_with("Run /") && message.ends_with(" as init process") {
        return Some(LogEvent::Init { is_start: true });
    }
    if message.starts_with("Freeing unused kernel ")
        || message.starts_with("Freeing unused decrypted memory")
    {
        return Some(LogEvent::Init { is_start: false });
    }
    if [DENTRIES, "e820: "].iter().any(|start| message.starts_with(start)) {
        return Some(LogEvent::KernelStarts);
    }
    // LRNG, a replacement of drivers/char/random.c that some vendors build in.
    if message.starts_with("lrng") && message.contains("LRNG fully seeded") {
        return Some(LogEvent::Ready { trusted: false });
    }
    if let Some(fact) = machine::by_start(message) {
        return Some(LogEvent::Machine(fact));
    }
    // OpenWrt's first programs write to the kernel's log without a process number.
    const OPENWRT: [&str; 6] =
        ["procd: ", "init: ", "urandom-seed: ", "urandom_seed: ", "mount_root: ", "kmodloader: "];
    let is_program = || OPENWRT.iter().any(|name| message.starts_with(name));
    if message.contains(BLOCKED) {
        return waiter(message);
    }
    if let Some(waiter) = frame_of_kernel(message) {
        return Some(LogEvent::Frame(waiter));
    }
    if !INSIDE.is_in(message) {
        if is_program() {
            return Some(LogEvent::Program);
        }
        if message.starts_with("audit: type=1326 ") {
            return seccomp(message);
        }
        let is_hwrng = message.starts_with("hwrng") || message.starts_with("virtio_rng");
        return is_hwrng.then_some(LogEvent::Hint(HintKind::Hwrng));
    }
    if let Some(fact) = machine::inside(message) {
        return Some(LogEvent::Machine(fact));
    }
    if message.contains(VIRTUALBOX_CLOCK) {
        return clock_set(message).map(LogEvent::ClockSet);
    }
    if is_program() {
        return Some(LogEvent::Program);
    }
    if message.starts_with("audit: type=1326 ") {
        return seccomp(message);
    }
    let kind = if message.contains("Switched to clocksource ")
        || message.contains("clocksource: timekeeping watchdog")
    {
        HintKind::ClockSource
    } else if let Some(found) = erratum(message) {
        found
    } else if message.contains("seeding entropy pool") {
        HintKind::BootSeed
    } else if message.starts_with("hwrng") || message.starts_with("virtio_rng") {
        HintKind::Hwrng
    } else {
        return None;
    };
    Some(LogEvent::Hint(kind))
}

/// Messages about a broken CPU instruction, and what the kernel does after each. All of them sound
/// alike, but they do not mean the same (arch/x86/kernel/cpu/rdrand.c and amd.c): from 5.3 to 5.19
/// equal numbers cause a message and nothing else; since 6.0 the kernel clears the feature for
/// itself and in /proc/cpuinfo, while a program that asks CPUID still finds it; and where amd.c
/// clears the bit of CPUID, no program does. A guest cannot clear that bit, and says so in the
/// words of the machine that can, so its row comes first.
static ERRATA: [(&str, HintKind); 7] = [
    ("hypervisor does not support hiding RDRAND via CPUID", HintKind::RdrandKept),
    ("hiding RDRAND via CPUID", HintKind::RdrandErratum),
    ("funky smelling output", HintKind::RdrandKept),
    ("RDRAND is not reliable on this platform", HintKind::RdrandGivenUp),
    // Before 6.0, where the instruction fails.
    ("rdrand: disabled", HintKind::RdrandGivenUp),
    ("RDSEED is not reliable on this platform", HintKind::RdrandErratum),
    ("RDSEED32 is broken", HintKind::RdrandErratum),
];

/// Returns what the kernel reports of a broken CPU instruction.
fn erratum(message: &str) -> Option<HintKind> {
    ERRATA.iter().find(|(text, _)| message.contains(text)).map(|(_, kind)| *kind)
}

/// The number of getrandom by the audit name of an architecture (linux/audit.h). To look for 318
/// alone would be wrong, because each architecture counts its calls differently: the number has a
/// meaning only together with its architecture.
const GETRANDOM: [(&str, &str); 12] = [
    ("c000003e", "318"),  // x86-64
    ("40000003", "355"),  // i386
    ("c00000b7", "278"),  // arm64
    ("40000028", "384"),  // arm
    ("c00000f3", "278"),  // riscv64
    ("c0000102", "278"),  // loongarch64
    ("80000016", "349"),  // s390x
    ("c0000015", "359"),  // ppc64le
    ("80000015", "359"),  // ppc64
    ("14", "359"),        // ppc
    ("40000008", "4353"), // mipsel
    ("c0000008", "5313"), // mips64el
];
/// SECCOMP_RET_LOG: the filter allowed the call and wrote a line about it.
const ONLY_LOGGED: &str = "0x7ffc0000";

/// Reads the audit line of a seccomp filter that refused getrandom.
fn seccomp(message: &str) -> Option<LogEvent<'_>> {
    let field = |name: &str| {
        message.split_ascii_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    static RECORD: Texts = Texts::new(&["SECCOMP", "type=1326"]);
    let seccomp = RECORD.is_in(message);
    let call = field("arch").zip(field("syscall"))?;
    (seccomp && GETRANDOM.contains(&call) && field("code") != Some(ONLY_LOGGED))
        .then_some(LogEvent::Hint(HintKind::SeccompKill))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::journal::words;

    #[test]
    fn every_message_that_is_understood_holds_a_word_of_the_prefilter() {
        for text in [
            "Command line: quiet",
            "clocksource: timekeeping watchdog on CPU0: Marking clocksource 'tsc' as unstable",
        ] {
            assert!(kernel(text).is_some(), "{text}");
            for words in [words::in_text(), words::in_json()] {
                assert!(words.iter().any(|word| text.contains(word)), "{text}");
            }
        }
    }

    /// On another architecture the same number is another call, and only the audit's lines come
    /// from a filter.
    #[test]
    fn a_filters_kill_counts_for_getrandom_only() {
        let line = |arch: &str, call: u32| {
            format!(
                "audit: type=1326 audit(1.2:3): auid=1 comm=\"x\" sig=31 arch={arch} syscall={call} code=0x80000000"
            )
        };
        assert_eq!(kernel(&line("c000003e", 318)), Some(LogEvent::Hint(HintKind::SeccompKill)));
        assert_eq!(kernel(&line("c00000b7", 278)), Some(LogEvent::Hint(HintKind::SeccompKill)));
        assert_eq!(kernel(&line("c000003e", 278)), None);
        assert_eq!(kernel(&line("c000003e", 3180)), None);
        assert_eq!(kernel(&line("80000016", 349)), Some(LogEvent::Hint(HintKind::SeccompKill)));
        let logged = line("c000003e", 318).replace("0x80000000", "0x7ffc0000");
        assert_eq!(kernel(&logged), None, "SECCOMP_RET_LOG lets the call pass");
    }
}
