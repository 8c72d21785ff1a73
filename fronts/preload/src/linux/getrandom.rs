//! `getrandom` and `getentropy`.

use super::config::{self, Route};
use super::{sanitizer, stats, syscall};
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::Relaxed;
use libc::{EIO, GRND_NONBLOCK, c_int, c_uint, c_void, size_t, ssize_t};

/// getentropy(3) returns no more at once, by POSIX.
const GETENTROPY_LIMIT: size_t = 256;
/// The kernel returns no more at once since 5.18 (MAX_RW_COUNT), and neither does the vDSO.
const LIMIT: size_t = 0x7fff_f000;
/// No buffer lies below: the kernel maps nothing at address zero's page.
const LOWEST: usize = 4096;
/// No buffer ends above: x86-64 without five-level paging has the smallest user half, 47 bits.
const HIGHEST: usize = 1 << 47;

/// Fills a buffer, by the contract of the C library's getrandom(2).
///
/// Without flags and with `GRND_NONBLOCK`, headwater serves the request, whole up to 2 GiB - 4 KiB.
/// The kernel answers every other request: `GRND_RANDOM`, `GRND_INSECURE`, unknown flags, pointers
/// that cannot be a buffer, and requests before its generator is ready. A buffer that is not mapped
/// faults, as it does in glibc 2.41 by the vDSO.
///
/// # Safety
///
/// The rules of getrandom(2): `buf` is valid for writes of `len` bytes.
///
/// Why assembly? pthread_testcancel() unwinds through this frame when it ends the thread, and a
/// Rust function without a personality routine must not let that pass. So the arguments wait on the
/// stack, and the directives describe it to the unwinder. The draw itself is a tail call, so that a
/// thread that is cancelled here has taken no bytes. The reference is weak, because glibc before
/// 2.34 has the function in libpthread only, and a program without it has no threads.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buf: *mut c_void, len: size_t, flags: c_uint) -> ssize_t {
    core::arch::naked_asm!(
        ".weak pthread_testcancel",
        ".cfi_startproc",
        "endbr64",
        "cmp byte ptr [rip + {is_cancellation_point}], 0",
        "je {serve}",
        "mov rax, qword ptr [rip + pthread_testcancel@GOTPCREL]",
        "test rax, rax",
        "jz {serve}",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "push rsi",
        ".cfi_adjust_cfa_offset 8",
        "push rdx",
        ".cfi_adjust_cfa_offset 8",
        "call rax",
        "pop rdx",
        ".cfi_adjust_cfa_offset -8",
        "pop rsi",
        ".cfi_adjust_cfa_offset -8",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "jmp {serve}",
        ".cfi_endproc",
        is_cancellation_point = sym config::IS_CANCELLATION_POINT,
        serve = sym serve,
    )
}

/// Does the same on arm64 as the function above does on x86-64.
///
/// # Safety
///
/// The rules of getrandom(2): `buf` is valid for writes of `len` bytes.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buf: *mut c_void, len: size_t, flags: c_uint) -> ssize_t {
    core::arch::naked_asm!(
        ".cfi_startproc",
        ".weak pthread_testcancel",
        "hint #34", // BTI c
        "adrp x8, {is_cancellation_point}",
        "ldrb w8, [x8, #:lo12:{is_cancellation_point}]",
        "cbz w8, 2f",
        "adrp x8, :got:pthread_testcancel",
        "ldr x8, [x8, :got_lo12:pthread_testcancel]",
        "cbz x8, 2f",
        "stp x29, x30, [sp, #-48]!",
        ".cfi_def_cfa_offset 48",
        ".cfi_offset x29, -48",
        ".cfi_offset x30, -40",
        "mov x29, sp",
        "stp x0, x1, [sp, #16]",
        "str x2, [sp, #32]",
        "blr x8",
        "ldr x2, [sp, #32]",
        "ldp x0, x1, [sp, #16]",
        "ldp x29, x30, [sp], #48",
        ".cfi_def_cfa_offset 0",
        ".cfi_restore x29",
        ".cfi_restore x30",
        "2:",
        "b {serve}",
        ".cfi_endproc",
        is_cancellation_point = sym config::IS_CANCELLATION_POINT,
        serve = sym serve,
    )
}

/// Fills a buffer, by the contract of getentropy(3): EIO above 256 bytes, and no cancellation
/// point.
///
/// # Safety
///
/// The rules of getentropy(3): `buf` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(buf: *mut c_void, len: size_t) -> c_int {
    if len > GETENTROPY_LIMIT {
        return fail(EIO);
    }
    let mut done = 0;
    while done < len {
        // SAFETY: `done` is below `len`, so the rest lies inside the program's buffer.
        let got = unsafe { serve(buf.wrapping_byte_add(done), len - done, 0) };
        match got {
            1.. => done += got as size_t,
            0 => return fail(EIO),
            _ if is_interrupted() => {}
            _ => return -1,
        }
    }
    0
}

/// Serves a request to the C library's functions, or hands it to the kernel.
///
/// # Safety
///
/// The rules of getrandom(2).
pub(super) unsafe extern "C" fn serve(buf: *mut c_void, len: size_t, flags: c_uint) -> ssize_t {
    // Where the C library's function is a cancellation point, it makes a system call.
    let saves_call = config::IS_CANCELLATION_POINT.load(Relaxed) != 0;
    // SAFETY: the arguments are the program's own, under the rules of the call that it made.
    unsafe { serve_or_forward(buf, len, flags, saves_call) }
}

/// Serves a request through `syscall()`, which always saves a system call.
///
/// # Safety
///
/// The rules of getrandom(2).
pub(super) unsafe extern "C" fn serve_system_call(
    buf: *mut c_void,
    len: size_t,
    flags: c_uint,
) -> ssize_t {
    // SAFETY: the program named getrandom(2) itself in its call of `syscall()`, so its rules hold
    // for these arguments.
    unsafe { serve_or_forward(buf, len, flags, true) }
}

/// Serves one request, or hands it to the kernel.
///
/// # Safety
///
/// The rules of getrandom(2).
#[inline(always)]
unsafe fn serve_or_forward(
    buf: *mut c_void,
    len: size_t,
    flags: c_uint,
    saves_call: bool,
) -> ssize_t {
    let route = config::route();
    if flags & !GRND_NONBLOCK == 0 && can_be_buffer(buf, len) && route != Route::Kernel {
        let len = len.min(LIMIT);
        if route == Route::Checked {
            sanitizer::check(buf, len);
        }
        // SAFETY: not null, and below 2^47, so the length fits; the caller promises that it is
        // valid for writes. It may be uninitialised.
        let bytes = unsafe { core::slice::from_raw_parts_mut(buf.cast::<MaybeUninit<u8>>(), len) };
        if headwater::try_fill_uninit(bytes).is_ok() {
            stats::served(len, saves_call);
            return len as ssize_t;
        }
        // Not ready, or no source of bytes: the kernel says which, waits or fails as the flags ask.
    }
    // SAFETY: nothing was served, so the kernel gets the program's arguments as they came.
    unsafe { kernel(buf, len, flags) }
}

/// Calls getrandom(2), with libc's errno.
///
/// # Safety
///
/// The rules of getrandom(2).
unsafe fn kernel(buf: *mut c_void, len: size_t, flags: c_uint) -> ssize_t {
    stats::forwarded();
    let (buf, len, flags) = (buf.addr() as i64, len as i64, i64::from(flags));
    // SAFETY: the kernel writes at most `len` bytes at `buf`, which the program asked for, and
    // answers EFAULT where no buffer is.
    unsafe { syscall::stock_syscall(libc::SYS_getrandom, buf, len, flags, 0, 0, 0) as ssize_t }
}

/// Returns true if a buffer can lie there. The kernel answers for all other addresses, mostly
/// EFAULT.
fn can_be_buffer(buf: *mut c_void, len: size_t) -> bool {
    let start = buf.addr();
    (LOWEST..HIGHEST).contains(&start) && len <= HIGHEST - start
}

fn is_interrupted() -> bool {
    // SAFETY: the C library's own errno, one for each thread.
    unsafe { *libc::__errno_location() == libc::EINTR }
}

fn fail(errno: c_int) -> c_int {
    // SAFETY: the C library's own errno, one for each thread.
    unsafe { *libc::__errno_location() = errno };
    -1
}
