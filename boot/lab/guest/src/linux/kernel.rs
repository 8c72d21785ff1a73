//! Tasks of the first process, and system calls that the standard library does not offer.

use rustix::mount::{MountFlags, mount};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::rand::GetRandomFlags;
use rustix::system::{RebootCommand, finit_module};
use rustix::time::{ClockId, clock_gettime};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// Returns microseconds after boot, suspended time included.
pub(crate) fn now_us() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1000
}

/// Reads the cycle counter. Two clones have equal values only if they were read before the
/// divergence.
#[inline(always)]
pub(crate) fn cycles() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the lab's clone guests have the instruction, and it only reads the counter.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let counter: u64;
        // SAFETY: under Linux, every process may read this register.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) counter, options(nostack)) };
        counter
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    compile_error!("the lab needs a cycle counter that programs may read");
}

pub(crate) fn mount_all() {
    for (directory, kind) in [("/proc", c"proc"), ("/sys", c"sysfs"), ("/dev", c"devtmpfs")] {
        let _ = fs::create_dir(directory);
        // Fails for /dev if the kernel has mounted it already.
        let _ = mount(kind, directory, kind, MountFlags::empty(), None);
    }
}

/// Returns the address of a function of the kernel, which root may read.
pub(crate) fn symbol(name: &str) -> Option<u64> {
    let symbols = fs::read_to_string("/proc/kallsyms").ok()?;
    let mut fields = symbols.lines().map(|line| line.split_whitespace());
    let address = fields.find_map(|mut fields| {
        let (address, _) = (fields.next()?, fields.next()?);
        (fields.next()? == name).then(|| u64::from_str_radix(address, 16).ok())?
    });
    address.filter(|address| *address != 0)
}

/// Calls getrandom(2) itself. A later C library may answer from the vDSO, and rustix never does.
#[inline]
pub(crate) fn getrandom(buf: &mut [u8], flags: GetRandomFlags) -> rustix::io::Result<usize> {
    rustix::rand::getrandom(buf, flags)
}

/// Loads the modules in /modules, in as many passes as their dependencies need.
pub(crate) fn load_modules(mut report: impl FnMut(&str, io::Result<()>)) {
    const PASSES: u32 = 4;
    let names = fs::read_to_string("/modules/list").unwrap_or_default();
    let mut left: Vec<&str> = names.lines().collect();
    for pass in 1..=PASSES {
        left.retain(|name| match load(name) {
            // A failed module may need one that comes later in the list.
            Err(_) if pass < PASSES => true,
            result => {
                report(name, result);
                false
            }
        });
    }
}

fn load(name: &str) -> io::Result<()> {
    let module = File::open(format!("/modules/{name}"))?;
    Ok(finit_module(&module, c"", 0)?)
}

/// Writes a seed of 32 bytes to the kernel's generator, which credits `bits` of it (RNDADDENTROPY).
/// With 0 bits the seed is written without credit, as systemd-random-seed does by default.
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
    // SAFETY: the request reads the struct, which is `struct rand_pool_info` followed by 32 bytes.
    let answer = unsafe { libc::ioctl(device.as_raw_fd(), RNDADDENTROPY, &raw mut seed) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Waits until the kernel has just reseeded by its own clock, so that seconds pass before the next
/// time.
///
/// Kernels without a readable generation count from the last reseed of any kind; one request for a
/// reseed is enough for them.
pub(crate) fn wait_for_reseed(limit: Duration) {
    const RNDRESEEDCRNG: libc::Ioctl = 0x5207; // _IO('R', 7)
    if let Ok(device) = File::open("/dev/urandom") {
        // SAFETY: the request has no argument.
        unsafe { libc::ioctl(device.as_raw_fd(), RNDRESEEDCRNG, 0) };
    }
    // Not `headwater::generation()`, which is None on a machine that does not report clones.
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

/// Lets the real-time clock interrupt at each of its updates, until the returned file is closed.
pub(crate) fn clock_interrupts() -> io::Result<File> {
    let clock = File::open("/dev/rtc0")?;
    const RTC_UIE_ON: libc::Ioctl = 0x7003; // _IO('p', 3)
    // SAFETY: the request has no argument.
    let answer = unsafe { libc::ioctl(clock.as_raw_fd(), RTC_UIE_ON, 0) };
    if answer == 0 { Ok(clock) } else { Err(io::Error::last_os_error()) }
}

/// Returns the kernel's log so far: time in microseconds after boot, and text, of each record.
pub(crate) fn log() -> Vec<(u64, String)> {
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
                let at_us = head.split(',').nth(2).and_then(|field| field.parse().ok());
                let text = text.lines().next().unwrap_or_default();
                lines.push((at_us.unwrap_or(0), text.to_owned()));
            }
            // The kernel overwrote the record; the next read returns the oldest that is left.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            _ => return lines,
        }
    }
}

/// Interrupts since boot.
pub(crate) struct InterruptCounts {
    /// All of them, timers included.
    pub(crate) all: u64,
    /// Interrupts of devices.
    pub(crate) devices: u64,
}

pub(crate) fn interrupts() -> InterruptCounts {
    let all = fs::read_to_string("/proc/stat").unwrap_or_default();
    let all = all.lines().find_map(|line| line.strip_prefix("intr "));
    let all = all.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(0);
    // Lines of devices begin with a number, and lines of the CPU's own interrupts with letters.
    let table = fs::read_to_string("/proc/interrupts").unwrap_or_default();
    let devices = table.lines().filter_map(|line| {
        let (name, rest) = line.split_once(':')?;
        name.trim().parse::<u32>().ok()?;
        Some(rest.split_whitespace().map_while(|word| word.parse::<u64>().ok()).sum::<u64>())
    });
    InterruptCounts { all, devices: devices.sum() }
}

/// Runs `child` in a process of its own.
pub(crate) fn fork(child: impl FnOnce()) -> io::Result<Pid> {
    // SAFETY: callers have one thread, so no other thread holds a lock that the child would need.
    match unsafe { libc::fork() } {
        0 => {
            child();
            // SAFETY: ends the child at once, because the parent's destructors are not its own.
            unsafe { libc::_exit(0) }
        }
        pid => Pid::from_raw(pid).filter(|_| pid > 0).ok_or_else(io::Error::last_os_error),
    }
}

/// Names this process, as shown in /proc/PID/comm: at most 15 bytes.
pub(crate) fn name_process(name: &std::ffi::CStr) {
    let _ = rustix::thread::set_name(name);
}

/// Kills and reaps a child.
pub(crate) fn kill(child: Pid) {
    let _ = kill_process(child, Signal::KILL);
    let _ = waitpid(Some(child), WaitOptions::empty());
}

/// Ends the guest: QEMU runs with -no-reboot, and therefore exits.
pub(crate) fn reboot() -> ! {
    rustix::fs::sync();
    let _ = rustix::system::reboot(RebootCommand::Restart);
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}
