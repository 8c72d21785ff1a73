//! What a machine runs on: decides which setting to advise.

mod detect;

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

impl Platform {
    /// Whether it is a virtual machine, which can be cloned or rolled back while it runs.
    pub fn is_vm(self) -> bool {
        !matches!(self, Platform::BareMetal | Platform::Container)
    }

    /// Whether its operator, as a rule, makes snapshots of running machines: what a clone signal is for. Public clouds clone
    /// disks, not memory.
    pub fn snapshots_memory(self) -> bool {
        self.is_vm() && !matches!(self, Platform::Aws | Platform::Gce | Platform::Azure)
    }
}
