//! The identity of a device or file: a state file must not continue on another one.

use rustix::fs::{FileType, Stat, major, minor};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

/// Facts that a person or a state file recognises a target by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Major and minor number of the device, or of the file's device.
    pub device: String,
    /// Inode number of a file.
    pub inode: Option<u64>,
    /// Model of a device.
    pub model: Option<String>,
    /// Serial number of a device.
    pub serial: Option<String>,
}

/// Returns the directory of a block device below /sys.
pub(crate) fn sysfs(device: u64) -> PathBuf {
    PathBuf::from(format!("/sys/dev/block/{}:{}", major(device), minor(device)))
}

/// Returns a file's first line, unless it is empty or the file cannot be read.
pub(crate) fn line(path: PathBuf) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.trim();
    (!line.is_empty()).then(|| headwater_text::escape::untrusted(line))
}

impl Identity {
    /// Reads the identity of an open target.
    pub(crate) fn of(stat: &Stat) -> Identity {
        if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
            let device = format!("{}:{}", major(stat.st_dev), minor(stat.st_dev));
            return Identity { device, inode: Some(stat.st_ino), ..Identity::default() };
        }
        let here = sysfs(stat.st_rdev);
        // A partition's model is its disk's, in the directory above.
        let disk = match here.canonicalize() {
            Ok(real) if real.join("partition").exists() => real.join(".."),
            _ => here.clone(),
        };
        let serial = ["device/serial", "serial", "wwid", "device/wwid"];
        let model = || {
            let vendor =
                line(disk.join("device/vendor")).filter(|vendor| !vendor.starts_with("0x"));
            let model = line(disk.join("device/model"))?;
            Some(vendor.map_or(model.clone(), |vendor| format!("{vendor} {model}")))
        };
        let backing =
            || Some(format!("loop device over {}", line(here.join("loop/backing_file"))?));
        let mapped = || Some(format!("device-mapper {}", line(here.join("dm/name"))?));
        let array = || Some(format!("md array, {}", line(here.join("md/level"))?));
        let driver = || {
            let link = fs::read_link(disk.join("device/driver")).ok()?;
            Some(format!("{} disk", link.file_name()?.to_string_lossy()))
        };
        Identity {
            device: format!("{}:{}", major(stat.st_rdev), minor(stat.st_rdev)),
            inode: None,
            model: model().or_else(backing).or_else(mapped).or_else(array).or_else(driver),
            serial: serial.iter().find_map(|name| line(disk.join(name))),
        }
    }
}
