//! Chains of keys: a refill takes the kernel's half of its seed from the page's own last stream.
//!
//! A refill used to ask the vDSO each time, which is a third of its cost on Zen 5. But the vDSO
//! does not ask the kernel either: it keeps a key until the kernel reseeds, and expands it with
//! ChaCha20 (Linux 6.11, `lib/vdso/getrandom.c`). So nothing is lost in freshness if a page does
//! the same with AES. Its stream is 32 bytes longer than what draws take, and these bytes, the
//! *link*, are the half of the next seed that the vDSO would have drawn under the same reseed
//! generation. The other half still comes from the CPU, fresh for each refill, so the pages of two
//! copies of a machine differ at the next refill, as they did before. As soon as a guard has moved,
//! the chain ends.
//!
//! Two things would be lost if a chain had no other end. Each draw from the vDSO also verifies the
//! place of the reseed generation, and a link that is read out of the process would betray all that
//! follow it, should the CPU's words be bad. So a chain is short.
//!
//! The danger is the page itself, which the kernel may drop at any instant: a link that is read
//! from a dropped page is zero, and the same zero on every machine. A refill that draws from the
//! vDSO writes the tag first and the seed after it, so a drop in between leaves a page without a
//! tag. Here the seed is older than the tag, and a compare of the old tag before the new one is
//! stored would leave a window between the two. So one instruction does both: a compare-exchange
//! finds the old tag and stores the new one in the same page, and from then on a drop takes the tag
//! with the link.

#![allow(unsafe_code)]

use crate::Mode;
use crate::linux::failpoint::{Point, hook};
use crate::linux::guards::Seen;
use crate::linux::pool::copy::is_zero;
use crate::linux::pool::layout::{GENERATION, LINKS, MARKER, STREAM};
use crate::linux::pool::page::PageRef;
use core::sync::atomic::{AtomicU64, Ordering, fence};

/// The refills that may follow one whose seed came from the vDSO. The vDSO's part of a refill falls
/// to an eighth by it, and 15 would save 2 % more.
const LINKS_OF_A_CHAIN: u64 = 7;

impl PageRef<'_> {
    /// Returns how many refills may follow one whose seed the kernel and the CPU have drawn. There
    /// are none where masks need a key in the place of the link, and none without words of the CPU:
    /// two copies would follow one link to one page.
    pub(super) fn most_links(self) -> u64 {
        let follow = self.process.mode() == Mode::Buffered && self.process.has_cpu_words();
        if follow { LINKS_OF_A_CHAIN } else { 0 }
    }

    /// Begins a refill with the link that lies in the page, and returns the number of those that
    /// may follow it; None if there is none, or a guard has moved since it was made.
    ///
    /// The page need not be the one of the last refill that this state describes, since puts
    /// exchange pages. So what is known of the page is read from the page; and because its tag was
    /// stored before all of it, and goes with all of it, whatever lies beside the tag is whole.
    pub(super) fn follow(self) -> Option<u64> {
        if self.most_links() == 0 {
            return None;
        }
        let links = self.word(LINKS).load(Ordering::Relaxed).checked_sub(1)?;
        let tag = self.tag().load(Ordering::Relaxed);
        let at = |at: usize| self.word(at).load(Ordering::Relaxed);
        let seen = Seen { generation: at(GENERATION), marker: at(MARKER) };
        if tag == 0 || seen.generation == 0 || seen != self.process.guards() {
            return None;
        }
        // First the count, so that no refill that ends in the middle leaves a link to a second one.
        self.end_chain();
        let number = self.state_begins(seen);
        self.tag().compare_exchange(tag, number, Ordering::AcqRel, Ordering::Relaxed).ok()?;
        hook(Point::Keyed);
        // SAFETY: the first 32 bytes of the stream, in a page that we own.
        let lost = unsafe {
            let link = self.page.add(STREAM);
            is_zero(link) || is_zero(link.add(16))
        };
        // A tripwire, as at draws: it is true by chance once in 2^127 refills.
        (!lost).then_some(links)
    }

    /// Leaves the first 32 bytes of the stream, which is complete, as the link of the next refill.
    pub(super) fn leave_link(self, links: u64) {
        self.word(LINKS).store(links, Ordering::Release);
    }

    /// Lets no refill follow.
    pub(super) fn end_chain(self) {
        self.word(LINKS).store(0, Ordering::Relaxed);
        fence(Ordering::Release);
    }

    /// Returns an aligned word of the page's head.
    #[inline(always)]
    fn word(self, at: usize) -> &'static AtomicU64 {
        // SAFETY: an aligned word at the beginning of a page that stays mapped for ever, and that
        // all code uses as an atomic, or in sections.
        unsafe { AtomicU64::from_ptr(self.page.add(at).cast()) }
    }
}
