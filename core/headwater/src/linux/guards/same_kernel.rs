//! The kernel under this process: the one of the set-up, or another one after a restore.
//!
//! CRIU restores a process on another kernel. The vDSO's code stays where it was, patched where
//! CRIU knows a function; the data that it reads (`[vvar]`) may be elsewhere or nowhere, so that a
//! load of the reseed generation's old address, or a call of a function that CRIU does not know,
//! ends in SIGSEGV. So `quiesce()` leaves the kernel: no address of the vDSO's data is loaded, and
//! no function that loads one is called, until the same boot of the same kernel answers again. On
//! another kernel, or where /proc does not say, that is never, and keys come by system call for the
//! life of the process: a second search would have to call the very function that may be broken.

use super::read_file;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// The kernel whose vDSO data this process uses.
pub(crate) struct Kernel {
    /// `quiesce()` was called, and the same kernel has not been seen since.
    left: AtomicBool,
    /// The kernel's boot identifier when it was left; 0 if it could not be read.
    boot: [AtomicU64; 2],
}

impl Kernel {
    pub(crate) const fn here() -> Kernel {
        Kernel { left: AtomicBool::new(false), boot: [const { AtomicU64::new(0) }; 2] }
    }

    /// Leaves the kernel. If one was left before, that one stays the one to come back to, because
    /// the process may have been restored on another meanwhile, and its identifier must not take
    /// the first one's place.
    pub(crate) fn leave(&self) {
        if !self.is_left() {
            for (part, now) in self.boot.iter().zip(boot()) {
                part.store(now, SeqCst);
            }
        }
        self.left.store(true, SeqCst);
    }

    /// Comes back, if this still is the same kernel.
    pub(crate) fn come_back(&self) -> bool {
        let left = self.boot.each_ref().map(|part| part.load(SeqCst));
        let same = left != [0; 2] && boot() == left;
        if same {
            self.left.store(false, SeqCst);
        }
        same
    }

    #[inline]
    pub(crate) fn is_left(&self) -> bool {
        self.left.load(SeqCst)
    }
}

/// Returns the random identifier of this boot; zeros if it cannot be read.
fn boot() -> [u64; 2] {
    let mut text = [0; 64];
    let text = read_file(c"/proc/sys/kernel/random/boot_id", &mut text).unwrap_or_default();
    number(text).map_or([0; 2], |id| [(id >> 64) as u64, id as u64])
}

/// Returns a UUID as a number; None if the text is not a UUID.
fn number(text: &[u8]) -> Option<u128> {
    let digits = text.trim_ascii().iter().filter(|&&byte| byte != b'-');
    let (mut id, mut count) = (0_u128, 0);
    for &digit in digits {
        id = id << 4 | u128::from(char::from(digit).to_digit(16)?);
        count += 1;
    }
    (count == 32).then_some(id)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn boot_identifiers_are_read() {
        let id = Some(0x0fcf_25a1_e9d5_4f9b_9c9f_9406_386f_0a52);
        assert_eq!(number(b"0fcf25a1-e9d5-4f9b-9c9f-9406386f0a52\n"), id);
        for broken in [&b""[..], b"\n", b"0fcf25a1", b"0fcf25a1-e9d5-4f9b-9c9f-9406386f0a5g\n"] {
            assert_eq!(number(broken), None);
        }
    }
}
