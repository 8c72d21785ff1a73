//! The library as a whole, in few draws: what miri follows, access by access (`cargo xtask test`).
//!
//! There the kernel is `raw_miri`: memory of the allocator, one CPU, and no vDSO.
//! Natively the same tests run on the real one, less the vDSO, which shows that they are right.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::testing::{Force, drop_pages, inject_generation, set};
use headwater::{Config, Mode, Rng};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Barrier, mpsc};
use std::thread;
use support::machine::skip;
use support::statistics::assert_distinct;

/// Returns the number of repetitions; under miri, where a page takes a second, a part of them.
const fn rounds(natively: usize, under_miri: usize) -> usize {
    if cfg!(miri) { under_miri } else { natively }
}

const MODES: [Mode; 4] = [Mode::Buffered, Mode::Hedged, Mode::Strict, Mode::Kernel];

/// Stands for the kernel's reseed generation, which lies in the vDSO's data.
static WORD: AtomicU64 = AtomicU64::new(1);

/// Uses `mode`, but `strict` for `hedged` on a CPU that cannot hedge. (Miri's can if it is built as
/// if it had AES.) False then.
fn choose(mode: Mode) -> bool {
    set(Force::NoVdso, true);
    headwater::init_with(Config::new().mode(mode).vmclock(false)).unwrap();
    inject_generation(&WORD);
    let in_use = headwater::status().mode;
    assert!(
        in_use == mode || (mode, in_use) == (Mode::Hedged, Mode::Strict),
        "{in_use} for {mode}"
    );
    if in_use != mode {
        skip("mode hedged", "this CPU cannot hedge");
    }
    in_use == mode
}

/// Draws by `draw` between two margins that must stay as they are. The bytes are written whole: a
/// miri that saw one of them uninitialised would stop here.
fn draw_between_margins(len: usize, draw: &mut dyn FnMut(&mut [u8])) -> Vec<u8> {
    const MARGIN: usize = 17;
    let mut buffer = vec![0xA5; MARGIN + len + MARGIN];
    draw(&mut buffer[MARGIN..][..len]);
    assert_eq!(buffer[..MARGIN], [0xA5; MARGIN], "wrote before {len} bytes");
    assert_eq!(buffer[MARGIN + len..], [0xA5; MARGIN], "wrote after {len} bytes");
    buffer[MARGIN..][..len].to_vec()
}

/// Returns the whole words of the bytes that were drawn.
fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word))
}

/// Before any set-up: threads race for it, and draw from the same slots at once. (Under miri this
/// is true of the first test, and tests run by their names.)
#[test]
fn a_first_draw_of_three_threads() {
    isolated("a_first_draw_of_three_threads", || {
        let both = Barrier::new(3);
        let drawn: Vec<u64> = thread::scope(|scope| {
            let threads = [(); 3].map(|()| {
                scope.spawn(|| {
                    both.wait();
                    [headwater::u64().unwrap(), Rng::new().unwrap().next_u64()]
                })
            });
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert_distinct(drawn, "three first draws");
    });
}

#[test]
fn every_length_in_every_mode() {
    isolated("every_length_in_every_mode", || {
        for mode in MODES {
            choose(mode);
            let mut rng = Rng::new().unwrap();
            let mut drawn = Vec::new();
            // Every remainder of a word and of a block, and both sides of each boundary. Each
            // strict draw takes miri half a second, whatever its length.
            let lens: Vec<usize> = match cfg!(miri) && headwater::status().mode == Mode::Strict {
                true => vec![3, 8, 65, 1025],
                false => (1..=17).chain([24, 25, 31, 65, 1024, 1025]).collect(),
            };
            for len in lens {
                let fill = &mut |buf: &mut [u8]| headwater::fill(buf).unwrap();
                drawn.extend(words(&draw_between_margins(len, fill)));
                let fill = &mut |buf: &mut [u8]| rng.fill(buf).unwrap();
                drawn.extend(words(&draw_between_margins(len, fill)));
            }
            drawn.extend([headwater::u64().unwrap(), rng.next_u64()]);
            let halves = [headwater::u32().unwrap(), rng.next_u32()];
            drawn.push(u64::from(halves[0]) << 32 | u64::from(halves[1]));
            assert_distinct(drawn, mode.name());
        }
    });
}

/// A guard that moves, a page that was dropped, a checkpoint: each leaves no byte.
#[test]
fn guards_void_what_was_buffered() {
    isolated("guards_void_what_was_buffered", || {
        for mode in [Mode::Buffered, Mode::Hedged] {
            if !choose(mode) {
                continue;
            }
            let mut rng = Rng::new().unwrap();
            let mut drawn = Vec::new();
            let mut draw = |drawn: &mut Vec<u64>| {
                drawn.extend([headwater::u64().unwrap(), rng.next_u64()]);
                drawn.extend(words(&headwater::array::<40>().unwrap()));
            };
            for _ in 0..rounds(3, 1) {
                draw(&mut drawn);
                WORD.fetch_add(1, SeqCst);
                let before = headwater::status().counters.refills;
                draw(&mut drawn);
                assert!(headwater::status().counters.refills > before, "the word moved");
                drop_pages();
                let before = headwater::status().counters.refills;
                draw(&mut drawn);
                assert!(headwater::status().counters.refills > before, "pages were dropped");
                headwater::quiesce().unwrap();
                draw(&mut drawn);
                choose(mode);
            }
            draw(&mut drawn);
            assert_distinct(drawn, mode.name());
        }
    });
}

/// Three threads on one CPU: two of them find its slot taken now and then, and take another one.
#[test]
fn slots_go_from_thread_to_thread() {
    isolated("slots_go_from_thread_to_thread", || {
        // Two rounds are enough that each length is drawn by two threads.
        for mode in MODES {
            choose(mode);
            let draw = |round: usize| {
                let mut drawn = vec![headwater::u64().unwrap()];
                drawn.extend(words(&headwater::array::<16>().unwrap()));
                let mut bytes = [0; 1024];
                let len = [24, 100, 1024][round % 3];
                headwater::fill(&mut bytes[..len]).unwrap();
                drawn.extend(words(&bytes[..len]));
                drawn
            };
            let drawn = thread::scope(|scope| {
                let threads = [0, 1, 2].map(|at| {
                    scope
                        .spawn(move || (at..at + rounds(6, 2)).flat_map(draw).collect::<Vec<u64>>())
                });
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            assert_distinct(drawn, mode.name());
            assert_eq!(headwater::status().pools.taken, 0);
        }
    });
}

/// A handle is sent while bytes are left in its page, and a page goes from a handle that one thread
/// drops to one that another makes. Nothing orders those two but the registry.
#[test]
fn handles_go_from_thread_to_thread() {
    /// Handles that each thread makes.
    const HANDLES: usize = rounds(4, 2);
    isolated("handles_go_from_thread_to_thread", || {
        for mode in MODES {
            choose(mode);
            let (send, receive) = mpsc::channel::<Rng>();
            let draw = |rng: &mut Rng| {
                let mut bytes = [0; 56];
                rng.fill(&mut bytes).unwrap();
                [rng.next_u64(), words(&bytes).next().unwrap()]
            };
            let draw_from_new_ones = || -> Vec<u64> {
                (0..HANDLES).flat_map(|_| draw(&mut Rng::new().unwrap())).collect()
            };
            let drawn = thread::scope(|scope| {
                let receiver = scope
                    .spawn(|| receive.into_iter().flat_map(|mut rng| draw(&mut rng)).collect());
                let others = [(); 2].map(|()| scope.spawn(draw_from_new_ones));
                let mut drawn = Vec::new();
                for _ in 0..HANDLES {
                    let mut rng = Rng::new().unwrap();
                    drawn.extend(draw(&mut rng));
                    send.send(rng).unwrap();
                }
                drop(send);
                let received: Vec<u64> = receiver.join().unwrap();
                drawn.extend(received);
                drawn.extend(others.into_iter().flat_map(|thread| thread.join().unwrap()));
                drawn
            });
            assert_eq!(drawn.len(), 8 * HANDLES);
            assert_distinct(drawn, mode.name());
            assert_eq!(headwater::status().pools.handles, 0);
        }
    });
}

/// One thread changes the mode, and reads the status, while two draw.
#[test]
fn modes_change_under_draws() {
    isolated("modes_change_under_draws", || {
        choose(Mode::Buffered);
        let draw = || {
            let mut rng = Rng::new().unwrap();
            let draw = |_| [headwater::u64().unwrap(), rng.next_u64()];
            (0..rounds(8, 4)).flat_map(draw).collect::<Vec<u64>>()
        };
        let drawn = thread::scope(|scope| {
            let threads = [(); 2].map(|()| scope.spawn(draw));
            for mode in MODES {
                headwater::init_with(Config::new().mode(mode).vmclock(false)).unwrap();
                assert!(headwater::status().pools.handles <= 2);
            }
            threads.map(|thread| thread.join().unwrap()).concat()
        });
        assert_distinct(drawn, "two threads under changing modes");
    });
}

/// The functions on top of the draws: bounds, uninitialised buffers, identifiers, `rand`.
#[test]
fn what_is_built_on_draws() {
    use rand::{Rng as _, RngExt as _};
    isolated("what_is_built_on_draws", || {
        choose(Mode::Buffered);
        let mut rng = Rng::new().unwrap();
        for bound in [1, 2, 3, 1000, u32::MAX] {
            let bound = bound.try_into().unwrap();
            assert!(headwater::u32_below(bound).unwrap() < bound.get());
            assert!(rng.u64_below(bound.into()).unwrap() < u64::from(bound.get()));
        }
        let mut room = [std::mem::MaybeUninit::uninit(); 100];
        let filled = headwater::fill_uninit(&mut room).unwrap();
        assert_ne!(filled.iter().fold(0, |all, byte| all | byte), 0);
        let mut bytes = [0; 20];
        rng.fill_bytes(&mut bytes);
        assert!((1..7).contains(&rng.random_range(1..7)));
        assert_ne!((bytes, rng.next_u32()), ([0; 20], 0));
        let mut stamp = headwater::Stamp::new();
        assert!(format!("{:?}{:?}", stamp.check(), headwater::status()).len() > 100);
        #[cfg(feature = "uuid")]
        {
            use headwater::uuid::{v4, v7};
            assert!(v4().unwrap() != v4().unwrap() && v7().unwrap() != v7().unwrap());
        }
    });
}
