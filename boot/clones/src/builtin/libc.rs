//! Generators of the C library.

use super::{Sources, hex};
use anyhow::{Result, bail};
use libloading::os::unix::Library;
use std::ffi::{CStr, c_void};

// The bindings of the C library lack the first two, and those of musl the third, too. Their types
// are those of stdlib.h and unistd.h.
unsafe extern "C" {
    fn random() -> libc::c_long;
    fn rand_r(seed: *mut libc::c_uint) -> libc::c_int;
    fn getentropy(buffer: *mut c_void, length: usize) -> libc::c_int;
}

/// The calls that make a value: one returns 31 bits, and a value must not be equal by chance.
const CALLS: usize = 4;

pub(super) fn sources() -> Sources {
    let mut sources = Sources::new(version());
    // SAFETY: rand, random and drand48 take no argument and keep their state in the C library. Two
    // threads that call them race, but a witness has one thread.
    sources.draw("libc/rand", || Ok(joined(|| i64::from(unsafe { libc::rand() }))));
    // SAFETY: as for rand.
    sources.draw("libc/random", || Ok(joined(|| unsafe { random() })));
    // SAFETY: as for rand.
    sources.draw("libc/drand48", || Ok(joined(|| unsafe { libc::lrand48() })));
    let mut seed: libc::c_uint = rustix::process::getpid().as_raw_nonzero().get().unsigned_abs();
    // SAFETY: rand_r reads and writes the one word at its argument, which is borrowed here for
    // longer than the call.
    let mut draw = move || i64::from(unsafe { rand_r(&raw mut seed) });
    sources.draw("libc/rand_r, kept", move || Ok(joined(&mut draw)));
    sources.draw("libc/getentropy", || {
        let mut bytes = [0; 16];
        // SAFETY: getentropy writes as many bytes as it is asked for, which the array has.
        match unsafe { getentropy(bytes.as_mut_ptr().cast(), bytes.len()) } {
            0 => Ok(hex(&bytes)),
            _ => Err(std::io::Error::last_os_error().into()),
        }
    });
    sources.draw("libc/mkdtemp", name);
    match arc4random() {
        Some(mut draw) => sources.draw("libc/arc4random_buf", move || Ok(draw())),
        None => {
            sources
                .skip("libc/arc4random_buf", "this C library has none (glibc 2.36 and later do)");
        }
    }
    sources
}

fn joined(mut draw: impl FnMut() -> i64) -> String {
    let values: Vec<String> = (0..CALLS).map(|_| draw().to_string()).collect();
    values.join(",")
}

/// Returns the random part of a directory's name. The directory goes at once: otherwise the next
/// copy would find the name taken and try another, and a repeat would look like a new name.
fn name() -> Result<String> {
    let mut template = *b"/tmp/headwater-XXXXXX\0";
    // SAFETY: mkdtemp needs a string that ends with a zero and that it may write to, and writes
    // into the six characters before the zero only.
    let made = unsafe { libc::mkdtemp(template.as_mut_ptr().cast()) };
    if made.is_null() {
        bail!(std::io::Error::last_os_error());
    }
    let path = CStr::from_bytes_until_nul(&template)?.to_str()?;
    std::fs::remove_dir(path)?;
    Ok(path["/tmp/headwater-".len()..].to_owned())
}

/// Returns a draw by arc4random_buf, where the C library has it. It is looked for by name, because
/// a program that is linked with it would not start on an older system.
fn arc4random() -> Option<impl FnMut() -> String> {
    type Buf = unsafe extern "C" fn(*mut c_void, usize);
    // SAFETY: the library is the C library, which is loaded already, so no initialiser runs; and
    // the function has had this type in every C library since it came from OpenBSD.
    let function = unsafe { Library::this().get::<Buf>(b"arc4random_buf\0") };
    let function = *function.ok()?;
    Some(move || {
        let mut bytes = [0_u8; 16];
        // SAFETY: arc4random_buf writes as many bytes as it is asked for, which the array has. The
        // function stays loaded, because the C library is never unloaded.
        unsafe { function(bytes.as_mut_ptr().cast(), bytes.len()) };
        hex(&bytes)
    })
}

fn version() -> String {
    // SAFETY: gnu_get_libc_version returns a string of the C library's that is never freed.
    #[cfg(target_env = "gnu")]
    let text = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    #[cfg(target_env = "gnu")]
    return format!("glibc {}", text.to_string_lossy());
    #[cfg(not(target_env = "gnu"))]
    "libc".to_owned()
}
