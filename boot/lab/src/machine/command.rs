//! Command lines of QEMU from the cache, which is started by the loader it was packaged with.

use crate::machine::cache::Cache;
use crate::machine::qemu::Machine;
use crate::process::output;
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the command of a machine whose console is written to a file, and whose control socket is
/// made. From a saved state, if one is given.
pub(crate) fn of(
    cache: &Cache,
    machine: &Machine,
    console: &Path,
    socket: &Path,
    incoming: Option<&Path>,
) -> Result<Command> {
    let mut command = system(cache, &machine.kernel.architecture)?;
    let share = cache.tools().join("usr/share");
    command
        .args(["-accel", "tcg", "-nodefaults", "-display", "none", "-no-reboot", "-m", "256"])
        .arg("-L")
        .arg(share.join("qemu"))
        .arg("-L")
        .arg(share.join("seabios"))
        .args(["-machine", &machine.board, "-cpu", &machine.cpu, "-smp", &machine.cpus.to_string()])
        // Not `-serial file:`, which takes a doubled comma as two.
        .args(["-chardev", &with_path("file,id=console,path=", console)])
        .args(["-serial", "chardev:console"])
        .args(["-chardev", "stdio,id=port,signal=off", "-serial", "chardev:port"])
        .args(["-qmp", &format!("{},server=on,wait=off", with_path("unix:", socket))])
        .args(&machine.devices)
        .arg("-kernel")
        .arg(&machine.kernel.image)
        .arg("-initrd")
        .arg(&machine.archive)
        .args(["-append", &command_line(machine)]);
    if let Some(firmware) = &machine.firmware {
        let drive = with_path("if=pflash,unit=0,format=raw,readonly=on,file=", firmware);
        command.args(["-drive", &drive]);
    }
    if let Some(state) = incoming {
        command.args(["-incoming", &saved(state)]);
    }
    Ok(command)
}

/// Returns the command of a program in the cache, with the loader and libraries it was packaged
/// with.
pub(crate) fn program(cache: &Cache, path: &str) -> Result<Command> {
    program_of(&cache.tools(), path)
}

/// Returns the same for another tree of unpacked packages.
pub(crate) fn program_of(tools: &Path, path: &str) -> Result<Command> {
    let (loader, triple) = match std::env::consts::ARCH {
        "aarch64" => ("usr/lib/ld-linux-aarch64.so.1", "aarch64-linux-gnu"),
        _ => ("usr/lib64/ld-linux-x86-64.so.2", "x86_64-linux-gnu"),
    };
    let file = tools.join(path);
    ensure!(file.is_file(), "{path} is not in {}; run `headwater lab setup`", tools.display());
    let name = path.rsplit('/').next().unwrap_or(path);
    let libraries = tools.join("usr/lib").join(triple);
    let mut command = Command::new(tools.join(loader));
    command.arg("--library-path").arg(&libraries).args(["--argv0", name]).arg(file);
    command.env("QEMU_MODULE_DIR", libraries.join("qemu"));
    Ok(command)
}

/// Returns the command, wrapped so that the kernel kills it when this process ends, even by a
/// signal.
pub(crate) fn killed_with_us(command: &Command) -> Command {
    let mut wrapped = Command::new("setpriv");
    wrapped.args(["--pdeathsig", "KILL"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            wrapped.env(name, value);
        }
    }
    wrapped
}

/// Returns an option of QEMU that ends with a path, in which a comma has to stand twice.
pub(crate) fn with_path(option: &str, path: &Path) -> String {
    format!("{option}{}", path.display().to_string().replace(',', ",,"))
}

/// Returns the name of a saved state for QEMU's migrations, which take a comma as it is.
pub(crate) fn saved(state: &Path) -> String {
    format!("file:{}", state.display())
}

/// Returns the command of the QEMU that emulates an architecture.
pub(crate) fn system(cache: &Cache, architecture: &str) -> Result<Command> {
    program(cache, &format!("usr/bin/qemu-system-{architecture}"))
}

/// Returns the first line of `qemu --version`.
pub(crate) fn version(cache: &Cache) -> Result<String> {
    let text = output(system(cache, "x86_64")?.arg("--version"))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// Creates an empty disk image, which `savevm` needs for its snapshots.
pub(crate) fn make_disk(cache: &Cache, file: &Path) -> Result<()> {
    output(
        program(cache, "usr/bin/qemu-img")?
            .args(["create", "-q", "-f", "qcow2"])
            .arg(file)
            .arg("1G"),
    )
    .map(drop)
}

/// Returns the UEFI firmware for x86-64 guests.
pub(crate) fn firmware(cache: &Cache) -> Result<PathBuf> {
    let file = cache.tools().join("usr/share/OVMF/OVMF_CODE_4M.fd");
    ensure!(
        file.is_file(),
        "{} not found; run `headwater lab setup --only tools --refresh`",
        file.display()
    );
    Ok(file)
}

/// Returns the kernel's command line. The kernel uses the first port, the guest's program the
/// second.
fn command_line(machine: &Machine) -> String {
    let (console, port) =
        if machine.is_arm() { ("ttyAMA0", "ttyAMA1") } else { ("ttyS0", "ttyS1") };
    // `reboot=t`, because a triple fault ends every kind of machine. `no_timer_check`, because on a
    // busy host the emulated timer is late, and then the kernel would panic without this word.
    let common = format!("console={console} hw.port={port} quiet panic=-1 reboot=t no_timer_check");
    format!("{common} {}", machine.append).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// QEMU refused a cache with a comma in its path, because not all of its options take one in
    /// the same form.
    #[test]
    fn a_comma_in_a_path_has_the_form_of_its_option() {
        let path = Path::new("/ca,che/x");
        assert_eq!(with_path("unix:", path), "unix:/ca,,che/x");
        assert_eq!(saved(path), "file:/ca,che/x");
    }
}
