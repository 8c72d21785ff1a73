//! Facts in the first lines of a log that no reader of single messages takes: the release that an
//! oops, a USB host or `uname -a` names, the architecture, and drivers that only boards have.
//!
//! They are weaker than "Linux version", so they count only where a boot lacks the fact.

use super::machine;
use crate::boot::Boot;
use crate::fixes::{ANDROID_EMULATORS, boards};
use crate::read::logs::{Texts, unpainted};

/// The number of lines that are looked at.
const LOOKED_AT: usize = 20_000;

/// Texts one of which each line of interest holds.
static MARKS: Texts = Texts::new(&[
    "GNU/Linux",
    "ainted",
    "Manufacturer: Linux ",
    " on an ",
    "Kernel 4.",
    "Kernel 5.",
    "Kernel 6.",
    "CPU: ARMv",
    "MIPS: machine is ",
    "Booting Linux on physical CPU",
    "riscv",
    "Machine: ",
]);

/// Facts of a log's first lines.
#[derive(Debug, Default, PartialEq)]
pub(super) struct HeadFacts {
    release: Option<String>,
    architecture: Option<&'static str>,
    model: Option<String>,
    board: Option<&'static str>,
    is_openwrt: bool,
    is_android: bool,
}

/// Words that only logs of Android hold: of its init, and of daemons that its init starts.
static ANDROID: Texts = Texts::new(&[
    "androidboot.",
    "init: init first stage started",
    "init: init second stage started",
    "ueventd: Coldboot took",
    "healthd: battery ",
    "logd.auditd: start",
]);

/// Looks for the facts.
pub(super) fn facts(first: &[u8]) -> HeadFacts {
    let mut facts = HeadFacts::default();
    let mut is_emulator = false;
    for line in first.split(|&byte| byte == b'\n').take(LOOKED_AT) {
        let line = unpainted(line);
        if facts.board.is_none() && line.len() < 400 {
            facts.board = boards::of(&line).map(|board| board.name);
        }
        facts.is_openwrt |=
            ["procd: ", "jshn: ", "ubusd: ", "urngd: "].iter().any(|name| line.contains(name));
        if ANDROID.is_in(&line) {
            facts.is_android = true;
            is_emulator |= ANDROID_EMULATORS.iter().any(|name| line.contains(name));
        }
        if MARKS.is_in(&line) {
            facts.note(&line);
        }
    }
    facts.is_android &= !is_emulator;
    facts
}

impl HeadFacts {
    fn note(&mut self, line: &str) {
        if let Some((release, architecture)) = release(line) {
            self.release.get_or_insert_with(|| release.to_owned());
            self.architecture = self.architecture.or(architecture);
        }
        if let Some((_, model)) = line.split_once("MIPS: machine is ") {
            self.architecture.get_or_insert("mips");
            self.model.get_or_insert_with(|| model.trim().to_owned());
        }
        let is_arm =
            ["CPU: ARMv6", "CPU: ARMv7", "CPU: ARMv5"].iter().any(|cpu| line.contains(cpu));
        if is_arm {
            self.architecture.get_or_insert("arm");
        } else if line.contains("Booting Linux on physical CPU") {
            // 64-bit kernels print the CPU's number with ten digits.
            let wide = line.contains("CPU 0x0000000000");
            self.architecture.get_or_insert(if wide { "arm64" } else { "arm" });
        } else if line.contains("riscv: ") || line.contains("riscv-intc: ") {
            self.architecture.get_or_insert("riscv64");
        }
    }

    /// Adds the facts to a boot that lacks them. A machine with firmware tables, a hypervisor or an
    /// x86 CPU is no board, whatever words its log holds.
    pub(super) fn complete(&self, boot: &mut Boot) {
        boot.release_hint.clone_from(&self.release);
        let machine = &mut boot.machine;
        if machine.architecture.is_none() && machine.dmi.is_none() {
            machine.architecture = self.architecture.map(str::to_owned);
        }
        if machine.model.is_none() {
            machine.model.clone_from(&self.model);
        }
        let is_pc = machine.dmi.is_some()
            || machine.hypervisor.is_some()
            || machine.virtualization.is_some()
            || machine.firmware.is_some()
            || machine.architecture.as_deref().is_some_and(|name| name.starts_with("x86"));
        if !is_pc {
            machine.board = self.board.map(str::to_owned);
            machine.is_openwrt = self.is_openwrt;
            machine.is_android = self.is_android;
        }
    }
}

/// Returns the release that a line names, and the architecture if it names one: `Linux host
/// 4.19.42+ #1219 ... armv6l GNU/Linux`; `Not tainted 5.6.0-rc6 #1`; `Manufacturer: Linux 6.5.0
/// xhci-hcd`; `Kernel 5.10.113 on an riscv64`.
fn release(line: &str) -> Option<(&str, Option<&'static str>)> {
    let is_release =
        |word: &&str| word.contains('.') && word.starts_with(|first: char| first.is_ascii_digit());
    if let Some((_, rest)) = line.split_once("Manufacturer: Linux ") {
        return Some((rest.split(' ').next().filter(is_release)?, None));
    }
    if let Some((head, _)) = line.split_once(" #").filter(|_| line.contains("ainted")) {
        return Some((head.rsplit(' ').next().filter(is_release)?, None));
    }
    let words = || line.split_ascii_whitespace();
    let architecture = words().find_map(|word| {
        let word = word.trim_matches(['(', ')']);
        machine::architecture(word).filter(|_| !word.contains('/'))
    });
    if line.contains("GNU/Linux") {
        let mut words = words().skip_while(|word| *word != "Linux");
        return Some((words.nth(2).filter(is_release)?, architecture));
    }
    let (_, rest) = line.split_once("Kernel ")?;
    let release = rest.split(' ').next().filter(is_release)?;
    architecture.map(|name| (release, Some(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_taken_from_any_line_that_shows_it() {
        for (line, expected) in [
            (
                "Linux rpi 4.19.42+ #1219 Tue May 14 21:16:38 BST 2019 armv6l GNU/Linux",
                Some(("4.19.42+", Some("arm"))),
            ),
            (
                "[    1.0] CPU: 0 PID: 1 Comm: swapper/0 Not tainted 5.6.0-rc6 #1",
                Some(("5.6.0-rc6", None)),
            ),
            ("[    1.0] usb usb1: Manufacturer: Linux 6.5.0 xhci-hcd", Some(("6.5.0", None))),
            ("Kernel 5.10.113 (riscv64)", Some(("5.10.113", Some("riscv64")))),
            ("slarm64 GNU/Linux (ttyS0)", None),
            ("Kernel panic", None),
            ("the kernel is not tainted #1", None),
        ] {
            assert_eq!(release(line), expected, "{line}");
        }
    }

    #[test]
    fn a_pc_is_no_board() {
        let facts = facts(b"[    1.0] meson: a build\n[    2.0] CPU: ARMv7 Processor\n");
        let mut boot = Boot::default();
        facts.complete(&mut boot);
        assert_eq!(boot.machine.board.as_deref(), Some("Amlogic"));
        assert_eq!(boot.machine.architecture.as_deref(), Some("arm"));
        let mut boot = Boot::default();
        boot.machine.dmi = Some("Dell Inc. PowerEdge".to_owned());
        facts.complete(&mut boot);
        assert_eq!((boot.machine.board, boot.machine.architecture), (None, None));
    }
}
