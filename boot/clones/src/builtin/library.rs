//! Libraries in C that many programs link, opened by name. One that is not on this machine is
//! skipped, and so is every one in a statically linked command, which cannot open any.

use super::{Sources, hex};
use anyhow::{Result, ensure};
use libloading::Library;
use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Opens the first library of these names that is there, for the life of the process.
pub(super) fn open(names: &[&str]) -> Result<&'static Library, String> {
    let mut why = String::new();
    for &name in names {
        // SAFETY: opening runs the library's initialisers. These are system libraries that any
        // program may link, so their initialisers assume nothing of the program.
        match unsafe { Library::new(name) } {
            // Leaked, so that functions taken from it are valid for as long as the process lives.
            Ok(library) => return Ok(Box::leak(Box::new(library))),
            Err(error) => why = error.to_string(),
        }
    }
    Err(why)
}

/// Returns a function of the library, or the one that LD_PRELOAD puts before it: a program that
/// links the library calls that one.
///
/// # Safety
///
/// `T` is a pointer to a function, and has the type that `name` has in the library's header.
pub(super) unsafe fn function<T: Copy>(
    library: &'static Library,
    name: &CStr,
) -> Result<T, String> {
    // SAFETY: `T` is the type of the function, as `# Safety` asks; and the copy outlives no
    // library, because `open` leaks it.
    let symbol = unsafe {
        match preloaded(name) {
            Some(before) => before.get::<T>(name.to_bytes_with_nul()),
            None => library.get::<T>(name.to_bytes_with_nul()),
        }
    };
    symbol.map(|symbol| *symbol).map_err(|error| error.to_string())
}

/// Returns the library of LD_PRELOAD that has a function of this name.
fn preloaded(name: &CStr) -> Option<&'static Library> {
    // ld.so(8): separated by blanks or colons. They are loaded already, so opening runs no code.
    let names = std::env::var("LD_PRELOAD").ok()?;
    names.split([' ', ':']).find_map(|file| {
        let library = open(&[file]).ok()?;
        // SAFETY: the symbol is only looked for, and not used by any type.
        let address = *unsafe { library.get::<*const c_void>(name.to_bytes_with_nul()) }.ok()?;
        // A search continues in the libraries that this one needs, such as the C library.
        // SAFETY: all zeros are a valid value, of null pointers.
        let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: any address may be asked for, and the answer is a place of this frame.
        if unsafe { libc::dladdr(address, &raw mut found) } == 0 || found.dli_fname.is_null() {
            return None;
        }
        // SAFETY: the linker's own name of a library that stays loaded.
        let owner = unsafe { CStr::from_ptr(found.dli_fname) };
        let owner = Path::new(OsStr::from_bytes(owner.to_bytes()));
        (owner.file_name() == Path::new(file).file_name()).then_some(library)
    })
}

/// A function that fills memory and returns a status.
type Fill = unsafe extern "C" fn(*mut u8, c_int) -> c_int;

/// Draws 16 bytes by a closure over the pointer, and fails unless it returns true.
pub(super) fn sixteen(mut fill: impl FnMut(*mut u8) -> bool) -> Result<String> {
    let mut bytes = [0_u8; 16];
    ensure!(fill(bytes.as_mut_ptr()), "the library reports an error");
    Ok(hex(&bytes))
}

pub(super) fn openssl() -> Sources {
    const IDS: [&str; 2] = ["openssl/RAND_bytes", "openssl/RAND_priv_bytes"];
    let mut sources = Sources::new("OpenSSL");
    let library = match open(&["libcrypto.so.3", "libcrypto.so.4", "libcrypto.so.1.1"]) {
        Ok(library) => library,
        Err(why) => return absent(sources, &IDS, &why),
    };
    // SAFETY: `const char *OpenSSL_version(int)` (openssl/crypto.h).
    let version = unsafe {
        function::<unsafe extern "C" fn(c_int) -> *const c_char>(library, c"OpenSSL_version")
    };
    if let Ok(version) = version {
        // SAFETY: OpenSSL_version(0) returns a string that is compiled into the library.
        sources.title = unsafe { CStr::from_ptr(version(0)) }.to_string_lossy().into_owned();
    }
    for (id, name) in IDS.into_iter().zip([c"RAND_bytes", c"RAND_priv_bytes"]) {
        // SAFETY: `int RAND_bytes(unsigned char *, int)`, and RAND_priv_bytes alike
        // (openssl/rand.h).
        match unsafe { function::<Fill>(library, name) } {
            Ok(fill) => sources.draw(id, move || {
                // SAFETY: the pointer is to 16 bytes, and 16 are asked for.
                sixteen(|to| unsafe { fill(to, 16) } == 1)
            }),
            Err(why) => sources.skip(id, why),
        }
    }
    sources
}

pub(super) fn gnutls() -> Sources {
    const IDS: [&str; 3] = ["gnutls/NONCE", "gnutls/RANDOM", "gnutls/KEY"];
    type Rnd = unsafe extern "C" fn(c_uint, *mut c_void, usize) -> c_int;
    let mut sources = Sources::new("GnuTLS");
    let library = match open(&["libgnutls.so.30"]) {
        Ok(library) => library,
        Err(why) => return absent(sources, &IDS, &why),
    };
    // SAFETY: `int gnutls_rnd(gnutls_rnd_level_t, void *, size_t)` (gnutls/crypto.h); the level is
    // an enumeration of 0 to 2.
    let rnd = match unsafe { function::<Rnd>(library, c"gnutls_rnd") } {
        Ok(rnd) => rnd,
        Err(why) => return absent(sources, &IDS, &why),
    };
    for (id, level) in IDS.into_iter().zip(0..) {
        sources.draw(id, move || {
            // SAFETY: the pointer is to 16 bytes, 16 are asked for, and the level is one of 0 to 2.
            sixteen(|to| unsafe { rnd(level, to.cast(), 16) } == 0)
        });
    }
    sources
}

pub(super) fn gcrypt() -> Sources {
    const IDS: [&str; 2] = ["gcrypt/gcry_create_nonce", "gcrypt/gcry_randomize, strong"];
    type Nonce = unsafe extern "C" fn(*mut c_void, usize);
    type Randomize = unsafe extern "C" fn(*mut c_void, usize, c_int);
    const STRONG: c_int = 1;
    let mut sources = Sources::new("libgcrypt");
    let library = match open(&["libgcrypt.so.20"]) {
        Ok(library) => library,
        Err(why) => return absent(sources, &IDS, &why),
    };
    // SAFETY: `const char *gcry_check_version(const char *)`, `void gcry_create_nonce(void *,
    // size_t)` and `void gcry_randomize(void *, size_t, enum gcry_random_level)` (gcrypt.h).
    let functions = unsafe {
        (
            function::<unsafe extern "C" fn(*const c_char) -> *const c_char>(
                library,
                c"gcry_check_version",
            ),
            function::<Nonce>(library, c"gcry_create_nonce"),
            function::<Randomize>(library, c"gcry_randomize"),
        )
    };
    let (Ok(check), Ok(nonce), Ok(randomize)) = functions else {
        return absent(sources, &IDS, "the library lacks one of its functions");
    };
    // The library has to be asked for its version before any other call.
    // SAFETY: a null pointer asks for no minimum, and the answer is a constant string or null.
    let version = unsafe { check(std::ptr::null()) };
    if !version.is_null() {
        // SAFETY: not null, so it is a string that is compiled into the library.
        let version = unsafe { CStr::from_ptr(version) };
        sources.title = format!("libgcrypt {}", version.to_string_lossy());
    }
    sources.draw(IDS[0], move || {
        sixteen(|to| {
            // SAFETY: the pointer is to 16 bytes, and 16 are asked for.
            unsafe { nonce(to.cast(), 16) };
            true
        })
    });
    sources.draw(IDS[1], move || {
        sixteen(|to| {
            // SAFETY: as for the nonce; the level is one of the enumeration.
            unsafe { randomize(to.cast(), 16, STRONG) };
            true
        })
    });
    sources
}

pub(super) fn sodium() -> Sources {
    filled(
        "libsodium",
        "sodium/randombytes_buf",
        &["libsodium.so.23", "libsodium.so.26"],
        c"randombytes_buf",
    )
}

pub(super) fn bsd() -> Sources {
    filled("libbsd", "libbsd/arc4random_buf", &["libbsd.so.0"], c"arc4random_buf")
}

/// Returns the source of a library whose function takes a pointer and a length, and cannot fail.
fn filled(title: &str, id: &'static str, names: &[&str], name: &CStr) -> Sources {
    type Buf = unsafe extern "C" fn(*mut c_void, usize);
    let mut sources = Sources::new(title);
    // SAFETY: both functions that are named here are `void f(void *, size_t)`
    // (sodium/randombytes.h, bsd/stdlib.h).
    match open(names).and_then(|library| unsafe { function::<Buf>(library, name) }) {
        Ok(buf) => sources.draw(id, move || {
            sixteen(|to| {
                // SAFETY: the pointer is to 16 bytes, and 16 are asked for.
                unsafe { buf(to.cast(), 16) };
                true
            })
        }),
        Err(why) => sources.skip(id, why),
    }
    sources
}

pub(super) fn uuid() -> Sources {
    const ID: &str = "libuuid/uuid_generate_random";
    type Generate = unsafe extern "C" fn(*mut u8);
    let mut sources = Sources::new("libuuid");
    // SAFETY: `void uuid_generate_random(uuid_t)`, whose argument is 16 bytes (uuid/uuid.h).
    let generate = open(&["libuuid.so.1"])
        .and_then(|library| unsafe { function::<Generate>(library, c"uuid_generate_random") });
    match generate {
        Ok(generate) => sources.draw(ID, move || {
            sixteen(|to| {
                // SAFETY: the pointer is to the 16 bytes that the function writes.
                unsafe { generate(to) };
                true
            })
        }),
        Err(why) => sources.skip(ID, why),
    }
    sources
}

pub(super) fn absent(mut sources: Sources, ids: &[&'static str], why: &str) -> Sources {
    for id in ids {
        sources.skip(*id, why);
    }
    sources
}
