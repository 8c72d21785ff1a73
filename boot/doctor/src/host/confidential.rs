//! Confidential guests, whose owner does not trust the hypervisor.

use crate::{Evidence, Root};
use serde::Serialize;

/// A technology of confidential guests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)] // the names say it
pub enum Confidential {
    SevSnp,
    Tdx,
    ArmCca,
    NitroEnclave,
}

impl Confidential {
    /// Returns the technology and the place that shows it.
    pub(crate) fn detect(root: &Root) -> Option<(Confidential, Evidence)> {
        let exists = "exists";
        let places = [
            ("/dev/sev-guest", Confidential::SevSnp),
            ("/sys/bus/platform/devices/sev-guest", Confidential::SevSnp),
            ("/dev/tdx_guest", Confidential::Tdx),
            ("/sys/bus/platform/devices/arm-cca-dev", Confidential::ArmCca),
            ("/dev/nsm", Confidential::NitroEnclave),
        ];
        let found =
            |place: &str, says: &str| Evidence { place: place.to_owned(), says: says.to_owned() };
        let by_place = places.into_iter().find(|(place, _)| root.exists(place));
        // Only a guest has this flag; `sev_snp` is a flag of hosts as well.
        let by_flag = || {
            let info = root.text("/proc/cpuinfo").ok()?;
            let mut words = info.split_ascii_whitespace();
            let is_tdx = words.any(|word| word == "tdx_guest");
            is_tdx.then(|| (Confidential::Tdx, found("/proc/cpuinfo", "flags with tdx_guest")))
        };
        by_place.map(|(place, kind)| (kind, found(place, exists))).or_else(by_flag)
    }

    /// Returns the name that its makers use.
    pub const fn name(self) -> &'static str {
        match self {
            Confidential::SevSnp => "SEV-SNP",
            Confidential::Tdx => "TDX",
            Confidential::ArmCca => "Arm CCA",
            Confidential::NitroEnclave => "Nitro Enclaves",
        }
    }
}
