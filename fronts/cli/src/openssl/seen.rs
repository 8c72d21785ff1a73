//! OpenSSL in a running process, as its memory map shows it.
//!
//! A configuration says what should be loaded, and OpenSSL ignores a configuration that is gone or
//! wrong. So the truth is in the process: the libraries that it has mapped.

use headwater_text::escape::untrusted;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Facts of one process.
pub(crate) struct Seen {
    /// Name of the program, as the kernel has it.
    pub(crate) name: String,
    /// OpenSSL's library, or the program that contains one.
    pub(crate) library: Option<String>,
    /// headwater's module.
    pub(crate) module: Option<PathBuf>,
    /// Memory that a fork clears or that the kernel may drop, which headwater alone uses: it has
    /// drawn.
    pub(crate) has_pages: bool,
    /// The fault of the configuration that `OPENSSL_CONF` named at the start.
    pub(crate) fault: Option<String>,
}

impl Seen {
    /// Reads the process.
    ///
    /// # Errors
    ///
    /// The process has ended, or belongs to another user.
    pub(crate) fn read(process: u32) -> io::Result<Seen> {
        let place = PathBuf::from(format!("/proc/{process}"));
        // The process chooses its name and the files that it maps, in any bytes.
        let text = |name| -> io::Result<String> {
            let bytes = fs::read(place.join(name)).map_err(explained)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let stat = text("stat")?;
        if stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with(['Z', 'X'])) {
            let ended = "it has ended, and its parent has not asked for its status";
            return Err(io::Error::new(io::ErrorKind::NotFound, ended));
        }
        // Both need the same right, so neither can be missing alone.
        let maps = text("maps")?;
        let flags = text("smaps")?;
        let environment = fs::read(place.join("environ")).map_err(explained)?;
        let name = text("comm")?.trim_end().to_owned();
        let files = || maps.lines().filter_map(file);
        let library = files().find_map(|file| {
            let name = file.rsplit('/').next()?;
            (name.starts_with("libcrypto.so.3") || name.starts_with("libcrypto.so.4"))
                .then(|| name.to_owned())
        });
        let library = library.or_else(|| contained(&place.join("exe")));
        let is_module = |file: &&str| {
            ["/headwater.so", "/libheadwater_openssl.so"].iter().any(|name| file.ends_with(name))
        };
        let module = files().find(is_module).map(PathBuf::from);
        let mut flags = flags.lines().filter_map(|line| line.strip_prefix("VmFlags:"));
        let has_pages = flags.any(|line| line.split(' ').any(|flag| flag == "dp" || flag == "wf"));
        // Relative to the process's own root and directory, which may be another container's.
        let fault = variable(&environment, "OPENSSL_CONF").filter(|path| !path.is_empty());
        let fault = fault.and_then(|path| fault_of(&place, Path::new(OsStr::from_bytes(path))));
        Ok(Seen { name, library, module, has_pages, fault })
    }

    /// Returns false if OpenSSL is there without headwater's module.
    pub(crate) fn is_ours(&self) -> bool {
        self.module.is_some()
    }

    /// Returns a line about the process.
    pub(crate) fn describe(&self) -> String {
        let Seen { name, .. } = self;
        untrusted(&match (&self.module, &self.library) {
            (Some(module), _) if self.has_pages => {
                format!("{name}: has {} loaded, and has drawn from headwater", module.display())
            }
            (Some(module), _) => {
                format!("{name}: has {} loaded, and has not drawn yet", module.display())
            }
            (None, Some(library)) => {
                let fault = self
                    .fault
                    .as_deref()
                    .unwrap_or("its configuration does not load the module, or was not read yet");
                format!(
                    "{name}: has {library} without headwater's module, so what it draws is from \
                     OpenSSL's own generator; {fault}"
                )
            }
            (None, None) => format!("{name}: has no OpenSSL 3 or 4 loaded"),
        })
    }
}

/// Returns the error of a file of /proc in words about the process.
fn explained(error: io::Error) -> io::Error {
    let why = match error.kind() {
        io::ErrorKind::PermissionDenied => "it is another user's; run this as root".to_owned(),
        io::ErrorKind::NotFound => "there is none that this user may see".to_owned(),
        _ if error.raw_os_error() == Some(libc::ESRCH) => {
            "it has no memory, since it has just ended, or is a thread of the kernel".to_owned()
        }
        _ => error.to_string(),
    };
    io::Error::new(error.kind(), why)
}

/// Returns the file of a line of a memory map.
fn file(line: &str) -> Option<&str> {
    let file = &line[line.find('/')?..];
    // A file that was replaced stays mapped.
    Some(file.strip_suffix(" (deleted)").unwrap_or(file))
}

/// Returns the version of the OpenSSL that a program contains.
fn contained(program: &Path) -> Option<String> {
    let bytes = fs::read(program).ok()?;
    let mut versions = memchr::memmem::find_iter(&bytes, b"OpenSSL ");
    versions.find_map(|at| version(&bytes[at..bytes.len().min(at + 64)]))
}

/// Returns the version of `OpenSSL 3.0.19 27 Jan 2026`, which the library prints as its own. By
/// the date it differs from text about OpenSSL, which this program has as well.
fn version(text: &[u8]) -> Option<String> {
    let end = text.iter().position(|byte| !byte.is_ascii_graphic() && *byte != b' ')?;
    let text = std::str::from_utf8(&text[..end]).ok()?;
    let words: Vec<&str> = text.split(' ').collect();
    let [_, version, day, month, year, ..] = *words else { return None };
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = is_number(day) && month.len() == 3 && year.len() == 4 && is_number(year);
    let is_new = version.starts_with("3.") || version.starts_with("4.");
    (is_date && is_new).then(|| format!("OpenSSL {version} in the program itself"))
}

fn variable<'a>(environment: &'a [u8], name: &str) -> Option<&'a [u8]> {
    environment
        .split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

fn fault_of(process: &Path, configuration: &Path) -> Option<String> {
    let seen = match configuration.strip_prefix("/") {
        Ok(below) => process.join("root").join(below),
        Err(_) => process.join("cwd").join(configuration),
    };
    let error = fs::File::open(seen).err()?;
    Some(format!("OPENSSL_CONF={}: {error}", configuration.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps_have_files_or_none() {
        for (line, expected) in [
            ("7f-80 r-xp 0 fe:01 5 /a b/headwater.so (deleted)", Some("/a b/headwater.so")),
            ("7f-80 r-xp 0 fe:01 5 /usr/lib/libcrypto.so.3", Some("/usr/lib/libcrypto.so.3")),
            ("7f-80 rw-p 0 00:00 0 [heap]", None),
            ("7f-80 rw-p 0 00:00 0 ", None),
        ] {
            assert_eq!(file(line), expected, "{line}");
        }
    }

    #[test]
    fn a_version_has_a_date() {
        let of = |text: &[u8]| version(text);
        // Joined here, or the next test would find this text in its own program.
        let text = ["OpenSSL", "3.0.19+quic", "27", "Jan", "2026\0more"].join(" ");
        let found = of(text.as_bytes()).unwrap();
        assert_eq!(found, "OpenSSL 3.0.19+quic in the program itself");
        for text in
            [&b"OpenSSL 3.0.19, as here\0"[..], b"OpenSSL 1.1.1w  11 Sep 2023\0", b"OpenSSL "]
        {
            assert_eq!(of(text), None);
        }
    }

    #[test]
    fn this_process_has_no_openssl_and_a_missing_one_is_an_error() {
        let seen = Seen::read(std::process::id()).unwrap();
        assert!(seen.library.is_none() && seen.module.is_none(), "{}", seen.describe());
        assert!(Seen::read(u32::MAX >> 1).is_err());
        assert_eq!(variable(b"A=1\0OPENSSL_CONF=/x\0", "OPENSSL_CONF"), Some(&b"/x"[..]));
        assert_eq!(variable(b"XOPENSSL_CONF=/x\0", "OPENSSL_CONF"), None);
    }
}
