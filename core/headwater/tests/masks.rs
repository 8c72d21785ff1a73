//! Each draw of mode `hedged` is the page's bytes XORed with the mask of two new words of the CPU,
//! by the page's hedge key: at every length, in sections, under locks and from a handle.
//!
//! The words are known here, so the oracle is the reference's mask over a copy of the page that was
//! made before the draw. Without this test a draw could leave without its mask, and nothing would
//! show it but a clone.
#![cfg(all(target_os = "linux", reference))]

mod common;
mod support;

use common::isolated;
use headwater::testing::{Force, handle_page, known_words, set, slot_page};
use headwater::{Config, Mode, Path, Rng};
use support::machine::{bind, cpus};

const PAGE: usize = 4096;
/// The places of the expanded key and of the stream in a page.
const KEYS: usize = 256;
const STREAM: usize = 512;

fn content(page: *mut u8) -> [u8; PAGE] {
    // SAFETY: a page of the pools, which stays mapped; no draw uses it now.
    std::array::from_fn(|at| unsafe { page.add(at).read_volatile() })
}

/// Returns the word that comes after `n` others.
fn word(n: u64) -> u64 {
    (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Prepares draws of mode `hedged` with known words; false if this machine has none.
fn set_up(facts: &[Force]) -> bool {
    bind(&cpus()[..1]);
    for &fact in facts {
        set(fact, true);
    }
    // No minute may pass between the copy of a page and the draw.
    set(Force::ClockStands, true);
    headwater::init_with(Config::new().mode(Mode::Hedged)).unwrap();
    if headwater::status().mode != Mode::Hedged {
        println!("skipped: no mode hedged here, so that its masks are not compared");
        return false;
    }
    set(Force::CpuRngKnown, true);
    true
}

/// Draws once from a page, and compares. Returns false if the page was filled meanwhile.
fn is_masked(page: impl Fn() -> *mut u8, len: usize, draw: &mut dyn FnMut(&mut [u8])) -> bool {
    let (mut out, at) = ([0; 1024], page());
    let (before, words) = (content(at), known_words());
    draw(&mut out[..len]);
    let after = content(at);
    if page() != at || before[..8] != after[..8] {
        return false;
    }
    assert_eq!(known_words(), words + 2, "two words for {len} bytes");
    let key: [u8; 32] = before[KEYS..][..32].try_into().unwrap();
    assert!(key != [0; 32], "the page has no hedge key");
    let mask = reference::hedge(&key, word(words), word(words + 1), len);
    // Taken bytes are erased, in whole words.
    let taken =
        (STREAM..PAGE).step_by(8).find(|&at| before[at..][..8] != after[at..][..8]).unwrap();
    let bytes = before[taken..][..len].iter().zip(&mask).map(|(byte, mask)| byte ^ mask);
    assert!(bytes.eq(out[..len].iter().copied()), "{len} bytes");
    true
}

/// Draws at every length, and returns how many draws were compared.
fn compare(page: impl Fn() -> *mut u8, draw: &mut dyn FnMut(&mut [u8])) -> usize {
    (1..=1024).chain((1..=64).cycle().take(2000)).filter(|&len| is_masked(&page, len, draw)).count()
}

fn fill(out: &mut [u8]) {
    headwater::fill(out).unwrap();
}

/// Draws 8 and 16 bytes by the other functions.
fn typed(out: &mut [u8]) {
    match out.len() {
        8 => out.copy_from_slice(&headwater::u64().unwrap().to_ne_bytes()),
        4 => out.copy_from_slice(&headwater::u32().unwrap().to_ne_bytes()),
        16 => out.copy_from_slice(&headwater::array::<16>().unwrap()),
        _ => fill(out),
    }
}

macro_rules! masked {
    ($($name:ident: $facts:expr, $is_section:expr;)*) => {$(
        #[test]
        fn $name() {
            isolated(stringify!($name), || {
                if !set_up($facts) {
                    return;
                }
                if $is_section && headwater::status().path != Path::Sections {
                    println!("skipped: no sections here, so that their masks are not compared");
                    return;
                }
                // A draw, so that there is a page.
                headwater::u64().unwrap();
                let compared = compare(slot_page, &mut fill) + compare(slot_page, &mut typed);
                assert!(compared > 4000, "{compared} draws were compared");
                let mut rng = Rng::new().unwrap();
                rng.next_u64();
                let compared = compare(handle_page, &mut |out| rng.fill(out).unwrap());
                assert!(compared > 2000, "{compared} draws of a handle were compared");
            });
        }
    )*};
}

masked! {
    in_sections: &[], true;
    under_locks: &[Force::NoSections], false;
    under_locks_without_rseq: &[Force::NoRseq], false;
    in_sections_without_a_generation: &[Force::NoGeneration], true;
    with_aes_alone: &[Force::NoVaes], true;
}

/// Changes to `hedged` and draws. A page of another mode has no key for masks, so the first draw
/// after the change fills a new one.
fn a_change_fills_a_new_page(facts: &[Force]) {
    bind(&cpus()[..1]);
    facts.iter().for_each(|&fact| set(fact, true));
    set(Force::VmgenidBound, true);
    headwater::init_with(Config::new().mode(Mode::Buffered)).unwrap();
    if headwater::status().mode != Mode::Buffered {
        println!("skipped: no mode buffered here, from which to change");
        return;
    }
    for len in [1, 8, 9, 16, 17, 1000] {
        headwater::init_with(Config::new().mode(Mode::Buffered)).unwrap();
        headwater::discard().unwrap();
        headwater::u64().unwrap();
        headwater::init_with(Config::new().mode(Mode::Hedged)).unwrap();
        let refills = headwater::status().counters.refills;
        fill(&mut vec![0; len]);
        let refills = headwater::status().counters.refills - refills;
        assert_eq!(refills, 1, "{len} bytes");
        assert_eq!(headwater::status().pools.taken, 0, "{len} bytes took a slot for good");
    }
}

#[test]
fn a_change_to_hedged_fills_a_new_page() {
    isolated("a_change_to_hedged_fills_a_new_page", || a_change_fills_a_new_page(&[]));
}

#[test]
fn a_change_to_hedged_fills_a_new_page_of_a_slot() {
    isolated("a_change_to_hedged_fills_a_new_page_of_a_slot", || {
        a_change_fills_a_new_page(&[Force::NoSections]);
    });
}

/// Searches for copies on the dead stack. In other builds they pass through the compiler's
/// registers, so that nothing is promised of them.
#[cfg(all(target_arch = "x86_64", not(any(miri, sanitized))))]
mod stack {
    use super::*;
    use headwater::testing::{Point, drop_pages, set_hook};
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

    /// A word of the page, inverted, so that the search does not find itself.
    static SOUGHT: AtomicU64 = AtomicU64::new(0);
    static IS_VOID: AtomicBool = AtomicBool::new(false);
    static IS_FOUND: AtomicBool = AtomicBool::new(false);

    /// Drops the pages when a draw has copied its bytes, and looks for them in the frames around
    /// this one where the next attempt begins.
    fn void_and_look(point: Point) {
        let mut here = 0u64;
        let here = std::hint::black_box(&raw mut here);
        if point == Point::Copied && !IS_VOID.swap(true, SeqCst) {
            drop_pages();
        } else if point == Point::EpochLoaded && IS_VOID.load(SeqCst) {
            let is_here = |at: isize| {
                // SAFETY: within this thread's stack, which has more than this on both sides.
                let word = unsafe { here.wrapping_offset(at).read_volatile() };
                !word == SOUGHT.load(SeqCst)
            };
            IS_FOUND.fetch_or((-128..256).any(is_here), SeqCst);
        }
    }

    /// Notes the next word of the page, and clears the stack below, which may hold copies of it.
    #[inline(never)]
    fn seek_next_word() {
        let inverted = |at: usize| -> u64 {
            // SAFETY: a word of a page of the pools, which stays mapped; no draw uses it now.
            !unsafe { slot_page().add(at).cast::<u64>().read_volatile() }
        };
        let first = (STREAM + 32..PAGE).step_by(8).find(|&at| inverted(at) != !0);
        SOUGHT.store(inverted(first.unwrap()), SeqCst);
        std::hint::black_box(&mut [0u64; 512]);
    }

    /// Voids draws of 9 to 15 bytes, which are copied to a block first, and never masked there.
    fn void_bytes_leave_the_stack(facts: &[Force]) {
        if !set_up(facts) {
            return;
        }
        for len in [9, 12, 15] {
            headwater::discard().unwrap();
            headwater::u64().unwrap();
            seek_next_word();
            IS_VOID.store(false, SeqCst);
            set_hook(Some(void_and_look));
            fill(&mut [0; 15][..len]);
            set_hook(None);
            assert!(IS_VOID.load(SeqCst));
            assert!(!IS_FOUND.load(SeqCst), "{len} bytes stayed");
        }
    }

    #[test]
    fn void_bytes_leave_the_stack_of_a_hot_path() {
        isolated("stack::void_bytes_leave_the_stack_of_a_hot_path", || {
            void_bytes_leave_the_stack(&[Force::NoSections]);
        });
    }

    #[test]
    fn void_bytes_leave_the_stack_of_a_cold_path() {
        isolated("stack::void_bytes_leave_the_stack_of_a_cold_path", || {
            void_bytes_leave_the_stack(&[Force::NoRseq]);
        });
    }

    /// Copies what lies below the caller's frame. By itself, because a call would write over it.
    #[inline(never)]
    fn below(left: &mut [u64; 512]) {
        let mut here = 0u64;
        // The compiler must not know that this leads out of the variable.
        let here = std::hint::black_box(&raw mut here);
        for (at, left) in (1..).zip(left) {
            // SAFETY: within this thread's stack, which has more than this below.
            *left = unsafe { here.wrapping_sub(at).read_volatile() };
        }
    }

    /// Searches for the masks of a longer draw's last blocks, which are made in an array. With them
    /// the owner of a clone would know what was served.
    fn masks_leave_the_stack(facts: &[Force]) {
        if !set_up(facts) {
            return;
        }
        for len in [17, 24, 40, 63, 100, 1000] {
            headwater::discard().unwrap();
            headwater::u64().unwrap();
            let key: [u8; 32] = content(slot_page())[KEYS..][..32].try_into().unwrap();
            let (words, mut out, mut left) = (known_words(), vec![0; len], Box::new([0; 512]));
            fill(&mut out);
            below(&mut left);
            let mask = reference::hedge(&key, word(words), word(words + 1), len);
            let on_stack = |mask: &[u8; 8]| left.contains(&u64::from_ne_bytes(*mask));
            assert!(!mask.as_chunks().0.iter().any(on_stack), "a mask of {len} bytes stayed");
        }
    }

    #[test]
    fn masks_leave_the_stack_in_sections() {
        isolated("stack::masks_leave_the_stack_in_sections", || masks_leave_the_stack(&[]));
    }

    #[test]
    fn masks_leave_the_stack_under_locks() {
        isolated("stack::masks_leave_the_stack_under_locks", || {
            masks_leave_the_stack(&[Force::NoSections]);
        });
    }
}
