//! Pages under pressure that only a changed setting of the machine makes: huge pages everywhere,
//! swap, a memory cgroup at its limit. These tests are not run by default; `cargo xtask test` runs
//! them as root. Each says what it changes, and puts it back.
#![cfg(target_os = "linux")]

mod common;
mod support;
mod vanishing;

use common::{is_parent, isolated_as, record};
use headwater::testing::{Force, handle_page, set, slot_page};
use headwater::{Config, Mode, Page, Rng};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{Read, Write, pipe};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::time::Duration;
use std::{env, io, ptr, thread};
use support::children::{Ending, fork, wait};
use support::machine::{bind, cpus, skip};
use support::memory::{is_random, mappings_with, page_size};
use support::root::machine_with_cpus;
use support::rules::force;
use vanishing::settings::{
    Cgroup, HugePages, Swap, join_cgroup, may_change, set_limit, usage, words_on_disk,
};
use vanishing::storm::Storm;

/// Passes the place of the swap file, or of the cgroup, to the tested process.
const WHERE: &str = "HEADWATER_TEST_SETTING";

/// Makes a setting by `make` in the parent, or reports why `test` is skipped. Returns None in the
/// tested process, which has the setting.
///
/// Returns Err if the test is to be skipped.
fn change<S>(test: &str, make: impl FnOnce() -> io::Result<S>) -> Result<Option<S>, ()> {
    if !is_parent() {
        return Ok(None);
    }
    if !may_change(test) {
        return Err(());
    }
    make().map(Some).map_err(|error| skip(test, &format!("{error}: what it tests is not seen")))
}

fn path(setting: Option<&Path>) -> String {
    setting.map_or_else(String::new, |path| path.display().to_string())
}

fn its_path() -> PathBuf {
    env::var_os(WHERE).unwrap().into()
}

/// A slot takes a page of memory, not 2 MiB.
#[test]
#[ignore = "changes a setting of the machine: transparent huge pages"]
fn a_slot_takes_one_page_where_huge_pages_are_the_rule() {
    const TEST: &str = "a_slot_takes_one_page_where_huge_pages_are_the_rule";
    let Ok(_guard) = change(TEST, HugePages::always) else { return };
    for (variant, facts) in [
        ("droppable", &[Force::VmgenidBound][..]),
        ("not droppable", &[Force::NoDroppable, Force::VmgenidBound]),
    ] {
        isolated_as(TEST, variant, &[], || {
            // The size makes room for a page of 2 MiB in the pools.
            let root = machine_with_cpus(256);
            force(facts);
            bind(&cpus()[..1]);
            headwater::init().unwrap();
            let mut rng = Rng::new().unwrap();
            for _ in 0..1_000 {
                headwater::u64().unwrap();
                rng.next_u64();
            }
            let pools = mappings_with(&["dp", "wf"]);
            let resident: u64 = pools.iter().map(|mapping| mapping.resident_kib).sum();
            let page = page_size() as u64 >> 10;
            println!("{variant}: {resident} KiB in {pools:?}");
            assert!(resident > 0);
            // A slot's page and a handle's, the canary's line, the slot's line, and as much again.
            assert!(resident <= 8 * page, "{resident} KiB for one slot and one handle: {pools:?}");
            drop(root);
        });
    }
}

/// The words at the start of 64 pages of ordinary memory.
const MARKER: u64 = 0x9D5A_17C3_E86F_B204;
const MARKED: usize = 64;

/// Draws in a process of its own, and pushes all memory of the process out to swap on request.
fn subject(mode: Mode, page: Page, mut say: impl Write, mut hear: impl Read) {
    bind(&cpus()[..1]);
    headwater::init_with(Config::new().mode(mode)).unwrap();
    let mut handles = Vec::from_iter((0..8).map(|_| Rng::new().unwrap()));
    for _ in 0..20 {
        headwater::u64().unwrap();
        handles.iter_mut().for_each(|rng| drop([rng.next_u64()].to_vec()));
    }
    assert_eq!(headwater::status().page, page);
    let mut marked = vec![0_u64; MARKED * page_size() / 8];
    for (at, page) in marked.chunks_mut(page_size() / 8).enumerate() {
        page[..8].fill(MARKER + at as u64);
    }
    if cfg!(debug_assertions) {
        clear_stack();
    }
    let pages = [slot_page(), handle_page()].map(|page| page as usize);
    say.write_all(&pages.map(usize::to_ne_bytes).concat()).unwrap();
    let mut go = [0];
    hear.read_exact(&mut go).unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    for line in maps.lines() {
        let (start, rest) = line.split_once('-').unwrap();
        let (end, rest) = rest.split_once(' ').unwrap();
        let [start, end] = [start, end].map(|hex| usize::from_str_radix(hex, 16).unwrap());
        if rest.starts_with("rw") {
            // SAFETY: what is paged out comes back as it was, or is headwater's. Locked memory
            // refuses.
            unsafe {
                libc::madvise(ptr::without_provenance_mut(start), end - start, libc::MADV_PAGEOUT)
            };
        }
    }
    say.write_all(&[1]).unwrap();
    hear.read_exact(&mut go).unwrap();
    assert!(marked.iter().filter(|&&word| word != 0).count() == 8 * MARKED);
    for rng in &mut handles {
        assert!(rng.next_u64() != 0 && headwater::u64().unwrap() != 0);
    }
}

/// Overwrites 128 KiB of the stack with zeros. A build that is not optimised passes vectors on the
/// stack, and leaves the last 64 bytes of a refill there.
#[inline(never)]
fn clear_stack() {
    std::hint::black_box([0_u8; 128 << 10]);
}

/// Returns whether words of pages of this kind are found in the swap file after the process that
/// had them was pushed out.
fn reaches_swap(mode: Mode, page: Page, swap: &Path) -> bool {
    let ((mut told, say), (hear, mut tell)) = (pipe().unwrap(), pipe().unwrap());
    // The words are read by this process, not by the one that is pushed out: it would have them in
    // its heap.
    let child = fork(|| {
        subject(mode, page, say, hear);
        0
    });
    let mut pages = [0; 16];
    told.read_exact(&mut pages).unwrap();
    let memory = File::open(format!("/proc/{child}/mem")).unwrap();
    let mut words = HashSet::new();
    for (at, count) in [(0, 1), (8, 8)] {
        let address = usize::from_ne_bytes(pages[at..][..8].try_into().unwrap()) as u64;
        let mut bytes = vec![0; count * page_size()];
        memory.read_exact_at(&mut bytes, address).unwrap();
        let all = bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
        // Numbers and addresses are left out, because they stand elsewhere, too. One random word in
        // 65,536 is left out with them.
        words.extend(all.filter(|&word| is_random(word)));
    }
    assert!(words.len() > 9 * 300, "the pages were not found: {} words", words.len());
    tell.write_all(&[1]).unwrap();
    told.read_exact(&mut [0]).unwrap();

    // The kernel writes when it likes: until all that has to be there is there.
    let mut on_disk = Vec::new();
    for _ in 0..100 {
        on_disk = words_on_disk(swap);
        let marked = (0..MARKED as u64).filter(|at| on_disk.contains(&(MARKER + at)));
        if marked.count() == MARKED {
            break;
        }
        on_disk.clear();
        thread::sleep(Duration::from_millis(50));
    }
    assert!(!on_disk.is_empty(), "ordinary memory of the process is not in the swap file");
    let found = on_disk.iter().filter(|word| words.contains(word)).count();
    println!("{}: {found} of {} words in swap", page.name(), words.len());
    tell.write_all(&[1]).unwrap();
    assert_eq!(wait(child), Ending::Exited(0));
    found > 0
}

/// Buffered bytes are never in swap; where they may be, the status says so.
#[test]
#[ignore = "changes a setting of the machine: a swap file"]
fn no_byte_of_a_page_reaches_swap() {
    const TEST: &str = "no_byte_of_a_page_reaches_swap";
    let Ok(guard) = change(TEST, Swap::on) else { return };
    let swap = path(guard.as_ref().map(Swap::path));
    for (page, facts) in [
        (Page::Droppable, &[][..]),
        (Page::WipeOnForkLocked, &[Force::NoDroppable]),
        (Page::WipeOnFork, &[Force::NoDroppable, Force::NoMlock]),
    ] {
        for mode in [Mode::Buffered, Mode::Hedged] {
            let variant = format!("{} {mode}", page.name());
            isolated_as(TEST, &variant, &[(WHERE, &swap)], || {
                set(Force::VmgenidBound, true);
                force(facts);
                let (used, real) = found_by_a_child(mode);
                if (used, real) != (mode, page) {
                    let why = format!("{used}, {} here: swap is not examined", real.name());
                    return skip(&variant, &why);
                }
                assert_eq!(reaches_swap(mode, page, &its_path()), page == Page::WipeOnFork);
            });
        }
    }
}

/// Returns the mode of a process that requests `mode` here. Asked in a child: this process is not
/// to be set up.
fn found_by_a_child(mode: Mode) -> (Mode, Page) {
    let pages = [Page::Droppable, Page::WipeOnForkLocked, Page::WipeOnFork, Page::None];
    let modes = [Mode::Buffered, Mode::Hedged, Mode::Strict, Mode::Kernel];
    let child = fork(|| {
        headwater::init_with(Config::new().mode(mode)).unwrap();
        let status = headwater::status();
        let page = pages.iter().position(|&page| page == status.page).unwrap();
        let mode = modes.iter().position(|&mode| mode == status.mode).unwrap();
        (4 * mode + page) as i32
    });
    match wait(child) {
        Ending::Exited(found) => (modes[found as usize / 4], pages[found as usize % 4]),
        ending => panic!("status() ended with {ending:?}"),
    }
}

/// Pages that may go to swap go there and come back, over and over, while they are drawn from.
#[test]
#[ignore = "changes a setting of the machine: a swap file"]
fn draws_while_pages_go_to_swap_and_come_back() {
    const TEST: &str = "draws_while_pages_go_to_swap_and_come_back";
    let Ok(guard) = change(TEST, Swap::on) else { return };
    let swap = path(guard.as_ref().map(Swap::path));
    for mode in [Mode::Buffered, Mode::Hedged] {
        isolated_as(TEST, mode.name(), &[(WHERE, &swap)], || {
            force(&[Force::NoDroppable, Force::NoMlock, Force::VmgenidBound]);
            headwater::init_with(Config::new().mode(mode)).unwrap();
            drop(Rng::new().unwrap());
            let pools = mappings_with(&["wf"]);
            // Counts the whole machine, which has no other use for swap.
            let paged_out = || {
                let counts = fs::read_to_string("/proc/vmstat").unwrap();
                let count = counts.lines().find_map(|line| line.strip_prefix("pswpout "));
                count.unwrap().parse::<u64>().unwrap()
            };
            let before = paged_out();
            let counted = Storm { threads: 3, takes: 100, migrate: false }.rage(|| {
                for mapping in &pools {
                    let (start, end) = (mapping.range.start as usize, mapping.range.end as usize);
                    let at = ptr::without_provenance_mut(start);
                    // SAFETY: what is paged out comes back as it was.
                    assert_eq!(unsafe { libc::madvise(at, end - start, libc::MADV_PAGEOUT) }, 0);
                }
            });
            let written = paged_out() - before;
            println!("{written} pages written to swap");
            assert!(written > 0, "nothing was paged out");
            assert_eq!(counted.tripwires, 0);
        });
    }
}

/// The process may have a quarter of what its pages need, and nothing else of it can be reclaimed:
/// each page that is filled costs another one.
#[test]
#[ignore = "changes a setting of the machine: a memory cgroup"]
fn draws_in_a_cgroup_at_its_limit() {
    const TEST: &str = "draws_in_a_cgroup_at_its_limit";
    const HANDLES: usize = 512;
    const THREADS: usize = 2;
    const ROUNDS: usize = 20;
    let Ok(guard) = change(TEST, Cgroup::new) else { return };
    if let Some(group) = &guard {
        group.end_pressure_after(Duration::from_secs(60));
    }
    let group = path(guard.as_ref().map(Cgroup::path));
    for mode in [Mode::Buffered, Mode::Hedged] {
        isolated_as(TEST, mode.name(), &[(WHERE, &group)], || {
            set(Force::VmgenidBound, true);
            let group = its_path();
            // The record is charged to where this process was before: it cannot be reclaimed.
            record::open();
            record::touch(1 << 20);
            join_cgroup(&group);
            headwater::init_with(Config::new().mode(mode)).unwrap();
            let status = headwater::status();
            if (status.mode, status.page) != (mode, Page::Droppable) {
                return skip(TEST, "nothing droppable is buffered: nothing would be reclaimed");
            }
            let mut handles = Vec::from_iter((0..HANDLES).map(|_| Rng::new().unwrap()));
            let before = headwater::status().counters;
            let squeeze = Barrier::new(THREADS + 1);
            thread::scope(|scope| {
                for handles in handles.chunks_mut(HANDLES / THREADS) {
                    let squeeze = &squeeze;
                    scope.spawn(move || {
                        for round in 0..ROUNDS {
                            for rng in &mut *handles {
                                draw(round, rng);
                            }
                            if round == 0 {
                                squeeze.wait();
                                squeeze.wait();
                            }
                        }
                    });
                }
                squeeze.wait();
                let full = usage(&group);
                let limit = full - 3 * (HANDLES as u64 / 4) * page_size() as u64;
                // Reclaim spares what was used a moment ago, once.
                let limited = (0..20).any(|_| set_limit(&group, Some(limit)));
                assert!(limited, "three quarters of the pages could not be reclaimed");
                println!("{} KiB were charged, {} are the limit", full >> 10, limit >> 10);
                squeeze.wait();
            });
            let after = headwater::status().counters;
            println!("{} words; {after:?}", record::check());
            // A quarter of the pages is there at a time, which is half of those of one thread.
            let refills = (after.refills - before.refills) as usize;
            assert!(refills > (ROUNDS - 1) * HANDLES / 4, "{refills} refills");
            assert!(after.discarded_bytes > before.discarded_bytes);
            assert_eq!(after.tripwires, 0);
            assert!(set_limit(&group, None));
        });
    }
}

/// Draws two words, or two blocks of 64 bytes, from a function and from a handle, and records them.
fn draw(round: usize, rng: &mut Rng) {
    let mut bytes = [0; 64];
    if round.is_multiple_of(2) {
        record::add(&headwater::u64().unwrap().to_ne_bytes());
        record::add(&rng.next_u64().to_ne_bytes());
    } else {
        headwater::fill(&mut bytes).unwrap();
        record::add(&bytes);
        rng.fill(&mut bytes).unwrap();
        record::add(&bytes);
    }
}
