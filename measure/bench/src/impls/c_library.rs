//! The C library's generators. They are looked up when the program runs, because old versions lack
//! some of them.

use crate::draw::work::{Drawn, Generator, Refused};
use crate::impls::implementation::{Absent, Implementation, ready};
#[cfg(target_os = "linux")]
use crate::impls::implementation::{errno_of_failure, fill_all};
use libloading::os::unix::{Library, RTLD_NOW};
#[cfg(target_os = "linux")]
use std::ffi::c_uint;
use std::ffi::{CStr, c_char, c_int, c_void};

/// A system call before glibc 2.41, and the vDSO's generator since.
#[cfg(target_os = "linux")]
pub(crate) const GETRANDOM: Implementation = Implementation {
    name: "libc-getrandom",
    version: &version,
    has_modes: false,
    open: &|| ready(Getrandom::new()?),
};

pub(crate) const GETENTROPY: Implementation = Implementation {
    name: "libc-getentropy",
    version: &version,
    has_modes: false,
    open: &|| ready(Getentropy::new()?),
};

pub(crate) const ARC4RANDOM: Implementation = Implementation {
    name: "libc-arc4random",
    version: &version,
    has_modes: false,
    open: &|| ready(Arc4random::new()?),
};

/// Returns the function `name` of the libraries that this process was started with. These libraries
/// stay until the end of the process.
///
/// # Safety
///
/// `F` is a function pointer with the signature that the C library documents for `name`.
unsafe fn lookup<F: Copy>(name: &str) -> Result<F, Absent> {
    // A static program has no loader to ask, and `Library::this` would panic.
    // SAFETY: no name, no library: nothing is loaded, and no initialiser runs.
    let process = unsafe { Library::open(None::<&str>, RTLD_NOW) }
        .map_err(|_| Absent("this program is linked statically".to_owned()))?;
    // SAFETY: the caller vouches for the type.
    let symbol = unsafe { process.get::<F>(name) };
    symbol.map(|symbol| *symbol).map_err(|_| Absent(format!("this C library has no {name}")))
}

/// Returns a name such as `glibc 2.36`, or `None` if the C library does not report its version.
pub(crate) fn version() -> Option<String> {
    // SAFETY: `const char *gnu_get_libc_version(void)`, gnu_get_libc_version(3).
    let function: unsafe extern "C" fn() -> *const c_char =
        unsafe { lookup("gnu_get_libc_version") }.ok()?;
    // SAFETY: it takes nothing and returns a C string that is never freed.
    let version = unsafe { CStr::from_ptr(function()) };
    Some(format!("glibc {}", version.to_string_lossy()))
}

/// getrandom(2) by the C library's function.
#[cfg(target_os = "linux")]
struct Getrandom(unsafe extern "C" fn(*mut c_void, usize, c_uint) -> isize);

#[cfg(target_os = "linux")]
impl Getrandom {
    fn new() -> Result<Getrandom, Absent> {
        // SAFETY: `ssize_t getrandom(void buf[], size_t buflen, unsigned int flags)`, getrandom(2).
        unsafe { lookup("getrandom") }.map(Getrandom)
    }
}

#[cfg(target_os = "linux")]
impl Generator for Getrandom {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        fill_all(buf, |rest| {
            // SAFETY: the pointer and the length are those of `rest`.
            let written = unsafe { (self.0)(rest.as_mut_ptr().cast(), rest.len(), 0) };
            errno_of_failure(written)
        })
    }
}

/// getentropy(3), which refuses more than 256 bytes at a time.
struct Getentropy(unsafe extern "C" fn(*mut c_void, usize) -> c_int);

const GETENTROPY_MAX: usize = 256;

impl Getentropy {
    fn new() -> Result<Getentropy, Absent> {
        // SAFETY: `int getentropy(void buffer[], size_t length)`, getentropy(3).
        unsafe { lookup("getentropy") }.map(Getentropy)
    }
}

impl Generator for Getentropy {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        for chunk in buf.chunks_mut(GETENTROPY_MAX) {
            // SAFETY: the pointer and the length are those of `chunk`.
            if unsafe { (self.0)(chunk.as_mut_ptr().cast(), chunk.len()) } != 0 {
                return Err(Refused);
            }
        }
        Ok(())
    }
}

/// arc4random(3) and arc4random_buf(3), which cannot fail.
struct Arc4random {
    word: unsafe extern "C" fn() -> u32,
    buf: unsafe extern "C" fn(*mut c_void, usize),
}

impl Arc4random {
    fn new() -> Result<Arc4random, Absent> {
        // SAFETY: `uint32_t arc4random(void)` and `void arc4random_buf(void buf[], size_t n)`,
        // arc4random(3).
        unsafe { Ok(Arc4random { word: lookup("arc4random")?, buf: lookup("arc4random_buf")? }) }
    }
}

impl Generator for Arc4random {
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
