//! The screen and the document of fixed facts, compared with snapshots.
//!
//! `SNAPSHOTS=overwrite cargo test -p headwater-cli` writes the snapshots anew, for review in the
//! diff.

use crate::facts::{Facts, Speed};
use crate::{json, screen};
use headwater::{
    CpuRng, Hardware, Mode, Page, Path, ReseedGeneration, Source, Status, Vmclock, Vmgenid,
};
use headwater_status::{Host, Kmsg};
use snapbox::{assert_data_eq, file};
use std::num::NonZeroU64;

/// Returns facts of which everything is fixed: a VM with all that a recent kernel and hypervisor
/// offer.
fn healthy_vm() -> Facts {
    Facts {
        status: healthy_status(),
        host: Host {
            kernel: Some("6.18.3".into()),
            libc: Some("glibc 2.41".into()),
            hypervisor: Some("KVM".into()),
            vendor: Some("QEMU".into()),
            kmsg: Kmsg { seeded_at_us: Some(109_223), vm_fork_reseeds: Some(2) },
        },
        sample: Some(std::array::from_fn(|index| index as u8 * 7)),
        speed: Some(vec![
            speed("headwater", env!("CARGO_PKG_VERSION"), [4.04, 4.16, 25.0, 4_200.4]),
            speed("getrandom-syscall", "6.18.3", [371.2, 364.0, 990.0, 168_700.0]),
            speed("getrandom-vdso", "6.18.3", [12.6, 35.5, 411.0, 91_700.0]),
            speed("libc-getentropy", "glibc 2.41", [99.94, 99.96, 992.0, 167_700.0]),
            Speed {
                implementation: "openssl-RAND_bytes",
                version: Some("OpenSSL 3.0.19 27 Jan 2026".to_string()),
                ns: vec![Some(667.0), Some(669.0), Some(697.0), None],
            },
        ]),
    }
}

fn speed(implementation: &'static str, version: &str, ns: [f64; 4]) -> Speed {
    Speed {
        implementation,
        version: (!version.is_empty()).then(|| version.to_string()),
        ns: ns.map(Some).to_vec(),
    }
}

/// Returns the status of a process without faults. Only headwater can make a `Status`, so one is
/// requested, and each of its fields is then set.
fn healthy_status() -> Status {
    let mut status = headwater::status();
    status.mode = Mode::Buffered;
    status.requested = Mode::Auto;
    status.unknown_mode_requested = false;
    status.reason = "the kernel's reseed generation is live, and vmgenid is bound";
    status.source = Source::Vdso;
    status.reseed_generation = ReseedGeneration::Live { value: 1234, page: 2, offset: 0x280 };
    status.vmclock = Vmclock::Mapped { marker: 7, vm_generation: Some(3) };
    status.vmgenid = Vmgenid::Bound;
    status.hardware = Hardware::NotAsked;
    status.cpu_rng = CpuRng::Good;
    status.path = Path::Sections;
    status.cipher = "AES-256-CTR (VAES-512)";
    status.page = Page::Droppable;
    status.fork_detection = true;
    status.generation = NonZeroU64::new(0x1234_5678);
    status.pools.slots = 128;
    status.pools.used = 3;
    status.pools.handles = 1;
    status.pools.page_bytes = 3_840;
    status.counters.refills = 41_234;
    status.counters.discarded_bytes = 1_920;
    status.counters.retries = 1;
    status.counters.busy = 0;
    status.counters.fallbacks = 2;
    status.counters.tripwires = 0;
    status
}

fn bare_metal() -> Facts {
    let mut facts = healthy_vm();
    facts.status.reason = "the kernel's reseed generation is live, and this is bare metal";
    facts.status.vmgenid = Vmgenid::NotBound;
    facts.status.vmclock = Vmclock::Absent;
    facts.status.hardware = Hardware::BareMetal;
    facts.host.hypervisor = Some("none".into());
    facts.host.vendor = Some("Framework".into());
    facts.host.kmsg.vm_fork_reseeds = Some(0);
    facts
}

/// Returns the facts of Debian 12 in a VM: no reseed generation in the vDSO, no MAP_DROPPABLE,
/// /dev/kmsg for root only.
fn old_kernel() -> Facts {
    let mut facts = healthy_vm();
    let status = &mut facts.status;
    status.mode = Mode::Hedged;
    status.reason = "no live reseed generation reports reseeds";
    status.source = Source::Getrandom;
    status.reseed_generation = ReseedGeneration::Absent("this kernel's vDSO has no getrandom");
    status.vmclock = Vmclock::Absent;
    status.vmgenid = Vmgenid::NotBound;
    status.hardware = Hardware::Virtual;
    status.page = Page::WipeOnForkLocked;
    status.path = Path::Slots("HEADWATER_NO_RSEQ is set");
    status.generation = None;
    facts.host.kernel = Some("6.1.0-37-cloud-amd64".into());
    facts.host.libc = Some("glibc 2.36".into());
    facts.host.vendor = Some("Amazon EC2".into());
    facts.host.kmsg = Kmsg::default();
    facts
}

fn kernel_mode() -> Facts {
    let mut facts = old_kernel();
    let status = &mut facts.status;
    status.mode = Mode::Kernel;
    status.requested = Mode::Kernel;
    status.reason = "it serves without a buffer";
    status.reseed_generation = ReseedGeneration::Absent("not looked for in this mode");
    status.vmgenid = Vmgenid::NotAsked;
    status.hardware = Hardware::Unknown;
    status.cpu_rng = CpuRng::NotAsked;
    status.page = Page::None;
    status.path = Path::Unbuffered;
    status.fork_detection = false;
    status.pools = Default::default();
    status.counters = Default::default();
    facts.host.hypervisor = None;
    facts.host.vendor = None;
    facts.host.libc = None;
    facts.speed = None;
    facts
}

fn everything_broken() -> Facts {
    let mut facts = healthy_vm();
    let status = &mut facts.status;
    status.mode = Mode::Strict;
    status.requested = Mode::Strict;
    status.unknown_mode_requested = true;
    status.reason = "the strictest mode that buffers";
    status.source = Source::Urandom;
    status.reseed_generation = ReseedGeneration::Retired;
    status.vmclock = Vmclock::Unreadable;
    status.vmgenid = Vmgenid::NotBound;
    status.hardware = Hardware::Virtual;
    status.cpu_rng = CpuRng::Broken;
    status.page = Page::WipeOnFork;
    status.counters.tripwires = 3;
    facts.host.kernel = Some("4.19.0-a-vendor-kernel-with-a-very-long-name+".into());
    facts.host.hypervisor = Some("signature 'NewHv 1'".into());
    facts
}

fn not_seeded() -> Facts {
    let mut facts = healthy_vm();
    facts.status.source = Source::None;
    facts.sample = None;
    facts.speed = None;
    facts.host.kmsg = Kmsg::default();
    facts
}

/// Renders the screen without its colours and with a placeholder for the version. Panics unless
/// each line is within 100 columns and ends without spaces.
fn plain(facts: &Facts) -> String {
    let text = anstream::adapter::strip_str(&screen::render(facts)).to_string();
    let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "too wide: {line}");
        assert_eq!(line, line.trim_end(), "ends in spaces");
    }
    text
}

#[test]
fn screen_of_a_healthy_vm() {
    assert_data_eq!(plain(&healthy_vm()), file!["../snapshots/healthy_vm.txt"]);
}

#[test]
fn screen_of_bare_metal() {
    assert_data_eq!(plain(&bare_metal()), file!["../snapshots/bare_metal.txt"]);
}

#[test]
fn screen_of_an_old_kernel() {
    assert_data_eq!(plain(&old_kernel()), file!["../snapshots/old_kernel.txt"]);
}

#[test]
fn screen_of_kernel_mode() {
    assert_data_eq!(plain(&kernel_mode()), file!["../snapshots/kernel_mode.txt"]);
}

#[test]
fn screen_of_everything_broken() {
    assert_data_eq!(plain(&everything_broken()), file!["../snapshots/everything_broken.txt"]);
}

#[test]
fn screen_before_the_kernel_is_seeded() {
    assert_data_eq!(plain(&not_seeded()), file!["../snapshots/not_seeded.txt"]);
}

fn pretty(facts: &Facts) -> String {
    let text = serde_json::to_string_pretty(&json::document(facts)).unwrap();
    text.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn document_of_a_healthy_vm() {
    assert_data_eq!(pretty(&healthy_vm()), file!["../snapshots/healthy_vm.json"].raw());
}

/// Unknown values are null, and never 0.
#[test]
fn document_of_what_is_unknown() {
    assert_data_eq!(pretty(&kernel_mode()), file!["../snapshots/kernel_mode.json"].raw());
}

/// A slot is lost by a thread that never returns from a draw, and no other thread may use it.
#[test]
fn lost_slots_are_a_weakness() {
    for (taken, slots, is_weak) in
        [(0, 0, false), (1, 66, false), (33, 66, false), (34, 66, true), (66, 66, true)]
    {
        let mut facts = healthy_vm();
        facts.status.pools.slots = slots;
        facts.status.pools.taken = taken;
        let screen = plain(&facts);
        assert_eq!(screen.contains("most slots are taken"), is_weak, "{screen}");
        assert_eq!(pretty(&facts).contains("\"weaker\""), is_weak);
    }
}

#[test]
fn colours_follow_the_verdict() {
    let escape = |facts: &Facts| {
        let screen = screen::render(facts);
        let verdict = screen.lines().find(|line| line.contains("Good:") || line.contains("Wrong:"));
        verdict.unwrap_or_default().to_string()
    };
    assert!(escape(&healthy_vm()).contains("\u{1b}[32m")); // green
    assert!(escape(&everything_broken()).contains("\u{1b}[31m")); // red
}
