//! `libheadwater_preload.so`: the C library's random functions, served by headwater, in programs
//! that were not built for it. `LD_PRELOAD` or `headwater run` puts it in front of the C library.
//!
//! It exports `getrandom`, `getentropy`, `arc4random`, `arc4random_buf`, `arc4random_uniform` and
//! `syscall`, and nothing else. Each behaves as the C library's: the same flags, errors and
//! lengths. Requests that headwater does not serve (other flags, bad pointers, a kernel that is not
//! ready) go to the kernel unchanged, so that their answer is the kernel's own.
//!
//! Every function is async-signal-safe and works before the constructor has run. In a release
//! (`panic = "abort"`) the library is built without Rust's standard library: it needs no symbol
//! that musl lacks, and has no thread-locals.

#![cfg_attr(
    all(
        panic = "abort",
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ),
    no_std
)]

// Elsewhere there is no such mechanism, or no assembly of ours: the library is then empty.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux {
    mod arc4random;
    mod config;
    mod getrandom;
    mod glibc;
    mod openssl;
    #[cfg(panic = "abort")]
    mod runtime;
    mod sanitizer;
    mod stats;
    mod syscall;
}
