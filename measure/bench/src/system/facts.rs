//! Facts of the CPU and the kernel, as /proc and /sys have them.

use std::fs;

/// The name of the revision in /proc/cpuinfo.
pub(crate) const MICROCODE: &str = "microcode";

/// Returns the microcode's revision, which is the version of everything that the CPU does by
/// itself.
pub(crate) fn microcode() -> Option<String> {
    let revision = cpu_field(&fs::read_to_string("/proc/cpuinfo").ok()?, MICROCODE)?;
    Some(format!("microcode {revision}"))
}

pub(crate) fn cores() -> Option<usize> {
    std::thread::available_parallelism().ok().map(usize::from)
}

/// Returns a release such as `6.12.48+deb13-amd64`.
pub(crate) fn kernel_release() -> Option<String> {
    line("/proc/sys/kernel/osrelease")
}

/// Returns the features of the first CPU, where /proc/cpuinfo calls them flags.
pub(crate) fn cpu_flags() -> Option<String> {
    cpu_field(&fs::read_to_string("/proc/cpuinfo").ok()?, "flags")
}

/// Reads a file of one line.
pub(crate) fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns the value of `name` for the first CPU of /proc/cpuinfo that has the field.
pub(crate) fn cpu_field(cpuinfo: &str, name: &str) -> Option<String> {
    cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}
