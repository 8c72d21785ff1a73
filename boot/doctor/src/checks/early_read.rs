//! HW007: a program read /dev/urandom before the generator was ready.

use super::Answer;
use super::logged::newest;
use crate::boot::{Boot, EarlyRead};
use crate::fixes::Cause;
use crate::{Case, Finding, Fix, Id, Severity};

/// Programs that are named; the rest are counted.
const NAMED: usize = 5;

/// Makes the check. It would be enough to look at the last boot that went wrong, as the other
/// checks of logs do, if all that a program does with early bytes ended with its boot. But a key
/// stays in use for years, so an earlier boot in which one was made is no history: its finding
/// keeps its severity, and also stands beside one of the last boot.
pub(super) fn check(case: &Case) -> Answer {
    let find = |boot: &Boot| Answer::from(by_log(case, boot));
    let made_keys = |boot: &&Boot| boot.early_reads.iter().any(makes_keys);
    let earlier = case.boots.split_last().map(|(_, earlier)| earlier).unwrap_or_default();
    let (Some(last), Some(then)) = (case.boot(), earlier.iter().rev().find(made_keys)) else {
        return newest(case, find);
    };
    if made_keys(&last) {
        return find(last);
    }
    let lasting = by_log(case, then).map(|finding| Finding {
        title: format!("at an earlier boot, {}", finding.title),
        why: format!(
            "{} Keys that were made then are in use until they are replaced.",
            finding.why
        ),
        ..finding
    });
    find(last).with(lasting.into_iter().collect())
}

fn by_log(case: &Case, boot: &Boot) -> Option<Finding> {
    let reads = &boot.early_reads;
    (!reads.is_empty()).then_some(())?;
    let named = |read: &EarlyRead| match read.bytes {
        0 => read.program.clone(),
        bytes => format!("{} ({bytes} bytes)", read.program),
    };
    let mut names: Vec<String> = reads.iter().take(NAMED).map(named).collect();
    if reads.len() > NAMED {
        names.push(format!("{} more", reads.len() - NAMED));
    }
    let missed = match boot.warnings_missed {
        0 => String::new(),
        missed => format!(", and {missed} more warnings that the kernel's rate limit left out"),
    };
    let harmless = reads.iter().all(is_harmless);
    let why = if harmless && reads.iter().any(|read| read.program == SEEDRNG) {
        "seedrng makes the next boot's seed of these bytes, marks the seed as one that does not count, and makes no key of it."
    } else if reads.iter().all(is_short) {
        "Reads as short as these are numbers for hash tables, ports and file names. No key has fewer than 16 bytes."
    } else if harmless {
        "systemd reads a few bytes this early to seed its hash tables, and never makes a key of them (its documents: \"Random Seeds\")."
    } else {
        "/dev/urandom does not wait. Its bytes before the generator is ready may be guessed, or be the same in every machine of an \
         image; a key or a password made of it is worth nothing."
    };
    Some(Finding {
        id: Id::EarlyRead,
        severity: if harmless { Severity::Note } else { Severity::Warning },
        title: format!(
            "/dev/urandom was read before the generator was ready, by {}{missed}",
            names.join(", ")
        ),
        evidence: reads.iter().take(NAMED).map(|read| read.moment.evidence.clone()).collect(),
        why: why.to_owned(),
        fixes: keys(case, boot).into_iter().chain(case.fixes(Cause::NoSeed)).collect(),
        verify: "after a reboot, `dmesg | grep 'uninitialized urandom'` shows no line".to_owned(),
    })
}

/// The program of BusyBox, OpenRC and buildroot that keeps a seed from one boot to the next. If the
/// generator is not ready, it asks with GRND_INSECURE, and does not credit what it saves.
const SEEDRNG: &str = "seedrng";

/// Programs that make host keys, by the server whose keys they are.
const OPENSSH: [&str; 2] = ["ssh-keygen", "sshd"];
const DROPBEAR: [&str; 2] = ["dropbear", "dropbearkey"];
/// Other programs that make keys which outlive the boot, by the names that the kernel prints: at
/// most 15 letters of each.
const OTHERS: [&str; 12] = [
    "openssl",
    "px5g",
    "certtool",
    "keytool",
    "gpg",
    "gpg2",
    "gpg-agent",
    "wg",
    "openvpn",
    "cryptsetup",
    "tinysshd-makeke",
    "make-ssl-cert",
];

/// Returns the steps that make keys again which may have been made of early bytes.
pub(super) fn keys(case: &Case, boot: &Boot) -> Vec<Fix> {
    let read = |names: &[&str]| boot.early_reads.iter().any(|read| is_one_of(names, read));
    let causes = [
        (read(&OPENSSH), Cause::HostKeysMadeEarly),
        (read(&DROPBEAR), Cause::DropbearKeysMadeEarly),
        (read(&OTHERS), Cause::KeysMadeEarly),
    ];
    let wanted = causes.into_iter().filter(|(is_wanted, _)| *is_wanted);
    wanted.flat_map(|(_, cause)| case.fixes(cause)).collect()
}

/// Returns whether a program made keys of what it read.
fn makes_keys(read: &EarlyRead) -> bool {
    [&OPENSSH[..], &DROPBEAR, &OTHERS].iter().any(|names| is_one_of(names, read))
}

/// Returns whether one of these programs read enough for a key.
fn is_one_of(names: &[&str], read: &EarlyRead) -> bool {
    names.contains(&read.program.as_str()) && !is_harmless(read)
}

/// Returns whether all reads of a program are shorter than any key.
fn is_short(read: &EarlyRead) -> bool {
    read.bytes > 0 && read.bytes < 16 * read.times
}

/// Returns true for process 1 and its helpers. udev's workers call themselves "(udev-worker)", and
/// eudev's daemon, "udevd", reads as systemd's does.
fn is_harmless(read: &EarlyRead) -> bool {
    is_short(read)
        || read.program == "systemd"
        || read.program == "udevd"
        || read.program == SEEDRNG
        || read.program.starts_with("systemd-")
        || read.program == "udevadm"
        || read.program.ends_with("udev-worker)")
}
