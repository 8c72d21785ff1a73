//! RAND_bytes of the libcrypto that the host has: OpenSSL's, and those of its descendants. They
//! identify themselves by their version strings and differ in the type of a length.

use crate::draw::work::{Drawn, Generator, Refused};
use crate::impls::implementation::{Absent, Implementation, ready};
use crate::impls::library::{self, Family, Function, Host, Usual};
use std::ffi::{c_char, c_int, c_uchar};

pub(crate) const RAND_BYTES: Implementation = Implementation {
    name: "openssl-RAND_bytes",
    version: &|| OPENSSL.version(RAND_BYTES.name),
    has_modes: false,
    open: &|| OPENSSL.open(RAND_BYTES.name),
};

/// RAND_priv_bytes: the generator that OpenSSL keeps for secrets.
pub(crate) const RAND_PRIV_BYTES: Implementation = Implementation {
    name: "openssl-RAND_priv_bytes",
    version: &|| OPENSSL.version(RAND_PRIV_BYTES.name),
    has_modes: false,
    open: &|| OPENSSL.open(RAND_PRIV_BYTES.name),
};

pub(crate) const BORING: Implementation = Implementation {
    name: "boringssl-RAND_bytes",
    version: &|| BORINGSSL.version(BORING.name),
    has_modes: false,
    open: &|| BORINGSSL.open(BORING.name),
};

pub(super) static OPENSSL: Usual = Usual::of(&LIBCRYPTO);

static BORINGSSL: Usual = Usual::of(&Family {
    // Debian keeps it out of the loader's way, because the soname says nothing of BoringSSL.
    places: &["android/libcrypto.so.0"],
    ..LIBCRYPTO
});

pub(super) const LIBCRYPTO: Family = Family {
    title: "libcrypto of OpenSSL, LibreSSL, BoringSSL or AWS-LC (RAND_bytes)",
    mark: "RAND_bytes",
    functions,
    // Newest first. OpenSSL 1.0 and before are not asked: theirs is not safe to call from several
    // threads.
    places: &["libcrypto.so.3", "libcrypto.so.1.1"],
};

fn functions(host: &'static Host) -> Result<Vec<Function>, Absent> {
    // SAFETY: `const char *OpenSSL_version(int t)` in every descendant, and in OpenSSL since 1.1.
    let version: unsafe extern "C" fn(c_int) -> *const c_char =
        unsafe { host.function("OpenSSL_version") }?;
    // SAFETY: 0 is OPENSSL_VERSION; the answer is a string in the library's own constant data.
    let version = unsafe { library::text(version(0)) }
        .ok_or_else(|| Absent("this libcrypto does not report its version".to_owned()))?;
    let function = |name, open| Function { name, version: Some(version.clone()), open };
    // AWS-LC calls itself "OpenSSL 1.1.1 (compatible; AWS-LC 1.39.0)".
    let long = [("BoringSSL", BORING.name), ("AWS-LC", "aws-lc-RAND_bytes")];
    if let Some((_, name)) = long.into_iter().find(|(who, _)| version.contains(who)) {
        // SAFETY: `int RAND_bytes(uint8_t *buf, size_t len)` in these two.
        let call: LongFn = unsafe { host.function("RAND_bytes") }?;
        return Ok(vec![function(name, Box::new(move || ready(Long(call))))]);
    }
    let name = match version.split_ascii_whitespace().next() {
        Some("OpenSSL") => RAND_BYTES.name,
        Some("LibreSSL") => "libressl-RAND_bytes",
        _ => return Err(Absent(format!("nothing is known of the libcrypto of {version}"))),
    };
    // SAFETY: `int RAND_bytes(unsigned char *buf, int num)` in every version of these two.
    let call: ShortFn = unsafe { host.function("RAND_bytes") }?;
    let mut functions = vec![function(name, Box::new(move || ready(Short(call))))];
    // SAFETY: `int RAND_priv_bytes(unsigned char *buf, int num)`, since OpenSSL 1.1.1.
    if let Ok(call) = unsafe { host.function::<ShortFn>("RAND_priv_bytes") } {
        functions.push(function(RAND_PRIV_BYTES.name, Box::new(move || ready(Short(call)))));
    }
    Ok(functions)
}

/// Returns the number in a libcrypto's version string, such as `3.0.19` of
/// `OpenSSL 3.0.19 27 Jan 2026`.
pub(super) fn number(version: &str) -> Option<&str> {
    version
        .rsplit([' ', ')']) // the last: AWS-LC names OpenSSL's first
        .find(|word| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit()))
}

type ShortFn = unsafe extern "C" fn(*mut c_uchar, c_int) -> c_int;
type LongFn = unsafe extern "C" fn(*mut c_uchar, usize) -> c_int;

/// All of them answer 1 for success, and lock or keep state for each thread by themselves.
const SUCCESS: c_int = 1;

struct Short(ShortFn);

impl Generator for Short {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        // The longest buffer measured is 1 GiB, which fits.
        let len = c_int::try_from(buf.len()).map_err(|_| Refused)?;
        // SAFETY: the pointer and the length are those of `buf`.
        match unsafe { (self.0)(buf.as_mut_ptr(), len) } {
            SUCCESS => Ok(()),
            _ => Err(Refused),
        }
    }
}

struct Long(LongFn);

impl Generator for Long {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        // SAFETY: the pointer and the length are those of `buf`.
        match unsafe { (self.0)(buf.as_mut_ptr(), buf.len()) } {
            SUCCESS => Ok(()),
            _ => Err(Refused),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_number_in_each_kind_of_version() {
        for (version, expected) in [
            ("OpenSSL 3.0.19 27 Jan 2026", Some("3.0.19")),
            ("OpenSSL 1.1.1w  11 Sep 2023", Some("1.1.1w")),
            ("OpenSSL 3.6.0-beta1 2 Sep 2025", Some("3.6.0-beta1")),
            ("OpenSSL 1.1.1 (compatible; AWS-LC 1.39.0)", Some("1.39.0")),
            ("LibreSSL 4.0.0", Some("4.0.0")),
            ("BoringSSL", None),
        ] {
            assert_eq!(number(version), expected, "{version}");
        }
    }
}
