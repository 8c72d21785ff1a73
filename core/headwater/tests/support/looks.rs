//! The facts that set-up examines on this machine and its calls, found by other means for the
//! model.

use super::children::{Ending, fork, wait};
use super::machine::{cpu_says_virtual, is_intel, set_mode_variable};
use super::model::{Looks, Machine};
use headwater::testing::{Force, set};
use headwater::{CpuRng, Mode, Page, ReseedGeneration, Source, Status, Vmclock, Vmgenid};
use std::fs::{self, File};

/// Returns the report of a child that is set up like this, and not traced.
pub(crate) fn ask(mode: Mode, facts: &[Force], answer: impl FnOnce(&Status) -> i32) -> i32 {
    let child = fork(|| {
        set_mode_variable(Some(mode.name()));
        for &fact in facts {
            set(fact, true);
        }
        answer(&headwater::status())
    });
    match wait(child) {
        Ending::Exited(code) => code,
        killed => panic!("{killed:?}"),
    }
}

fn opened(path: &str, then: &[&str]) -> Vec<String> {
    let mut calls = vec![format!("openat({path})")];
    if File::open(path).is_ok() {
        calls.extend(then.iter().map(ToString::to_string));
        calls.push("close".into());
    }
    calls
}

/// Returns the facts of this machine that the model needs.
pub(crate) fn machine(mode: Mode, facts: &[Force]) -> Machine {
    let and = |more: &[Force]| [facts, more].concat();
    let mode_with =
        |facts: &[Force]| Mode::ALL[ask(mode, facts, |status| status.mode as i32) as usize];
    let in_strict = |yes: fn(&Status) -> bool| ask(Mode::Strict, facts, |s| yes(s).into()) == 1;
    let mut cpus = opened("/sys/devices/system/cpu/present", &["read(256)"]);
    if cpus.len() == 1 {
        cpus.push("sched_getaffinity".into());
    }
    let srbds = "/sys/devices/system/cpu/vulnerabilities/srbds";
    let srbds = if asks_for_srbds() { opened(srbds, &["read(128)"]) } else { Vec::new() };
    let (mappings, vvar_pages) = mappings_below_vdso();
    let bound = in_strict(|status| status.vmgenid == Vmgenid::Bound);
    let vmclock = opened("/dev/vmclock0", &["mmap"]);
    let watch_page = opened("/run/headwater/copies", &["fstat", "mmap"]);
    let mapped = in_strict(|status| {
        matches!(status.vmclock, Vmclock::Mapped { vm_generation: Some(_), .. })
    });
    let hidden = facts.contains(&Force::NoHypervisorBit) || !cpu_says_virtual();
    let hardware = if !bound && !mapped && hidden { looks_at_hardware() } else { Vec::new() };
    let vmgenid = looks_for_vmgenid(bound);
    Machine {
        vdso: in_strict(|status| status.source == Source::Vdso),
        word: in_strict(|status| matches!(status.reseed_generation, ReseedGeneration::Live { .. })),
        modes: [mode_with(facts), mode_with(&and(&[Force::NoGeneration]))],
        looks: Looks { cpus, srbds, mappings, vmgenid, vmclock, watch_page, hardware },
        vvar_pages,
        cpu_words: in_strict(|status| matches!(status.cpu_rng, CpuRng::Good | CpuRng::Slow)),
        droppable: in_strict(|status| status.page == Page::Droppable),
        sections: ask(Mode::Hedged, facts, |status| {
            i32::from(status.path == headwater::Path::Sections)
        }) == 1,
    }
}

/// Returns the calls that read the files that show a virtual machine, up to the first file that
/// does.
fn looks_at_hardware() -> Vec<String> {
    let mut calls = Vec::new();
    for name in ["sys_vendor", "product_name", "modalias"] {
        let path = format!("/sys/class/dmi/id/{name}");
        calls.extend(opened(&path, &["read(1024)"]));
        let Ok(text) = fs::read_to_string(&path) else { return calls };
        // The names suffice for the machines on which these tests have run.
        let marks = ["qemu", "kvm", "vmware", "virtual", "xen", "google", "amazon", "microsoft"];
        if marks.iter().any(|mark| text.to_lowercase().contains(mark)) {
            return calls;
        }
    }
    let bridge = "/sys/bus/pci/devices/0000:00:00.0/modalias";
    calls.extend(opened(bridge, &["read(1024)"]));
    match fs::read_to_string(bridge) {
        Ok(text) if !text.contains("d000029C0") && !text.contains("d00001237") => {}
        _ => return calls,
    }
    let virtio = "/sys/bus/virtio/devices";
    let devices = fs::read_dir(virtio).map_or(0, Iterator::count);
    let read: &[_] = if devices > 0 { &["getdents64"] } else { &["getdents64", "getdents64"] };
    calls.extend(opened(virtio, read));
    let qemu = "/sys/bus/acpi/devices/QEMU0002:00";
    if devices == 0 {
        calls.extend(opened(qemu, &[]));
        if !fs::exists(qemu).unwrap() {
            calls.extend(opened("/sys/hypervisor/type", &[]));
        }
    }
    calls
}

/// Returns the calls that read the directories of both drivers, up to the directory with a device.
fn looks_for_vmgenid(bound: bool) -> Vec<String> {
    let mut calls = Vec::new();
    for folder in ["/sys/bus/platform/drivers/vmgenid", "/sys/bus/acpi/drivers/vmgenid"] {
        // One without a device is read to its end.
        let read: &[_] = if bound { &["getdents64"] } else { &["getdents64", "getdents64"] };
        calls.extend(opened(folder, read));
        if bound && calls.len() > 1 {
            return calls;
        }
    }
    calls.extend(opened("/sys/bus/platform/drivers", &[]));
    calls
}

fn asks_for_srbds() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_intel() && std::arch::is_x86_feature_detected!("rdrand");
    #[cfg(not(target_arch = "x86_64"))]
    is_intel()
}

/// Returns the calls by which `[vvar]` is found, and its number of pages.
fn mappings_below_vdso() -> (Vec<String>, usize) {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mut lines = maps.lines().rev().skip_while(|line| !line.ends_with("[vdso]"));
    let start = |line: &str| line.split('-').next().unwrap().to_owned();
    let mut above = lines.next().map(start).unwrap_or_default();
    let mut steps = vec!["openat(/proc/self/maps)".to_owned()];
    let mut pages = 6;
    for line in lines {
        steps.push("ioctl".into());
        let (range, name) = (line.split(' ').next().unwrap(), line.rsplit(' ').next().unwrap());
        let (begin, end) = range.split_once('-').unwrap();
        if end != above || !name.starts_with("[vvar") {
            break;
        }
        if name == "[vvar]" {
            let address = |hex| usize::from_str_radix(hex, 16).unwrap();
            pages = (address(end) - address(begin)) / 4096;
            break;
        }
        above = begin.to_owned();
    }
    steps.push("close".into());
    (steps, pages)
}
