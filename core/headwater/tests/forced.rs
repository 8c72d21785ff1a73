//! Every fact of the machine, forced: the status shows it, the mode is what the rules make of it,
//! and everything that can be drawn is drawn.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::testing::{Force, set};
use headwater::{CpuRng, Hardware, Mode, Page, ReseedGeneration, Source, Status, Vmclock, Vmgenid};
use std::io::{Read, Write};
use support::children::{Ending, fork, wait};
use support::draws::draw_everything;
use support::machine::{bind, cpus, skip};
use support::memory::start_of;
use support::rules::{assert_by_the_rules, force, slots};

/// Sets up under these facts and draws everything there is; the status before the draws.
fn draw_under(facts: &[Force]) -> Status {
    force(facts);
    headwater::init().unwrap();
    let status = headwater::status();
    assert_by_the_rules(&status);
    draw_everything();
    assert_eq!(headwater::self_test(), Ok(()), "a fault of set-up is not in use");
    let after = headwater::status();
    assert_by_the_rules(&after);
    assert_eq!(
        (after.mode, after.reseed_generation.name()),
        (status.mode, status.reseed_generation.name())
    );
    assert_eq!(after.counters.tripwires, 0);
    status
}

fn has_word(status: &Status) -> bool {
    matches!(status.reseed_generation, ReseedGeneration::Live { .. })
}

/// One test for each case: the forced facts, and what the status then shows.
macro_rules! forced {
    ($($name:ident: [$($fact:ident),*] => |$status:ident| $check:block)*) => {$(
        #[test]
        fn $name() {
            isolated(stringify!($name), || {
                let $status = draw_under(&[$(Force::$fact),*]);
                $check
            });
        }
    )*};
}

forced! {
    no_vdso: [NoVdso] => |status| {
        assert_eq!(status.source, Source::Getrandom);
        assert_eq!(status.reseed_generation, ReseedGeneration::Absent("this process has no vDSO"));
        assert_eq!(status.generation, None);
        assert_ne!(status.mode, Mode::Buffered);
    }
    no_word: [NoGeneration] => |status| {
        assert_eq!(status.reseed_generation.name(), "absent");
        assert_eq!(status.generation, None);
        assert_ne!(status.mode, Mode::Buffered);
    }
    no_word_though_vmgenid_is_bound: [NoGeneration, VmgenidBound] => |status| {
        assert_ne!(status.mode, Mode::Buffered);
        assert!(status.reason.contains("no live reseed generation"), "{}", status.reason);
    }
    no_droppable: [NoDroppable] => |status| {
        // Without the right to lock memory the next kind is used, and shown.
        if status.page != Page::WipeOnFork {
            assert_eq!(status.page, Page::WipeOnForkLocked);
        } else {
            skip("locked pages", "mlock2 is refused here");
        }
        assert!(status.fork_detection);
    }
    no_droppable_no_mlock: [NoDroppable, NoMlock] => |status| {
        assert_eq!(status.page, Page::WipeOnFork);
        assert!(status.fork_detection);
    }
    no_wipe_on_fork: [NoWipeOnFork] => |status| {
        assert_eq!((status.mode, status.page), (Mode::Kernel, Page::None));
        assert!(!status.fork_detection);
        assert_eq!((status.cipher, status.source), ("none", Source::Getrandom));
        assert_eq!((status.pools.slots, status.counters.refills), (0, 0));
    }
    no_memory: [NoMemory] => |status| {
        assert_eq!((status.mode, status.page), (Mode::Kernel, Page::None));
        assert!(!status.fork_detection);
        assert_eq!(status.generation, None);
    }
    no_vaes: [NoVaes] => |status| {
        assert!(!status.cipher.contains("VAES"), "{}", status.cipher);
    }
    no_aes: [NoAes] => |status| {
        assert!(status.cipher.starts_with("ChaCha20"), "{}", status.cipher);
        assert_ne!(status.mode, Mode::Hedged);
    }
    no_aes_and_nothing_tells_of_clones: [NoAes, VmgenidNotBound, NoGeneration] => |status| {
        assert_eq!(status.mode, Mode::Strict);
        assert!(status.reason.contains("cannot hedge"), "{}", status.reason);
    }
    no_cpu_rng: [NoCpuRng] => |status| {
        assert_eq!(status.cpu_rng, CpuRng::Absent);
        assert_ne!(status.mode, Mode::Hedged);
    }
    no_cpu_rng_no_word: [NoCpuRng, NoGeneration] => |status| {
        assert_eq!(status.mode, Mode::Strict);
    }
    stuck_cpu_rng: [CpuRngStuck, NoGeneration] => |status| { is_broken(&status); }
    cpu_rng_gives_ones: [CpuRngOnes, NoGeneration] => |status| { is_broken(&status); }
    cpu_rng_gives_zero: [CpuRngZero, NoGeneration] => |status| { is_broken(&status); }
    cpu_rng_fails: [CpuRngFails, NoGeneration] => |status| { is_broken(&status); }
    cpu_rng_fails_under_a_live_word: [CpuRngFails, VmgenidBound] => |status| {
        // Nothing hedges, and nothing has to.
        assert_eq!(status.mode == Mode::Buffered, has_word(&status));
    }
    wrong_answer: [WrongAnswer] => |status| {
        // A cipher that fails at the start is not chosen, so the next one passes the test.
        assert!(status.cipher.starts_with("ChaCha20"), "{}", status.cipher);
    }
    slow_cpu_rng: [CpuRngSlow, NoGeneration] => |status| {
        if cpu_has_an_instruction() {
            assert_eq!(status.cpu_rng, CpuRng::Slow);
        }
        assert_eq!(status.mode, Mode::Strict);
    }
    no_rseq: [NoRseq] => |_status| {
        // The vDSO of arm64 has no getcpu, so there the next case is this one too.
        if cfg!(target_arch = "x86_64") {
            each_cpu_has_its_slot();
        }
    }
    no_rseq_no_getcpu: [NoRseq, NoGetcpu] => |_status| {
        // A number made of the stack's address stands for the CPU: any slot may be it.
        assert!(headwater::status().pools.used >= 1);
    }
    wrong_rdpid: [WrongRdpid] => |status| {
        assert_ne!(status.path, headwater::Path::Sections);
        if status.path.why().is_some_and(|why| why.contains("RDPID")) {
            each_cpu_has_its_slot();
        } else {
            skip("wrong_rdpid", "there are no sections here for another reason");
        }
    }
    nothing: [] => |_status| { each_cpu_has_its_slot(); }
    one_cpu: [OneCpu] => |status| { assert_eq!(status.pools.slots, slots(1, status.page)); }
    one_cpu_by_getcpu: [OneCpu, NoRseq] => |status| { assert_eq!(status.pools.slots, slots(1, status.page)); }
    bare_metal: [BareMetal, VmgenidNotBound] => |status| {
        if has_word(&status) && status.vmclock.name() != "mapped" {
            assert_eq!(status.hardware, Hardware::BareMetal);
            assert_eq!(status.mode, Mode::Buffered);
        }
    }
    vmgenid_bound: [VmgenidBound] => |status| {
        assert_eq!(status.vmgenid, Vmgenid::Bound);
        // Nothing depends on the hardware then.
        assert_eq!(status.hardware, Hardware::NotAsked);
        assert_eq!(status.mode == Mode::Buffered, has_word(&status));
    }
    vmgenid_not_bound: [VmgenidNotBound] => |status| {
        assert_eq!(status.vmgenid, Vmgenid::NotBound);
        if support::machine::cpu_says_virtual() && !matches!(status.vmclock, Vmclock::Mapped { .. }) {
            assert_ne!(status.mode, Mode::Buffered);
        }
    }
    everything_is_missing: [NoVdso, NoDroppable, NoMlock, NoAes, NoCpuRng, NoRseq, NoGetcpu, OneCpu,
            VmgenidNotBound] => |status| {
        assert_eq!((status.mode, status.page), (Mode::Strict, Page::WipeOnFork));
        assert_eq!((status.source, status.cpu_rng), (Source::Getrandom, CpuRng::Absent));
    }
}

/// Makes the list of all facts. A new one does not compile until it is here.
macro_rules! all {
    ($($fact:ident)+) => {
        const ALL: &[Force] = &[$(Force::$fact),+];

        const _: fn(Force) = |fact| match fact {
            $(Force::$fact => {})+
        };
    };
}

all! {
    NoVdso NoGeneration NoProcmapQuery NoDroppable NoWipeOnFork NoMlock NoMemory NoVaes NoAvx512
    NoAes NoCpuRng CpuRngKnown CpuRngStuck CpuRngOnes CpuRngZero CpuRngFails CpuRngSlow NoRseq
    NoSections NoRdpid WrongRdpid NoGetcpu OneCpu ClockStands BareMetal NoHypervisorBit
    VmgenidBound VmgenidNotBound VmclockSlow LookAlikes GetrandomEnosys GetrandomEperm
    GetrandomNotReady GetrandomEintr GetrandomShort UrandomAbsent RandomDrained WrongAnswer
}

/// The place is then found in another way: the reseed generation lies below the vDSO.
#[test]
fn no_procmap_query() {
    isolated("no_procmap_query", || {
        let child = fork(|| i32::from(has_word(&headwater::status())));
        let natural = wait(child) == Ending::Exited(1);
        let status = draw_under(&[Force::NoProcmapQuery]);
        assert_eq!(has_word(&status), natural);
    });
}

/// A force that is taken back leaves nothing.
#[test]
fn nothing_is_forced_in_the_end() {
    isolated("nothing_is_forced_in_the_end", || {
        let summary = || {
            let status = headwater::status();
            let Status { mode, requested, reason, source, vmclock, vmgenid, .. } = status;
            let words = [mode.name(), requested.name(), reason, source.name(), vmclock.name()];
            let more = [
                vmgenid.name(),
                status.reseed_generation.name(),
                status.hardware.name(),
                status.cipher,
            ];
            let rest = (status.cpu_rng, status.page, status.fork_detection, status.pools.slots);
            format!("{words:?} {more:?} {rest:?}")
        };
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        let child = fork(|| {
            writer.write_all(summary().as_bytes()).unwrap();
            0
        });
        drop(writer);
        let mut natural = String::new();
        reader.read_to_string(&mut natural).unwrap();
        assert_eq!(wait(child), Ending::Exited(0));
        for on in [true, false] {
            for &fact in ALL {
                set(fact, on);
            }
        }
        let status = draw_under(&[]);
        assert_eq!(summary(), natural);
        is_what_the_machine_has(&status);
    });
}

/// Checks the natural direction of the forced facts against the machine, which is asked by other
/// means.
fn is_what_the_machine_has(status: &Status) {
    assert!(status.fork_detection, "every kernel since 4.14 wipes on fork");
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        assert_eq!(status.cpu_rng != CpuRng::Absent, has!("rdrand"));
        if status.mode != Mode::Kernel {
            assert_eq!(status.cipher.starts_with("AES"), has!("aes"));
        }
        let expected = has!("vaes") && has!("avx2") && has!("aes");
        assert_eq!(status.cipher.contains("VAES"), expected, "{}", status.cipher);
    }
    let vvar = start_of("[vvar]");
    if let ReseedGeneration::Live { value, page, offset } = status.reseed_generation {
        let at = vvar.unwrap() + u64::from(page) * 4096 + u64::from(offset);
        // SAFETY: an aligned word of the kernel's data, which stays mapped and changes under us.
        let there =
            unsafe { std::ptr::with_exposed_provenance::<u64>(at as usize).read_volatile() };
        // It may have moved on since the status was taken, never back.
        assert!(there >= value, "{there} < {value}");
        assert_eq!((status.source, status.page), (Source::Vdso, Page::Droppable));
    }
}

/// Checks that a thread that moves from CPU to CPU fills a slot on each, and on no other.
fn each_cpu_has_its_slot() {
    if headwater::status().mode == Mode::Strict {
        return skip("slots of CPUs", "nothing is buffered in mode strict");
    }
    let cpus = cpus();
    for cpu in cpus.chunks(1) {
        bind(cpu);
        headwater::fill(&mut [0; 100]).unwrap();
    }
    // A shared slot would be used only while a CPU's own slot is held, which it never was. Where
    // draws are sections, a refill works in the CPU's slot and puts the CPU's page.
    let status = headwater::status();
    let pages = if status.path == headwater::Path::Sections { 2 } else { 1 };
    assert_eq!(status.pools.used as usize, pages * cpus.len());
}

/// Checks that set-up has seen the fault of the CPU's random instruction, where the CPU has one.
/// The instruction is never used then, and hedging is off.
fn is_broken(status: &Status) {
    if cpu_has_an_instruction() {
        assert_eq!(status.cpu_rng, CpuRng::Broken);
    }
    assert_eq!(status.mode, Mode::Strict);
}

fn cpu_has_an_instruction() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("rdrand");
    #[cfg(not(target_arch = "x86_64"))]
    false
}
