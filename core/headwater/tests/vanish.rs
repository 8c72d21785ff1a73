//! Pages that vanish while they are drawn from, taken by the kernel itself: dropped, paged out, or
//! never allowed to be there. No draw returns zeros, or the same bytes twice.
//!
//! Tests that change a setting of the machine are in `settings.rs`.
#![cfg(target_os = "linux")]

mod common;
mod support;
mod vanishing;

use common::{in_every_mode, isolated_as};
use headwater::testing::{Force, drop_pages, set};
use headwater::{Config, Counters, Mode, Page, Rng};
use std::ops::Range;
use std::ptr::null_mut;
use support::draws::draw_everything;
use support::machine::skip;
use support::memory::mappings_with;
use support::root::machine_with_cpus;
use support::rules::{force, slots};
use vanishing::storm::Storm;

/// Advises the kernel on a range of this process.
fn advise(range: &Range<u64>, advice: i32) -> std::io::Result<()> {
    let (at, len) = (range.start as *mut libc::c_void, (range.end - range.start) as usize);
    // SAFETY: memory of headwater's pages, or of this test, that may become zeros at any instant.
    match unsafe { libc::madvise(at, len, advice) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Returns the droppable pages of this process; none on a kernel without them. One handle more than
/// the threads of a storm have is made before, so that no further group of pages is mapped
/// meanwhile.
fn droppable() -> Vec<Range<u64>> {
    drop(Rng::new().unwrap());
    let found = mappings_with(&["dp"]);
    if headwater::status().page == Page::Droppable {
        assert!(!found.is_empty(), "droppable memory is not in /proc/self/smaps");
    }
    found.into_iter().map(|mapping| mapping.range).collect()
}

fn dont_need(ranges: &[Range<u64>]) {
    ranges.iter().for_each(|range| advise(range, libc::MADV_DONTNEED).unwrap());
}

/// Checks the status after pages vanished under `mode` so often.
fn assert_counted(mode: Mode, takes: u64, counted: Counters) {
    // The page's number showed it each time, and the zeros never had to: the holder of a slot sees
    // its page change from an older one to a newer one, and the newer one's number is not the
    // state's until its holder fills it.
    assert_eq!(counted.tripwires, 0);
    if matches!(mode, Mode::Buffered | Mode::Hedged) {
        // A page holds 3,536 bytes; each take meets at least a handle's and a slot's, and seldom
        // empty ones. A take in the middle of a draw, which then tries again, comes by chance here
        // and by arrangement in `stepped.rs`.
        assert!(counted.discarded_bytes > 500 * takes, "{takes} takes: {counted:?}");
    }
}

#[test]
fn pages_given_back_by_madvise_in_every_mode() {
    in_every_mode("pages_given_back_by_madvise_in_every_mode", |mode| {
        headwater::init().unwrap();
        let pages = droppable();
        let storm = Storm { threads: 3, takes: 200, migrate: false };
        let counted = match headwater::status().page {
            Page::None => storm.rage(|| ()),
            Page::Droppable => storm.rage(|| dont_need(&pages)),
            // The library's own way, which unlocks them before.
            _ => storm.rage(drop_pages),
        };
        assert_counted(mode, 200, counted);
    });
}

/// Pages that are not droppable are taken by the library's own way, as for a checkpoint: no other
/// program can.
#[test]
fn fallback_pages_given_back_in_every_mode() {
    const TEST: &str = "fallback_pages_given_back_in_every_mode";
    for (variant, facts) in [
        ("locked", &[Force::NoDroppable, Force::VmgenidBound][..]),
        ("not locked", &[Force::NoDroppable, Force::NoMlock, Force::VmgenidBound]),
    ] {
        isolated_as(TEST, variant, &[], || {
            force(facts);
            for mode in [Mode::Buffered, Mode::Hedged, Mode::Strict] {
                headwater::init_with(Config::new().mode(mode)).unwrap();
                let status = headwater::status();
                assert!(status.page != Page::Droppable);
                let storm = Storm { threads: 3, takes: 70, migrate: false };
                assert_counted(status.mode, 70, storm.rage(drop_pages));
            }
        });
    }
}

/// 16 MiB of droppable memory around the pools' own pages: a batch of reclaim is as long as it
/// gets, and the pages' translations outlive them for as long as they can.
struct Region {
    filler: Range<u64>,
    all: Vec<Range<u64>>,
}

impl Region {
    const LEN: usize = 16 << 20;

    /// Returns None on a kernel without droppable memory. The kernel puts a new mapping below the
    /// last one, and makes one of the two if they are alike; where it does not, they are paged out
    /// one after the other.
    fn around_the_pools() -> Option<Region> {
        const MAP_DROPPABLE: i32 = 0x08;
        let pools = droppable();
        if pools.is_empty() {
            return None;
        }
        let flags = MAP_DROPPABLE | libc::MAP_ANONYMOUS;
        // SAFETY: new memory, where the kernel likes.
        let filler = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(null_mut(), Region::LEN, access, flags, -1, 0)
        };
        assert!(filler != libc::MAP_FAILED);
        let start = filler as u64;
        let filler = start..start + Region::LEN as u64;
        // Advised like the pools' pages, so that both can be one mapping.
        let _ = advise(&filler, libc::MADV_NOHUGEPAGE);
        let all = droppable();
        let joined = all.iter().any(|range| range.contains(&start) && pools[0] != filler);
        println!("{} mappings of droppable pages, pools beside the region: {joined}", all.len());
        Some(Region { filler, all })
    }

    fn page_out(&self) {
        for page in self.filler.clone().step_by(4096) {
            // SAFETY: this region's own memory; where pages are larger, some are written more than
            // once.
            unsafe { (page as *mut u8).write_volatile(1) };
        }
        for range in &self.all {
            advise(range, libc::MADV_PAGEOUT).unwrap();
        }
    }
}

/// The kernel reclaims the pages, in every mode: of these drops it flushes the other CPU's
/// translations later, in batches.
#[test]
fn pages_reclaimed_in_every_mode() {
    const TEST: &str = "pages_reclaimed_in_every_mode";
    in_every_mode(TEST, |mode| {
        headwater::init().unwrap();
        if headwater::status().page == Page::None {
            return; // mode kernel
        }
        let Some(region) = Region::around_the_pools() else {
            return skip(TEST, "no droppable memory: whether reclaim is noticed is not seen");
        };
        let counted = Storm { threads: 3, takes: 30, migrate: false }.rage(|| region.page_out());
        assert_counted(mode, 30, counted);
    });
}

/// Two CPUs on one slot while its page goes away: while it does, each may see another page at its
/// address.
#[test]
fn two_cpus_on_one_slot_while_it_is_reclaimed() {
    const TEST: &str = "two_cpus_on_one_slot_while_it_is_reclaimed";
    for (variant, facts, threads) in [
        ("one slot for all CPUs", &[Force::OneCpu, Force::VmgenidBound][..], 3),
        ("threads that go from CPU to CPU", &[Force::VmgenidBound], 5),
    ] {
        isolated_as(TEST, variant, &[], || {
            force(facts);
            headwater::init_with(Config::new().mode(Mode::Buffered)).unwrap();
            let mode = headwater::status().mode;
            let Some(region) = Region::around_the_pools() else {
                return skip(TEST, "no droppable memory: two views of a page are not provoked");
            };
            let counted =
                Storm { threads, takes: 60, migrate: threads > 3 }.rage(|| region.page_out());
            assert_counted(mode, 60, counted);
        });
    }
}

/// Reclaim of pages that are not droppable takes nothing without swap, and locked ones never.
#[test]
fn fallback_pages_are_not_reclaimed() {
    const TEST: &str = "fallback_pages_are_not_reclaimed";
    for (variant, facts) in [
        ("locked", &[Force::NoDroppable, Force::VmgenidBound][..]),
        ("not locked", &[Force::NoDroppable, Force::NoMlock, Force::VmgenidBound]),
    ] {
        isolated_as(TEST, variant, &[], || {
            force(facts);
            headwater::init().unwrap();
            drop(Rng::new().unwrap());
            let pages = mappings_with(&["wf"]);
            let locked = headwater::status().page == Page::WipeOnForkLocked;
            let storm = Storm { threads: 3, takes: 70, migrate: false };
            let counted = storm.rage(|| {
                for mapping in &pages {
                    let answer = advise(&mapping.range, libc::MADV_PAGEOUT);
                    assert_eq!(answer.is_err(), locked && mapping.is("lo"), "{mapping:?}");
                }
            });
            assert_eq!(counted.tripwires, 0);
        });
    }
}

/// Drops the right to lock any amount of memory.
fn drop_ipc_lock() {
    const CAP_IPC_LOCK: u32 = 14;
    const VERSION_3: u32 = 0x2008_0522;
    let header = [VERSION_3, 0];
    let mut sets = [0_u32; 6]; // effective, permitted, inheritable; twice
    // SAFETY: the structs of capget(2) and capset(2), as arrays of their fields.
    unsafe {
        assert_eq!(libc::syscall(libc::SYS_capget, header.as_ptr(), sets.as_mut_ptr()), 0);
        sets[0] &= !(1 << CAP_IPC_LOCK);
        sets[1] &= !(1 << CAP_IPC_LOCK);
        assert_eq!(libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()), 0);
    }
}

/// Sets whether all memory mapped from now on is locked and made resident.
fn lock_all_from_now_on(test: &str) -> bool {
    // SAFETY: no pointers.
    let locked = unsafe { libc::mlockall(libc::MCL_FUTURE) } == 0;
    if !locked {
        skip(test, "mlockall is refused here: what it makes resident is not seen");
    }
    locked
}

/// On a machine of 256 CPUs, whose pages would be 32 MiB if they were all there.
#[test]
fn all_memory_is_locked_and_little_is_resident() {
    const TEST: &str = "all_memory_is_locked_and_little_is_resident";
    for (variant, facts) in [
        ("droppable", &[][..]),
        ("no vDSO", &[Force::NoVdso]),
        ("not droppable", &[Force::NoDroppable]),
        ("not droppable, no vDSO", &[Force::NoDroppable, Force::NoVdso]),
        ("not droppable, not locked", &[Force::NoDroppable, Force::NoMlock]),
    ] {
        isolated_as(TEST, variant, &[], || {
            let root = machine_with_cpus(256);
            set(Force::VmgenidBound, true);
            force(facts);
            if !lock_all_from_now_on(TEST) {
                return;
            }
            headwater::init().unwrap();
            draw_everything();
            let status = headwater::status();
            let resident: u64 =
                mappings_with(&["dp", "wf"]).iter().map(|mapping| mapping.resident_kib).sum();
            println!(
                "{variant}: {resident} KiB of {} slots, {:?}",
                status.pools.slots, status.page
            );
            if status.pools.slots == 0 {
                let why = "RLIMIT_MEMLOCK is below 40 MiB: pools that are locked are not seen";
                return skip(&format!("{TEST}, {variant}"), why);
            }
            // With those of a crowd, if the limit leaves room for them.
            assert!([256 + 64, slots(256, status.page)].contains(&status.pools.slots));
            // The lines of the slots are 700 KiB, the first 64 pages of handles 256 KiB.
            assert!(resident < 2 << 10, "{resident} KiB are resident: {status:?}");
            let before = headwater::status().counters.refills;
            headwater::discard().unwrap();
            draw_everything();
            assert!(headwater::status().counters.refills > before, "{:?}", headwater::status());
            headwater::quiesce().unwrap();
            drop(root);
        });
    }
}

/// Whatever can be locked is too little for the pages of this machine, or for anything.
#[test]
fn draws_where_no_more_can_be_locked() {
    const TEST: &str = "draws_where_no_more_can_be_locked";
    for limit in [8_u64 << 20, 0] {
        isolated_as(TEST, &format!("{limit} bytes"), &[], || {
            let root = machine_with_cpus(256);
            // A heap that is there already: the tests allocate, too.
            drop(vec![1_u8; 100 << 10]);
            drop_ipc_lock();
            let limits = libc::rlimit { rlim_cur: limit, rlim_max: limit };
            // SAFETY: reads the struct.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &limits) }, 0);
            if limit > 0 && !lock_all_from_now_on(TEST) {
                return;
            }
            headwater::init().unwrap();
            let mut rng = Rng::new().unwrap();
            let mut words = Vec::with_capacity(2_000);
            for _ in 0..1_000 {
                words.extend([headwater::u64().unwrap(), rng.next_u64()]);
            }
            support::statistics::assert_distinct(words, TEST);
            let status = headwater::status();
            println!(
                "{limit} bytes can be locked: {:?}, {}, {}",
                status.page, status.mode, status.reason
            );
            if limit > 0 {
                // The reservation itself is refused, whatever it is made of: nothing is buffered,
                // visibly.
                assert_eq!((status.mode, status.page), (Mode::Strict, Page::None));
            } else {
                assert_ne!(status.page, Page::WipeOnForkLocked);
            }
            drop(root);
        });
    }
}

/// The claim of `settings.rs` with huge pages, as far as it shows without them.
#[test]
fn huge_pages_are_forbidden() {
    const TEST: &str = "huge_pages_are_forbidden";
    for (variant, facts) in [("droppable", &[][..]), ("not droppable", &[Force::NoDroppable])] {
        isolated_as(TEST, variant, &[], || {
            if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
                return skip(TEST, "no huge pages, whether they are forbidden is not seen");
            }
            force(facts);
            headwater::init().unwrap();
            let pools = mappings_with(&["dp", "wf"]);
            assert!(!pools.is_empty());
            for mapping in pools {
                assert!(mapping.is("nh"), "{mapping:?}");
            }
        });
    }
}
