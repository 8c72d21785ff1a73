//! The guest's only file system: a cpio archive in the "newc" format, which every kernel unpacks by
//! itself (Documentation/driver-api/early-userspace/buffer-format.rst).

use anyhow::{Context, Result};
use headwater_lab_protocol::JOB_DIRECTORY;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const FILE: u32 = 0o100_644;

/// An archive in memory.
#[derive(Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

impl Archive {
    /// Returns the archive of a guest: `init`, modules under `/modules` with a list of them, and a
    /// job's files in a directory of their own.
    pub(crate) fn of_guest(init: &Path, modules: &[PathBuf], job: &[PathBuf]) -> Result<Archive> {
        let mut archive = Archive::default();
        for directory in ["dev", "proc", "sys", "modules", JOB_DIRECTORY] {
            archive.add(directory, DIRECTORY, &[]);
        }
        let read =
            |file: &Path| fs::read(file).with_context(|| format!("cannot read {}", file.display()));
        for file in job {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            archive.add(&format!("{JOB_DIRECTORY}/{name}"), PROGRAM, &read(file)?);
        }
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
        let links = if mode == DIRECTORY { 2 } else { 1 };
        let mut header = String::from("070701");
        for field in [
            self.entries, // inode
            mode,
            0, // owner
            0,
            links,
            0, // time
            u32::try_from(content.len()).expect("the program and the modules are megabytes"),
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
    use crate::machine::temporary::Temporary;
    use std::process::Command;

    /// The archive is read by cpio(1), if it is installed.
    #[test]
    fn cpio_unpacks_what_is_written() {
        let temporary = Temporary::directory().unwrap();
        let directory = temporary.path();
        let module = directory.join("odd.ko");
        fs::write(&module, [7; 13]).unwrap();
        let init = directory.join("program");
        fs::write(&init, "#!").unwrap();
        Archive::of_guest(&init, std::slice::from_ref(&module), std::slice::from_ref(&module))
            .unwrap()
            .write(&directory.join("archive"))
            .unwrap();
        let cpio = Command::new("sh")
            .args(["-c", "mkdir out && cd out && cpio --quiet -id < ../archive && cat modules/list && stat -c %a init job/odd.ko"])
            .current_dir(directory)
            .output()
            .unwrap();
        if Command::new("cpio").arg("--version").output().is_err() {
            eprintln!(
                "skipped: cpio(1) is not installed; only a boot shows that the archive is well-formed"
            );
            return;
        }
        assert_eq!(String::from_utf8_lossy(&cpio.stdout), "odd.ko\n755\n755\n", "{cpio:?}");
        assert_eq!(fs::read(directory.join("out/modules/odd.ko")).unwrap(), [7; 13]);
    }
}
