//! The static command: one file that needs nothing but a kernel.

use crate::process::{output, program, run};
use crate::release::stage::{self, ARCHITECTURES, QEMU, VERSION};
use crate::release::tarballs::LICENCES;
use crate::tools;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The size that the release promises for the command without debug information.
const MOST_BYTES: u64 = 12_000_000;

/// Each call in an empty root directory, and the start of a line of the expected answer.
const CALLS: [(&str, &str); 7] = [
    ("--version", "headwater "),
    ("status", "mode"),
    ("doctor", "checks"),
    ("wait", "ready"),
    ("bytes 16 --hex", ""),
    ("uuid", ""),
    ("stream --seed 42 64", ""),
];

/// Returns the name of the static command in `dist`.
pub(crate) fn name(cpu: &str) -> String {
    format!("headwater-{VERSION}-linux-{cpu}")
}

/// Returns the name of the file with the licences of that command.
pub(crate) fn notices(cpu: &str) -> String {
    format!("{}.NOTICES", name(cpu))
}

/// Builds the command of each architecture with musl, and runs it in an empty root directory.
pub(crate) fn build(dist: &Path) -> Result<()> {
    tools::packages(&["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user-static"])?;
    let source = stage::source()?;
    for (_, cpu) in ARCHITECTURES {
        let triple = format!("{cpu}-unknown-linux-musl");
        tools::target(&triple)?;
        let installed = stage::directory()?.join(&triple);
        let mut install = stage::within(&source, "cargo xtask install --only command")?;
        install.args(["--prefix", "/usr", "--target", &triple, "--destdir"]).arg(&installed);
        // One dependency has a file in C, which reads fields of siginfo_t. They are the kernel's,
        // so the headers of either C library will do. Without this name cargo would look for
        // musl's own gcc, which is on machines where the tests have installed it, and on no other.
        install.env(format!("CC_{cpu}_unknown_linux_musl"), format!("{cpu}-linux-gnu-gcc"));
        if cpu == "aarch64" {
            // musl's start files and libraries come with Rust's target; gcc only runs the linker.
            install.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "aarch64-linux-gnu-gcc");
            install.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER", QEMU);
        }
        run(&mut install)?;
        let file = installed.join("usr/bin/headwater");
        needs_nothing(&file)?;
        answers(&file, cpu)?;
        fs::create_dir_all(dist)?;
        fs::copy(&file, dist.join(name(cpu)))?;
        fs::write(dist.join(notices(cpu)), licences(&installed)?)?;
    }
    Ok(())
}

/// Returns the licence of the command and those of the crates in it: a single file has no place for
/// them.
fn licences(installed: &Path) -> Result<String> {
    let mut text = String::new();
    for licence in LICENCES {
        text += &fs::read_to_string(licence).context(licence)?;
        text += "\n----\n\n";
    }
    Ok(text + &fs::read_to_string(installed.join("usr/share/doc/headwater/NOTICES-command"))?)
}

/// Checks that no loader and no library is named in the file, and that it is small.
fn needs_nothing(file: &Path) -> Result<()> {
    let read = output(program("readelf --wide --program-headers --dynamic").arg(file))?;
    for word in ["INTERP", "(NEEDED)"] {
        ensure!(!read.contains(word), "{}: has {word}:\n{read}", file.display());
    }
    let bytes = fs::metadata(file)?.len();
    ensure!(bytes < MOST_BYTES, "{}: {bytes} bytes, at most {MOST_BYTES}", file.display());
    println!("{}: {bytes} bytes, no loader, no library", file.display());
    Ok(())
}

/// Runs the command in a root directory that holds no other file: no /proc, no /dev, no /etc.
fn answers(file: &Path, cpu: &str) -> Result<()> {
    if let Err(error) = tools::root_user() {
        println!("skipped: the command in an empty root directory: {error}");
        return Ok(());
    }
    let empty = stage::directory()?.join("empty");
    let _ = fs::remove_dir_all(&empty);
    fs::create_dir_all(&empty)?;
    fs::copy(file, empty.join("headwater"))?;
    let is_ours = cpu == std::env::consts::ARCH;
    if !is_ours {
        fs::copy(Path::new("/usr/bin").join(QEMU), empty.join("qemu"))?;
    }
    for (call, expected) in CALLS {
        let mut command = Command::new("chroot");
        command.arg(&empty);
        if !is_ours {
            command.arg("/qemu");
        }
        command.arg("/headwater").args(call.split(' '));
        let answer = command.output().context("chroot")?;
        // 1 is a finding of the doctor, 4 a check that lacks its files.
        let is_right = match call {
            "doctor" => matches!(answer.status.code(), Some(0 | 1 | 4)),
            _ => answer.status.success(),
        };
        let said = String::from_utf8_lossy(&answer.stdout);
        if !is_right || said.is_empty() && answer.stdout.is_empty() || !said.contains(expected) {
            let errors = String::from_utf8_lossy(&answer.stderr);
            bail!("{cpu}: headwater {call}: {}\n{said}{errors}", answer.status);
        }
        println!("{cpu}, empty root: headwater {call}: {}", answer.status);
    }
    Ok(())
}
