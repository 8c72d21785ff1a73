//! The memory that the subject hands out to the one who looks, in a mapping of its own.

use crate::cpu::Saved;
use std::ptr::null_mut;

/// The longest draw.
pub const LONGEST: usize = 64 * 1024;
/// The bytes drawn afterwards: more than two pages of the library.
pub const LATER: usize = 8 * 1024;
/// So many keys the witness remembers.
pub const KEYS: usize = 256;

/// All that the subject writes on purpose.
#[repr(C)]
pub struct Room {
    /// The registers, as they were right after the draw.
    pub saved: Saved,
    /// The bytes of the draw.
    pub served: [u8; LONGEST],
    /// The bytes of later draws.
    pub later: [u8; LATER],
    /// The number of keys that the library has reported.
    pub told: u64,
    /// The keys that it reported, the latest in place of the oldest.
    pub keys: [[u8; 32]; KEYS],
}

/// Maps a room, and keeps it out of core dumps and swap, which are searched for what it holds.
pub fn new() -> *mut Room {
    let (room, size) = (map(size_of::<Room>()), size_of::<Room>());
    // SAFETY: both calls are about our own mapping, and leave what it holds as it is.
    unsafe {
        libc::madvise(room.cast(), size, libc::MADV_DONTDUMP);
        libc::mlock(room.cast(), size);
    }
    room.cast()
}

/// Maps memory that is zero and private; it is never given back.
pub fn map(len: usize) -> *mut u8 {
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new memory at an address that the kernel picks overlaps nothing that is in use.
    let at = unsafe { libc::mmap(null_mut(), len, access, kind, -1, 0) };
    assert_ne!(at, libc::MAP_FAILED, "the kernel has no memory for a stack");
    at.cast()
}
