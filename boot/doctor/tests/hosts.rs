//! The findings of the doctor on every host of the test suite.
//!
//! A host file has a section `expected`: the platform, and one finding a line. `SNAPSHOTS=overwrite
//! cargo test -p headwater-doctor --test hosts` writes these sections again; read the diff.

use headwater_doctor::deep::Deep;
use headwater_doctor::{Case, Id, Kernel, Platform, Report, Root, Severity, Verdict, diagnose};
use headwater_hostfile::{Archive, Entry};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Each check with a host on which it fires, and a near miss: a host that differs in the deciding
/// fact, on which the check must be silent.
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
    (Id::HypervisorSeed, "tdx-virtio-only", "tdx-rdrand"),
    (Id::NoVmgenid, "debian10-ganeti-stall", "ubuntu22-aws"),
    (Id::VmgenidNoDriver, "lab-6.1-vmgenid-no-driver", "lab-6.12-vmgenid"),
    // The driver of 6.1 knows ACPI alone, so that a device tree's signal has none before 6.10.
    (Id::VmgenidNoDriver, "arm64-qemu-tree-vmgenid-6.1", "arm64-qemu-tree-vmgenid"),
    (Id::VmclockUnreadable, "firecracker", "lab-7-vmgenid-vmclock"),
    // The driver works, and the device is hidden: another cause, which must not be called a driver
    // that is missing.
    (Id::VmclockUnreadable, "vmclock-hidden-in-container", "lab-7-vmgenid-vmclock"),
    (Id::VmclockUnreadable, "vmclock-without-node", "lab-7-vmgenid-vmclock"),
    (Id::Cloned, "cloned-with-openssl", "libvirt-healthy"),
    (Id::Checkpointing, "kubelet-checkpoints", "debian13-baremetal"),
    (Id::BlindGenerators, "cloned-with-openssl", "debian12-baremetal"),
    (Id::Sandbox, "sandbox-kills", "sandbox-kills-other"),
    (Id::NeedlessDaemon, "rhel9-openstack", "debian10-ganeti-rdrand"),
    (Id::SwappedPages, "debian12-baremetal", "debian12-cloud-proxmox"),
    (Id::TwoVersions, "headwater-two-libraries", "headwater-one-version"),
];

/// Where a host is from: recorded from a real machine, recorded from a guest of the lab, or
/// written by hand after documented formats.
const ORIGINS: [(&str, &str); 3] =
    [("recorded", "host"), ("guest", "guest"), ("by-hand", "by hand")];

fn hosts() -> Vec<PathBuf> {
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts");
    let files = ORIGINS.iter().flat_map(|(origin, _)| fs::read_dir(hosts.join(origin)).unwrap());
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn name(host: &Path) -> String {
    host.file_stem().unwrap().to_string_lossy().into_owned()
}

fn archive(host: &Path) -> Archive {
    let parsed = Archive::parse(&fs::read(host).unwrap());
    parsed.unwrap_or_else(|error| panic!("{}: {error}", host.display()))
}

fn root(host: &Path) -> Root {
    Root::archive(format!("{}.host", name(host)), archive(host))
}

fn report(host: &Path) -> Report {
    diagnose(Case::of_machine(root(host)).unwrap())
}

/// Returns the findings, with those of `--deep` if the host has bytes of a device.
fn fired(host: &Path) -> Vec<Id> {
    let root = root(host);
    let mut case = Case::of_machine(root.clone()).unwrap();
    if root.size("/dev/hwrng").is_some() {
        case.deep = Some(Deep::measure(&root, None, true));
    }
    diagnose(case).findings.iter().map(|finding| finding.id).collect()
}

#[test]
fn each_host_gets_the_findings_that_are_expected_of_it() {
    let overwrite = std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite");
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
        let mut archive = archive(&host);
        if archive.file("expected").ok() == Some(text.as_bytes()) {
            continue;
        }
        if overwrite {
            archive.replace("expected", text.into_bytes()).unwrap();
            fs::write(&host, archive.to_text()).unwrap();
        } else {
            wrong.push_str(&format!("--- {}\n{text}", name(&host)));
        }
    }
    assert!(wrong.is_empty(), "not as expected:\n{wrong}");
}

/// A copy of a machine's files has modes: a VMClock that root alone can read is a finding with its
/// own fix, and one that all can read is none.
#[test]
fn a_vmclock_that_root_alone_can_read_is_found() {
    let host = hosts().into_iter().find(|host| name(host) == "lab-7-vmgenid-vmclock").unwrap();
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("vmclock-modes");
    let _ = fs::remove_dir_all(&copy);
    archive(&host).write_directory(&copy).unwrap();
    let node = copy.join("dev/vmclock0");
    fs::create_dir_all(node.parent().unwrap()).unwrap();
    fs::write(&node, [0; 64]).unwrap();
    for (mode, is_found) in [(0o600, true), (0o640, true), (0o644, false), (0o444, false)] {
        fs::set_permissions(&node, fs::Permissions::from_mode(mode)).unwrap();
        let report = diagnose(Case::of_machine(Root::open(&copy).unwrap()).unwrap());
        let found = report.findings.iter().find(|finding| finding.id == Id::VmclockUnreadable);
        assert_eq!(found.is_some(), is_found, "{mode:o}: {found:?}");
        if let Some(found) = found {
            assert!(found.title.contains("can be read by root only"), "{}", found.title);
            assert!(found.evidence[1].says.contains(&format!("mode 0{mode:o}")), "{found:?}");
            let exact = found.fixes[0].exact.as_deref().unwrap();
            assert!(exact.contains("0444"), "{exact}");
        }
    }
}

#[test]
fn every_check_fires_on_one_host_and_not_on_its_near_miss() {
    // Measuring takes seconds, for each of the hosts that have something to measure: all at once.
    let running: Vec<_> = hosts()
        .into_iter()
        .map(|host| std::thread::spawn(move || (name(&host), fired(&host))))
        .collect();
    let found: BTreeMap<String, Vec<Id>> =
        running.into_iter().map(|host| host.join().unwrap()).collect();
    for (id, fires, misses) in FIRES {
        assert!(found[*fires].contains(id), "{id} is silent on {fires}: {:?}", found[*fires]);
        assert!(!found[*misses].contains(id), "{id} fires on {misses}: {:?}", found[*misses]);
    }
}

#[test]
fn no_check_is_without_a_host_and_no_host_is_without_a_word_on_where_it_is_from() {
    for id in Id::ALL {
        assert!(
            FIRES.iter().any(|(listed, ..)| listed == id),
            "{id} has no host on which it fires"
        );
        let in_table =
            headwater_doctor::checks::CHECKS.iter().filter(|check| check.id == *id).count();
        assert_eq!(in_table, 1, "{id} in the table of checks");
    }
    let hosts = hosts();
    assert!(hosts.len() >= 25, "{} hosts", hosts.len());
    for host in hosts {
        let archive = archive(&host);
        let recording = archive.file("recording.json").unwrap();
        let recording: serde_json::Value = serde_json::from_slice(recording).unwrap();
        let of = recording["of"].as_str().unwrap();
        let known = of != "by hand" || recording["from"].is_string();
        assert!(known, "{}: {of}", name(&host));
        let place = ORIGINS.iter().find(|(_, origin)| *origin == of).unwrap().0;
        assert!(host.parent().unwrap().ends_with(place), "{} is {of}", host.display());
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
    let hosts = hosts();
    let host = hosts.iter().find(|host| name(host) == "debian10-ganeti-stall").unwrap();
    let mut case = Case::of_machine(root(host)).unwrap();
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
        assumed.changes.iter().any(|change| change.what.contains("jitter")
            && (change.before, change.after) == ("no", "yes"))
    );
}

/// On the machine that runs the tests: nothing waits, nothing panics, and every finding is argued.
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

/// Each product is recognised by its firmware tables, or by other traces.
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
        (one("proc/sys/kernel/osrelease", "5.15.167.4-microsoft-standard-WSL2"), Platform::Wsl),
        (dmi("FreeBSD", "BHYVE"), Platform::Bhyve),
        (
            one("proc/version", "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"),
            Platform::Container,
        ),
        (one("proc/version", "Linux version 4.4.0 (gVisor)"), Platform::Container),
        (
            one("proc/version", "Linux version 4.19.0-gvisor #1 SMP Sun Jan 10 15:06:54 PST 2016"),
            Platform::Container,
        ),
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
    for (files, platform) in cases {
        let mut archive = Archive::default();
        for (path, text) in &files {
            archive.insert(path, Entry::File(text.clone().into_bytes())).unwrap();
        }
        let (found, by) = Platform::detect(&Root::archive("test".to_owned(), archive), None);
        assert_eq!(found, platform, "{files:?}, by {by:?}");
    }
}

/// A copied tree may lack anything, and a missing file is never a finding.
#[test]
fn nothing_is_found_where_nothing_can_be_read() {
    let empty = Root::archive("empty".to_owned(), Archive::default());
    let report = diagnose(Case::of_machine(empty).unwrap());
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert!(!report.not_checked.is_empty());
}

/// A recording has neither programs nor processes. A check that looks for them finds none, which is
/// no proof that there are none.
#[test]
fn a_check_of_what_a_recording_lacks_is_not_made() {
    let checks = [Id::Checkpointing, Id::BlindGenerators, Id::NeedlessDaemon, Id::TwoVersions];
    let passed = |archive: Archive| -> Vec<Id> {
        let root = Root::archive("recording".to_owned(), archive);
        let report = diagnose(Case::of_machine(root).unwrap());
        let missed = report.not_checked.iter().map(|missed| missed.id);
        let known: Vec<Id> = report.passed.iter().copied().chain(missed).collect();
        assert!(checks.iter().all(|id| known.contains(id)), "{known:?}");
        checks.into_iter().filter(|id| report.passed.contains(id)).collect()
    };
    let host = hosts().into_iter().find(|host| name(host) == "lab-6.12-vmgenid").unwrap();
    let mut recorded = archive(&host);
    assert_eq!(passed(recorded.clone()), []);
    // A copy of a machine's files has its programs, and a live one its processes.
    recorded.insert("usr/bin/true", Entry::File(Vec::new())).unwrap();
    assert_eq!(passed(recorded.clone()), [Id::Checkpointing, Id::BlindGenerators, Id::TwoVersions]);
    recorded.insert("proc/77/comm", Entry::File(b"sshd\n".to_vec())).unwrap();
    assert_eq!(passed(recorded), checks);
}

type Mangle = fn(&[u8]) -> Vec<u8>;

/// Each host with every file cut in the middle, and with every file full of noise: no panic.
#[test]
fn mangled_hosts_are_looked_at_without_a_panic() {
    let mangles: [Mangle; 2] = [
        |bytes| bytes[..bytes.len() / 2].to_vec(),
        |bytes| bytes.iter().map(|byte| byte.wrapping_mul(31)).collect(),
    ];
    for host in hosts() {
        for mangle in &mangles {
            let mut mangled = Archive::default();
            for (path, entry) in archive(&host).entries() {
                let entry = match entry {
                    Entry::File(content) => Entry::File(mangle(content)),
                    other => other.clone(),
                };
                mangled.insert(path, entry).unwrap();
            }
            // A trace that is none any more is refused, in one line.
            match Case::of_machine(Root::archive(name(&host), mangled)) {
                Ok(case) => drop(diagnose(case)),
                Err(error) => assert!(!error.to_string().contains('\n')),
            }
        }
    }
}

/// A host survives the way to a directory and back, each file is in the writer's own spelling, and
/// the doctor finds the same in both forms.
#[test]
fn a_host_file_and_a_directory_of_the_same_files_are_the_same_host() {
    let top = std::env::temp_dir().join(format!("headwater-doctor-hosts-{}", std::process::id()));
    let titles = |report: Report| -> Vec<String> {
        report.findings.into_iter().map(|finding| finding.title).collect()
    };
    for host in hosts() {
        let name = name(&host);
        let archive = archive(&host);
        assert_eq!(archive.to_text(), fs::read_to_string(&host).unwrap(), "{name}");
        let directory = top.join(&name);
        archive.write_directory(&directory).unwrap();
        assert_eq!(Archive::from_directory(&directory).unwrap(), archive, "{name}");
        let by_directory = diagnose(Case::of_machine(Root::open(&directory).unwrap()).unwrap());
        let by_file = diagnose(Case::of_machine(Root::open(&host).unwrap()).unwrap());
        assert_eq!(titles(by_directory), titles(by_file), "{name}");
    }
    fs::remove_dir_all(&top).unwrap();
}
