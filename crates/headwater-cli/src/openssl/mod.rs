//! What makes headwater the generator of an OpenSSL program: the module, and a configuration that loads it.

mod conf;
mod folder;

use conf::Present;
use std::env;
use std::path::{Path, PathBuf, absolute};

/// The module's name where OpenSSL looks for it.
const MODULE: &str = "headwater.so";
/// Its name as cargo builds it.
const BUILT: &str = "libheadwater_openssl.so";
/// Where distributions keep the configuration that OpenSSL reads unless told otherwise.
const USUAL: [&str; 4] = [
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/openssl.cnf",
    "/usr/lib/ssl/openssl.cnf",
    "/usr/local/ssl/openssl.cnf",
];

/// A file that OPENSSL_CONF may name: the present configuration, and headwater's lines after it. What is wrong, as
/// one line, if there can be none.
pub(crate) fn configuration() -> Result<PathBuf, String> {
    let module = module()?;
    let base = base();
    let present = match &base {
        Some(path) => Present::read(path)?,
        None => Present::default(),
    };
    folder::keep(&present.extended(base.as_deref(), &module)?)
}

/// The configuration that the command would have read: the user's, or the system's.
fn base() -> Option<PathBuf> {
    match env::var_os("OPENSSL_CONF") {
        // Set to nothing, it turns the system's off.
        Some(named) if named.is_empty() => None,
        // The command may go to another folder first.
        Some(named) => absolute(named).ok(),
        None => USUAL.iter().map(PathBuf::from).find(|path| path.is_file()),
    }
}

/// The provider's module: where the user says, beside this command, or where OpenSSL has its own.
fn module() -> Result<PathBuf, String> {
    let triplet = format!("{}-linux-gnu", env::consts::ARCH);
    let mut places = Vec::new();
    if let Some(folder) = env::var_os("OPENSSL_MODULES") {
        places.push(PathBuf::from(folder).join(MODULE));
    }
    if let Some(beside) = env::current_exe().ok().as_deref().and_then(Path::parent) {
        let lib = beside.join("../lib");
        places.extend([
            beside.join("ossl-modules").join(MODULE),
            beside.join(BUILT),
            lib.join("ossl-modules").join(MODULE),
            lib.join(&triplet).join("ossl-modules").join(MODULE),
        ]);
    }
    for lib in ["/usr/local/lib", &format!("/usr/lib/{triplet}"), "/usr/lib64", "/usr/lib"] {
        places.push(Path::new(lib).join("ossl-modules").join(MODULE));
    }
    if let Some(found) = places.iter().find(|place| place.is_file()) {
        return found.canonicalize().map_err(|error| format!("{}: {error}", found.display()));
    }
    let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    Err(format!(
        "OpenSSL's module of headwater is not installed: none of {} is there; build it with 'cargo build --release', \
         or name the folder of {MODULE} in OPENSSL_MODULES",
        places.join(", ")
    ))
}
