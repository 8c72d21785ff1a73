//! Pools: pages of random bytes, and the draws from them.
//!
//! A page is filled by `refill` and described by its `page_state`. Shared draws reach a page in one
//! of two ways: in a restartable sequence (`section`, `draw_section`), or under the lock of a slot
//! (`slot`, `draw`). A handle owns its page (`owned`) and needs neither. `copy` moves the bytes and
//! erases them.
//!
//! # What must not be done here
//!
//! Nothing that orders draws may lie in a page. It looks natural to keep the cursor beside the
//! bytes, but the kernel may drop the page at any instant, and two CPUs can meanwhile see two pages
//! at one address. So cursor and number lie in the line, and the page has only a copy of the
//! number.
//!
//! No byte may leave before the comparisons that follow its copy. It would be cheaper to compare
//! first, but then a reseed, a clone or a fork during the copy would go unseen.
//!
//! A draw must not read before it has stored the smaller cursor. The other order loses nothing on
//! an abort, and serves bytes twice; an abort after the store loses bytes, which is allowed.
//!
//! A section must not write keystream into a page that draws take from. If it were stopped in the
//! middle, it would continue over a page that is valid by then. So a refill works elsewhere, and a
//! put only exchanges pages.
//!
//! Nothing may wait, allocate or register, because any line may run in a handler that interrupted
//! this very code. Loom, Miri and sanitizers see nothing of a section. `proof/model` does, so a
//! change needs a model that fails without it.

mod chain;
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
