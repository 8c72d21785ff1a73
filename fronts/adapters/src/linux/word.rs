//! The count of copies for languages that can load a library and read memory, such as Ruby.

/// Returns the address of a byte that is 1 until this process may have been copied; readable for
/// ever. Little-endian CPUs have it first in its word, and headwater runs on no others.
#[unsafe(no_mangle)]
extern "C" fn headwater_clones_word() -> *const u8 {
    headwater::internal::copies_word().cast()
}

/// Returns how often this process, or its machine, was seen to be copied since the first call.
#[unsafe(no_mangle)]
extern "C" fn headwater_clones_copies() -> u64 {
    headwater::copies()
}

/// Returns 1 if copies of the machine can be seen, which the word does not show; else 0.
#[unsafe(no_mangle)]
extern "C" fn headwater_clones_sees_machines() -> core::ffi::c_int {
    headwater::internal::copies_seen().1.into()
}
