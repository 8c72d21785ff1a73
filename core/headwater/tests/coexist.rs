//! Sections beside other users of restartable sequences, and under tools: allocators, a C library
//! that registers nothing, programs with areas of their own, gdb and valgrind. No word is zero and
//! none repeats, the status names the path, and the other user's sections still work.
//!
//! docs/rseq.md says what headwater reads and writes of the area that all of them share.
#![cfg(all(target_os = "linux", target_arch = "x86_64", not(any(loom, miri, sanitized))))]

mod common;
mod neighbours;
mod support;

use common::{is_parent, isolated, isolated_as};
use headwater::Path;
use headwater_stepper::Section;
use headwater_stepper::decoder::{FlowControl, InstructionInfoFactory, OpAccess, Register};
use headwater_testing::words::zeros_and_repeats;
use neighbours::area::{Area, ORIGINAL, SIGNATURE, UNREGISTERED};
use neighbours::counters::{Attempt, Counters, Line};
use neighbours::tools;
use std::collections::HashSet;
use std::fs;
use std::hint::black_box;
use std::sync::atomic::Ordering::Relaxed;
use support::machine::{bind, cpus, skip};

/// Threads that draw at once: more than the CPUs of a small machine, so that they are preempted.
const THREADS: usize = 4;
/// Draws of each thread.
const DRAWS: usize = 300_000;
/// The tunable by which a C library registers nothing.
const OFF: (&str, &str) = ("GLIBC_TUNABLES", "glibc.pthread.rseq=0");

/// Draws one word, or one block of 16 or of 40 bytes, in turn, and keeps the words.
fn draw(number: usize, words: &mut Vec<u64>) {
    match number % 3 {
        0 => words.push(headwater::u64().unwrap()),
        1 => words.extend(headwater::array::<16>().unwrap().as_chunks().0.iter().map(word)),
        _ => words.extend(headwater::array::<40>().unwrap().as_chunks().0.iter().map(word)),
    }
}

fn word(bytes: &[u8; 8]) -> u64 {
    u64::from_ne_bytes(*bytes)
}

/// Runs `body` in several threads, each with its number and a place for what it draws, and checks
/// the words of all: no zero, and none twice.
///
/// A false alarm has probability n^2 / 2^65 for n words, which is 3e-7 for the 3.2 million of
/// each test here.
#[track_caller]
fn in_threads(body: impl Fn(usize, &mut Vec<u64>) + Sync) -> Vec<u64> {
    let mut all: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let body = &body;
                scope.spawn(move || {
                    let mut words = Vec::new();
                    body(number, &mut words);
                    words
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let (zeros, repeats) = zeros_and_repeats(&mut all);
    let counters = headwater::status().counters;
    assert_eq!((zeros, repeats), (0, 0), "of {} words: {counters:?}", all.len());
    all
}

/// Checks that pages served these words from sections: no draw met an erased word, and a refill
/// filled a page for many draws. Draws that never take from a page would each make a key, which
/// the mode `buffered` counts as a refill, or as nothing if no page is filled.
#[track_caller]
fn assert_drawn_in_sections(words: &[u64]) {
    let status = headwater::status();
    assert_eq!((status.path, status.counters.tripwires), (Path::Sections, 0), "{status:?}");
    let (pages, refills) = (words.len() as u64 * 8 / 3_536, status.counters.refills);
    let draws = words.len() as u64 * 3 / 8;
    assert!(
        (pages / 2..draws / 4).contains(&refills),
        "{refills} refills for {pages} pages of words: {:?}",
        status.counters
    );
}

/// Returns true where this process draws in sections, and reports otherwise that `test` is skipped.
fn has_sections(test: &str) -> bool {
    headwater::init().unwrap();
    let status = headwater::status();
    if status.path != Path::Sections {
        skip(test, status.path.why().unwrap_or(status.reason));
    }
    status.path == Path::Sections
}

/// Returns true where the machine could draw in sections but for the C library's registration.
/// Reports otherwise that `test` is skipped, or that a reason of the machine hides the tunable's.
fn lacks_the_registration_alone(test: &str) -> bool {
    headwater::init().unwrap();
    let status = headwater::status();
    assert_ne!(status.path, Path::Sections, "sections without a registered area: {status:?}");
    match status.path.why() {
        Some(why) if why.contains("glibc") => true,
        why => {
            skip(test, why.unwrap_or(status.reason));
            false
        }
    }
}

/// Returns the C library's area, or reports that `test` is skipped.
fn area_of_the_c_library(test: &str) -> Option<&'static Area> {
    let area = Area::of_the_c_library();
    if area.is_none() {
        skip(test, "a static program cannot look up where the C library keeps its area");
    }
    area
}

/// The allocator of gperftools in place of the C library's. It does not use restartable sequences,
/// so this shows only that headwater needs nothing of the allocator that it replaces. Debian has
/// no package of Google's newer allocator, whose ways the next tests imitate.
#[test]
fn beside_the_tcmalloc_of_gperftools() {
    const TEST: &str = "beside_the_tcmalloc_of_gperftools";
    const LIBRARY: &str = "libtcmalloc_minimal.so.4";
    // The loader ignores a library that it cannot find, and says so.
    isolated_as(TEST, "preloaded", &[("LD_PRELOAD", LIBRARY)], || {
        if !fs::read_to_string("/proc/self/maps").unwrap().contains("libtcmalloc_minimal") {
            return skip(TEST, "libtcmalloc-minimal4 is missing: draws beside it are not seen");
        }
        if !has_sections(TEST) {
            return;
        }
        let words = in_threads(|_, words| {
            for number in 0..DRAWS {
                draw(number, words);
                black_box(vec![0_u8; 1 + number % 3_000]);
            }
        });
        assert_drawn_in_sections(&words);
    });
}

/// An allocator that overwrites `cpu_id_start` of the area that all share, as tcmalloc did with its
/// own. headwater must take nothing from that field.
#[test]
fn an_allocator_overwrites_cpu_id_start() {
    const TEST: &str = "an_allocator_overwrites_cpu_id_start";
    isolated(TEST, || {
        let all = cpus();
        if !has_sections(TEST) {
            return;
        }
        let Some(area) = area_of_the_c_library(TEST) else { return };
        if area.is_guarded(&all) {
            return skip(TEST, "this kernel ends a process that writes to cpu_id_start");
        }
        let words = in_threads(|thread, words| {
            let area = Area::of_the_c_library().unwrap();
            let mut restored = 0;
            for number in 0..DRAWS {
                let start = &area.cpu_id_start;
                if start.load(Relaxed) >> 31 == 0 {
                    restored += 1;
                    start.store(1 << 31 | number as u32, Relaxed);
                }
                draw(number, words);
                area.assert_clear();
                // Newer kernels restore the field at migrations alone.
                if number % 1_000 == 0 {
                    bind(&[all[(thread + number / 1_000) % all.len()]]);
                }
            }
            assert!(
                restored > usize::from(all.len() > 1),
                "the kernel restored it {restored} times"
            );
        });
        assert_drawn_in_sections(&words);
    });
}

/// The C library registers nothing: the status says why there are no sections, and locks serve.
#[test]
fn the_tunable_forbids_the_registration() {
    const TEST: &str = "the_tunable_forbids_the_registration";
    isolated_as(TEST, "off", &[OFF], || {
        if !lacks_the_registration_alone(TEST) {
            return;
        }
        in_threads(|_, words| {
            (0..DRAWS).for_each(|number| draw(number, words));
            let area = Area::of_the_c_library();
            assert!(area.is_none_or(|area| area.rseq_cs.load(Relaxed) == 0));
        });
        let status = headwater::status();
        assert!(status.path.why().unwrap().contains("its tunable says no"), "{status:?}");
        assert_eq!(status.counters.tripwires, 0);
    });
}

/// A program registers areas of its own, where the C library may not, and runs its own sections
/// between draws. headwater leaves the areas alone and enters no section; the program's counters
/// lose nothing.
#[test]
fn a_program_has_areas_of_its_own() {
    const TEST: &str = "a_program_has_areas_of_its_own";
    isolated_as(TEST, "own areas", &[OFF], || {
        if !lacks_the_registration_alone(TEST) {
            return;
        }
        let counters = Counters::new();
        let counted = count_between_draws(&counters, |line| counters.add(&line.area));
        assert_eq!(counters.sum(), counted, "the program's own sections lost counts");
        assert_ne!(headwater::status().path, Path::Sections);
    });
}

/// The same with tcmalloc's cache: an address whose upper half is `cpu_id_start`.
#[test]
fn a_program_has_areas_as_tcmalloc_has_them() {
    const TEST: &str = "a_program_has_areas_as_tcmalloc_has_them";
    isolated_as(TEST, "tcmalloc's areas", &[OFF], || {
        if !lacks_the_registration_alone(TEST) {
            return;
        }
        let probe = Line::default();
        probe.area.register(ORIGINAL).unwrap();
        let is_guarded = probe.area.is_guarded(&cpus());
        assert_eq!(probe.area.unregister(), Some(ORIGINAL));
        if is_guarded {
            return skip(TEST, "this kernel ends a process that writes to cpu_id_start");
        }
        let counters = Counters::new();
        let counted = count_between_draws(&counters, |line| {
            let attempt = counters.add_by_cache(line);
            if attempt == Attempt::Missed {
                counters.cache(line);
            }
            attempt
        });
        assert_eq!(counters.sum(), counted, "the allocator's own sections lost counts");
        assert_ne!(headwater::status().path, Path::Sections);
    });
}

/// Draws in threads that register an area each, with `count` between draws. Returns how often it
/// counted; each thread counts as often as it draws.
#[track_caller]
fn count_between_draws(counters: &Counters, count: impl Fn(&Line) -> Attempt + Sync) -> u64 {
    assert_eq!(counters.sum(), 0);
    in_threads(|_, words| {
        let line = Line::default();
        line.area.register(ORIGINAL).expect("the C library has registered nothing");
        for number in 0..DRAWS {
            while count(&line) != Attempt::Counted {}
            draw(number, words);
            line.area.assert_clear();
        }
        assert!(line.area.cpu_id.load(Relaxed) < UNREGISTERED - 1, "{line:?}");
        assert_eq!(line.area.unregister(), Some(ORIGINAL));
    });
    (THREADS * DRAWS) as u64
}

/// A program unregisters the C library's area and registers it again, in a loop, and draws in
/// between; other threads draw beside it.
#[test]
fn an_area_comes_and_goes() {
    const TEST: &str = "an_area_comes_and_goes";
    isolated(TEST, || {
        if !has_sections(TEST) || area_of_the_c_library(TEST).is_none() {
            return;
        }
        let words = in_threads(|thread, words| {
            let area = Area::of_the_c_library().unwrap();
            for number in 0..DRAWS {
                if thread % 2 == 0 && number % 20 == 0 {
                    let len = area.unregister().expect("the C library has registered it");
                    assert_eq!(area.cpu_id.load(Relaxed), UNREGISTERED);
                    draw(number, words);
                    area.assert_clear();
                    area.register(len).unwrap();
                }
                draw(number, words);
                area.assert_clear();
            }
        });
        let status = headwater::status();
        assert_eq!((status.path, status.counters.tripwires), (Path::Sections, 0), "{status:?}");
        let pages = words.len() as u64 * 8 / 3_536;
        assert!(status.counters.refills > pages / 4, "pages are still filled: {status:?}");
    });
}

/// Reads every section of this program, and checks what the kernel checks of it while
/// `/sys/kernel/debug/rseq/debug` is on. Few kernels have that switch yet, so the rules are checked
/// here without it; and also that a section writes to no field of the area, and makes no call.
#[test]
fn sections_keep_the_rules_of_the_kernels_debug_switch() {
    let sections = Section::all();
    assert!(sections.len() >= 4, "three kinds of draws and a refill: {sections:?}");
    let mut info = InstructionInfoFactory::new();
    for section in sections {
        assert_eq!(section.head(), [0, 0], "version and flags");
        assert_eq!(section.signature(), SIGNATURE);
        let instructions = section.instructions();
        let (first, last) = (instructions[0], instructions[instructions.len() - 1]);
        assert!(
            !(first.ip()..last.next_ip()).contains(&section.abort()),
            "the abort handler lies in its section"
        );
        for instruction in &instructions {
            let flow = instruction.flow_control();
            assert!(
                matches!(
                    flow,
                    FlowControl::Next
                        | FlowControl::ConditionalBranch
                        | FlowControl::UnconditionalBranch
                ),
                "{instruction:?} in a section: {flow:?}"
            );
            for memory in info.info(instruction).used_memory() {
                let reads = matches!(memory.access(), OpAccess::Read | OpAccess::CondRead);
                assert!(
                    reads || memory.segment() != Register::FS,
                    "{instruction:?} writes to the thread's own memory"
                );
            }
        }
    }
}

/// The kernel's switch for checks of every section, which ends a process that breaks a rule.
const SWITCH: &str = "/sys/kernel/debug/rseq/debug";

/// The kernel's switch while it is on.
struct Switched(String);

impl Drop for Switched {
    fn drop(&mut self) {
        let _ = fs::write(SWITCH, &self.0);
    }
}

/// Preempted, migrated and interrupted sections under the kernel's own checks.
#[test]
#[ignore = "changes a setting of the machine: the kernel's checks of restartable sequences"]
fn draws_under_the_kernels_debug_switch() {
    const TEST: &str = "draws_under_the_kernels_debug_switch";
    const LOSS: &str = "whether the kernel's own checks of sections pass is not seen";
    let switch_on = || {
        let before = fs::read_to_string(SWITCH)?;
        fs::write(SWITCH, "1").map(|()| Switched(before.trim().to_owned()))
    };
    // Only the process that outlives the others changes the setting, and puts it back.
    let _switched = match is_parent().then(switch_on) {
        Some(Err(error)) => {
            return skip(TEST, &format!("{SWITCH} (Linux 6.19 has it, for root): {error}: {LOSS}"));
        }
        switched => switched,
    };
    // A registration of the original kind: with it, only the switch makes the kernel compare
    // `cpu_id_start` with what it wrote there. If a program that overwrites it lives, the kernel
    // checks nothing, and the draws below would show nothing.
    isolated_as(TEST, "control", &[OFF], || {
        if lacks_the_registration_alone(TEST) {
            let probe = Line::default();
            probe.area.register(ORIGINAL).unwrap();
            assert!(
                probe.area.is_guarded(&cpus()),
                "the switch is on, and the kernel checks nothing"
            );
            assert_eq!(probe.area.unregister(), Some(ORIGINAL));
        }
    });
    isolated(TEST, || {
        if !has_sections(TEST) {
            return;
        }
        let all = cpus();
        let words = in_threads(|thread, words| {
            for number in 0..DRAWS {
                draw(number, words);
                if number % 100 == 0 {
                    bind(&[all[(thread + number / 100) % all.len()]]);
                }
            }
        });
        assert_drawn_in_sections(&words);
    });
}

/// Stops this program if a debugger runs it, and ends it otherwise.
fn stop_here() {
    // SAFETY: a trap; the debugger continues after it.
    unsafe { std::arch::asm!("int3", options(nostack, preserves_flags)) };
}

/// gdb steps through draws, one instruction at a time. A section aborts at each step and never
/// ends, so after its eighth abort each draw has to go the way that needs no section.
#[test]
fn gdb_steps_through_draws() {
    const TEST: &str = "gdb_steps_through_draws";
    const STEPS: usize = 3_000;
    if tools::is_run_by_a_tool() {
        let mut words = Vec::new();
        (0..30).for_each(|number| draw(number, &mut words));
        println!("path {:?}", headwater::status().path);
        for section in Section::all() {
            println!("section {:x} abort {:x}", section.instructions()[0].ip(), section.abort());
        }
        stop_here();
        (0..3).for_each(|number| draw(number, &mut words));
        (0..30).for_each(|number| draw(number, &mut words));
        let (drawn, counts) = (words.len(), zeros_and_repeats(&mut words));
        assert_eq!(counts, (0, 0), "of {drawn} words: zeros, repeats");
        println!("drawn {drawn}");
        return;
    }
    if tools::find("gdb").is_none() {
        return skip(TEST, "gdb is missing: draws that a debugger steps through are not seen");
    }
    let steps = format!(
        "set $n = 0\nwhile $n < {STEPS}\nstepi\nprintf \"\\nat %lx\\n\", $pc\nset $n = $n + 1\nend"
    );
    let script = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("step-{}.gdb", std::process::id()));
    let text = format!("set pagination off\nset confirm off\nrun\n{steps}\ncontinue\n");
    fs::write(&script, text).unwrap();
    let arguments = ["-nx", "--batch", "-x", script.to_str().unwrap(), "--args"];
    let (ended, text) = tools::run("gdb", &arguments, TEST);
    let _ = fs::remove_file(&script);
    if text.contains("Could not trace the inferior process") || text.contains("ptrace: Operation") {
        return skip(TEST, "ptrace is refused: draws that a debugger steps through are not seen");
    }
    let all_of = |word: &str| -> Vec<u64> {
        let places = text.lines().filter_map(|line| line.trim().strip_prefix(word));
        places.filter_map(|place| u64::from_str_radix(place.split(' ').next()?, 16).ok()).collect()
    };
    let stopped = all_of("at ");
    assert!(
        ended && stopped.len() == STEPS && text.contains("drawn 168\n"),
        "gdb ended: {ended}, after {} steps\n{}",
        stopped.len(),
        text.lines().filter(|line| !line.contains('\t')).collect::<Vec<_>>().join("\n")
    );
    if !text.contains("path Sections\n") {
        return skip(TEST, "this machine draws under locks: steps through a section are not seen");
    }
    let starts: HashSet<u64> = all_of("section ").into_iter().collect();
    let entered = stopped.iter().filter(|at| starts.contains(at)).count();
    println!("{entered} entries into sections in {STEPS} steps");
    assert!((8..100).contains(&entered), "{entered} entries, and each draw enters 8 times");
}

/// valgrind translates the code, and answers rseq(2) with ENOSYS: no section is entered, and what
/// serves instead reads nothing that was never written.
#[test]
fn valgrind_finds_no_error() {
    const TEST: &str = "valgrind_finds_no_error";
    if tools::is_run_by_a_tool() {
        headwater::init().unwrap();
        let mut words = Vec::new();
        for number in 0..300 {
            draw(number, &mut words);
            // Branches on each bit that was drawn, which valgrind judges.
            assert_ne!(words.last().unwrap().count_ones(), 0);
        }
        let (drawn, counts) = (words.len(), zeros_and_repeats(&mut words));
        assert_eq!(counts, (0, 0), "of {drawn} words: zeros, repeats");
        let status = headwater::status();
        assert_ne!(status.path, Path::Sections, "{status:?}");
        println!("drawn {drawn}: {}, {}", status.mode, status.path.why().unwrap_or(status.reason));
        return;
    }
    if tools::find("valgrind").is_none() {
        return skip(TEST, "valgrind is missing: what it reports of draws is not seen");
    }
    let (ended, text) = tools::run("valgrind", &["--error-exitcode=9", "--leak-check=no"], TEST);
    assert!(ended && text.contains("ERROR SUMMARY: 0 errors"), "{text}");
    let said = text.lines().find_map(|line| line.split_once("drawn 800: "));
    println!(
        "{}",
        said.map(|(_, said)| said).unwrap_or_else(|| panic!("it drew nothing:\n{text}"))
    );
}
