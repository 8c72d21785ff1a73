//! Everything that is drawn from, side by side: headwater, and those it is compared with.

use crate::kernel;
use rand::Rng as _;
use vdso_rng::{LocalState, Pool};

/// Names, as the lab prints them; the order is that of a record.
pub(crate) const NAMES: [&str; COUNT] = [
    "syscall",
    "vdso",
    "openssl",
    "rand",
    "headwater",
    "headwater-rng",
    "headwater-large",
    "stamp",
];
pub(crate) const COUNT: usize = 8;
/// Length of a large request: above what a page of headwater serves.
const LARGE: usize = 4096;
/// Large requests are drawn in every so many iterations.
pub(crate) const LARGE_EVERY: u64 = 8;
pub(crate) const LARGE_INDEX: usize = 6;

/// What one thread draws from.
pub(crate) struct Witnesses {
    vdso: Option<LocalState<'static>>,
    rand: rand::rngs::ThreadRng,
    handle: Option<headwater::Rng>,
    large: Box<[u8; LARGE]>,
}

impl Witnesses {
    /// The pool is shared by the process's threads.
    pub(crate) fn new(pool: Option<&'static Pool>) -> Witnesses {
        Witnesses {
            vdso: pool.and_then(|pool| LocalState::new(pool).ok()),
            rand: rand::rng(),
            handle: headwater::Rng::new().ok(),
            large: Box::new([0; LARGE]),
        }
    }

    /// 16 bytes of one of them; zeros where it is not to be had, which the lab takes for absent.
    #[inline]
    pub(crate) fn draw(&mut self, witness: usize) -> [u8; 16] {
        let mut bytes = [0; 16];
        let done = match witness {
            0 => kernel::getrandom(&mut bytes, 0).is_ok(),
            1 => self.vdso.as_mut().is_some_and(|state| state.fill(&mut bytes, 0).is_ok()),
            2 => openssl(&mut bytes),
            3 => {
                self.rand.fill_bytes(&mut bytes);
                true
            }
            4 => headwater::fill(&mut bytes).is_ok(),
            5 => self.handle.as_mut().is_some_and(|handle| handle.fill(&mut bytes).is_ok()),
            LARGE_INDEX => {
                let done = headwater::fill(&mut self.large[..]).is_ok();
                bytes.copy_from_slice(&self.large[LARGE - 16..]);
                done
            }
            // Not random bytes: whether headwater has noticed that something happened.
            _ => headwater::generation().is_some_and(|generation| {
                bytes[..8].copy_from_slice(&generation.get().to_le_bytes());
                true
            }),
        };
        if done { bytes } else { [0; 16] }
    }
}

/// RAND_bytes of the libcrypto linked in.
#[cfg(openssl)]
pub(crate) fn openssl(bytes: &mut [u8]) -> bool {
    unsafe extern "C" {
        fn RAND_bytes(buf: *mut u8, num: core::ffi::c_int) -> core::ffi::c_int;
    }
    // SAFETY: pointer and length are those of `bytes`; the function locks by itself.
    unsafe { RAND_bytes(bytes.as_mut_ptr(), bytes.len() as core::ffi::c_int) == 1 }
}

#[cfg(not(openssl))]
pub(crate) fn openssl(_: &mut [u8]) -> bool {
    false
}

/// Version of that libcrypto.
#[cfg(openssl)]
pub(crate) fn openssl_version() -> String {
    unsafe extern "C" {
        fn OpenSSL_version(what: core::ffi::c_int) -> *const core::ffi::c_char;
    }
    // SAFETY: 0 is OPENSSL_VERSION; the answer is a constant string.
    unsafe { std::ffi::CStr::from_ptr(OpenSSL_version(0)) }.to_string_lossy().into_owned()
}

#[cfg(not(openssl))]
pub(crate) fn openssl_version() -> String {
    "absent: no libcrypto.a where this guest was built".to_owned()
}
