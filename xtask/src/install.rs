//! `cargo xtask install` and `uninstall`: a release build, put where other programs look for it.

use crate::notices::notices;
use crate::process::{output, program, root, run, target_directory};
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode};

/// The directory of an installation without `--prefix`.
pub(crate) const PREFIX: &str = "/usr/local";

/// The places and parts of an installation.
#[derive(Args)]
pub(crate) struct Places {
    /// The directory above bin, include and share
    #[arg(long, default_value = PREFIX)]
    prefix: PathBuf,
    /// The directory of libraries, below the prefix, such as lib/x86_64-linux-gnu
    #[arg(long, default_value = "lib")]
    libdir: PathBuf,
    /// A directory in place of the root of the file system, for packagers
    #[arg(long)]
    destdir: Option<PathBuf>,
    /// Only this part, and build nothing else; may be repeated
    #[arg(long, value_enum)]
    only: Vec<InstallPart>,
    /// Build for this target, such as aarch64-unknown-linux-gnu; cargo's variables name its linker,
    /// and its runner if this machine cannot start its programs
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
}

/// A part of an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InstallPart {
    /// The command, its man pages and shell completions
    Command,
    /// The C library, its header and man pages, and the files for pkg-config and CMake
    Library,
    /// OpenSSL's module and its configuration
    Openssl,
    /// The library of `headwater run`, for programs that were not built for headwater
    Preload,
}
use InstallPart::{Library, Openssl, Preload};

impl InstallPart {
    const ALL: [InstallPart; 4] = [InstallPart::Command, Library, Openssl, Preload];

    fn package(self) -> &'static str {
        match self {
            InstallPart::Command => "headwater-cli",
            Library => "headwater-c",
            Openssl => "headwater-openssl-module",
            Preload => "headwater-preload",
        }
    }

    /// Returns the file with the licences of the crates that this part contains. The name differs
    /// from part to part, because each part may be installed or removed without the others.
    fn notices(self) -> &'static str {
        match self {
            InstallPart::Command => "share/doc/headwater/NOTICES-command",
            Library => "share/doc/headwater/NOTICES-library",
            Openssl => "share/doc/headwater/NOTICES-openssl",
            Preload => "share/doc/headwater/NOTICES-preload",
        }
    }
}

/// The origin of a file.
enum Source {
    /// A file of the release build, without debug information.
    Built(&'static str),
    /// A file of the repository.
    Checked(&'static str),
    /// A template of the repository, with the places filled in.
    Filled(&'static str),
    /// A link to a file beside it.
    Link(&'static str),
    /// The output of the built command with these arguments.
    Printed(&'static [&'static str]),
}
use Source::{Built, Checked, Filled, Link, Printed};

/// The soname: the name by which programs ask the loader.
const SONAME: &str = "libheadwater.so.0";
/// The name of the file, which ends in the version by convention.
const REAL_NAME: &str = concat!("libheadwater.so.", env!("CARGO_PKG_VERSION"));
/// The line of OpenSSL's configuration that names the module, a comment in the repository.
const UNNAMED_MODULE: &str = "#module = ";
/// Places in the texts of the repository, which are those of the default prefix.
const MODULES: &str = "/usr/local/lib/ossl-modules";
const SHARE: &str = "/usr/local/share/headwater";

/// Every file, below the prefix; `@lib@` stands for the directory of libraries. Only OpenSSL's
/// configuration contains the prefix, so the rest of the tree may be moved.
const ARTEFACTS: &[(InstallPart, Source, &str, u32)] = &[
    (InstallPart::Command, Built("headwater"), "bin/headwater", 0o755),
    (
        Library,
        Built("libheadwater.so"),
        concat!("@lib@/libheadwater.so.", env!("CARGO_PKG_VERSION")),
        0o755,
    ),
    (Library, Link(REAL_NAME), "@lib@/libheadwater.so.0", 0),
    (Library, Link(SONAME), "@lib@/libheadwater.so", 0),
    (Library, Built("libheadwater.a"), "@lib@/libheadwater.a", 0o644),
    (Library, Checked("fronts/c/include/headwater.h"), "include/headwater.h", 0o644),
    (Library, Checked("fronts/c/include/headwater_philox.h"), "include/headwater_philox.h", 0o644),
    (Library, Filled("fronts/c/pkg/headwater.pc"), "@lib@/pkgconfig/headwater.pc", 0o644),
    (
        Library,
        Filled("fronts/c/pkg/headwater-config.cmake"),
        "@lib@/cmake/headwater/headwater-config.cmake",
        0o644,
    ),
    (
        Library,
        Filled("fronts/c/pkg/headwater-config-version.cmake"),
        "@lib@/cmake/headwater/headwater-config-version.cmake",
        0o644,
    ),
    (Openssl, Built("libheadwater_openssl.so"), "@lib@/ossl-modules/headwater.so", 0o755),
    (
        Openssl,
        Filled("fronts/openssl/headwater-openssl.cnf"),
        "share/headwater/headwater-openssl.cnf",
        0o644,
    ),
    // The name that `headwater run` and LD_PRELOAD use is the file's. Its soname is a link. If we
    // did not make it, ldconfig would, and then no package would own it.
    (Preload, Built("libheadwater_preload.so"), "@lib@/libheadwater_preload.so", 0o755),
    (Preload, Link("libheadwater_preload.so"), "@lib@/libheadwater_preload.so.0", 0),
    (Preload, Built("libheadwater_clones.so"), "@lib@/libheadwater_clones.so", 0o755),
    (Preload, Link("libheadwater_clones.so"), "@lib@/libheadwater_clones.so.0", 0),
    (Preload, Checked("fronts/adapters/node.cjs"), "share/headwater-clones/node.cjs", 0o644),
    (Preload, Checked("fronts/adapters/ruby.rb"), "share/headwater-clones/ruby.rb", 0o644),
    (Preload, Checked("fronts/adapters/php.php"), "share/headwater-clones/php.php", 0o644),
    (Library, Checked("fronts/c/man/headwater.3"), "share/man/man3/headwater.3", 0o644),
    (
        Openssl,
        Filled("fronts/openssl/man/headwater-openssl.7"),
        "share/man/man7/headwater-openssl.7",
        0o644,
    ),
    (Openssl, Checked("docs/openssl.md"), "share/doc/headwater/openssl.md", 0o644),
    (Library, Checked("docs/c.md"), "share/doc/headwater/c.md", 0o644),
    (Library, Checked("LICENSE-APACHE"), "share/doc/headwater/LICENSE-APACHE", 0o644),
    (Library, Checked("LICENSE-MIT"), "share/doc/headwater/LICENSE-MIT", 0o644),
    (Library, Checked("LICENSE-THIRD-PARTY"), "share/doc/headwater/LICENSE-THIRD-PARTY", 0o644),
    (
        InstallPart::Command,
        Printed(&["completions", "bash"]),
        "share/bash-completion/completions/headwater",
        0o644,
    ),
    (
        InstallPart::Command,
        Printed(&["completions", "fish"]),
        "share/fish/vendor_completions.d/headwater.fish",
        0o644,
    ),
    (
        InstallPart::Command,
        Printed(&["completions", "zsh"]),
        "share/zsh/site-functions/_headwater",
        0o644,
    ),
];

/// Directories that belong to headwater alone, inner ones first. Uninstalling removes them if they
/// are empty.
const DIRECTORIES: [&str; 5] = [
    "@lib@/cmake/headwater",
    "@lib@/ossl-modules",
    "share/headwater",
    "share/headwater-clones",
    "share/doc/headwater",
];

impl Places {
    /// Returns the places of these parts below a directory that stands for the root.
    pub(crate) fn below(root: &Path, parts: &[InstallPart]) -> Places {
        let (prefix, destdir) = (PREFIX.into(), Some(root.to_owned()));
        Places { prefix, libdir: "lib".into(), destdir, only: parts.to_vec(), target: None }
    }

    fn has(&self, part: InstallPart) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    /// Checks the places, and makes `libdir` relative to the prefix.
    fn checked(mut self) -> Result<Places> {
        ensure!(
            self.prefix.is_absolute(),
            "--prefix {}: not an absolute path",
            self.prefix.display()
        );
        if self.libdir.is_absolute() {
            let Ok(below) = self.libdir.strip_prefix(&self.prefix) else {
                bail!(
                    "--libdir {}: not below the prefix {}",
                    self.libdir.display(),
                    self.prefix.display()
                )
            };
            self.libdir = below.to_owned();
        }
        // The files for pkg-config and CMake climb from here to the prefix.
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        ensure!(
            self.libdir.components().next().is_some() && self.libdir.components().all(is_plain),
            "--libdir {}: not a directory below the prefix",
            self.libdir.display()
        );
        Ok(self)
    }

    /// Returns the place of a file below `DESTDIR` and the prefix.
    fn place(&self, name: &str) -> Result<PathBuf> {
        let name = name.replace("@lib@", &self.libdir.display().to_string());
        Ok(match &self.destdir {
            Some(destdir) => destdir.join(self.prefix.strip_prefix("/")?).join(name),
            None => self.prefix.join(name),
        })
    }

    /// Fills a template in.
    fn fill(&self, text: &str) -> String {
        let up = |more: usize| vec![".."; self.libdir.components().count() + more].join("/");
        let libdir = self.libdir.display().to_string();
        let place = |below: &str| self.prefix.join(below).display().to_string();
        text.replace("@VERSION@", env!("CARGO_PKG_VERSION"))
            .replace("@LIBDIR@", &libdir)
            .replace("@UP_FROM_PKGCONFIG@", &up(1))
            .replace("@UP_FROM_CMAKE@", &up(2))
            .replace(UNNAMED_MODULE, "module = ")
            .replace(MODULES, &place(&format!("{libdir}/ossl-modules")))
            .replace(SHARE, &place("share/headwater"))
    }
}

/// Returns the names of man pages that link to headwater(3): every function of the C library.
fn pages(root: &Path) -> Result<Vec<String>> {
    let listed = fs::read_to_string(root.join("fronts/c/abi.txt"))?;
    let names = listed.lines().filter_map(|line| line.split('@').next());
    Ok(names.map(|name| format!("share/man/man3/{name}.3")).collect())
}

/// The man pages of the command: headwater(1), and one for each verb.
const COMMAND_PAGES: &str = "fronts/cli/man";

/// Returns the file names of the command's man pages.
fn command_pages(root: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join(COMMAND_PAGES))? {
        names.push(entry?.file_name().into_string().ok().context("a man page's name")?);
    }
    names.sort();
    Ok(names)
}

/// Builds the parts, and installs them.
pub(crate) fn install(places: Places) -> Result<ExitCode> {
    let places = places.checked()?;
    let root = root()?;
    let built = build(&root, &places)?;
    for (part, source, name, mode) in ARTEFACTS {
        if places.has(*part) {
            let to = places.place(name)?;
            put(source, &to, *mode, &root, &built, &places)
                .with_context(|| format!("cannot install {}", to.display()))?;
            println!("{}", to.display());
        }
    }
    if places.has(InstallPart::Command) {
        for page in command_pages(&root)? {
            let to = places.place(&format!("share/man/man1/{page}"))?;
            make_above(&to)?;
            fs::copy(root.join(COMMAND_PAGES).join(&page), &to)
                .and_then(|_| fs::set_permissions(&to, fs::Permissions::from_mode(0o644)))
                .with_context(|| format!("cannot install {}", to.display()))?;
            println!("{}", to.display());
        }
    }
    for part in InstallPart::ALL.into_iter().filter(|part| places.has(*part)) {
        let to = places.place(part.notices())?;
        let text = notices(&root, part.package())?;
        make_above(&to)?;
        fs::write(&to, text)
            .and_then(|()| fs::set_permissions(&to, fs::Permissions::from_mode(0o644)))
            .with_context(|| format!("cannot install {}", to.display()))?;
        println!("{}", to.display());
    }
    if places.has(Library) {
        for page in pages(&root)? {
            let to = places.place(&page)?;
            put(&Link("headwater.3"), &to, 0, &root, &built, &places)
                .with_context(|| format!("cannot install {}", to.display()))?;
            println!("{}", to.display());
        }
        if places.destdir.is_none() {
            println!(
                "run ldconfig as root, so that the loader finds {SONAME}; if {} is not a directory of the loader, add \
                 it to a file of /etc/ld.so.conf.d first",
                places.prefix.join(&places.libdir).display()
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the parts in a target directory of their own, because the flags differ from those of
/// other builds. Returns the directory of the files.
fn build(root: &Path, places: &Places) -> Result<PathBuf> {
    let target = target_directory()?.join("install");
    // One build of everything would be shorter. But cargo adds up the features that the packages of
    // one build ask of a crate, so beside the command, arm64's ciphers would be built with an
    // allocator, which the libraries do not have.
    let parts = InstallPart::ALL.into_iter().filter(|part| places.has(*part));
    let (commands, libraries): (Vec<_>, Vec<_>) =
        parts.partition(|part| *part == InstallPart::Command);
    for together in [commands, libraries].into_iter().filter(|parts| !parts.is_empty()) {
        let mut build = program("cargo build --release --target-dir");
        build.arg(&target).current_dir(root);
        reproducible(&mut build, root);
        for part in together {
            build.args(["--package", part.package()]);
            if part == Preload {
                build.args(["--package", "headwater-adapters"]);
            }
        }
        if let Some(triple) = &places.target {
            build.args(["--target", triple]);
        }
        run(&mut build)?;
    }
    Ok(target.join(places.target.as_deref().unwrap_or_default()).join("release"))
}

/// Sets the variables of a build so that its bytes depend neither on the caller's directories nor
/// on an incremental build.
pub(crate) fn reproducible(build: &mut Command, root: &Path) {
    // Panics name source files of dependencies, with the directories of the building machine.
    let given = env::var("RUSTFLAGS").unwrap_or_default();
    let mut flags: Vec<OsString> = given.split_whitespace().map(OsString::from).collect();
    for (from, to) in [(cargo_home(), "/cargo"), (Some(root.to_owned()), "/headwater")] {
        if let Some(from) = from {
            let mut flag = OsString::from("--remap-path-prefix=");
            flag.push(from);
            flag.push("=");
            flag.push(to);
            flags.push(flag);
        }
    }
    build.env_remove("RUSTFLAGS");
    // In this variable a flag may contain spaces, as the path of a directory may.
    build.env("CARGO_ENCODED_RUSTFLAGS", flags.join(OsStr::new("\x1f")));
    // An incremental build divides a crate into other units of code.
    build.env("CARGO_INCREMENTAL", "0");
}

/// Returns cargo's variable of a target, such as CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER.
fn of_target(target: &str, what: &str) -> Option<String> {
    let name = format!("CARGO_TARGET_{}_{what}", target.to_uppercase().replace('-', "_"));
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn cargo_home() -> Option<PathBuf> {
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cargo").into());
    env::var_os("CARGO_HOME").or_else(home).map(|path: OsString| path.into())
}

/// Makes the directory of a file, and those above it that are missing, so that every user may enter
/// them. Root's umask may keep others out of what root makes, and a program of another user would
/// then find neither OpenSSL's module nor the library, and would not start.
fn make_above(file: &Path) -> Result<()> {
    let directory = file.parent().context("the path has no directory")?;
    make(directory).with_context(|| format!("cannot make {}", directory.display()))
}

fn make(directory: &Path) -> io::Result<()> {
    if directory.as_os_str().is_empty() || directory.is_dir() {
        return Ok(());
    }
    if let Some(above) = directory.parent() {
        make(above)?;
    }
    fs::create_dir(directory)?;
    // The other bits stay, because Debian's /usr/local passes its group on by one of them.
    let others = fs::metadata(directory)?.permissions().mode() & !0o777;
    fs::set_permissions(directory, fs::Permissions::from_mode(others | 0o755))
}

fn put(
    source: &Source,
    to: &Path,
    mode: u32,
    root: &Path,
    built: &Path,
    places: &Places,
) -> Result<()> {
    make_above(to)?;
    // Renamed into place, so that a program that has the old library mapped keeps the old file.
    let new = PathBuf::from(format!("{}.new", to.display()));
    remove(&new)?;
    match source {
        Built(name) => {
            fs::copy(built.join(name), &new)?;
            // An archive has no debug information (link.sh), and must keep its symbols.
            if !name.ends_with(".a") {
                strip(&new, places)?;
            }
        }
        Checked(path) => drop(fs::copy(root.join(path), &new)?),
        Filled(path) => fs::write(&new, places.fill(&fs::read_to_string(root.join(path))?))?,
        Link(name) => symlink(name, &new)?,
        Printed(arguments) => {
            let file = built.join("headwater");
            let target = places.target.as_deref();
            let mut command = match target.and_then(|target| of_target(target, "RUNNER")) {
                Some(runner) => program(&runner),
                None => Command::new(&file),
            };
            if command.get_program() != file {
                command.arg(&file);
            }
            fs::write(&new, output(command.args(*arguments))?)?;
        }
    }
    if mode != 0 {
        fs::set_permissions(&new, fs::Permissions::from_mode(mode))?;
    }
    fs::rename(&new, to)?;
    Ok(())
}

fn strip(file: &Path, places: &Places) -> Result<()> {
    let linker = places.target.as_deref().and_then(|target| of_target(target, "LINKER"));
    // This machine's own strip cannot read a file of another architecture, but
    // aarch64-linux-gnu-gcc comes with one that can.
    let strip = match linker.as_deref().and_then(|linker| linker.strip_suffix("gcc")) {
        Some(prefix) => format!("{prefix}strip"),
        None => "strip".to_owned(),
    };
    match Command::new(strip).arg("--strip-unneeded").arg(file).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("strip ended with {status}"),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            println!("{}: keeps its debug information: no strip", file.display());
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// Removes a file if it is there. Returns true if it was.
fn remove(file: &Path) -> Result<bool> {
    match fs::remove_file(file) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot remove {}", file.display())),
    }
}

/// Returns the configurations of OpenSSL in these directories that name one of the files, comments
/// aside.
fn naming(directories: &[&Path], files: &[&str]) -> Vec<String> {
    let entries = directories.iter().filter_map(|directory| fs::read_dir(directory).ok()).flatten();
    let configurations = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "cnf"));
    let names = |line: &str| {
        let line = line.split('#').next().unwrap_or_default();
        files.iter().any(|file| line.contains(file))
    };
    configurations
        .filter(|path| fs::read_to_string(path).is_ok_and(|text| text.lines().any(names)))
        .map(|path| path.display().to_string())
        .collect()
}

/// Removes every file that `install` with the same places put there, and directories that are
/// headwater's own.
pub(crate) fn uninstall(places: Places) -> Result<ExitCode> {
    let places = places.checked()?;
    if places.has(Openssl) && places.destdir.is_none() {
        let module = places.place("@lib@/ossl-modules/headwater.so")?;
        let configuration = places.place("share/headwater/headwater-openssl.cnf")?;
        let named = naming(
            &[Path::new("/etc/ssl"), Path::new("/etc/pki/tls")],
            &[&module.display().to_string(), &configuration.display().to_string()],
        );
        // OpenSSL ignores an include that is gone, and lets no program draw without its module.
        ensure!(
            named.is_empty(),
            "nothing is removed: {} would lose headwater's module; take its lines out first",
            named.join(", ")
        );
    }
    let artefacts = ARTEFACTS.iter().filter(|(part, ..)| places.has(*part));
    let mut names: BTreeSet<String> = artefacts.map(|(.., name, _)| (*name).to_owned()).collect();
    if places.has(Library) {
        names.extend(pages(&root()?)?);
    }
    let parts = InstallPart::ALL.into_iter().filter(|part| places.has(*part));
    names.extend(parts.map(|part| part.notices().to_owned()));
    if places.has(InstallPart::Command) {
        let pages = command_pages(&root()?)?;
        names.extend(pages.iter().map(|page| format!("share/man/man1/{page}")));
    }
    for name in names {
        let file = places.place(&name)?;
        if remove(&file)? {
            println!("removed {}", file.display());
        }
    }
    for name in DIRECTORIES {
        // Fails if files of another part, or of the user, are left.
        let _ = fs::remove_dir(places.place(name)?);
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The variable by which the test below runs itself with another umask.
    const TOP: &str = "HEADWATER_TEST_INSTALL_TOP";

    #[test]
    fn an_umask_keeps_no_user_out_of_what_is_installed() {
        let name = "install::tests::an_umask_keeps_no_user_out_of_what_is_installed";
        if let Some(top) = env::var_os(TOP) {
            let file = Path::new(&top).join("usr/lib/ossl-modules/file");
            let places = Places::below(Path::new(&top), &[]);
            let root = root().unwrap();
            for _ in 0..2 {
                put(&Checked("LICENSE-MIT"), &file, 0o644, &root, &root, &places).unwrap();
            }
            return;
        }
        let top = tempfile::tempdir().unwrap();
        let mode =
            |name: &str| fs::metadata(top.path().join(name)).unwrap().permissions().mode() & 0o7777;
        // A directory that was there is its owner's matter, and its group is passed on.
        fs::create_dir(top.path().join("usr")).unwrap();
        let own = fs::Permissions::from_mode(0o2770);
        fs::set_permissions(top.path().join("usr"), own).unwrap();
        // By a process of its own: the umask is one of the whole process.
        let mut shell = Command::new("sh");
        shell.args(["-c", "umask 077; exec \"$0\" --exact \"$1\""]);
        shell.arg(env::current_exe().unwrap()).arg(name).env(TOP, top.path());
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(mode("usr"), 0o2770);
        assert_eq!(mode("usr/lib"), 0o2755);
        assert_eq!(mode("usr/lib/ossl-modules"), 0o2755);
        assert_eq!(mode("usr/lib/ossl-modules/file"), 0o644);
    }
}
