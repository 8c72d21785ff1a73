//! Daemons are started by the system's own service manager, and a phone is no guest.

use super::{fixes, of_log, one};
use headwater_doctor::Id;
use headwater_doctor::Root;
use headwater_doctor::fixes::{Cause, PlatformFacts, for_cause};
use std::fs;

const STALL: &str = "[    1.500000] Run /sbin/init as init process\n\
                     [   93.500000] random: crng init done\n";

/// Returns all commands for a machine with these files.
fn commands(name: &str, files: &[(&str, &str)]) -> String {
    let top = std::env::temp_dir().join(format!("headwater-pasted-{}-{name}", std::process::id()));
    for (path, text) in files {
        let path = top.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let facts = PlatformFacts::read(&Root::open(&top).unwrap(), None);
    let causes = [Cause::NoSeed, Cause::SavedSeedMissing, Cause::NeedlessDaemon];
    let exacts = causes.iter().flat_map(|cause| for_cause(*cause, &facts));
    let text = exacts.filter_map(|fix| fix.exact).collect::<Vec<String>>().join("\n");
    fs::remove_dir_all(&top).unwrap();
    text
}

#[test]
fn systemctl_is_for_systems_with_systemd() {
    let other = ("etc/os-release", "ID=example\n");
    let with = |name: &str, path: &str, text: &str| commands(name, &[other, (path, text)]);
    for (text, has, lacks) in [
        (with("systemd", "proc/1/comm", "systemd\n"), "systemctl enable --now haveged", "rc-"),
        (with("openrc", "sbin/openrc-run", ""), "rc-update add haveged", "systemctl"),
        (with("runit", "proc/1/comm", "runit\n"), "/etc/sv/haveged", "systemctl"),
        (with("sysv", "etc/inittab", "id:3:initdefault:\n"), "service haveged start", "systemctl"),
        (with("unknown", "proc/1/comm", "init\n"), "haveged", "systemctl"),
        (
            commands("devuan", &[("etc/os-release", "ID=devuan\n"), ("etc/inittab", "")]),
            "apt install",
            "systemctl",
        ),
        (
            commands(
                "artix",
                &[("etc/os-release", "ID=artix\nID_LIKE=arch\n"), ("sbin/openrc-run", "")],
            ),
            "rc-update add rngd",
            "systemctl",
        ),
    ] {
        assert!(text.contains(has) && !text.contains(lacks), "{has}: {text}");
    }
}

#[test]
fn a_log_without_systemd_names_no_systemctl() {
    let report = of_log(&format!("[    0.000000] Linux version 4.19.0 (x) #1\n{STALL}"));
    let text = fixes(one(&report, Id::ReadyLate));
    assert!(text.contains("haveged") && !text.contains("systemctl"), "{text}");
}

#[test]
fn a_phone_is_no_guest_and_has_no_packages() {
    let marks = [
        "Kernel command line: androidboot.hardware=qcom androidboot.bootdevice=7c4000.sdhci",
        "init: init first stage started!",
        "ueventd: Coldboot took 0.8 seconds",
        "healthd: battery l=50 v=3800 t=30.0 h=2 st=3 chg=u",
    ];
    for mark in marks {
        let log =
            format!("[    0.000000] Linux version 4.9.112-perf+ (x) #1\n[    1.0] {mark}\n{STALL}");
        let report = of_log(&log);
        let text = fixes(one(&report, Id::ReadyLate));
        for wrong in ["virtio", "RDRAND", "hypervisor", "systemctl", "haveged", "U-Boot"] {
            assert!(!text.contains(wrong), "{mark}: {wrong}: {text}");
        }
        assert!(text.contains("CONFIG_HW_RANDOM_"), "{mark}: {text}");
    }
    let emulator = format!(
        "[    0.0] Linux version 4.14.0 (x) #1\n\
         [    0.0] Kernel command line: androidboot.hardware=ranchu\n{STALL}"
    );
    assert!(fixes(one(&of_log(&emulator), Id::ReadyLate)).contains("virtio"));
}
