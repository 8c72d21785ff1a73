//! The reseed generation: bytes that it has voided are never served, a false place is dropped, and
//! the true one never is.
#![cfg(target_os = "linux")]

mod common;
mod support;

use headwater::testing::{Force, Point, inject_generation, set, set_hook, slot_page};
use headwater::{Config, CpuRng, Freshness, Mode, ReseedGeneration, Rng, Stamp};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock, PoisonError};
use support::children::{Ending, fork, wait};
use support::draws::draw_everything;
use support::machine::{bind, can_reseed, cpus, reseed, skip};
use support::memory::start_of;
use support::rules::{assert_by_the_rules, force};
use support::statistics::assert_distinct;
use support::voided::{DRAWS, SET_AT, interfere, no_voided_word_leaves};

/// The CPUs of this process before a test bound itself to one.
static ALL_CPUS: OnceLock<Vec<usize>> = OnceLock::new();

/// Runs as `common::isolated` does, one test after the other, because a reseed concerns the whole
/// machine.
fn isolated(test: &str, body: impl FnOnce()) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // One CPU, so that draws one after the other meet the same slot.
    common::isolated(test, || {
        let all = ALL_CPUS.get_or_init(cpus);
        bind(&all[..1]);
        body();
    });
}

/// Sets up in mode `buffered`; false, with a report, if this kernel shows no reseed generation.
fn set_up_buffered(test: &str) -> bool {
    force(&[Force::VmgenidBound]);
    headwater::init().unwrap();
    let status = headwater::status();
    assert_by_the_rules(&status);
    if status.mode != Mode::Buffered {
        skip(test, status.reason);
    }
    status.mode == Mode::Buffered
}

/// Returns the kernel's own word, even where another word is injected in its place.
fn kernels_word() -> &'static AtomicU64 {
    let ReseedGeneration::Live { page, offset, .. } = headwater::status().reseed_generation else {
        panic!("{:?}", headwater::status());
    };
    let at = start_of("[vvar]").unwrap() + u64::from(page) * 4096 + u64::from(offset);
    // SAFETY: an aligned word of the kernel's data, which stays mapped; loaded only.
    unsafe { &*std::ptr::with_exposed_provenance::<AtomicU64>(at as usize) }
}

static INJECTED: AtomicU64 = AtomicU64::new(0);

fn add(word: &AtomicU64) {
    word.fetch_add(1, SeqCst);
}

/// A test's own counter in the kernel's place changes while bytes are copied. Nothing of that page
/// is served. The kernel's state disagrees with such a word at the next refill, which retires it.
#[test]
fn a_word_that_moves_in_the_middle_of_a_copy() {
    isolated("a_word_that_moves_in_the_middle_of_a_copy", || {
        // The hook is met by draws under a lock alone.
        set(Force::NoSections, true);
        if !set_up_buffered("a_word_that_moves_in_the_middle_of_a_copy") {
            return;
        }
        let kernels = kernels_word();
        let mut rng = Rng::new().unwrap();
        set_hook(Some(|point| interfere(point, || add(&INJECTED))));
        for draw in DRAWS {
            for point in [Point::Copied, Point::MidCopy] {
                let discarded = loop {
                    let generation = kernels.load(SeqCst);
                    INJECTED.store(generation, SeqCst);
                    inject_generation(&INJECTED);
                    assert_eq!(headwater::status().mode, Mode::Buffered);
                    let before = headwater::status().counters.discarded_bytes;
                    let met = no_voided_word_leaves(point, draw, &mut rng);
                    // A middle exists only in whole blocks.
                    assert_eq!(met, point == Point::Copied || draw.2 > 16, "{}", draw.0);
                    // Once a minute the kernel reseeds by itself: then nothing was shown.
                    if kernels.load(SeqCst) == generation {
                        break met.then(|| headwater::status().counters.discarded_bytes - before);
                    }
                };
                let Some(discarded) = discarded else { continue };
                assert!(discarded > 0, "{}", draw.0);
                let status = headwater::status();
                assert_eq!(status.reseed_generation, ReseedGeneration::Retired, "{}", draw.0);
                assert_ne!(status.mode, Mode::Buffered);
                assert_by_the_rules(&status);
            }
        }
    });
}

/// A reseed of the real kernel, at every place where one can come: the generation stays live, the
/// bytes are discarded.
#[test]
fn a_reseed_at_every_point() {
    let test = "a_reseed_at_every_point";
    isolated(test, || {
        if !set_up_buffered(test) || !can_reseed(test) {
            return;
        }
        let mut rng = Rng::new().unwrap();
        set_hook(Some(|point| interfere(point, || assert!(reseed()))));
        for draw in DRAWS {
            for point in [Point::Copied, Point::MidCopy] {
                let before = headwater::status().counters;
                if no_voided_word_leaves(point, draw, &mut rng) {
                    let after = headwater::status().counters;
                    assert!(after.discarded_bytes > before.discarded_bytes, "{}", draw.0);
                    assert!(after.retries > before.retries, "{}", draw.0);
                }
            }
            // Between key and page: the page is void before it is full, and nothing is lost with
            // it.
            for point in [Point::Keyed, Point::Locked] {
                let mut buf = vec![0; draw.2];
                let mut words = Vec::new();
                for _ in 0..20 {
                    *SET_AT.lock().unwrap() = Some(point);
                    for _ in 0..40 {
                        draw.1(&mut rng, &mut buf);
                        words.push(u64::from_ne_bytes(*buf.first_chunk().unwrap()));
                    }
                    *SET_AT.lock().unwrap() = None;
                }
                assert_distinct(words, draw.0);
            }
        }
        let status = headwater::status();
        assert_eq!((status.reseed_generation.name(), status.mode), ("live", Mode::Buffered));
    });
}

/// A page that a reseed has voided is discarded once, and its bytes are counted once, by the hot
/// half of a draw or by the cold one.
#[test]
fn a_void_page_is_counted_once() {
    let test = "a_void_page_is_counted_once";
    isolated(test, || {
        if !set_up_buffered(test) || !can_reseed(test) {
            return;
        }
        let kernels = kernels_word();
        for mode in [Mode::Buffered, Mode::Hedged] {
            headwater::init_with(Config::new().mode(mode)).unwrap();
            for len in [1, 8, 9, 16, 17, 100, 1000] {
                let (mut buffer, mut others) = (vec![0; len], 0);
                loop {
                    headwater::fill(&mut buffer).unwrap();
                    let (generation, before) = (kernels.load(SeqCst), headwater::status().counters);
                    assert!(reseed());
                    headwater::fill(&mut buffer).unwrap();
                    let after = headwater::status().counters;
                    // Another process's reseed voids the next page as well.
                    if kernels.load(SeqCst) == generation + 1 {
                        let discarded = after.discarded_bytes - before.discarded_bytes;
                        assert!((1..4096).contains(&discarded), "{mode}, {len}: {discarded}");
                        assert_eq!(after.retries - before.retries, 1, "{mode}, {len}");
                        break;
                    }
                    others += 1;
                    assert!(others < 1000, "the kernel reseeds all the time");
                }
            }
        }
    });
}

/// Wrong words of every kind are found out by the first refill, and buffering ends.
#[test]
fn a_wrong_word_is_retired() {
    isolated("a_wrong_word_is_retired", || {
        if !set_up_buffered("a_wrong_word_is_retired") {
            return;
        }
        let kernels = kernels_word();
        let wrong =
            [1, 2, u64::MAX - 1, 1 << 40, 0].map(|value| (value, "a constant")).into_iter().chain(
                [(kernels.load(SeqCst) + 1, "the next"), (kernels.load(SeqCst) - 1, "the last")],
            );
        for (value, what) in wrong {
            if value == kernels.load(SeqCst) {
                continue; // a freshly booted kernel
            }
            INJECTED.store(value, SeqCst);
            inject_generation(&INJECTED);
            assert_eq!(headwater::status().mode, Mode::Buffered);
            let mut words = Vec::new();
            for _ in 0..1_000 {
                words.push(headwater::u64().unwrap());
            }
            assert_distinct(words, what);
            let status = headwater::status();
            assert_eq!(status.reseed_generation, ReseedGeneration::Retired, "{what}: {value}");
            assert_eq!((status.generation, headwater::generation()), (None, None));
            assert_ne!(status.mode, Mode::Buffered);
            assert_by_the_rules(&status);
            let mut stamp = Stamp::new();
            assert_eq!(stamp.check(), Freshness::Stale, "a new stamp");
            assert_eq!(stamp.check(), Freshness::Unknown);
        }
        draw_everything();
        // Asking for it again does not bring it back.
        headwater::init_with(Config::new().mode(Mode::Buffered)).unwrap();
        assert_eq!(headwater::status().reseed_generation, ReseedGeneration::Retired);
        assert_ne!(headwater::status().mode, Mode::Buffered);
    });
}

/// A draw that is left by siglongjmp in the middle of the vDSO's call leaves its state marked as in
/// use: the vDSO does not touch it again, and its generation stands still. The reseed generation is
/// right all the same.
#[test]
fn a_state_that_is_stuck_does_not_retire_the_word() {
    let test = "a_state_that_is_stuck_does_not_retire_the_word";
    isolated(test, || {
        if !set_up_buffered(test) || !can_reseed(test) {
            return;
        }
        headwater::u64().unwrap();
        /// The state's place in a page, and `in_use` in the state (`struct vgetrandom_state` of
        /// Linux 6.11).
        const IN_USE: usize = 64 + 137;
        for round in 0..3 {
            let page = slot_page();
            assert!(!page.is_null());
            // SAFETY: a byte of a page of the pools; a stuck state is one of those the kernel's
            // code expects.
            unsafe { page.add(IN_USE).write_volatile(1) };
            assert!(reseed());
            assert_ne!(headwater::u64().unwrap(), 0);
            let status = headwater::status();
            assert!(
                matches!(status.reseed_generation, ReseedGeneration::Live { .. }),
                "round {round}: {:?}",
                status.reseed_generation
            );
            assert_eq!(status.mode, Mode::Buffered);
        }
        draw_everything();
    });
}

/// A word that stands still is right until the kernel reseeds.
#[test]
fn a_word_that_stands_still_is_retired() {
    let test = "a_word_that_stands_still_is_retired";
    isolated(test, || {
        if !set_up_buffered(test) || !can_reseed(test) {
            return;
        }
        let kernels = kernels_word();
        for by_handle in [false, true] {
            INJECTED.store(kernels.load(SeqCst), SeqCst);
            inject_generation(&INJECTED);
            assert!(reseed());
            let mut rng = Rng::new().unwrap();
            let page = headwater::status().pools.page_bytes as usize;
            for _ in 0..page / 8 + 1 {
                // A stale page may serve what it holds: only the reseed generation reports the
                // reseed.
                let _ = if by_handle { rng.next_u64() } else { headwater::u64().unwrap() };
            }
            assert_eq!(headwater::status().reseed_generation, ReseedGeneration::Retired);
            assert_ne!(headwater::status().mode, Mode::Buffered);
        }
    });
}

/// Two places that look alike: nothing is buffered on the strength of either, until a reseed moves
/// one.
#[test]
fn look_alikes() {
    isolated("look_alikes", || look_alikes_are_told_apart("look_alikes", Mode::Buffered));
}

/// Look-alikes on a machine that cannot hedge: `strict` serves meanwhile.
#[test]
fn look_alikes_in_strict() {
    isolated("look_alikes_in_strict", || {
        force(&[Force::NoCpuRng]);
        look_alikes_are_told_apart("look_alikes_in_strict", Mode::Auto);
        assert_eq!(headwater::status().cpu_rng, CpuRng::Absent);
    });
}

fn look_alikes_are_told_apart(test: &str, requested: Mode) {
    force(&[Force::LookAlikes, Force::VmgenidBound]);
    // A reseed of the kernel's own, once a minute, may come at once: not in three processes.
    let set_up = || match headwater::status().reseed_generation {
        ReseedGeneration::Live { .. } => 1,
        _ => 0,
    };
    assert!((0..3).any(|_| wait(fork(set_up)) == Ending::Exited(0)), "one was taken at once");
    headwater::init_with(Config::new().mode(requested)).unwrap();
    let status = headwater::status();
    if matches!(status.reseed_generation, ReseedGeneration::Absent(_)) {
        return skip(test, status.reason);
    }
    let draw_a_page = || {
        let mut page = vec![0; status.pools.page_bytes as usize + 200];
        page.chunks_mut(100).for_each(|piece| headwater::fill(piece).unwrap());
    };
    for _ in 0..2 {
        let status = headwater::status();
        // Unless the kernel has reseeded by itself just now, as it does once a minute.
        if !matches!(status.reseed_generation, ReseedGeneration::Live { .. }) {
            assert!(
                matches!(status.reseed_generation, ReseedGeneration::Undecided { candidates: 2.. }),
                "{status:?}"
            );
            assert_ne!(status.mode, Mode::Buffered);
            assert_by_the_rules(&status);
            assert_eq!((status.generation, headwater::generation()), (None, None));
        }
        draw_a_page();
    }
    if !can_reseed(&format!("{test}, told apart")) {
        return;
    }
    draw_a_page();
    let status = headwater::status();
    assert_eq!((status.reseed_generation.name(), status.mode), ("live", Mode::Buffered));
    assert_by_the_rules(&status);
    // It is the kernel's, which moves.
    let before = kernels_word().load(SeqCst);
    assert!(reseed());
    assert!(kernels_word().load(SeqCst) > before);
    draw_everything();
    assert_eq!(headwater::status().mode, Mode::Buffered);
}

/// The kernel reseeds without a pause under eight threads. The right word survives, and 400,000
/// words are distinct (by chance two are equal: 4e-9).
#[test]
fn a_storm_of_reseeds() {
    let test = "a_storm_of_reseeds";
    isolated(test, || {
        if !set_up_buffered(test) || !can_reseed(test) {
            return;
        }
        bind(ALL_CPUS.get().unwrap());
        let before = kernels_word().load(SeqCst);
        let done = AtomicBool::new(false);
        let draw = || {
            let mut rng = Rng::new().unwrap();
            let mut words = Vec::new();
            for round in 0..25_000_usize {
                words.push(rng.next_u64());
                let mut bytes = [0; 64];
                let len = 8 + round % 57;
                headwater::fill(&mut bytes[..len]).unwrap();
                words.push(u64::from_ne_bytes(*bytes.first_chunk().unwrap()));
            }
            words
        };
        // Draws take nanoseconds, and the storm's thread may sleep through all of them: then once
        // more.
        for round in 0.. {
            assert!(round < 200, "no draw met a reseed: {:?}", headwater::status().counters);
            done.store(false, SeqCst);
            let words = std::thread::scope(|scope| {
                let threads = [(); 8].map(|()| scope.spawn(draw));
                let storm = scope.spawn(|| {
                    while !done.load(SeqCst) {
                        assert!(reseed());
                    }
                });
                let words = threads.map(|thread| thread.join().unwrap()).concat();
                done.store(true, SeqCst);
                storm.join().unwrap();
                words
            });
            assert_distinct(words, "eight threads in a storm of reseeds");
            let reseeds = kernels_word().load(SeqCst) - before;
            if reseeds > 100 && headwater::status().counters.discarded_bytes > 0 {
                break;
            }
        }
        let status = headwater::status();
        assert_eq!((status.reseed_generation.name(), status.mode), ("live", Mode::Buffered));
        let reseeds = kernels_word().load(SeqCst) - before;
        assert!(reseeds > 100, "{reseeds} reseeds");
        assert!(status.counters.discarded_bytes > 0, "{:?}", status.counters);
        assert_eq!(status.counters.tripwires, 0);
        draw_everything();
    });
}

/// Checks again if the kernel has reseeded by itself meanwhile, as it does once a minute.
fn undisturbed(mut check: impl FnMut() -> bool) -> bool {
    (0..100).any(|_| check())
}

#[test]
fn stamps_and_generation() {
    let test = "stamps_and_generation";
    isolated(test, || {
        if !set_up_buffered(test) {
            return;
        }
        let mut stamp = Stamp::new();
        assert_eq!(stamp.check(), Freshness::Stale, "a new stamp");
        assert!(undisturbed(|| stamp.check() == Freshness::Fresh));
        let copy = stamp;
        let generation = headwater::generation();
        assert!(generation.is_some());
        assert_eq!(headwater::status().generation.is_some(), generation.is_some());
        if !can_reseed(test) {
            return;
        }
        let (mut first, mut second) = (copy, copy);
        assert_eq!(first.check(), Freshness::Stale, "after a reseed");
        assert_eq!(second.check(), Freshness::Stale, "each copy by itself");
        assert!(undisturbed(|| first.check() == Freshness::Fresh));
        assert_ne!(headwater::generation(), generation);
        // The kernel may do this to the pages at any moment, and CRIU 4.2 does it to those of a
        // process that it restores. The second loss must not look like the first.
        for loss in 1..=3 {
            headwater::testing::drop_pages();
            assert_eq!(first.check(), Freshness::Stale, "loss {loss}");
            assert!(undisturbed(|| first.check() == Freshness::Fresh));
        }
        headwater::discard().unwrap();
        assert_eq!(first.check(), Freshness::Stale, "after a discard");
        assert!(undisturbed(|| first.check() == Freshness::Fresh));
        // A fork changes no generation of the kernel, and is detected all the same.
        let mut inherited = first;
        let child = fork(|| {
            let stale = inherited.check() == Freshness::Stale;
            i32::from(stale && undisturbed(|| inherited.check() == Freshness::Fresh))
        });
        assert_eq!(wait(child), Ending::Exited(1));
        assert!(undisturbed(|| first.check() == Freshness::Fresh), "the parent was not forked");
    });
}

/// A loss, a fork and a change of the mode meet, with pages of each kind. A child's loss is its
/// own; and a process that comes back from `quiesce` does not return to a number that it had.
#[test]
fn stamps_see_losses_around_forks_and_quiesce() {
    let test = "stamps_see_losses_around_forks_and_quiesce";
    for (pages, forced) in
        [("droppable", &[][..]), ("wiped", &[Force::NoDroppable]), ("locks", &[Force::NoSections])]
    {
        common::isolated_as(test, pages, &[("HEADWATER_MODE", "buffered")], || {
            force(forced);
            let mut stamp = Stamp::new();
            stamp.check();
            let is_quiet = |stamp: &mut Stamp| undisturbed(|| stamp.check() != Freshness::Stale);
            assert!(is_quiet(&mut stamp));
            headwater::testing::drop_pages();
            let child = fork(|| {
                // One event for the child: the loss before the fork and the fork itself.
                let first = stamp.check() == Freshness::Stale && is_quiet(&mut stamp);
                headwater::testing::drop_pages();
                let second = stamp.check() == Freshness::Stale && is_quiet(&mut stamp);
                draw_everything();
                i32::from(first && second && is_quiet(&mut stamp))
            });
            assert_eq!(wait(child), Ending::Exited(1), "{pages}");
            assert_eq!(stamp.check(), Freshness::Stale, "{pages}: the parent's own loss");
            assert!(is_quiet(&mut stamp), "{pages}: and not the child's");
            let before = stamp;
            headwater::quiesce().unwrap();
            assert_eq!(stamp.check(), Freshness::Stale, "{pages}: quiesced");
            headwater::init_with(Config::new()).unwrap();
            draw_everything();
            let mut old = before;
            assert_eq!(old.check(), Freshness::Stale, "{pages}: an old number came back");
        });
    }
}

#[test]
fn stamps_without_a_word() {
    isolated("stamps_without_a_word", || {
        force(&[Force::NoGeneration]);
        let mut stamp = Stamp::new();
        assert_eq!(stamp.check(), Freshness::Stale, "a new stamp");
        for _ in 0..3 {
            assert_eq!(stamp.check(), Freshness::Unknown);
        }
        assert_eq!(headwater::generation(), None);
        // A stamp still reports everything that can be seen without the kernel's generation.
        headwater::discard().unwrap();
        assert_eq!(stamp.check(), Freshness::Stale, "after a discard");
        assert_eq!(stamp.check(), Freshness::Unknown);
        let child = fork(|| i32::from(stamp.check() == Freshness::Stale));
        assert_eq!(wait(child), Ending::Exited(1), "in a child");
        assert_eq!(stamp.check(), Freshness::Unknown, "the parent was not forked");
        draw_everything();
    });
}

/// If no reseed generation is live, no page is served for more than a minute.
#[test]
fn pages_without_a_word_expire() {
    for (variant, facts) in [
        ("sections", &[Force::NoGeneration][..]),
        ("slots", &[Force::NoGeneration, Force::NoSections]),
        ("no vDSO", &[Force::NoVdso]),
    ] {
        common::isolated_as("pages_without_a_word_expire", variant, &[], || {
            force(facts);
            bind(&cpus()[..1]);
            headwater::init().unwrap();
            let status = headwater::status();
            if status.mode != Mode::Hedged {
                return skip("pages_without_a_word_expire", status.reason);
            }
            let refills = || headwater::status().counters.refills;
            let mut rng = Rng::new().unwrap();
            // The last is a large request, whose keys come from pages.
            for len in [8, 16, 100, 4096] {
                let mut buf = vec![0; len];
                let mut draw = |rng: &mut Rng| {
                    headwater::fill(&mut buf).unwrap();
                    rng.fill(&mut buf).unwrap();
                };
                draw(&mut rng);
                // A minute may end here by itself, but not four times.
                let stays = (0..4).any(|_| {
                    let before = refills();
                    (0..5).for_each(|_| draw(&mut rng));
                    refills() == before
                });
                assert!(stays, "{len}: nothing is buffered");
                let before = refills();
                headwater::testing::pass_seconds(61);
                draw(&mut rng);
                assert!(refills() >= before + 2, "{len}: a page was served after a minute");
            }
        });
    }
}
