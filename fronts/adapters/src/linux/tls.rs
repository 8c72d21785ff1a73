//! The generators of OpenSSL and GnuTLS, reseeded by these libraries' own calls.
//!
//! Both keep a key for hours and ask the kernel seldom, so all copies of a process continue one
//! sequence. Each has a call that makes it ask again. A program that links the library calls it
//! through this one, which makes that call first in a copy.
//!
//! A draw inside the library is not seen here, such as the nonce of a signature. So for GnuTLS the
//! functions by which programs make keys and begin a session stand here too. OpenSSL's library of
//! TLS draws through the functions that stand here.

use super::original::{Original, is_loaded};
use core::ffi::{CStr, c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU64, Ordering};

/// Names under which OpenSSL's library may be loaded, the newest first.
const OPENSSL: &[&CStr] = &[c"libcrypto.so.4", c"libcrypto.so.3", c"libcrypto.so.1.1"];
const GNUTLS: &[&CStr] = &[c"libgnutls.so.30"];

/// The count of copies for which OpenSSL was reseeded.
static OPENSSL_SEEN: AtomicU64 = AtomicU64::new(0);
/// A key of pthreads and 1, under which each thread keeps the count for which it was reseeded; 0
/// without a key. GnuTLS has a generator for each thread.
static GNUTLS_KEY: AtomicU64 = AtomicU64::new(0);

static RAND_SEED: Original = Original::of(c"RAND_seed", OPENSSL);
static RND_REFRESH: Original = Original::of(c"gnutls_rnd_refresh", GNUTLS);

/// Begins to count. The constructor calls it, before the program has drawn.
pub(super) fn begin(copies: u64) {
    OPENSSL_SEEN.store(copies, Ordering::Release);
    let mut key = 0;
    // SAFETY: the key is a place of this frame, and no destructor is asked for.
    if unsafe { libc::pthread_key_create(&raw mut key, None) } == 0 {
        GNUTLS_KEY.store(u64::from(key) + 1, Ordering::Release);
    }
}

/// Reseeds OpenSSL if this is a copy.
///
/// Why not RAND_poll()? With its own generator OpenSSL 3 returns from that without an act.
/// RAND_seed() reseeds the primary generator, from the kernel and from the bytes that it is given,
/// and the others of all threads reseed at their next draw, since they compare its counter.
fn before_openssl() {
    let now = headwater::copies();
    if now == OPENSSL_SEEN.load(Ordering::Acquire) {
        return;
    }
    type Seed = unsafe extern "C" fn(*const c_void, c_int);
    let seed = RAND_SEED.address();
    let mut bytes = [0_u8; 32];
    if seed.is_null() || headwater::fill(&mut bytes).is_err() {
        return; // the next draw tries again
    }
    // SAFETY: `void RAND_seed(const void *, int)` (openssl/rand.h), which reads 32 bytes.
    unsafe { core::mem::transmute::<*mut c_void, Seed>(seed)(bytes.as_ptr().cast(), 32) };
    OPENSSL_SEEN.store(now, Ordering::Release);
}

/// Reseeds this thread's generator of GnuTLS if it has not been since the copy.
fn before_gnutls() {
    let now = headwater::copies();
    let key = GNUTLS_KEY.load(Ordering::Acquire);
    let Ok(key) = libc::pthread_key_t::try_from(key.wrapping_sub(1)) else { return };
    // A thread that has none yet has drawn nothing since the start, if nothing was copied so far.
    // SAFETY: a key of `begin`, which is never deleted.
    let seen = unsafe { libc::pthread_getspecific(key) }.addr() as u64;
    if seen == now {
        return;
    }
    type Refresh = unsafe extern "C" fn();
    let refresh = RND_REFRESH.address();
    if refresh.is_null() {
        return;
    }
    // SAFETY: `void gnutls_rnd_refresh(void)` (gnutls/crypto.h). The value is a number that is
    // never used as an address.
    unsafe {
        core::mem::transmute::<*mut c_void, Refresh>(refresh)();
        libc::pthread_setspecific(key, core::ptr::without_provenance(now as usize));
    }
}

/// Defines functions that call GnuTLS's of the same name, after a reseed. Where none is loaded they
/// answer as it does for an error.
macro_rules! gnutls {
    ($($name:ident, $text:literal: $slot:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            static $slot: Original = Original::of($text, GNUTLS);

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
                type Function = unsafe extern "C" fn($($type),*) -> c_int;
                const GNUTLS_E_RANDOM_FAILED: c_int = -206;
                before_gnutls();
                let next = $slot.address();
                if next.is_null() {
                    return GNUTLS_E_RANDOM_FAILED;
                }
                // SAFETY: GnuTLS's function of this name has this signature, which it has kept
                // since 3.0. The arguments are the program's own, passed on as they came.
                unsafe { core::mem::transmute::<*mut c_void, Function>(next)($($argument),*) }
            }
        )*
    };
}

// gnutls/crypto.h, gnutls/gnutls.h, gnutls/abstract.h.
gnutls! {
    gnutls_rnd, c"gnutls_rnd": RND(level: c_uint, to: *mut c_void, len: usize);
    gnutls_handshake, c"gnutls_handshake": HANDSHAKE(session: *mut c_void);
    gnutls_key_generate, c"gnutls_key_generate": KEY(key: *mut c_void, len: c_uint);
    gnutls_privkey_generate, c"gnutls_privkey_generate":
        PRIVKEY(key: *mut c_void, algorithm: c_uint, bits: c_uint, flags: c_uint);
}

/// Fills memory in OpenSSL's place; 1 is success.
///
/// # Safety
///
/// `len` bytes may be written from `to` on.
unsafe fn fill(to: *mut u8, len: usize) -> c_int {
    if len == 0 {
        return 1;
    }
    // SAFETY: as `# Safety` asks; bytes have no invalid value, and no alignment.
    headwater::fill(unsafe { core::slice::from_raw_parts_mut(to, len) }).is_ok().into()
}

/// Defines OpenSSL's functions that fill memory.
///
/// A process may hold two versions of OpenSSL, and nothing says which one a caller means. For these
/// functions either is right. So functions with objects of one version, such as EVP_PKEY_keygen(),
/// must not stand here: an object that is handed to the other version would end the process.
macro_rules! openssl {
    ($($name:ident, $text:literal: $slot:ident;)*) => {
        $(
            static $slot: Original = Original::of($text, OPENSSL);

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(to: *mut u8, len: c_int) -> c_int {
                type Function = unsafe extern "C" fn(*mut u8, c_int) -> c_int;
                before_openssl();
                let next = $slot.address();
                let Ok(size) = usize::try_from(len) else { return 0 };
                // SAFETY: OpenSSL's function has this signature (openssl/rand.h), and asks its
                // caller for `len` bytes at `to`, as `fill` does.
                unsafe {
                    match next.is_null() {
                        true => fill(to, size),
                        false => {
                            core::mem::transmute::<*mut c_void, Function>(next)(to, len)
                        }
                    }
                }
            }
        )*
    };
}

openssl! {
    RAND_bytes, c"RAND_bytes": BYTES;
    RAND_priv_bytes, c"RAND_priv_bytes": PRIV_BYTES;
}

/// Defines the same functions of OpenSSL 3, with a context, which is null in most programs. One
/// that is not belongs to one version, so where two are loaded headwater fills the memory itself.
macro_rules! openssl_3 {
    ($($name:ident, $text:literal: $slot:ident;)*) => {
        $(
            static $slot: Original = Original::of($text, OPENSSL);

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(
                context: *mut c_void,
                to: *mut u8,
                len: usize,
                strength: c_uint,
            ) -> c_int {
                type Function =
                    unsafe extern "C" fn(*mut c_void, *mut u8, usize, c_uint) -> c_int;
                before_openssl();
                let next = $slot.address();
                let is_mixed = !context.is_null() && OPENSSL.iter().filter(is_loaded).count() > 1;
                // SAFETY: as above. The context is the program's own, and of the only version that
                // is loaded, or null.
                unsafe {
                    match next.is_null() || is_mixed {
                        true => fill(to, len),
                        false => core::mem::transmute::<*mut c_void, Function>(next)(
                            context, to, len, strength,
                        ),
                    }
                }
            }
        )*
    };
}

openssl_3! {
    RAND_bytes_ex, c"RAND_bytes_ex": BYTES_EX;
    RAND_priv_bytes_ex, c"RAND_priv_bytes_ex": PRIV_BYTES_EX;
}
