//! Files of /proc, read beneath a directory's descriptor and without an allocation.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, RawDir, openat};
use rustix::io::pread;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::ffi::CStr;
use std::mem::MaybeUninit;

/// A path such as `312/task/312/wchan`, without an allocation.
pub(super) struct FixedPath {
    bytes: [u8; 64],
    length: usize,
}

impl FixedPath {
    pub(super) fn new() -> FixedPath {
        FixedPath { bytes: [0; 64], length: 0 }
    }

    pub(super) fn text(mut self, text: &str) -> FixedPath {
        for byte in text.bytes() {
            // The last byte stays zero, which ends the path.
            if self.length + 1 < self.bytes.len()
                && let Some(slot) = self.bytes.get_mut(self.length)
            {
                *slot = byte;
                self.length += 1;
            }
        }
        self
    }

    pub(super) fn number(self, number: u32) -> FixedPath {
        let mut digits = [0; 10];
        let mut at = digits.len();
        let mut rest = number;
        loop {
            at -= 1;
            if let Some(slot) = digits.get_mut(at) {
                *slot = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let text = std::str::from_utf8(digits.get(at..).unwrap_or_default());
        self.text(text.unwrap_or_default())
    }

    pub(super) fn get(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}

pub(super) fn of_thread(pid: u32, tid: u32, file: &str) -> FixedPath {
    FixedPath::new().number(pid).text("/task/").number(tid).text("/").text(file)
}

pub(super) const FILE: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// Reads the beginning of a file; empty if it cannot be read.
pub(super) fn read_at<'a>(dir: BorrowedFd<'_>, path: &CStr, into: &'a mut [u8]) -> &'a [u8] {
    let Ok(file) = openat(dir, path, FILE, Mode::empty()) else { return &[] };
    let length = pread(&file, &mut *into, 0).unwrap_or(0);
    into.get(..length).unwrap_or_default()
}

/// Returns the numbers in a directory of /proc.
pub(super) fn numbers(directory: &OwnedFd, mut each: impl FnMut(u32)) {
    let mut space = [MaybeUninit::<u8>::uninit(); 4096];
    let _ = rustix::fs::seek(directory, rustix::fs::SeekFrom::Start(0));
    let mut entries = RawDir::new(directory, &mut space);
    while let Some(Ok(entry)) = entries.next() {
        let number = entry.file_name().to_str().ok().and_then(|name| name.parse::<u32>().ok());
        if let Some(number) = number {
            each(number);
        }
    }
}

/// Mounts a file system of the kernel, such as proc, without a place in the tree (Linux 5.2 and
/// later). The mount ends with its descriptor.
pub(super) fn mount_nowhere(kind: &str) -> rustix::io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)
}

/// Opens a directory.
pub(super) fn directory(path: &CStr) -> rustix::io::Result<OwnedFd> {
    openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}
