//! The environment: it is ignored in a program that runs with more rights than its caller.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::{Config, Mode};
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};
use support::machine::skip;
use support::rules::assert_by_the_rules;

/// Set in a copy of this program: it says what it was asked for, instead of testing.
const SAY: &str = "HEADWATER_TEST_SAY";
/// Two unprivileged users: the program's owner and its caller.
const OWNER: u32 = 65_533;
const CALLER: u32 = 65_532;

/// The ways to make a program run with more rights than its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rights {
    None,
    SetUser,
    SetGroup,
    Capability,
}

/// Says, in a copy, what headwater makes of this process. Draws, so that the status is one of a
/// process in use.
fn say() {
    // SAFETY: getauxval reads the auxiliary vector and nothing else.
    let secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    let configured = Config::new().mode;
    headwater::fill(&mut [0; 100]).unwrap();
    let status = headwater::status();
    assert_by_the_rules(&status);
    let (requested, unknown) = (status.requested, status.unknown_mode_requested);
    // Draws take locks because of the variable, and not for another reason of this machine.
    let forbidden = status.path.why().is_some_and(|why| why.contains("HEADWATER_NO_RSEQ"));
    println!(
        "said: secure={secure} configured={configured} requested={requested} unknown={unknown} \
         forbidden={forbidden}"
    );
}

/// Makes a copy of this program with these rights. The copy lies in a directory where the rights
/// count and which every user may enter.
fn copy(rights: Rights) -> io::Result<PathBuf> {
    let mut why = io::Error::from(io::ErrorKind::PermissionDenied);
    for folder in [Path::new(env!("CARGO_TARGET_TMPDIR")), &env::temp_dir(), Path::new("/var/tmp")]
    {
        let path = folder.join(format!("more-rights-{}", std::process::id()));
        match prepare(&path, rights).and_then(|()| said(&path, "auto")) {
            Ok(said) if said.contains("secure=true") == (rights != Rights::None) => {
                return Ok(path);
            }
            Ok(_) => why = io::Error::other("the kernel grants it no more rights"),
            Err(error) => why = error,
        }
        let _ = fs::remove_file(&path);
    }
    Err(why)
}

fn prepare(path: &Path, rights: Rights) -> io::Result<()> {
    // By a process of its own, because a child that another thread forks meanwhile would hold the
    // copy open for writing, and then it cannot be started.
    let copied = Command::new("cp").arg(env::current_exe()?).arg(path).status()?;
    if !copied.success() {
        return Err(io::Error::other("cp failed"));
    }
    chown(path, Some(OWNER), Some(OWNER))?;
    let mode = match rights {
        Rights::SetUser => 0o4755,
        Rights::SetGroup => 0o2755,
        Rights::None | Rights::Capability => 0o755,
    };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    if rights == Rights::Capability {
        // struct vfs_cap_data: revision 2, effective; permitted and inheritable, low and high
        // words. CAP_SETPCAP, of which this program makes no use.
        let words: [u32; 5] = [0x0200_0001, 1 << 8, 0, 0, 0];
        let data = words.map(u32::to_le_bytes).concat();
        let file = CString::new(path.as_os_str().as_bytes())?;
        let name = c"security.capability".as_ptr();
        // SAFETY: C strings, and as many bytes as their length says.
        let set =
            unsafe { libc::setxattr(file.as_ptr(), name, data.as_ptr().cast(), data.len(), 0) };
        if set != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Returns the copy's report if another user runs it with this mode in the environment.
fn said(program: &Path, mode: &str) -> io::Result<String> {
    let mut command = Command::new(program);
    command
        .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
        .env("HEADWATER_MODE", mode)
        .env("HEADWATER_NO_RSEQ", "1")
        .env(SAY, "1")
        .current_dir("/")
        .gid(CALLER)
        .uid(CALLER);
    let output = loop {
        match command.output() {
            // Another test's child has not yet closed what it inherited: the file while it was
            // written.
            Err(busy) if busy.kind() == io::ErrorKind::ExecutableFileBusy => {}
            output => break output?,
        }
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match text.lines().find_map(|line| Some(line.split_once("said: ")?.1.to_owned())) {
        Some(said) if output.status.success() => Ok(said),
        _ => panic!("{text}{}", String::from_utf8_lossy(&output.stderr)),
    }
}

const TEST: &str = "a_program_with_more_rights_ignores_the_environment";

#[test]
fn a_program_with_more_rights_ignores_the_environment() {
    if env::var_os(SAY).is_some() {
        return say();
    }
    for rights in [Rights::None, Rights::SetUser, Rights::SetGroup, Rights::Capability] {
        let program = match copy(rights) {
            Ok(program) => program,
            Err(why) => {
                let why =
                    format!("{rights:?}: {why}: whether HEADWATER_MODE is ignored is not known");
                skip(TEST, &why);
                continue;
            }
        };
        for (value, requested, unknown) in
            [("kernel", "kernel", false), ("strict", "strict", false), ("turbo", "auto", true)]
        {
            let expected = match rights {
                Rights::None => {
                    let configured = if unknown { "strict" } else { requested };
                    let requested = configured;
                    format!(
                        "secure=false configured={configured} requested={requested} \
                         unknown={unknown} forbidden=false"
                    )
                }
                _ => "secure=true configured=auto requested=auto unknown=false forbidden=false"
                    .into(),
            };
            assert_eq!(said(&program, value).unwrap(), expected, "{rights:?}, {value}");
        }
        fs::remove_file(&program).unwrap();
    }
}

/// Values that a program may set although no shell would: they name no mode, so `strict` is used.
#[test]
fn values_that_are_no_names() {
    let long = "kernel".repeat(20_000);
    let values: [(&str, &[u8]); 7] = [
        ("not UTF-8", b"\xFF\xFEkernel"),
        ("UTF-8 cut short", b"kernel\xC3"),
        ("longer than any name", long.as_bytes()),
        ("a name and more", b"kernelx"),
        ("a part of a name", b"kerne"),
        ("a number", b"4"),
        ("a newline", b"kernel\n"),
    ];
    for (what, value) in values {
        common::isolated_as("values_that_are_no_names", &what.replace(' ', "-"), &[], || {
            // SAFETY: this process has one thread that matters, and no thread reads the environment
            // meanwhile.
            unsafe { env::set_var("HEADWATER_MODE", OsStr::from_bytes(value)) };
            assert_eq!(Config::new().mode, Mode::Strict);
            headwater::fill(&mut [0; 100]).unwrap();
            let status = headwater::status();
            assert_eq!(
                (status.mode, status.unknown_mode_requested),
                (Mode::Strict, true),
                "{what}"
            );
            assert_by_the_rules(&status);
        });
    }
}

/// `HEADWATER_NO_RSEQ` puts draws under locks, and the status says so; 0 and nothing do not. (The
/// copies above are started with 1, and the one with more rights does not believe it.)
#[test]
fn sections_are_forbidden_by_a_variable() {
    for (value, forbids) in [("1", true), ("yes", true), ("0", false), ("", false)] {
        let variables = [("HEADWATER_NO_RSEQ", value), ("HEADWATER_MODE", "hedged")];
        let variant = format!("value-{value}");
        common::isolated_as("sections_are_forbidden_by_a_variable", &variant, &variables, || {
            headwater::fill(&mut [0; 100]).unwrap();
            let status = headwater::status();
            if status.mode != Mode::Hedged {
                return skip("sections_are_forbidden_by_a_variable", status.reason);
            }
            let why = status.path.why().unwrap_or_default();
            let by_variable = why == "HEADWATER_NO_RSEQ is set";
            let possible = by_variable || status.path == headwater::Path::Sections;
            assert!(!possible || by_variable == forbids, "{value:?}: {:?}", status.path);
        });
    }
}

/// Set-up reads the environment once: what is set afterwards changes nothing.
#[test]
fn the_environment_is_read_once() {
    isolated("the_environment_is_read_once", || {
        headwater::init().unwrap();
        let before = headwater::status();
        support::machine::set_mode_variable(Some("kernel"));
        headwater::init().unwrap();
        headwater::fill(&mut [0; 100]).unwrap();
        let after = headwater::status();
        assert_eq!((after.requested, after.mode), (before.requested, before.mode));
    });
}
