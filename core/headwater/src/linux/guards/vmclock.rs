//! The hypervisor's VMClock page (`/dev/vmclock0`, Linux 6.13; `include/uapi/linux/vmclock-abi.h`).
//!
//! Its `disruption_marker` changes when a snapshot is loaded and on live migration, and it does so
//! before the virtual CPUs run again: the one clone signal with no window. Mixing it into a key
//! would not make clones differ, because it says *that* something happened, not to which clone. So
//! it is compared, never mixed into anything.
//!
//! Bit 8 of its flags (VM_GEN_COUNTER_PRESENT, Linux 7.0) is the hypervisor's promise to count each
//! load of a snapshot in `vm_generation_counter`. But without the bit the page may be there for the
//! sake of the clock alone: the ABI ties the marker to disruptions of time, and a hypervisor that
//! forks a running machine disturbs no clock. The page is still mapped and its marker compared,
//! since that costs nothing, but it does not count as evidence ([`Clock::reports_clones`]).
//!
//! Why not compare the counter itself at each draw? The ABI says of a loaded snapshot that the
//! disruption is "also signalled through the `disruption_marker` field", so that with the bit set
//! the marker moves whenever the counter does: both stand in one page, written before the virtual
//! CPUs run. So a second load at each draw would see nothing that the first does not. The marker
//! moves at live migrations too, but that costs no more than one refill.

#![allow(unsafe_code)]

use crate::linux::failpoint::{Force, forced};
use crate::linux::sync::once_ptr::OncePtr;
use crate::linux::sys::{self, Errno, Fd};
use crate::status::Vmclock;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering};

const MAGIC: u32 = 0x4B4C_4356; // "VCLK"
const DISRUPTION_MARKER: usize = 16;
const FLAGS: usize = 24;
const FLAG_VM_GENERATION: u64 = 1 << 8;
const VM_GENERATION: usize = 104;
/// Loads slower than this come from an uncached mapping and would cost more than the draw.
const SLOWEST_LOAD_NS: u64 = 10;

/// The marker where no VMClock is mapped: the only guard that may be 0.
static NO_MARKER: AtomicU64 = AtomicU64::new(0);

const fn none() -> *mut AtomicU64 {
    (&raw const NO_MARKER).cast_mut()
}

/// Returns the page that a marker lies in.
fn page_of(marker: *mut AtomicU64) -> *mut u8 {
    marker.cast::<u8>().wrapping_sub(DISRUPTION_MARKER)
}

/// The mapping, if there is one. In this order: a section reads the marker's address at offset 0.
#[repr(C)]
pub(crate) struct Clock {
    /// The marker in the mapped page, or [`NO_MARKER`].
    marker: OncePtr<AtomicU64>,
    /// A `Vmclock` without its values.
    state: AtomicU8,
}

const STATES: [Vmclock; 7] = [
    Vmclock::Mapped { marker: 0, vm_generation: None },
    Vmclock::Absent,
    Vmclock::Unreadable,
    Vmclock::Invalid,
    Vmclock::Slow,
    Vmclock::Off,
    Vmclock::Quiesced,
];

fn index(state: Vmclock) -> u8 {
    STATES.iter().position(|known| known.name() == state.name()).unwrap_or(1) as u8
}

impl Clock {
    pub(crate) const fn off() -> Clock {
        Clock { marker: OncePtr(AtomicPtr::new(none())), state: AtomicU8::new(5) }
    }

    /// Maps the device if it can be read, unless it is mapped already.
    pub(crate) fn map_device(&self) {
        if self.is_mapped() {
            return;
        }
        let state = match map() {
            Ok(page) => {
                // SAFETY: within the page that was mapped, and aligned.
                let marker = unsafe { page.add(DISRUPTION_MARKER) }.cast();
                if self.marker.publish(none(), marker).is_err() {
                    // SAFETY: another thread was quicker, and no thread has seen this mapping.
                    unsafe { sys::munmap(page, sys::page_size()) };
                }
                STATES[0]
            }
            Err(state) => state,
        };
        self.state.store(index(state), Ordering::Relaxed);
    }

    /// Unmaps the page of a process that was never published.
    pub(crate) fn discard(&self) {
        if let Some(page) = self.page() {
            // SAFETY: no other thread has seen it.
            unsafe { sys::munmap(page, sys::page_size()) };
        }
    }

    /// Replaces the mapping by a page of zeros, in place. To unmap it would be simpler, but a
    /// thread that reads it at that moment would die. This way the thread continues, and finds that
    /// something changed.
    pub(crate) fn unmap(&self, state: Vmclock) -> Result<(), Errno> {
        self.marker.withdraw(none(), |marker| {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            let (page, len) = (page_of(marker), sys::page_size());
            // SAFETY: the page is our own mapping, read through atomics only, and zeros are a valid
            // content.
            unsafe { sys::mmap(page, len, libc::PROT_READ, flags, None) }.map(drop)
        })?;
        self.state.store(index(state), Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn is_mapped(&self) -> bool {
        self.page().is_some()
    }

    /// Returns whether the hypervisor promises to change the page when a snapshot is loaded.
    pub(crate) fn reports_clones(&self) -> bool {
        self.page().is_some_and(counts_generations)
    }

    /// Returns a number that changes when a snapshot is loaded: the hypervisor's count of that, or
    /// the marker where it has none, which moves at live migrations too. Returns None without a
    /// page.
    #[inline]
    pub(crate) fn copies(&self) -> Option<u64> {
        let page = self.page()?;
        if !counts_generations(page) {
            return Some(self.marker().load(Ordering::Acquire));
        }
        // SAFETY: mapped for ever; 112 bytes of the page are the structure. Volatile, because the
        // hypervisor writes it.
        Some(unsafe { page.add(VM_GENERATION).cast::<u64>().read_volatile() })
    }

    /// Returns the mapped page.
    fn page(&self) -> Option<*mut u8> {
        let marker = self.marker.get();
        (marker != none()).then(|| page_of(marker))
    }

    /// Returns the marker; a constant 0 while no page is mapped.
    #[inline(always)]
    pub(crate) fn marker(&self) -> &AtomicU64 {
        // SAFETY: `NO_MARKER`, or an aligned field of a page that stays mapped for ever (`unmap`
        // replaces its content only); atomic because the hypervisor writes it.
        unsafe { &*self.marker.get_unordered() }
    }

    /// Returns the state. The mapping comes first: another thread may have mapped it since the
    /// state was stored.
    pub(crate) fn status(&self) -> Vmclock {
        let Some(page) = self.page() else {
            return match STATES.get(usize::from(self.state.load(Ordering::Relaxed))) {
                Some(Vmclock::Mapped { .. }) => Vmclock::Quiesced, // just now, by another thread
                Some(&other) => other,
                None => Vmclock::Absent, // not reached: only values of `index` are stored
            };
        };
        // SAFETY: mapped for ever; 112 bytes of the page are the structure.
        let vm_generation = unsafe { page.add(VM_GENERATION).cast::<u64>().read_volatile() };
        Vmclock::Mapped {
            marker: self.marker().load(Ordering::Acquire),
            vm_generation: counts_generations(page).then_some(vm_generation),
        }
    }
}

/// Returns whether the mapped page has the flag VM_GEN_COUNTER_PRESENT.
fn counts_generations(page: *mut u8) -> bool {
    // SAFETY: only pages from `map` get here, and they stay mapped for ever; an aligned field of
    // the structure, volatile because the hypervisor writes it.
    let flags = unsafe { page.add(FLAGS).cast::<u64>().read_volatile() };
    flags & FLAG_VM_GENERATION != 0
}

fn map() -> Result<*mut u8, Vmclock> {
    let device = Fd::open_read(c"/dev/vmclock0").map_err(|Errno(errno)| match errno {
        libc::EACCES | libc::EPERM => Vmclock::Unreadable,
        _ => Vmclock::Absent,
    })?;
    // SAFETY: a new mapping at an address that the kernel picks. The descriptor is closed at once.
    let page = unsafe {
        sys::mmap(null_mut(), sys::page_size(), libc::PROT_READ, libc::MAP_SHARED, Some(&device))
    };
    let page = page.map_err(|_| Vmclock::Invalid)?;
    // SAFETY: the mapping is a page long. (A regular file in the device's place would have to be as
    // long.)
    let (magic, version) =
        unsafe { (page.cast::<u32>().read_volatile(), page.add(8).cast::<u16>().read_volatile()) };
    let state = if magic != MAGIC || version != 1 {
        Vmclock::Invalid
    } else if forced(Force::VmclockSlow) || fastest_load_ns(page) > SLOWEST_LOAD_NS {
        Vmclock::Slow
    } else {
        return Ok(page);
    };
    // SAFETY: no other thread has seen the mapping.
    unsafe { sys::munmap(page, sys::page_size()) };
    Err(state)
}

/// Returns the time of the fastest of eight rounds of 64 loads. The fastest one, because an
/// uncached page slows all rounds, but an interrupt only one.
fn fastest_load_ns(page: *const u8) -> u64 {
    const LOADS: u64 = 64;
    let round = || {
        let begin = sys::monotonic_ns();
        for _ in 0..LOADS {
            // SAFETY: within the mapped page, aligned.
            unsafe { page.add(DISRUPTION_MARKER).cast::<u64>().read_volatile() };
        }
        sys::monotonic_ns().wrapping_sub(begin) / LOADS
    };
    (0..8).map(|_| round()).min().unwrap_or(u64::MAX)
}
