//! `libheadwater_clones.so`: generators that a program seeds, renewed before their first draw in a
//! copied process or machine. `headwater run --clones` puts it in front of the C library.
//!
//! It is a library of its own, and no part of the preload library: that one changes no value which
//! a program can predict, so that it can stand in front of any program. This one does, because in a
//! copy `srand(42)` no longer leads to the same numbers. So it is only for those who ask for it.
//!
//! OpenSSL and GnuTLS are reseeded in a copy in the same way.
//!
//! Node loads the same file as an addon, which shows JavaScript the count of copies.

#![cfg_attr(
    all(
        panic = "abort",
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ),
    no_std
)]

// Elsewhere headwater sees no copies: the library is then empty.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux {
    mod library;
    mod node;
    mod original;
    mod renew;
    #[cfg(panic = "abort")]
    mod runtime;
    mod tls;
    mod word;
}
