//! Secure random bytes at memory speed, exactly as fresh as the kernel's (Linux 6.11), and safer
//! than the kernel's across VM clone and restore.
//!
//! ```
//! # fn main() -> Result<(), headwater::Error> {
//! let key: [u8; 32] = headwater::array()?;
//! let die = 1 + headwater::u32_below(const { core::num::NonZeroU32::new(6).unwrap() })?;
//!
//! let mut rng = headwater::Rng::new()?; // an owned handle: no lock, its own page
//! let nonce = rng.next_u64();
//! # let _ = (key, die, nonce);
//! # Ok(())
//! # }
//! ```
//!
//! # What a byte has been through
//!
//! Every buffered byte lies in a page that carries the number of its refill. A line outside the
//! page carries the same number and says what is left, and the kernel's reseed generation at the
//! refill is kept as well. A byte leaves only if page and line agree, the reseed generation is
//! unchanged, and no fork has happened. These comparisons follow the copy: before it, they would
//! say nothing about what happens while bytes are copied. The kernel reseeds at least once a
//! minute, and when a hypervisor reports a clone (vmgenid), so nothing that headwater holds
//! outlives the kernel's own state. If no clone would be reported, [`Mode::Hedged`] or
//! [`Mode::Strict`] take over by themselves; [`status()`] shows the mode in use, and why.
//!
//! # Errors, early boot, panics
//!
//! * No weaker byte ever takes the place of an error. On an error the whole buffer is zero.
//! * A blocking call waits until the kernel's generator is seeded; the `try_` forms return
//!   [`Error::NOT_READY`] instead.
//! * Nothing here panics except the infallible draws of [`Rng`], and these only if the kernel takes
//!   getrandom(2) *and* /dev/urandom away from a running process.
//!
//! # Signals, threads, forks
//!
//! Free functions are async-signal-safe, first call included: no allocation, no lock that waits, no
//! thread-local destructor. They may be called from any thread, from other libraries' destructors
//! and at exit. A child with memory of its own (by fork or clone, from a handler or not) never sees
//! its parent's bytes; a child in its parent's memory (vfork, `CLONE_VM`) does not either, but for
//! a risk that SECURITY.md states. After [`init()`] the only system call made is getrandom(2),
//! unless that is refused; making more than 64 [`Rng`] handles maps memory.
//!
//! # Features
//!
//! * `rand_core` (default): the traits of rand_core 0.10 for [`Rng`].
//! * `uuid`: UUIDs v4 and v7 as types of the `uuid` crate.
//! * `std`: [`Error`] into `std::io::Error`. Without it the crate is `#![no_std]` and allocates
//!   nothing.
//!
//! Systems other than Linux on 64-bit CPUs compile and forward to the `getrandom` crate: correct,
//! not fast.

#![cfg_attr(docsrs, feature(doc_cfg))]
// The C library contains no Rust standard library, because that would add thread-locals and the
// machinery of panics. But one crate that uses it is enough to link it in, so this one does
// without, except where tests, other systems or a feature need it.
#![cfg_attr(
    all(
        target_os = "linux",
        target_pointer_width = "64",
        not(any(test, miri, loom, feature = "std", feature = "testing"))
    ),
    no_std
)]
#![deny(unsafe_code)]

mod bounded;
mod cpuid;
mod error;
#[doc(hidden)]
pub mod internal;
mod mode;
mod rng;
mod stamp;
mod status;
#[cfg(feature = "uuid")]
pub mod uuid;

// The one place that chooses between Linux on 64-bit CPUs and the rest. The rest takes the same
// name, so that a call below, `linux::fill`, says where the code is that nearly every reader wants.
// An alias for both would say it to the compiler only.
#[cfg_attr(not(all(target_os = "linux", target_pointer_width = "64")), path = "other.rs")]
mod linux;

#[cfg(all(target_os = "linux", target_pointer_width = "64", feature = "testing"))]
pub use linux::testing;

pub use bounded::{u32_below, u64_below};
pub use error::Error;
pub use mode::{Mode, UnknownMode};
pub use rng::Rng;
pub use stamp::{Freshness, Stamp};
pub use status::{
    Counters, CpuRng, Hardware, Page, Path, Pools, ReseedGeneration, Source, Status, Vmclock,
    Vmgenid, WatchPage,
};

use core::mem::MaybeUninit;
use core::num::NonZeroU64;

/// Fills `buf` with random bytes; waits, once at boot, until the kernel's generator is seeded.
///
/// Async-signal-safe.
///
/// # Errors
///
/// Fails only if the kernel refuses random bytes altogether. The buffer is then all zeros.
#[inline]
pub fn fill(buf: &mut [u8]) -> Result<(), Error> {
    linux::fill(as_uninit(buf), true)
}

/// Fills `buf` with random bytes, or returns [`Error::NOT_READY`] where [`fill`] would wait.
///
/// Async-signal-safe.
///
/// # Errors
///
/// The errors of [`fill`], and [`Error::NOT_READY`].
#[inline]
pub fn try_fill(buf: &mut [u8]) -> Result<(), Error> {
    linux::fill(as_uninit(buf), false)
}

/// Fills `buf` with random bytes and returns it as initialised.
///
/// # Errors
///
/// The errors of [`fill`].
#[inline]
pub fn fill_uninit(buf: &mut [MaybeUninit<u8>]) -> Result<&mut [u8], Error> {
    linux::fill(buf, true)?;
    #[expect(unsafe_code)]
    // SAFETY: `linux::fill` returned Ok, and its contract is that every byte of `buf` is then
    // written.
    let filled = unsafe { &mut *(core::ptr::from_mut(buf) as *mut [u8]) };
    Ok(filled)
}

/// Fills `buf` as [`fill`] does, under keys that are drawn for this request alone, in every mode.
///
/// Meant for prediction resistance (NIST SP 800-90A, section 8.8), such as the seed of another
/// generator: a copy of this process's memory from before the call says nothing about these bytes.
/// Costs one system call for each MiB. Async-signal-safe.
///
/// # Errors
///
/// The errors of [`fill`].
pub fn fill_fresh(buf: &mut [u8]) -> Result<(), Error> {
    linux::fill_fresh(as_uninit(buf))
}

/// Fills `buf` as [`fill_uninit`] does, or returns [`Error::NOT_READY`] where that would wait.
/// Async-signal-safe.
///
/// # Errors
///
/// The errors of [`try_fill`].
#[inline]
pub fn try_fill_uninit(buf: &mut [MaybeUninit<u8>]) -> Result<&mut [u8], Error> {
    linux::fill(buf, false)?;
    #[expect(unsafe_code)]
    // SAFETY: as in `fill_uninit`.
    let filled = unsafe { &mut *(core::ptr::from_mut(buf) as *mut [u8]) };
    Ok(filled)
}

/// Returns a random `u32`. Async-signal-safe.
///
/// # Errors
///
/// The errors of [`fill`].
#[inline(always)]
pub fn u32() -> Result<u32, Error> {
    linux::u32()
}

/// Returns a random `u64`. Async-signal-safe.
///
/// # Errors
///
/// The errors of [`fill`].
#[inline(always)]
pub fn u64() -> Result<u64, Error> {
    linux::u64()
}

/// Returns `N` random bytes. Async-signal-safe.
///
/// # Errors
///
/// The errors of [`fill`].
// Always inlined: a function of its own would keep a copy of the bytes in a frame that the caller
// cannot erase.
#[inline(always)]
pub fn array<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// The configuration of this process; see [`init_with`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// The mode to serve in. `Auto` chooses what this machine can prove safe. A mode that the
    /// machine cannot run is replaced by a stricter one, and [`Status::reason`] says so: `Buffered`
    /// needs a live reseed generation, `Hedged` the CPU's instructions. If `Buffered` is requested,
    /// no evidence is needed that clones are noticed.
    pub mode: Mode,
    /// True if /dev/vmclock0 may be mapped where it is readable, and the page of `headwater clones
    /// watch`. A process that maps a device page cannot be checkpointed by CRIU until [`quiesce()`]
    /// is called.
    pub vmclock: bool,
}

impl Config {
    /// Returns the configuration that [`fill`] sets up by itself: the mode of `HEADWATER_MODE`
    /// (`auto` if it is unset), and VMClock mapped where readable.
    pub fn new() -> Config {
        Config { mode: linux::mode_from_environment().0, vmclock: true }
    }

    /// Sets the mode.
    pub fn mode(mut self, mode: Mode) -> Config {
        self.mode = mode;
        self
    }

    /// Sets whether VMClock may be mapped.
    pub fn vmclock(mut self, map: bool) -> Config {
        self.vmclock = map;
        self
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::new()
    }
}

/// Does the set-up that the first [`fill`] would do, and waits until the kernel is seeded.
///
/// Call it before a sandbox is entered: afterwards, only getrandom(2) is used.
///
/// # Errors
///
/// The errors of [`fill`].
pub fn init() -> Result<(), Error> {
    linux::init(None)
}

/// Does what [`init()`] does, with a configuration. A later call changes the configuration.
///
/// This function is not async-signal-safe. Requests under way in other threads finish in the mode
/// they began in.
///
/// # Errors
///
/// The errors of [`fill`].
pub fn init_with(config: Config) -> Result<(), Error> {
    linux::init(Some(config))
}

/// Makes the process checkpointable by CRIU: drops the VMClock page, every buffered byte, and
/// the vDSO.
///
/// Every later request is served afresh, so that each image restored from the checkpoint draws
/// different bytes. VMClock stays off until [`init_with`] maps it again. This function is not
/// async-signal-safe.
///
/// The image may be restored on another kernel, on which the vDSO's data lie elsewhere: no address
/// in them is loaded from here on. [`init_with`] takes them back on the same boot of the same
/// kernel, which `/proc` must show; on any other, keys come by system call for the life of the
/// process, in mode `hedged` or `strict`. No draw may be under way in another thread at the
/// checkpoint itself.
///
/// # Errors
///
/// If the kernel refuses to replace VMClock's mapping, nothing has changed. If the kernel refuses
/// to drop a page, all other pages are dropped, requests are served afresh, and the page's bytes
/// stay in the checkpoint until a second call succeeds. A page that cannot be locked again is not
/// an error; [`Status::page`] shows it.
pub fn quiesce() -> Result<(), Error> {
    linux::quiesce()
}

/// Discards every byte that this process has buffered. Requests that begin afterwards are served
/// from keys that the kernel is asked for anew.
///
/// This is what other generators call a reseed: a copy of this process's memory from before the
/// call says nothing about later bytes. It takes microseconds, and other threads may continue to
/// draw. No clone, fork or reseed of the kernel needs it. This function is not async-signal-safe.
///
/// # Errors
///
/// If the kernel refuses to drop a page, bytes buffered before may still be served. A page that
/// cannot be locked again (RLIMIT_MEMLOCK was lowered) is dropped, which is not an error;
/// [`Status::page`] shows it.
pub fn discard() -> Result<(), Error> {
    linux::discard()
}

/// Tests on demand what set-up tested: whether the cipher computes its known answers, and whether
/// the CPU's random instruction works.
///
/// Set-up chooses AES only after its known answer, and each word of the instruction is looked at
/// when it is drawn. So no program needs this function; a rule that asks for a test after a time,
/// or after a live migration to another CPU, is what it is for. Other threads may continue to draw.
///
/// The answers are those of NIST SP 800-38A, appendix F.5.5 (AES-256 in counter mode), or of RFC
/// 8439, section 2.3.2 (ChaCha20), and of the key derivation that DESIGN.md describes, on top of
/// the same cipher. From the instruction, where this process uses it, come sixteen words, none of
/// which may be 0, all ones, or the one before. Two draws of 32 bytes must differ.
///
/// ```
/// headwater::self_test()?;
/// # Ok::<(), headwater::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::SELF_TEST`] for a wrong answer: then this machine computes wrongly, and so may
/// everything else on it. Otherwise the errors of [`fill`].
pub fn self_test() -> Result<(), Error> {
    linux::self_test()?;
    let [one, two]: [[u8; 32]; 2] = [array()?, array()?];
    if one == two { Err(Error::SELF_TEST) } else { Ok(()) }
}

/// Text that every program and library with this crate contains, so that `headwater doctor` finds
/// the version of a file that it does not start. Set-up refers to it, or the linker would drop it.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(crate) const VERSION_MARK: &str =
    concat!("headwater-version=", env!("CARGO_PKG_VERSION"), "\n");

/// Returns the parts in use in this process, and the counters of its events.
pub fn status() -> Status {
    linux::status()
}

/// Returns a number that changes whenever kept random values must be thrown away: at a reseed of
/// the kernel, a clone of the VM, a fork, a restore of this process, [`discard`] and [`quiesce`].
/// `None` if this machine cannot detect clones of itself.
///
/// The number is no identity. Two copies of a machine or of a process may have the same one,
/// because each has moved on from the number that it was copied with, and by the same step. So
/// compare it with an earlier number of the same copy, and for inequality only.
///
/// It is as good as what it counts. It cannot see a clone whose hypervisor reports it wrongly (a
/// vmgenid that stays the same), nor a process that is restored with every page it had: CRIU before
/// 4.2, or Linux before 6.11, whose pages cannot be dropped. Call [`quiesce`] before such a dump.
/// And it says nothing about the quality of the bytes: a machine may detect clones and have no
/// fresh bits for them ([`Status::reason`]).
///
/// Async-signal-safe; takes a few loads. [`Stamp`] is the usual way to use it.
#[inline]
pub fn generation() -> Option<NonZeroU64> {
    linux::changes().filter(|changes| changes.is_complete).map(|changes| changes.number)
}

/// Returns how often this process, or its machine, was seen to be copied since the first call.
///
/// It serves generators that a program seeds, and means to keep: it moves at no fork, no reseed of
/// the kernel, no [`discard`] and no [`quiesce`], all of which move [`generation`]. Make the first
/// call before the copy, compare the count before each draw, and seed anew if it moved:
///
/// ```
/// # fn main() -> Result<(), headwater::Error> {
/// let (mut copies, mut state) = (headwater::copies(), 42_u64);
/// let mut draw = || -> Result<u64, headwater::Error> {
///     if copies != headwater::copies() {
///         (copies, state) = (headwater::copies(), headwater::u64()?);
///     }
///     state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
///     Ok(state >> 33)
/// };
/// # draw()?; Ok(()) }
/// ```
///
/// | copy | seen |
/// | --- | --- |
/// | process restored by CRIU 4.2 or later, Linux 6.11 or later | at the first call in the copy |
/// | machine with VMClock | at the first call in the copy; without its count of snapshots, a live migration counts too |
/// | machine with `headwater clones watch` running, and vmgenid or VMClock | as soon as the watcher has run; a start of the watcher counts too, because it has seen nothing before |
/// | machine with vmgenid alone | not seen: the kernel reseeds, as it does each minute |
/// | process restored with every page (CRIU before 4.2, Linux before 6.11, gVisor); machine without a device | not seen |
///
/// Where /proc does not show the process, a page that the kernel dropped under memory pressure
/// counts as a copy, and so does a fork that bypasses the C library, from a parent that has ended.
///
/// The number is no identity: two copies of one original have the same. Async-signal-safe; takes a
/// few loads, and after a fork or a copy two reads of /proc.
#[inline]
pub fn copies() -> u64 {
    linux::copies::copies()
}

#[inline(always)]
fn as_uninit(buf: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    #[expect(unsafe_code)]
    // SAFETY: u8 and MaybeUninit<u8> have the same layout, and no code that takes this reference
    // ever writes an uninitialised byte: `linux::fill` writes random bytes or zeros.
    unsafe {
        &mut *(core::ptr::from_mut(buf) as *mut [MaybeUninit<u8>])
    }
}

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
