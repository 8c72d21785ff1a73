//! The system calls: one instruction, and the few calls that the core makes.
//!
//! Why not the C library's wrappers? Because each does more than the call. They set errno, which a
//! signal handler must not disturb. Several are cancellation points, so a thread that is cancelled
//! while it holds a slot would keep it for ever. `syscall()` and `getrandom()` may be interposed,
//! by headwater's own preload library among others, which would call back into here. And
//! `libc::getrandom` may buffer, so its bytes would be as old as its buffer.

#![allow(unsafe_code)]

mod environment;
pub(crate) mod memory;

pub(crate) use environment::variable as environment;

use core::ffi::CStr;
use core::ptr;

/// A positive errno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

/// Makes one system call; `Err` holds the errno.
///
/// # Safety
///
/// The arguments must be sound for the system call `number`: pointers valid for what it reads and
/// writes, and no memory that Rust code relies on unmapped or replaced.
#[inline]
unsafe fn syscall(number: libc::c_long, args: [usize; 6]) -> Result<usize, Errno> {
    let answer: isize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the kernel's x86-64 convention: number in rax, arguments in these registers, rcx and
    // r11 destroyed, nothing pushed. The kernel may read and write memory through the arguments,
    // which `# Safety` asks to be sound; without `nomem`, asm! assumes that all memory changes.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => answer,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2],
            in("r10") args[3], in("r8") args[4], in("r9") args[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the kernel's arm64 convention: number in x8, arguments in x0 to x5, answer in x0.
    unsafe {
        core::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") args[0] as isize => answer,
            in("x1") args[1], in("x2") args[2], in("x3") args[3],
            in("x4") args[4], in("x5") args[5],
            options(nostack),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    // SAFETY: the C library makes the same call; errno is put back as it was.
    unsafe {
        let errno = libc::__errno_location();
        let saved = *errno;
        let result =
            libc::syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]) as isize;
        answer = if result == -1 { -(*errno as isize) } else { result };
        *errno = saved;
    }
    if (-4095..0).contains(&answer) { Err(Errno(-answer as i32)) } else { Ok(answer as usize) }
}

/// Calls getrandom(2).
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
#[inline]
pub(crate) unsafe fn getrandom(dst: *mut u8, len: usize, flags: u32) -> Result<usize, Errno> {
    // SAFETY: it writes at most `len` bytes at `dst`.
    unsafe { syscall(libc::SYS_getrandom, [dst.addr(), len, flags as usize, 0, 0, 0]) }
}

/// An open file, closed when dropped.
pub(crate) struct Fd(usize);

impl Fd {
    pub(crate) fn open_read(path: &CStr) -> Result<Fd, Errno> {
        const AT_FDCWD: usize = libc::AT_FDCWD as isize as usize;
        let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
        crate::linux::failpoint::rooted(path, |path| {
            // SAFETY: `path` is a C string.
            unsafe { syscall(libc::SYS_openat, [AT_FDCWD, path.as_ptr().addr(), flags, 0, 0, 0]) }
        })
        .map(Fd)
    }

    /// Calls read(2) once; the read may be short.
    pub(crate) fn read(&self, buf: &mut [u8]) -> Result<usize, Errno> {
        // SAFETY: `buf` is valid for writes of its length.
        unsafe { self.read_raw(buf.as_mut_ptr(), buf.len()) }
    }

    /// Reads as [`read`](Fd::read) does, into memory that need not be initialised.
    ///
    /// # Safety
    ///
    /// `dst` is valid for writes of `len` bytes.
    pub(crate) unsafe fn read_raw(&self, dst: *mut u8, len: usize) -> Result<usize, Errno> {
        // SAFETY: it writes at most `len` bytes at `dst`.
        unsafe { syscall(libc::SYS_read, [self.0, dst.addr(), len, 0, 0, 0]) }
    }

    /// Waits until the file can be read, or answers false at once if `wait` is false and it cannot.
    pub(crate) fn poll_readable(&self, wait: bool) -> Result<bool, Errno> {
        let mut set = libc::pollfd { fd: self.0 as i32, events: libc::POLLIN, revents: 0 };
        let no_wait = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let timeout = if wait { ptr::null() } else { &raw const no_wait };
        let args = [(&raw mut set).addr(), 1, timeout.addr(), 0, 0, 0];
        // SAFETY: `set` and `no_wait` live through the call.
        unsafe { syscall(libc::SYS_ppoll, args) }.map(|ready| ready == 1)
    }

    /// Returns whether this is a regular file of at least `len` bytes that root or the user of this
    /// process owns, and that no other user may write.
    pub(crate) fn is_kept_by_a_trusted_user(&self, len: usize) -> bool {
        // SAFETY: zeros are a valid value of a structure of integers.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: it writes one structure, which lives through the call.
        let answer =
            unsafe { syscall(libc::SYS_fstat, [self.0, (&raw mut stat).addr(), 0, 0, 0, 0]) };
        answer.is_ok()
            && stat.st_mode & libc::S_IFMT == libc::S_IFREG
            && stat.st_mode & 0o022 == 0
            && (stat.st_uid == 0 || stat.st_uid as usize == auxiliary(libc::AT_EUID))
            && usize::try_from(stat.st_size).is_ok_and(|size| size >= len)
    }

    /// Calls getdents64(2) once, from the current position. Returns the number of bytes of entries
    /// in `buf`.
    pub(crate) fn read_entries(&self, buf: &mut [u8]) -> Result<usize, Errno> {
        let args = [self.0, buf.as_mut_ptr().addr(), buf.len(), 0, 0, 0];
        // SAFETY: it writes at most `buf.len()` bytes.
        unsafe { syscall(libc::SYS_getdents64, args) }
    }

    /// Calls ioctl(2) on a structure that the kernel reads and writes.
    ///
    /// # Safety
    ///
    /// `request` must take a structure of type `T` and write nothing beyond it but what its pointer
    /// fields allow.
    pub(crate) unsafe fn ioctl<T>(&self, request: u32, data: &mut T) -> Result<usize, Errno> {
        let args = [self.0, request as usize, ptr::from_mut(data).addr(), 0, 0, 0];
        // SAFETY: `data` is a `T` that nothing else uses during the call, and the request touches a
        // `T` and what its fields allow. Only the caller knows the request, so the caller answers
        // for it.
        unsafe { syscall(libc::SYS_ioctl, args) }
    }
}

impl Drop for Fd {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours and not used afterwards.
        let _ = unsafe { syscall(libc::SYS_close, [self.0, 0, 0, 0, 0, 0]) };
    }
}

/// Calls mmap(2).
///
/// # Safety
///
/// With MAP_FIXED in `flags`, whatever lies at `at` is replaced: the caller answers for its users.
pub(crate) unsafe fn mmap(
    at: *mut u8,
    len: usize,
    prot: i32,
    flags: i32,
    fd: Option<&Fd>,
) -> Result<*mut u8, Errno> {
    let fd = fd.map_or(usize::MAX, |fd| fd.0);
    // SAFETY: without MAP_FIXED the kernel picks unused addresses, so no memory changes that is in
    // use. With it, the caller answers for the users of what is replaced.
    let at =
        unsafe { syscall(libc::SYS_mmap, [at.addr(), len, prot as usize, flags as usize, fd, 0]) }?;
    Ok(ptr::with_exposed_provenance_mut(at))
}

/// Calls munmap(2).
///
/// # Safety
///
/// The memory is not in use any more.
pub(crate) unsafe fn munmap(at: *mut u8, len: usize) {
    // SAFETY: nothing uses the memory any more, so nothing sees that it is gone.
    let _ = unsafe { syscall(libc::SYS_munmap, [at.addr(), len, 0, 0, 0, 0]) };
}

/// Calls madvise(2).
///
/// # Safety
///
/// Advice that drops contents (MADV_DONTNEED) is allowed only where zeros are a valid state.
pub(crate) unsafe fn madvise(at: *mut u8, len: usize, advice: i32) -> Result<(), Errno> {
    // SAFETY: of all advice only MADV_DONTNEED changes contents, to zeros, and it is given only
    // where zeros are a valid state.
    unsafe { syscall(libc::SYS_madvise, [at.addr(), len, advice as usize, 0, 0, 0]) }.map(drop)
}

/// Calls mlock2(2) with MLOCK_ONFAULT: pages are locked as they are touched, so that locking does
/// not make the whole reservation resident.
pub(crate) fn mlock_on_fault(at: *mut u8, len: usize) -> Result<(), Errno> {
    const MLOCK_ONFAULT: usize = 1;
    // SAFETY: locking changes no contents.
    unsafe { syscall(libc::SYS_mlock2, [at.addr(), len, MLOCK_ONFAULT, 0, 0, 0]) }.map(drop)
}

/// Calls munlock(2).
pub(crate) fn munlock(at: *mut u8, len: usize) -> Result<(), Errno> {
    // SAFETY: unlocking changes no contents.
    unsafe { syscall(libc::SYS_munlock, [at.addr(), len, 0, 0, 0, 0]) }.map(drop)
}

/// Returns whether a u64 at `at` can be read, without a load that could fault.
///
/// process_vm_readv(2) is made for this question, but it cannot read the vDSO's data pages at all.
/// So rt_sigprocmask(2) answers it: the call copies the new set before it looks at `how`, and -1 is
/// no `how`. EINVAL therefore means that it could read the memory, and EFAULT that it could not
/// (SIGSEGV and SIGBUS pages alike), and nothing is changed either way.
pub(crate) fn is_readable(at: *const u8) -> bool {
    let (how, set_size) = (usize::MAX, 8);
    // SAFETY: with an invalid `how` the call changes nothing, whatever the address.
    let answer = unsafe { syscall(libc::SYS_rt_sigprocmask, [how, at.addr(), 0, set_size, 0, 0]) };
    answer == Err(Errno(libc::EINVAL))
}

/// Returns the number of the CPU that this thread runs on, by getcpu(2); None if that is refused.
pub(crate) fn getcpu() -> Option<u32> {
    let mut cpu = 0u32;
    // SAFETY: the call writes one u32 of ours; the other two arguments may be null.
    unsafe { syscall(libc::SYS_getcpu, [(&raw mut cpu).addr(), 0, 0, 0, 0, 0]) }.ok()?;
    Some(cpu)
}

/// Returns the number of this process, by getpid(2).
pub(crate) fn process_number() -> u64 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { syscall(libc::SYS_getpid, [0; 6]) }.unwrap_or(0) as u64
}

/// Returns the highest CPU number that this thread may run on, plus one.
pub(crate) fn cpus_in_affinity() -> Option<usize> {
    let mut mask = [0u64; 128]; // 8,192 CPUs, the kernel's largest NR_CPUS
    let args = [0, size_of_val(&mask), mask.as_mut_ptr().addr(), 0, 0, 0];
    // SAFETY: it writes at most the size passed.
    unsafe { syscall(libc::SYS_sched_getaffinity, args) }.ok()?;
    let last = mask.iter().rposition(|&word| word != 0)?;
    Some(last * 64 + 64 - mask[last].leading_zeros() as usize)
}

/// Returns a value of the auxiliary vector; 0 if it is absent. getauxval sets errno then, and no
/// draw may touch that, so it is put back.
pub(crate) fn auxiliary(kind: libc::c_ulong) -> usize {
    // SAFETY: getauxval reads the auxiliary vector and nothing else; errno is this thread's own.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let value = libc::getauxval(kind);
        *errno = before;
        value as usize
    }
}

/// Returns the size of a page.
pub(crate) fn page_size() -> usize {
    let size = auxiliary(libc::AT_PAGESZ);
    if size.is_power_of_two() { size } else { 4096 }
}

/// Returns nanoseconds of a monotonic clock. Not `Instant`, because that may panic, and allocate
/// for it.
pub(crate) fn monotonic_ns() -> u64 {
    let now = clock(libc::CLOCK_MONOTONIC);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

/// Returns seconds and nanoseconds since 1970; 0 before.
#[cfg(any(feature = "uuid", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) fn since_1970() -> (u64, u32) {
    let now = clock(libc::CLOCK_REALTIME);
    u64::try_from(now.tv_sec).map_or((0, 0), |seconds| (seconds, now.tv_nsec as u32))
}

fn clock(id: libc::clockid_t) -> libc::timespec {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place for one; the call is async-signal-safe (POSIX). It cannot fail
    // for these clocks.
    unsafe { libc::clock_gettime(id, &raw mut now) };
    now
}
