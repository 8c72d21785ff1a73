//! Detection of the platform by firmware tables (DMI), device tree, CPUID, names of devices, and
//! network addresses whose first bytes belong to a product.
//!
//! Sources: systemd's src/basic/virt.c and each product's documentation. Network prefixes:
//! `mac-prefix` of gnt-cluster(8) (aa:00:00), Proxmox VE 8.1 (BC:24:11), `base_mac` of OpenStack
//! Neutron (fa:16:3e), libvirt and QEMU (52:54:00; QEMU's own default continues with 12:34).

use super::Platform;
use crate::boot::Boot;
use crate::{Evidence, Root};

/// Azure's mark among Hyper-V's machines.
const AZURE_TAG: &str = "7783-7084-3265-9085-8269-3286-77";

/// Vendor, product and platform, the more specific rows first; an empty text matches anything.
const FIRMWARE: [(&str, &str, Platform); 25] = [
    ("", "BHYVE", Platform::Bhyve),
    ("Amazon EC2", "", Platform::Aws),
    ("Google", "Google Compute Engine", Platform::Gce),
    ("VMware", "", Platform::VMware),
    ("innotek GmbH", "", Platform::VirtualBox),
    ("", "VirtualBox", Platform::VirtualBox),
    ("OpenStack", "", Platform::OpenStack),
    ("", "OpenStack Nova", Platform::OpenStack),
    ("", "OpenStack Compute", Platform::OpenStack),
    ("KubeVirt", "", Platform::KubeVirt),
    ("", "KubeVirt", Platform::KubeVirt),
    ("oVirt", "", Platform::OVirt),
    ("", "oVirt", Platform::OVirt),
    ("", "RHEV Hypervisor", Platform::OVirt),
    ("Apache Software Foundation", "", Platform::CloudStack),
    ("", "CloudStack", Platform::CloudStack),
    ("Cloud Hypervisor", "", Platform::CloudHypervisor),
    ("", "cloud-hypervisor", Platform::CloudHypervisor),
    ("Apple Inc.", "Apple Virtualization", Platform::AppleVirtualization),
    ("Xen", "", Platform::Xen),
    ("Microsoft Corporation", "Virtual Machine", Platform::HyperV),
    ("Red Hat", "KVM", Platform::Libvirt),
    ("", "Bochs", Platform::Qemu),
    ("Parallels", "", Platform::OtherVm),
    ("QEMU", "", Platform::Qemu),
];

impl Platform {
    /// Returns the platform and its source. `hypervisor` is the answer of CPUID on a live machine
    /// ("none" for bare metal).
    pub fn detect(root: &Root, hypervisor: Option<&str>) -> (Platform, Evidence) {
        container(root)
            .or_else(|| firmware(root))
            .or_else(|| traces(root))
            .or_else(|| device_tree(root))
            .unwrap_or_else(|| by_cpu(root, hypervisor))
    }
}

impl Platform {
    /// Returns the platform that a log shows, by the kernel's "DMI:" and "Hypervisor detected:"
    /// lines, by systemd's "Detected virtualization", and by the maker of the ACPI tables. A log
    /// without them says nothing, and a board's name alone is not enough: a hypervisor can show its
    /// host's tables.
    pub(crate) fn of_log(boot: &Boot) -> Option<Platform> {
        let machine = &boot.machine;
        let by_systemd = machine.virtualization.as_deref().and_then(by_systemds_word);
        let release = boot.kernel.as_deref().unwrap_or_default();
        if release.contains("microsoft-standard") {
            return Some(Platform::Wsl);
        }
        // A container shows its host's kernel.
        if by_systemd == Some(Platform::Container) {
            return by_systemd;
        }
        let dmi = machine.dmi.as_deref().unwrap_or_default();
        if dmi.starts_with("Xen ") && dmi.contains("amazon") {
            return Some(Platform::Aws);
        }
        let (maker, rest) = dmi.split_once(' ').unwrap_or((dmi, ""));
        let named = FIRMWARE.iter().find(|(vendor, product, _)| {
            dmi.starts_with(vendor)
                && (dmi.contains(product) || rest.contains(product))
                && !(vendor.is_empty() && maker.is_empty())
        });
        // EC2's and Azure's machines keep their names; a bare Microsoft or Xen is the product.
        let by_dmi = named.map(|row| row.2).filter(|_| !dmi.is_empty());
        if by_dmi == Some(Platform::HyperV) && release.contains("-azure") {
            return Some(Platform::Azure);
        }
        let by_hypervisor = machine.hypervisor.as_deref().map(|name| match name {
            name if name.starts_with("VMware") => Platform::VMware,
            name if name.starts_with("Microsoft Hyper") => Platform::HyperV,
            name if name.starts_with("Xen") => Platform::Xen,
            name if name.eq_ignore_ascii_case("bhyve") => Platform::Bhyve,
            _ => Platform::OtherVm,
        });
        let by_firmware = || {
            let tables = machine.firmware.as_deref()?;
            let row = TABLES.iter().find(|(maker, _)| tables.starts_with(maker));
            row.map(|row| row.1)
        };
        // The maker of the tables says more than a name that means any virtual machine.
        let general =
            |found: Option<Platform>| found.filter(|platform| *platform != Platform::OtherVm);
        general(by_dmi)
            .or(general(by_hypervisor))
            .or(general(by_systemd))
            .or_else(by_firmware)
            .or(by_dmi)
            .or(by_hypervisor)
            .or(by_systemd)
            .or_else(|| {
                MAKERS.iter().any(|maker| dmi.starts_with(maker)).then_some(Platform::BareMetal)
            })
    }
}

/// Makers of machines. A hypervisor can show its host's tables, and then says so in another line.
const MAKERS: [&str; 20] = [
    "ASUS",
    "Acer",
    "Advantech",
    "Apple Inc. Mac",
    "Dell ",
    "FUJITSU",
    "Fujitsu",
    "Gigabyte",
    "HP ",
    "HPE ",
    "Hewlett-Packard",
    "Huawei",
    "Intel Corporation",
    "LENOVO",
    "MSI ",
    "Micro-Star",
    "PC Engines",
    "Quanta",
    "Supermicro",
    "TOSHIBA",
];

/// Makers and names of ACPI tables that only one product writes.
const TABLES: [(&str, Platform); 5] = [
    ("APPLE  Apple Vz", Platform::AppleVirtualization),
    ("BHYVE", Platform::Bhyve),
    ("CLOUDH", Platform::CloudHypervisor),
    ("FIRECK", Platform::Firecracker),
    ("VBOX", Platform::VirtualBox),
];

/// Returns the platform that systemd-detect-virt(1) means by a word.
fn by_systemds_word(word: &str) -> Option<Platform> {
    Some(match word {
        "amazon" => Platform::Aws,
        "apple" => Platform::AppleVirtualization,
        "bhyve" => Platform::Bhyve,
        "google" => Platform::Gce,
        "microsoft" => Platform::HyperV,
        "oracle" => Platform::VirtualBox,
        "vmware" => Platform::VMware,
        "xen" => Platform::Xen,
        "wsl" => Platform::Wsl,
        "docker" | "podman" | "systemd-nspawn" | "rkt" | "openvz" | "proot" | "pouch"
        | "container-other" => Platform::Container,
        word if word.starts_with("lxc") => Platform::Container,
        "none" => return None,
        _ => Platform::OtherVm,
    })
}

type Found = Option<(Platform, Evidence)>;

fn evidence(place: &str, says: impl Into<String>) -> Evidence {
    Evidence { place: place.to_owned(), says: says.into() }
}

fn container(root: &Root) -> Found {
    // A machine whose files were once a container's image keeps the image's mark, but only a whole
    // machine shows kernel threads.
    if root.text("/proc/2/comm").is_ok_and(|name| name == "kthreadd") {
        return None;
    }
    // An empty /proc, as in a new mount namespace, shows no thread at all, and then an image's mark
    // proves nothing: virtual machines are made of images, too. The files in /run are of this boot,
    // so they count all the same.
    let is_proc_empty = root.exists("/proc") && root.names("/proc").is_empty();
    for place in ["/run/systemd/container", "/.dockerenv", "/run/.containerenv"] {
        if root.exists(place) && (!is_proc_empty || place.starts_with("/run/")) {
            let says = root.text(place).unwrap_or_default();
            return Some((
                Platform::Container,
                evidence(place, says.lines().next().unwrap_or("is there")),
            ));
        }
    }
    // gVisor answers every system call itself, under a version of its own: 4.4.0 for years, now
    // 4.19.0-gvisor, always built on the same day.
    let version = root.text("/proc/version").unwrap_or_default();
    let is_gvisor = version.contains("#1 SMP Sun Jan 10 15:06:54 PST 2016")
        || version.to_ascii_lowercase().contains("gvisor");
    if is_gvisor {
        return Some((Platform::Container, evidence("/proc/version", version)));
    }
    let place = "/proc/1/cgroup";
    let text = root.text(place).ok()?;
    let line = text.lines().find(|line| {
        ["/docker", "/kubepods", "/lxc/", "/lxc.payload", "libpod", "/containerd"]
            .iter()
            .any(|mark| line.contains(mark))
    })?;
    Some((Platform::Container, evidence(place, line)))
}

fn firmware(root: &Root) -> Found {
    let of = |name: &str| root.text(&format!("/sys/class/dmi/id/{name}")).unwrap_or_default();
    let (vendor, product) = (of("sys_vendor"), of("product_name"));
    if vendor.is_empty() && product.is_empty() {
        return None;
    }
    let says =
        evidence("/sys/class/dmi/id/{sys_vendor,product_name}", format!("{vendor}, {product}"));
    // In this cloud only the instance types that end with ".metal" have no hypervisor.
    if vendor == "Amazon EC2" && product.contains(".metal") {
        return Some((Platform::BareMetal, says));
    }
    let row = FIRMWARE.iter().find(|(a, b, _)| vendor.starts_with(a) && product.contains(b));
    match row.map(|row| row.2) {
        Some(Platform::HyperV) if of("chassis_asset_tag") == AZURE_TAG => {
            Some((Platform::Azure, evidence("/sys/class/dmi/id/chassis_asset_tag", AZURE_TAG)))
        }
        Some(Platform::Xen) if of("bios_version").contains("amazon") => Some((Platform::Aws, says)),
        Some(Platform::Qemu) => {
            Some(over_qemu(root, &of("bios_vendor")).unwrap_or((Platform::Qemu, says)))
        }
        Some(platform) => Some((platform, says)),
        // A board maker's name on a virtual CPU: a hypervisor that shows its host's tables.
        None if is_virtual_cpu(root) => Some((Platform::OtherVm, says)),
        None => Some((Platform::BareMetal, says)),
    }
}

/// Finds the product that drives QEMU.
fn over_qemu(root: &Root, bios: &str) -> Found {
    if bios.contains("Proxmox") {
        return Some((Platform::Proxmox, evidence("/sys/class/dmi/id/bios_vendor", bios)));
    }
    let folder = "/sys/class/net";
    root.names(folder).into_iter().find_map(|name| {
        let place = format!("{folder}/{name}/address");
        let address = root.text(&place).ok()?.to_ascii_lowercase();
        let platform = match address.get(..8)? {
            "aa:00:00" => Platform::Ganeti,
            "bc:24:11" => Platform::Proxmox,
            "fa:16:3e" => Platform::OpenStack,
            "52:54:00" if !address.starts_with("52:54:00:12:34") => Platform::Libvirt,
            _ => return None,
        };
        // The rest of the address would identify the machine.
        Some((platform, evidence(&place, format!("{}:..", address.get(..8)?))))
    })
}

/// Finds hypervisors that show no firmware tables.
fn traces(root: &Root) -> Found {
    if let Ok(says) = root.text("/sys/hypervisor/type")
        && says == "xen"
    {
        return Some((Platform::Xen, evidence("/sys/hypervisor/type", says)));
    }
    let release = root.text("/proc/sys/kernel/osrelease").unwrap_or_default();
    if release.contains("microsoft-standard-WSL") {
        return Some((Platform::Wsl, evidence("/proc/sys/kernel/osrelease", release)));
    }
    // Firecracker's generation device has the specification's name; QEMU's and Hyper-V's have their
    // makers' names.
    let acpi = "/sys/bus/acpi/devices";
    let name = root.names(acpi).into_iter().find(|name| name.starts_with("VMGENCTR"));
    let place = format!("{acpi}/{}", name?);
    Some((Platform::Firecracker, evidence(&place, "is there, and no firmware tables")))
}

/// Returns the platform by the device tree, which arm64 boards and some virtual machines have in
/// place of firmware tables.
fn device_tree(root: &Root) -> Found {
    let tree = "/sys/firmware/devicetree/base";
    let clean = |text: String| text.replace('\0', " ").trim().to_owned();
    let of = |name: &str| root.text(&format!("{tree}/{name}")).map(clean).ok();
    let (place, says) = [("compatible", of("compatible")), ("model", of("model"))]
        .into_iter()
        .find_map(|(name, says)| Some((format!("{tree}/{name}"), says?)))?;
    let hypervisor = of("hypervisor/compatible").unwrap_or_default();
    let platform = if hypervisor.contains("xen") {
        Platform::Xen
    } else if says.contains("linux,dummy-virt") {
        // QEMU's `virt` and Firecracker use the same name; only QEMU has its configuration device.
        let is_qemu = root.names(tree).iter().any(|name| name.starts_with("fw-cfg"));
        if is_qemu { Platform::Qemu } else { Platform::Firecracker }
    } else if is_virtual_cpu(root) || !hypervisor.is_empty() {
        Platform::OtherVm
    } else {
        Platform::BareMetal
    };
    Some((platform, evidence(&place, says)))
}

/// Returns whether the CPU has the flag of a hypervisor. Only x86 CPUs have one.
fn is_virtual_cpu(root: &Root) -> bool {
    let info = root.text("/proc/cpuinfo").unwrap_or_default();
    info.lines()
        .any(|line| line.starts_with("flags") && line.split(' ').any(|flag| flag == "hypervisor"))
}

fn by_cpu(root: &Root, hypervisor: Option<&str>) -> (Platform, Evidence) {
    let platform = match hypervisor {
        Some("none") => Platform::BareMetal,
        Some("VMware") => Platform::VMware,
        Some("Hyper-V") => Platform::HyperV,
        Some("Xen") => Platform::Xen,
        Some("QEMU TCG") => Platform::Qemu,
        Some(_) => Platform::OtherVm,
        None if is_virtual_cpu(root) => Platform::OtherVm,
        // Unknown. A machine that may be virtual is treated as virtual, because too much care costs
        // little.
        None => Platform::OtherVm,
    };
    let says = hypervisor.unwrap_or("no table, no tree, no name");
    (platform, evidence("CPUID", says))
}
