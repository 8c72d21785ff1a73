//! What a message says, of what matters here. Texts by the kernel's drivers/char/random.c from 3.17 to 6.18, init/main.c, arch/x86,
//! and systemd's src/core from 219 to 257.

use super::entry::{Entry, Writer};
use crate::boot::HintKind;

/// Words of which each line that matters holds one. They are searched for in whole blocks, so each must be rare in a log.
pub(super) const WORDS: &[&str] = &[
    "random: ",
    "systemd[1]: ",
    "init.scope[1]: ",
    "Linux version ",
    "ommand line: ",
    " as init process",
    "-- Boot ",
    "-- Reboot --",
    "clocksource: ",
    "RDRAND",
    "RDSEED",
    "seeding entropy pool",
    "hwrng",
    "virtio_rng",
    "syscall=318",
    "syscall=278",
    "criu[",
    "Clock change detected",
    "time server",
    "System clock w",
];

/// The same for JSON, where the writer's name is a field.
pub(super) const JSON_WORDS: &[&str] = &[
    "random: ",
    "\"systemd\"",
    "Linux version ",
    "ommand line: ",
    " as init process",
    "clocksource: ",
    "RDRAND",
    "RDSEED",
    "seeding entropy pool",
    "hwrng",
    "virtio_rng",
    "syscall=318",
    "syscall=278",
    "\"criu\"",
];

/// What a message says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LogEvent<'a> {
    /// The kernel's release.
    Version(&'a str),
    CommandLine(&'a str),
    /// The first program starts.
    Init,
    /// systemd runs as the first program: later than [`LogEvent::Init`] where there is an initramfs.
    Running,
    FastInit,
    /// The generator is ready; whether because the CPU's maker is trusted.
    Ready {
        trusted: bool,
    },
    EarlyCaller {
        caller: &'a str,
        crng_init: u8,
    },
    EarlyRead {
        program: &'a str,
        bytes: u64,
    },
    Missed(u64),
    Fork,
    Resumed,
    Hint(HintKind),
    /// Of a unit's start; [`super::units`] reads it.
    Unit,
    /// The wall clock was set.
    ClockSet,
}

/// What an entry says; `None` for nothing that matters.
pub(super) fn event<'a>(entry: &'a Entry<'_>) -> Option<LogEvent<'a>> {
    let message = entry.message.as_ref();
    match entry.writer {
        Writer::Kernel => kernel(message),
        Writer::Init
            if message.starts_with("systemd ") && message.contains(" running in system mode") =>
        {
            Some(LogEvent::Running)
        }
        Writer::Init if message.starts_with("Time has been changed") => Some(LogEvent::ClockSet),
        Writer::Init => Some(LogEvent::Unit),
        Writer::Audit => seccomp(message),
        Writer::Criu => message.contains("estore").then_some(LogEvent::Hint(HintKind::Criu)),
        Writer::Clock => clock_set(message),
        Writer::Other => None,
    }
}

fn kernel(message: &str) -> Option<LogEvent<'_>> {
    if let Some(random) = message.strip_prefix("random: ") {
        return generator(random);
    }
    if let Some(version) = message.strip_prefix("Linux version ") {
        return version.split_ascii_whitespace().next().map(LogEvent::Version);
    }
    if let Some(line) = message
        .strip_prefix("Kernel command line: ")
        .or_else(|| message.strip_prefix("Command line: "))
    {
        return Some(LogEvent::CommandLine(line));
    }
    if message.starts_with("Run /") && message.ends_with(" as init process") {
        return Some(LogEvent::Init);
    }
    if message.starts_with("audit: type=1326 ") {
        return seccomp(message);
    }
    let kind = if message.contains("Switched to clocksource ")
        || message.contains("clocksource: timekeeping watchdog")
    {
        HintKind::ClockSource
    } else if is_erratum(message) {
        HintKind::RdrandErratum
    } else if message.contains("seeding entropy pool") {
        HintKind::BootSeed
    } else if message.starts_with("hwrng") || message.starts_with("virtio_rng") {
        HintKind::Hwrng
    } else {
        return None;
    };
    Some(LogEvent::Hint(kind))
}

/// After "random: ".
fn generator(says: &str) -> Option<LogEvent<'_>> {
    match says {
        // Before 4.8 getrandom waited for the pool of that name.
        "crng init done" | "nonblocking pool is initialized" => {
            return Some(LogEvent::Ready { trusted: false });
        }
        "crng done (trusting CPU's manufacturer)"
        | "crng init done (trusting CPU's manufacturer)" => {
            return Some(LogEvent::Ready { trusted: true });
        }
        "fast init done" => return Some(LogEvent::FastInit),
        "crng reseeded due to virtual machine fork" => return Some(LogEvent::Fork),
        "crng reseeded on system resumption" => return Some(LogEvent::Resumed),
        _ => {}
    }
    if let Some((program, read)) = says.rsplit_once(": uninitialized urandom read (") {
        let bytes = read.split_once(" bytes read")?.0.parse().ok()?;
        return Some(LogEvent::EarlyRead { program, bytes });
    }
    // Before 4.8; how much was read is not told.
    if let Some((program, rest)) = says.split_once(" urandom read with ") {
        return rest
            .ends_with(" bits of entropy available")
            .then_some(LogEvent::EarlyRead { program, bytes: 0 });
    }
    if let Some((call, crng_init)) = says.rsplit_once(" with crng_init=") {
        let (_, caller) = call.split_once(" called from ")?;
        let crng_init = crng_init.parse().ok().filter(|state| *state < 2)?;
        return Some(LogEvent::EarlyCaller {
            caller: caller.split('+').next().unwrap_or(caller),
            crng_init,
        });
    }
    let (count, rest) = says.split_once(' ')?;
    let missed = rest.starts_with("urandom warning(s) missed")
        || rest.starts_with("get_random_xx warning(s) missed");
    missed.then(|| count.parse().ok().map(LogEvent::Missed))?
}

/// arch/x86/kernel/cpu/rdrand.c and amd.c.
fn is_erratum(message: &str) -> bool {
    [
        "RDRAND gives funky smelling output",
        "RDRAND is not reliable on this platform",
        "hiding RDRAND via CPUID",
        "RDSEED is not reliable on this platform",
        "RDSEED32 is broken",
    ]
    .iter()
    .any(|text| message.contains(text))
}

/// A filter's kill or log of getrandom: 318 on x86-64, 278 on arm64. A number means something together with its architecture only.
fn seccomp(message: &str) -> Option<LogEvent<'_>> {
    let field = |name: &str| {
        message.split_ascii_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    let is = |arch: &str, call: &str| field("arch") == Some(arch) && field("syscall") == Some(call);
    let seccomp = message.contains("SECCOMP") || message.contains("type=1326");
    (seccomp && (is("c000003e", "318") || is("c00000b7", "278")))
        .then_some(LogEvent::Hint(HintKind::SeccompKill))
}

fn clock_set(message: &str) -> Option<LogEvent<'_>> {
    [
        "Initial synchronization to time server",
        "Initial clock synchronization",
        "Synchronized to time server",
        "Clock change detected",
        "System clock was stepped",
        "System clock wrong by",
    ]
    .iter()
    .any(|text| message.starts_with(text))
    .then_some(LogEvent::ClockSet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generators_messages_are_understood() {
        let says = [
            ("crng init done", Some(LogEvent::Ready { trusted: false })),
            ("crng done (trusting CPU's manufacturer)", Some(LogEvent::Ready { trusted: true })),
            (
                "crng init done (trusting CPU's manufacturer)",
                Some(LogEvent::Ready { trusted: true }),
            ),
            ("fast init done", Some(LogEvent::FastInit)),
            (
                "dd: uninitialized urandom read (512 bytes read)",
                Some(LogEvent::EarlyRead { program: "dd", bytes: 512 }),
            ),
            (
                "a: b: uninitialized urandom read (4 bytes read)",
                Some(LogEvent::EarlyRead { program: "a: b", bytes: 4 }),
            ),
            (
                "dd urandom read with 3 bits of entropy available",
                Some(LogEvent::EarlyRead { program: "dd", bytes: 0 }),
            ),
            (
                "get_random_bytes called from start_kernel+0x93/0x52a with crng_init=0",
                Some(LogEvent::EarlyCaller { caller: "start_kernel", crng_init: 0 }),
            ),
            ("7 urandom warning(s) missed due to ratelimiting", Some(LogEvent::Missed(7))),
            ("3 get_random_xx warning(s) missed due to ratelimiting", Some(LogEvent::Missed(3))),
            ("crng reseeded due to virtual machine fork", Some(LogEvent::Fork)),
            ("crng reseeded on system resumption", Some(LogEvent::Resumed)),
            ("crng init do", None),
            ("dd: uninitialized urandom read (51", None),
            ("get_random_bytes called from start_kernel with crng_init=9", None),
            ("urandom warning(s) missed", None),
        ];
        for (text, expected) in says {
            assert_eq!(generator(text), expected, "{text}");
        }
    }

    #[test]
    fn every_message_that_is_understood_holds_a_word_of_the_prefilter() {
        for text in [
            "random: crng init done",
            "Linux version 6.1.0",
            "Kernel command line: quiet",
            "Command line: quiet",
            "Run /init as init process",
            "clocksource: Switched to clocksource tsc",
            "clocksource: timekeeping watchdog on CPU0: Marking clocksource 'tsc' as unstable",
            "BIOS may not properly restore RDRAND after suspend, hiding RDRAND via CPUID. Use rdrand=force to reenable.",
            "RDSEED32 is broken. Disabling the corresponding CPUID bit.",
            "efi: seeding entropy pool",
            "audit: type=1326 audit(1.2:3): auid=1 sig=31 arch=c000003e syscall=318 compat=0",
        ] {
            assert!(kernel(text).is_some(), "{text}");
            for words in [WORDS, JSON_WORDS] {
                assert!(words.iter().any(|word| text.contains(word)), "{text}");
            }
        }
    }

    /// The same number is another call elsewhere, and another program's line is no filter's.
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
    }
}
