//! Memory for columns, from the C library, because the C front has no allocator of Rust's.

use crate::Error;
use core::ffi::c_void;
use core::ptr::NonNull;
use core::slice;

/// The alignment that Arrow recommends for buffers.
const ALIGN: usize = 64;
/// A huge page of x86-64 and of most arm64 kernels.
const HUGE: usize = 2 << 20;

/// Bytes that are freed when the value is dropped.
pub(crate) struct Memory {
    start: NonNull<c_void>,
    len: usize,
}

// SAFETY: the value owns memory of malloc's, which any thread may use and free.
unsafe impl Send for Memory {}
// SAFETY: a shared reference only reads the bytes.
unsafe impl Sync for Memory {}

impl Memory {
    /// Allocates so many bytes, whose values are not known yet.
    ///
    /// Columns of two huge pages and more begin at one and are marked for them. Otherwise the
    /// kernel faults in 4 KiB at a time, so 80 MB take 19,532 faults.
    pub(crate) fn new(len: usize) -> Result<Memory, Error> {
        let align = if len >= 2 * HUGE { HUGE } else { ALIGN };
        let mut start = core::ptr::null_mut();
        let refused = Error::Memory { bytes: len };
        // An address of its own for an empty buffer too: some readers refuse null.
        let asked = len.max(1);
        if isize::try_from(asked).is_err() {
            return Err(refused);
        }
        // SAFETY: `start` is writable, and the alignment is a power of two and a multiple of a
        // pointer's size, as posix_memalign requires.
        if unsafe { libc::posix_memalign(&mut start, align, asked) } != 0 {
            return Err(refused);
        }
        let start = NonNull::new(start).ok_or(refused)?;
        #[cfg(all(target_os = "linux", not(miri)))]
        if align == HUGE {
            // SAFETY: the whole range was allocated above and is used by no other code; the advice
            // changes no byte of it. The result is no matter, because without huge pages it is only
            // slower.
            unsafe { libc::madvise(start.as_ptr(), len, libc::MADV_HUGEPAGE) };
        }
        Ok(Memory { start, len })
    }

    /// Allocates bytes that are 0.
    pub(crate) fn zeroed(len: usize) -> Result<Memory, Error> {
        let mut memory = Memory::new(len)?;
        // SAFETY: the range was allocated for writing.
        unsafe { memory.start_mut().write_bytes(0, len) };
        Ok(memory)
    }

    pub(crate) fn start(&self) -> *const c_void {
        self.start.as_ptr()
    }

    fn start_mut(&mut self) -> *mut u8 {
        self.start.as_ptr().cast()
    }

    /// Returns bytes of the range, set to 0: a place for a block of values.
    ///
    /// The memory may be unwritten, and a slice of unwritten bytes must not exist, so zeros are
    /// written first. A block of numbers is 8 KiB, so the zeros are overwritten in the first cache;
    /// to leave them out, the streams would have to take unwritten memory.
    pub(crate) fn cleared(&mut self, at: usize, len: usize) -> Option<&mut [u8]> {
        if at.checked_add(len)? > self.len {
            return None;
        }
        // SAFETY: the range lies in the memory, as was checked, and `self` is borrowed, so nothing
        // else uses it. The bytes are written before the slice is made.
        unsafe {
            let start = self.start_mut().add(at);
            start.write_bytes(0, len);
            Some(slice::from_raw_parts_mut(start, len))
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: posix_memalign returned the pointer, and a drop runs once.
        unsafe { libc::free(self.start.as_ptr()) };
    }
}
