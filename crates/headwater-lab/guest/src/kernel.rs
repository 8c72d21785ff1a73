//! What only the first process does, and system calls that the standard library has no name for.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// Seconds since boot, suspended time included.
pub(crate) fn now() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the struct is ours; this clock exists in every kernel that boots here.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The cycle counter, read before a request to mark its beginning: equal in two clones only if it was read before
/// they parted.
#[inline(always)]
pub(crate) fn cycles() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the lab's clone guests have the instruction; it reads nothing but the counter.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let counter: u64;
        // SAFETY: readable by every process under Linux.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) counter, options(nostack)) };
        counter
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    compile_error!("the lab needs a cycle counter that programs may read");
}

pub(crate) fn mount_all() {
    for (folder, kind) in [(c"/proc", c"proc"), (c"/sys", c"sysfs"), (c"/dev", c"devtmpfs")] {
        let _ = fs::create_dir(folder.to_str().unwrap_or_default());
        // SAFETY: strings that end in zero; no data. It fails where the kernel has mounted /dev by itself.
        unsafe { libc::mount(kind.as_ptr(), folder.as_ptr(), kind.as_ptr(), 0, std::ptr::null()) };
    }
}

/// getrandom(2), raw: the C library of a later day may answer from the vDSO.
#[inline]
pub(crate) fn getrandom(buf: &mut [u8], flags: libc::c_uint) -> io::Result<usize> {
    // SAFETY: pointer and length are those of `buf`.
    let got = unsafe { libc::syscall(libc::SYS_getrandom, buf.as_mut_ptr(), buf.len(), flags) };
    if got < 0 { Err(io::Error::last_os_error()) } else { Ok(got as usize) }
}

/// Loads what lies in /modules, in as many passes as their order needs.
pub(crate) fn load_modules(mut tell: impl FnMut(&str, Result<(), io::Error>)) {
    let names = fs::read_to_string("/modules/list").unwrap_or_default();
    let mut left: Vec<&str> = names.lines().collect();
    for pass in 0..4 {
        left.retain(|name| match load(name) {
            Ok(()) => {
                tell(name, Ok(()));
                false
            }
            Err(error) if pass == 3 => {
                tell(name, Err(error));
                false
            }
            Err(_) => true, // perhaps it needs one that comes later in the list
        });
    }
}

fn load(name: &str) -> io::Result<()> {
    let module = File::open(format!("/modules/{name}"))?;
    // SAFETY: a descriptor that is open, an empty string of parameters, no flags.
    let answer =
        unsafe { libc::syscall(libc::SYS_finit_module, module.as_raw_fd(), c"".as_ptr(), 0) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives the kernel's generator 32 bytes, which it counts as so many bits: what systemd-random-seed does when it is
/// told to credit (RNDADDENTROPY), and with 0 what it does by default (a write).
pub(crate) fn add_seed(bits: u32) -> io::Result<()> {
    #[repr(C)]
    struct Seed {
        bits: libc::c_int,
        size: libc::c_int,
        bytes: [u8; 32],
    }
    let mut seed =
        Seed { bits: bits as libc::c_int, size: 32, bytes: *b"a seed that the lab has put here" };
    let device = OpenOptions::new().write(true).open("/dev/urandom")?;
    if bits == 0 {
        use io::Write;
        return (&device).write_all(&seed.bytes);
    }
    const RNDADDENTROPY: libc::Ioctl = 0x4008_5203u32 as libc::Ioctl; // _IOW('R', 3, int[2])
    // SAFETY: the request reads the struct, whose layout is `struct rand_pool_info` with 32 bytes behind it.
    let answer = unsafe { libc::ioctl(device.as_raw_fd(), RNDADDENTROPY, &raw mut seed) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Waits until the kernel has just reseeded by its own clock, so that it will not do so again for seconds.
///
/// Kernels that show no reseed generation count from the last reseed of any kind, so that asking for one is enough.
pub(crate) fn wait_for_reseed(limit: Duration) {
    const RNDRESEEDCRNG: libc::Ioctl = 0x5207; // _IO('R', 7)
    if let Ok(device) = File::open("/dev/urandom") {
        // SAFETY: the request takes no argument.
        unsafe { libc::ioctl(device.as_raw_fd(), RNDRESEEDCRNG, 0) };
    }
    // Not `headwater::generation()`, which says nothing where nobody would tell of a clone.
    let generation = || match headwater::status().reseed_generation {
        headwater::ReseedGeneration::Live { value, .. } => Some(value),
        _ => None,
    };
    let now = generation();
    let begun = std::time::Instant::now();
    while now.is_some() && generation() == now && begun.elapsed() < limit {
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(Duration::from_millis(200)); // until every thread has seen it
}

/// Has the real-time clock interrupt at each of its updates; the descriptor must stay open.
pub(crate) fn clock_interrupts() -> io::Result<File> {
    let clock = File::open("/dev/rtc0")?;
    const RTC_UIE_ON: libc::Ioctl = 0x7003; // _IO('p', 3)
    // SAFETY: the request takes no argument.
    let answer = unsafe { libc::ioctl(clock.as_raw_fd(), RTC_UIE_ON, 0) };
    if answer == 0 { Ok(clock) } else { Err(io::Error::last_os_error()) }
}

/// The kernel's log so far: seconds since boot and text of each record.
pub(crate) fn log() -> Vec<(f64, String)> {
    let mut lines = Vec::new();
    let Ok(mut log) =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open("/dev/kmsg")
    else {
        return lines;
    };
    let mut record = [0; 8192];
    loop {
        match log.read(&mut record) {
            Ok(length @ 1..) => {
                let record = String::from_utf8_lossy(&record[..length]);
                let Some((head, text)) = record.split_once(';') else { continue };
                let micros: f64 =
                    head.split(',').nth(2).and_then(|field| field.parse().ok()).unwrap_or(0.0);
                let text = text.lines().next().unwrap_or_default();
                lines.push((micros / 1e6, text.to_owned()));
            }
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {} // overwritten; the next is the oldest left
            _ => return lines,
        }
    }
}

/// All interrupts so far, timers included, and those of devices alone.
pub(crate) fn interrupts() -> (u64, u64) {
    let all = fs::read_to_string("/proc/stat").unwrap_or_default();
    let all = all.lines().find_map(|line| line.strip_prefix("intr "));
    let all = all.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(0);
    // Lines of devices begin with a number; the CPU's own (LOC, RES, ...) with letters.
    let table = fs::read_to_string("/proc/interrupts").unwrap_or_default();
    let devices = table.lines().filter_map(|line| {
        let (name, rest) = line.split_once(':')?;
        name.trim().parse::<u32>().ok()?;
        Some(rest.split_whitespace().map_while(|word| word.parse::<u64>().ok()).sum::<u64>())
    });
    (all, devices.sum())
}

/// Starts `child` in a process of its own; the number of it.
pub(crate) fn fork(child: impl FnOnce()) -> io::Result<i32> {
    // SAFETY: callers are single-threaded, so that no lock is held by a thread that the child lacks.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            child();
            // SAFETY: ends the child at once; the parent's destructors are not the child's to run.
            unsafe { libc::_exit(0) }
        }
        pid => Ok(pid),
    }
}

/// Names this process, for /proc/PID/comm: 15 bytes.
pub(crate) fn name_process(name: &std::ffi::CStr) {
    // SAFETY: the kernel copies a string that ends in zero; it cannot fail for one that is readable.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

pub(crate) fn kill(pid: i32) {
    // SAFETY: a child of ours, which is waited for here.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
        libc::waitpid(pid, std::ptr::null_mut(), 0);
    }
}

/// Ends the guest: QEMU runs with -no-reboot, so that it exits.
pub(crate) fn reboot() -> ! {
    // SAFETY: flushes, then the machine is gone.
    unsafe {
        libc::sync();
        libc::reboot(libc::RB_AUTOBOOT);
    }
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}
