//! Requests for a mode, and the modes in use on machines that look different.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::testing::{Force, set, set_root};
use headwater::{
    Config, CpuRng, Error, Hardware, Mode, ReseedGeneration, Rng, Source, Vmclock, Vmgenid,
};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use support::draws::draw_everything;
use support::machine::{bind, cpus, is_intel, set_mode_variable, skip};
use support::root::Root;
use support::rules::{assert_by_the_rules, force, slots};
use support::statistics::assert_distinct;

/// Asks for a mode by the environment, draws, and checks what was asked for.
fn ask(value: Option<&str>, requested: Mode, unknown: bool) {
    set_mode_variable(value);
    headwater::init().unwrap();
    let status = headwater::status();
    assert_eq!(status.requested, requested);
    assert_eq!(status.unknown_mode_requested, unknown);
    assert_by_the_rules(&status);
    draw_everything();
    assert_eq!(headwater::status().mode, status.mode);
}

macro_rules! environment {
    ($($name:ident: $value:expr => $requested:expr, $unknown:expr;)*) => {$(
        #[test]
        fn $name() {
            isolated(stringify!($name), || ask($value, $requested, $unknown));
        }
    )*};
}

environment! {
    environment_unset: None => Mode::Auto, false;
    environment_empty: Some("") => Mode::Auto, false;
    environment_auto: Some("auto") => Mode::Auto, false;
    environment_buffered: Some("buffered") => Mode::Buffered, false;
    environment_hedged: Some("hedged") => Mode::Hedged, false;
    environment_strict: Some("strict") => Mode::Strict, false;
    environment_kernel: Some("kernel") => Mode::Kernel, false;
    environment_unknown: Some("turbo") => Mode::Strict, true;
    environment_in_capitals: Some("Buffered") => Mode::Strict, true;
    environment_with_a_space: Some("buffered ") => Mode::Strict, true;
}

/// A mode that the machine cannot prove is replaced by a stricter one, whatever the source of the
/// request.
#[test]
fn buffered_without_a_word() {
    isolated("buffered_without_a_word", || {
        force(&[Force::NoGeneration]);
        ask(Some("buffered"), Mode::Buffered, false);
        assert_ne!(headwater::status().mode, Mode::Buffered);
    });
}

#[test]
fn hedged_without_aes() {
    isolated("hedged_without_aes", || {
        force(&[Force::NoAes]);
        ask(Some("hedged"), Mode::Hedged, false);
        assert_eq!(headwater::status().mode, Mode::Strict);
    });
}

#[test]
fn the_program_overrides_the_environment() {
    isolated("the_program_overrides_the_environment", || {
        set_mode_variable(Some("turbo"));
        assert_eq!(Config::new().mode, Mode::Strict);
        for mode in [Mode::Hedged, Mode::Auto, Mode::Kernel, Mode::Buffered, Mode::Strict] {
            headwater::init_with(Config::new().mode(mode)).unwrap();
            let status = headwater::status();
            assert_eq!(status.requested, mode);
            assert!(!status.unknown_mode_requested);
            assert_by_the_rules(&status);
            if status.mode == Mode::Kernel {
                assert_eq!(status.source, Source::Getrandom, "no vDSO in mode kernel");
            }
            draw_everything();
        }
    });
}

/// Mode `kernel` asked for at set-up: the machine was not examined, so no other mode can be used
/// later, and the status says so.
#[test]
fn kernel_first_leaves_no_pools() {
    isolated("kernel_first_leaves_no_pools", || {
        headwater::init_with(Config::new().mode(Mode::Kernel)).unwrap();
        let status = headwater::status();
        assert_eq!((status.mode, status.pools.slots), (Mode::Kernel, 0));
        assert_eq!((status.reseed_generation.name(), status.cipher), ("absent", "none"));
        draw_everything();
        headwater::init_with(Config::new().mode(Mode::Buffered)).unwrap();
        let status = headwater::status();
        assert_eq!((status.mode, status.requested), (Mode::Kernel, Mode::Buffered));
        assert!(status.reason.contains("set up in mode kernel"), "{}", status.reason);
        draw_everything();
    });
}

/// Whatever mode a draw begins and ends in, what four threads draw is distinct: 400,000 words, of
/// which two are equal with probability 4e-9.
#[test]
fn modes_change_while_threads_draw() {
    isolated("modes_change_while_threads_draw", || {
        headwater::init().unwrap();
        let (begin, done) = (Barrier::new(5), AtomicBool::new(false));
        let draw = || {
            let mut rng = Rng::new().unwrap();
            let mut words = Vec::new();
            begin.wait();
            for round in 0..50_000_usize {
                words.push(rng.next_u64());
                let mut bytes = [0; 48];
                let len = 8 + round % 41;
                headwater::fill(&mut bytes[..len]).unwrap();
                words.push(u64::from_ne_bytes(*bytes.first_chunk().unwrap()));
            }
            words
        };
        let words = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(draw));
            let changer = scope.spawn(|| {
                begin.wait();
                let mut changes = 0;
                while !done.load(Ordering::Relaxed) {
                    for mode in Mode::ALL {
                        headwater::init_with(Config::new().mode(mode)).unwrap();
                        assert_by_the_rules(&headwater::status());
                        changes += 1;
                    }
                }
                changes
            });
            let words = threads.map(|thread| thread.join().unwrap()).concat();
            done.store(true, Ordering::Relaxed);
            assert!(changer.join().unwrap() >= Mode::ALL.len());
            words
        });
        assert_distinct(words, "four threads under changing modes");
    });
}

/// An instruction that goes bad after it had passed: the first bad word ends its use.
macro_rules! goes_bad {
    ($($name:ident: $fact:ident;)*) => {$(
        #[test]
        fn $name() {
            isolated(stringify!($name), || goes_bad(stringify!($name), Force::$fact));
        }
    )*};
}

goes_bad! {
    cpu_rng_sticks_later: CpuRngStuck;
    cpu_rng_gives_ones_later: CpuRngOnes;
    cpu_rng_gives_zero_later: CpuRngZero;
    cpu_rng_fails_later: CpuRngFails;
}

fn goes_bad(name: &str, fact: Force) {
    headwater::init_with(Config::new().mode(Mode::Hedged)).unwrap();
    if headwater::status().mode != Mode::Hedged {
        return skip(name, "this CPU cannot hedge");
    }
    draw_everything();
    assert_eq!(headwater::status().cpu_rng, CpuRng::Good);
    set(fact, true);
    // A stuck one shows at once, because a request draws two words.
    let mut words = Vec::from_iter((0..100).map(|_| headwater::u64().unwrap()));
    let status = headwater::status();
    assert_eq!((status.cpu_rng, status.mode), (CpuRng::Broken, Mode::Strict));
    assert_by_the_rules(&status);
    draw_everything();
    set(fact, false);
    words.extend((0..100).map(|_| headwater::u64().unwrap()));
    assert_distinct(words, "around the failure");
    // Once distrusted, for ever.
    headwater::init_with(Config::new().mode(Mode::Hedged)).unwrap();
    let status = headwater::status();
    assert_eq!((status.cpu_rng, status.mode), (CpuRng::Broken, Mode::Strict));
}

/// The test on demand finds broken what set-up found sound, and nothing else.
#[test]
fn the_self_test_finds_what_broke_later() {
    isolated("the_self_test_finds_what_broke_later", || {
        headwater::init().unwrap();
        assert_eq!(headwater::self_test(), Ok(()));
        let status = headwater::status();
        for fact in [Force::WrongAnswer, Force::CpuRngStuck, Force::CpuRngZero, Force::CpuRngFails]
        {
            set(fact, true);
            let concerned = match fact {
                Force::WrongAnswer => status.cipher.starts_with("AES"),
                _ => matches!(status.cpu_rng, CpuRng::Good | CpuRng::Slow),
            };
            let expected = if concerned { Err(Error::SELF_TEST) } else { Ok(()) };
            assert_eq!(headwater::self_test(), expected, "{fact:?}");
            set(fact, false);
            assert_eq!(headwater::self_test(), Ok(()), "{fact:?} is over");
        }
        draw_everything();
    });
}

/// A handle notices as well as the slots do.
#[test]
fn cpu_rng_sticks_under_a_handle() {
    isolated("cpu_rng_sticks_under_a_handle", || {
        headwater::init_with(Config::new().mode(Mode::Hedged)).unwrap();
        if headwater::status().mode != Mode::Hedged {
            return skip("cpu_rng_sticks_under_a_handle", "this CPU cannot hedge");
        }
        let mut rng = Rng::new().unwrap();
        let mut words = vec![rng.next_u64()];
        set(Force::CpuRngStuck, true);
        // The next draw, not the next refill, which looks at two words of its own.
        words.push(rng.next_u64());
        assert_eq!(headwater::status().cpu_rng, CpuRng::Broken);
        words.extend((0..2000).map(|_| rng.next_u64()));
        assert_eq!(headwater::status().mode, Mode::Strict);
        assert_distinct(words, "a handle under a stuck instruction");
    });
}

/// The slots do the same, each at its next draw.
#[test]
fn cpu_rng_sticks_under_a_slot() {
    isolated("cpu_rng_sticks_under_a_slot", || {
        bind(&cpus()[..1]);
        headwater::init_with(Config::new().mode(Mode::Hedged)).unwrap();
        if headwater::status().mode != Mode::Hedged {
            return skip("cpu_rng_sticks_under_a_slot", "this CPU cannot hedge");
        }
        let mut words = vec![headwater::u64().unwrap()];
        set(Force::CpuRngStuck, true);
        words.push(headwater::u64().unwrap());
        assert_eq!(headwater::status().cpu_rng, CpuRng::Broken);
        assert_distinct(words, "a slot under a stuck instruction");
    });
}

/// Sets up under a directory that stands for the machine.
fn set_up_under(root: &Root) -> headwater::Status {
    set_root(root.c_path());
    headwater::init().unwrap();
    let status = headwater::status();
    assert_by_the_rules(&status);
    draw_everything();
    status
}

/// Checks the kind of hardware found, if the question is reached: with a live generation, and no
/// sign of clones. The CPU's hypervisor bit, which no file outweighs, is hidden.
fn assert_hardware(root: &Root, expected: Hardware) {
    force(&[Force::NoHypervisorBit]);
    let status = set_up_under(root);
    let asked = matches!(status.reseed_generation, ReseedGeneration::Live { .. })
        && status.vmgenid != Vmgenid::Bound;
    if !asked {
        assert_eq!(status.hardware, Hardware::NotAsked);
    } else if expected == Hardware::BareMetal && !cfg!(target_arch = "x86_64") {
        // Other CPUs have no such bit, so that its absence proves nothing.
        assert_eq!(status.hardware, Hardware::Unknown);
    } else {
        assert_eq!(status.hardware, expected);
        assert_eq!(status.mode == Mode::Buffered, expected == Hardware::BareMetal);
    }
}

#[test]
fn an_empty_machine() {
    isolated("an_empty_machine", || {
        let root = Root::new();
        assert_hardware(&root, Hardware::Unknown);
        let status = headwater::status();
        assert_eq!((status.vmgenid, status.vmclock), (Vmgenid::Unknown, Vmclock::Absent));
        // Without /sys the affinity mask shows the CPUs, without /proc the generation is found all
        // the same.
        let cpus = *support::machine::cpus().last().unwrap() as u32 + 1;
        assert_eq!(status.pools.slots, slots(cpus.min(1024), status.page));
    });
}

macro_rules! vmgenid {
    ($($name:ident: $folder:literal, [$($entry:literal),*] => $expected:ident;)*) => {$(
        #[test]
        fn $name() {
            isolated(stringify!($name), || {
                let root = Root::new();
                root.make_folder("/sys/bus/platform/drivers");
                root.write(concat!($folder, "/bind"), b"");
                root.write(concat!($folder, "/uevent"), b"");
                $(root.link(concat!($folder, "/", $entry));)*
                let status = set_up_under(&root);
                assert_eq!(status.vmgenid, Vmgenid::$expected);
                if status.vmgenid == Vmgenid::Bound && matches!(status.reseed_generation, ReseedGeneration::Live { .. }) {
                    assert_eq!(status.mode, Mode::Buffered);
                }
            });
        }
    )*};
}

vmgenid! {
    platform_driver_with_a_device: "/sys/bus/platform/drivers/vmgenid", ["VMGENCTR:00"] => Bound;
    acpi_driver_with_a_device: "/sys/bus/acpi/drivers/vmgenid", ["module", "QEMUVGID:00"] => Bound;
    driver_without_a_device: "/sys/bus/platform/drivers/vmgenid", ["module"] => NotBound;
    no_driver: "/sys/bus/platform/drivers/other", ["module", "PNP0C0C:00"] => NotBound;
}

const VENDOR: &str = "/sys/class/dmi/id/sys_vendor";
const PRODUCT: &str = "/sys/class/dmi/id/product_name";
const DMI: &str = "/sys/class/dmi/id/modalias";
const BRIDGE: &str = "/sys/bus/pci/devices/0000:00:00.0/modalias";

/// A server, as the files show it; or a virtual machine with the names of one.
const SERVER: [(&str, &str); 4] = [
    (VENDOR, "Dell Inc.\n"),
    (PRODUCT, "PowerEdge R660\n"),
    (
        DMI,
        "dmi:bvnDellInc.:bvr2.1.5:bd03/14/2024:br2.1:svnDellInc.:pnPowerEdgeR660:pvr:rvnDellInc.:rn0HXN7J:rvrA00:\
         cvnDellInc.:ct23:cvr:skuSKU=0A6B:\n",
    ),
    (BRIDGE, "pci:v00008086d000009A2sv00001028sd00000A6Bbc08sc80i00\n"),
];

/// A server's files, some with another text, or, without one, taken away.
macro_rules! hardware {
    ($($name:ident: [$($path:expr => $text:expr),*] => $expected:ident;)*) => {$(
        #[test]
        fn $name() {
            isolated(stringify!($name), || {
                let root = Root::new();
                for (path, text) in SERVER {
                    root.write(path, text.as_bytes());
                }
                root.make_folder("/sys/bus/virtio/devices");
                let changes: &[(&str, Option<&str>)] = &[$(($path, $text)),*];
                for &(path, text) in changes {
                    match text {
                        Some(text) => root.write(path, text.as_bytes()),
                        None => std::fs::remove_file(root.at(path)).unwrap(),
                    }
                }
                assert_hardware(&root, Hardware::$expected);
            });
        }
    )*};
}

hardware! {
    a_server: [] => BareMetal;
    dmi_of_qemu: [VENDOR => Some("QEMU\n")] => Virtual;
    dmi_names_the_product_only: [PRODUCT => Some("KVM Virtual Machine\n")] => Virtual;
    dmi_has_spaces: [VENDOR => Some("Red Hat\n")] => Virtual;
    dmi_is_empty: [VENDOR => Some("\n"), PRODUCT => Some("\n"), DMI => Some("\n")] => Unknown;
    dmi_is_half_there: [PRODUCT => None] => Unknown;
    dmi_without_modalias: [DMI => None] => Unknown;
    no_host_bridge: [BRIDGE => None] => Unknown;
    a_bridge_like_no_other: [BRIDGE => Some("\n")] => Unknown;
    // The host's names for system and board, the hypervisor's bit hidden; and one thing that was
    // forgotten.
    hidden_but_for_its_chassis: [DMI => Some("dmi:bvnDellInc.:svnDellInc.:rvnDellInc.:cvnQEMU:ct1:cvrpc-q35-9.2:\n")] => Virtual;
    hidden_but_for_its_firmware: [DMI => Some("dmi:bvnSeaBIOS:svnDellInc.:rvnDellInc.:cvnDellInc.:\n")] => Virtual;
    hidden_but_for_its_uefi: [DMI => Some("dmi:bvnEDKII:svnDellInc.:rvnDellInc.:cvnDellInc.:\n")] => Virtual;
    hidden_but_for_its_bridge: [BRIDGE => Some("pci:v00008086d000029C0sv00001AF4sd00001100bc06sc00i00\n")] => Virtual;
    hidden_but_for_its_subsystem: [BRIDGE => Some("pci:v00001022d00001480sv00001AF4sd00001100bc06sc00i00\n")] => Virtual;
    hidden_but_for_its_configuration: ["/sys/bus/acpi/devices/QEMU0002:00" => Some("")] => Virtual;
    hidden_under_xen: ["/sys/hypervisor/type" => Some("xen\n")] => Virtual;
}

#[test]
fn hidden_but_for_its_virtio() {
    isolated("hidden_but_for_its_virtio", || {
        let root = Root::new();
        for (path, text) in SERVER {
            root.write(path, text.as_bytes());
        }
        root.link("/sys/bus/virtio/devices/virtio0");
        assert_hardware(&root, Hardware::Virtual);
    });
}

/// The mitigation that makes RDRAND take microseconds, as the kernel reports it.
#[test]
fn srbds_makes_the_instruction_slow() {
    isolated("srbds_makes_the_instruction_slow", || {
        let root = Root::new();
        let path = "/sys/devices/system/cpu/vulnerabilities/srbds";
        root.write(path, b"Mitigation: Microcode\n");
        root.write("/sys/devices/system/cpu/present", b"0-6\n");
        let status = set_up_under(&root);
        assert_eq!(status.pools.slots, slots(7, status.page));
        if !is_intel() {
            skip("srbds_makes_the_instruction_slow", "only CPUs of Intel's are asked");
        } else if status.cpu_rng != CpuRng::Absent {
            assert_eq!(status.cpu_rng, CpuRng::Slow);
            assert_ne!(status.mode, Mode::Hedged);
        }
    });
}
