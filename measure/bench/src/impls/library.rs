//! Libraries that the host may have, opened when the program runs: the build needs none of them.
//!
//! Several versions of one library stand side by side in this process. Each is opened by its path
//! with RTLD_LOCAL, so that its own references find its own functions, and no other library's
//! references do. A second namespace (dlmopen) looks cleaner, but it would load a second C library,
//! whose malloc and thread-local storage the threads of this process lack. And a child process
//! could not be timed in the same rounds.

use crate::impls::implementation::{Absent, Opened};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, OsStr, c_void};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A library that stays open until the process ends, as do the functions found in it.
pub(super) struct Host(Library);

impl Host {
    /// Opens the library that the loader finds under a soname, or the file at an absolute path.
    pub(super) fn open(file: &Path) -> Result<&'static Host, libloading::Error> {
        // SAFETY: initialisers of the libraries asked for here set up themselves and nothing else,
        // and their finalisers run at exit only, because the library is never closed. RTLD_LOCAL
        // keeps its symbols from replacing those of others.
        let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) }?;
        Ok(Box::leak(Box::new(Host(library))))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        // SAFETY: the address is not used.
        unsafe { self.0.get::<*const c_void>(name) }.is_ok()
    }

    /// Returns the function `name` of this library.
    ///
    /// # Safety
    ///
    /// `F` is a function pointer with the signature that the library documents for `name`.
    pub(super) unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, Absent> {
        // SAFETY: the caller vouches for the type.
        let symbol = unsafe { self.0.get::<F>(name) };
        symbol.map(|symbol| *symbol).map_err(|_| Absent(format!("the library has no {name}")))
    }

    /// Returns the path of the file that contains `name` of this library.
    pub(super) fn path_of(&self, name: &str) -> Option<PathBuf> {
        // SAFETY: the address is looked up and not used otherwise.
        let address = unsafe { *self.0.get::<*const c_void>(name).ok()? };
        let mut info = libc::Dl_info {
            dli_fname: std::ptr::null(),
            dli_fbase: std::ptr::null_mut(),
            dli_sname: std::ptr::null(),
            dli_saddr: std::ptr::null_mut(),
        };
        // SAFETY: dladdr accepts any address, and writes `info` alone.
        if unsafe { libc::dladdr(address, &raw mut info) } == 0 || info.dli_fname.is_null() {
            return None;
        }
        // SAFETY: dladdr's answer is a C string of the loader's, which lives as long as the
        // library.
        let path = unsafe { CStr::from_ptr(info.dli_fname) };
        fs::canonicalize(OsStr::from_bytes(path.to_bytes())).ok()
    }
}

/// Returns a copy of a C string that a library keeps in its constant data, or `None` for null.
///
/// # Safety
///
/// `text` is null or such a string.
pub(super) unsafe fn text(text: *const std::ffi::c_char) -> Option<String> {
    // SAFETY: `text` is not null here, so it is a C string in a library's constant data, which does
    // not change while it is copied.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// One function of an opened library, ready to be measured.
pub(super) struct Function {
    /// The name, as in `Implementation::name`.
    pub(super) name: &'static str,
    /// The library's own version string.
    pub(super) version: Option<String>,
    pub(super) open: Box<dyn Fn() -> Opened + Send + Sync>,
}

/// Libraries with the same functions.
pub(super) struct Family {
    /// The name in error messages.
    pub(super) title: &'static str,
    /// No library without this function belongs to the family.
    pub(super) mark: &'static str,
    /// Sets up a library that has the mark, and returns its functions.
    pub(super) functions: fn(&'static Host) -> Result<Vec<Function>, Absent>,
    /// The places of the library: sonames for the loader, paths below the host's library
    /// directories, and, as in an rpath, $ORIGIN for the directory of this program.
    pub(super) places: &'static [&'static str],
}

/// Returns the library of a family that this host uses by default: the first of its places that has
/// one.
pub(super) struct Usual {
    family: &'static Family,
    loaded: OnceLock<Result<Loaded, Absent>>,
}

/// An opened library and what it offers.
pub(super) struct Loaded {
    pub(super) path: Option<PathBuf>,
    functions: Vec<Function>,
}

impl Usual {
    pub(super) const fn of(family: &'static Family) -> Usual {
        Usual { family, loaded: OnceLock::new() }
    }

    pub(super) fn load(&self) -> Result<&Loaded, Absent> {
        let Family { mark, functions, places, .. } = *self.family;
        let loaded = self.loaded.get_or_init(|| {
            let host = places
                .iter()
                .flat_map(|place| files(place))
                .find_map(|file| Host::open(&file).ok().filter(|host| host.has(mark)))
                .ok_or_else(|| Absent(format!("no {} was found", places.join(" or "))))?;
            Ok(Loaded { path: host.path_of(mark), functions: functions(host)? })
        });
        loaded.as_ref().map_err(Absent::clone)
    }

    fn function(&self, name: &str) -> Result<&Function, Absent> {
        let functions = &self.load()?.functions;
        functions
            .iter()
            .find(|function| function.name == name)
            .ok_or_else(|| Absent("the library has no such function".to_owned()))
    }

    pub(super) fn open(&self, name: &str) -> Opened {
        (self.function(name)?.open)()
    }

    pub(super) fn version(&self, name: &str) -> Option<String> {
        self.function(name).ok()?.version.clone()
    }
}

/// Returns the names to ask the loader for: a soname unchanged, a path as the files that it names.
fn files(place: &str) -> Vec<PathBuf> {
    if !place.contains('/') {
        return vec![PathBuf::from(place)];
    }
    if let Some(beside) = place.strip_prefix("$ORIGIN/") {
        let program = std::env::current_exe().ok();
        let file = program.and_then(|program| Some(program.parent()?.join(beside)));
        return file.into_iter().filter(|file| file.is_file()).collect();
    }
    folders().into_iter().map(|folder| folder.join(place)).filter(|file| file.is_file()).collect()
}

/// Returns the files of the host's library directories whose names start with `prefix`, each once.
pub(super) fn starting_with(prefix: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = folders()
        .iter()
        .flat_map(entries)
        .filter(|file| {
            file.file_name().is_some_and(|name| name.as_bytes().starts_with(prefix.as_bytes()))
        })
        .filter_map(|file| fs::canonicalize(file).ok())
        .collect();
    files.sort();
    files.dedup();
    files
}

/// Returns the directories where libraries are installed: those of the loader's configuration, and
/// those of packages and of `make install`.
fn folders() -> Vec<PathBuf> {
    let told = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&told).collect();
    let configured =
        entries("/etc/ld.so.conf.d").into_iter().chain([PathBuf::from("/etc/ld.so.conf")]);
    for file in configured {
        let text = fs::read_to_string(file).unwrap_or_default();
        folders.extend(text.lines().map(|line| PathBuf::from(line.trim())));
    }
    // A directory such as Debian's x86_64-linux-gnu. Other C libraries' directories hold libraries
    // that this process cannot use.
    let c_library = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    let triplet = format!("{}-linux-{c_library}", std::env::consts::ARCH);
    let prefixes = [PathBuf::from("/usr"), PathBuf::from("/usr/local")];
    for prefix in prefixes.into_iter().chain(entries("/usr/local")) {
        let lib = prefix.join("lib");
        folders.extend([lib.join(&triplet), prefix.join("lib64"), lib]);
    }
    let mut found = Vec::new();
    for folder in folders.iter().filter(|folder| folder.is_absolute()) {
        if let Ok(folder) = fs::canonicalize(folder)
            && !found.contains(&folder)
        {
            found.push(folder);
        }
    }
    found
}

/// Returns the full names in `directory`, or an empty list if it cannot be read.
fn entries(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_absolute_and_each_is_listed_once() {
        let folders = folders();
        let mut distinct = folders.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), folders.len());
        assert!(folders.iter().all(|folder| folder.is_absolute()));
    }
}
