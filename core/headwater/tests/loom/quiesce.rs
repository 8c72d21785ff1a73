//! VMClock's page is mapped and unmapped while other threads read the marker.

use crate::every_order;
use crate::linux::atomic::AtomicPtr;
use crate::linux::sync::once_ptr::OncePtr;
use core::ptr::from_ref;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering::Relaxed};
use loom::thread;

/// The value that the hypervisor wrote.
const MARKER: u64 = 7;

/// The state of `vmclock::Clock`, with room for the results of two calls of `map`.
struct Clock {
    marker: OncePtr<AtomicU64>,
    none: AtomicU64,
    mapped: [AtomicU64; 2],
}

impl Clock {
    fn off() -> Arc<Clock> {
        let clock = Arc::new(Clock {
            marker: OncePtr(AtomicPtr::new(core::ptr::null_mut())),
            none: AtomicU64::new(0),
            mapped: [AtomicU64::new(0), AtomicU64::new(0)],
        });
        clock.marker.publish(core::ptr::null_mut(), clock.none()).unwrap();
        clock
    }

    fn none(&self) -> *mut AtomicU64 {
        from_ref(&self.none).cast_mut()
    }

    /// Maps as `Clock::map_device`: a mapping that lost the race is unmapped, which here makes it
    /// all ones.
    fn map(&self, page: usize) {
        if self.marker.get() != self.none() {
            return;
        }
        let page = &self.mapped[page];
        page.store(MARKER, Relaxed);
        if self.marker.publish(self.none(), from_ref(page).cast_mut()).is_err() {
            page.store(u64::MAX, Relaxed);
        }
    }

    /// Unmaps as `Clock::unmap`: zeros in place of the mapping, then no marker. After its return
    /// the page that was mapped before is gone, though another thread may have done it.
    fn unmap(&self) {
        let blank = |marker: *mut AtomicU64| {
            // SAFETY: a field of this clock.
            unsafe { (*marker).store(0, Relaxed) };
            Ok::<(), ()>(())
        };
        self.marker.withdraw(self.none(), blank).unwrap();
        assert_eq!(self.mapped[0].load(Relaxed), 0);
    }

    /// Compares as `PageRef::agrees`.
    fn read(&self) -> u64 {
        // SAFETY: a field of this clock.
        unsafe { (*self.marker.get_unordered()).load(Relaxed) }
    }
}

/// A page filled under the marker is void from the moment that quiesce has returned; until then a
/// reader sees the marker or zero, and never a page that is gone.
#[test]
fn a_reader_under_quiesce_sees_the_marker_and_then_zero() {
    every_order(|| {
        let clock = Clock::off();
        clock.map(0);
        let (reader, quiescer) = (clock.clone(), clock.clone());
        let quiescing = thread::spawn(move || {
            quiescer.unmap();
            assert_eq!(quiescer.read(), 0);
        });
        let reading = thread::spawn(move || {
            let seen = [reader.read(), reader.read()];
            assert!(matches!(seen, [MARKER, MARKER | 0] | [0, 0]), "{seen:?}");
        });
        quiescing.join().unwrap();
        assert_eq!(clock.read(), 0);
        reading.join().unwrap();
    });
}

#[test]
fn two_that_map_at_once_share_one_mapping_and_unmap_the_other() {
    every_order(|| {
        let clock = Clock::off();
        let (other, reader) = (clock.clone(), clock.clone());
        let mapping = thread::spawn(move || other.map(1));
        let reading = thread::spawn(move || assert!(matches!(reader.read(), 0 | MARKER)));
        clock.map(0);
        assert_eq!(clock.read(), MARKER);
        mapping.join().unwrap();
        reading.join().unwrap();
        assert!(clock.mapped.iter().filter(|page| page.load(Relaxed) == MARKER).count() == 1);
    });
}

/// Whatever the order, a device page that is still mapped at the end is the one in use; a second
/// one, out of sight, would stand in the way of the next checkpoint.
#[test]
fn two_that_quiesce_and_one_that_maps_leave_no_mapping_out_of_sight() {
    every_order(|| {
        let clock = Clock::off();
        clock.map(0);
        let (second, third) = (clock.clone(), clock.clone());
        let quiescing = thread::spawn(move || second.unmap());
        let mapping = thread::spawn(move || third.map(1));
        clock.unmap();
        quiescing.join().unwrap();
        mapping.join().unwrap();
        let mapped = clock.mapped.iter().filter(|page| page.load(Relaxed) == MARKER).count();
        assert_eq!(mapped, usize::from(clock.marker.get() != clock.none()));
        assert_eq!(clock.read() == MARKER, mapped == 1);
    });
}
