//! The module and the configuration that make headwater the generator of an OpenSSL program.

mod conf;
mod kept;
mod parse;
mod seen;

use conf::Present;
pub(crate) use kept::Kept;
pub(crate) use seen::Seen;
use std::env;
use std::path::{Path, PathBuf, absolute};

/// File name of the module where OpenSSL searches for it.
const MODULE: &str = "headwater.so";
/// File name of the module in cargo's output.
const BUILT: &str = "libheadwater_openssl.so";
/// Paths of the distributions' default configuration.
const USUAL: [&str; 4] = [
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/openssl.cnf",
    "/usr/lib/ssl/openssl.cnf",
    "/usr/local/ssl/openssl.cnf",
];

/// Writes a file for OPENSSL_CONF, with the present configuration and headwater's lines after it.
///
/// # Errors
///
/// A message of one line.
pub(crate) fn configuration() -> Result<Kept, String> {
    kept::keep(&text()?)
}

/// Returns the configuration's text.
///
/// # Errors
///
/// A message of one line.
pub(crate) fn text() -> Result<String, String> {
    let module = module()?;
    let base = base();
    let present = match &base {
        Some(path) => Present::read(path)?,
        None => Present::default(),
    };
    let text = present.extended(base.as_deref(), &module)?;
    Present::of(&text)?.check()?;
    Ok(text)
}

/// Returns the configuration that the command would have read: the user's, or the system's.
fn base() -> Option<PathBuf> {
    match env::var_os("OPENSSL_CONF") {
        // An empty value disables the system's configuration.
        Some(named) if named.is_empty() => None,
        // The command may change its directory first.
        Some(named) => absolute(named).ok(),
        None => USUAL.iter().map(PathBuf::from).find(|path| path.is_file()),
    }
}

/// Finds the module: in OPENSSL_MODULES, beside this command, or in OpenSSL's own directories.
fn module() -> Result<PathBuf, String> {
    let triplet = format!("{}-linux-gnu", env::consts::ARCH);
    let mut places = Vec::new();
    if let Some(directory) = env::var_os("OPENSSL_MODULES") {
        places.push(PathBuf::from(directory).join(MODULE));
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
        "headwater's module for OpenSSL was not found (searched: {}); build it with 'cargo build --release', or set \
         OPENSSL_MODULES to the directory of {MODULE}",
        places.join(", ")
    ))
}
