//! A directory that stands for the machine's /sys, /proc and /dev/vmclock0.

use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

pub(crate) struct Root {
    path: PathBuf,
}

impl Root {
    /// Makes an empty directory that is named after this process.
    pub(crate) fn new() -> Root {
        let name = format!("root-{}", std::process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        // A test that failed leaves its directory, and process numbers come round.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Root { path }
    }

    /// Returns the path for `testing::set_root`, which keeps it for ever.
    pub(crate) fn c_path(&self) -> &'static CStr {
        let path = CString::new(self.path.as_os_str().as_bytes()).unwrap();
        Box::leak(path.into_boxed_c_str())
    }

    /// Returns the real path of headwater's `path`, in a directory that exists.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        let at = self.path.join(path.trim_start_matches('/'));
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        at
    }

    pub(crate) fn write(&self, path: &str, content: &[u8]) {
        fs::write(self.at(path), content).unwrap();
    }

    /// Makes a link that leads nowhere, as sysfs's links do outside of /sys.
    pub(crate) fn link(&self, path: &str) {
        std::os::unix::fs::symlink("nowhere", self.at(path)).unwrap();
    }

    pub(crate) fn make_folder(&self, path: &str) {
        fs::create_dir_all(self.path.join(path.trim_start_matches('/'))).unwrap();
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Makes a machine with this many CPUs, which headwater sees from now on. Its /proc is the real
/// one, its /sys holds nothing else, and it has no VMClock.
#[cfg(feature = "testing")]
pub(crate) fn machine_with_cpus(count: usize) -> Root {
    let root = Root::new();
    root.write("/sys/devices/system/cpu/present", format!("0-{}\n", count - 1).as_bytes());
    std::os::unix::fs::symlink("/proc", root.path.join("proc")).unwrap();
    headwater::testing::set_root(root.c_path());
    root
}

/// A VMClock page in a file: what `include/uapi/linux/vmclock-abi.h` calls `struct vmclock_abi`.
pub(crate) struct FakeClock(File);

pub(crate) const VMCLOCK: &str = "/dev/vmclock0";
pub(crate) const MARKER: u64 = 0x1122_3344;
pub(crate) const VM_GENERATION: u64 = 7;

impl FakeClock {
    /// Makes a valid page with [`MARKER`] and [`VM_GENERATION`]. The flag that makes the generation
    /// count is set if `counts` is true.
    pub(crate) fn new(root: &Root, counts: bool) -> FakeClock {
        const VM_GENERATION_FLAG: u64 = 1 << 8;
        let clock = FakeClock(File::create(root.at(VMCLOCK)).unwrap());
        clock.0.set_len(4096).unwrap();
        clock.put(0, &0x4B4C_4356_u32.to_le_bytes());
        clock.put(4, &4096_u32.to_le_bytes());
        clock.put(8, &1_u16.to_le_bytes());
        clock.set_marker(MARKER);
        let flags = if counts { VM_GENERATION_FLAG } else { 0 };
        clock.put(24, &flags.to_le_bytes());
        clock.put(104, &VM_GENERATION.to_le_bytes());
        clock
    }

    /// Overwrites part of the page, which every process that maps it sees at once.
    pub(crate) fn put(&self, offset: u64, bytes: &[u8]) {
        self.0.write_all_at(bytes, offset).unwrap();
    }

    /// Changes the page as a hypervisor does when a snapshot is loaded.
    pub(crate) fn set_marker(&self, marker: u64) {
        self.put(16, &marker.to_le_bytes());
    }
}
