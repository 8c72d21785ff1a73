//! Areas of rseq(2): `struct rseq` of Linux, registered by glibc or by the test itself.

use crate::support::children::{Ending, fork, wait};
use crate::support::machine::bind;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// The signature that glibc registers on x86-64, and that stands before each abort handler.
pub(crate) const SIGNATURE: u32 = 0x5305_3053;
/// `cpu_id` of a thread that is not registered.
pub(crate) const UNREGISTERED: u32 = u32::MAX;
/// `RSEQ_FLAG_UNREGISTER` of include/uapi/linux/rseq.h.
const UNREGISTER: libc::c_int = 1;
/// The length of the original `struct rseq`, which every kernel accepts.
pub(crate) const ORIGINAL: u32 = 32;

/// The first fields of `struct rseq`. The kernel writes to them whenever it preempts the thread, so
/// that all of them are atomics.
#[derive(Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct Area {
    pub(crate) cpu_id_start: AtomicU32,
    pub(crate) cpu_id: AtomicU32,
    pub(crate) rseq_cs: AtomicU64,
    pub(crate) flags: AtomicU32,
    pub(crate) node_id: AtomicU32,
    pub(crate) mm_cid: AtomicU32,
    unused: AtomicU32,
}

impl Area {
    /// Returns the area that the C library keeps for this thread; None without one. The C library
    /// of a process whose tunable forbids the registration keeps the place all the same.
    pub(crate) fn of_the_c_library() -> Option<&'static Area> {
        // SAFETY: a name, which is looked up in all loaded libraries; the answer is null or the
        // address of glibc's constant of this type.
        let offset = unsafe {
            let offset = libc::dlsym(null_mut(), c"__rseq_offset".as_ptr()).cast::<isize>();
            offset.as_ref().copied()?
        };
        let thread: usize;
        // SAFETY: on x86-64 the first word at the thread pointer is the thread pointer itself.
        unsafe {
            std::arch::asm!("mov {}, qword ptr fs:[0]", out(reg) thread,
                options(nostack, preserves_flags, readonly));
        }
        // SAFETY: glibc promises a `struct rseq` at this offset for as long as the thread lives.
        // A reference is not handed to another thread here, and the kernel's writes are no data
        // race, because every field is an atomic.
        Some(unsafe { &*std::ptr::with_exposed_provenance(thread.wrapping_add_signed(offset)) })
    }

    /// Registers or unregisters by the system call. Returns the errno of a refusal.
    fn call(&self, len: u32, flags: libc::c_int) -> Result<(), i32> {
        // SAFETY: the kernel writes to the registered area whenever it preempts the thread, so the
        // area has to stay in its place. The C library's lives as long as its thread. Areas
        // of a test are unregistered before the function that owns them returns, and a panic in
        // between ends the whole process (`common::isolated`).
        let answer = unsafe {
            libc::syscall(libc::SYS_rseq, std::ptr::from_ref(self), len, flags, SIGNATURE)
        };
        match answer {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)),
        }
    }

    /// Registers the area for this thread.
    pub(crate) fn register(&self, len: u32) -> Result<(), i32> {
        self.call(len, 0)
    }

    /// Unregisters the area. Returns the length with which it was registered, which the kernel
    /// compares and newer C libraries choose by the auxiliary vector; None if it was not.
    pub(crate) fn unregister(&self) -> Option<u32> {
        (ORIGINAL..=1024).find(|&len| self.call(len, UNREGISTER).is_ok())
    }

    /// Checks that no descriptor is left in the area: it would point into a library that may be
    /// unloaded, and the kernel would follow it.
    #[track_caller]
    pub(crate) fn assert_clear(&self) {
        assert_eq!(self.rseq_cs.load(Relaxed), 0, "a draw left its descriptor in rseq_cs");
    }

    /// Returns whether the kernel ends a process that writes to `cpu_id_start`: the optimized mode
    /// of Linux 7.1 does, and so do kernels with `rseq_debug`. A forked child, which inherits the
    /// registration, tries it.
    ///
    /// The child moves to each of the CPUs, because the kernel compares when it writes.
    pub(crate) fn is_guarded(&self, cpus: &[usize]) -> bool {
        let child = fork(|| {
            for cpu in cpus.iter().cycle().take(4 * cpus.len()) {
                self.cpu_id_start.store(1 << 31, Relaxed);
                bind(&[*cpu]);
                std::thread::yield_now();
            }
            0
        });
        match wait(child) {
            Ending::Exited(0) => false,
            Ending::Killed(libc::SIGSEGV) => true,
            other => panic!("{other:?}"),
        }
    }
}
