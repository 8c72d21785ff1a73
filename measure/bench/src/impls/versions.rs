//! Libraries beyond those that the host uses by itself: other versions that are installed, which
//! get rows such as `openssl-RAND_bytes@1.1.1w`, and files that the user names by `--lib`.

use crate::error::Error;
use crate::impls::implementation::{Absent, Implementation};
use crate::impls::library::{Family, Function, Host, Usual};
use crate::impls::{gnutls, headwater_c, library, nss, openssl, sodium};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The families that `--lib` understands.
const FAMILIES: [&Family; 5] =
    [&openssl::LIBCRYPTO, &sodium::FAMILY, &gnutls::FAMILY, &nss::FAMILY, &headwater_c::FAMILY];

/// A loader that is asked for a soname answers with any library of that soname that it has opened
/// before, so that the host's own must be opened before those of the same soname are, by their
/// paths.
static USUAL: [&Usual; 5] =
    [&openssl::OPENSSL, &sodium::SODIUM, &gnutls::GNUTLS, &nss::NSS, &headwater_c::LIBHEADWATER];

/// Returns every libcrypto in the host's library directories except the one that the host uses by
/// itself. Files that the loader refuses, such as those for another CPU, are passed over.
pub(super) fn installed() -> &'static [&'static Implementation] {
    static INSTALLED: OnceLock<Vec<&Implementation>> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let usual = openssl::OPENSSL.load().ok().and_then(|loaded| loaded.path.clone());
        let mut taken = HashSet::new();
        let mut list = Vec::new();
        for file in library::starting_with("libcrypto.so.") {
            if usual.as_ref() == Some(&file) {
                continue;
            }
            for function in functions(&file).into_iter().flatten() {
                let version = function.version.as_deref().and_then(openssl::number);
                let label = version.unwrap_or("other").to_owned();
                // The second of one version: two builds of it.
                let name = (1..)
                    .map(|nth| match nth {
                        1 => format!("{}@{label}", function.name),
                        _ => format!("{}@{label}-{nth}", function.name),
                    })
                    .find(|name| taken.insert(name.clone()));
                list.extend(name.map(|name| implementation(name, function)));
            }
        }
        list
    })
}

/// A file that was named, and its rows.
struct Named {
    label: String,
    path: PathBuf,
    rows: Vec<&'static Implementation>,
}

/// The libraries of this process: an opened library stays open.
static NAMED: Mutex<Vec<Named>> = Mutex::new(Vec::new());

/// Returns the rows of all files that were named so far.
pub(super) fn named() -> Vec<&'static Implementation> {
    let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    named.iter().flat_map(|named| named.rows.iter().copied()).collect()
}

/// Returns the files that were named so far, each as `NAME=PATH`. Other processes of this program
/// need these arguments too.
pub(super) fn arguments() -> Vec<String> {
    let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    named.iter().map(|named| format!("{}={}", named.label, named.path.display())).collect()
}

/// Opens the library of `NAME=PATH`; its rows are `openssl-RAND_bytes@NAME` and the like.
pub(super) fn add(argument: &str) -> Result<Vec<&'static Implementation>, Error> {
    let bad = |reason: String| Error::BadLibrary { argument: argument.to_owned(), reason };
    let (label, path) = argument
        .split_once('=')
        .filter(|(label, path)| is_label(label) && !path.is_empty())
        .ok_or_else(|| {
            bad("use NAME=PATH, such as new=/opt/openssl/lib/libcrypto.so.3; a name has letters, \
                 digits, '.', '-' and '_'"
                .to_owned())
        })?;
    let path = fs::canonicalize(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => bad("no such file".to_owned()),
        _ => bad(error.to_string()),
    })?;
    if !path.is_file() {
        return Err(bad("not a file".to_owned()));
    }
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(before) = named.iter().find(|named| named.label == label) {
        return if before.path == path {
            Ok(before.rows.clone())
        } else {
            Err(bad(format!("'{label}' is {} already", before.path.display())))
        };
    }
    for usual in USUAL {
        let _ = usual.load(); // the report of the request names its absence
    }
    let functions = functions(&path).map_err(|Absent(reason)| bad(reason))?;
    let rows: Vec<_> = functions
        .into_iter()
        .map(|function| implementation(format!("{}@{label}", function.name), function))
        .collect();
    named.push(Named { label: label.to_owned(), path, rows: rows.clone() });
    Ok(rows)
}

/// Reports whether a name may follow the @ in a list that is split at commas.
fn is_label(label: &str) -> bool {
    !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || ".-_".contains(c))
}

/// Returns the functions of the library at an absolute `path`.
fn functions(path: &Path) -> Result<Vec<Function>, Absent> {
    let host = Host::open(path)
        .map_err(|error| Absent(format!("the loader refuses it: {}", cause(&error))))?;
    // Not in a library that it depends on, and not in another one that the loader took for it.
    let family = FAMILIES
        .into_iter()
        .find(|family| host.has(family.mark) && host.path_of(family.mark).as_deref() == Some(path));
    let family = family.ok_or_else(|| {
        let titles = FAMILIES.map(|family| family.title);
        Absent(format!("no known function in it: understood are {}", titles.join(", ")))
    })?;
    (family.functions)(host)
}

/// Returns the loader's own words, in one line.
fn cause(error: &libloading::Error) -> String {
    let cause = std::error::Error::source(error).map_or(error.to_string(), ToString::to_string);
    cause.lines().collect::<Vec<_>>().join("; ")
}

/// Leaks the rows of a library that is never closed, so that they live as long as it does.
fn implementation(name: String, function: Function) -> &'static Implementation {
    let Function { version, open, .. } = function;
    Box::leak(Box::new(Implementation {
        name: name.leak(),
        version: Box::leak(Box::new(move || version.clone())),
        has_modes: false,
        open: Box::leak(open),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(argument: &str) -> String {
        let error = add(argument).err().expect("refused");
        assert!(error.is_usage());
        let message = error.to_string();
        assert!(!message.contains('\n'), "{message}");
        message
    }

    #[test]
    fn errors_are_one_line_and_say_what_would_be_right() {
        for argument in ["", "new", "=/usr", "new=", "a,b=/usr", "a[b]=/usr", "a b=/usr"] {
            let expected = format!("--lib {argument}: use NAME=PATH, such as ");
            assert!(message(argument).starts_with(&expected), "{argument}");
        }
        assert_eq!(message("new=/nonesuch"), "--lib new=/nonesuch: no such file");
        assert_eq!(message("new=/"), "--lib new=/: not a file");
        let refused = message("new=/proc/self/cmdline");
        assert!(
            refused.starts_with("--lib new=/proc/self/cmdline: the loader refuses it: "),
            "{refused}"
        );
    }
}
