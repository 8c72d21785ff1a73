//! libsodium's randombytes_buf, which asks the kernel each time unless the program replaced its
//! source.

use crate::draw::work::{Drawn, Generator, Refused};
use crate::impls::implementation::{Absent, Implementation, ready};
use crate::impls::library::{self, Family, Function, Host, Usual};
use std::ffi::{c_char, c_int, c_void};

pub(crate) const RANDOMBYTES_BUF: Implementation = Implementation {
    name: "libsodium-randombytes_buf",
    version: &|| SODIUM.version(RANDOMBYTES_BUF.name),
    has_modes: false,
    open: &|| SODIUM.open(RANDOMBYTES_BUF.name),
};

pub(super) static SODIUM: Usual = Usual::of(&FAMILY);

pub(super) const FAMILY: Family = Family {
    title: "libsodium (randombytes_buf)",
    mark: "randombytes_buf",
    functions,
    places: &["libsodium.so.26", "libsodium.so.23"], // 1.0.19 and later, and what was before
};

fn functions(host: &'static Host) -> Result<Vec<Function>, Absent> {
    // SAFETY: `int sodium_init(void)`.
    let init: unsafe extern "C" fn() -> c_int = unsafe { host.function("sodium_init") }?;
    // SAFETY: it takes nothing, and may be called at any time and again.
    if unsafe { init() } < 0 {
        return Err(Absent("sodium_init fails".to_owned()));
    }
    // SAFETY: `const char *sodium_version_string(void)`.
    let version: unsafe extern "C" fn() -> *const c_char =
        unsafe { host.function("sodium_version_string") }?;
    // SAFETY: it takes nothing and returns a constant string.
    let version = unsafe { library::text(version()) };
    // SAFETY: `uint32_t randombytes_random(void)` and `void randombytes_buf(void *buf, size_t
    // size)`.
    let sodium = unsafe {
        Sodium {
            word: host.function("randombytes_random")?,
            buf: host.function("randombytes_buf")?,
        }
    };
    Ok(vec![Function {
        name: RANDOMBYTES_BUF.name,
        version: version.map(|version| format!("libsodium {version}")),
        open: Box::new(move || ready(sodium)),
    }])
}

/// Neither call can fail: they end the process instead.
#[derive(Clone, Copy)]
struct Sodium {
    word: unsafe extern "C" fn() -> u32,
    buf: unsafe extern "C" fn(*mut c_void, usize),
}

impl Generator for Sodium {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        // SAFETY: the pointer and the length are those of `buf`.
        unsafe { (self.buf)(buf.as_mut_ptr().cast(), buf.len()) };
        Ok(())
    }

    #[inline]
    fn u32(&mut self) -> Result<u32, Refused> {
        // SAFETY: it takes nothing and returns a number.
        Ok(unsafe { (self.word)() })
    }
}
