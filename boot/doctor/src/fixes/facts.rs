//! The facts that decide how a setting is written on this machine.

use super::boards;
use crate::boot::{Boot, NITRO_ENCLAVES};
use crate::host::Confidential;
use crate::{Platform, Root};

/// Facts about the machine that decide how a setting is written there. If a fact is unknown, the
/// advice is general.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformFacts {
    /// The platform.
    pub platform: Option<Platform>,
    /// The distribution that the machine's files and packages come from.
    pub distribution: Distribution,
    /// VERSION_ID of /etc/os-release.
    pub version: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The boot loader, which decides where the kernel's command line is written.
    pub boot_loader: BootLoader,
    /// The builder of the initial RAM disk.
    pub initramfs: Initramfs,
    /// True if the machine's owner does not trust the hypervisor.
    pub confidential: bool,
    /// True for an x86 machine, and if the architecture is unknown.
    pub x86: bool,
    /// True for an s390x machine, of which only guests of KVM can have a virtio-rng device.
    pub s390x: bool,
    /// True for a board with a device tree and no hypervisor that shows.
    pub board: bool,
    /// The family of the board, as `boards` calls it.
    pub board_name: Option<&'static str>,
    /// True for a router with OpenWrt.
    pub is_openwrt: bool,
    /// True if a log is all that is known of the machine.
    pub is_log: bool,
    /// True if the log has lines of virtio_rng.
    pub has_virtio_driver: bool,
    /// True for a Nitro enclave, whose only devices are a console, a socket and the NSM.
    pub enclave: bool,
    /// True if the kernel's command line has the CPU's instruction credited.
    pub cpu_credited: bool,
    /// The program that saves a seed at shutdown.
    pub seed_keeper: SeedKeeper,
    /// The program that starts services.
    pub service_manager: ServiceManager,
    /// True for a telephone or another device with Android.
    pub is_android: bool,
}

/// The program that starts services, which decides how a daemon is switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum ServiceManager {
    Systemd,
    OpenRc,
    /// OpenWrt's.
    Procd,
    /// Scripts in /etc/init.d and runlevels in /etc/inittab.
    SysvInit,
    Runit,
    /// The machine does not show it, or is BusyBox's init with scripts of its maker.
    Unknown,
}

/// The program that saves a seed at shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedKeeper {
    /// systemd-random-seed.
    Systemd,
    /// seedrng of OpenRC or BusyBox.
    Seedrng,
    /// The machine does not show it.
    Unknown,
}

/// Families whose files lie in the same places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum Distribution {
    Debian,
    Ubuntu,
    /// RHEL, CentOS, Rocky, Alma, Oracle, Amazon Linux.
    RedHat,
    Fedora,
    Suse,
    Alpine,
    Arch,
    Other,
}

/// The boot loader, which decides where the kernel's command line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum BootLoader {
    /// GRUB by /etc/default/grub and a command that writes grub.cfg.
    Grub,
    /// GRUB with entries that grubby(8) edits.
    Grubby,
    /// systemd-boot with kernel-install's /etc/kernel/cmdline.
    SystemdBoot,
    /// extlinux, as Alpine has it.
    Extlinux,
    /// The hypervisor supplies kernel and command line.
    Hypervisor,
    /// Kernel and command line are parts of a Nitro enclave's image file.
    EnclaveImage,
    Unknown,
}

/// The builder of the initial RAM disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum Initramfs {
    InitramfsTools,
    Dracut,
    Mkinitcpio,
    /// Alpine's.
    Mkinitfs,
    Unknown,
}

impl PlatformFacts {
    /// Reads the machine's files; the caller has found `platform`.
    pub fn read(root: &Root, platform: Option<Platform>) -> PlatformFacts {
        let os = root.text("/etc/os-release").unwrap_or_default();
        let field = |name: &str| {
            os.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).map(unquoted)
        };
        let names =
            format!("{} {}", field("ID").unwrap_or_default(), field("ID_LIKE").unwrap_or_default());
        let distribution = distribution(&names);
        let kernel = root.text("/proc/sys/kernel/osrelease").ok().filter(|text| !text.is_empty());
        let x86 = is_x86(root);
        let confidential = Confidential::detect(root).map(|(kind, _)| kind);
        let enclave = confidential == Some(Confidential::NitroEnclave);
        let command_line = root.text("/proc/cmdline").unwrap_or_default();
        let service_manager = service_manager(root, distribution);
        PlatformFacts {
            platform,
            distribution,
            version: field("VERSION_ID"),
            kernel,
            boot_loader: match enclave {
                true => BootLoader::EnclaveImage,
                false => boot_loader(root, platform, distribution),
            },
            initramfs: initramfs(root, distribution),
            confidential: confidential.is_some(),
            x86,
            s390x: root.text("/proc/cpuinfo").is_ok_and(|cpu| cpu.contains("IBM/S390")),
            board: !x86 && platform == Some(Platform::BareMetal),
            board_name: boards::of(
                &root.text("/sys/firmware/devicetree/base/model").unwrap_or_default(),
            )
            .map(|board| board.name),
            is_openwrt: root.exists("/etc/openwrt_release"),
            is_log: false,
            has_virtio_driver: false,
            enclave,
            cpu_credited: credits_cpu(&command_line),
            seed_keeper: match service_manager {
                ServiceManager::Systemd => SeedKeeper::Systemd,
                ServiceManager::OpenRc => SeedKeeper::Seedrng,
                _ => SeedKeeper::Unknown,
            },
            service_manager,
            is_android: is_android(&command_line),
        }
    }

    /// Reads the facts that a log alone shows: platform, kernel, architecture.
    pub fn of_log(boot: &Boot) -> PlatformFacts {
        let is_android =
            boot.machine.is_android || is_android(boot.command_line.as_deref().unwrap_or_default());
        // Only architectures other than x86 have a device tree's model.
        let x86 = match boot.machine.architecture.as_deref() {
            Some(name) => name.starts_with("x86"),
            None if is_android => false,
            None => {
                let has_board = boot.machine.board.is_some() || boot.machine.is_openwrt;
                boot.machine.model.is_none() && !has_board && !is_board(boot.kernel.as_deref())
            }
        };
        let platform = Platform::of_log(boot);
        // z/VM, LPARs and POWER servers have no device tree of a board's.
        let is_server = boot
            .machine
            .architecture
            .as_deref()
            .is_some_and(|name| ["s390x", "ppc64", "ppc64-le"].contains(&name));
        let enclave = boot.machine.confidential.as_deref() == Some(NITRO_ENCLAVES);
        PlatformFacts {
            confidential: boot.machine.confidential.is_some(),
            kernel: boot.kernel.clone().or_else(|| boot.release_hint.clone()),
            x86,
            s390x: boot.machine.architecture.as_deref() == Some("s390x"),
            board: platform.is_none() && (!x86 || is_android) && !is_server,
            board_name: boot
                .machine
                .model
                .as_deref()
                .and_then(boards::of)
                .map(|board| board.name)
                .or_else(|| Some(boards::of_name(boot.machine.board.as_deref()?)?.name)),
            is_openwrt: boot.machine.is_openwrt,
            is_log: true,
            has_virtio_driver: boot
                .hints
                .iter()
                .any(|hint| hint.kind == crate::boot::HintKind::Hwrng),
            enclave,
            boot_loader: if enclave { BootLoader::EnclaveImage } else { BootLoader::Unknown },
            cpu_credited: credits_cpu(boot.command_line.as_deref().unwrap_or_default()),
            seed_keeper: if boot.has_systemd { SeedKeeper::Systemd } else { SeedKeeper::Unknown },
            service_manager: match (boot.has_systemd, boot.machine.is_openwrt) {
                (true, _) => ServiceManager::Systemd,
                (false, true) => ServiceManager::Procd,
                (false, false) => ServiceManager::Unknown,
            },
            is_android,
            ..PlatformFacts::of_platform(platform)
        }
    }

    /// Returns facts of which only the platform is known, for a log from elsewhere.
    pub fn of_platform(platform: Option<Platform>) -> PlatformFacts {
        PlatformFacts {
            platform,
            distribution: Distribution::Other,
            version: None,
            kernel: None,
            boot_loader: BootLoader::Unknown,
            initramfs: Initramfs::Unknown,
            confidential: false,
            x86: true,
            s390x: false,
            board: false,
            board_name: None,
            is_openwrt: false,
            is_log: false,
            has_virtio_driver: false,
            enclave: false,
            cpu_credited: false,
            seed_keeper: SeedKeeper::Systemd,
            service_manager: ServiceManager::Systemd,
            is_android: false,
        }
    }
}

/// Returns the program that starts services. /proc shows it where it is there, and files of the
/// others where it is not. A distribution's name comes last: Devuan calls itself a relative of
/// Debian, and Artix one of Arch, and neither has systemctl.
fn service_manager(root: &Root, distribution: Distribution) -> ServiceManager {
    let first = root.text("/proc/1/comm").unwrap_or_default();
    let has = |files: &[&str]| files.iter().any(|file| root.exists(file));
    match first.trim() {
        "systemd" => return ServiceManager::Systemd,
        "runit" => return ServiceManager::Runit,
        "procd" => return ServiceManager::Procd,
        _ => {}
    }
    if has(&["/run/systemd/system"]) {
        ServiceManager::Systemd
    } else if has(&["/etc/openwrt_release"]) {
        ServiceManager::Procd
    } else if has(&["/sbin/openrc-run", "/usr/bin/openrc-run"])
        || distribution == Distribution::Alpine
    {
        ServiceManager::OpenRc
    } else if has(&["/etc/inittab"]) && !has(&["/usr/lib/systemd/systemd", "/lib/systemd/systemd"])
    {
        ServiceManager::SysvInit
    } else if distribution == Distribution::Other
        && !has(&["/usr/lib/systemd/systemd", "/lib/systemd/systemd"])
    {
        ServiceManager::Unknown
    } else {
        ServiceManager::Systemd
    }
}

/// Returns whether a kernel's command line is that of a device with Android. An emulator has these
/// words as well, but it is a virtual machine.
fn is_android(command_line: &str) -> bool {
    command_line.contains("androidboot.")
        && !ANDROID_EMULATORS.iter().any(|name| command_line.contains(name))
}

/// Names of the hardware of Android's emulators: QEMU's two boards, and Cuttlefish.
pub(crate) const ANDROID_EMULATORS: [&str; 5] =
    ["ranchu", "goldfish", "cutf_cvm", "cuttlefish", "vsoc"];

/// Returns whether the kernel's command line has the CPU's instruction credited.
fn credits_cpu(command_line: &str) -> bool {
    let value = |word: &str| word.strip_prefix("random.trust_cpu=").map(str::to_owned);
    let last = command_line.split_ascii_whitespace().filter_map(value).next_back();
    last.is_some_and(|value| matches!(value.as_str(), "on" | "1" | "y" | "Y"))
}

/// Returns whether a kernel's release is a Raspberry Pi's own: 6.1.21-v8+.
fn is_board(release: Option<&str>) -> bool {
    let release = release.unwrap_or_default().trim_end_matches('+');
    ["-v6", "-v7", "-v7l", "-v8"].iter().any(|end| release.ends_with(end))
}

fn unquoted(value: &str) -> String {
    value.trim().trim_matches(['"', '\'']).to_owned()
}

/// Returns the first known name in ID and then ID_LIKE.
fn distribution(names: &str) -> Distribution {
    let known = |name: &str| match name {
        "ubuntu" | "linuxmint" | "pop" => Some(Distribution::Ubuntu),
        "debian" | "raspbian" | "devuan" | "proxmox" => Some(Distribution::Debian),
        "rhel" | "centos" | "rocky" | "almalinux" | "ol" | "amzn" => Some(Distribution::RedHat),
        "fedora" => Some(Distribution::Fedora),
        "suse" | "opensuse" | "sles" | "opensuse-leap" | "opensuse-tumbleweed" => {
            Some(Distribution::Suse)
        }
        "alpine" => Some(Distribution::Alpine),
        "arch" | "archarm" | "manjaro" => Some(Distribution::Arch),
        _ => None,
    };
    names.split_whitespace().find_map(known).unwrap_or(Distribution::Other)
}

fn boot_loader(root: &Root, platform: Option<Platform>, distribution: Distribution) -> BootLoader {
    // Firecracker boots a kernel file with a command line of its own; the guest decides neither.
    if platform == Some(Platform::Firecracker) {
        return BootLoader::Hypervisor;
    }
    if root.exists("/usr/sbin/grubby") || root.exists("/sbin/grubby") {
        return BootLoader::Grubby;
    }
    if root.exists("/etc/default/grub") {
        return BootLoader::Grub;
    }
    if root.exists("/etc/kernel/cmdline") {
        return BootLoader::SystemdBoot;
    }
    if root.exists("/etc/update-extlinux.conf") {
        return BootLoader::Extlinux;
    }
    // A recording has few of these files, so the distribution's default is the best guess.
    match distribution {
        Distribution::Debian | Distribution::Ubuntu | Distribution::Suse => BootLoader::Grub,
        Distribution::RedHat | Distribution::Fedora => BootLoader::Grubby,
        Distribution::Alpine => BootLoader::Extlinux,
        Distribution::Arch | Distribution::Other => BootLoader::Unknown,
    }
}

fn initramfs(root: &Root, distribution: Distribution) -> Initramfs {
    // Debian has initramfs-tools by default and dracut by choice; plug-ins can create dracut's
    // directory without dracut.
    if root.exists("/etc/initramfs-tools/modules") {
        return Initramfs::InitramfsTools;
    }
    if root.exists("/etc/mkinitcpio.conf") {
        return Initramfs::Mkinitcpio;
    }
    if root.exists("/etc/mkinitfs/mkinitfs.conf") {
        return Initramfs::Mkinitfs;
    }
    if root.exists("/etc/dracut.conf.d") || root.exists("/etc/dracut.conf") {
        return Initramfs::Dracut;
    }
    match distribution {
        Distribution::Debian | Distribution::Ubuntu => Initramfs::InitramfsTools,
        Distribution::RedHat | Distribution::Fedora | Distribution::Suse => Initramfs::Dracut,
        Distribution::Alpine => Initramfs::Mkinitfs,
        Distribution::Arch => Initramfs::Mkinitcpio,
        Distribution::Other => Initramfs::Unknown,
    }
}

/// Returns whether the machine is an x86, by the form of /proc/cpuinfo. A missing file counts as
/// x86, because the advice for CPU models is about x86.
fn is_x86(root: &Root) -> bool {
    let cpu = root.text("/proc/cpuinfo").unwrap_or_default();
    // s390x has a `vendor_id` and no `flags`; other architectures have neither.
    cpu.is_empty() || cpu.contains("vendor_id") && cpu.contains("flags")
}
