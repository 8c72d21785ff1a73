//! Fixes: for each cause the settings of the platform, the hypervisor's side before the machine's
//! own.
//!
//! A check names the [`Cause`], and the words and commands for the machine are chosen here. A new
//! platform is therefore one row of a table, and no check knows a platform.

pub(crate) mod boards;
mod facts;
mod guest;
mod hypervisor;
mod places;
mod programs;
mod seeds;
#[cfg(test)]
mod tests;

pub(crate) use facts::ANDROID_EMULATORS;
pub use facts::{BootLoader, Distribution, Initramfs, PlatformFacts, SeedKeeper, ServiceManager};

use crate::{CpuTrust, Effect, Fix, Kernel, Platform, Side};
use guest::{command_line, early_module, fix, module_at_boot, newer_kernel, plain};
use places::{in_the_firmware, on_a_board, on_the_host};
use seeds::{credited_cpu, credited_seed, enclaves_device, s390s_device, saved_seed};

/// The cause of a finding, as far as the fix depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The machine has no early source of entropy: no instruction, no device, no seed. (HW001,
    /// HW002, HW006, HW007)
    NoSeed,
    /// OpenSSH's host keys may have been made of early bytes. (HW001, HW007)
    HostKeysMadeEarly,
    /// The same of dropbear's.
    DropbearKeysMadeEarly,
    /// The same of other programs that make keys or certificates. (HW001, HW007)
    KeysMadeEarly,
    /// A program waits for /dev/random. (HW004, HW005)
    Starved,
    /// A JVM reads its seed from /dev/random. (HW004)
    JavaSeed,
    /// The same under Tomcat, whose start script has a variable for options.
    TomcatSeed,
    /// A JVM takes all its bytes from /dev/random. (HW004)
    JavaStrong,
    /// A program failed because the generator was not ready. (HW004)
    StartedTooEarly,
    /// A program has no random device and no getrandom(2). (HW004)
    NoDevice,
    /// A unit's start timeout is shorter than the wait. (HW004)
    StartTimeout,
    /// A kernel that cannot gather entropy by itself. (HW010)
    NoJitter,
    /// One lock for all CPUs. (HW011)
    OneLock,
    /// No getrandom in the vDSO, or no C library that uses it. (HW012)
    NoVdso,
    /// Programs cannot see the kernel's reseed generation. (HW013)
    NoReseedWord,
    /// The CPU model, or the CPU, has no random instruction. (HW020)
    NoCpuRng,
    /// The CPU has a random instruction that the kernel is configured not to credit. (HW021)
    CpuRngUntrusted,
    /// The CPU has a random instruction that is broken. (HW022)
    CpuRngBroken,
    /// No counter for the jitter loop. (HW023)
    NoCycleCounter,
    /// A VM without a random device. (HW024)
    NoHwrng,
    /// The VM has a random device, and its driver is missing. (HW025)
    HwrngNoDriver,
    /// The driver is not in the initramfs. (HW026)
    HwrngLate,
    /// The device's numbers fail health tests. (HW027)
    HwrngUnhealthy,
    /// The firmware's seed is refused, or unavailable. (HW028)
    BootSeedUnused,
    /// No seed is saved at shutdown. (HW029)
    SavedSeedMissing,
    /// A seed is saved, and not credited. (HW029)
    SavedSeedUncredited,
    /// No clone signal from the hypervisor. (HW040)
    NoVmgenid,
    /// The hypervisor has one, and the kernel no driver. (HW041)
    VmgenidNoDriver,
    /// The hypervisor has a VMClock, and the kernel no driver. (HW042)
    VmclockNoDriver,
    /// The kernel drives the VMClock, and its device is not in this container's or system's /dev.
    /// (HW042)
    VmclockHidden,
    /// Programs may not read the VMClock. (HW042)
    VmclockUnreadable,
    /// The machine was cloned while it ran. (HW043)
    Cloned,
    /// Process images are restored. (HW044)
    Checkpointing,
    /// Programs keep random state that no clone clears. (HW045)
    BlindGenerators,
    /// A filter kills or fails random system calls. (HW050)
    Sandbox,
    /// An entropy daemon without a use. (HW051)
    NeedlessDaemon,
    /// Pages with secure bytes may be swapped out. (HW052)
    SwappedPages,
    /// Several versions of headwater are installed, or an old one still runs. (HW053)
    TwoVersions,
}

/// The party that must be trusted if this entropy source is used.
const THE_HYPERVISOR: &str = "the hypervisor";
const THE_CPU: &str = "the CPU's maker";
const THE_FIRMWARE: &str = "the firmware and the boot loader";
const THE_IMAGE: &str =
    "that no two machines start from the same seed file, and that the file stayed secret";

/// Returns the fixes for this machine, the best first: the hypervisor's side before the machine's
/// own, but for a program's cause, which a setting of the program removes. The list is empty only
/// if nothing can be done.
pub fn for_cause(cause: Cause, facts: &PlatformFacts) -> Vec<Fix> {
    if let Some(fixes) = programs::fixes(cause, facts) {
        return fixes;
    }
    if facts.board
        && let Some(fixes) = on_a_board(cause, facts)
    {
        return fixes;
    }
    let mut fixes = host_side(cause, facts);
    // A container's own files do not count: its distribution's kernel and boot loader are not in
    // use.
    if facts.platform != Some(Platform::Container) || is_inside(cause) {
        let lacks_seed = matches!(cause, Cause::NoSeed | Cause::NoJitter | Cause::StartTimeout);
        fixes.extend((facts.s390x && lacks_seed).then(|| s390s_device(facts)));
        fixes.extend(guest_side(cause, facts));
    }
    if facts.confidential {
        // The hypervisor is the adversary: its device and its signals may be added to other
        // sources, and are never the fix.
        fixes.retain(|fix| fix.trusts != Some(THE_HYPERVISOR));
        let lacks_seed = matches!(
            cause,
            Cause::NoSeed
                | Cause::NoJitter
                | Cause::NoHwrng
                | Cause::StartTimeout
                | Cause::HwrngNoDriver
                | Cause::HwrngLate
        );
        if facts.enclave {
            // An enclave has no disk for a seed.
            fixes.retain(|fix| fix.trusts != Some(THE_IMAGE));
        }
        if lacks_seed {
            let at = fixes.iter().take_while(|fix| fix.side == Side::Host).count();
            let enclave = facts.enclave.then(enclaves_device);
            fixes.splice(at..at, credited_cpu(facts).into_iter().chain(enclave));
        }
    }
    debug_assert!(fixes.is_sorted_by_key(|fix| fix.side), "the hypervisor's side comes first");
    if cause == Cause::NoSeed && facts.platform == Some(Platform::BareMetal) && trust_is_open(facts)
    {
        // Nothing has to be bought or set up for it.
        fixes.splice(0..0, credited_cpu(facts));
    }
    fixes
}

/// Returns whether the log's kernel leaves the credit of the CPU's instruction to an option: 4.19
/// to 6.1. A machine's own files answer this more precisely, in HW021.
fn trust_is_open(facts: &PlatformFacts) -> bool {
    let kernel = facts.kernel.as_deref().and_then(Kernel::parse);
    let is_option = kernel.is_some_and(|kernel| kernel.cpu_trust() == CpuTrust::ByOption);
    facts.is_log && facts.x86 && !facts.cpu_credited && is_option
}

/// Returns whether the fix is inside a container, whatever the host is.
fn is_inside(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::BlindGenerators
            | Cause::Sandbox
            | Cause::StartTimeout
            | Cause::NeedlessDaemon
            | Cause::TwoVersions
            | Cause::NoVdso
    )
}

fn host_side(cause: Cause, facts: &PlatformFacts) -> Vec<Fix> {
    let platform = facts.platform;
    match platform {
        Some(Platform::Container) => return on_the_host(cause),
        Some(Platform::BareMetal) => return in_the_firmware(cause),
        // No hypervisor's CPU model repairs a broken CPU, so a log that names no platform gets the
        // advice for the machine on which the CPU is.
        None if cause == Cause::CpuRngBroken => return in_the_firmware(cause),
        _ => {}
    }
    let row = hypervisor::of(platform);
    let device = || row.device.map(|device| device.fix(platform, Effect::Volume, THE_HYPERVISOR));
    let cpu =
        || row.cpu.filter(|_| facts.x86).map(|cpu| cpu.fix(platform, Effect::Volume, THE_CPU));
    let signal = || row.signal.map(|signal| signal.fix(platform, Effect::Signal, THE_HYPERVISOR));
    let found = match cause {
        Cause::NoSeed
        | Cause::NoJitter
        | Cause::NoCycleCounter
        | Cause::NoHwrng
        | Cause::StartTimeout => {
            vec![device(), cpu()]
        }
        Cause::NoCpuRng | Cause::CpuRngBroken => vec![cpu(), device()],
        Cause::HwrngUnhealthy => vec![Some(hwrng_source(platform))],
        Cause::NoVmgenid => vec![signal()],
        Cause::Cloned => vec![Some(take_no_running_copies(platform))],
        _ => vec![],
    };
    let mut found: Vec<Fix> = found.into_iter().flatten().collect();
    let condition = match platform {
        None | Some(Platform::OtherVm) if facts.s390x => "if this machine runs under KVM, ",
        None => "if this is a virtual machine, ",
        Some(_) => "",
    };
    for fix in &mut found {
        fix.what.insert_str(0, condition);
    }
    found
}

fn hwrng_source(platform: Option<Platform>) -> Fix {
    Fix {
        side: Side::Host,
        platform,
        what: "feed the random device from the host's generator and from no other file".to_owned(),
        exact: Some("/dev/urandom".to_owned()),
        gives: Effect::Volume,
        trusts: Some(THE_HYPERVISOR),
    }
}

fn take_no_running_copies(platform: Option<Platform>) -> Fix {
    Fix {
        side: Side::Host,
        platform,
        what: "make templates and copies of machines that are shut down; where a running one must be copied, use a hypervisor that \
               has both a generation ID and a VMClock"
            .to_owned(),
        exact: None,
        gives: Effect::Nothing,
        trusts: None,
    }
}

fn guest_side(cause: Cause, facts: &PlatformFacts) -> Vec<Fix> {
    let kernel = |what: &str| fix(what, newer_kernel(facts), Effect::Seed, None);
    let no_gain = |what: &str| fix(what, newer_kernel(facts), Effect::Nothing, None);
    let early_virtio = || {
        fix(
            "load the device's driver in the initial RAM disk, so that it is there before the first program asks",
            Some(early_module("virtio_rng", facts)),
            Effect::Volume,
            Some(THE_HYPERVISOR),
        )
    };
    match cause {
        // A kernel that gathers by itself already does not become better by a newer one.
        Cause::NoSeed | Cause::NoJitter if gathers_by_itself(facts) => {
            lacking_driver(facts).into_iter().chain(open_trust(facts)).chain([credited_seed(facts)]).collect()
        }
        Cause::NoSeed => lacking_driver(facts).into_iter().chain(open_trust(facts)).chain([
            programs::daemon(facts),
            kernel("run a kernel that gathers entropy by itself: 5.4 or later, or the latest stable release of an older series"),
            credited_seed(facts),
        ]).collect(),
        Cause::StartTimeout => vec![plain(
            "until the cause is removed, allow the service more time than the wait (systemctl edit UNIT), because each kill restarts the wait",
            Some("[Service]\nTimeoutStartSec=5min"),
        )],
        Cause::NoJitter => vec![kernel(
            "run a kernel that gathers entropy from the CPU's timing: 5.4 or later, or the latest stable release of an older series",
        )],
        Cause::OneLock => vec![no_gain("run Linux 5.18 or later, whose generator has a key for each CPU and no lock on the way")],
        Cause::NoVdso => vec![faster_calls(facts)],
        Cause::NoReseedWord => vec![no_gain("run Linux 6.11 or later (6.12 on arm64), which shows each reseed to programs")],
        Cause::NoCpuRng => vec![],
        Cause::CpuRngUntrusted => credited_cpu(facts).into_iter().collect(),
        Cause::CpuRngBroken => vec![fix(
            "install the CPU's microcode; until then keep the kernel from counting the instruction",
            Some(command_line(Some("random.trust_cpu=off"), &[], facts)),
            Effect::Nothing,
            None,
        )],
        Cause::NoCycleCounter => vec![plain(
            "let the kernel use the cycle counter (TSC): take off what forbids it",
            Some(&command_line(None, &["notsc", "clocksource=jiffies"], facts)),
        )],
        Cause::NoHwrng => vec![],
        Cause::HwrngNoDriver => {
            let load = fix(
                "load the device's driver, now and at each boot",
                Some(module_at_boot("virtio_rng")),
                Effect::Volume,
                Some(THE_HYPERVISOR),
            );
            vec![early_virtio(), load]
        }
        Cause::HwrngLate => vec![early_virtio()],
        Cause::HwrngUnhealthy => vec![plain(
            "until it is fixed, take no bytes from the device",
            Some("echo none > /sys/class/misc/hw_random/rng_current    # where that is refused: modprobe -r virtio_rng"),
        )],
        Cause::BootSeedUnused => vec![fix(
            "let the kernel count the seed that firmware and boot loader hand over",
            Some(command_line(Some("random.trust_bootloader=on"), &["random.trust_bootloader=off"], facts)),
            Effect::Seed,
            Some(THE_FIRMWARE),
        )],
        Cause::SavedSeedMissing => vec![saved_seed(facts)],
        Cause::SavedSeedUncredited => vec![credited_seed(facts)],
        Cause::NoVmgenid => {
            let kernel = hears_no_signal(facts).then(|| vmgenid_kernel(facts));
            let programs = plain(
                "in programs that keep random state, ask for each secret from a source that cannot repeat (headwater's modes hedged \
                 and strict), or call headwater_quiesce() before a snapshot",
                Some("HEADWATER_MODE=hedged"),
            );
            kernel.into_iter().chain([programs]).collect()
        }
        Cause::VmgenidNoDriver => vec![vmgenid_kernel(facts)],
        Cause::VmclockNoDriver => vec![fix(
            "run Linux 6.13 or later with CONFIG_PTP_1588_CLOCK_VMCLOCK, and load its driver",
            Some(module_at_boot("ptp_vmclock")),
            Effect::Signal,
            Some(THE_HYPERVISOR),
        )],
        // The number is dynamic, so the kernel's own file says it.
        Cause::VmclockHidden => vec![fix(
            "make the device's node, which udev, mdev or devtmpfs usually does",
            Some("mknod -m 0444 /dev/vmclock0 c $(tr : ' ' < /sys/class/misc/vmclock0/dev)".to_owned()),
            Effect::Signal,
            Some(THE_HYPERVISOR),
        )],
        Cause::VmclockUnreadable => vec![fix(
            "let programs read the VMClock; it holds no secret",
            Some(
                "echo 'KERNEL==\"vmclock*\", SUBSYSTEM==\"misc\", MODE=\"0444\"' > /etc/udev/rules.d/60-vmclock.rules && \
                 udevadm control --reload && udevadm trigger --subsystem-match=misc"
                    .to_owned(),
            ),
            Effect::Signal,
            Some(THE_HYPERVISOR),
        )],
        // No command: a roll-back leaves one machine, and new host keys only alarm its users.
        Cause::Cloned => vec![plain(
            "if both copies lived on, replace what both hold: host keys, keys and tickets of TLS servers, tokens; restart programs that \
             keep random state",
            None,
        )],
        Cause::Checkpointing => vec![plain(
            "have the kernel reseed before each restore, as root, and let programs that keep random state mix in something new after it",
            Some("python3 -c 'import fcntl; fcntl.ioctl(open(\"/dev/urandom\"), 0x5207)'"),
        )],
        Cause::BlindGenerators => vec![
            plain(
                "run programs that use OpenSSL 3 with headwater's provider, whose bytes a clone does not repeat",
                Some("headwater run --openssl -- COMMAND"),
            ),
            plain("restart the others after a clone; a fresh process asks the kernel again", None),
        ],
        // No drop-in to copy: in a unit without a filter, SystemCallFilter=getrandom would be one
        // that allows nothing else.
        Cause::Sandbox => vec![plain(
            "allow getrandom in the filter that refuses it; in a unit of systemd whose own \
             SystemCallFilter= lists what is allowed, add getrandom to that line, and add no such \
             line to a unit that has none",
            None,
        )],
        Cause::HostKeysMadeEarly
        | Cause::DropbearKeysMadeEarly
        | Cause::KeysMadeEarly
        | Cause::Starved
        | Cause::JavaSeed
        | Cause::TomcatSeed
        | Cause::JavaStrong
        | Cause::StartedTooEarly
        | Cause::NoDevice => vec![],
        Cause::NeedlessDaemon => vec![plain(
            "take the daemon out; since Linux 5.6 /dev/random does not run dry, and the kernel gathers its own seed",
            programs::stopped(facts.service_manager),
        )],
        Cause::SwappedPages => vec![plain(
            "encrypt swap with a key that is new at each boot (/etc/crypttab), or use none",
            Some("swap  /dev/PARTITION  /dev/urandom  swap,cipher=aes-xts-plain64,size=512"),
        )],
        Cause::TwoVersions => vec![
            plain("start the programs again that still run an old library", Some("grep -l libheadwater /proc/[0-9]*/maps")),
            plain(
                "install one version of all parts, remove the files of the others, and refresh the loader's cache",
                Some("ldconfig && ldconfig -p | grep headwater"),
            ),
        ],
    }
}

/// Returns the step in a guest without which the hypervisor's device does nothing, where a log is
/// all that is known.
fn lacking_driver(facts: &PlatformFacts) -> Option<Fix> {
    let has_device = hypervisor::of(facts.platform).device.is_some();
    let is_vm = facts.platform.is_none_or(Platform::is_vm);
    (facts.is_log && has_device && is_vm && !facts.confidential && !facts.has_virtio_driver).then(
        || {
            fix(
                "with that device: load its driver in the guest",
                Some(module_at_boot("virtio_rng")),
                Effect::Volume,
                Some(THE_HYPERVISOR),
            )
        },
    )
}

/// Returns the credit for an instruction that a guest may see and its kernel does not count.
fn open_trust(facts: &PlatformFacts) -> Option<Fix> {
    let is_vm = facts.platform.is_none_or(Platform::is_vm);
    let mut fix = credited_cpu(facts).filter(|_| is_vm && trust_is_open(facts))?;
    fix.what =
        "if `grep -c rdrand /proc/cpuinfo` is not 0, let the kernel credit the instruction: \
                it waits although it has one"
            .to_owned();
    Some(fix)
}

fn gathers_by_itself(facts: &PlatformFacts) -> bool {
    let kernel = facts.kernel.as_deref().and_then(Kernel::parse);
    kernel.is_some_and(|kernel| kernel.is_at_least(5, 4))
}

/// Returns the fix for calls that are slow without a vDSO. It needs a newer kernel, or, if the
/// kernel is new enough, a newer C library, which comes with a distribution.
fn faster_calls(facts: &PlatformFacts) -> Fix {
    let kernel = facts.kernel.as_deref().and_then(Kernel::parse);
    if kernel.is_some_and(|kernel| kernel.has_vdso(facts.x86) == Some(true)) {
        return plain(
            "nothing has to be done; a distribution with glibc 2.41 or later (Debian 13) makes the calls faster",
            None,
        );
    }
    fix(
        "nothing has to be done; Linux 6.11 or later (6.12 on arm64) with glibc 2.41 or later makes the calls faster",
        newer_kernel(facts),
        Effect::Nothing,
        None,
    )
}

/// Returns the fix for a kernel without the driver of vmgenid: Debian's general flavour where the
/// cloud flavour lacks it, else a newer kernel.
fn vmgenid_kernel(facts: &PlatformFacts) -> Fix {
    let can = facts
        .kernel
        .as_deref()
        .and_then(Kernel::parse)
        .and_then(|kernel| kernel.has_vmgenid(false));
    let (what, exact) = if guest::is_cloud_flavour(facts) && can == Some(true) {
        (
            "install Debian's general kernel, whose 6.1 has the driver that its cloud flavour lacks, and boot it",
            guest::kernel_package(facts)
                .map(|package| format!("apt update && apt install {package}")),
        )
    } else {
        (
            "run Linux 5.18 or later (6.10 where the device is in a device tree) with CONFIG_VMGENID",
            newer_kernel(facts),
        )
    };
    fix(what, exact, Effect::Signal, Some(THE_HYPERVISOR))
}

/// Returns whether the kernel lacks the driver for the clone signal of its hypervisor, as Debian
/// 12's cloud flavour does. Later kernels have it: a 6.12 was booted.
fn hears_no_signal(facts: &PlatformFacts) -> bool {
    let kernel = facts.kernel.as_deref().and_then(Kernel::parse);
    guest::is_cloud_flavour(facts)
        && kernel.is_some_and(|kernel| (kernel.version().0, kernel.version().1) == (6, 1))
}
