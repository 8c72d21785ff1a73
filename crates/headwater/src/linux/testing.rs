//! What a test may force, and where it may step in. Only with the feature `testing`.

pub use super::force::{Force, Point};

use super::force;
use core::ffi::CStr;
use core::sync::atomic::AtomicU64;

/// Forces a fact of the machine; before the first draw of the process, but for the `Getrandom`, `Urandom`,
/// `Random` and `CpuRng` ones, which act at once.
pub fn set(fact: Force, on: bool) {
    force::set_forced(fact, on);
}

/// Calls `hook` at every [`Point`], in the thread that gets there.
pub fn set_hook(hook: Option<fn(Point)>) {
    force::set_hook(hook);
}

/// Calls `witness` with every key of 32 bytes as soon as it is derived, before it is used.
pub fn set_key_witness(witness: Option<fn(&[u8; 32])>) {
    force::set_witness(witness);
}

/// Lets the clock by which pages age jump by these seconds.
pub fn pass_seconds(seconds: u64) {
    force::pass(seconds);
}

/// Reads /sys, /proc and /dev/vmclock0 under this folder.
pub fn set_root(root: &'static CStr) {
    force::set_root(root);
}

/// Takes `word` for the kernel's.
pub fn inject_generation(word: &'static AtomicU64) {
    if let Some(arena) = super::setup::published() {
        arena.generation.inject(word);
        arena.choose_mode();
    }
}

/// The lock of this thread's first slot, taken as a killed thread would leave it.
pub fn leak_a_slot() {
    if let Some(arena) = super::setup::published() {
        core::mem::forget(super::slots::Slot::take(arena, arena.epoch()));
    }
}

/// Drops the contents of every page, as the kernel does under memory pressure.
pub fn drop_pages() {
    if let Some(arena) = super::setup::published() {
        super::drop_contents(arena).expect("dropping contents cannot fail");
    }
}

/// Chooses the mode anew, as a refill does that finds the word wrong.
pub fn choose_mode() {
    if let Some(arena) = super::setup::published() {
        arena.choose_mode();
    }
}

/// The page that this CPU's shared draws come from: its own, or its slot's. Null before set-up.
#[cfg(feature = "pools")]
pub fn slot_page() -> *mut u8 {
    super::setup::published().map_or(core::ptr::null_mut(), |arena| {
        if arena.has_sections() {
            return arena.sections.page(arena.cpu_hint.get());
        }
        let slot = super::slots::Slot::take_first(arena, arena.epoch());
        slot.map_or(core::ptr::null_mut(), |slot| slot.cell().page)
    })
}

/// The page of the first handle; null before set-up.
#[cfg(feature = "pools")]
pub fn handle_page() -> *mut u8 {
    super::setup::published().map_or(core::ptr::null_mut(), |arena| arena.handles.first_page())
}
