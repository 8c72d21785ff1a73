//! Libraries of TLS whose generator wants to be set up before it can be asked.

use super::library::{absent, function, open, sixteen};
use super::{Sources, hex};
use anyhow::Result;
use std::ffi::{CStr, c_char, c_int, c_void};

pub(super) fn nss() -> Sources {
    const IDS: [&str; 1] = ["nss/PK11_GenerateRandom"];
    type Init = unsafe extern "C" fn(*const c_char) -> c_int;
    type Generate = unsafe extern "C" fn(*mut u8, c_int) -> c_int;
    type Version = unsafe extern "C" fn() -> *const c_char;
    let mut sources = Sources::new("NSS");
    let library = match open(&["libnss3.so"]) {
        Ok(library) => library,
        Err(why) => return absent(sources, &IDS, &why),
    };
    // SAFETY: `SECStatus NSS_NoDB_Init(const char *)` (nss.h), `SECStatus
    // PK11_GenerateRandom(unsigned char *, int)` (pk11pub.h) and `const char *NSS_GetVersion(void)`
    // (nss.h); SECStatus is an enumeration, which the C ABI passes as an int.
    let functions = unsafe {
        (
            function::<Init>(library, c"NSS_NoDB_Init"),
            function::<Generate>(library, c"PK11_GenerateRandom"),
            function::<Version>(library, c"NSS_GetVersion"),
        )
    };
    let (Ok(init), Ok(generate), Ok(version)) = functions else {
        return absent(sources, &IDS, "the library lacks one of its functions");
    };
    // SAFETY: the argument is unused, and null is what the header asks for.
    if unsafe { init(std::ptr::null()) } != 0 {
        return absent(sources, &IDS, "NSS_NoDB_Init fails");
    }
    // SAFETY: the version is a string that is compiled into the library.
    let version = unsafe { CStr::from_ptr(version()) };
    sources.title = format!("NSS {}", version.to_string_lossy());
    sources.draw(IDS[0], move || {
        // SAFETY: the pointer is to 16 bytes, and 16 are asked for.
        sixteen(|to| unsafe { generate(to, 16) } == 0)
    });
    sources
}

/// Room for a context of mbedTLS, whose size no function returns. The larger of the two is 1 KiB in
/// 2.28 and 3.6, and 9 KiB in a 2.x with HAVEGE.
const CONTEXT: usize = 64 << 10;

/// Memory that is aligned as malloc(3) aligns it.
#[repr(align(16))]
struct Context([u8; CONTEXT]);

pub(super) fn mbedtls() -> Sources {
    const IDS: [&str; 1] = ["mbedtls/ctr_drbg, kept"];
    type Init = unsafe extern "C" fn(*mut c_void);
    type Entropy = unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> c_int;
    type Seed = unsafe extern "C" fn(*mut c_void, Entropy, *mut c_void, *const u8, usize) -> c_int;
    type Random = unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> c_int;
    let mut sources = Sources::new("mbedTLS");
    let library = match open(&["libmbedcrypto.so.7", "libmbedcrypto.so.16", "libmbedcrypto.so.3"]) {
        Ok(library) => library,
        Err(why) => return absent(sources, &IDS, &why),
    };
    // SAFETY: the types are those of mbedtls/entropy.h and mbedtls/ctr_drbg.h, with their contexts
    // as pointers to void, which C passes alike.
    let functions = unsafe {
        (
            function::<Init>(library, c"mbedtls_entropy_init"),
            function::<Entropy>(library, c"mbedtls_entropy_func"),
            function::<Init>(library, c"mbedtls_ctr_drbg_init"),
            function::<Seed>(library, c"mbedtls_ctr_drbg_seed"),
            function::<Random>(library, c"mbedtls_ctr_drbg_random"),
        )
    };
    let (Ok(entropy_init), Ok(entropy), Ok(init), Ok(seed), Ok(random)) = functions else {
        return absent(sources, &IDS, "the library lacks one of its functions");
    };
    let context = || -> *mut c_void {
        let context: &'static mut Context = Box::leak(Box::new(Context([0; CONTEXT])));
        context.0.as_mut_ptr().cast()
    };
    let (pool, drbg) = (context(), context());
    // SAFETY: both contexts are larger than the library's, aligned as malloc would align them,
    // never moved, and never freed. Each is initialised by its own function before another one gets
    // it, and the seed has no personal string.
    let status = unsafe {
        entropy_init(pool);
        init(drbg);
        seed(drbg, entropy, pool, std::ptr::null(), 0)
    };
    if status != 0 {
        return absent(sources, &IDS, "mbedtls_ctr_drbg_seed fails");
    }
    sources.title = "mbedTLS".to_owned();
    sources.draw(IDS[0], move || -> Result<String> {
        let mut bytes = [0_u8; 16];
        // SAFETY: the generator was seeded above, this process has one thread, and the array has
        // the 16 bytes that are asked for.
        let status = unsafe { random(drbg, bytes.as_mut_ptr(), bytes.len()) };
        anyhow::ensure!(status == 0, "mbedtls_ctr_drbg_random fails");
        Ok(hex(&bytes))
    });
    sources
}
