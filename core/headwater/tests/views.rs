//! While the kernel drops a page, two CPUs can see two pages at its address. Here one CPU sees the
//! old page, and the new one from the middle of a draw on: what the old page held may not leave.
//!
//! The kernel's part is played by copying pages, at the moment at which the other CPU's translation
//! would be flushed: the real window is a few nanoseconds wide.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::testing::{Force, Point, drop_pages, handle_page, set, set_hook, slot_page};
use headwater::{Config, Mode, Rng};
use std::sync::Mutex;
use support::machine::{bind, cpus};

const PAGE: usize = 4096;
type Content = [u8; PAGE];

/// The change of the page at this address after the draw has copied its bytes.
static FLUSH: Mutex<Option<(usize, Content)>> = Mutex::new(None);

fn content(page: *mut u8) -> Content {
    // Byte by byte: the compiler takes 30 s for one volatile read of an array this long.
    // SAFETY: a page of the pools, which stays mapped; no draw uses it now.
    std::array::from_fn(|at| unsafe { page.add(at).read_volatile() })
}

fn put(page: *mut u8, content: Content) {
    for (at, byte) in content.into_iter().enumerate() {
        // SAFETY: the page stays mapped, and no draw uses it now. Whatever a page holds is checked
        // before it is believed, so any content may be written.
        unsafe { page.add(at).write_volatile(byte) };
    }
}

fn flush(point: Point) {
    if point == Point::Copied
        && let Some((page, new)) = FLUSH.lock().unwrap().take()
    {
        put(page as *mut u8, new);
    }
}

/// Shows `old` to this CPU at `page` from here on, until the next draw has copied its bytes.
fn see_old_page(page: *mut u8, old: Content) {
    *FLUSH.lock().unwrap() = Some((page as usize, content(page)));
    put(page, old);
}

/// Returns whether `word` stands anywhere in `page`. A random one does so with probability 2^-52.
fn holds(page: &Content, word: u64) -> bool {
    page.windows(8).any(|window| window == word.to_ne_bytes())
}

fn set_up(mode: Mode) -> bool {
    // One CPU, so that draws one after the other meet the same slot, by the quick path.
    bind(&cpus()[..1]);
    set(Force::VmgenidBound, true);
    // The second view is seen by hooks, which only draws under a lock have.
    set(Force::NoSections, true);
    headwater::init_with(Config::new().mode(mode)).unwrap();
    set_hook(Some(flush));
    let in_use = headwater::status().mode == mode;
    if !in_use {
        println!("skipped: {mode} cannot be used here, its draws are not seen under two views");
    }
    in_use
}

/// Returns the slot's page as it was after `before` words and before the kernel dropped it. The
/// page was filled again since, and `after` words were drawn.
fn an_old_page(page: *mut u8, before: usize, after: usize) -> Content {
    let draw = |words| {
        (0..words).for_each(|_| {
            headwater::u64().unwrap();
        });
    };
    drop_pages();
    draw(before);
    let old = content(page);
    drop_pages();
    draw(after);
    old
}

#[test]
fn a_small_draw_does_not_serve_the_old_page() {
    isolated("a_small_draw_does_not_serve_the_old_page", || {
        if !set_up(Mode::Buffered) {
            return;
        }
        headwater::u64().unwrap();
        let page = slot_page();
        // In the second case the old page's next bytes have been served and erased.
        for (before, after) in [(1, 11), (21, 20)] {
            let old = an_old_page(page, before, after);
            let retries = headwater::status().counters.retries;
            see_old_page(page, old);
            let word = headwater::u64().unwrap();
            assert!(word != 0 && !holds(&old, word), "{word:#x} is the old page's");
            assert!(headwater::status().counters.retries > retries, "nothing was noticed");
        }
    });
}

#[test]
fn a_longer_draw_does_not_serve_the_old_page() {
    isolated("a_longer_draw_does_not_serve_the_old_page", || {
        if !set_up(Mode::Buffered) {
            return;
        }
        headwater::u64().unwrap();
        let page = slot_page();
        let old = an_old_page(page, 1, 11);
        see_old_page(page, old);
        let bytes: [u8; 48] = headwater::array().unwrap();
        for word in bytes.chunks_exact(8) {
            assert!(!holds(&old, u64::from_ne_bytes(word.try_into().unwrap())));
        }
    });
}

#[test]
fn a_hedged_draw_does_not_serve_the_old_page() {
    isolated("a_hedged_draw_does_not_serve_the_old_page", || {
        if !set_up(Mode::Hedged) {
            return;
        }
        headwater::u64().unwrap();
        let page = slot_page();
        let old = an_old_page(page, 1, 11);
        let refills = headwater::status().counters.refills;
        see_old_page(page, old);
        // The bytes that leave are masked, so that only the refill shows that the old page was
        // refused.
        assert_ne!(headwater::u64().unwrap(), 0);
        assert!(headwater::status().counters.refills > refills, "nothing was noticed");
    });
}

#[test]
fn a_handle_does_not_serve_its_predecessor() {
    isolated("a_handle_does_not_serve_its_predecessor", || {
        if !set_up(Mode::Buffered) {
            return;
        }
        let page = handle_page();
        let mut first = Rng::new().unwrap();
        first.next_u64();
        let old = content(page);
        drop(first);
        drop_pages();
        let mut second = Rng::new().unwrap();
        second.next_u64();
        assert_ne!(old[..8], content(page)[..8], "two owners, one number");
        see_old_page(page, old);
        assert!(!holds(&old, second.next_u64()));
        see_old_page(page, old);
        let mut bytes = [0; 48];
        second.fill(&mut bytes).unwrap();
        for word in bytes.chunks_exact(8) {
            assert!(!holds(&old, u64::from_ne_bytes(word.try_into().unwrap())));
        }
    });
}
