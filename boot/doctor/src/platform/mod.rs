//! Platforms, which decide the settings to advise.

mod detect;

use serde::Serialize;

/// The platform of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    Bhyve,
    /// Windows Subsystem for Linux 2, whose virtual machine has no settings for its devices.
    Wsl,
    AppleVirtualization,
    /// A container or a sandbox; what its host runs on cannot be seen from within.
    Container,
    /// A hypervisor that this version does not know.
    OtherVm,
}

impl Platform {
    /// Returns whether it is a virtual machine, which can be cloned or rolled back while it runs.
    pub fn is_vm(self) -> bool {
        !matches!(self, Platform::BareMetal | Platform::Container)
    }

    /// Returns whether operators of the platform usually take snapshots of running machines, for
    /// which a clone signal exists. Public clouds clone disks, not memory.
    pub fn snapshots_memory(self) -> bool {
        self.is_vm() && !matches!(self, Platform::Aws | Platform::Gce | Platform::Azure)
    }
}
