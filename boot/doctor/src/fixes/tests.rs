use super::*;

/// Makes a list of all variants. A new one does not compile until it is in the list.
macro_rules! all {
    ($name:ident of $kind:ident: $($variant:ident)+) => {
        const $name: &[$kind] = &[$($kind::$variant),+];

        const _: fn($kind) = |variant| match variant {
            $($kind::$variant => {})+
        };
    };
}

all! { CAUSES of Cause:
    NoSeed HostKeysMadeEarly DropbearKeysMadeEarly KeysMadeEarly Starved JavaSeed TomcatSeed
    JavaStrong StartedTooEarly NoDevice StartTimeout NoJitter OneLock NoVdso NoReseedWord NoCpuRng
    CpuRngUntrusted CpuRngBroken NoCycleCounter NoHwrng HwrngNoDriver HwrngLate HwrngUnhealthy
    BootSeedUnused SavedSeedMissing SavedSeedUncredited NoVmgenid VmgenidNoDriver VmclockNoDriver
    VmclockHidden VmclockUnreadable Cloned Checkpointing BlindGenerators Sandbox NeedlessDaemon
    SwappedPages TwoVersions
}

all! { PLATFORMS of Platform:
    BareMetal Qemu Libvirt Ganeti Proxmox OpenStack KubeVirt OVirt CloudStack Firecracker
    CloudHypervisor VMware HyperV Xen Gce Aws Azure VirtualBox Bhyve Wsl AppleVirtualization
    Container OtherVm
}

fn on(platform: Platform) -> PlatformFacts {
    PlatformFacts::of_platform(Some(platform))
}

fn exacts(fixes: &[Fix]) -> String {
    fixes.iter().filter_map(|fix| fix.exact.as_deref()).collect::<Vec<&str>>().join("\n")
}

#[test]
fn every_cause_has_a_cure_on_every_platform_and_the_hosts_side_comes_first() {
    for &cause in CAUSES {
        for &platform in PLATFORMS {
            let fixes = for_cause(cause, &on(platform));
            assert!(!fixes.is_empty(), "{cause:?} on {platform:?}");
            let is_programs = programs::fixes(cause, &on(platform)).is_some();
            assert!(
                is_programs || fixes.is_sorted_by_key(|fix| fix.side),
                "{cause:?} on {platform:?}: {fixes:#?}"
            );
            for fix in &fixes {
                assert!(!fix.what.is_empty() && !fix.what.ends_with('.'), "{:?}", fix.what);
                let trusted = fix.trusts.is_some();
                assert!(
                    trusted || fix.side == Side::Guest || fix.gives == Effect::Nothing,
                    "{fix:?}"
                );
            }
        }
    }
}

/// The founding case: "without having to modify images" by one setting of the cluster.
#[test]
fn ganeti_is_told_its_own_commands() {
    let text = exacts(&for_cause(Cause::NoSeed, &on(Platform::Ganeti)));
    assert!(
        text.contains("gnt-cluster modify -H kvm:kvm_extra='-device virtio-rng-pci'"),
        "{text}"
    );
    assert!(text.contains(r"cpu_type='SandyBridge\,+rdrand'"), "{text}");
}

#[test]
fn no_platform_is_told_anothers_commands() {
    let words = [
        ("gnt-", Platform::Ganeti),
        ("qm set", Platform::Proxmox),
        ("openstack ", Platform::OpenStack),
        ("kubectl", Platform::KubeVirt),
        ("<rng", Platform::Libvirt),
        ("-device v", Platform::Qemu),
        ("--unix-socket", Platform::Firecracker),
        ("VBoxManage", Platform::VirtualBox),
        ("Set-VMProcessor", Platform::HyperV),
        ("gcloud", Platform::Gce),
    ];
    for &cause in CAUSES {
        for &platform in PLATFORMS {
            let text = exacts(&for_cause(cause, &on(platform)));
            for (word, owner) in words {
                let may = owner == platform || (word, platform) == ("-device v", Platform::Ganeti);
                assert!(may || !text.contains(word), "{cause:?} on {platform:?}: {text}");
            }
        }
    }
}

#[test]
fn a_container_is_sent_to_its_host_and_not_to_its_own_boot_loader() {
    let fixes = for_cause(Cause::CpuRngUntrusted, &on(Platform::Container));
    assert_eq!(exacts(&fixes), "headwater doctor");
    let fixes = for_cause(Cause::Sandbox, &on(Platform::Container));
    // No command: in a unit without a filter, a drop-in would forbid every other call.
    assert_eq!((fixes.len(), exacts(&fixes).as_str()), (1, ""));
}

#[test]
fn each_distribution_is_told_its_own_files() {
    let with = |distribution, boot_loader, initramfs| PlatformFacts {
        distribution,
        boot_loader,
        initramfs,
        ..on(Platform::Qemu)
    };
    let cases = [
        (
            Distribution::Debian,
            BootLoader::Grub,
            Initramfs::InitramfsTools,
            "update-initramfs -u",
            "update-grub",
        ),
        (
            Distribution::RedHat,
            BootLoader::Grubby,
            Initramfs::Dracut,
            "dracut --force",
            "grubby --update-kernel=ALL",
        ),
        (
            Distribution::Arch,
            BootLoader::SystemdBoot,
            Initramfs::Mkinitcpio,
            "mkinitcpio -P",
            "/etc/kernel/cmdline",
        ),
        (
            Distribution::Alpine,
            BootLoader::Extlinux,
            Initramfs::Mkinitfs,
            "features.d",
            "update-extlinux",
        ),
    ];
    for (distribution, boot_loader, initramfs, driver, line) in cases {
        let facts = with(distribution, boot_loader, initramfs);
        let text = exacts(&for_cause(Cause::HwrngLate, &facts));
        assert!(text.contains(driver) && text.contains("virtio"), "{text}");
        let text = exacts(&for_cause(Cause::CpuRngUntrusted, &facts));
        assert!(text.contains(line) && text.contains("random.trust_cpu=on"), "{text}");
    }
}

/// The one flavour whose missing driver is available as a package.
#[test]
fn debians_cloud_kernel_is_replaced_by_the_general_one() {
    let facts = PlatformFacts {
        distribution: Distribution::Debian,
        version: Some("12".to_owned()),
        kernel: Some("6.1.0-51-cloud-amd64".to_owned()),
        ..on(Platform::Qemu)
    };
    let text = exacts(&for_cause(Cause::VmgenidNoDriver, &facts));
    assert_eq!(text, "apt update && apt install linux-image-amd64");
    // A recording without /etc/os-release: the release is enough, and any other flavour's is not.
    let unnamed = |kernel: &str| PlatformFacts {
        distribution: Distribution::Other,
        version: None,
        kernel: Some(kernel.to_owned()),
        ..on(Platform::Qemu)
    };
    for cause in [Cause::VmgenidNoDriver, Cause::NoVmgenid] {
        let of = |kernel: &str| exacts(&for_cause(cause, &unnamed(kernel)));
        assert!(of("6.1.0-51-cloud-amd64").contains("apt install linux-image-amd64"), "{cause:?}");
        assert!(!of("6.1.0-51-amd64").contains("apt install"), "{cause:?}");
        assert!(
            !of("5.10.0-46-cloud-amd64").contains("apt install"),
            "its general flavour has no driver either"
        );
    }
    // 6.12's cloud flavour has the driver: without a device there is nothing to install.
    let newer = exacts(&for_cause(Cause::NoVmgenid, &unnamed("6.12.117+deb13-cloud-amd64")));
    assert!(!newer.contains("apt install"), "{newer}");
    let general = PlatformFacts { kernel: Some("5.10.0-30-amd64".to_owned()), ..facts };
    let text = exacts(&for_cause(Cause::VmgenidNoDriver, &general));
    assert!(text.contains("bookworm-backports"), "{text}");
}

#[test]
fn a_machine_is_read_from_its_files() {
    let folder =
        std::env::temp_dir().join(format!("headwater-doctor-facts-{}", std::process::id()));
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "etc/os-release",
        "NAME=\"Rocky Linux\"\nID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"9.4\"\n",
    );
    write("proc/sys/kernel/osrelease", "5.14.0-427.el9.aarch64\n");
    write("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n");
    let facts = PlatformFacts::read(&crate::Root::open(&folder).unwrap(), Some(Platform::Aws));
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(facts.distribution, Distribution::RedHat);
    assert_eq!(facts.version.as_deref(), Some("9.4"));
    assert_eq!((facts.boot_loader, facts.initramfs), (BootLoader::Grubby, Initramfs::Dracut));
    assert!(!facts.x86);
}

/// The kernel of a container drives the VMClock already, so no driver is advised.
#[test]
fn a_hidden_vmclock_is_passed_in_and_no_driver_is_loaded() {
    let inside = exacts(&for_cause(Cause::VmclockHidden, &on(Platform::Container)));
    assert_eq!(inside, "--device /dev/vmclock0:/dev/vmclock0:r");
    let outside = exacts(&for_cause(Cause::VmclockHidden, &on(Platform::Qemu)));
    assert!(outside.starts_with("mknod "), "{outside}");
    assert!(!outside.contains("ptp_vmclock"));
}

/// A Nitro enclave has its command line in its image, no disk, and the NSM as its random device.
#[test]
fn an_enclave_is_told_of_its_image_and_its_own_device() {
    let facts = PlatformFacts {
        confidential: true,
        enclave: true,
        boot_loader: BootLoader::EnclaveImage,
        kernel: Some("4.14.256".to_owned()),
        ..PlatformFacts::of_platform(None)
    };
    let fixes = for_cause(Cause::NoSeed, &facts);
    let text: String = fixes.iter().map(|fix| format!("{} {:?}\n", fix.what, fix.exact)).collect();
    assert!(text.contains("nitro_enclaves/blobs/cmdline"), "{text}");
    assert!(text.contains("NSM"), "{text}");
    assert!(!text.contains("virtio") && !text.contains("seed file"), "{text}");
}

#[test]
fn nothing_is_advised_that_is_set_already() {
    let facts = PlatformFacts { confidential: true, ..on(Platform::Qemu) };
    let text = exacts(&for_cause(Cause::NoSeed, &facts));
    assert!(text.contains("random.trust_cpu=on"), "{text}");
    let facts = PlatformFacts { cpu_credited: true, ..facts };
    let text = exacts(&for_cause(Cause::NoSeed, &facts));
    assert!(!text.contains("random.trust_cpu=on"), "{text}");
}

#[test]
fn a_board_is_not_sent_to_a_hypervisor_and_not_to_a_pcs_firmware() {
    let facts = PlatformFacts { board: true, x86: false, ..PlatformFacts::of_platform(None) };
    for cause in [Cause::NoSeed, Cause::NoJitter, Cause::NoHwrng] {
        let fixes = for_cause(cause, &facts);
        let text: String = fixes.iter().map(|fix| fix.what.as_str()).collect();
        assert!(text.contains("CONFIG_BOARD_RNG_SEED"), "{text}");
        for word in ["hypervisor", "TPM", "RDRAND"] {
            assert!(!text.contains(word), "{text}");
        }
    }
}

/// z/VM and LPARs have no virtio-rng, and every machine from z14 on has a generator in its CPU.
#[test]
fn an_s390x_machine_is_told_of_its_own_generator() {
    for platform in [None, Some(Platform::OtherVm)] {
        let facts =
            PlatformFacts { s390x: true, x86: false, ..PlatformFacts::of_platform(platform) };
        let fixes = for_cause(Cause::NoSeed, &facts);
        assert!(exacts(&fixes).contains("s390_trng"), "{fixes:?}");
        let device = fixes.iter().find(|fix| fix.what.contains("virtio-rng")).unwrap();
        assert!(device.what.starts_with("if this machine runs under KVM"), "{device:?}");
    }
}

/// Debian has a package for each of its architectures, and none for a board's own kernel.
#[test]
fn a_kernel_of_another_architecture_is_not_installed() {
    let on = |kernel: &str| PlatformFacts {
        distribution: Distribution::Debian,
        version: Some("12".to_owned()),
        kernel: Some(kernel.to_owned()),
        x86: false,
        ..PlatformFacts::of_platform(Some(Platform::BareMetal))
    };
    for (kernel, package) in [
        ("4.19.0-27-arm64", "linux-image-arm64 "),
        ("4.19.0-27-armmp", "linux-image-armmp "),
        ("4.19.0-27-s390x", "linux-image-s390x "),
    ] {
        let text = exacts(&for_cause(Cause::NoSeed, &on(kernel)));
        assert!(text.contains(package), "{text}");
    }
    let text = exacts(&for_cause(Cause::NoSeed, &on("4.19.66+")));
    assert!(!text.contains("linux-image"), "{text}");
}

#[test]
fn a_system_without_systemd_is_not_told_to_edit_its_unit() {
    for keeper in [SeedKeeper::Seedrng, SeedKeeper::Unknown] {
        let facts = PlatformFacts { seed_keeper: keeper, ..on(Platform::Qemu) };
        let fixes = for_cause(Cause::NoSeed, &facts);
        assert!(fixes.iter().all(|fix| !fix.what.contains("systemctl")), "{fixes:?}");
    }
}
