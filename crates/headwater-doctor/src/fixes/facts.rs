//! The facts that decide how a setting is written on this machine.

use crate::boot::Boot;
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
        // Only architectures other than x86 have a device tree's model.
        let x86 = match boot.machine.architecture.as_deref() {
            Some(name) => name.starts_with("x86"),
            None => boot.machine.model.is_none() && !is_board(boot.kernel.as_deref()),
        };
        PlatformFacts {
            confidential: boot.machine.confidential.is_some(),
            kernel: boot.kernel.clone(),
            x86,
            ..PlatformFacts::of_platform(Platform::of_log(boot))
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
