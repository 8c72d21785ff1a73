//! The parts of headwater that are installed on the machine, with their versions.

use crate::finding::evidence;
use crate::{Evidence, Host, Root};
use memchr::memmem;
use std::collections::BTreeSet;
use std::fmt;
use std::io::Read;

/// Text in front of the version that every file with the core's code contains since 0.2.0.
const MARK: &[u8] = b"headwater-version=";
/// The size limit of a file that is searched for the mark. The command, the largest, has 12 MB.
const LARGEST: u64 = 64 << 20;
/// Directories that every loader searches, below / and below /usr.
const LOADER: [&str; 5] =
    ["/lib", "/lib64", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/local/lib"];
const CONFIGURATION: &str = "/etc/ld.so.conf";
const CACHE: &str = "/etc/ld.so.cache";
const COMMANDS: [&str; 3] =
    ["/usr/bin/headwater", "/usr/local/bin/headwater", "/opt/headwater/bin/headwater"];
const PYTHON: [&str; 3] = ["/usr/lib", "/usr/lib64", "/usr/local/lib"];
const JAVA: [&str; 2] = ["/usr/share/java", "/usr/local/share/java"];

/// The version of a part, in the order of age.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// A file without the mark that every later version has.
    Old,
    /// Major, minor and patch version.
    Numbers(u32, u32, u32),
}

impl Version {
    fn parse(text: &str) -> Option<Version> {
        let mut numbers = text.split('.').map(|number| number.parse().ok());
        let version = Version::Numbers(numbers.next()??, numbers.next()??, numbers.next()??);
        numbers.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Version::Old => f.write_str("older than 0.2.0"),
            Version::Numbers(major, minor, patch) => write!(f, "{major}.{minor}.{patch}"),
        }
    }
}

/// A kind of part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstalledKind {
    /// `libheadwater.so.0`, which the loader finds by its directories.
    Library,
    /// Any other part, each found by its path.
    Other,
}

/// An installed part.
#[derive(Clone, Debug)]
pub struct Installed {
    /// The kind of the part.
    pub kind: InstalledKind,
    /// The version of the part.
    pub version: Version,
    /// The directory of the file, without `/usr` in front, which may be a link to the root.
    pub directory: String,
    /// The file and its version.
    pub evidence: Evidence,
}

impl Host {
    /// Returns the installed parts with a known version: libraries of the loader's directories,
    /// modules, commands, packages of the system's Python and jars.
    pub fn installed(&self) -> Vec<Installed> {
        let root = &self.root;
        let mut parts = Vec::new();
        for directory in loader_directories(root) {
            for (kind, place) in libraries(root, &directory) {
                let by_name = || number_after(&place, "/libheadwater.so.");
                let version = marked(root, &place, by_name());
                parts.extend(version.map(|version| part(kind, version, &place)));
            }
        }
        for place in COMMANDS.into_iter().filter(|place| root.exists(place)) {
            parts.extend(
                marked(root, place, None).map(|version| part(InstalledKind::Other, version, place)),
            );
        }
        parts.extend(named(root, &python_directories(root), "headwater-", ".dist-info"));
        parts.extend(named(root, &JAVA.map(str::to_owned), "headwater-", ".jar"));
        if root.is_live() {
            let version = Version::parse(env!("CARGO_PKG_VERSION"));
            parts
                .extend(version.map(|version| part(InstalledKind::Other, version, "this command")));
        }
        // One file has several paths where /lib is a link to /usr/lib.
        let mut seen = BTreeSet::new();
        parts.retain(|part| {
            let place = part.evidence.place.as_str();
            seen.insert(place.strip_prefix("/usr").unwrap_or(place).to_owned())
        });
        parts
    }
}

fn part(kind: InstalledKind, version: Version, place: &str) -> Installed {
    let directory = place.rsplit_once('/').map_or("", |(directory, _)| directory);
    let directory = directory.strip_prefix("/usr").unwrap_or(directory).to_owned();
    Installed { kind, evidence: evidence(place, version.to_string()), version, directory }
}

/// Returns the directories in which the loader looks, and those of its cache.
fn loader_directories(root: &Root) -> BTreeSet<String> {
    let fixed = LOADER.iter().flat_map(|name| [(*name).to_owned(), format!("/usr{name}")]);
    let mut directories: BTreeSet<String> = fixed.collect();
    let more = root.names(&format!("{CONFIGURATION}.d")).into_iter();
    let more = more.filter(|name| name.ends_with(".conf"));
    let files = more.map(|name| format!("{CONFIGURATION}.d/{name}"));
    for file in [CONFIGURATION.to_owned()].into_iter().chain(files) {
        let text = root.text(&file).unwrap_or_default();
        let lines = text.lines().map(|line| line.trim().trim_end_matches('/'));
        directories.extend(lines.filter(|line| line.starts_with('/')).map(str::to_owned));
    }
    directories.extend(cached(&bytes(root, CACHE).unwrap_or_default()));
    directories
}

/// Returns the directories of headwater's libraries in a cache of the loader. Every version of its
/// format holds the paths as texts that end with a zero byte.
fn cached(cache: &[u8]) -> Vec<String> {
    let texts = cache.split(|byte| *byte == 0).filter(|text| text.starts_with(b"/"));
    let paths = texts.filter_map(|text| std::str::from_utf8(text).ok()?.rsplit_once('/'));
    let ours = paths.filter(|(_, name)| name.starts_with("libheadwater"));
    ours.map(|(directory, _)| directory.to_owned()).collect()
}

/// Returns the libraries and the OpenSSL module of a directory. A file whose name ends with the
/// version stands for the links to it.
fn libraries(root: &Root, directory: &str) -> Vec<(InstalledKind, String)> {
    let names = root.names(directory);
    let full: Vec<&String> =
        names.iter().filter(|name| number_after(name, "libheadwater.so.").is_some()).collect();
    let mut found: Vec<(InstalledKind, String)> =
        full.iter().map(|name| (InstalledKind::Library, format!("{directory}/{name}"))).collect();
    if full.is_empty() && names.iter().any(|name| name == "libheadwater.so.0") {
        found.push((InstalledKind::Library, format!("{directory}/libheadwater.so.0")));
    }
    let module = format!("{directory}/ossl-modules/headwater.so");
    let others = [format!("{directory}/libheadwater_preload.so"), module];
    found.extend(
        others
            .into_iter()
            .filter(|path| root.exists(path))
            .map(|path| (InstalledKind::Other, path)),
    );
    found
}

/// Returns the version at the end of a name, such as 0.2.0 of `libheadwater.so.0.2.0`.
pub(crate) fn number_after(name: &str, before: &str) -> Option<Version> {
    Version::parse(name.rsplit_once(before)?.1)
}

/// Returns the version in the file's mark, else the one of its name. A file that is missing, empty
/// or a link to nothing has none.
fn marked(root: &Root, place: &str, by_name: Option<Version>) -> Option<Version> {
    let bytes = bytes(root, place).filter(|bytes| !bytes.is_empty())?;
    let marks = memmem::find_iter(&bytes, MARK).filter_map(|at| {
        let text = &bytes[at + MARK.len()..];
        let end = text.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
        Version::parse(std::str::from_utf8(&text[..end]).ok()?)
    });
    // This command contains the text a second time, without a version, in this very search.
    { marks }.next().or(by_name).or(Some(Version::Old))
}

fn bytes(root: &Root, place: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    root.reader(place).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn python_directories(root: &Root) -> Vec<String> {
    let mut directories = vec!["/usr/lib/python3/dist-packages".to_owned()];
    for lib in PYTHON {
        let versions = root.names(lib).into_iter().filter(|name| name.starts_with("python3."));
        directories.extend(versions.flat_map(|name| {
            ["site-packages", "dist-packages"].map(|packages| format!("{lib}/{name}/{packages}"))
        }));
    }
    directories
}

/// Returns the parts whose names hold the version between two texts.
fn named(root: &Root, directories: &[String], before: &str, after: &str) -> Vec<Installed> {
    let mut parts = Vec::new();
    for directory in directories {
        for name in root.names(directory) {
            let version = name.strip_prefix(before).and_then(|name| name.strip_suffix(after));
            let version = version.and_then(Version::parse);
            let place = format!("{directory}/{name}");
            parts.extend(version.map(|version| part(InstalledKind::Other, version, &place)));
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        let parsed =
            ["0.10.0", "0.2.0", "1.0.0", "0.2.11"].map(|text| Version::parse(text).unwrap());
        let mut sorted = parsed.to_vec();
        sorted.push(Version::Old);
        sorted.sort();
        let names: Vec<String> = sorted.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["older than 0.2.0", "0.2.0", "0.2.11", "0.10.0", "1.0.0"]);
        for wrong in ["", "0", "0.2", "0.2.0.1", "0.2.x", "a.b.c", "0.2.0-rc1", "0..2", "-1.0.0"] {
            assert_eq!(Version::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_cache_of_the_loader_names_directories() {
        let cache = b"glibc-ld.so.cache1.1\x01\0libheadwater.so.0\0/opt/a/libheadwater.so.0\0\
                      libc.so.6\0/lib/libc.so.6\0/opt/b/libheadwater_preload.so";
        assert_eq!(cached(cache), ["/opt/a", "/opt/b"]);
        assert!(cached(b"").is_empty() && cached(&[0xff; 64]).is_empty());
    }
}
