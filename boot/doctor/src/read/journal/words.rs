//! The words by which a log is searched: only a line that holds one of them is parsed.
//!
//! Parsing every line would be simpler, but most lines of a log say nothing that we ask, and a
//! search of whole blocks passes over them many times faster than a parser does. The price is that
//! a message which a parser understands is lost if no word leads to it. So each word stands here
//! with a line that it finds, and a test sends the line through the parsers: a word that they no
//! longer understand fails there, and so does a word that JSON would hide.

use super::event::{BARE_READY, DENTRIES};
use super::programs::SECURE_RANDOM;
use super::waiters::{BLOCKED, DROPBEAR, GO_FRAME, GOROUTINE, GPG, PYTHON, SODIUM, UNSEEDED};

/// The word that finds the same message in JSON.
enum InJson {
    /// The word itself, which is part of the message.
    Same,
    /// Another word. The word in text holds the writer's name, which is a field of its own here.
    Field(&'static str),
    /// No word. Either another word finds the line, or no journal has it.
    No,
}
use InJson::{Field, No, Same};

/// A word as text formats have it, its form in JSON, and a line that it finds. Whole blocks are
/// searched for the words, so each must be rare in a log.
type Word = (&'static str, InJson, &'static str);

#[rustfmt::skip]
const WORDS: &[Word] = &[
    ("random: ", Same, "[    1.5] random: fast init done"),
    // Oracle's 5.4 and board makers' kernels print it without "random: ".
    (BARE_READY, Same, "[    1.5] crng init done"),
    // `-o with-unit` prints `init.scope[1]: ` in place of `systemd[1]: `.
    ("[1]: ", Field("\"systemd\""), "[    2.5] systemd[1]: Starting a.service"),
    ("Linux version ", Same, "[    0.0] Linux version 6.1.0"),
    ("ommand line: ", Same, "[    0.0] Kernel command line: quiet"),
    (" as init process", Same, "[    1.5] Run /init as init process"),
    // JSON has the boot's id in a field of each entry.
    ("-- Boot ", No, "-- Boot 7b1d2f64a09c4c5ea1b8d3c2f4e59a60 --"),
    ("-- Reboot --", No, "-- Reboot --"),
    ("clocksource: ", Same, "[    0.7] clocksource: Switched to clocksource kvm-clock"),
    ("RDRAND", Same, "[    0.0] BIOS may not properly restore RDRAND after suspend, hiding RDRAND via CPUID. Use rdrand=force to reenable."),
    // JSON has no room for one more word, and this one is of kernels before 6.0.
    ("rdrand: disabled", No, "[    0.1] rdrand: disabled"),
    ("RDSEED", Same, "[    0.0] RDSEED32 is broken. Disabling the corresponding CPUID bit."),
    ("seeding entropy pool", Same, "[    0.0] efi: seeding entropy pool"),
    ("hwrng", Same, "[    1.5] hwrng: no data available"),
    ("virtio_rng", Same, "[    3.5] virtio_rng: Unknown symbol register_virtio_driver (err -2)"),
    ("type=1326", Same, "[   22.4] audit: type=1326 audit(1.2:3): auid=1 sig=31 arch=c000003e syscall=318 compat=0"),
    ("SECCOMP", Same, "Nov 22 06:07:30 host audit[812]: SECCOMP auid=1 sig=31 arch=c000003e syscall=318 compat=0"),
    ("criu[", Field("\"criu\""), "Nov 22 06:07:30 host criu[812]: Restore finished successfully."),
    // In JSON every line has the kernel's clock beside the wall's, so a step of the latter is no
    // news.
    ("Clock change detected", No, "Nov 22 06:07:30 host systemd-resolved[300]: Clock change detected. Flushing caches."),
    ("timesyncd", No, "Nov 22 06:07:30 host systemd-timesyncd[450]: Synchronized to time server 192.0.2.4:123."),
    ("chronyd[", No, "Nov 22 06:07:30 host chronyd[450]: System clock wrong by 3.5 seconds"),
    ("ntpd", No, "Nov 22 06:07:30 host ntpdate[450]: step time server 192.0.2.1 offset 3.5 sec"),
    ("connmand[", No, "Nov 22 06:07:30 host connmand[450]: ntp: adjust (jump): +3.5 sec"),
    ("vgsvcTimeSync", No, "Nov 22 06:07:30 host vboxadd-service[450]: 06:07:30.1 timesync vgsvcTimeSyncWorker: Radical guest time change: 3 600 000 000 000ns"),
    ("Freeing unused ", Same, "[    0.4] Freeing unused kernel image (initmem) memory: 3728K"),
    (DENTRIES, No, "[    0.1] Dentry cache hash table entries: 65536 (order: 7, 524288 bytes, linear)"),
    // systemd names the virtual machine in each journal.
    ("ACPI: XSDT ", No, "[    0.0] ACPI: XSDT 0x000000016FBFFE98 000044 (v01 APPLE  Apple Vz 00000001      01000013)"),
    ("e820: ", No, "[    0.0] e820: remove [mem 0xe0000000-0xefffffff] reserved"),
    ("lrng", Same, "[    1.5] lrng_es_mgr: LRNG fully seeded with 256 bits of entropy"),
    ("ernel entropy pool", Same, "Nov 22 06:07:30 host systemd-random-seed[258]: Kernel entropy pool is not initialized yet, waiting until it is."),
    ("DMI: ", Same, "[    0.0] DMI: QEMU Standard PC (i440FX + PIIX, 1996), BIOS 1.16.3 04/01/2014"),
    ("Hardware name: ", Same, "[   46.8] Hardware name: QEMU Standard PC (i440FX + PIIX, 1996), BIOS 1.14.0-2 04/01/2014"),
    ("Hypervisor detected", Same, "[    0.0] Hypervisor detected: KVM"),
    ("Machine model: ", Same, "[    0.0] OF: fdt: Machine model: linux,dummy-virt"),
    ("Memory Encryption Features active", Same, "[    0.4] Memory Encryption Features active: Intel TDX"),
    ("tdx: Guest detected", Same, "[    0.0] tdx: Guest detected"),
    ("SEV: S", Same, "[    0.5] SEV: SNP guest platform device initialized."),
    // An enclave has no journal.
    ("nsm: ", No, "[    0.4] nsm: module verification failed: signature and/or required key missing"),
    ("NSM RNG: ", No, "[    0.5] NSM RNG: returning rand bytes = 64"),
    ("setup: Linux is running ", Same, "[    0.2] setup: Linux is running natively in 64-bit mode"),
    // A console prints systemd's lines without its name, which JSON has.
    ("Detected ", No, "Detected virtualization kvm."),
    // OpenWrt's first programs. It has no journal.
    ("procd: ", No, "[    8.5] procd: - early -"),
    // A telephone's line has the CPU and the process in front: `c1      1 init: `.
    (" init: ", No, "[    6.5] init: Console is alive"),
    ("andom-seed", No, "[   11.9] urandom-seed: Seeding with /etc/urandom.seed"),
    ("urandom_seed: ", No, "[   11.9] urandom_seed: Seeding with /etc/urandom.seed"),
    ("mount_root: ", No, "[    9.1] mount_root: switching to jffs2 overlay"),
    ("andom Seed", No, "[  OK  ] Started Load/Save Random Seed."),
    // A name that a narrow terminal shortened.
    ("systemd-ra", No, "1min 16.746s systemd-ra…eed.service"),
    ("strace[", Field("\"strace\""), "[    1.0] host strace[10]: execve(\"/usr/sbin/sshd\", [\"sshd\"], 0x7f) = 0"),
    (SECURE_RANDOM, Same, "INFO: Creation of SecureRandom instance for session ID generation using [SHA1PRNG] took [126,553] milliseconds."),
    (BLOCKED, Same, "crypto/rand: blocked for 60 seconds waiting to read random data from the kernel"),
    (GPG, Same, "Not enough random bytes available.  Please do some other work to give"),
    (SODIUM, No, "This system doesn't provide enough entropy to quickly generate high-quality random numbers."),
    (DROPBEAR, No, "Waiting for kernel randomness to be initialised..."),
    (PYTHON, No, "Error: [('lib', 'osrandom_rand_bytes', 'getrandom() initialization failed.')]"),
    (UNSEEDED, No, "sshd: fatal: PRNG is not seeded"),
    (GOROUTINE, No, "goroutine 29 [syscall, 1 minutes]:"),
    (GO_FRAME, No, "internal/syscall/unix.GetRandom(0xc4201e20e9, 0x3, 0x3, 0x0)"),
    // Stacks, of which a journal has each line as a message at most.
    ("NativePRNG$", No, "\tat sun.security.provider.NativePRNG$Blocking.engineNextBytes(NativePRNG.java:268)"),
    ("URLSeedGenerator", No, "\tat sun.security.provider.SeedGenerator$URLSeedGenerator.getSeedBytes(SeedGenerator.java:551)"),
    ("getrandom ", No, "thread 'main' panicked at 'All entropy sources failed; cause: getrandom not ready (not ready yet)'"),
    ("rand_pool_acquire", No, "#1  0x000000000097485d in rand_pool_acquire_entropy ()"),
    ("wait_for_random", No, "[<0>] wait_for_random_bytes+0x57/0x60"),
    ("random_read", No, "[<0>] random_read.part.1+0x10/0x20"),
];

/// Returns the words for text formats.
pub(super) fn in_text() -> Vec<&'static str> {
    WORDS.iter().map(|(text, ..)| *text).collect()
}

/// The beginning of a message that journalctl writes as an array of bytes, because it has control
/// characters. No word can be found in it, so each such line is parsed; they are rare.
const AS_BYTES: &str = "\"MESSAGE\":[";
/// The same as journalctl printed it before systemd 240, with spaces.
const AS_SPACED_BYTES: &str = "\"MESSAGE\" : [";

/// Returns the words for JSON. The faster search takes at most 32 of them.
pub(super) fn in_json() -> Vec<&'static str> {
    let word = |(text, json, _): &Word| match json {
        Same => Some(*text),
        Field(word) => Some(*word),
        No => None,
    };
    WORDS.iter().filter_map(word).chain([AS_BYTES, AS_SPACED_BYTES]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::journal::entry::{self, Entry, Writer};
    use crate::read::journal::{event, json, programs, waiters};

    /// Returns the entry as journalctl would print it.
    fn as_json(entry: &Entry<'_>) -> String {
        let (transport, name, pid) = match entry.writer {
            Writer::Kernel => ("kernel", "kernel", 0),
            Writer::Audit => ("audit", "audit", 0),
            Writer::Init => ("journal", "systemd", 1),
            Writer::Seed => ("journal", "systemd-random-seed", 258),
            Writer::Criu => ("journal", "criu", 812),
            Writer::Strace(pid) => ("journal", "strace", pid),
            Writer::Clock | Writer::Other => ("journal", "other", 300),
        };
        serde_json::json!({
            "MESSAGE": entry.message, "_TRANSPORT": transport, "SYSLOG_IDENTIFIER": name,
            "_PID": pid.to_string(), "__MONOTONIC_TIMESTAMP": "1500000",
        })
        .to_string()
    }

    #[test]
    fn every_word_finds_a_line_that_is_understood() {
        for (word, _, line) in WORDS {
            assert!(line.contains(word), "{word}: {line}");
            let understood = line.starts_with("-- ")
                || match entry::parse(line) {
                    Some(entry) => event::event(&entry).is_some(),
                    None => programs::of_program(line).or(programs::blamed(line)).is_some(),
                }
                || waiters::stack(line).is_some();
            assert!(understood, "{word}: {line}");
        }
    }

    #[test]
    fn the_words_of_json_find_the_same_message() {
        for (text, in_json, line) in WORDS {
            let word = match in_json {
                Same => text,
                Field(word) => word,
                No => continue,
            };
            // A program's report may stand alone in a file; a journal has it as a message.
            let entry = entry::parse(line).unwrap_or_else(|| {
                let mut entry = entry::parse("Nov 22 06:07:30 host java[9]: x").unwrap();
                entry.message = (*line).into();
                entry
            });
            let json = as_json(&entry);
            assert!(json.contains(word), "{word}: {json}");
            let read = json::parse(json.as_bytes()).unwrap_or_else(|| panic!("{json}"));
            assert!(event::event(&read).is_some(), "{word}: {json}");
        }
    }

    /// Above this number the search falls back to a table.
    #[test]
    fn text_has_no_more_words_than_the_search_by_vectors_takes() {
        assert!(in_text().len() <= 64, "{}", in_text().len());
    }

    #[test]
    fn json_has_no_more_words_than_the_faster_search_takes() {
        assert!(in_json().len() <= 32, "{}", in_json().len());
    }
}
