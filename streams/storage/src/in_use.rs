//! Uses of a target that an overwrite would damage: mounts, swap, device mapper, arrays, writers.

use crate::identity::{line, sysfs};
use crate::lease;
use rustix::fs::{FileType, OFlags, Stat, major, minor, stat};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Returns each use of the target, one line each. An empty list means that none was found.
pub fn uses(path: &Path) -> Vec<String> {
    let Ok(stat) = stat(path) else { return Vec::new() };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => uses_of_device(stat.st_rdev),
        FileType::RegularFile => uses_of_file(path, &stat),
        _ => Vec::new(),
    }
}

fn uses_of_device(device: u64) -> Vec<String> {
    let mut uses = Vec::new();
    for (device, name) in related(device) {
        let mounts = mounts(device);
        if mounts.is_empty() {
            uses.extend(btrfs(&name).map(|found| format!("{name} is part of {found}")));
        }
        uses.extend(mounts.into_iter().map(|at| format!("{name} is mounted at {at}")));
        if swaps().iter().any(|swap| stat(swap).is_ok_and(|stat| stat.st_rdev == device)) {
            uses.push(format!("{name} is swap space"));
        }
        uses.extend(
            holders(device).into_iter().map(|holder| format!("{name} is part of {holder}")),
        );
        uses.extend(
            writers(|file| is_device(file, device))
                .into_iter()
                .map(|process| format!("{name} is open for writing in {process}")),
        );
    }
    uses
}

fn uses_of_file(path: &Path, stat: &Stat) -> Vec<String> {
    let mut uses = Vec::new();
    let is_file = |file: &Path| {
        fs::metadata(file)
            .is_ok_and(|other| other.dev() == stat.st_dev && other.ino() == stat.st_ino)
    };
    if swaps().iter().any(|swap| is_file(swap)) {
        uses.push("the file is swap space".to_owned());
    }
    for device in entries(Path::new("/sys/block")) {
        let backing = line(Path::new("/sys/block").join(&device).join("loop/backing_file"));
        if backing.is_some_and(|backing| is_file(Path::new(&backing))) {
            uses.push(format!("the file is the disk of /dev/{device}"));
        }
    }
    let writers = writers(is_file);
    // The lease sees writers of every user and container; /proc only names those it may show.
    let open =
        fs::OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path);
    let has_writer = open.ok().and_then(|file: File| lease::has_writer(&file));
    if uses.is_empty() && writers.is_empty() && has_writer == Some(true) {
        uses.push("a process has the file open for writing".to_owned());
    }
    uses.extend(writers.into_iter().map(|process| format!("{process} has it open for writing")));
    uses
}

/// Returns the device itself, its partitions and the disk that it is a partition of, by number and
/// name. Other partitions of the same disk are no concern of this one.
fn related(device: u64) -> Vec<(u64, String)> {
    let own = sysfs(device);
    let Ok(own) = own.canonicalize() else { return vec![(device, "the device".to_owned())] };
    let mut directories = vec![own.clone()];
    if own.join("partition").exists() {
        directories.extend(own.parent().map(Path::to_owned));
    } else {
        let children = entries(&own).into_iter().map(|name| own.join(name));
        directories.extend(children.filter(|child| child.join("partition").exists()));
    }
    directories
        .iter()
        .filter_map(|directory| Some((number(directory)?, format!("/dev/{}", name(directory)))))
        .collect()
}

/// Returns the device number of a directory of /sys/block.
fn number(directory: &Path) -> Option<u64> {
    let text = line(directory.join("dev"))?;
    let (upper, lower) = text.split_once(':')?;
    Some(rustix::fs::makedev(upper.parse().ok()?, lower.parse().ok()?))
}

fn name(directory: &Path) -> String {
    directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the device-mapper volumes, arrays and others that a device is a part of.
fn holders(device: u64) -> Vec<String> {
    let directory = sysfs(device).join("holders");
    let describe = |holder: String| {
        let there = directory.join(&holder);
        match (line(there.join("dm/name")), line(there.join("md/level"))) {
            (Some(name), _) => format!("{holder} (device-mapper volume {name})"),
            (_, Some(level)) => format!("{holder} (md array, {level})"),
            _ => holder,
        }
    };
    entries(&directory).into_iter().map(describe).collect()
}

/// Returns the mount points of a device. btrfs and others show a device number of their own, so the
/// source's name is compared as well.
fn mounts(device: u64) -> Vec<String> {
    let text = text_of("/proc/self/mountinfo");
    let wanted = format!("{}:{}", major(device), minor(device));
    let is_ours = |text: &str| {
        let mut fields = text.split(' ');
        let number = fields.nth(2);
        let at = fields.nth(1);
        let source = text.split(" - ").nth(1).and_then(|rest| rest.split(' ').nth(1));
        let by_source = source.is_some_and(|source| {
            source.starts_with('/') && is_device(Path::new(&unescaped(source)), device)
        });
        (number == Some(&wanted) || by_source).then(|| unescaped(at.unwrap_or_default()))
    };
    let points: BTreeSet<String> = text.lines().filter_map(is_ours).collect();
    points.iter().map(|at| headwater_text::escape::untrusted(at)).collect()
}

/// Returns the text of a file. Strict UTF-8 would refuse the whole file, but one name that is not
/// UTF-8 must not hide the other lines.
fn text_of(path: &str) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// Returns the mounted btrfs file system that a device is a part of. The list of mounts is not
/// enough, because it names one device of a file system only.
fn btrfs(name: &str) -> Option<String> {
    let directory = Path::new("/sys/fs/btrfs");
    let name = name.strip_prefix("/dev/")?;
    let has = |id: &String| directory.join(id).join("devices").join(name).exists();
    let id = entries(directory).into_iter().find(has)?;
    Some(format!("the btrfs file system {id}, which is mounted"))
}

/// Returns the paths of /proc/swaps.
fn swaps() -> Vec<PathBuf> {
    let text = text_of("/proc/swaps");
    let paths = text.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    paths.map(|path| PathBuf::from(unescaped(path))).collect()
}

/// Replaces the kernel's octal escapes, such as `\040` for a blank.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail
            .get(..3)
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        match (first, code) {
            (b'\\', Some(code)) => {
                bytes.push(code);
                rest = &tail[3..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn is_device(path: &Path, device: u64) -> bool {
    stat(path).is_ok_and(|stat| {
        FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice && stat.st_rdev == device
    })
}

/// Returns the processes that have a file open for writing, as far as /proc shows them.
fn writers(is_target: impl Fn(&Path) -> bool) -> Vec<String> {
    let own = std::process::id();
    let mut writers = Vec::new();
    for process in entries(Path::new("/proc")) {
        let Ok(id) = process.parse::<u32>() else { continue };
        if id == own {
            continue;
        }
        let directory = Path::new("/proc").join(&process);
        let writes = |fd: &String| {
            is_target(&directory.join("fd").join(fd))
                && line(directory.join("fdinfo").join(fd)).is_some_and(|info| is_writable(&info))
        };
        if entries(&directory.join("fd")).iter().any(writes) {
            let name = line(directory.join("comm")).unwrap_or_default();
            writers.push(format!("process {id} ({name})"));
        }
    }
    writers
}

/// Reports whether a file of /proc/PID/fdinfo describes a descriptor that can write.
fn is_writable(info: &str) -> bool {
    // The text's line breaks are escaped by the function that read it.
    let flags = info.split("flags:").nth(1).unwrap_or_default();
    let digits: String = flags.trim_start().chars().take_while(char::is_ascii_digit).collect();
    u32::from_str_radix(&digits, 8)
        .is_ok_and(|flags| flags & (libc::O_WRONLY | libc::O_RDWR) as u32 != 0)
}

/// Returns the names in a directory, in order; none if it cannot be read.
fn entries(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut names: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_the_kernel_are_read() {
        for (text, path) in [
            ("/mnt", "/mnt"),
            ("/mnt/a\\040b", "/mnt/a b"),
            ("\\011x\\134", "\tx\\"),
            ("\\04", "\\04"),
            ("\\999", "\\999"),
            ("", ""),
        ] {
            assert_eq!(unescaped(text), path);
        }
    }

    #[test]
    fn descriptors_that_write_differ_from_those_that_read() {
        for (info, writes) in [
            ("pos:\\u{9}0\\u{a}flags: 0100000\\u{a}mnt_id: 29", false),
            ("pos: 0 flags: 0100001 mnt_id: 29", true),
            ("pos: 0 flags: 02100002 mnt_id: 29", true),
            ("pos: 0", false),
            ("", false),
        ] {
            assert_eq!(is_writable(info), writes, "{info}");
        }
    }

    #[test]
    fn a_file_with_a_writer_is_in_use() {
        let path = std::env::temp_dir().join(format!("headwater-in-use-{}", std::process::id()));
        fs::write(&path, "text").unwrap();
        assert_eq!(uses(&path), [""; 0]);
        let writer = std::process::Command::new("sleep")
            .arg("60")
            .stdout(fs::OpenOptions::new().append(true).open(&path).unwrap())
            .spawn();
        if let Ok(mut writer) = writer {
            let found = uses(&path);
            writer.kill().unwrap();
            writer.wait().unwrap();
            let expected = format!("process {} (sleep) has it open for writing", writer.id());
            assert_eq!(found, [expected]);
        }
        fs::remove_file(&path).unwrap();
    }
}
