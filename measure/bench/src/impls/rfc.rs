//! The table of the kernel RFC that proposed reseed generations for user space: u32 draws, each by
//! a direct call or out of a small pool that its owner throws away when the kernel has reseeded.
//!
//! The pool is the RFC's, for comparison. It checks before it serves and not after, so that an
//! event between the two is missed; headwater's own pools check on both sides.

use crate::draw::work::{Drawn, Generator};
use crate::impls::{self, Implementation};
#[cfg(target_os = "linux")]
use crate::impls::{Syscall, VdsoState};
use headwater::{Freshness, Stamp};

/// Draws for which each row's seconds are reported, unless `--rounds` says otherwise.
pub(crate) const ROUNDS: u32 = 100;
/// Draws in one round.
pub(crate) const CALLS: u64 = 10_000;

#[cfg(target_os = "linux")]
const POOLED_SYSCALL: Implementation = Implementation {
    name: "getrandom-syscall[pool]",
    open: &|| Ok(Box::new(Pool::new(Syscall::new()?))),
    ..impls::SYSCALL
};

#[cfg(target_os = "linux")]
const POOLED_VDSO: Implementation = Implementation {
    name: "getrandom-vdso[pool]",
    open: &|| Ok(Box::new(Pool::new(VdsoState::new()?))),
    ..impls::VDSO
};

/// The RFC's four rows, and headwater's.
pub(crate) const ROWS: &[&Implementation] = &[
    #[cfg(target_os = "linux")]
    &impls::SYSCALL,
    #[cfg(target_os = "linux")]
    &impls::VDSO,
    #[cfg(target_os = "linux")]
    &POOLED_SYSCALL,
    #[cfg(target_os = "linux")]
    &POOLED_VDSO,
    &impls::HEADWATER,
];

/// Returns the title of a row in the table.
pub(crate) fn title(name: &str) -> &str {
    match name {
        "getrandom-syscall" => "direct syscall",
        "getrandom-vdso" => "direct vDSO",
        "getrandom-syscall[pool]" => "pooled over the syscall",
        "getrandom-vdso[pool]" => "pooled over the vDSO",
        "headwater" => "headwater::u32",
        other => other,
    }
}

const POOL_BYTES: usize = 512;

/// A user's buffer in front of a source, as fresh as a [`Stamp`] can show.
struct Pool<G> {
    source: G,
    stamp: Stamp,
    bytes: [u8; POOL_BYTES],
    /// Bytes not yet served: the last ones of `bytes`.
    left: usize,
    discarded: u64,
}

impl<G: Generator> Pool<G> {
    fn new(source: G) -> Pool<G> {
        Pool { source, stamp: Stamp::new(), bytes: [0; POOL_BYTES], left: 0, discarded: 0 }
    }

    /// Serves one draw, given the freshness that the stamp reports.
    #[inline]
    fn serve(&mut self, freshness: Freshness, buf: &mut [u8]) -> Drawn {
        if freshness != Freshness::Fresh {
            self.discarded += self.left as u64;
            self.bytes.fill(0);
            self.left = 0;
        }
        // Without a detector of events the pool may keep no bytes, so it draws only the bytes of
        // this request.
        if freshness == Freshness::Unknown || buf.len() > POOL_BYTES {
            return self.source.fill(buf);
        }
        if self.left < buf.len() {
            self.source.fill(&mut self.bytes)?;
            self.left = POOL_BYTES;
        }
        let start = POOL_BYTES - self.left;
        let served = &mut self.bytes[start..start + buf.len()];
        buf.copy_from_slice(served);
        served.fill(0);
        self.left -= buf.len();
        Ok(())
    }
}

impl<G: Generator> Generator for Pool<G> {
    #[inline]
    fn fill(&mut self, buf: &mut [u8]) -> Drawn {
        let freshness = self.stamp.check();
        self.serve(freshness, buf)
    }

    fn discarded_bytes(&self) -> Option<u64> {
        Some(self.discarded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out 1, 2, 3, ... and counts what was drawn.
    struct Counting(u64);

    impl Generator for Counting {
        fn fill(&mut self, buf: &mut [u8]) -> Drawn {
            for byte in buf {
                self.0 += 1;
                *byte = self.0 as u8;
            }
            Ok(())
        }
    }

    fn draw(pool: &mut Pool<Counting>, freshness: Freshness) -> [u8; 4] {
        let mut bytes = [0; 4];
        assert!(pool.serve(freshness, &mut bytes).is_ok());
        bytes
    }

    #[test]
    fn serves_each_byte_once_and_refills() {
        let mut pool = Pool::new(Counting(0));
        draw(&mut pool, Freshness::Stale);
        assert_eq!(draw(&mut pool, Freshness::Fresh), [5, 6, 7, 8]);
        for _ in 2..POOL_BYTES / 4 {
            draw(&mut pool, Freshness::Fresh);
        }
        assert_eq!((pool.left, pool.source.0), (0, 512));
        draw(&mut pool, Freshness::Fresh);
        assert_eq!((pool.left, pool.source.0, pool.discarded), (508, 1024, 0));
    }

    #[test]
    fn throws_away_what_is_stale_and_counts_it() {
        let mut pool = Pool::new(Counting(0));
        draw(&mut pool, Freshness::Stale);
        assert_eq!(pool.discarded, 0); // there was nothing to throw away
        draw(&mut pool, Freshness::Stale);
        assert_eq!(pool.discarded, 508);
    }

    #[test]
    fn keeps_nothing_where_nobody_can_tell() {
        let mut pool = Pool::new(Counting(0));
        draw(&mut pool, Freshness::Stale);
        draw(&mut pool, Freshness::Unknown);
        draw(&mut pool, Freshness::Unknown);
        assert_eq!((pool.left, pool.source.0, pool.discarded), (0, 520, 508));
    }

    #[test]
    fn erases_what_it_served() {
        let mut pool = Pool::new(Counting(0));
        draw(&mut pool, Freshness::Stale);
        assert_eq!(pool.bytes[..5], [0, 0, 0, 0, 5]);
    }
}
