//! Memory for columns, from the C library and the kernel, because the C front has no allocator of
//! Rust's.

use crate::Error;
use core::ffi::c_void;
use core::ptr::NonNull;
use core::slice;

/// The alignment that Arrow recommends for buffers.
const ALIGN: usize = 64;
/// A huge page of x86-64 and of most arm64 kernels.
#[cfg(all(target_os = "linux", not(miri)))]
const HUGE: usize = 2 << 20;

/// Bytes that are freed when the value is dropped.
pub(crate) struct Memory {
    start: NonNull<c_void>,
    len: usize,
    source: Source,
    /// The place from which on all bytes are 0, because no code had them yet.
    fresh: usize,
}

/// The owner of the bytes, and how they go back.
enum Source {
    Malloc,
    /// A mapping of this start and length.
    #[cfg(all(target_os = "linux", not(miri)))]
    Mapping(*mut c_void, usize),
}

// SAFETY: the value owns memory of malloc's or a mapping, which any thread may use and free.
unsafe impl Send for Memory {}
// SAFETY: a shared reference only reads the bytes.
unsafe impl Sync for Memory {}

impl Memory {
    /// Allocates so many bytes, whose values are not known yet.
    ///
    /// Columns of two huge pages and more are mappings that begin at one and are marked for them.
    /// Otherwise the kernel faults in 4 KiB at a time, so 80 MB take 19,532 faults. malloc could
    /// align too, but it does not say that its bytes are 0, so they would be written twice.
    pub(crate) fn new(len: usize) -> Result<Memory, Error> {
        #[cfg(all(target_os = "linux", not(miri)))]
        if len >= 2 * HUGE {
            return Memory::mapped(len);
        }
        let mut start = core::ptr::null_mut();
        let refused = Error::Memory { bytes: len };
        // An address of its own for an empty buffer too: some readers refuse null.
        let asked = len.max(1);
        if isize::try_from(asked).is_err() {
            return Err(refused);
        }
        // SAFETY: `start` is writable, and the alignment is a power of two and a multiple of a
        // pointer's size, as posix_memalign requires.
        if unsafe { libc::posix_memalign(&mut start, ALIGN, asked) } != 0 {
            return Err(refused);
        }
        let start = NonNull::new(start).ok_or(refused)?;
        Ok(Memory { start, len, source: Source::Malloc, fresh: len })
    }

    /// Maps so many bytes, from a huge page on. They are 0, as all that the kernel hands out.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn mapped(len: usize) -> Result<Memory, Error> {
        let refused = || Error::Memory { bytes: len };
        // Room before the first huge page costs addresses and no memory, because nothing touches
        // it.
        let whole = len.checked_add(HUGE).filter(|&whole| isize::try_from(whole).is_ok());
        let whole = whole.ok_or_else(refused)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let sharing = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: the kernel chooses the address, so no mapping of other code is replaced.
        let mapping = unsafe { libc::mmap(core::ptr::null_mut(), whole, access, sharing, -1, 0) };
        if mapping == libc::MAP_FAILED {
            return Err(refused());
        }
        let before = mapping.addr().wrapping_neg() % HUGE;
        // SAFETY: `before` is below HUGE, by which the mapping is longer than `len`, so this and
        // the `len` bytes after it lie in the mapping. The advice changes no byte; its result is no
        // matter, because without huge pages it is only slower.
        let start = unsafe {
            let start = mapping.byte_add(before);
            libc::madvise(start, len, libc::MADV_HUGEPAGE);
            start
        };
        let Some(start) = NonNull::new(start) else { return Err(refused()) };
        Ok(Memory { start, len, source: Source::Mapping(mapping, whole), fresh: 0 })
    }

    /// Allocates bytes that are 0.
    pub(crate) fn zeroed(len: usize) -> Result<Memory, Error> {
        let mut memory = Memory::new(len)?;
        memory.cleared(0, len);
        Ok(memory)
    }

    pub(crate) fn start(&self) -> *const c_void {
        self.start.as_ptr()
    }

    /// Returns bytes of the range, set to 0: a place for a block of values.
    ///
    /// The memory of malloc may be unwritten, and a slice of unwritten bytes must not exist, so
    /// zeros are written first. A block of numbers is 8 KiB, so the zeros are overwritten in the
    /// first cache; to leave them out, the streams would have to take unwritten memory. A mapping
    /// has its zeros from the kernel, and blocks come in order, so it needs no others.
    pub(crate) fn cleared(&mut self, at: usize, len: usize) -> Option<&mut [u8]> {
        let end = at.checked_add(len).filter(|&end| end <= self.len)?;
        // SAFETY: the range lies in the memory, as was checked, and `self` is borrowed, so nothing
        // else uses it. Its bytes are written before the slice is made, or are those of a mapping
        // that no code had yet.
        unsafe {
            let start = self.start.as_ptr().cast::<u8>().add(at);
            let old = self.fresh.saturating_sub(at).min(len);
            start.write_bytes(0, old);
            self.fresh = self.fresh.max(end);
            Some(slice::from_raw_parts_mut(start, len))
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the pointer is the one that posix_memalign or mmap returned, with mmap's length,
        // and a drop runs once.
        unsafe {
            match self.source {
                Source::Malloc => libc::free(self.start.as_ptr()),
                #[cfg(all(target_os = "linux", not(miri)))]
                Source::Mapping(start, len) => {
                    libc::munmap(start, len);
                }
            }
        }
    }
}
