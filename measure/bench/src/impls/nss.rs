//! PK11_GenerateRandom of NSS, set up without a database of certificates.

use crate::draw::work::{Drawn, Generator, Refused};
use crate::impls::implementation::{Absent, Implementation, ready};
use crate::impls::library::{self, Family, Function, Host, Usual};
use std::ffi::{c_char, c_int, c_uchar};

pub(crate) const GENERATE_RANDOM: Implementation = Implementation {
    name: "nss-PK11_GenerateRandom",
    version: &|| NSS.version(GENERATE_RANDOM.name),
    has_modes: false,
    open: &|| NSS.open(GENERATE_RANDOM.name),
};

pub(super) static NSS: Usual = Usual::of(&FAMILY);

pub(super) const FAMILY: Family = Family {
    title: "NSS (PK11_GenerateRandom)",
    mark: "PK11_GenerateRandom",
    functions,
    places: &["libnss3.so"],
};

/// `SECStatus`.
const SUCCESS: c_int = 0;

type GenerateFn = unsafe extern "C" fn(*mut c_uchar, c_int) -> c_int;

fn functions(host: &'static Host) -> Result<Vec<Function>, Absent> {
    // SAFETY: `SECStatus NSS_NoDB_Init(const char *configdir)`; the status is an enum.
    let init: unsafe extern "C" fn(*const c_char) -> c_int =
        unsafe { host.function("NSS_NoDB_Init") }?;
    // SAFETY: NSS does not use the directory, and NSS's own programs pass null.
    if unsafe { init(std::ptr::null()) } != SUCCESS {
        return Err(Absent(
            "NSS_NoDB_Init fails: libsoftokn3 and libfreebl3 may be missing".to_owned(),
        ));
    }
    // SAFETY: `const char *NSS_GetVersion(void)`.
    let version: unsafe extern "C" fn() -> *const c_char =
        unsafe { host.function("NSS_GetVersion") }?;
    // SAFETY: it takes nothing and returns a constant string.
    let version = unsafe { library::text(version()) };
    // SAFETY: `SECStatus PK11_GenerateRandom(unsigned char *data, int len)`.
    let call: GenerateFn = unsafe { host.function("PK11_GenerateRandom") }?;
    Ok(vec![Function {
        name: GENERATE_RANDOM.name,
        version: version.map(|version| format!("NSS {version}")),
        open: Box::new(move || ready(Nss(call))),
    }])
}

struct Nss(GenerateFn);

/// It refuses more at a time: the limit of NIST SP 800-90A for its kind of generator.
const MAX: usize = 1 << 16;

impl Generator for Nss {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        for chunk in buf.chunks_mut(MAX) {
            // SAFETY: the pointer and the length, which fits, are those of `chunk`. NSS takes its
            // own locks.
            if unsafe { (self.0)(chunk.as_mut_ptr(), chunk.len() as c_int) } != SUCCESS {
                return Err(Refused);
            }
        }
        Ok(())
    }
}
