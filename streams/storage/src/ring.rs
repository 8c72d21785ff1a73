//! Several pieces of one thread in flight at a time, by io_uring(7).
//!
//! A disk answers sooner if it knows the next requests. Without a ring, each request needs a thread
//! of its own. The ring only starts requests: a piece that it cannot finish, for whatever reason,
//! is done again by [`Channel`](crate::io::Channel), whose errors name the place.

#![allow(unsafe_code)]

use crate::buffer::Buffer;
use io_uring::{IoUring, opcode, types::Fd};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::sync::OnceLock;

/// Pieces in flight for each thread: 8 MiB, which keeps NVMe disks and arrays busy.
pub(crate) const DEPTH: usize = 8;

/// The direction of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// A ring with its buffers.
pub(crate) struct Ring {
    ring: IoUring,
    slots: Vec<Slot>,
    in_flight: usize,
}

struct Slot {
    buffer: Buffer,
    /// The range in flight. Until its completion the kernel owns the buffer's bytes.
    range: Option<Range<u64>>,
}

/// A request that has ended.
pub(crate) struct Completion {
    pub(crate) slot: usize,
    pub(crate) range: Range<u64>,
    /// All bytes were read or written.
    pub(crate) is_whole: bool,
}

impl Ring {
    /// Reports whether this process may use rings: kernels before 5.1, settings and seccomp filters
    /// refuse them.
    ///
    /// A filter may allow a ring and refuse its use, so a request that does nothing has to end.
    /// Otherwise the first real one would wait for ever.
    pub(crate) fn is_available() -> bool {
        static AVAILABLE: OnceLock<bool> = OnceLock::new();
        *AVAILABLE.get_or_init(|| IoUring::new(2).is_ok_and(|mut ring| works(&mut ring)))
    }

    /// Returns the number of pieces that can be in flight.
    pub(crate) fn depth(&self) -> usize {
        DEPTH
    }

    /// Makes a ring for pieces of up to `piece` bytes.
    pub(crate) fn new(piece: usize) -> io::Result<Ring> {
        let ring = IoUring::new(DEPTH as u32)?;
        let slots = (0..DEPTH).map(|_| Slot { buffer: Buffer::new(piece), range: None }).collect();
        Ok(Ring { ring, slots, in_flight: 0 })
    }

    /// Returns the bytes of a slot for a range. The slot has nothing in flight.
    pub(crate) fn bytes(&mut self, slot: usize, range: &Range<u64>) -> &mut [u8] {
        let slot = &mut self.slots[slot];
        assert!(slot.range.is_none(), "the kernel owns the bytes");
        slot.buffer.at(range.start, (range.end - range.start) as usize)
    }

    /// Starts a request for the whole range, from or into the bytes of the slot.
    pub(crate) fn start(
        &mut self,
        slot: usize,
        range: &Range<u64>,
        file: &File,
        direction: Direction,
    ) -> io::Result<()> {
        let bytes = self.bytes(slot, range);
        let (address, len) = (bytes.as_mut_ptr(), bytes.len() as u32);
        let file = Fd(file.as_raw_fd());
        let entry = match direction {
            Direction::Read => opcode::Read::new(file, address, len).offset(range.start).build(),
            Direction::Write => opcode::Write::new(file, address, len).offset(range.start).build(),
        };
        let entry = entry.user_data(slot as u64);
        // SAFETY: the bytes belong to the slot's buffer. Until the completion `range` is set, so
        // that `bytes` returns no reference to them, and `Drop` waits before the buffer is freed.
        // The caller's file is open during the call; the kernel holds its own reference after it.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.map_err(|_| io::Error::from(io::ErrorKind::WouldBlock))?;
        // From here on the entry may start at any call of `submit`.
        self.slots[slot].range = Some(range.clone());
        self.in_flight += 1;
        // An interrupted or refused submission leaves the entry for the next `submit_and_wait`.
        let _ = self.ring.submit();
        Ok(())
    }

    /// Returns a request that has ended, if there is one.
    pub(crate) fn ended(&mut self) -> Option<Completion> {
        let entry = self.ring.completion().next()?;
        let slot = entry.user_data() as usize;
        let range = self.slots[slot].range.take()?;
        self.in_flight -= 1;
        let is_whole = u64::try_from(entry.result()) == Ok(range.end - range.start);
        Some(Completion { slot, range, is_whole })
    }

    /// Waits for a request to end. Returns nothing if none is in flight.
    pub(crate) fn wait(&mut self) -> Option<Completion> {
        if self.in_flight == 0 {
            return None;
        }
        loop {
            if let Some(ended) = self.ended() {
                return Some(ended);
            }
            // Errors are those of a signal or of a moment without memory: the requests are queued.
            if self.ring.submit_and_wait(1).is_err() {
                std::thread::yield_now();
            }
        }
    }
}

/// Reports whether a request that does nothing ends.
fn works(ring: &mut IoUring) -> bool {
    let nothing = opcode::Nop::new().build();
    // SAFETY: the request names no memory and no file.
    if unsafe { ring.submission().push(&nothing) }.is_err() {
        return false;
    }
    loop {
        match ring.submit_and_wait(1) {
            Ok(_) => return ring.completion().next().is_some(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}

impl Drop for Ring {
    /// Waits for all requests: the kernel must not write to a buffer that is free again.
    fn drop(&mut self) {
        while self.wait().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    fn ring() -> Option<Ring> {
        let ring = Ring::new(8192);
        if let Err(error) = &ring {
            eprintln!("skipped: io_uring is refused here ({error}), so rings stay untested");
        }
        ring.ok()
    }

    #[test]
    fn pieces_in_flight_are_read_and_written_at_their_places() {
        let Some(mut ring) = ring() else { return };
        let file = tempfile::tempfile().unwrap();
        let range = |slot: usize| slot as u64 * 10_000..slot as u64 * 10_000 + 5000;
        for slot in 0..DEPTH {
            ring.bytes(slot, &range(slot)).fill(slot as u8 + 1);
            ring.start(slot, &range(slot), &file, Direction::Write).unwrap();
        }
        let mut ended = Vec::new();
        while let Some(completion) = ring.wait() {
            assert!(completion.is_whole);
            assert_eq!(completion.range, range(completion.slot));
            ended.push(completion.slot);
        }
        ended.sort_unstable();
        assert_eq!(ended, (0..DEPTH).collect::<Vec<_>>());
        for slot in 0..DEPTH {
            let mut bytes = [0; 5000];
            file.read_exact_at(&mut bytes, range(slot).start).unwrap();
            assert_eq!(bytes, [slot as u8 + 1; 5000]);
            ring.start(slot, &range(slot), &file, Direction::Read).unwrap();
        }
        while let Some(completion) = ring.wait() {
            let expected = [completion.slot as u8 + 1; 5000];
            assert_eq!(*ring.bytes(completion.slot, &completion.range), expected);
        }
    }

    #[test]
    fn short_and_failed_requests_are_not_whole() {
        let Some(mut ring) = ring() else { return };
        let file = tempfile::tempfile().unwrap();
        file.set_len(100).unwrap();
        ring.start(0, &(0..200), &file, Direction::Read).unwrap();
        assert!(!ring.wait().unwrap().is_whole);
        let read_only = File::open("/proc/self/exe").unwrap();
        ring.start(1, &(0..200), &read_only, Direction::Write).unwrap();
        assert!(!ring.wait().unwrap().is_whole);
        assert!(ring.wait().is_none());
    }

    #[test]
    #[should_panic = "the kernel owns the bytes"]
    fn bytes_in_flight_are_out_of_reach() {
        let Some(mut ring) = ring() else { panic!("the kernel owns the bytes") };
        let (reader, _writer) = io::pipe().unwrap();
        ring.start(0, &(0..8), &File::from(std::os::fd::OwnedFd::from(reader)), Direction::Read)
            .unwrap();
        // A read of an empty pipe never ends, and `Drop` would wait for it.
        let mut ring = std::mem::ManuallyDrop::new(ring);
        ring.bytes(0, &(0..8));
    }
}
