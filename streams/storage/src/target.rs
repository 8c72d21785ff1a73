//! An open file or block device: its size, its alignment, and how it is read and written.

use crate::error::Error;
use crate::identity::{Identity, line, sysfs};
use crate::io::Channel;
use rustix::fs::{
    Advice, AtFlags, FallocateFlags, FileType, OFlags, Stat, StatxFlags, fadvise, fallocate, fstat,
    ioctl_blksszget, major, minor, statx,
};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::num::NonZero;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The purpose for which a target is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading only.
    Verify,
    /// Writing, only if the kernel and no other program uses the device.
    Write,
    /// Writing, even to a device in use.
    Force,
}

/// An open file or block device.
#[derive(Debug)]
pub struct Target {
    /// The path as the user typed it.
    pub path: PathBuf,
    /// Device number, model and serial number.
    pub identity: Identity,
    /// The size at the time of opening.
    pub size: u64,
    /// Bytes of a logical sector, for a block device.
    pub sector: Option<u32>,
    /// Bytes that the device loses as a whole if it loses one: the step in which an unreadable part
    /// is searched.
    pub(crate) physical_sector: u64,
    /// This program has made the file.
    pub created: bool,
    pub(crate) channel: Channel,
}

impl Target {
    /// Opens a target. A file that does not exist is made for writing if `size` is known.
    ///
    /// # Errors
    ///
    /// If the path cannot be opened, or is neither file nor block device, or if a file that does
    /// not exist has no size.
    pub fn open(path: &Path, access: Access, size: Option<u64>) -> Result<Target, Error> {
        let name = path.display();
        let (kind, exists) = match rustix::fs::stat(path) {
            Ok(stat) => (FileType::from_raw_mode(stat.st_mode), true),
            Err(rustix::io::Errno::NOENT) if access != Access::Verify => {
                (FileType::RegularFile, false)
            }
            Err(error) => return Err(Error::io(format!("cannot open {name}"), error.into())),
        };
        match kind {
            FileType::BlockDevice => {}
            // A mistyped device would become a file in memory, as large as the disk that was meant.
            FileType::RegularFile if !exists && is_below_dev(path) => {
                return Err(Error::refused(format!(
                    "{name} does not exist, and no file is made in /dev: check the device's name"
                )));
            }
            FileType::RegularFile if !exists && size.is_none() => {
                return Err(Error::refused(format!(
                    "{name} does not exist: create it with --size BYTES"
                )));
            }
            FileType::RegularFile => {}
            _ => {
                return Err(Error::refused(format!(
                    "{name} is neither a file nor a block device: 'headwater stream' writes to pipes"
                )));
            }
        }
        let is_device = kind == FileType::BlockDevice;
        // The kernel opens such a device for writing, and refuses the first write.
        if is_device && access != Access::Verify && is_read_only(path) {
            return Err(Error::refused(format!(
                "{name} is read-only: a switch of the medium, or 'blockdev --setrw {name}', decides"
            )));
        }
        // Without O_CREAT, O_EXCL claims a block device: mounts, swapon and mkfs fail from now on.
        let flags = match access {
            Access::Write if is_device => OFlags::EXCL,
            _ => OFlags::empty(),
        };
        let file = OpenOptions::new()
            .read(true)
            .write(access != Access::Verify)
            .create(!exists)
            .custom_flags(flags.bits() as i32)
            .open(path)
            .map_err(|error| Error::io(format!("cannot open {name}"), error))?;
        let mut target = Target::of(path, file, access)?;
        target.created = !exists;
        Ok(target)
    }

    fn of(path: &Path, mut file: File, access: Access) -> Result<Target, Error> {
        let failed =
            |error: io::Error| Error::io(format!("cannot examine {}", path.display()), error);
        let stat = fstat(&file).map_err(|error| failed(error.into()))?;
        let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        let (size, sector) = if is_device {
            let size = file.seek(SeekFrom::End(0)).map_err(failed)?;
            if size == 0 {
                return Err(failed(io::Error::from_raw_os_error(libc::ENOMEDIUM)));
            }
            (size, Some(ioctl_blksszget(&file).map_err(|error| failed(error.into()))?))
        } else {
            (stat.st_size as u64, None)
        };
        let zones = sector.and_then(|_| queue(stat.st_rdev, "zoned"));
        if access != Access::Verify && zones.as_deref() == Some("host-managed") {
            return Err(Error::refused(format!(
                "{} has zones that take writes in their order only (host-managed), and 'write' \
                 writes several places at a time: use a device without such zones",
                path.display()
            )));
        }
        let direct = direct(&file, access, &stat, sector);
        Ok(Target {
            path: path.to_owned(),
            identity: Identity::of(&stat),
            size,
            sector,
            physical_sector: sector.and_then(|_| physical_sector(stat.st_rdev)).unwrap_or(4096),
            created: false,
            channel: Channel::new(file, direct),
        })
    }

    /// Reports whether the target is a block device.
    pub fn is_device(&self) -> bool {
        self.sector.is_some()
    }

    /// Reports whether all aligned data passed the page cache by.
    pub fn is_direct(&self) -> bool {
        self.channel.is_direct()
    }

    /// Makes a file at least `size` bytes long, with disk space where the file system can reserve
    /// it: a full disk is noticed before the first byte, and parallel writes need not extend the
    /// file, for which file systems let one writer in at a time.
    ///
    /// # Errors
    ///
    /// If the disk has no room, or the file system no files of this size.
    pub fn reserve(&self, size: u64) -> Result<(), Error> {
        let file = &self.channel.buffered;
        if self.is_device() || self.size >= size {
            return Ok(());
        }
        let failed = |error: io::Error| {
            Error::io(format!("cannot make {} {size} bytes long", self.path.display()), error)
        };
        // In memory, reserved pages are cleared before they are written: half of the speed.
        if !is_in_memory(file) {
            match fallocate(file, FallocateFlags::empty(), self.size, size - self.size) {
                Ok(()) => return Ok(()),
                Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
                Err(error) => {
                    // A file system may have made part of the file longer before its disk was full.
                    let _ = file.set_len(self.size);
                    return Err(failed(error.into()));
                }
            }
        }
        file.set_len(size).map_err(failed)
    }

    /// Drops what the page cache holds of a range, so that it is read from the device again.
    pub(crate) fn forget(&self, from: u64, to: u64) {
        if let Some(len) = NonZero::new(to.saturating_sub(from)) {
            let _ = fadvise(&self.channel.buffered, from, Some(len), Advice::DontNeed);
        }
    }

    /// Returns the present size.
    pub(crate) fn current_size(&self) -> u64 {
        let stat = fstat(&self.channel.buffered);
        if self.is_device() {
            self.size
        } else {
            stat.map_or(self.size, |stat| stat.st_size as u64)
        }
    }
}

/// Reports whether a path lies in /dev, but not in the directory of shared memory there.
fn is_below_dev(path: &Path) -> bool {
    let directory = path.parent().and_then(|directory| directory.canonicalize().ok());
    directory.is_some_and(|directory| {
        directory.starts_with("/dev") && !directory.starts_with("/dev/shm")
    })
}

/// Returns whether the kernel lets nothing be written to a device. A partition has a switch of its
/// own, and its disk another.
fn is_read_only(path: &Path) -> bool {
    let Ok(stat) = rustix::fs::stat(path) else { return false };
    let own = sysfs(stat.st_rdev);
    let disk = own.canonicalize().ok().and_then(|own| own.parent().map(Path::to_owned));
    let is_set = |directory: PathBuf| line(directory.join("ro")).as_deref() == Some("1");
    is_set(own) || disk.is_some_and(is_set)
}

/// Returns a fact about a device's queue, from /sys. A partition's queue is that of its disk.
fn queue(device: u64, fact: &str) -> Option<String> {
    let own = sysfs(device);
    let of = |directory: &Path| line(directory.join("queue").join(fact));
    of(&own).or_else(|| of(own.canonicalize().ok()?.parent()?))
}

/// Returns the bytes of a device's physical sector.
fn physical_sector(device: u64) -> Option<u64> {
    let size = queue(device, "physical_block_size")?.parse().ok();
    size.filter(|size: &u64| size.is_power_of_two() && *size >= 512)
}

const TMPFS: u64 = 0x0102_1994;

/// Reports whether a file lies in memory. For a device it would describe /dev, which does.
fn is_in_memory(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|stat| stat.f_type as u64 == TMPFS)
}

/// Opens the target a second time with O_DIRECT, and returns the alignment that offsets need.
fn direct(file: &File, access: Access, stat: &Stat, sector: Option<u32>) -> Option<(File, u64)> {
    if sector.is_none() && is_in_memory(file) {
        return None;
    }
    let align = match sector {
        Some(sector) => u64::from(sector),
        None => {
            let about = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok();
            match about.filter(|about| about.stx_mask & StatxFlags::DIOALIGN.bits() != 0) {
                Some(about) if about.stx_dio_offset_align == 0 => return None,
                Some(about) => u64::from(about.stx_dio_offset_align.max(about.stx_dio_mem_align)),
                // Before Linux 6.1. A page satisfies every device; if not, EINVAL says so later.
                None => 4096,
            }
        }
    };
    // Buffers are aligned to 4096 bytes and no further.
    if !align.is_power_of_two() || align > 4096 {
        return None;
    }
    // By descriptor, because another file may have taken the name since.
    let again = OpenOptions::new()
        .read(true)
        .write(access != Access::Verify)
        .custom_flags(OFlags::DIRECT.bits() as i32)
        .open(format!("/proc/self/fd/{}", file.as_raw_fd()))
        .ok()?;
    let same = fstat(&again).is_ok_and(|other| {
        (major(other.st_dev), minor(other.st_dev), other.st_ino, other.st_rdev)
            == (major(stat.st_dev), minor(stat.st_dev), stat.st_ino, stat.st_rdev)
    });
    same.then_some((again, align))
}
