//! The page in which `headwater clones watch` counts the copies of this machine.
//!
//! A copy of a machine is seen by its kernel's reseed generation, or by VMClock. Some processes can
//! read neither: in a container /dev/vmclock0 is not there, and /sys is masked, so that nothing
//! says whether the kernel hears of copies at all. The watcher reads both as root and counts in a
//! page of /run that every process may map. On machines without any device the page is the only
//! thing that can move, because the watcher then follows the wall clock.
//!
//! The page enters the public change counter and no draw: what voids buffered bytes has to come
//! before the first draw of a copy, and the watcher comes as soon as it runs.
//!
//! Why is the file looked for at set-up only, and not again? Because the promise of PLATFORM.md is
//! that after set-up the only system call is getrandom(2), and a sandbox may kill for another.

#![allow(unsafe_code)]

use crate::linux::sync::once_ptr::OncePtr;
use crate::linux::sync::watch_words::{WatchWords, Watched};
use crate::linux::sys::{self, Errno, Fd};
use crate::status::WatchPage;
use core::ffi::CStr;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};

/// The file.
pub const PATH: &CStr = c"/run/headwater/copies";
/// The first 8 bytes of the file.
pub const MAGIC: [u8; 8] = *b"hwcopies";
/// The version of the layout, in the 4 bytes after them.
pub const VERSION: u32 = 1;
/// The length of the file. The bytes after the words are zero.
pub const LEN: usize = 64;
/// Bits of the signals: the kernel writes a line at each copy (a bound vmgenid).
pub const BY_KERNEL: u64 = 1;
/// The hypervisor notifies of each change of VMClock's page.
pub const BY_VMCLOCK: u64 = 2;
/// The wall clock is stepped after a copy, at some time, by some program.
pub const BY_WALL_CLOCK: u64 = 4;
/// A connection to the host ends in a copy, which is found within a second.
pub const BY_VSOCK: u64 = 8;
/// The signals that come with every copy, and soon.
const EXACT: u64 = BY_KERNEL | BY_VMCLOCK | BY_VSOCK;

/// Marks a count of repairs alone.
const OF_REPAIRS: u64 = 1 << 63;

/// The start of the file.
#[repr(C)]
#[derive(Debug)]
pub struct Layout {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`VERSION`].
    pub version: u32,
    /// The words that change.
    pub words: WatchWords,
}

/// The words where no page is mapped.
static NO_WORDS: WatchWords = WatchWords {
    owner: AtomicU32::new(0),
    copies: AtomicU64::new(0),
    signals: AtomicU64::new(0),
    repairs: AtomicU64::new(0),
};

const fn none() -> *mut WatchWords {
    (&raw const NO_WORDS).cast_mut()
}

const STATES: [WatchPage; 5] = [
    WatchPage::Mapped { copies: 0, is_alive: false, is_exact: false },
    WatchPage::Absent,
    WatchPage::Refused,
    WatchPage::Off,
    WatchPage::Quiesced,
];

/// The mapping, if there is one.
pub(crate) struct WatchGuard {
    words: OncePtr<WatchWords>,
    /// A `WatchPage` without its values.
    state: AtomicU8,
}

impl WatchGuard {
    pub(crate) const fn off() -> WatchGuard {
        WatchGuard { words: OncePtr(AtomicPtr::new(none())), state: AtomicU8::new(3) }
    }

    /// Maps the page unless it is mapped already.
    pub(crate) fn map(&self) {
        if self.words.get() != none() {
            return;
        }
        let state = match map() {
            Ok(words) => {
                if self.words.publish(none(), words).is_err() {
                    // SAFETY: another thread was quicker, so no thread has seen this mapping.
                    unsafe { sys::munmap(page_of(words), sys::page_size()) };
                }
                STATES[0]
            }
            Err(state) => state,
        };
        self.state.store(index(state), Ordering::Relaxed);
    }

    /// Unmaps the page of a process that was never published.
    pub(crate) fn discard(&self) {
        let words = self.words.get();
        if words != none() {
            // SAFETY: no other thread has seen it.
            unsafe { sys::munmap(page_of(words), sys::page_size()) };
        }
    }

    /// Replaces the mapping by a page of zeros, as [`Clock::unmap`](super::vmclock::Clock::unmap)
    /// does and for the same reason. A checkpoint must not name a file that the machine of the
    /// restore may lack.
    pub(crate) fn unmap(&self, state: WatchPage) -> Result<(), Errno> {
        self.words.withdraw(none(), |words| {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            let (page, len) = (page_of(words), sys::page_size());
            // SAFETY: the page is our own mapping, read through atomics only, and zeros are a valid
            // content.
            unsafe { sys::mmap(page, len, libc::PROT_READ, flags, None) }.map(drop)
        })?;
        self.state.store(index(state), Ordering::Relaxed);
        Ok(())
    }

    /// Returns the words now; zeros without a page.
    pub(crate) fn now(&self) -> Watched {
        // SAFETY: `NO_WORDS`, or the words of a page that stays mapped for ever (`unmap` replaces
        // its content only); atomics, because another process writes them. The file stays as long
        // as it was when it was mapped unless root truncates it, which no watcher does.
        unsafe { &*self.words.get() }.now()
    }

    /// Returns a number that moves with copies alone; None without a page. If the watcher follows
    /// the wall clock, which programs step for other reasons too, only what a repair has counted is
    /// certain. The two counts have no value in common, because the next watcher may have other
    /// signals: a repair would go unseen if it made one count what the other was.
    #[inline]
    pub(crate) fn copies(&self) -> Option<u64> {
        if self.words.get() == none() {
            return None;
        }
        let now = self.now();
        Some(if now.signals & EXACT != 0 { now.copies } else { now.repairs | OF_REPAIRS })
    }

    pub(crate) fn status(&self) -> WatchPage {
        if self.words.get() == none() {
            return match STATES.get(usize::from(self.state.load(Ordering::Relaxed))) {
                // Just now, by another thread.
                Some(WatchPage::Mapped { .. }) => WatchPage::Quiesced,
                Some(&other) => other,
                None => WatchPage::Absent, // not reached: only values of `index` are stored
            };
        }
        let now = self.now();
        WatchPage::Mapped {
            copies: now.copies,
            is_alive: now.is_alive,
            is_exact: now.reports_copies(),
        }
    }
}

impl Watched {
    /// Returns whether a copy of the machine will be counted soon after it was made.
    pub(crate) fn reports_copies(self) -> bool {
        self.is_alive && self.signals & EXACT != 0
    }
}

fn index(state: WatchPage) -> u8 {
    STATES.iter().position(|known| known.name() == state.name()).unwrap_or(1) as u8
}

/// Returns the page that the words lie in.
fn page_of(words: *mut WatchWords) -> *mut u8 {
    words.cast::<u8>().wrapping_sub(core::mem::offset_of!(Layout, words))
}

/// Maps the file, if it is one that root or this user keeps.
fn map() -> Result<*mut WatchWords, WatchPage> {
    let file = Fd::open_read(PATH).map_err(|Errno(errno)| match errno {
        libc::ENOENT | libc::ENOTDIR => WatchPage::Absent,
        _ => WatchPage::Refused,
    })?;
    // Another user's page could stand still for ever and hide a copy, and could be made shorter,
    // which ends a reader in SIGBUS.
    if !file.is_kept_by_a_trusted_user(LEN) {
        return Err(WatchPage::Refused);
    }
    let len = sys::page_size();
    // SAFETY: a new mapping at an address that the kernel picks. The descriptor is closed at once.
    let page =
        unsafe { sys::mmap(null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, Some(&file)) }
            .map_err(|_| WatchPage::Refused)?;
    let layout: *const Layout = page.cast_const().cast();
    // SAFETY: the mapping is page-aligned, the file has `LEN` bytes, and the layout lies within.
    // Volatile, because another process may write.
    let (magic, version) = unsafe {
        (
            (&raw const (*layout).magic).read_volatile(),
            (&raw const (*layout).version).read_volatile(),
        )
    };
    if magic != MAGIC || version != VERSION {
        // SAFETY: no other thread has seen the mapping.
        unsafe { sys::munmap(page, len) };
        return Err(WatchPage::Refused);
    }
    // SAFETY: within the page.
    Ok(unsafe { &raw const (*layout).words }.cast_mut())
}

const _: () = assert!(size_of::<Layout>() <= LEN);
