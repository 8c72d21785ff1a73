//! Every recorded host, and what the doctor finds on it.
//!
//! A host's folder holds `expected`: the platform and the findings, one a line. `SNAPSHOTS=overwrite cargo test -p
//! headwater-doctor --test hosts` writes them anew; read what changed.

use headwater_doctor::deep::Deep;
use headwater_doctor::fixes::PlatformFacts;
use headwater_doctor::{Case, Id, Kernel, Platform, Report, Root, Severity, Verdict, diagnose};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// For each check a host on which it fires, and a near miss: one that differs in what decides, on which it must not.
const FIRES: &[(Id, &str, &str)] = &[
    (Id::NotReady, "lab-7-stall", "lab-7-stall-driver-late"),
    (Id::ReadyLate, "debian10-ganeti-stall", "debian10-ganeti-rdrand"),
    (Id::Blocked, "blocked-sshd", "no-tsc-acpi-pm"),
    (Id::UnitWaited, "debian10-ganeti-stall", "debian11-libvirt"),
    (Id::TraceWaited, "debian10-ganeti-stall", "debian11-libvirt"),
    (Id::EarlyCaller, "debian10-ganeti-stall", "debian10-ganeti-rdrand"),
    (Id::EarlyRead, "debian10-ganeti-stall", "debian10-ganeti-rdrand"),
    (Id::NoJitter, "debian10-ganeti-stall", "debian11-libvirt"),
    (Id::OneLock, "rhel8-64cpus", "debian13-baremetal"),
    (Id::NoVdso, "debian12-baremetal", "debian13-baremetal"),
    (Id::NoReseedWord, "debian12-baremetal", "debian13-baremetal"),
    (Id::NoCpuRng, "debian10-ganeti-stall", "debian10-ganeti-rdrand"),
    (Id::CpuRngUntrusted, "lab-6.12-rdrand-untrusted", "lab-6.1-rdrand"),
    (Id::CpuRngBroken, "debian13-zen5-old-microcode", "debian13-baremetal"),
    (Id::NoCycleCounter, "lab-7-stall", "no-tsc-acpi-pm"),
    (Id::NoHwrng, "lab-5.10-nothing", "lab-6.18-virtio-rng"),
    (Id::HwrngNoDriver, "lab-7-uefi-seed", "lab-6.18-virtio-rng"),
    (Id::HwrngLate, "lab-7-stall-driver-late", "lab-6.18-virtio-rng"),
    (Id::HwrngUnhealthy, "hwrng-stuck", "hwrng-sound"),
    (Id::BootSeedUnused, "ubuntu24-hyperv-efi-untrusted", "gce-debian12"),
    (Id::SavedSeed, "no-saved-seed", "debian13-baremetal"),
    (Id::NoVmgenid, "debian10-ganeti-stall", "ubuntu22-aws"),
    (Id::VmgenidNoDriver, "lab-6.1-vmgenid-no-driver", "lab-6.12-vmgenid"),
    (Id::VmclockUnreadable, "firecracker", "lab-7-vmgenid-vmclock"),
    (Id::Cloned, "cloned-with-openssl", "libvirt-healthy"),
    (Id::Checkpointing, "kubelet-checkpoints", "debian13-baremetal"),
    (Id::BlindGenerators, "cloned-with-openssl", "debian12-baremetal"),
    (Id::Sandbox, "sandbox-kills", "sandbox-kills-other"),
    (Id::NeedlessDaemon, "rhel9-openstack", "debian10-ganeti-rdrand"),
    (Id::SwappedPages, "debian12-baremetal", "debian12-cloud-proxmox"),
];

fn hosts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts");
    let mut hosts: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    hosts.sort();
    hosts
}

fn name(host: &Path) -> String {
    host.file_name().unwrap().to_string_lossy().into_owned()
}

fn report(host: &Path) -> Report {
    diagnose(Case::of_machine(Root::recorded(host)).unwrap())
}

/// With what `--deep` measures, where a recording has a device's bytes.
fn fired(host: &Path) -> Vec<Id> {
    let mut report = report(host);
    let root = Root::recorded(host);
    if host.join("dev/hwrng").exists() {
        let facts = PlatformFacts::read(&root, report.platform);
        Deep::measure(&root, None, true).tell(&mut report, &facts);
    }
    report.findings.iter().map(|finding| finding.id).collect()
}

#[test]
fn each_host_gets_the_findings_that_are_expected_of_it() {
    let overwrite = std::env::var("SNAPSHOTS").is_ok_and(|it| it == "overwrite");
    let mut wrong = String::new();
    for host in hosts() {
        let report = report(&host);
        let mut text = format!(
            "{:?}, kernel {}\n",
            report.platform.unwrap(),
            report.kernel.as_deref().unwrap_or("unknown")
        );
        for finding in &report.findings {
            text.push_str(&format!("{} {:?}: {}\n", finding.id, finding.severity, finding.title));
        }
        for check in &report.not_checked {
            text.push_str(&format!("{} not checked: {}\n", check.id, check.why));
        }
        let file = host.join("expected");
        if overwrite {
            fs::write(&file, &text).unwrap();
        } else if fs::read_to_string(&file).ok().as_deref() != Some(&text) {
            wrong.push_str(&format!("--- {}\n{text}", name(&host)));
        }
    }
    assert!(wrong.is_empty(), "not as expected:\n{wrong}");
}

#[test]
fn every_check_fires_on_one_host_and_not_on_its_near_miss() {
    // Measuring takes seconds, for each of the hosts that have something to measure: all at once.
    let running: Vec<_> = hosts()
        .into_iter()
        .map(|host| std::thread::spawn(move || (name(&host), fired(&host))))
        .collect();
    let found: BTreeMap<String, Vec<Id>> =
        running.into_iter().map(|it| it.join().unwrap()).collect();
    for (id, fires, misses) in FIRES {
        assert!(found[*fires].contains(id), "{id} is silent on {fires}: {:?}", found[*fires]);
        assert!(!found[*misses].contains(id), "{id} fires on {misses}: {:?}", found[*misses]);
    }
}

#[test]
fn no_check_is_without_a_host_and_no_host_is_without_a_word_on_where_it_is_from() {
    for id in Id::ALL {
        assert!(FIRES.iter().any(|(it, ..)| it == id), "{id} has no host on which it fires");
        let in_table =
            headwater_doctor::checks::CHECKS.iter().filter(|check| check.id == *id).count();
        // What has to be measured is no check of the table.
        let expected = usize::from(*id != Id::HwrngUnhealthy);
        assert_eq!(in_table, expected, "{id} in the table of checks");
    }
    let hosts = hosts();
    assert!(hosts.len() >= 25, "{} hosts", hosts.len());
    for host in hosts {
        let text = fs::read_to_string(host.join("recording.json")).unwrap();
        let recording: serde_json::Value = serde_json::from_str(&text).unwrap();
        let of = recording["of"].as_str().unwrap();
        let known =
            ["host", "guest"].contains(&of) || (of == "by hand" && recording["from"].is_string());
        assert!(known, "{}: {of}", name(&host));
    }
}

#[test]
fn every_finding_says_why_it_matters_and_how_to_see_that_it_is_mended() {
    for host in hosts() {
        for finding in report(&host).findings {
            let of = format!("{} on {}", finding.id, name(&host));
            assert!(!finding.evidence.is_empty() && !finding.why.is_empty(), "{of}");
            assert!(!finding.verify.is_empty() && !finding.title.contains('\n'), "{of}");
            // A note may be about what needs none: the second of the jitter loop.
            assert!(
                finding.severity == Severity::Note || !finding.fixes.is_empty(),
                "{of} has no advice"
            );
        }
    }
}

/// The question that the founding document's authors had: would a newer kernel have helped?
#[test]
fn an_assumed_kernel_says_what_would_change_on_that_machine() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts/debian10-ganeti-stall");
    let mut case = Case::of_machine(Root::recorded(&folder)).unwrap();
    case.assumed = Kernel::parse("6.12.48+deb13-amd64");
    let report = diagnose(case);
    let assumed = report.assumed.unwrap();
    assert_eq!(report.kernel.as_deref(), Some("4.19.0-18-amd64"));
    assert!(
        [Id::NoJitter, Id::NoReseedWord].iter().all(|id| assumed.gone.contains(id)),
        "{:?}",
        assumed.gone
    );
    assert!(!assumed.gone.contains(&Id::NoCpuRng), "a kernel does not change the CPU");
    assert_eq!(assumed.new, []);
    assert!(
        assumed
            .changes
            .iter()
            .any(|it| it.what.contains("jitter") && (it.before, it.after) == ("no", "yes"))
    );
}

/// On this machine, whatever it is: nothing waits, nothing panics, every check answers, and what is found is argued.
#[test]
fn this_machine_is_looked_at() {
    let report = diagnose(Case::of_machine(Root::live()).unwrap());
    for finding in &report.findings {
        println!("{} {:?}: {} {:?}", finding.id, finding.severity, finding.title, finding.evidence);
        assert!(!finding.evidence.is_empty() && !finding.why.is_empty(), "{}", finding.id);
    }
    for check in &report.not_checked {
        println!("{} not checked: {}", check.id, check.why);
    }
    if cfg!(target_os = "linux") {
        assert_ne!(report.verdict(), Verdict::CouldNotCheck);
        assert!(report.kernel.is_some() && report.platform.is_some());
    }
}

/// What each product writes into the firmware's tables, or leaves elsewhere.
#[test]
fn a_platform_is_known_by_what_it_leaves() {
    let dmi = |vendor: &str, product: &str| {
        vec![
            ("sys/class/dmi/id/sys_vendor", vendor.to_owned()),
            ("sys/class/dmi/id/product_name", product.to_owned()),
        ]
    };
    let qemu = |address: &str| {
        let mut files = dmi("QEMU", "Standard PC (i440FX + PIIX, 1996)");
        files.push(("sys/class/net/eth0/address", address.to_owned()));
        files
    };
    let one = |path: &'static str, text: &str| vec![(path, text.to_owned())];
    let with = |mut files: Vec<(&'static str, String)>, path, text: &str| {
        files.push((path, text.to_owned()));
        files
    };
    let cases = [
        (dmi("KubeVirt", "None"), Platform::KubeVirt),
        (dmi("oVirt", "oVirt Node"), Platform::OVirt),
        (dmi("Red Hat", "RHEV Hypervisor"), Platform::OVirt),
        (dmi("Apache Software Foundation", "CloudStack KVM Hypervisor"), Platform::CloudStack),
        (dmi("innotek GmbH", "VirtualBox"), Platform::VirtualBox),
        (dmi("Apple Inc.", "Apple Virtualization Generic Platform"), Platform::AppleVirtualization),
        (dmi("Apple Inc.", "MacBookPro11,1"), Platform::BareMetal),
        (dmi("Microsoft Corporation", "Surface Laptop 4"), Platform::BareMetal),
        (dmi("Amazon EC2", "m5.metal"), Platform::BareMetal),
        (dmi("Amazon EC2", "m5.large"), Platform::Aws),
        (dmi("Google", "Google Compute Engine"), Platform::Gce),
        (dmi("Red Hat", "OpenStack Compute"), Platform::OpenStack),
        (qemu("aa:00:00:3f:2a:91"), Platform::Ganeti),
        (qemu("bc:24:11:00:00:01"), Platform::Proxmox),
        (qemu("fa:16:3e:00:00:01"), Platform::OpenStack),
        (qemu("52:54:00:aa:bb:cc"), Platform::Libvirt),
        (qemu("52:54:00:12:34:56"), Platform::Qemu),
        (
            with(
                dmi("QEMU", "Standard PC"),
                "sys/class/dmi/id/bios_vendor",
                "Proxmox distribution of EDK II",
            ),
            Platform::Proxmox,
        ),
        (one("sys/hypervisor/type", "xen"), Platform::Xen),
        (one("proc/sys/kernel/osrelease", "5.15.167.4-microsoft-standard-WSL2"), Platform::HyperV),
        (one("run/systemd/container", "lxc"), Platform::Container),
        (one("proc/1/cgroup", "0::/kubepods/burstable/pod0/0"), Platform::Container),
        (one("proc/1/cgroup", "0::/init.scope"), Platform::OtherVm),
        (with(qemu("52:54:00:12:34:56"), ".dockerenv", ""), Platform::Container),
        (
            with(with(qemu("52:54:00:12:34:56"), ".dockerenv", ""), "proc/2/comm", "kthreadd"),
            Platform::Qemu,
        ),
        (one("sys/firmware/devicetree/base/model", "Raspberry Pi 4 Model B"), Platform::BareMetal),
    ];
    let folder =
        std::env::temp_dir().join(format!("headwater-doctor-platforms-{}", std::process::id()));
    for (number, (files, platform)) in cases.into_iter().enumerate() {
        let here = folder.join(number.to_string());
        for (path, text) in &files {
            let file = here.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let (found, by) = Platform::detect(&Root::recorded(&here), None);
        assert_eq!(found, platform, "{files:?}, by {by:?}");
    }
    fs::remove_dir_all(folder).unwrap();
}

/// A copied tree may lack anything; what is not there is never taken for a fault.
#[test]
fn nothing_is_found_where_nothing_can_be_read() {
    let folder =
        std::env::temp_dir().join(format!("headwater-doctor-empty-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let report = diagnose(Case::of_machine(Root::recorded(&folder)).unwrap());
    fs::remove_dir_all(&folder).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert!(!report.not_checked.is_empty());
}

type Mangle = fn(&[u8]) -> Vec<u8>;

/// Each host with every file cut in the middle, and with every file full of noise: no panic.
#[test]
fn mangled_hosts_are_looked_at_without_a_panic() {
    let folder =
        std::env::temp_dir().join(format!("headwater-doctor-mangled-{}", std::process::id()));
    let mangles: [Mangle; 2] = [
        |bytes| bytes[..bytes.len() / 2].to_vec(),
        |bytes| bytes.iter().map(|byte| byte.wrapping_mul(31)).collect(),
    ];
    for host in hosts() {
        for (number, mangle) in mangles.iter().enumerate() {
            let here = folder.join(format!("{}-{number}", name(&host)));
            copy(&host, &here, mangle);
            // A trace that is none any more is refused, in one line.
            match Case::of_machine(Root::recorded(&here)) {
                Ok(case) => drop(diagnose(case)),
                Err(error) => assert!(!error.to_string().contains('\n')),
            }
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

fn copy(from: &Path, to: &Path, mangle: &Mangle) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()), mangle);
        } else if kind.is_file() {
            fs::write(to.join(entry.file_name()), mangle(&fs::read(entry.path()).unwrap()))
                .unwrap();
        }
    }
}
