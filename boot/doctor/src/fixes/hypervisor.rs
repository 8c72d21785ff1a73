//! Settings of the hypervisor, one row a platform, so that no image has to be changed.
//!
//! Checked in 2026 against the manuals of QEMU (qemu-system(1), docs/specs/vmgenid), libvirt
//! (formatdomain: `genid`, `rng`, `cpu`), Proxmox VE (qm(1); CPU models in its CPUConfig.pm),
//! Ganeti (gnt-instance(8), issue 1350), OpenStack Nova (extra specs, image properties), KubeVirt
//! (issue 1260), CloudStack (agent.properties), Firecracker (docs/entropy.md, changelog), Xen
//! (xl.cfg(5)), Google Cloud ("Enabling Virtio RNG"), VMware (EVC and CPU compatibility), Apple
//! (VZVirtioEntropyDeviceConfiguration), and Linux for the guest's side. QEMU's settings were run
//! in the lab.

use crate::{Effect, Fix, Platform, Side};

/// One setting of a hypervisor.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    /// The action, in a sentence.
    pub(super) what: &'static str,
    /// The setting to copy; capitals stand for the user's own names.
    pub(super) exact: Option<&'static str>,
}

/// Returns a sentence with a setting to be copied.
const fn set(what: &'static str, exact: &'static str) -> Setting {
    Setting { what, exact: Some(exact) }
}

/// Builds an action without a single setting.
const fn say(what: &'static str) -> Setting {
    Setting { what, exact: None }
}

/// The settings of one platform. `None` means that the platform has no such setting, and no fix is
/// advised.
pub(super) struct Hypervisor {
    platform: Platform,
    /// A random device, virtio-rng.
    pub(super) device: Option<Setting>,
    /// The CPU's own random instruction.
    pub(super) cpu: Option<Setting>,
    /// A generation ID that changes with each clone, vmgenid.
    pub(super) signal: Option<Setting>,
}

/// Returns the row of a platform, or general advice if the platform has no row.
pub(super) fn of(platform: Option<Platform>) -> &'static Hypervisor {
    TABLE.iter().find(|row| Some(row.platform) == platform).unwrap_or(&UNKNOWN)
}

impl Setting {
    /// Returns the setting as a fix on the hypervisor's side.
    pub(super) fn fix(
        self,
        platform: Option<Platform>,
        gives: Effect,
        trusts: &'static str,
    ) -> Fix {
        Fix {
            side: Side::Host,
            platform,
            what: self.what.to_owned(),
            exact: self.exact.map(str::to_owned),
            gives,
            trusts: Some(trusts),
        }
    }
}

const UNKNOWN: Hypervisor = Hypervisor {
    platform: Platform::OtherVm,
    device: Some(say(
        "ask the operator of the hypervisor for a virtio-rng device, fed from the host's /dev/urandom",
    )),
    cpu: Some(say(
        "ask for a CPU model with RDRAND: the host's own, or Intel Ivy Bridge, AMD EPYC or later",
    )),
    signal: Some(say(
        "ask for a VM generation ID (vmgenid) that changes whenever a snapshot of the running machine is started again",
    )),
};

const TABLE: &[Hypervisor] = &[
    Hypervisor {
        platform: Platform::Qemu,
        device: Some(set(
            "start QEMU with a random device, fed from the host's generator",
            "-object rng-random,id=rng0,filename=/dev/urandom -device virtio-rng-pci,rng=rng0",
        )),
        cpu: Some(set(
            "show the host's CPU to the guest, or add the instructions to the model (the default models, qemu64 and kvm64, have neither)",
            "-cpu host    # or: -cpu MODEL,+rdrand,+rdseed",
        )),
        signal: Some(set(
            "add a generation ID, new at every start of QEMU; from QEMU 10 on, a VMClock too",
            "-device vmgenid,guid=auto -device vmclock",
        )),
    },
    Hypervisor {
        platform: Platform::Libvirt,
        device: Some(set(
            "add a random device (virsh edit DOMAIN, under <devices>), then shut the machine down and start it",
            "<rng model='virtio'><backend model='random'>/dev/urandom</backend></rng>",
        )),
        cpu: Some(set(
            "show the host's CPU to the guest (virsh edit DOMAIN), then shut it down and start it",
            "<cpu mode='host-passthrough'/>    <!-- or: <feature policy='require' name='rdrand'/> in a model of yours -->",
        )),
        signal: Some(set(
            "add a generation ID (virsh edit DOMAIN, under <domain>), which libvirt changes when a snapshot is started again",
            "<genid/>",
        )),
    },
    Hypervisor {
        platform: Platform::Ganeti,
        device: Some(set(
            "add a random device for all instances (kvm_extra is one string: keep what it holds now, see 'gnt-cluster info'), then \
             'gnt-instance reboot --type=full' each",
            "gnt-cluster modify -H kvm:kvm_extra='-device virtio-rng-pci'",
        )),
        cpu: Some(set(
            "show the nodes' CPU to the guests, or, in a cluster of unlike nodes, a model with RDRAND that all of them have",
            r"gnt-cluster modify -H kvm:cpu_type=host    # or: -H kvm:cpu_type='SandyBridge\,+rdrand'",
        )),
        signal: Some(set(
            "add a generation ID, new at every start (kvm_extra is one string: keep what it holds now)",
            "gnt-cluster modify -H kvm:kvm_extra='-device virtio-rng-pci -device vmgenid,guid=auto'",
        )),
    },
    Hypervisor {
        platform: Platform::Proxmox,
        device: Some(set(
            "add a random device, then stop the VM and start it (a reboot from within is not enough)",
            "qm set VMID --rng0 source=/dev/urandom",
        )),
        cpu: Some(set(
            "show the host's CPU to the guest: kvm64 and the x86-64-v2, -v2-AES, -v3 and -v4 types have no RDRAND",
            "qm set VMID --cpu host    # or a model that is alike on all nodes, such as IvyBridge or EPYC",
        )),
        signal: Some(set(
            "add a generation ID; Proxmox changes it when the VM is cloned or rolled back, if it was set by command or interface \
             and not by hand in the file",
            "qm set VMID --vmgenid 1",
        )),
    },
    Hypervisor {
        platform: Platform::OpenStack,
        device: Some(set(
            "ask for a random device in the image and allow it in the flavor; servers get it when they are created or rebuilt",
            "openstack image set --property hw_rng_model=virtio IMAGE && \
             openstack flavor set --property hw_rng:allowed=True FLAVOR",
        )),
        cpu: Some(set(
            "show the compute node's CPU to the guests (nova.conf of the compute node)",
            "[libvirt]\ncpu_mode = host-model",
        )),
        signal: None,
    },
    Hypervisor {
        platform: Platform::KubeVirt,
        device: Some(set(
            "add a random device to the VirtualMachine; it is not added by default",
            r#"kubectl patch vm NAME --type merge -p '{"spec":{"template":{"spec":{"domain":{"devices":{"rng":{}}}}}}}'"#,
        )),
        cpu: Some(set(
            "show the node's CPU to the guest",
            r#"kubectl patch vm NAME --type merge -p '{"spec":{"template":{"spec":{"domain":{"cpu":{"model":"host-passthrough"}}}}}}'"#,
        )),
        signal: None,
    },
    Hypervisor {
        platform: Platform::OVirt,
        device: Some(say(
            "edit the VM, Random Generator: enable it, with /dev/urandom as its source (the default from cluster level 4.1 on)",
        )),
        cpu: Some(say("raise the cluster's CPU type to Intel Ivy Bridge, AMD EPYC or later")),
        signal: None,
    },
    Hypervisor {
        platform: Platform::CloudStack,
        device: Some(set(
            "let the KVM agents add a random device (agent.properties of each host), restart the agent, stop and start the VMs",
            "vm.rng.enable=true\nvm.rng.model=random\nvm.rng.path=/dev/urandom",
        )),
        cpu: Some(set(
            "show the host's CPU to the guests (agent.properties of each host)",
            "guest.cpu.mode=host-model",
        )),
        signal: None,
    },
    Hypervisor {
        platform: Platform::Firecracker,
        device: Some(set(
            "attach the random device before the machine is started (or put \"entropy\": {} into its configuration file); the guest's \
             kernel needs CONFIG_HW_RANDOM_VIRTIO",
            "curl --unix-socket SOCKET -X PUT http://localhost/entropy -H 'Content-Type: application/json' -d '{}'",
        )),
        cpu: Some(say(
            "use a CPU template that leaves RDRAND on; without a template the host's instruction is passed on",
        )),
        signal: Some(say(
            "nothing to set: Firecracker has had a generation ID since 1.8, which changes whenever a snapshot is loaded; update an \
             older one, and run a guest kernel with CONFIG_VMGENID",
        )),
    },
    Hypervisor {
        platform: Platform::CloudHypervisor,
        device: Some(set(
            "leave the random device on; it is there by default",
            "--rng src=/dev/urandom",
        )),
        cpu: Some(say("nothing to set: the host's CPU is passed on; the host itself lacks RDRAND")),
        signal: Some(say(
            "update Cloud Hypervisor: recent versions have a generation ID, older ones have none",
        )),
    },
    Hypervisor {
        platform: Platform::VMware,
        // VMware has no random device for Linux.
        device: None,
        cpu: Some(say(
            "set the cluster's EVC mode (or that of the VM) to Intel Ivy Bridge, AMD Zen or later, then power the VM off and on: \
             older modes hide RDRAND, and VMware has no random device",
        )),
        signal: Some(say(
            "see that the .vmx file has vm.genid and vm.genidX, which vCenter changes with a clone and a revert; if not, upgrade the \
             VM's hardware version",
        )),
    },
    Hypervisor {
        platform: Platform::HyperV,
        device: None,
        cpu: Some(set(
            "leave processor compatibility off, which hides instructions; Hyper-V has no random device, and Linux 6.10 and later \
             take a seed from its ACPI table OEM0",
            "Set-VMProcessor VMNAME -CompatibilityForMigrationEnabled $false",
        )),
        signal: Some(say(
            "nothing to set: Hyper-V has had a generation ID since Windows Server 2012; the guest needs Linux 5.18 or later with \
             CONFIG_VMGENID",
        )),
    },
    Hypervisor {
        platform: Platform::Azure,
        device: None,
        cpu: Some(say("move the VM to a current size: Azure's present CPUs all have RDRAND")),
        // The platform's clones are of disks; a running machine's memory is not started twice.
        signal: None,
    },
    Hypervisor {
        platform: Platform::Xen,
        device: None,
        cpu: Some(set(
            "leave RDRAND on in the guest's configuration (xl.cfg), where a cpuid= line may hide it",
            r#"cpuid="host,rdrand=x""#,
        )),
        signal: Some(set(
            "add a generation ID to an HVM guest (xl.cfg)",
            r#"ms_vm_genid="generate""#,
        )),
    },
    Hypervisor {
        platform: Platform::Gce,
        device: Some(say(
            "nothing to set: Compute Engine has a virtio-rng device in every VM; see that the image has its driver",
        )),
        cpu: Some(set(
            "ask for a CPU of Ivy Bridge or later, which has RDRAND",
            "gcloud compute instances update VM --min-cpu-platform='Intel Broadwell'",
        )),
        signal: None,
    },
    Hypervisor {
        platform: Platform::Aws,
        device: None,
        cpu: Some(say(
            "move to an instance type of the Nitro system, whose CPUs have RDRAND (RNDR on Graviton3 and later)",
        )),
        signal: None,
    },
    Hypervisor {
        platform: Platform::Bhyve,
        device: Some(set(
            "add a virtio-rnd device to the guest (bhyve(8)); it is fed from the host's /dev/random",
            "-s 7,virtio-rnd",
        )),
        cpu: None,
        signal: None,
    },
    Hypervisor {
        platform: Platform::Wsl,
        device: None,
        cpu: Some(set(
            "update WSL's own kernel, on Windows; its virtual machine shows the host's CPU already",
            "wsl --update",
        )),
        signal: None,
    },
    Hypervisor {
        platform: Platform::VirtualBox,
        device: None,
        cpu: Some(set(
            "show the host's CPU to the guest; VirtualBox has no random device",
            "VBoxManage modifyvm VMNAME --cpu-profile host",
        )),
        signal: None,
    },
    Hypervisor {
        platform: Platform::AppleVirtualization,
        device: Some(set(
            "add a random device in the program that makes the VM; it is not added by default",
            "configuration.entropyDevices = [VZVirtioEntropyDeviceConfiguration()]",
        )),
        // No random instruction that Linux could use is known there.
        cpu: None,
        signal: None,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_of_another_platform_and_says_something() {
        for (i, row) in TABLE.iter().enumerate() {
            assert!(TABLE[..i].iter().all(|other| other.platform != row.platform));
            assert!(row.device.is_some() || row.cpu.is_some(), "{:?}", row.platform);
        }
        assert_eq!(of(None).platform, Platform::OtherVm);
        assert_eq!(of(Some(Platform::BareMetal)).platform, Platform::OtherVm);
    }
}
