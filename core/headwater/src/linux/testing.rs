//! The facts that a test may force, and the places where it may step in (feature `testing`).

pub use crate::linux::failpoint::{Force, Point};

use crate::linux::failpoint;
use core::ffi::CStr;
use core::sync::atomic::AtomicU64;

/// Forces a fact of the machine; before the first draw of the process, but for the `Getrandom`,
/// `Urandom`, `Random` and `CpuRng` ones, which act at once.
pub fn set(fact: Force, on: bool) {
    failpoint::set_forced(fact, on);
}

/// Calls `hook` at every [`Point`], in the thread that gets there.
pub fn set_hook(hook: Option<fn(Point)>) {
    failpoint::set_hook(hook);
}

/// Calls `witness` with every key of 32 bytes as soon as it is derived, before it is used.
pub fn set_key_witness(witness: Option<fn(&[u8; 32])>) {
    failpoint::set_witness(witness);
}

/// Lets the clock by which pages age jump by these seconds.
pub fn pass_seconds(seconds: u64) {
    failpoint::pass(seconds);
}

/// Reads /sys, /proc and /dev/vmclock0 under this directory.
pub fn set_root(root: &'static CStr) {
    failpoint::set_root(root);
}

/// Uses `word` as the kernel's reseed generation.
pub fn inject_generation(word: &'static AtomicU64) {
    if let Some(process) = crate::linux::setup::published() {
        process.generation.inject(word);
        process.choose_mode();
    }
}

/// Returns the number of words of the CPU so far, under `Force::CpuRngKnown`. The one after `n`
/// others is `n + 1` times `0x9E37_79B9_7F4A_7C15`.
pub fn known_words() -> u64 {
    crate::linux::cpu::random::calls()
}

/// Takes the lock of this thread's first slot, and leaves it taken, as a killed thread would.
pub fn leak_a_slot() {
    if let Some(process) = crate::linux::setup::published() {
        core::mem::forget(crate::linux::pool::slot::Slot::take(process, process.epoch()));
    }
}

/// Takes the locks of all slots but those for a crowd, and leaves them taken.
pub fn leak_a_bank() {
    if let Some(process) = crate::linux::setup::published() {
        use crate::linux::pool::slot::Slot;
        let take = |index| core::mem::forget(Slot::take_at(process, process.epoch(), index));
        (0..process.memory.slots).for_each(take);
    }
}

/// Drops the contents of every page, as the kernel does under memory pressure.
pub fn drop_pages() {
    if let Some(process) = crate::linux::setup::published() {
        super::control::drop_contents(process).expect("dropping contents cannot fail");
    }
}

/// Chooses the mode anew, as a refill does if the reseed generation fails its verification.
pub fn choose_mode() {
    if let Some(process) = crate::linux::setup::published() {
        process.choose_mode();
    }
}

/// Returns the page that this CPU's shared draws come from: its own, or its slot's. Null before
/// set-up.
pub fn slot_page() -> *mut u8 {
    crate::linux::setup::published().map_or(core::ptr::null_mut(), |process| {
        if process.has_sections() {
            let cpu = process.cpu_hint.get();
            let page =
                process.sections.line(cpu).and_then(crate::linux::pool::section::CpuLine::page);
            let first = process.memory.first_page(process.epoch(), cpu);
            return page.map_or(first, core::ptr::NonNull::as_ptr);
        }
        let slot = crate::linux::pool::slot::Slot::take_first(process, process.epoch());
        slot.map_or(core::ptr::null_mut(), |slot| slot.page_ref().page)
    })
}

/// Returns the page of the first handle; null before set-up.
pub fn handle_page() -> *mut u8 {
    crate::linux::setup::published()
        .map_or(core::ptr::null_mut(), |process| process.handles.first_page())
}
