//! The facts that decide how a setting is written on this machine.

use crate::boot::Boot;
use crate::host::Confidential;
use crate::{Platform, Root};

/// The facts that decide how a setting is written on this machine. If a fact is unknown, the advice
/// is general.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformFacts {
    /// The platform.
    pub platform: Option<Platform>,
    /// Whose files and packages it has.
    pub distribution: Distribution,
    /// VERSION_ID of /etc/os-release.
    pub version: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// Where the kernel's command line is written.
    pub boot_loader: BootLoader,
    /// The builder of the initial RAM disk.
    pub initramfs: Initramfs,
    /// True if the machine's owner does not trust the hypervisor.
    pub confidential: bool,
    /// True for an x86 machine, and if the architecture is unknown.
    pub x86: bool,
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

/// Where the kernel's command line is written.
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
        PlatformFacts {
            platform,
            distribution,
            version: field("VERSION_ID"),
            kernel,
            boot_loader: boot_loader(root, platform, distribution),
            initramfs: initramfs(root, distribution),
            confidential: Confidential::detect(root).is_some(),
            x86: is_x86(root),
        }
    }

    /// Reads the facts that a log alone shows: platform, kernel, architecture.
    pub fn of_log(boot: &Boot) -> PlatformFacts {
        let kernel = boot.kernel.clone();
        let release = kernel.as_deref().unwrap_or_default();
        const OTHERS: [&str; 9] =
            ["arm", "aarch64", "riscv", "s390", "ppc", "powerpc", "mips", "raspi", "loong"];
        // Only x86 has a firmware table without an "EFI stub" of another architecture's name, and
        // only other architectures have a device tree's model.
        let x86 = boot.machine.model.is_none()
            && !OTHERS.iter().any(|part| release.contains(part))
            && !release.ends_with("-v7")
            && !release.ends_with("-v8");
        PlatformFacts {
            confidential: boot.machine.confidential.is_some(),
            kernel,
            x86,
            ..PlatformFacts::of_platform(Platform::of_log(&boot.machine))
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
        }
    }
}

fn unquoted(value: &str) -> String {
    value.trim().trim_matches(['"', '\'']).to_owned()
}

/// The first name in ID and then ID_LIKE that is known.
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

/// The architecture follows from the form of /proc/cpuinfo; x86 if it is missing, because the
/// advice for CPU models is about x86.
fn is_x86(root: &Root) -> bool {
    let cpu = root.text("/proc/cpuinfo").unwrap_or_default();
    // s390x has a `vendor_id` and no `flags`; other architectures have neither.
    cpu.is_empty() || cpu.contains("vendor_id") && cpu.contains("flags")
}
