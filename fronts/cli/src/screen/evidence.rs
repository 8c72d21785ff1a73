//! The words for each part of the status.

use super::layout::Tone;
use headwater::{
    CpuRng, Hardware, Mode, Page, Path, ReseedGeneration, Source, Status, Vmclock, Vmgenid,
    WatchPage,
};
use headwater_status::Kmsg;
use headwater_text::number::grouped;

/// One line of the screen.
pub(super) struct Row {
    pub(super) label: &'static str,
    pub(super) value: &'static str,
    pub(super) tone: Tone,
    pub(super) note: String,
}

fn row(label: &'static str, value: &'static str, tone: Tone, note: impl Into<String>) -> Row {
    let note = note.into();
    Row { label, value, tone, note }
}

pub(super) fn of(status: &Status) -> [Row; 11] {
    [
        mode(status),
        source(status.source),
        reseed_generation(status.reseed_generation),
        vmgenid(status.vmgenid),
        vmclock(status.vmclock),
        watch_page(status.watch_page),
        hardware(status.hardware),
        fork(status),
        cpu_rng(status.cpu_rng),
        page(status.page),
        path(status.path),
    ]
}

fn mode(status: &Status) -> Row {
    let tone = match status.mode {
        _ if status.unknown_mode_requested => Tone::Weak,
        Mode::Kernel => Tone::Weak,
        _ => Tone::Good,
    };
    let granted = status.requested == Mode::Auto || status.requested == status.mode;
    let note = if granted {
        status.reason.to_string()
    } else {
        format!("{} was requested: {}", status.requested, status.reason)
    };
    row("mode", status.mode.name(), tone, note)
}

fn source(source: Source) -> Row {
    let (value, tone, note) = match source {
        Source::Vdso => ("vDSO", Tone::Good, "the kernel's getrandom, without a system call"),
        Source::Getrandom => ("getrandom(2)", Tone::Plain, "by system call"),
        Source::Urandom => ("/dev/urandom", Tone::Weak, "getrandom(2) is missing or forbidden"),
        Source::None => ("none", Tone::Wrong, "no source has answered yet"),
        other => (other.name(), Tone::Plain, ""),
    };
    row("source", value, tone, note)
}

fn reseed_generation(generation: ReseedGeneration) -> Row {
    let (tone, note) = match generation {
        ReseedGeneration::Live { value, page, offset } => (
            Tone::Good,
            format!("{}, in page {page} of [vvar] at offset {offset:#x}", grouped(value)),
        ),
        ReseedGeneration::Undecided { candidates } => {
            (Tone::Weak, format!("{candidates} candidates until the kernel's next reseed"))
        }
        ReseedGeneration::Retired => {
            (Tone::Wrong, "it disagreed with the kernel; disabled in this process".to_string())
        }
        ReseedGeneration::Quiesced => (Tone::Plain, "released by quiesce()".to_string()),
        ReseedGeneration::Absent(why) => (Tone::Weak, why.to_string()),
        _ => (Tone::Plain, String::new()),
    };
    row("reseed generation", generation.name(), tone, note)
}

fn vmgenid(vmgenid: Vmgenid) -> Row {
    let (value, tone, note) = match vmgenid {
        Vmgenid::Bound => ("bound", Tone::Good, "the kernel reseeds when this VM is cloned"),
        Vmgenid::NotBound => ("not bound", Tone::Plain, "no such device, or no driver for it"),
        Vmgenid::Unknown => ("unknown", Tone::Plain, "/sys cannot be read"),
        Vmgenid::NotAsked => ("not asked", Tone::Plain, "nothing depends on it"),
        other => (other.name(), Tone::Plain, ""),
    };
    row("vmgenid", value, tone, note)
}

fn vmclock(vmclock: Vmclock) -> Row {
    let (tone, note) = match vmclock {
        Vmclock::Mapped { marker, vm_generation: Some(generation) } => {
            (Tone::Good, format!("disruption marker {marker}, VM generation {generation}"))
        }
        Vmclock::Mapped { marker, .. } => (
            Tone::Plain,
            format!(
                "disruption marker {marker}; this hypervisor does not promise to report clones"
            ),
        ),
        Vmclock::Absent => (Tone::Plain, "no /dev/vmclock0".to_string()),
        Vmclock::Unreadable => {
            (Tone::Weak, "not readable; a udev rule for /dev/vmclock0 would enable it".to_string())
        }
        Vmclock::Invalid => (Tone::Weak, "/dev/vmclock0 is not a VMClock page".to_string()),
        Vmclock::Slow => (Tone::Plain, "not used: its loads take too long".to_string()),
        Vmclock::Off => (Tone::Plain, "not mapped".to_string()),
        Vmclock::Quiesced => (Tone::Plain, "unmapped by quiesce()".to_string()),
        _ => (Tone::Plain, String::new()),
    };
    row("VMClock", vmclock.name(), tone, note)
}

fn watch_page(page: WatchPage) -> Row {
    let (tone, note) = match page {
        WatchPage::Mapped { is_alive: false, .. } => {
            (Tone::Weak, "the watcher ended; start headwater-clones.service".to_string())
        }
        WatchPage::Mapped { copies, is_exact: true, .. } => {
            (Tone::Good, format!("count {}", grouped(copies)))
        }
        WatchPage::Mapped { copies, .. } => {
            (Tone::Plain, format!("count {}, by the wall clock only", grouped(copies)))
        }
        WatchPage::Absent => (Tone::Plain, "no headwater clones watch".to_string()),
        WatchPage::Refused => {
            (Tone::Weak, "/run/headwater/copies is no page of a watcher run by root".to_string())
        }
        WatchPage::Off => (Tone::Plain, "not looked for".to_string()),
        WatchPage::Quiesced => (Tone::Plain, "unmapped by quiesce()".to_string()),
        _ => (Tone::Plain, String::new()),
    };
    row("watch page", page.name(), tone, note)
}

fn hardware(hardware: Hardware) -> Row {
    let (value, tone, note) = match hardware {
        Hardware::BareMetal => ("bare metal", Tone::Good, "it is not cloned while it runs"),
        Hardware::Virtual => ("virtual", Tone::Plain, ""),
        Hardware::Unknown => ("unknown", Tone::Plain, "taken for a virtual machine"),
        Hardware::NotAsked => ("not asked", Tone::Plain, "nothing depends on it"),
        other => (other.name(), Tone::Plain, ""),
    };
    row("hardware", value, tone, note)
}

fn fork(status: &Status) -> Row {
    if status.fork_detection {
        row("fork", "detected", Tone::Good, "the kernel clears the pools in a forked child")
    } else {
        row("fork", "not detected", Tone::Plain, "nothing is buffered that a child could repeat")
    }
}

fn cpu_rng(cpu_rng: CpuRng) -> Row {
    let (tone, note) = match cpu_rng {
        CpuRng::Good => (Tone::Good, "passed its checks, mixed into keys"),
        CpuRng::Absent => (Tone::Plain, "this CPU has no random instruction"),
        CpuRng::NotAsked => (Tone::Plain, "nothing depends on it"),
        CpuRng::Broken => (Tone::Wrong, "its output is not random; disabled in this process"),
        CpuRng::Slow => (Tone::Plain, "mixed into the keys of pages, too slow for each request"),
        _ => (Tone::Plain, ""),
    };
    let value = if cpu_rng == CpuRng::NotAsked { "not asked" } else { cpu_rng.name() };
    row("CPU random", value, tone, note)
}

fn page(page: Page) -> Row {
    let (value, tone, note) = match page {
        Page::Droppable => ("droppable", Tone::Good, "never in swap or in a core dump"),
        Page::WipeOnForkLocked => ("locked", Tone::Good, "never in swap or in a core dump"),
        Page::WipeOnFork => ("unlocked", Tone::Weak, "never in a core dump, but may reach swap"),
        Page::None => ("none", Tone::Plain, "nothing is buffered"),
        other => (other.name(), Tone::Plain, ""),
    };
    row("page", value, tone, note)
}

fn path(path: Path) -> Row {
    let (value, tone, note) = match path {
        Path::Sections => ("lock-free", Tone::Good, "each draw is a restartable sequence"),
        Path::Slots(why) => ("locked", Tone::Plain, why),
        Path::Unbuffered => ("unbuffered", Tone::Plain, "nothing is buffered in this mode"),
        other => (other.name(), Tone::Plain, ""),
    };
    row("draws", value, tone, note)
}

/// Formats the time at which the kernel's generator was seeded.
pub(super) fn seeded(kmsg: Kmsg) -> String {
    let since = match kmsg.seeded_at_us {
        Some(us) => format!("{:.3} s after boot", us as f64 / 1e6),
        None => "time unknown: the kernel's log is unreadable or starts later".to_string(),
    };
    match kmsg.vm_fork_reseeds {
        None | Some(0) => since,
        Some(1) => format!("{since}; reseeded once for a clone or restore of this VM"),
        Some(n) => format!("{since}; reseeded {n} times for clones or restores of this VM"),
    }
}

/// Returns the common name of an implementation.
pub(super) fn implementation(name: &'static str) -> &'static str {
    match name {
        "getrandom-syscall" => "getrandom(2)",
        "getrandom-vdso" => "vDSO getrandom",
        "libc-getentropy" => "libc getentropy",
        "openssl-RAND_bytes" => "OpenSSL RAND_bytes",
        other => other,
    }
}
