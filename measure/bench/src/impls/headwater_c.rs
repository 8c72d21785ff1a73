//! headwater as C programs call it: the shared library that lies beside this program, as `cargo
//! build --release` puts it, or that is installed.

use crate::draw::work::{Drawn, Generator, Refused};
use crate::impls::implementation::{Absent, Implementation, ready};
use crate::impls::library::{self, Family, Function, Host, Usual};
use std::ffi::{c_char, c_int, c_void};

pub(crate) const FILL: Implementation = Implementation {
    name: "headwater-c",
    version: &|| LIBHEADWATER.version(FILL.name),
    // It has a mode of its own, which this process does not set.
    has_modes: false,
    open: &|| LIBHEADWATER.open(FILL.name),
};

pub(super) static LIBHEADWATER: Usual = Usual::of(&FAMILY);

pub(super) const FAMILY: Family = Family {
    title: "libheadwater (headwater_fill)",
    mark: "headwater_fill",
    functions,
    places: &["$ORIGIN/libheadwater.so", "$ORIGIN/../lib/libheadwater.so.0", "libheadwater.so.0"],
};

fn functions(host: &'static Host) -> Result<Vec<Function>, Absent> {
    // SAFETY: `const char *headwater_version(void)`.
    let version = unsafe { host.function("headwater_version") };
    let version = version.ok().and_then(|version: unsafe extern "C" fn() -> *const c_char| {
        // SAFETY: it takes nothing and returns a constant string.
        unsafe { library::text(version()) }
    });
    // SAFETY: `int headwater_fill(void *buf, size_t len)`.
    let call = unsafe { host.function("headwater_fill") }?;
    Ok(vec![Function { name: FILL.name, version, open: Box::new(move || ready(Fill(call))) }])
}

struct Fill(unsafe extern "C" fn(*mut c_void, usize) -> c_int);

impl Generator for Fill {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        // SAFETY: the pointer and the length are those of `buf`.
        match unsafe { (self.0)(buf.as_mut_ptr().cast(), buf.len()) } {
            0 => Ok(()),
            _ => Err(Refused),
        }
    }
}
