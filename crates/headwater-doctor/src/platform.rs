//! What a machine runs on: decides which setting to advise.

use serde::Serialize;

/// What a machine runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the names say it
pub enum Platform {
    BareMetal,
    /// QEMU, by hand or unknown: with or without KVM.
    Qemu,
    Libvirt,
    Ganeti,
    Proxmox,
    OpenStack,
    KubeVirt,
    OVirt,
    CloudStack,
    Firecracker,
    CloudHypervisor,
    VMware,
    HyperV,
    Xen,
    Gce,
    Aws,
    Azure,
    VirtualBox,
    AppleVirtualization,
    /// A container or a sandbox; what its host runs on cannot be seen from within.
    Container,
    /// A hypervisor that this version does not know.
    OtherVm,
}
