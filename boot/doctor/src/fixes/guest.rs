//! The machine's own side: how its distribution writes each setting.
//!
//! Checked against: initramfs-tools(7), dracut.conf(5), mkinitcpio.conf(5), mkinitfs(1);
//! kernel-parameters of Linux (random.trust_cpu, random.trust_bootloader); grubby(8),
//! update-grub(8); systemd-random-seed.service(8), bootctl(1), systemd.service(5); udev(7); the
//! configurations of Debian's kernels (package linux-config-6.1: the cloud flavour lacks
//! CONFIG_VMGENID, the general one has it).

use super::{BootLoader, Distribution, Initramfs, PlatformFacts};
use crate::{Effect, Fix, Side};

/// Returns a fix in the machine itself.
pub(super) fn fix(
    what: &str,
    exact: Option<String>,
    gives: Effect,
    trusts: Option<&'static str>,
) -> Fix {
    Fix { side: Side::Guest, platform: None, what: what.to_owned(), exact, gives, trusts }
}

/// Returns a fix in the machine that only removes an obstacle.
pub(super) fn plain(what: &str, exact: Option<&str>) -> Fix {
    fix(what, exact.map(str::to_owned), Effect::Nothing, None)
}

/// Returns the commands that add a driver to the initial RAM disk, so that the driver is loaded
/// before the first program asks for random bytes.
pub(super) fn early_module(module: &str, facts: &PlatformFacts) -> String {
    match facts.initramfs {
        Initramfs::InitramfsTools => {
            format!("echo {module} >> /etc/initramfs-tools/modules && update-initramfs -u")
        }
        Initramfs::Dracut => format!(
            "echo 'force_drivers+=\" {module} \"' > /etc/dracut.conf.d/{module}.conf && dracut --force"
        ),
        Initramfs::Mkinitcpio => {
            format!(
                "sed -i 's/^MODULES=(/MODULES=({module} /' /etc/mkinitcpio.conf && mkinitcpio -P"
            )
        }
        Initramfs::Mkinitfs => format!(
            "echo 'kernel/drivers/char/hw_random/{}.ko*' > /etc/mkinitfs/features.d/{module}.modules && \
             sed -i 's/^features=\"/features=\"{module} /' /etc/mkinitfs/mkinitfs.conf && mkinitfs",
            module.replace('_', "-")
        ),
        Initramfs::Unknown => {
            format!("add the module {module} to the initial RAM disk, and load it there")
        }
    }
}

/// Returns the command that loads a driver at each boot. The driver comes later than from an
/// initial RAM disk, which some machines do not have.
pub(super) fn module_at_boot(module: &str) -> String {
    format!("echo {module} > /etc/modules-load.d/{module}.conf && modprobe {module}")
}

/// Returns the commands that add a word to the kernel's command line and remove others.
pub(super) fn command_line(add: Option<&str>, remove: &[&str], facts: &PlatformFacts) -> String {
    if facts.boot_loader == BootLoader::Grubby {
        let add = add.map(|word| format!(" --args={word}")).unwrap_or_default();
        let remove = match remove {
            [] => String::new(),
            words => format!(" --remove-args=\"{}\"", words.join(" ")),
        };
        return format!("grubby --update-kernel=ALL{remove}{add}");
    }
    let remove = remove.iter().map(|word| format!("remove {word}"));
    let add = add.map(|word| format!("add {word}"));
    let edit = remove.chain(add).collect::<Vec<String>>().join(", ");
    match facts.boot_loader {
        BootLoader::Grub => {
            let update = match facts.distribution {
                Distribution::Debian | Distribution::Ubuntu => "update-grub",
                Distribution::RedHat | Distribution::Fedora | Distribution::Suse => {
                    "grub2-mkconfig -o /boot/grub2/grub.cfg"
                }
                _ => "grub-mkconfig -o /boot/grub/grub.cfg",
            };
            format!("/etc/default/grub, GRUB_CMDLINE_LINUX: {edit}; then: {update}")
        }
        BootLoader::SystemdBoot => format!(
            "/etc/kernel/cmdline: {edit}; then: kernel-install add \"$(uname -r)\" \"/lib/modules/$(uname -r)/vmlinuz\""
        ),
        BootLoader::Extlinux => {
            format!("/etc/update-extlinux.conf, default_kernel_opts: {edit}; then: update-extlinux")
        }
        BootLoader::Hypervisor => {
            format!("the kernel's arguments that the hypervisor passes (boot_args): {edit}")
        }
        BootLoader::EnclaveImage => format!(
            "the kernel's arguments in the enclave's image (of nitro-cli: \
             /usr/share/nitro_enclaves/blobs/cmdline): {edit}; then build the image again"
        ),
        BootLoader::Grubby | BootLoader::Unknown => {
            format!("the kernel's command line, in the boot loader's configuration: {edit}")
        }
    }
}

/// Returns the command that installs a newer kernel, if this distribution has one.
pub(super) fn newer_kernel(facts: &PlatformFacts) -> Option<String> {
    let version = facts.version.as_deref().unwrap_or_default();
    let text = match facts.distribution {
        // The package is in backports, which Debian's cloud images list among their sources and
        // others may not.
        Distribution::Debian => {
            let package = kernel_package(facts)?;
            match debian_name(version) {
                Some(release) => format!(
                    "apt update && apt install -t {release}-backports {package}    # with {release}-backports among apt's sources"
                ),
                None => format!("apt update && apt install {package}"),
            }
        }
        Distribution::Ubuntu if !version.is_empty() => {
            format!("apt update && apt install linux-generic-hwe-{version}")
        }
        Distribution::Ubuntu => "apt update && apt install linux-generic".to_owned(),
        Distribution::RedHat | Distribution::Fedora => "dnf upgrade kernel".to_owned(),
        Distribution::Suse => "zypper update kernel-default".to_owned(),
        Distribution::Alpine => "apk upgrade --available".to_owned(),
        Distribution::Arch => "pacman -Syu linux".to_owned(),
        Distribution::Other => return None,
    };
    Some(text)
}

fn debian_name(version: &str) -> Option<&'static str> {
    match version {
        "11" => Some("bullseye"),
        "12" => Some("bookworm"),
        "13" => Some("trixie"),
        _ => None,
    }
}

/// Returns Debian's kernel package of the general flavour, which has the drivers that the cloud
/// flavour lacks; `None` for an architecture whose package is unknown, such as that of a
/// Raspberry Pi's own kernel.
pub(super) fn kernel_package(facts: &PlatformFacts) -> Option<&'static str> {
    const OTHERS: [(&str, &str); 6] = [
        ("-arm64", "linux-image-arm64"),
        ("-armmp", "linux-image-armmp"),
        ("-armmp-lpae", "linux-image-armmp-lpae"),
        ("-powerpc64le", "linux-image-powerpc64le"),
        ("-riscv64", "linux-image-riscv64"),
        ("-s390x", "linux-image-s390x"),
    ];
    if facts.x86 {
        return Some("linux-image-amd64");
    }
    let release = facts.kernel.as_deref()?;
    OTHERS.iter().find(|(end, _)| release.ends_with(end)).map(|(_, package)| *package)
}

/// Returns whether the machine runs Debian's kernel for clouds, which lacks drivers. The name is
/// enough if /etc/os-release is missing: no other flavour ends like this (Debian, linux:
/// debian/config/*/defines.toml).
pub(super) fn is_cloud_flavour(facts: &PlatformFacts) -> bool {
    let ends = |release: &str| {
        ["-cloud-amd64", "-cloud-arm64"].iter().any(|suffix| release.ends_with(suffix))
    };
    matches!(facts.distribution, Distribution::Debian | Distribution::Other)
        && facts.kernel.as_deref().is_some_and(ends)
}
