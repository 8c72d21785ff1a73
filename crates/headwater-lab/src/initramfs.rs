//! The guest's only file system: an archive in the form that every kernel unpacks by itself (cpio "newc",
//! Documentation/driver-api/early-userspace/buffer-format.rst).

use anyhow::{Context, Result};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const FILE: u32 = 0o100_644;

/// An archive in memory.
#[derive(Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

impl Archive {
    /// What every guest gets: `init`, and modules under `/modules` with a list of them.
    pub(crate) fn of_guest(init: &Path, modules: &[PathBuf]) -> Result<Archive> {
        let mut archive = Archive::default();
        for folder in ["dev", "proc", "sys", "modules"] {
            archive.add(folder, FOLDER, &[]);
        }
        let read =
            |file: &Path| fs::read(file).with_context(|| format!("cannot read {}", file.display()));
        archive.add("init", PROGRAM, &read(init)?);
        let mut list = String::new();
        for module in modules {
            let name = module.file_name().unwrap_or_default().to_string_lossy();
            archive.add(&format!("modules/{name}"), FILE, &read(module)?);
            list.push_str(&name);
            list.push('\n');
        }
        archive.add("modules/list", FILE, list.as_bytes());
        Ok(archive)
    }

    fn add(&mut self, name: &str, mode: u32, content: &[u8]) {
        self.entries += 1;
        let links = if mode == FOLDER { 2 } else { 1 };
        let mut header = String::from("070701");
        for field in [
            self.entries, // inode
            mode,
            0, // owner
            0,
            links,
            0, // time
            u32::try_from(content.len())
                .expect("the kernel limits a file to 4 GiB, and ours are small"),
            0, // device
            0,
            0,
            0,
            name.len() as u32 + 1,
            0, // no checksum in this form
        ] {
            header.push_str(&format!("{field:08X}"));
        }
        self.bytes.extend(header.bytes());
        self.bytes.extend(name.bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    pub(crate) fn write(mut self, file: &Path) -> Result<()> {
        self.add("TRAILER!!!", 0, &[]);
        let write = fs::File::create(file).and_then(|mut file| file.write_all(&self.bytes));
        write.with_context(|| format!("cannot write {}", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// By the real tool, where it is installed.
    #[test]
    fn cpio_unpacks_what_is_written() {
        let folder =
            std::env::temp_dir().join(format!("headwater-lab-cpio-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let module = folder.join("odd.ko");
        fs::write(&module, [7; 13]).unwrap();
        let init = folder.join("program");
        fs::write(&init, "#!").unwrap();
        Archive::of_guest(&init, &[module]).unwrap().write(&folder.join("archive")).unwrap();
        let cpio = Command::new("sh")
            .args(["-c", "mkdir out && cd out && cpio --quiet -id < ../archive && cat modules/list && stat -c %a init"])
            .current_dir(&folder)
            .output()
            .unwrap();
        let odd = fs::read(folder.join("out/modules/odd.ko"));
        fs::remove_dir_all(&folder).unwrap();
        if Command::new("cpio").arg("--version").output().is_err() {
            eprintln!(
                "skipped: cpio: it is not installed; whether the archive is one is seen only by booting it"
            );
            return;
        }
        assert_eq!(String::from_utf8_lossy(&cpio.stdout), "odd.ko\n755\n", "{cpio:?}");
        assert_eq!(odd.unwrap(), [7; 13]);
    }
}
