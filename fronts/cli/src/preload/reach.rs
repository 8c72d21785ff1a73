//! Judges a program before it runs: does the preload library reach it, and what escapes?
//!
//! The dynamic linker ignores `LD_PRELOAD` without a word where it does not apply, so a program
//! that keeps its own generator would look as if it had headwater's. Hence the ELF file is read
//! first.

use super::PRELOAD;
use super::elf::{self, Binary};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The kernel follows interpreters of interpreters this far (fs/exec.c).
const DEEPEST: u32 = 5;
/// The kernel reads this many bytes of a script's first line (BINPRM_BUF_SIZE).
const FIRST_LINE: u64 = 256;

/// Judges the program that these words run. Returns notes on what is reached only partly, or the
/// reason why nothing is reached. A program that does not exist has none: exec reports it.
///
/// # Errors
///
/// The reason, in a line, why the library does not reach the program.
pub(super) fn judge(command: &[OsString], has_openssl: bool) -> Result<Vec<String>, String> {
    judge_words(command, has_openssl, 0)
}

fn judge_words(words: &[OsString], has_openssl: bool, depth: u32) -> Result<Vec<String>, String> {
    let search = env::var_os("PATH");
    let path = words.first().and_then(|name| found(name, search.as_deref()));
    let Some(path) = path else { return Ok(Vec::new()) };
    let name = path.display();
    let mut start = Vec::new();
    let opened =
        File::open(&path).and_then(|file| file.take(FIRST_LINE).read_to_end(&mut start).map(drop));
    if opened.is_err() {
        // A program may be executable and unreadable.
        return Ok(vec![format!("{name} cannot be read, so it may not draw from headwater")]);
    }
    if let Some(line) = start.strip_prefix(b"#!") {
        let mut interpreter = interpreter(line);
        if depth < DEEPEST && !interpreter.is_empty() {
            // The kernel appends the script and its arguments, which env(1) would take for its own.
            interpreter.push(path.clone().into_os_string());
            return judge_words(&interpreter, has_openssl, depth + 1)
                .map_err(|reason| format!("{name} is a script: {reason}"));
        }
        return Ok(Vec::new());
    }
    if path.file_name() == Some(OsStr::new("env")) && depth <= DEEPEST {
        let rest = after_env(&words[1..]).map_err(|why| format!("{name} {why}"))?;
        if !rest.is_empty() {
            return judge_words(&rest, has_openssl, depth + 1);
        }
    }
    if !start.starts_with(b"\x7fELF") {
        return Ok(Vec::new());
    }
    if is_linker(&path) && depth <= DEEPEST {
        // The linker's name for a library, or an option that starts no program.
        let named = after_linker(&words[1..]);
        let is_path = named.first().is_some_and(|name| name.as_bytes().contains(&b'/'));
        return match is_path {
            true => judge_words(&named, has_openssl, depth + 1),
            false => Ok(Vec::new()),
        };
    }
    if has_more_rights(&path) {
        return Err(format!(
            "{name} runs with more rights than its caller (set-user-ID, set-group-ID or file \
             capabilities), and the dynamic linker ignores LD_PRELOAD there"
        ));
    }
    let binary = Binary::read(&path).map_err(|error| format!("cannot read {name}: {error}"))?;
    refusal(&binary).map_or_else(
        || {
            Ok(notes(&binary, has_openssl)
                .into_iter()
                .map(|note| format!("{name} {note}"))
                .collect())
        },
        |reason| Err(format!("{name} {reason}")),
    )
}

/// Returns why no part of the program is reached.
fn refusal(binary: &Binary) -> Option<String> {
    if let Some(architecture) = &binary.other_architecture {
        return Some(format!(
            "is a program for {architecture}, and this library is for {}",
            env::consts::ARCH
        ));
    }
    if binary.is_go {
        return Some(
            "is a Go program, which makes its own system calls; use headwater's C library with cgo"
                .to_owned(),
        );
    }
    (!binary.has_interpreter).then(|| {
        "is statically linked, so nothing can be put in front of its C library; link it with \
         libheadwater.a"
            .to_owned()
    })
}

/// Returns what a reached program draws elsewhere.
fn notes(binary: &Binary, has_openssl: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(library) = &binary.openssl
        && !has_openssl
    {
        notes.push(format!(
            "uses {library}, which has a generator of its own; add --openssl to replace it as well"
        ));
    }
    if let Some(library) = binary.own_library {
        notes.push(format!("contains {library}, whose generator is not reached"));
    }
    if binary.has_raw_calls {
        notes.push("makes getrandom system calls of its own, which are not reached".to_owned());
    }
    notes
}

/// Returns the file that exec would run, by the rules of execvp(3).
fn found(name: &OsStr, search: Option<&OsStr>) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    // Without the variable exec looks here, and would run a program that was not judged.
    let search = search.unwrap_or(OsStr::new("/bin:/usr/bin"));
    env::split_paths(search).map(|directory| directory.join(name)).find(|path| {
        fs::metadata(path)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}

/// Returns the interpreter and its argument, as the kernel splits a script's first line.
fn interpreter(line: &[u8]) -> Vec<OsString> {
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    let (path, argument) = line.split_at(end);
    [path, argument.trim_ascii()]
        .into_iter()
        .filter(|word| !word.is_empty())
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect()
}

/// Returns the command after the options and variables of env(1), or the reason why the library
/// does not reach it.
fn after_env(words: &[OsString]) -> Result<Vec<OsString>, &'static str> {
    let mut rest: Vec<OsString> = words.to_vec();
    let mut is_kept = true;
    let mut is_elsewhere = false;
    while let Some(word) = rest.first() {
        let bytes = word.as_bytes();
        let mut taken = 1;
        if let Some(split) = bytes.strip_prefix(b"-S").or(bytes.strip_prefix(b"--split-string=")) {
            let split: Vec<OsString> = split
                .split(u8::is_ascii_whitespace)
                .filter(|word| !word.is_empty())
                .map(|word| OsString::from_vec(word.to_vec()))
                .collect();
            rest.splice(..1, split);
            continue;
        } else if let Some((name, words)) = option(&rest, b"-u", b"--unset") {
            is_kept &= name != b"LD_PRELOAD";
            taken = words;
        } else if let Some((_, words)) = option(&rest, b"-C", b"--chdir") {
            is_elsewhere = true;
            taken = words;
        } else if let Some(library) = bytes.strip_prefix(b"LD_PRELOAD=") {
            is_kept = memchr::memmem::find(library, PRELOAD.file.as_bytes()).is_some();
        } else if bytes.starts_with(b"-") {
            // `-i` may stand among other letters.
            let is_short = !bytes.starts_with(b"--");
            let empties = bytes == b"-" || bytes == b"--ignore-environment";
            is_kept &= !(empties || is_short && bytes.contains(&b'i'));
        } else if !bytes.contains(&b'=') {
            break;
        }
        rest.drain(..taken);
    }
    let Some(command) = rest.first() else { return Ok(rest) };
    if !is_kept {
        return Err("starts its command without LD_PRELOAD; put `headwater run` after it");
    }
    let command = command.as_bytes();
    if is_elsewhere && command.contains(&b'/') && !command.starts_with(b"/") {
        return Err("looks for its command in another directory; name it by its whole path");
    }
    Ok(rest)
}

/// Returns true for the dynamic linker of glibc or musl, which loads the program that it is given
/// as the kernel would have, with `LD_PRELOAD`. By its file it is a static program.
fn is_linker(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    name == b"ld.so" || name.starts_with(b"ld-linux") || name.starts_with(b"ld-musl-")
}

/// Returns the program after the options of the dynamic linker, and its arguments.
fn after_linker(words: &[OsString]) -> Vec<OsString> {
    const WITH_VALUE: [&str; 7] = [
        "--library-path",
        "--inhibit-rpath",
        "--audit",
        "--preload",
        "--argv0",
        "--glibc-hwcaps-prepend",
        "--glibc-hwcaps-mask",
    ];
    let mut rest = words;
    while let [word, after @ ..] = rest
        && word.as_bytes().starts_with(b"--")
    {
        let takes_next = WITH_VALUE.iter().any(|option| word == option);
        rest = after.get(usize::from(takes_next)..).unwrap_or_default();
    }
    rest.to_vec()
}

/// Returns the value of an option that the words begin with, in one of its four spellings, and the
/// number of words that they are.
fn option<'a>(words: &'a [OsString], short: &[u8], long: &[u8]) -> Option<(&'a [u8], usize)> {
    let word = words[0].as_bytes();
    let value = match word.strip_prefix(short) {
        Some(value) => value,
        None if word == long => b"",
        None => return Some((word.strip_prefix(long)?.strip_prefix(b"=")?, 1)),
    };
    match value.is_empty() {
        true => words.get(1).map(|value| (value.as_bytes(), 2)),
        false => Some((value, 1)),
    }
}

/// Returns true if the kernel starts the program in secure execution (AT_SECURE).
fn has_more_rights(path: &Path) -> bool {
    const SET_USER_ID: u32 = 0o4000;
    const SET_GROUP_ID: u32 = 0o2010; // without the group's execute bit it means mandatory locking
    let Ok(file) = fs::metadata(path) else { return false };
    // Not by /proc/self, which a chroot may lack.
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    (file.mode() & SET_USER_ID != 0 && file.uid() != user.as_raw())
        || (file.mode() & SET_GROUP_ID == SET_GROUP_ID && file.gid() != group.as_raw())
        || (!user.is_root() && elf::has_capabilities(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect()
    }

    #[test]
    fn a_first_line_is_split_once_as_the_kernel_does() {
        for (line, expected) in [
            ("/bin/sh\n", vec!["/bin/sh"]),
            (" /bin/sh -e \nexit", vec!["/bin/sh", "-e"]),
            ("/usr/bin/env -S python3 -u\n", vec!["/usr/bin/env", "-S python3 -u"]),
            ("\n", vec![]),
        ] {
            assert_eq!(interpreter(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn env_is_looked_through() {
        for (line, expected) in [
            ("python3 -c x", "python3 -c x"),
            ("A=1 B=2 php -i", "php -i"),
            ("-u HOME -C / ruby -v", "ruby -v"),
            ("-uHOME -C/tmp --chdir=/ --unset=A --unset B ruby", "ruby"),
            ("-C /tmp /bin/ls", "/bin/ls"),
            ("-i LD_PRELOAD=/lib/libheadwater_preload.so perl", "perl"),
            ("-0 -v --", ""),
            ("-i", ""),
            ("", ""),
        ] {
            assert_eq!(after_env(&words(line)), Ok(words(expected)), "{line}");
        }
        let split = [OsString::from("-S python3 -u"), OsString::from("script")];
        assert_eq!(after_env(&split), Ok(words("python3 -u script")));
    }

    #[test]
    fn the_dynamic_linker_is_looked_through() {
        for (line, expected) in [
            ("/bin/true -v", "/bin/true -v"),
            ("--library-path /lib:/usr/lib --argv0 x /bin/true", "/bin/true"),
            ("--inhibit-cache --preload a.so ./program --list", "./program --list"),
            ("--list-diagnostics", ""),
            ("--library-path", ""),
            ("", ""),
        ] {
            assert_eq!(after_linker(&words(line)), words(expected), "{line}");
        }
    }

    #[test]
    fn an_environment_that_env_takes_away_is_seen() {
        for line in [
            "-i php",
            "- php",
            "-vi A=1 php",
            "--ignore-environment perl",
            "-u LD_PRELOAD perl",
            "-uLD_PRELOAD perl",
            "--unset=LD_PRELOAD perl",
            "--unset LD_PRELOAD perl",
            "LD_PRELOAD= perl",
            "LD_PRELOAD=/lib/other.so perl",
        ] {
            assert!(after_env(&words(line)).unwrap_err().contains("without LD_PRELOAD"), "{line}");
        }
        for line in ["-C /tmp ./program", "--chdir=/tmp bin/program"] {
            assert!(after_env(&words(line)).unwrap_err().contains("whole path"), "{line}");
        }
    }

    #[test]
    fn a_program_is_found_where_exec_finds_it() {
        let found = |name: &str, search: Option<&str>| found(name.as_ref(), search.map(OsStr::new));
        assert_eq!(found("sh", None), Some("/bin/sh".into()));
        assert_eq!(found("sh", Some("/none:/usr/bin")), Some("/usr/bin/sh".into()));
        assert_eq!(found("sh", Some("/none")), None);
    }

    #[test]
    fn a_program_that_is_not_there_is_execs_to_report() {
        assert_eq!(judge(&words("no-such-command"), false), Ok(vec![]));
        assert_eq!(judge(&words("/no/such/command"), false), Ok(vec![]));
    }
}
