//! gnutls_rnd, at the level for keys of a session and at that for nonces. Nettle, which is below
//! it, has ciphers and no generator that a program would call without seeding it itself.

use crate::draw::work::{Drawn, Generator, Refused};
use crate::impls::implementation::{Absent, Implementation, ready};
use crate::impls::library::{self, Family, Function, Host, Usual};
use std::ffi::{c_char, c_int, c_void};

pub(crate) const RANDOM: Implementation = Implementation {
    name: "gnutls-rnd-random",
    version: &|| GNUTLS.version(RANDOM.name),
    has_modes: false,
    open: &|| GNUTLS.open(RANDOM.name),
};

/// An attacker who learns the generator's state may predict draws at this level.
pub(crate) const NONCE: Implementation = Implementation {
    name: "gnutls-rnd-nonce",
    version: &|| GNUTLS.version(NONCE.name),
    has_modes: false,
    open: &|| GNUTLS.open(NONCE.name),
};

pub(super) static GNUTLS: Usual = Usual::of(&FAMILY);

pub(super) const FAMILY: Family = Family {
    title: "GnuTLS (gnutls_rnd)",
    mark: "gnutls_rnd",
    functions,
    places: &["libgnutls.so.30"],
};

/// `gnutls_rnd_level_t`.
const LEVELS: [(&str, c_int); 2] = [(RANDOM.name, 1), (NONCE.name, 0)];

type RndFn = unsafe extern "C" fn(c_int, *mut c_void, usize) -> c_int;

fn functions(host: &'static Host) -> Result<Vec<Function>, Absent> {
    // The library has set itself up when it was opened (since 3.3).
    // SAFETY: `const char *gnutls_check_version(const char *req_version)`.
    let version: unsafe extern "C" fn(*const c_char) -> *const c_char =
        unsafe { host.function("gnutls_check_version") }?;
    // SAFETY: null asks for no version in particular; the answer is a constant string.
    let version = unsafe { library::text(version(std::ptr::null())) };
    // SAFETY: `int gnutls_rnd(gnutls_rnd_level_t level, void *data, size_t len)`; the level is an
    // enum.
    let call: RndFn = unsafe { host.function("gnutls_rnd") }?;
    let functions = LEVELS.map(|(name, level)| Function {
        name,
        version: version.as_ref().map(|version| format!("GnuTLS {version}")),
        open: Box::new(move || ready(Rnd { call, level })),
    });
    Ok(functions.into())
}

struct Rnd {
    call: RndFn,
    level: c_int,
}

impl Generator for Rnd {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        // SAFETY: the level is one of the library's; the pointer and the length are those of `buf`.
        // The library keeps a state for each thread.
        match unsafe { (self.call)(self.level, buf.as_mut_ptr().cast(), buf.len()) } {
            0 => Ok(()),
            _ => Err(Refused),
        }
    }
}
