//! Settings of the machine, changed for a test and put back: by the process that starts the tested
//! ones and outlives them, when the guard is dropped. A process that is killed itself leaves them
//! as they are.

use crate::support::machine::skip;
use crate::support::memory::page_size;
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{process, thread};

/// Returns whether this user may change settings; reports `what` as skipped if not.
pub(crate) fn may_change(what: &str) -> bool {
    // SAFETY: no arguments.
    let root = unsafe { libc::geteuid() } == 0;
    if !root {
        skip(what, "settings of the machine are root's: what it tests is not seen");
    }
    root
}

/// One run at a time changes settings: two would each take the other's for what has to be put back.
struct Turn(#[expect(dead_code, reason = "held for its lock")] File);

impl Turn {
    fn wait() -> io::Result<Turn> {
        let folder = File::open("/sys/kernel/mm")?;
        // SAFETY: no pointers. The lock ends with the file.
        match unsafe { libc::flock(folder.as_raw_fd(), libc::LOCK_EX) } {
            0 => Ok(Turn(folder)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Huge pages of every size, for all memory, while this lives.
pub(crate) struct HugePages {
    before: Vec<(PathBuf, String)>,
    _turn: Turn,
}

impl HugePages {
    /// Switches huge pages on for all memory, until the value is dropped. Returns Err on a kernel
    /// without huge pages, or where they cannot be switched on.
    pub(crate) fn always() -> io::Result<HugePages> {
        let folder = Path::new("/sys/kernel/mm/transparent_hugepage");
        let mut files = vec![folder.join("enabled")];
        for entry in fs::read_dir(folder)? {
            // hugepages-64kB and its siblings, since Linux 6.8.
            let size = entry?.path().join("enabled");
            if size.exists() {
                files.push(size);
            }
        }
        let mut pages = HugePages { before: Vec::new(), _turn: Turn::wait()? };
        for file in files {
            let choices = fs::read_to_string(&file)?;
            let chosen = choices.split(['[', ']']).nth(1).unwrap_or("").to_owned();
            println!("changes {}: {chosen} -> always, until the test ends", file.display());
            pages.before.push((file.clone(), chosen));
            fs::write(file, "always")?;
        }
        Ok(pages)
    }
}

impl Drop for HugePages {
    fn drop(&mut self) {
        for (file, before) in &self.before {
            if let Err(error) = fs::write(file, before) {
                println!("NOT PUT BACK: {} was {before}: {error}", file.display());
            }
        }
    }
}

/// A swap file that is in use while this lives.
pub(crate) struct Swap {
    path: PathBuf,
    on: bool,
    _turn: Turn,
}

impl Swap {
    const LEN: usize = 32 << 20;

    /// Puts a new swap file into use, until the value is dropped. Returns Err if swap cannot be
    /// used, or not with files of the target directory's file system.
    pub(crate) fn on() -> io::Result<Swap> {
        let compressed = fs::read_to_string("/sys/module/zswap/parameters/enabled");
        if compressed.is_ok_and(|enabled| enabled.starts_with('Y')) {
            return Err(io::Error::other("zswap keeps what is swapped in memory, compressed"));
        }
        let name = format!("swap-{}", process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut swap = Swap { path, on: false, _turn: Turn::wait()? };
        // The bytes that mkswap writes: the version, the last page, and at the end of the first
        // page a name.
        let page = page_size();
        let mut content = vec![0; Swap::LEN];
        content[1024..][..4].copy_from_slice(&1_u32.to_ne_bytes());
        content[1028..][..4].copy_from_slice(&((Swap::LEN / page - 1) as u32).to_ne_bytes());
        content[page - 10..page].copy_from_slice(b"SWAPSPACE2");
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&swap.path)?;
        file.write_all_at(&content, 0)?;
        file.sync_all()?;
        println!("changes swap: {} is used for it until the test ends", swap.path.display());
        const FIRST: i32 = 0x8000 | 0x7FFF; // SWAP_FLAG_PREFER, with the highest priority
        // SAFETY: a path.
        if unsafe { libc::swapon(swap.c_path().as_ptr(), FIRST) } != 0 {
            return Err(io::Error::last_os_error());
        }
        swap.on = true;
        Ok(swap)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn c_path(&self) -> CString {
        CString::new(self.path.as_os_str().as_bytes()).unwrap()
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        // SAFETY: a path.
        if self.on && unsafe { libc::swapoff(self.c_path().as_ptr()) } != 0 {
            let error = io::Error::last_os_error();
            return println!("NOT PUT BACK: swapoff {}: {error}", self.path.display());
        }
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns the words of this file on the disk.
///
/// Swap goes past the page cache, where the file may still be as it was written.
pub(crate) fn words_on_disk(path: &Path) -> Vec<u64> {
    let file = File::open(path).unwrap();
    // SAFETY: no pointers.
    let dropped = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    assert_eq!(dropped, 0);
    let mut bytes = vec![0; Swap::LEN];
    file.read_exact_at(&mut bytes, 0).unwrap();
    bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect()
}

/// A memory cgroup of our own, of either version.
pub(crate) struct Cgroup {
    path: PathBuf,
    /// The parent of version 2 to which the controller had to be added.
    enabled_in: Option<PathBuf>,
    _turn: Turn,
}

impl Cgroup {
    const V1: [&str; 2] = ["memory.usage_in_bytes", "memory.limit_in_bytes"];
    const V2: [&str; 2] = ["memory.current", "memory.max"];

    /// Makes a memory cgroup, which is removed when the value is dropped. Returns Err without a
    /// memory controller for this user.
    pub(crate) fn new() -> io::Result<Cgroup> {
        let turn = Turn::wait()?;
        let name = format!("headwater-{}", process::id());
        let v1 = Path::new("/sys/fs/cgroup/memory");
        if v1.join(Cgroup::V1[1]).exists() {
            let path = v1.join(name);
            println!("changes memory cgroups: {} exists until the test ends", path.display());
            fs::create_dir(&path)?;
            return Ok(Cgroup { path, enabled_in: None, _turn: turn });
        }
        let v2 = Path::new("/sys/fs/cgroup");
        let has_memory = |file| {
            let words = fs::read_to_string(v2.join(file))?;
            Ok::<_, io::Error>(words.split_whitespace().any(|word| word == "memory"))
        };
        if !has_memory("cgroup.controllers")? {
            return Err(io::Error::other("no memory controller in /sys/fs/cgroup"));
        }
        let control = v2.join("cgroup.subtree_control");
        let enabled = has_memory("cgroup.subtree_control")?;
        let mut group = Cgroup { path: v2.join(name), enabled_in: None, _turn: turn };
        println!("changes memory cgroups: {} exists until the test ends", group.path.display());
        if !enabled {
            println!("changes {}: +memory until the test ends", control.display());
            fs::write(&control, "+memory")?;
            group.enabled_in = Some(control);
        }
        fs::create_dir(&group.path)?;
        Ok(group)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Ends the pressure after this long if the group's processes have not ended by then: a refill
    /// may loop in the kernel until it ends. No measure of speed.
    pub(crate) fn end_pressure_after(&self, time: Duration) {
        let path = self.path.clone();
        thread::spawn(move || {
            thread::sleep(time);
            if path.exists() {
                println!("the pressure is ended after {time:?}");
                set_limit(&path, None);
            }
        });
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A group is busy until the last of its processes is gone, which may be a moment after it
        // was waited for.
        for _ in 0..100 {
            if !self.path.exists() || fs::remove_dir(&self.path).is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        if self.path.exists() {
            println!("NOT PUT BACK: {} is still there", self.path.display());
        }
        if let Some(control) = &self.enabled_in {
            let _ = fs::write(control, "-memory");
        }
    }
}

/// Puts this process into the group at `path`; what it touches from now on is charged there.
pub(crate) fn join_cgroup(path: &Path) {
    fs::write(path.join("cgroup.procs"), process::id().to_string()).unwrap();
}

/// Returns the number of bytes charged to the group.
pub(crate) fn usage(path: &Path) -> u64 {
    let file = [Cgroup::V1[0], Cgroup::V2[0]].map(|file| path.join(file));
    let file = file.iter().find(|file| file.exists()).unwrap();
    fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

/// Lets the group have this many bytes, or any number. False if the kernel could not reclaim
/// enough.
pub(crate) fn set_limit(path: &Path, bytes: Option<u64>) -> bool {
    let v1 = path.join(Cgroup::V1[1]);
    let bytes = bytes.map(|bytes| bytes.to_string());
    if v1.exists() {
        fs::write(v1, bytes.as_deref().unwrap_or("-1")).is_ok()
    } else {
        fs::write(path.join(Cgroup::V2[1]), bytes.as_deref().unwrap_or("max")).is_ok()
    }
}
