//! `libheadwater_preload.so` in front of a command's C library.

mod elf;
mod reach;
mod relay;
mod stats;

pub(crate) use relay::Relay;
pub(crate) use stats::{Stats, end_like};

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A library that can stand there.
struct Library {
    /// Its file, in cargo's output as in an installation.
    file: &'static str,
    /// The variable that names its file, for an installation elsewhere.
    variable: &'static str,
}

const PRELOAD: Library = Library { file: "libheadwater_preload.so", variable: "HEADWATER_PRELOAD" };
/// Renews seeded generators in copies (fronts/adapters).
const CLONES: Library =
    Library { file: "libheadwater_clones.so", variable: "HEADWATER_CLONES_LIBRARY" };

/// The library for one command.
pub(crate) struct Preload {
    /// The value of `LD_PRELOAD`: the library, and what was there before.
    pub(crate) value: OsString,
    /// A line for each generator that the library does not reach.
    pub(crate) notes: Vec<String>,
}

/// Finds the library and judges the command. `has_openssl` is set if OpenSSL's generator is
/// replaced too, `clones` if seeded generators are to be renewed in copies.
///
/// # Errors
///
/// A message of one line if the library is missing, or if it does not reach the command.
pub(crate) fn preload(
    command: &[OsString],
    has_openssl: bool,
    clones: bool,
) -> Result<Preload, String> {
    let library = PRELOAD.find()?;
    let notes = reach::judge(command, has_openssl)?;
    let mut value = env::var_os("LD_PRELOAD");
    if clones {
        value = Some(extended(&CLONES.find()?, value, CLONES.variable)?);
    }
    Ok(Preload { value: extended(&library, value, PRELOAD.variable)?, notes })
}

/// AddressSanitizer reads this at the start of each program that was built with it.
pub(crate) const ASAN_OPTIONS: &str = "ASAN_OPTIONS";

/// Returns AddressSanitizer's options, so that programs built by GCC start with the library.
///
/// They end with status 1 if any library comes before their libasan.so, since such a library may
/// hide its allocator. Why not put libasan.so in front of ours? Programs of the tree that were not
/// built with it would load it too, and each version has a name of its own. Ours defines no
/// function of the allocator, so the order does no harm, and the programs' check can be left out.
/// An option of the user comes later, and so is the one that counts.
pub(crate) fn asan_options() -> OsString {
    let mut options = OsString::from("verify_asan_link_order=0");
    if let Some(present) = env::var_os(ASAN_OPTIONS).filter(|present| !present.is_empty()) {
        options.push(":");
        options.push(present);
    }
    options
}

/// Returns the library followed by the libraries that the variable names already.
fn extended(library: &Path, present: Option<OsString>, variable: &str) -> Result<OsString, String> {
    // ld.so(8) splits the list at spaces and colons, replaces `$ORIGIN`, and knows no escape.
    if library.as_os_str().as_bytes().iter().any(|byte| matches!(byte, b' ' | b':' | b'$')) {
        return Err(format!(
            "LD_PRELOAD takes no path with spaces, colons or `$`: copy {} elsewhere, and name the \
             copy in {variable}",
            library.display()
        ));
    }
    let mut value = library.as_os_str().to_owned();
    let present = present.unwrap_or_default();
    let others = present.as_bytes().split(|byte| matches!(byte, b' ' | b':'));
    for other in
        others.filter(|other| !other.is_empty() && *other != library.as_os_str().as_bytes())
    {
        value.push(":");
        value.push(std::ffi::OsStr::from_bytes(other));
    }
    Ok(value)
}

impl Library {
    /// Finds the library: where its variable says, beside this command, or in the system's
    /// directories.
    fn find(&self) -> Result<PathBuf, String> {
        let Library { file, variable } = self;
        let mut places = Vec::new();
        if let Some(named) = env::var_os(variable).filter(|named| !named.is_empty()) {
            // A library that was asked for by name is not replaced by another one.
            places.push(PathBuf::from(named));
        } else {
            let triplet = format!("{}-linux-gnu", env::consts::ARCH);
            if let Some(beside) = env::current_exe().ok().as_deref().and_then(Path::parent) {
                let lib = beside.join("../lib");
                places.extend([beside.join(file), lib.join(file)]);
                places.push(lib.join(&triplet).join(file));
            }
            for lib in ["/usr/local/lib", &format!("/usr/lib/{triplet}"), "/usr/lib64", "/usr/lib"]
            {
                places.push(Path::new(lib).join(file));
            }
        }
        if let Some(found) = places.iter().find(|place| place.is_file()) {
            let unreadable = |error| format!("cannot read {}: {error}", found.display());
            // The dynamic linker warns of a library that it cannot load, and starts the program.
            if !elf::is_library(found).map_err(unreadable)? {
                return Err(format!("{} is no library for this machine", found.display()));
            }
            return found.canonicalize().map_err(unreadable);
        }
        let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        Err(format!(
            "{file} was not found (searched: {}); build it with 'cargo build --release', or set \
             {variable} to its path",
            places.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_present_list_is_kept_behind_the_library() {
        let library = Path::new("/lib/ours.so");
        let value =
            |present: Option<&str>| extended(library, present.map(OsString::from), "V").unwrap();
        assert_eq!(value(None), "/lib/ours.so");
        assert_eq!(value(Some("")), "/lib/ours.so");
        assert_eq!(value(Some("/lib/a.so b.so")), "/lib/ours.so:/lib/a.so:b.so");
        // `headwater run` under `headwater run`.
        assert_eq!(value(Some("/lib/a.so:/lib/ours.so")), "/lib/ours.so:/lib/a.so");
        for path in ["/a b/ours.so", "/a:b/ours.so", "/a$ORIGIN/ours.so"] {
            let refused = extended(Path::new(path), None, "V").unwrap_err();
            assert!(refused.contains(&format!("copy {path}")), "{refused}");
        }
    }
}
