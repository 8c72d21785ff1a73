//! OpenSSL's RAND_bytes with headwater as its generator: the front door that servers come by.
//!
//! In a library context of its own, so that the host's libcrypto is measured beside it with the
//! generator that it has by itself.

use crate::draw::work::{Drawn, Generator, Refused};
use crate::impls::implementation::{Absent, Implementation, ready};
use crate::impls::library::{Family, Function, Host, Usual};
use crate::impls::openssl;
use std::env;
use std::ffi::{CString, c_char, c_int, c_uchar, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::null;
use std::sync::OnceLock;

pub(crate) const RAND_BYTES: Implementation = Implementation {
    name: "openssl-headwater",
    version: &|| openssl::OPENSSL.version(openssl::RAND_BYTES.name),
    // It has a mode of its own, which this process does not set.
    has_modes: false,
    open: &|| LIBCRYPTO.open(RAND_BYTES.name),
};

static LIBCRYPTO: Usual = Usual::of(&Family {
    title: "libcrypto of OpenSSL 3 (RAND_bytes_ex)",
    mark: "OSSL_LIB_CTX_new",
    functions,
    places: &["libcrypto.so.3"],
});

/// The module's name where OpenSSL looks for it.
const MODULE: &str = "headwater.so";

fn functions(host: &'static Host) -> Result<Vec<Function>, Absent> {
    // SAFETY: `int RAND_bytes_ex(OSSL_LIB_CTX *ctx, unsigned char *buf, size_t num, unsigned int
    // strength)`.
    let call: BytesFn = unsafe { host.function("RAND_bytes_ex") }?;
    let context: OnceLock<Result<Context, Absent>> = OnceLock::new();
    let open = move || {
        let context = context.get_or_init(|| Context::new(host)).as_ref().map_err(Absent::clone)?;
        ready(Bytes { call, context: *context })
    };
    Ok(vec![Function { name: RAND_BYTES.name, version: None, open: Box::new(open) }])
}

type BytesFn = unsafe extern "C" fn(*mut c_void, *mut c_uchar, usize, c_uint) -> c_int;

/// A library context in which headwater is the generator; kept until the process ends.
#[derive(Clone, Copy)]
struct Context(*mut c_void);

// SAFETY: OpenSSL locks what threads share of a context, and keeps a generator for each thread.
unsafe impl Send for Context {}
// SAFETY: OpenSSL's locks let threads use one context at the same time.
unsafe impl Sync for Context {}

impl Context {
    fn new(host: &Host) -> Result<Context, Absent> {
        let module = module().ok_or_else(|| Absent(format!("no {MODULE} was found")))?;
        let folder = module.parent().unwrap_or(Path::new("/")).as_os_str().as_bytes();
        let folder =
            CString::new(folder).map_err(|_| Absent("its path holds a zero".to_owned()))?;
        // SAFETY: the signatures in OpenSSL 3's headers.
        unsafe {
            let new: unsafe extern "C" fn() -> *mut c_void = host.function("OSSL_LIB_CTX_new")?;
            let set_path: unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int =
                host.function("OSSL_PROVIDER_set_default_search_path")?;
            let load: unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void =
                host.function("OSSL_PROVIDER_load")?;
            let set_type: unsafe extern "C" fn(
                *mut c_void,
                *const c_char,
                *const c_char,
                *const c_char,
                *const c_char,
            ) -> c_int = host.function("RAND_set_DRBG_type")?;
            let context = new();
            let is_set = !context.is_null()
                && set_path(context, folder.as_ptr()) == 1
                && !load(context, c"headwater".as_ptr()).is_null()
                && set_type(context, c"HEADWATER".as_ptr(), null(), null(), null()) == 1;
            let refused = || Absent(format!("OpenSSL does not load {}", module.display()));
            is_set.then_some(Context(context)).ok_or_else(refused)
        }
    }
}

/// Returns the path of the module. The user's own path comes first. If the module is not there, the
/// search continues beside this program, where `cargo xtask openssl` puts the module, and ends
/// among the installed modules.
fn module() -> Option<PathBuf> {
    let told = env::var_os("OPENSSL_MODULES").map(PathBuf::from);
    let beside = env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
    let installed = [
        PathBuf::from("/usr/local/lib/ossl-modules"),
        PathBuf::from(format!("/usr/lib/{}-linux-gnu/ossl-modules", env::consts::ARCH)),
        PathBuf::from("/usr/lib64/ossl-modules"),
    ];
    let beside = beside.map(|folder| folder.join("ossl-modules"));
    let folders = told.into_iter().chain(beside).chain(installed);
    folders.map(|folder| folder.join(MODULE)).find(|module| module.is_file())
}

struct Bytes {
    call: BytesFn,
    context: Context,
}

impl Generator for Bytes {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        // SAFETY: the pointer and the length are those of `buf`; the context is never freed.
        match unsafe { (self.call)(self.context.0, buf.as_mut_ptr(), buf.len(), 0) } {
            1 => Ok(()),
            _ => Err(Refused),
        }
    }
}
