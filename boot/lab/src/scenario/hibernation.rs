//! A guest that hibernates to a disk, and machines that resume from what it left there.

use crate::machine::cache::Cache;
use crate::machine::command::with_path;
use crate::machine::manifest::KernelImage;
use crate::machine::qemu::{Guest, Machine};
use anyhow::{Context, Result, bail, ensure};
use headwater_lab_protocol::{Command, Message};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Writing or reading an image takes seconds on a quiet host, and this one may be busy.
const PATIENCE: Duration = Duration::from_secs(180);
/// The guest's memory. An image has at most half of it.
const SIZE: u64 = 256 << 20;
const PAGE: u64 = 4096;

/// An empty swap area, to which a guest can hibernate.
pub(crate) struct SwapDisk {
    file: PathBuf,
}

impl SwapDisk {
    /// Makes the area with the header that mkswap(8) writes (include/linux/swap.h, `union
    /// swap_header`), so that the guest needs no other program.
    pub(crate) fn new(file: &Path) -> Result<SwapDisk> {
        let make = || -> std::io::Result<()> {
            let mut disk = File::create(file)?;
            disk.set_len(SIZE)?;
            disk.seek(SeekFrom::Start(1024))?;
            let last_page = (SIZE / PAGE - 1) as u32;
            for word in [1, last_page, 0] {
                disk.write_all(&word.to_le_bytes())?;
            }
            disk.seek(SeekFrom::Start(PAGE - 10))?;
            disk.write_all(b"SWAPSPACE2")
        };
        make().with_context(|| format!("cannot write {}", file.display()))?;
        Ok(SwapDisk { file: file.to_owned() })
    }

    /// Returns the machine that hibernates to this disk.
    pub(crate) fn hibernating(&self, machine: &Machine) -> Machine {
        self.with_disk(machine, "")
    }

    /// Returns a machine that resumes from this disk. Its writes are its own and are lost with it,
    /// as if it had a copy of the disk.
    pub(crate) fn resuming(&self, machine: &Machine) -> Machine {
        let mut machine = self.with_disk(machine, ",snapshot=on");
        machine.append += " hw.resume=1";
        machine
    }

    fn with_disk(&self, machine: &Machine, more: &str) -> Machine {
        let mut machine = machine.clone();
        machine.device("-device virtio-blk-pci,drive=disk -drive");
        let drive = format!("if=none,id=disk,format=raw{more},file=");
        machine.devices.push(with_path(&drive, &self.file));
        machine
    }

    /// Returns the MiB that were written.
    pub(crate) fn used_mib(&self) -> Result<u64> {
        Ok((self.file.metadata()?.blocks() * 512) >> 20)
    }
}

/// Checks that a guest will find its disk. A kernel that was given as a file comes without modules,
/// and may have the driver built in.
pub(crate) fn check(kernel: &KernelImage) -> Result<()> {
    let is_driver = |module: &PathBuf| module.file_stem().is_some_and(|name| name == "virtio_blk");
    ensure!(
        kernel.modules.is_empty() || kernel.modules.iter().any(is_driver),
        "the cache has kernel {} without virtio_blk, the driver of the disk to which a guest \
         hibernates; run `headwater lab setup --refresh`",
        kernel.release
    );
    Ok(())
}

/// Lets a guest hibernate, and waits until its machine is off.
pub(crate) fn hibernate(mut guest: Guest) -> Result<()> {
    guest.send(&Command::Hibernate)?;
    guest.until_off(PATIENCE).context("the guest did not hibernate")
}

/// Starts a machine that resumes, and returns it when its programs run again.
pub(crate) fn resume(
    cache: &Cache,
    machine: &Machine,
    directory: &Path,
    name: &str,
) -> Result<Guest> {
    let mut guest = Guest::start(cache, machine, directory, name, None)?;
    // The end of the command that it was given before it hibernated. A kernel that finds no image
    // boots the guest afresh.
    let is_last = |message: &Message| matches!(message, Message::Done(_) | Message::Hello(_));
    match guest.until(is_last, PATIENCE)?.pop() {
        Some(Message::Done(_)) => Ok(guest),
        _ => bail!("the guest's kernel did not resume; see {}", guest.console().display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::temporary::Temporary;
    use std::fs;
    use std::process;

    #[test]
    fn a_cache_of_an_earlier_version_is_refused() {
        let kernel = |modules: &[&str]| KernelImage {
            series: "7".into(),
            release: "7.3.4".into(),
            architecture: "x86_64".into(),
            image: PathBuf::new(),
            sha256: String::new(),
            modules: modules.iter().map(PathBuf::from).collect(),
        };
        assert!(check(&kernel(&["/k/virtio-rng.ko", "/k/virtio_blk.ko"])).is_ok());
        assert!(check(&kernel(&[])).is_ok());
        let error = check(&kernel(&["/k/virtio-rng.ko"])).unwrap_err().to_string();
        assert!(error.contains("setup --refresh"), "{error}");
    }

    /// The oracle is mkswap(8), given the identifier that this area has.
    #[test]
    fn the_area_is_what_mkswap_makes() {
        let directory = Temporary::directory().unwrap();
        let disk = SwapDisk::new(&directory.path().join("ours")).unwrap();
        let ours = fs::read(&disk.file).unwrap();
        let theirs = directory.path().join("theirs");
        File::create(&theirs).unwrap().set_len(SIZE).unwrap();
        let made = ["mkswap", "/sbin/mkswap"].into_iter().find_map(|mkswap| {
            let mut command = process::Command::new(mkswap);
            command.args(["--uuid", "00000000-0000-0000-0000-000000000000"]);
            command.arg("--pagesize").arg(PAGE.to_string()).arg(&theirs).output().ok()
        });
        let theirs = fs::read(theirs).unwrap();
        let Some(made) = made else {
            println!("skipped: no mkswap, so only a guest shows that the area is one");
            return;
        };
        assert!(made.status.success(), "{made:?}");
        assert!(ours == theirs, "the areas differ");
    }
}
