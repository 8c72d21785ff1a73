//! The random device of the machine, and whether the kernel uses it.

use crate::{Evidence, Root};

/// The random devices of a machine. The devices themselves are not read.
#[derive(Clone, Debug, Default)]
pub struct Hwrng {
    /// A virtio random device on a bus, and where that was seen.
    pub virtio: Option<Evidence>,
    /// Devices whose driver is there: `rng_available`.
    pub available: Vec<String>,
    /// The one in use.
    pub current: Option<String>,
    /// True if the driver of the virtio device is a module, which may load late.
    pub is_module: bool,
}

const CLASS: &str = "/sys/class/misc/hw_random";

impl Hwrng {
    pub(super) fn read(root: &Root) -> Hwrng {
        let text = |name: &str| root.text(&format!("{CLASS}/{name}")).ok();
        let named = |text: String| (!text.is_empty() && text != "none").then_some(text);
        Hwrng {
            virtio: on_virtio(root).or_else(|| on_pci(root)),
            available: text("rng_available")
                .unwrap_or_default()
                .split_whitespace()
                .filter(|name| *name != "none")
                .map(str::to_owned)
                .collect(),
            current: text("rng_current").and_then(named),
            is_module: root
                .text("/proc/modules")
                .is_ok_and(|text| text.lines().any(|line| line.starts_with("virtio_rng "))),
        }
    }

    /// Returns whether the virtio device has its driver.
    pub fn has_virtio_driver(&self) -> bool {
        self.available.iter().any(|name| name.starts_with("virtio_rng"))
    }
}

/// Returns a random device on the virtio bus. Its device number is 4 (Virtual I/O Device
/// specification, section 5).
fn on_virtio(root: &Root) -> Option<Evidence> {
    let bus = "/sys/bus/virtio/devices";
    root.names(bus).into_iter().find_map(|name| {
        let place = format!("{bus}/{name}/device");
        let says = root.text(&place).ok()?;
        let number = u32::from_str_radix(says.trim_start_matches("0x"), 16).ok()?;
        (number == 4).then_some(Evidence { place, says })
    })
}

/// Returns a virtio random device on the PCI bus: 1af4:1005 before virtio 1.0, and 1af4:1044
/// (0x1040 + 4) since.
fn on_pci(root: &Root) -> Option<Evidence> {
    let bus = "/sys/bus/pci/devices";
    root.names(bus).into_iter().find_map(|name| {
        let of = |file: &str| root.text(&format!("{bus}/{name}/{file}")).ok();
        let (vendor, device) = (of("vendor")?, of("device")?);
        (vendor == "0x1af4" && ["0x1005", "0x1044"].contains(&device.as_str())).then(|| Evidence {
            place: format!("{bus}/{name}"),
            says: format!("vendor {vendor}, device {device}"),
        })
    })
}
