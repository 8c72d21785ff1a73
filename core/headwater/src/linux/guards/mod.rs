//! The guards: values that change when something happens which buffered bytes must not survive.
//!
//! | event | guard |
//! | --- | --- |
//! | the kernel reseeded; it noticed a clone of the VM | [`generation`]: the reseed generation |
//! | a snapshot was loaded; live migration | [`vmclock`]: the hypervisor's clone marker |
//! | fork, clone | [`fork`]: a canary that the kernel clears in the child |
//! | a copy that this process cannot see by itself; for the public counter | [`watch_page`]: the count of `headwater clones watch` |
//! | the kernel dropped the pages; a restored process came without them | the pages' tags; for the public counter [`page_loss`] |
//!
//! [`copies`] is no guard: it counts what of all this is a copy, for generators that a program
//! seeds.
//!
//! The contract: a value is stored with a page before the page's key is drawn, and compared after
//! each copy. A guard that has changed stays changed until the next refill, so one comparison is
//! enough.
//!
//! [`vmgenid`] and [`bare_metal`] are not compared at draws: they are evidence from which the mode
//! is chosen (`crate::mode`). [`same_kernel`] says whether the generation's address may be loaded
//! at all, and [`age`] stands in where no generation is live.

pub(crate) mod age;
pub(crate) mod bare_metal;
pub(crate) mod copies;
pub(crate) mod fork;
pub(crate) mod generation;
pub(crate) mod page_loss;
pub(crate) mod same_kernel;
pub(crate) mod vmclock;
pub(crate) mod vmgenid;
pub(crate) mod watch_page;

use crate::linux::guards::fork::Epoch;
use crate::linux::sys::Fd;
use core::ffi::CStr;
use core::num::NonZeroU64;

/// The values of the reseed generation and of the clone marker at one moment.
///
/// The one type for "has a guard changed": refills store it, large requests compare it, and
/// [`mix`](Seen::mix) is the public change counter. Only a small draw compares the fields one by
/// one (`PageRef::agrees`), because it has no registers for both at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) generation: u64,
    pub(crate) marker: u64,
}

impl Seen {
    /// Mixes both values, the epoch, the number of page losses and the number of watched copies
    /// into the public change counter.
    ///
    /// Odd multipliers (from the digits of pi, e and the golden ratio): with multiples of each
    /// other, a step of one counter could undo a step of another, and an event would go unseen.
    pub(crate) fn mix(self, epoch: Epoch, losses: u64, watched: u64) -> NonZeroU64 {
        let generation = self.generation.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let marker = self.marker.wrapping_mul(0x2B7E_1516_28AE_D2A7);
        let epoch = epoch.get().wrapping_mul(0x243F_6A88_85A3_08D3);
        let losses = losses.wrapping_mul(0x1319_8A2E_0370_7345);
        let watched = watched.wrapping_mul(0xA409_3822_299F_31D1);
        let events = epoch.wrapping_add(losses).wrapping_add(watched);
        let mix = generation.wrapping_add(marker).wrapping_add(events);
        NonZeroU64::new(mix).unwrap_or(NonZeroU64::MIN)
    }
}

/// Reads the first bytes of a small file of /sys, as far as they fit; such files answer in one
/// read.
pub(crate) fn read_file<'a>(path: &CStr, buf: &'a mut [u8]) -> Option<&'a [u8]> {
    let len = Fd::open_read(path).ok()?.read(buf).ok()?;
    buf.get(..len)
}
