//! The address space of the pools, reserved at set-up and never released.

#![allow(unsafe_code)]

use crate::linux::guards::fork::{BANKS, Epoch};
use crate::linux::pool::slot_line::SlotLine;
use crate::status::Page;
use core::ops::Range;
use core::sync::atomic::AtomicU64;

/// The reservations of the pools.
///
/// One mapping holds the control line, the lines of sections and those of slots, in this order.
/// Another one holds the pages: before `pages` those that sections exchange, a bank at a time and
/// the first bank last, and from `pages` on those of the slots' own draws. So what the first bank
/// uses lies in one piece, which can be locked in memory. After all banks come the pages of the
/// slots for a crowd, first their own and then those that they exchange. The last page holds the
/// mark of `guards::page_loss`.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// `[BANKS][slots]` lines, and those of a crowd; dangling without slots.
    pub(crate) lines: *const SlotLine,
    /// `[BANKS][slots]` pages, and those of a crowd, [`stride`](Memory::stride) bytes apart.
    pub(crate) pages: *mut u8,
    /// Bytes of the mapping of lines, the control line included.
    pub(crate) lines_len: usize,
    /// The size of a page. Read through [`stride`](Memory::stride).
    pub(crate) page_size: usize,
    pub(crate) cpus: u32,
    /// Slots of a bank: one for each CPU, and those that are shared under contention.
    pub(crate) slots: u32,
    /// Slots that follow those of the first bank, and that no other bank has: a process that was
    /// forked by one that had drawn finds no room for a crowd of threads.
    pub(crate) crowd: u32,
    /// Lines of sections: one for each CPU, or none.
    pub(crate) sections: u32,
    pub(crate) page: Page,
}

impl Memory {
    pub(crate) const NONE: Memory = Memory {
        lines: core::ptr::dangling(),
        pages: core::ptr::null_mut(),
        lines_len: 0,
        page_size: 4096,
        cpus: 0,
        slots: 0,
        crowd: 0,
        sections: 0,
        page: Page::None,
    };

    /// Returns the distance of two pages: one hardware page, so that each is dropped and cleared by
    /// itself.
    #[inline(always)]
    pub(crate) fn stride(&self) -> usize {
        // A constant where there is one page size: it turns a multiplication of the quick path into
        // a shift.
        if cfg!(target_arch = "x86_64") { 4096 } else { self.page_size }
    }

    /// Returns the number of pages that the sections of a bank exchange: one for each CPU's line,
    /// and one for each slot, in which refills work.
    fn exchanged(&self) -> usize {
        if self.sections == 0 { 0 } else { (self.sections + self.slots) as usize }
    }

    /// Returns the first page of the bank's exchanged pages.
    fn bank(&self, epoch: Epoch) -> *mut u8 {
        let bank = epoch.first_slot() / self.slots.max(1) as usize;
        self.pages.wrapping_sub((bank + 1) * self.exchanged() * self.stride())
    }

    /// Returns the page that a CPU's line stands for until the first put. The process has sections,
    /// and `cpu` is below their number.
    pub(crate) fn first_page(&self, epoch: Epoch, cpu: u32) -> *mut u8 {
        self.bank(epoch).wrapping_add(cpu as usize * self.stride())
    }

    /// Returns the page in which the refills of a slot work until they exchange it. The process has
    /// sections, and `index` is below the number of slots of the epoch.
    pub(crate) fn first_work_page(&self, epoch: Epoch, index: usize) -> *mut u8 {
        match index.checked_sub(self.slots as usize) {
            None => self.bank(epoch).wrapping_add((self.sections as usize + index) * self.stride()),
            Some(of_crowd) => {
                self.pages.wrapping_add((self.all_slots() + of_crowd) * self.stride())
            }
        }
    }

    /// Returns the number of slots of an epoch.
    pub(crate) fn slots_of(&self, epoch: Epoch) -> u32 {
        if epoch.first_slot() == 0 { self.slots + self.crowd } else { self.slots }
    }

    /// Returns the place of a slot among the lines, and among the pages from `pages` on. `index` is
    /// below the number of slots of the epoch.
    #[inline(always)]
    pub(crate) fn place(&self, epoch: Epoch, index: usize) -> usize {
        match index.checked_sub(self.slots as usize) {
            None => epoch.first_slot() + index,
            Some(of_crowd) => BANKS * self.slots as usize + of_crowd,
        }
    }

    /// Returns the number of slots of all banks and of a crowd.
    pub(crate) fn all_slots(&self) -> usize {
        BANKS * self.slots as usize + self.crowd as usize
    }

    /// Returns the number of pages from `pages` on, without the last.
    fn pages_of_slots(&self) -> usize {
        let exchanged = if self.sections == 0 { 0 } else { self.crowd as usize };
        self.all_slots() + exchanged
    }

    /// Returns the range of the mapping of pages that the process of the first bank uses, which is
    /// locked where that is needed.
    pub(crate) fn locked(&self) -> Range<usize> {
        let begin = (BANKS - 1) * self.exchanged();
        let end = BANKS * self.exchanged() + self.slots as usize;
        begin * self.stride()..end * self.stride()
    }

    /// Returns the bytes of the mapping of pages that lie before `pages`.
    pub(crate) fn before_pages(&self) -> usize {
        BANKS * self.exchanged() * self.stride()
    }

    /// Returns the mapping of pages: its start and its bytes.
    pub(crate) fn all_pages(&self) -> (*mut u8, usize) {
        let before = self.before_pages();
        let len = before + self.stride() * (self.pages_of_slots() + 1);
        (self.pages.wrapping_sub(before), len)
    }

    /// Returns the word that is lost with the pages; None without pages.
    pub(crate) fn loss_word(&self) -> Option<&AtomicU64> {
        let last = self.pages.wrapping_add(self.stride() * self.pages_of_slots());
        // SAFETY: the last page of the mapping, which lives for ever. Only this function leads to
        // it, so it is used as an atomic alone; the kernel may clear it, as another thread might.
        (self.slots > 0).then(|| unsafe { AtomicU64::from_ptr(last.cast()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::guards::fork::Canary;
    use core::sync::atomic::Ordering::Relaxed;
    use std::collections::HashSet;

    /// Lists the places of all slots' lines, and the addresses of all pages, over as many epochs as
    /// there are banks. No two of either may be the same: a page that two holders own would be
    /// drawn from by the one while the other fills it.
    fn all_differ(memory: Memory) {
        let (epoch, reserved) = (AtomicU64::new(0), AtomicU64::new(0));
        let canary = Canary { epoch: &epoch, reserved: &reserved, slots: memory.slots };
        let (mut places, mut pages) = (Vec::new(), Vec::new());
        for _ in 0..BANKS {
            let epoch = canary.choose();
            for index in 0..memory.slots_of(epoch) as usize {
                let place = memory.place(epoch, index);
                places.push(place);
                pages.push(memory.pages.wrapping_add(place * memory.stride()));
                if memory.sections > 0 {
                    pages.push(memory.first_work_page(epoch, index));
                }
            }
            pages.extend((0..memory.sections).map(|cpu| memory.first_page(epoch, cpu)));
            canary.epoch.store(0, Relaxed);
        }
        assert!(places.iter().all(|&place| place < memory.all_slots()));
        assert_eq!(places.iter().collect::<HashSet<_>>().len(), places.len());
        pages.push(memory.pages.wrapping_add(memory.stride() * memory.pages_of_slots()));
        let (start, len) = memory.all_pages();
        let inside = start.addr()..start.addr() + len;
        assert!(pages.iter().all(|page| inside.contains(&page.addr())));
        assert_eq!(pages.iter().collect::<HashSet<_>>().len(), pages.len());
        // No page of the mapping is left over.
        assert_eq!(pages.len() * memory.stride(), len);
    }

    #[test]
    fn no_two_holders_have_one_page() {
        for (cpus, slots, crowd, sections) in
            [(1, 65, 447, 1), (2, 66, 446, 2), (4, 68, 0, 4), (3, 67, 445, 0), (2, 66, 0, 0)]
        {
            // Never read: all that is asked for is addresses.
            let pages = core::ptr::without_provenance_mut(1 << 40);
            all_differ(Memory { pages, cpus, slots, crowd, sections, ..Memory::NONE });
        }
    }
}
