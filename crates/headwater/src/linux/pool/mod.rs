//! Pools: pages of random bytes, and the draws from them.
//!
//! A page is filled by `refill` and described by its `page_state`. Shared draws reach a page in one
//! of two ways: in a restartable sequence (`section`, `draw_section`), or under the lock of a slot
//! (`slot`, `draw`). A handle owns its page (`owned`) and needs neither. `copy` moves the bytes and
//! erases them.

pub(crate) mod copy;
pub(crate) mod draw;
pub(crate) mod draw_section;
pub(crate) mod layout;
pub(crate) mod mask;
pub(crate) mod owned;
pub(crate) mod page;
pub(crate) mod page_state;
mod refill;
pub(crate) mod refused;
pub(crate) mod reservation;
#[cfg_attr(not(all(target_arch = "x86_64", not(any(miri, sanitized)))), path = "section_none.rs")]
pub(crate) mod section;
pub(crate) mod section_switch;
pub(crate) mod slot;
pub(crate) mod slot_line;
