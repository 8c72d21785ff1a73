//! What tells the machine that it was cloned: vmgenid and VMClock.

use crate::{Evidence, Root};

/// What tells the machine that it was cloned.
#[derive(Clone, Debug, Default)]
pub struct Clones {
    /// The hypervisor's vmgenid, and where it was seen.
    pub vmgenid: Option<Evidence>,
    /// Whether the device tree announces it, not ACPI.
    pub by_device_tree: bool,
    /// The folder of the driver that listens to it.
    pub listens: Option<String>,
    /// The hypervisor's VMClock, and where it was seen.
    pub vmclock: Option<Evidence>,
    /// Whether there is a /dev/vmclock0.
    pub vmclock_node: bool,
}

const ACPI: &str = "/sys/bus/acpi/devices";

impl Clones {
    pub(super) fn read(root: &Root) -> Clones {
        let by_acpi = acpi(root, &["VMGENCTR", "QEMUVGID"], "VM_GEN_COUNTER");
        let by_tree = || device_tree(root, "microsoft,vmgenid");
        let listens = ["/sys/bus/platform/drivers/vmgenid", "/sys/bus/acpi/drivers/vmgenid"]
            .into_iter()
            .find(|folder| root.names(folder).iter().any(|name| !is_common(name)));
        Clones {
            by_device_tree: by_acpi.is_none(),
            vmgenid: by_acpi.or_else(by_tree),
            listens: listens.map(str::to_owned),
            vmclock: acpi(root, &["AMZNC10C"], "VMCLOCK")
                .or_else(|| device_tree(root, "amazon,vmclock")),
            vmclock_node: root.exists("/dev/vmclock0"),
        }
    }
}

/// What every driver's folder holds.
fn is_common(name: &str) -> bool {
    ["bind", "unbind", "uevent", "module", "new_id", "remove_id"].contains(&name)
}

/// A device with one of these hardware names, or with that compatible name, which the modalias holds after the hardware name:
/// `acpi:QEMUVGID:VM_GEN_COUNTER:`.
fn acpi(root: &Root, hardware: &[&str], compatible: &str) -> Option<Evidence> {
    root.names(ACPI).into_iter().find_map(|name| {
        ["hid", "modalias"].into_iter().find_map(|file| {
            let place = format!("{ACPI}/{name}/{file}");
            let says = root.text(&place).ok()?;
            let is_one = says
                .to_ascii_uppercase()
                .split(':')
                .any(|part| hardware.contains(&part) || part == compatible);
            is_one.then_some(Evidence { place, says })
        })
    })
}

/// A node at the tree's root that is compatible with that.
fn device_tree(root: &Root, compatible: &str) -> Option<Evidence> {
    let tree = "/sys/firmware/devicetree/base";
    root.names(tree).into_iter().find_map(|name| {
        let place = format!("{tree}/{name}/compatible");
        let says = root.text(&place).ok()?.replace('\0', " ").trim().to_owned();
        says.contains(compatible).then_some(Evidence { place, says })
    })
}
