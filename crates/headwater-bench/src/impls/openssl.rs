//! OpenSSL's RAND_bytes, from the libcrypto that the host has; nothing of it is needed to build.

use super::{Absent, Implementation};
use crate::work::{Drawn, Generator, Refused};
use libloading::os::unix::Library;
use std::ffi::{CStr, c_char, c_int, c_uchar};
use std::sync::OnceLock;

pub(crate) const IMPLEMENTATION: Implementation = Implementation {
    name: "openssl-RAND_bytes",
    version: || libcrypto().ok()?.version.clone(),
    has_modes: false,
    open: || Ok(Box::new(RandBytes(libcrypto()?.rand_bytes))),
};

/// The ABIs whose RAND_bytes is known, newest first.
const SONAMES: [&str; 2] = ["libcrypto.so.3", "libcrypto.so.1.1"];

type RandBytesFn = unsafe extern "C" fn(*mut c_uchar, c_int) -> c_int;

struct Libcrypto {
    rand_bytes: RandBytesFn,
    version: Option<String>,
    /// Keeps the code behind `rand_bytes` mapped; never dropped, as the static that holds it is not.
    _library: Library,
}

fn libcrypto() -> Result<&'static Libcrypto, Absent> {
    static LIBCRYPTO: OnceLock<Option<Libcrypto>> = OnceLock::new();
    LIBCRYPTO
        .get_or_init(|| SONAMES.into_iter().find_map(load))
        .as_ref()
        .ok_or_else(|| Absent(format!("neither {} was found", SONAMES.join(" nor "))))
}

fn load(soname: &str) -> Option<Libcrypto> {
    // SAFETY: libcrypto's initialiser registers exit handlers of its own and asks nothing of its loader;
    // it is never unloaded, so that its finaliser runs at exit only.
    let library = unsafe { Library::new(soname) }.ok()?;
    // SAFETY: `int RAND_bytes(unsigned char *buf, int num)` in every version with these names.
    let rand_bytes: RandBytesFn = unsafe { *library.get(c"RAND_bytes").ok()? };
    // SAFETY: `const char *OpenSSL_version(int t)` likewise.
    let version =
        unsafe { library.get::<unsafe extern "C" fn(c_int) -> *const c_char>(c"OpenSSL_version") };
    let version = version.ok().map(|version| {
        // SAFETY: 0 is OPENSSL_VERSION; the answer is a C string in the library's own constant data.
        let text = unsafe { CStr::from_ptr(version(0)) };
        text.to_string_lossy().into_owned()
    });
    Some(Libcrypto { rand_bytes, version, _library: library })
}

struct RandBytes(RandBytesFn);

impl Generator for RandBytes {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        // The count is a C int. The longest buffer measured is 1 GiB, which fits.
        let len = c_int::try_from(buf.len()).map_err(|_| Refused)?;
        // SAFETY: the pointer and the length are those of `buf`; libcrypto locks or keeps per-thread
        // state by itself.
        match unsafe { (self.0)(buf.as_mut_ptr(), len) } {
            1 => Ok(()),
            _ => Err(Refused),
        }
    }
}
