//! The count of copies for languages that can load a library and read memory, such as Ruby.

/// Returns the address of a byte that is 1 until this process may have been copied; readable for
/// ever. Little-endian CPUs have it first in its word, and headwater runs on no others.
#[unsafe(no_mangle)]
extern "C" fn headwater_clones_word() -> *const u8 {
    headwater::internal::copies_word().cast()
}

/// Returns the address of the number that [`headwater_clones_copies`] returns; readable for ever.
///
/// The word alone would not do. This library's own functions look for copies too, and set the word
/// again, so a language that reads the word afterwards finds nothing. But the count has moved then.
#[unsafe(no_mangle)]
extern "C" fn headwater_clones_count() -> *const u64 {
    headwater::internal::copies_count()
}

/// Returns how often this process, or its machine, was seen to be copied since the first call.
#[unsafe(no_mangle)]
extern "C" fn headwater_clones_copies() -> u64 {
    headwater::copies()
}

/// Returns 1 if copies of the machine can be seen, which the word does not show, some of them only
/// after `headwater clones repair`; else 0.
#[unsafe(no_mangle)]
extern "C" fn headwater_clones_sees_machines() -> core::ffi::c_int {
    headwater::internal::copies_seen().1.into()
}
