//! The lab: real kernels in QEMU, run by the command that users have.

use crate::process::{output, program, root, run, target_directory};
use crate::report::{Stop, need};
use crate::tools;
use anyhow::{Context, Result, anyhow, ensure};
use std::env;
use std::path::Path;
use std::process::ExitCode;

/// A release build, which draws and compares at the speed that users see. The guest is one too.
pub(crate) const HEADWATER: &str = "cargo run --release -p headwater-cli --";

/// Fetches QEMU and the kernels from the cache or from Debian.
pub(crate) fn set_up() -> Result<()> {
    // The guest links the distribution's libcrypto as a witness. Without it a column is missing.
    if !Path::new("/usr/include/openssl/rand.h").exists() && tools::root_user().is_ok() {
        let _ = run(&mut program("apt-get install -qq --yes --no-install-recommends libssl-dev"));
    }
    run(&mut program(&format!("{HEADWATER} lab setup")))
}

/// Fetches the lab's tools, and returns the command of its CRIU, which starts through the loader of
/// the release that it is from.
pub(crate) fn criu() -> Result<String> {
    run(&mut program(&format!("{HEADWATER} lab setup --only tools")))?;
    criu_in("lab/tools/usr")
}

/// Returns the command of the CRIU that was fetched to a directory of the cache.
fn criu_in(directory: &str) -> Result<String> {
    let release = tools::cache()?.join(directory);
    let place = |name: &str| release.join(name).display().to_string();
    ensure!(release.join("sbin/criu").is_file(), "the lab has no CRIU in {directory}");
    let loader = place("lib64/ld-linux-x86-64.so.2");
    let libraries = place("lib/x86_64-linux-gnu");
    Ok(format!("{loader} --library-path {libraries} {}", place("sbin/criu")))
}

/// Does the same for the newest CRIU, which `clones check` prefers to that of the tools. Before 4.2
/// a restored process has the pages that the kernel may drop, so headwater cannot see the copy.
pub(crate) fn newest_criu() -> Result<String> {
    run(&mut program(&format!("{HEADWATER} lab setup --only tools,criu")))?;
    criu_in("lab/criu/usr")
}

/// Runs one boot of each kernel series, and three pairs of clones.
pub(crate) fn short() -> Result<()> {
    run(&mut program(&format!("{HEADWATER} lab all --short")))
}

/// Runs draws in a guest whose kernel checks every restartable sequence, and ends a process that
/// breaks a rule.
///
/// The test runner goes by `--config` and not by the variables of that purpose, because cargo would
/// hand those on to the cargo that starts the lab, and that one would then build the command anew.
pub(crate) fn debug_switch() -> Result<(), Stop> {
    const LOSS: &str = "whether the kernel's own checks of sections pass";
    const TEST: &str = "draws_under_the_kernels_debug_switch";
    const TARGET: &str = "x86_64-unknown-linux-gnu";
    let kernels =
        need(output(&mut program(&format!("{HEADWATER} lab setup --only tools,7"))), LOSS)?;
    let has_newest = kernels.lines().any(|line| line.starts_with("7 "));
    need(has_newest.then_some(()).context("no mirror serves a kernel with the switch"), LOSS)?;
    let mut tests = program("cargo test -p headwater --features testing --test coexist --target");
    tests.arg(TARGET);
    let runner: Vec<&str> = HEADWATER.split(' ').chain(["lab", "run", "--"]).collect();
    for (name, words) in [("runner", runner), ("rustflags", vec!["-Ctarget-feature=+crt-static"])] {
        tests.args(["--config", &format!("target.{TARGET}.{name}={words:?}")]);
    }
    tests.args(["--", "--exact", TEST, "--ignored", "--nocapture"]);
    let text = output(&mut tests)?;
    print!("{text}");
    ends_with_its_program(TARGET)?;
    match text.contains("skipped:") || !text.contains("1 passed") {
        true => Err(anyhow!("{TEST} ran, and did not draw in sections").into()),
        false => Ok(()),
    }
}

/// Checks that `lab run` ends as its program does, and passes on what it writes. The program is the
/// guest's own, which refuses to be anything but the first process of a guest.
fn ends_with_its_program(target: &str) -> Result<()> {
    let guest = target_directory()?.join(target).join("release/headwater-guest");
    let ended = program(&format!("{HEADWATER} lab run")).arg(guest).output()?;
    let errors = String::from_utf8_lossy(&ended.stderr);
    ensure!(
        ended.status.code() == Some(2) && errors.contains("is the first process of a guest"),
        "`lab run` ended with {}, and its program ends with status 2 and a sentence:\n{errors}",
        ended.status
    );
    Ok(())
}

/// Runs everything, with the record in `records/lab/<date>/`.
pub(crate) fn all() -> Result<ExitCode> {
    env::set_current_dir(root()?)?;
    set_up()?;
    // Debian's cross compiler builds the arm64 guest. Without it the run says what it skips.
    let arm = tools::packages(&["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"])
        .and_then(|()| tools::target("aarch64-unknown-linux-gnu"))
        .and_then(|()| run(&mut program(&format!("{HEADWATER} lab setup --only arm64"))));
    if let Err(error) = arm {
        println!("skipped: arm64 guests: {error:#}");
    }
    let date = output(&mut program("date --utc +%Y-%m-%d"))?;
    let directory = format!("records/lab/{}", date.trim());
    run(&mut program(&format!("{HEADWATER} lab all --out {directory}")))
        .with_context(|| format!("at least one claim failed; see {directory}/findings.txt"))?;
    Ok(ExitCode::SUCCESS)
}
