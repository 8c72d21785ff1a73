//! `headwater lab record`: the files of this host or of a guest that the doctor reads.
//!
//! The recording mirrors the machine: `proc/version`, `sys/class/...`. Links and empty directories
//! are kept; `recording.json` lists the files that could not be read, with the reason. Host names
//! and addresses are not recorded. A path that ends in `.host` receives one readable text file
//! (docs/hosts.md), any other path a directory.

mod write;

pub use write::ensure_is_free;

use crate::machine::qemu::Guest;
use crate::process::output;
use anyhow::{Context, Result};
use headwater_hostfile::{Archive, Entry as Recorded};
use headwater_lab_protocol::{self as protocol, Command as GuestCommand, EntryKind, Log};
use serde::Serialize;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::process::Command;

/// Files, taken whole. `*` stands for every entry of a directory.
const FILES: [&str; 52] = [
    "/proc/version",
    "/proc/cmdline",
    "/proc/stat",
    "/proc/uptime",
    "/proc/interrupts",
    "/proc/modules",
    "/proc/filesystems",
    "/proc/swaps",
    "/proc/version_signature",
    "/proc/sys/crypto/fips_enabled",
    "/proc/1/comm",
    "/proc/2/comm",
    "/proc/1/cgroup",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/random/entropy_avail",
    "/proc/sys/kernel/random/poolsize",
    "/proc/sys/kernel/random/urandom_min_reseed_secs",
    "/proc/sys/kernel/dmesg_restrict",
    "/etc/os-release",
    "/sys/class/misc/hw_random/rng_available",
    "/sys/class/misc/hw_random/rng_current",
    "/sys/class/misc/hw_random/rng_quality",
    "/sys/class/misc/hw_random/rng_selected",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "/sys/devices/system/clocksource/clocksource0/available_clocksource",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/vulnerabilities/srbds",
    "/sys/devices/system/node/online",
    "/sys/class/dmi/id/sys_vendor",
    "/sys/class/dmi/id/product_name",
    "/sys/class/dmi/id/product_version",
    "/sys/class/dmi/id/board_vendor",
    "/sys/class/dmi/id/bios_vendor",
    "/sys/class/dmi/id/bios_version",
    "/sys/class/dmi/id/chassis_asset_tag",
    "/sys/hypervisor/type",
    "/sys/firmware/devicetree/base/model",
    "/sys/firmware/efi/fw_platform_size",
    "/sys/bus/virtio/devices/*/device",
    "/sys/bus/virtio/devices/*/vendor",
    "/sys/bus/virtio/devices/*/modalias",
    "/sys/bus/pci/devices/*/vendor",
    "/sys/bus/pci/devices/*/device",
    "/sys/bus/acpi/devices/*/hid",
    "/sys/bus/acpi/devices/*/path",
    "/sys/bus/acpi/devices/*/modalias",
    "/sys/module/virtio_rng/initstate",
    "/sys/module/vmgenid/parameters",
    "/sys/module/random/parameters/ratelimit_disable",
    "/sys/class/ptp/*/clock_name",
    "/run/systemd/container",
    "/sys/fs/selinux/enforce",
];

/// Directories whose entries matter, not their contents.
const FOLDERS: [&str; 7] = [
    "/sys/bus/platform/drivers/vmgenid",
    "/sys/bus/acpi/drivers/vmgenid",
    "/sys/bus/platform/drivers/vmclock",
    "/sys/bus/virtio/drivers/virtio_rng",
    "/sys/firmware/efi",
    "/sys/class/misc/hw_random",
    "/sys/class/tpm",
];

/// Device nodes, of which only the existence and the permissions matter.
const NODES: [&str; 8] = [
    "/dev/vmclock0",
    "/dev/hwrng",
    "/dev/kvm",
    "/dev/kmsg",
    "/dev/tpm0",
    "/.dockerenv",
    "/run/.containerenv",
    "/var/lib/systemd/random-seed",
];

/// Properties of each service: the times and the result of its start, as the doctor asks for them.
const SERVICES: &str =
    "Id,InactiveExitTimestampMonotonic,ActiveEnterTimestampMonotonic,Result,ActiveState";

/// Options of a kernel's configuration that a check uses.
const OPTIONS: [&str; 9] = [
    "RANDOM",
    "VMGENID",
    "VMCLOCK",
    "HW_RANDOM",
    "X86_TSC",
    "VGETRANDOM",
    "HZ",
    "ARCH_RANDOM",
    "NUMA",
];

/// Where files can be read: this machine, or a guest over its line.
trait Machine {
    fn read(&mut self, path: &str) -> io::Result<Vec<u8>>;
    fn list(&mut self, path: &str) -> io::Result<Vec<Entry>>;
}

#[derive(Clone, Debug)]
struct Entry {
    /// `d`, `f`, `l` or `o`.
    kind: char,
    name: String,
    target: String,
}

/// The description of a recording. Its JSON has the schema `headwater.recording/1`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Recording {
    schema: &'static str,
    /// `host`, or `guest`.
    of: &'static str,
    /// True if root made the recording.
    root: bool,
    /// Files that are there and could not be read, with the reason.
    unreadable: Vec<(String, String)>,
    /// Devices and marks that are there.
    nodes: Vec<String>,
    /// Files that were saved.
    files: usize,
}

/// Records this machine to `path`: a host file if the name ends in `.host`, else a directory.
///
/// # Errors
///
/// Returns an error if the path cannot be written, or holds something already.
pub fn of_host(path: &Path) -> Result<Recording> {
    ensure_is_free(path)?;
    let (mut recording, mut archive) = take(&mut Host, "host")?;
    recording.root =
        fs::metadata("/proc/1/environ").is_ok() && File::open("/proc/1/environ").is_ok();
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let config = format!("/boot/config-{}", release.trim());
    if let Ok(options) = fs::read_to_string(&config) {
        let chosen =
            options.lines().filter(|line| OPTIONS.iter().any(|option| line.contains(option)));
        let text = chosen.collect::<Vec<&str>>().join("\n") + "\n";
        save(&mut archive, "boot/config", text.into_bytes())?;
    }
    // The log itself, of the kernel and of the services that started since; nothing where these
    // tools are not.
    for (file, program, arguments) in [
        ("log/kernel", "dmesg", [].as_slice()),
        (
            "log/journal-kernel",
            "journalctl",
            &["-k", "-b", "--no-pager", "--no-hostname", "-o", "short-monotonic"],
        ),
        ("log/systemctl-show", "systemctl", &["show", "*.service", "--no-pager", "-p", SERVICES]),
        ("log/critical-chain", "systemd-analyze", &["critical-chain", "--no-pager"]),
        ("log/blame", "systemd-analyze", &["blame", "--no-pager"]),
    ] {
        match output(Command::new(program).args(arguments)) {
            Ok(text) => save(&mut archive, file, text.into_bytes())?,
            Err(error) => recording.unreadable.push((file.to_owned(), format!("{error:#}"))),
        }
    }
    write(&recording, archive, path)?;
    Ok(recording)
}

/// Records a guest that has said `ready`.
pub(crate) fn of_guest(guest: &mut Guest, path: &Path) -> Result<Recording> {
    ensure_is_free(path)?;
    let (mut recording, mut archive) = take(&mut Remote { guest }, "guest")?;
    recording.root = true;
    let mut log = String::new();
    for line in protocol::all::<Log>(&guest.ask(&GuestCommand::Log { all: true })?) {
        let (seconds, micros) = (line.at_us / 1_000_000, line.at_us % 1_000_000);
        log.push_str(&format!("[{seconds:>5}.{micros:06}] {}\n", line.text));
    }
    save(&mut archive, "log/kernel", log.into_bytes())?;
    write(&recording, archive, path)?;
    Ok(recording)
}

fn take(machine: &mut impl Machine, of: &'static str) -> Result<(Recording, Archive)> {
    let mut archive = Archive::default();
    let mut recording = Recording { schema: "headwater.recording/1", of, ..Recording::default() };
    for pattern in FILES {
        for path in expand(machine, pattern) {
            match machine.read(&path) {
                Ok(bytes) => {
                    recording.files += 1;
                    save(&mut archive, &path, bytes)?;
                }
                Err(error) if is_absent(&error) => {}
                Err(error) => recording.unreadable.push((path, error.to_string())),
            }
        }
    }
    cpu(machine, &mut archive)?;
    makers(machine, &mut archive)?;
    for path in FOLDERS {
        let Ok(entries) = machine.list(path) else { continue };
        archive.insert(path, Recorded::Directory)?;
        for entry in entries {
            let at = format!("{path}/{}", entry.name);
            if archive.exists(&at) {
                continue;
            }
            let recorded = match entry.kind {
                'l' => Recorded::Link(entry.target),
                'd' => Recorded::Directory,
                _ => Recorded::File(Vec::new()),
            };
            archive.insert(&at, recorded)?;
        }
    }
    for path in NODES {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let parent = if parent.is_empty() { "/" } else { parent };
        if machine.list(parent).is_ok_and(|entries| entries.iter().any(|entry| entry.name == name))
        {
            recording.nodes.push(path.to_owned());
        }
    }
    Ok((recording, archive))
}

/// Records the first CPU's part of /proc/cpuinfo: those of the other CPUs repeat it, and are
/// hundreds of kilobytes on a large machine.
fn cpu(machine: &mut impl Machine, archive: &mut Archive) -> Result<()> {
    let Ok(text) = machine.read("/proc/cpuinfo") else { return Ok(()) };
    let text = String::from_utf8_lossy(&text);
    let first = text.split("\n\n").next().unwrap_or_default();
    save(archive, "/proc/cpuinfo", format!("{first}\n\n").into_bytes())
}

/// Records the first half of each network address, which names a product. The second half would
/// identify the machine, so it is zeroed; only QEMU's default, equal on all machines, is kept.
fn makers(machine: &mut impl Machine, archive: &mut Archive) -> Result<()> {
    for path in expand(machine, "/sys/class/net/*/address") {
        let Ok(bytes) = machine.read(&path) else { continue };
        let address = String::from_utf8_lossy(&bytes).trim().to_owned();
        let (Some(maker), false) = (address.get(..8), address.starts_with("00:00:00")) else {
            continue;
        };
        let rest = if address.starts_with("52:54:00:12:34") { "12:34:00" } else { "00:00:00" };
        save(archive, &path, format!("{maker}:{rest}\n").into_bytes())?;
    }
    Ok(())
}

fn expand(machine: &mut impl Machine, pattern: &str) -> Vec<String> {
    let Some((folder, rest)) = pattern.split_once("/*") else { return vec![pattern.to_owned()] };
    let mut names: Vec<String> =
        machine.list(folder).unwrap_or_default().into_iter().map(|entry| entry.name).collect();
    names.sort();
    names.retain(|name| !is_common(name));
    names.iter().map(|name| format!("{folder}/{name}{rest}")).collect()
}

/// Returns whether every machine has such devices by the dozen, among those that ACPI lists.
fn is_common(name: &str) -> bool {
    ["PNP", "LNX", "device:", "ACPI0"].iter().any(|kind| name.starts_with(kind))
}

fn save(archive: &mut Archive, path: &str, bytes: Vec<u8>) -> Result<()> {
    Ok(archive.replace(path, bytes)?)
}

fn write(recording: &Recording, mut archive: Archive, path: &Path) -> Result<()> {
    let text = serde_json::to_string_pretty(recording)? + "\n";
    save(&mut archive, "recording.json", text.into_bytes())?;
    write::write_whole(&archive, path).with_context(|| format!("cannot write {}", path.display()))
}

/// Returns true if the file is absent, or exists for other kernels only. A directory in its place
/// counts as absent.
fn is_absent(error: &io::Error) -> bool {
    const ENOENT: i32 = 2;
    const ENODEV: i32 = 19;
    const ENOTDIR: i32 = 20;
    const EISDIR: i32 = 21;
    error.raw_os_error().is_some_and(|number| [ENOENT, ENODEV, ENOTDIR, EISDIR].contains(&number))
}

struct Host;

impl Machine for Host {
    fn read(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(4 << 20).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn list(&mut self, path: &str) -> io::Result<Vec<Entry>> {
        let entries = fs::read_dir(path)?.flatten().map(|entry| {
            let kind = entry.file_type().map_or('o', |kind| match kind {
                kind if kind.is_dir() => 'd',
                kind if kind.is_symlink() => 'l',
                kind if kind.is_file() => 'f',
                _ => 'o',
            });
            let target = fs::read_link(entry.path()).unwrap_or_default();
            Entry {
                kind,
                name: entry.file_name().to_string_lossy().into_owned(),
                target: target.display().to_string(),
            }
        });
        Ok(entries.collect())
    }
}

struct Remote<'a> {
    guest: &'a mut Guest,
}

impl Machine for Remote<'_> {
    fn read(&mut self, path: &str) -> io::Result<Vec<u8>> {
        self.guest.read(path)
    }

    fn list(&mut self, path: &str) -> io::Result<Vec<Entry>> {
        let entries = self.guest.list(path)?.into_iter().map(|entry| Entry {
            kind: match entry.kind {
                EntryKind::Directory => 'd',
                EntryKind::File => 'f',
                EntryKind::Link => 'l',
                EntryKind::Other => 'o',
            },
            name: entry.name,
            target: entry.target,
        });
        Ok(entries.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::temporary::Temporary;

    /// The machine that runs the tests, whichever it is: the deciding files are recorded, the
    /// recording is small, and both forms hold the same.
    #[test]
    fn a_host_is_recorded_and_a_folder_in_use_is_refused() {
        let directory = Temporary::directory().unwrap();
        let folder = directory.path().join("host");
        let recording = of_host(&folder).unwrap();
        let again = of_host(&folder);
        let size: u64 = sizes(&folder);
        let file = folder.with_extension("host");
        of_host(&file).unwrap();
        let file_again = of_host(&file);
        let archive = Archive::parse(&fs::read(&file).unwrap()).unwrap();
        let by_directory = Archive::from_directory(&folder).unwrap();
        let version = fs::read("/proc/version").unwrap();
        assert_eq!(fs::read(folder.join("proc/version")).unwrap(), version);
        assert_eq!(archive.file("/proc/version").unwrap(), version);
        let paths = |archive: &Archive| -> Vec<String> {
            archive.entries().map(|(path, _)| path.to_owned()).collect()
        };
        assert_eq!(paths(&archive), paths(&by_directory));
        assert!(recording.files > 5, "{recording:?}");
        assert!(size < 4 << 20, "{size} bytes");
        assert!(again.unwrap_err().to_string().contains("is not empty"));
        assert!(file_again.unwrap_err().to_string().contains("exists already"));
    }

    fn sizes(folder: &Path) -> u64 {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let size = |entry: fs::DirEntry| match entry.file_type().unwrap() {
            kind if kind.is_dir() => sizes(&entry.path()),
            kind if kind.is_file() => entry.metadata().unwrap().len(),
            _ => 0,
        };
        entries.map(size).sum()
    }

    #[test]
    fn stars_stand_for_entries() {
        let paths = expand(&mut Host, "/proc/sys/kernel/*/poolsize");
        assert!(paths.contains(&"/proc/sys/kernel/random/poolsize".to_owned()));
    }
}
