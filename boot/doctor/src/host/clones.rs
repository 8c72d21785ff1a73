//! Clone signals: vmgenid and VMClock.

use crate::{Evidence, Root};

/// The clone signals of a machine.
#[derive(Clone, Debug, Default)]
pub struct Clones {
    /// The hypervisor's vmgenid, and where it was seen.
    pub vmgenid: Option<Evidence>,
    /// True if the device tree announces it, false for ACPI.
    pub by_device_tree: bool,
    /// The directory of the bound driver.
    pub listens: Option<String>,
    /// The hypervisor's VMClock, and where it was seen.
    pub vmclock: Option<Evidence>,
    /// True if /dev/vmclock0 exists.
    pub vmclock_node: bool,
    /// The directory of the driver that is bound to the VMClock. A container sees the directory of
    /// its host even if it does not see the device.
    pub vmclock_driver: Option<String>,
}

const ACPI: &str = "/sys/bus/acpi/devices";

impl Clones {
    pub(super) fn read(root: &Root) -> Clones {
        let by_acpi = acpi(root, &["VMGENCTR", "QEMUVGID"], "VM_GEN_COUNTER");
        let by_tree = || device_tree(root, "microsoft,vmgenid");
        let bound = |drivers: &[&str]| {
            let mut drivers = drivers.iter();
            let found =
                drivers.find(|driver| root.names(driver).iter().any(|name| !is_common(name)));
            found.map(|driver| (*driver).to_owned())
        };
        Clones {
            by_device_tree: by_acpi.is_none(),
            vmgenid: by_acpi.or_else(by_tree),
            listens: bound(&["/sys/bus/platform/drivers/vmgenid", "/sys/bus/acpi/drivers/vmgenid"]),
            vmclock: acpi(root, &["AMZNC10C"], "VMCLOCK")
                .or_else(|| device_tree(root, "amazon,vmclock")),
            vmclock_node: root.exists("/dev/vmclock0"),
            vmclock_driver: bound(&["/sys/bus/platform/drivers/vmclock"]),
        }
    }
}

/// Returns whether every driver's directory has this entry.
fn is_common(name: &str) -> bool {
    ["bind", "unbind", "uevent", "module", "new_id", "remove_id"].contains(&name)
}

/// Finds a device with one of these hardware names or with the compatible name, which the modalias
/// holds after the hardware name: `acpi:QEMUVGID:VM_GEN_COUNTER:`.
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

/// Finds a node at the tree's root with that compatible name.
fn device_tree(root: &Root, compatible: &str) -> Option<Evidence> {
    let tree = "/sys/firmware/devicetree/base";
    root.names(tree).into_iter().find_map(|name| {
        let place = format!("{tree}/{name}/compatible");
        let says = root.text(&place).ok()?.replace('\0', " ").trim().to_owned();
        says.contains(compatible).then_some(Evidence { place, says })
    })
}
