//! The address space of the pools, reserved at set-up and never released.

use crate::linux::guards::fork::BANKS;
use crate::linux::pool::slot_line::SlotLine;
use crate::status::Page;

/// The reservations of the pools.
///
/// One mapping holds the control line, the lines of sections and those of slots, in this order;
/// another one the pages of sections and those of slots.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// `[BANKS][slots]` lines; dangling without slots.
    pub(crate) lines: *const SlotLine,
    /// `[BANKS][slots]` pages, [`stride`](Memory::stride) bytes apart.
    pub(crate) pages: *mut u8,
    /// Bytes of the mapping of lines, the control line included.
    pub(crate) lines_len: usize,
    /// The size of a page. Read through [`stride`](Memory::stride).
    pub(crate) page_size: usize,
    pub(crate) cpus: u32,
    /// Slots of a bank: one for each CPU, and those that are shared under contention.
    pub(crate) slots: u32,
    /// Lines and pages of sections: one for each CPU, or none.
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

    /// Returns the bytes of that mapping which this process uses, from the start: locked where that
    /// is needed.
    pub(crate) fn locked_len(&self) -> usize {
        (self.sections as usize + self.slots as usize) * self.stride()
    }

    /// Returns the mapping of pages: its start and its bytes.
    pub(crate) fn all_pages(&self) -> (*mut u8, usize) {
        let before = self.sections as usize * self.stride();
        let len = before + self.stride() * BANKS * self.slots as usize;
        (self.pages.wrapping_sub(before), len)
    }
}
