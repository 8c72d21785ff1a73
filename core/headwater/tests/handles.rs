//! Owned handles, slots that are lost, pages that are dropped, and what all of it takes of memory.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::{in_every_mode, isolated};
use headwater::testing::{Force, drop_pages, handle_page, leak_a_slot};
use headwater::{Config, Mode, Page, Rng};
use std::collections::HashSet;
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use support::draws::{Seen, draw_everything};
use support::machine::{bind, cpus, skip};
use support::memory::anonymous_kib;
use support::rules::force;
use support::statistics::assert_distinct;

/// `Rng` is `Send`, and not `Sync`: if it were, `None` below could be inferred in two ways, and
/// this file would not compile.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Rng>();

    trait SyncInTwoWays<Way> {
        fn ambiguous() {}
    }
    struct IfSync;
    impl<T: ?Sized> SyncInTwoWays<()> for T {}
    impl<T: ?Sized + Sync> SyncInTwoWays<IfSync> for T {}
    <Rng as SyncInTwoWays<_>>::ambiguous();
};

/// Nothing of a page is left when its handle is gone: no unserved byte, no state, no key.
#[test]
fn a_dropped_handle_leaves_an_empty_page() {
    in_every_mode("a_dropped_handle_leaves_an_empty_page", |mode| {
        headwater::init().unwrap();
        let page = handle_page();
        // Byte by byte: one volatile read of an array this long takes seconds to compile.
        // SAFETY: a page of headwater's, which nothing writes meanwhile.
        let byte = |at| unsafe { page.add(at).read_volatile() };
        let filled = || (0..4096).filter(|&at| byte(at) != 0).count();
        // Each of them takes the first page.
        for round in 0..3 {
            let mut rng = Rng::new().unwrap();
            rng.fill(&mut [0; 100]).unwrap();
            if !page.is_null() {
                let paged = matches!(mode, Mode::Buffered | Mode::Hedged);
                assert_eq!(filled() > 3_000, paged, "{mode}, round {round}");
                drop(rng);
                assert_eq!(filled(), 0, "{mode}, round {round}");
            }
        }
    });
}

#[test]
fn a_thousand_handles_at_once() {
    isolated("a_thousand_handles_at_once", || {
        for mode in [Mode::Auto, Mode::Hedged, Mode::Strict, Mode::Kernel] {
            headwater::init_with(Config::new().mode(mode)).unwrap();
            let mut handles = Vec::from_iter((0..1000).map(|_| Rng::new().unwrap()));
            assert_eq!(headwater::status().pools.handles, 1000);
            let mut words = Vec::new();
            // Word by word, then two by two: handles that shared a page would meet what is erased.
            for _ in 0..4 {
                words.extend(handles.iter_mut().map(Rng::next_u64));
            }
            for at in 0..3000 {
                let mut block = [0; 16];
                handles[at % 1000].fill(&mut block).unwrap();
                words.extend(block.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)));
            }
            // 10,000 words: 3e-12.
            assert_distinct(words, mode.name());
            handles.truncate(10);
            assert_eq!(headwater::status().pools.handles, 10);
        }
        assert_eq!(headwater::status().pools.handles, 0);
        assert_eq!(headwater::status().counters.tripwires, 0);
    });
}

/// A page goes from handle to handle; what it held does not.
#[test]
fn dropped_and_made_again() {
    isolated("dropped_and_made_again", || {
        let mut words = Vec::new();
        for _ in 0..10_000 {
            let mut rng = Rng::new().unwrap();
            words.push(rng.next_u64());
            words.push(rng.next_u64());
        }
        assert_distinct(words, "10,000 handles one after the other"); // 1e-11
        let status = headwater::status();
        assert_eq!((status.pools.handles, status.counters.tripwires), (0, 0));
        // Forgotten ones cost their page and nothing else.
        std::mem::forget(Rng::new().unwrap());
        assert_eq!(headwater::status().pools.handles, 1);
        assert_eq!(format!("{:?}", Rng::new().unwrap()), "Rng { .. }");
    });
}

/// More handles than there are pages for: the slots serve the rest.
#[test]
fn more_handles_than_pages() {
    isolated("more_handles_than_pages", || {
        const PAGES: usize = 64 * 256;
        if headwater::status().page == Page::None {
            return skip("more_handles_than_pages", headwater::status().reason);
        }
        let mut handles = Vec::from_iter((0..PAGES + 100).map(|_| Rng::new().unwrap()));
        assert_eq!(headwater::status().pools.handles as usize, PAGES);
        let last = &mut handles[PAGES - 100..];
        let words = last.iter_mut().flat_map(|rng| [rng.next_u64(), rng.next_u64()]);
        assert_distinct(words.collect(), "handles with and without a page");
        drop(handles);
        assert_eq!(headwater::status().pools.handles, 0);
    });
}

#[test]
fn moved_between_threads() {
    isolated("moved_between_threads", || {
        let mut rng = Rng::new().unwrap();
        let mut words = Vec::new();
        for _ in 0..100 {
            (rng, words) = thread::spawn(move || {
                words.extend((0..100).map(|_| rng.next_u64()));
                (rng, words)
            })
            .join()
            .unwrap();
            words.extend((0..100).map(|_| rng.next_u64()));
        }
        assert_distinct(words, "one handle in 101 threads"); // 1e-11
        let handles: Vec<Rng> =
            (0..8).map(|_| thread::spawn(Rng::new).join().unwrap().unwrap()).collect();
        let threads = handles.into_iter().map(|mut rng| {
            thread::spawn(move || Vec::from_iter((0..20_000).map(|_| rng.next_u64())))
        });
        let words = Vec::from_iter(threads).into_iter().flat_map(|thread| thread.join().unwrap());
        assert_distinct(words.collect(), "handles made in other threads"); // 7e-10
    });
}

/// The handle as a generator of the `rand` crate.
#[cfg(feature = "rand_core")]
#[test]
fn as_a_generator_of_rand() {
    use rand::RngExt;
    use rand::distr::StandardUniform;
    use rand::seq::SliceRandom;
    use support::statistics::{assert_balanced, chi_square};

    fn is_secure<R: rand_core::CryptoRng>(_: &R) {}

    isolated("as_a_generator_of_rand", || {
        let mut rng = Rng::new().unwrap();
        is_secure(&rng);
        let mut counts = [0; 10];
        for _ in 0..100_000 {
            counts[rng.random_range(0..10_usize)] += 1;
        }
        // 9 degrees of freedom: above 60.66 with probability 1e-9.
        let statistic = chi_square(&counts);
        assert!(statistic < 60.66, "random_range: {statistic:.1}");

        // All 6 orders of 3 things alike: 5 degrees of freedom, above 51 with probability below
        // 1e-9.
        let mut orders = std::collections::HashMap::new();
        for _ in 0..60_000 {
            let mut things = [0_u8, 1, 2];
            things.shuffle(&mut rng);
            *orders.entry(things).or_insert(0) += 1;
        }
        assert_eq!(orders.len(), 6);
        let statistic = chi_square(&Vec::from_iter(orders.into_values()));
        assert!(statistic < 51.0, "shuffle: {statistic:.1}");

        let words = (&mut rng).sample_iter(StandardUniform).take(10_000);
        assert_distinct(words.collect(), "StandardUniform"); // 3e-12
        let unit: f64 = rng.random();
        assert!((0.0..1.0).contains(&unit));
        let mut bytes = vec![0; 1 << 16];
        rng.fill(&mut bytes).unwrap();
        assert_balanced(&bytes, "fill");
        rand_core::Rng::fill_bytes(&mut rng, &mut bytes);
        assert_balanced(&bytes, "fill_bytes");
    });
}

/// Every slot is lost, as killed threads lose them: each draw falls back, visibly.
#[test]
fn every_slot_is_lost() {
    for facts in [&[][..], &[Force::OneCpu]] {
        let variant = if facts.is_empty() { "each CPU's" } else { "of one CPU" };
        common::isolated_as("every_slot_is_lost", variant, &[], || {
            force(facts);
            // Draws in sections need slots for their refills alone.
            force(&[Force::NoSections]);
            headwater::init().unwrap();
            let status = headwater::status();
            if !matches!(status.mode, Mode::Buffered | Mode::Hedged) {
                return skip("every_slot_is_lost", status.reason);
            }
            let cpus = cpus();
            for cpu in cpus.chunks(1) {
                bind(cpu);
                // This CPU's, and those that all share; more calls find nothing to take.
                (0..status.pools.slots + 2).for_each(|_| leak_a_slot());
            }
            let before = headwater::status().counters;
            let mut words = Vec::new();
            for cpu in cpus.chunks(1) {
                bind(cpu);
                for _ in 0..100 {
                    words.push(headwater::u64().unwrap());
                    let mut bytes = [0; 200];
                    headwater::fill(&mut bytes).unwrap();
                    words.push(u64::from_ne_bytes(*bytes.first_chunk().unwrap()));
                }
            }
            let after = headwater::status().counters;
            let draws = words.len() as u64;
            assert_eq!(after.fallbacks - before.fallbacks, draws);
            assert!(after.busy - before.busy >= draws);
            assert_distinct(words, "without slots");
            draw_everything();
            // Handles have pages of their own.
            let before = headwater::status().counters.fallbacks;
            let mut rng = Rng::new().unwrap();
            (0..1000).for_each(|_| drop(black_box([rng.next_u64()].to_vec())));
            assert_eq!(headwater::status().counters.fallbacks, before);
            // Strict mode takes its kernel half from the system call then.
            headwater::init_with(Config::new().mode(Mode::Strict)).unwrap();
            draw_everything();
        });
    }
}

macro_rules! drops {
    ($($name:ident: $mode:expr, [$($fact:ident),*];)*) => {$(
        #[test]
        fn $name() {
            isolated(stringify!($name), || {
                force(&[$(Force::$fact),*]);
                pages_are_dropped(stringify!($name), $mode);
            });
        }
    )*};
}

drops! {
    pages_dropped_in_buffered: Mode::Buffered, [VmgenidBound];
    pages_dropped_in_hedged: Mode::Hedged, [];
    pages_dropped_in_strict: Mode::Strict, [];
    pages_dropped_that_are_not_droppable: Mode::Hedged, [NoDroppable];
}

/// Drops all pages as the kernel does, between draws and during them. Checks that no draw repeats
/// bytes.
fn pages_are_dropped(test: &str, mode: Mode) {
    headwater::init_with(Config::new().mode(mode)).unwrap();
    if headwater::status().mode != mode {
        return skip(test, headwater::status().reason);
    }
    let mut rng = Rng::new().unwrap();
    let mut seen = Seen::default();
    for round in 0..2000_usize {
        let mut bytes = [0; 64];
        let len = 8 + round % 57;
        for draw in
            [&mut headwater::fill as &mut dyn FnMut(&mut [u8]) -> _, &mut |buf| rng.fill(buf)]
        {
            draw(&mut bytes[..len]).unwrap();
            seen.take(&bytes[..len]);
        }
        if round % 3 == 0 {
            drop_pages();
        }
    }
    seen.assert_no_repeats();
    let counters = headwater::status().counters;
    if mode != Mode::Strict {
        assert!(counters.refills > 600 && counters.discarded_bytes > 0, "{counters:?}");
    }
    // The page's number showed it each time, before the zeros had to.
    assert_eq!(counters.tripwires, 0);

    let (done, drops) = (AtomicBool::new(false), AtomicU64::new(0));
    let draw = || {
        let mut rng = Rng::new().unwrap();
        let mut seen = Seen::default();
        let mut round = 0_usize;
        // Until the pages went away often enough in the middle of it all.
        while round < 20_000 || drops.load(SeqCst) < 2_000 {
            let mut bytes = [0; 300];
            let len = 8 + round * 7 % 290;
            headwater::fill(&mut bytes[..len]).unwrap();
            if round < 20_000 {
                seen.take(&bytes[..len]);
            }
            rng.fill(&mut bytes[..len]).unwrap();
            if round < 20_000 {
                seen.take(&bytes[..len]);
            }
            let word = [headwater::u64().unwrap(), rng.next_u64()];
            assert!(word[0] != 0 && word[1] != 0); // 2^-64 each, a million of them: 5e-14
            round += 1;
        }
        seen
    };
    thread::scope(|scope| {
        let threads = [(); 2].map(|()| scope.spawn(draw));
        let dropper = scope.spawn(|| {
            while !done.load(SeqCst) {
                drop_pages();
                drops.fetch_add(1, SeqCst);
            }
        });
        let seen = threads.map(|thread| thread.join().unwrap());
        done.store(true, SeqCst);
        dropper.join().unwrap();
        let mut all = Seen::default();
        seen.into_iter().for_each(|one| all.absorb(one));
        all.assert_no_repeats();
    });
    draw_everything();
}

/// Makes resident what a draw needs of the stack, so that it is not counted as headwater's.
#[inline(never)]
fn touch_stack() {
    black_box([0_u8; 24 << 10]);
}

/// Returns the growth of anonymous memory of the process, in KiB, while this many living threads
/// run `body`.
fn growth_with_threads(count: usize, body: fn()) -> u64 {
    let step = Barrier::new(count + 1);
    thread::scope(|scope| {
        for _ in 0..count {
            let builder = thread::Builder::new().stack_size(64 << 10);
            let thread = builder.spawn_scoped(scope, || {
                touch_stack();
                step.wait(); // measured
                step.wait();
                body();
                step.wait(); // measured again
                step.wait();
            });
            thread.unwrap();
        }
        step.wait();
        let before = anonymous_kib();
        step.wait();
        step.wait();
        let after = anonymous_kib();
        step.wait();
        after.saturating_sub(before)
    })
}

fn draw_a_little() {
    for len in [8, 16, 100, 2000] {
        let mut bytes = [0; 2000];
        headwater::fill(&mut bytes[..len]).unwrap();
        black_box(bytes);
    }
}

/// Memory grows with the slots that are used, and not with the threads that draw.
#[test]
fn memory_is_bounded() {
    isolated("memory_is_bounded", || {
        const THREADS: usize = 1000;
        touch_stack();
        // The memory for reading /proc is resident before.
        anonymous_kib();
        let start = anonymous_kib();
        headwater::init().unwrap();
        draw_a_little();
        let used = u64::from(headwater::status().pools.used);
        let first = anonymous_kib().saturating_sub(start);
        assert!(first <= 4 * used + 64, "{first} KiB for the first draw, {used} slots");

        // The memory for waiting at a barrier, and the memory for drawing on top.
        let idle = growth_with_threads(THREADS, || ());
        let drawing = growth_with_threads(THREADS, draw_a_little);
        let more = u64::from(headwater::status().pools.used) - used;
        let growth = drawing.saturating_sub(idle);
        assert!(growth <= 4 * more + 64, "{growth} KiB for {THREADS} threads, {more} more slots");
        println!("first draw: {first} KiB; {THREADS} threads: {growth} KiB, {more} more slots");
    });
}

/// A handle's page is its own, and all that it takes.
#[test]
fn memory_of_handles() {
    isolated("memory_of_handles", || {
        headwater::init().unwrap();
        draw_a_little();
        let mut handles = Vec::with_capacity(640);
        anonymous_kib();
        let start = anonymous_kib();
        handles.extend((0..640).map(|_| Rng::new().unwrap()));
        let words = handles.iter_mut().map(Rng::next_u64);
        let distinct = words.collect::<HashSet<_>>().len();
        assert_eq!(distinct, 640); // 1e-14
        let growth = anonymous_kib().saturating_sub(start);
        // 64 KiB for the set above and page tables' rounding.
        assert!(growth <= 4 * 640 + 64, "{growth} KiB for 640 handles");
    });
}
