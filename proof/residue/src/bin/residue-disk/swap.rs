//! Swap, after the kernel was asked to write out all of a process that has just drawn.

use crate::Stop;
use residue::memory;
use residue::subject::{Account, Subject};
use std::collections::HashSet;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

const SIZE: usize = 64 << 20;
const PAGE: usize = 4096;
/// The number of requests to the kernel.
const PATIENCE: usize = 10;
/// Before every other area: swapon(2), SWAP_FLAG_PREFER with the highest priority.
const FIRST: i32 = 0x8000 | 0x7FFF;

/// A swap file in use, which is taken out of use and removed in any case.
struct Area {
    path: PathBuf,
    name: CString,
    is_on: bool,
}

impl Drop for Area {
    fn drop(&mut self) {
        self.off();
        let _ = fs::remove_file(&self.path);
    }
}

impl Area {
    /// Makes a file and has the kernel swap to it.
    fn new() -> Result<Area, Stop> {
        let path = PathBuf::from(format!("/var/tmp/residue-swap-{}", std::process::id()));
        let name = CString::new(path.as_os_str().as_bytes())?;
        let mut area = Area { path, name, is_on: false };
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&area.path)?;
        // Zeros are written, since the kernel swaps to no file with holes.
        file.write_all(&vec![0; SIZE])?;
        file.sync_all()?;
        let made = Command::new("mkswap").arg(&area.path).output();
        if !made.is_ok_and(|made| made.status.success()) {
            return Err(lost("mkswap fails or is missing"));
        }
        // SAFETY: the name is a C string that lives.
        if unsafe { libc::swapon(area.name.as_ptr(), FIRST) } != 0 {
            return Err(lost(&format!("swapon: {}", io::Error::last_os_error())));
        }
        area.is_on = true;
        Ok(area)
    }

    fn off(&mut self) {
        if self.is_on {
            // SAFETY: the name is a C string that lives.
            unsafe { libc::swapoff(self.name.as_ptr()) };
            self.is_on = false;
        }
    }

    /// Reads what was written to the file, which swapping writes past the file cache.
    fn read(&self) -> io::Result<Vec<u8>> {
        let file = File::open(&self.path)?;
        // SAFETY: the file is open, and the call touches none of our memory.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
        fs::read(&self.path)
    }
}

fn lost(why: &str) -> Stop {
    Stop::Skipped(format!("{why}, so what reaches a swap file is not looked at"))
}

/// Has the subject draw and the kernel swap it out; returns what its memory and the file held.
pub(crate) fn look(program: &Path) -> Result<(Account, Vec<u8>), Stop> {
    let compressed = fs::read_to_string("/sys/module/zswap/parameters/enabled");
    if compressed.is_ok_and(|enabled| enabled.starts_with('Y')) {
        return Err(lost("zswap keeps pages in memory"));
    }
    let area = Area::new()?;
    let subject = Subject::start(Command::new(program).args(["refill", "buffered"]))?;
    let account = subject.look()?;
    for _ in 0..PATIENCE {
        write_out(&subject)?;
        let on_disk = area.read()?;
        // Without this a search of a file that the kernel has not written yet would find it clean.
        if holds_the_stack(&on_disk, &account) {
            return Ok((account, on_disk));
        }
    }
    Err(lost("the dead stack does not get to the swap file"))
}

/// Returns whether each page of the stack that the draw used is in the file.
fn holds_the_stack(on_disk: &[u8], account: &Account) -> bool {
    let stack = &account.sections[0].bytes;
    let used = account.stack.next_multiple_of(PAGE);
    let on_disk: HashSet<&[u8]> = on_disk.chunks_exact(PAGE).collect();
    stack[stack.len() - used..].chunks_exact(PAGE).all(|page| on_disk.contains(page))
}

/// Asks the kernel to write out all that can be written to, the library's pages too.
fn write_out(subject: &Subject) -> Result<(), Stop> {
    let mappings = memory::writable(subject.id())?;
    let parts = mappings
        .iter()
        .flat_map(|mapping| residue::exceptions::without(mapping.range.clone(), subject.room()));
    let parts: Vec<libc::iovec> = parts
        .filter(|part| !part.is_empty())
        .map(|part| libc::iovec {
            iov_base: part.start as *mut libc::c_void,
            iov_len: (part.end - part.start) as usize,
        })
        .collect();
    // SAFETY: the calls read a list of addresses of another process, and write none of our memory.
    unsafe {
        let process = libc::syscall(libc::SYS_pidfd_open, subject.id(), 0);
        for part in &parts {
            let advice = libc::MADV_PAGEOUT;
            libc::syscall(libc::SYS_process_madvise, process, part, 1usize, advice, 0usize);
        }
        libc::close(process as i32);
    }
    // Writing continues in the background for a moment.
    sleep(Duration::from_secs(1));
    Ok(())
}
