//! A caller's own mark of the time of a draw.

use crate::linux;

/// The result of [`Stamp::check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Freshness {
    /// Nothing happened since the stamp was brought up to date.
    Fresh,
    /// Something happened: reseed, clone, restore, fork or discard. The stamp is now up to date.
    Stale,
    /// Nothing was seen, but this machine cannot detect clones of itself: keep no random bytes over
    /// time. A fork, a discard and the like are seen nevertheless, and answered by
    /// [`Stale`](Freshness::Stale).
    Unknown,
}

/// A caller's own mark of the time of a draw, to be checked before kept bytes are used.
///
/// It suits batches and short-lived caches of random values, but nothing that is kept for hours,
/// because it goes stale at each reseed of the kernel too, which comes once a minute. It is
/// ordinary memory and may be copied; in a forked child every copy is stale, and in a restored
/// process, as far as [`generation`](crate::generation) sees that. A new stamp is stale at its
/// first check.
///
/// ```
/// # fn main() -> Result<(), headwater::Error> {
/// let mut ids: Vec<u64> = Vec::new();
/// let mut stamp = headwater::Stamp::new();
/// let mut next_id = || -> Result<u64, headwater::Error> {
///     if stamp.check() != headwater::Freshness::Fresh {
///         ids.clear(); // drawn before a fork, a clone or a reseed
///     }
///     if ids.is_empty() {
///         for _ in 0..32 {
///             ids.push(headwater::u64()?);
///         }
///     }
///     Ok(ids.pop().expect("filled above"))
/// };
/// # next_id()?; Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(u64);

impl Stamp {
    /// Returns a stamp that is stale at its first check.
    pub const fn new() -> Stamp {
        Stamp(0)
    }

    /// Returns whether something happened since the last check, and brings the stamp up to date.
    ///
    /// Async-signal-safe; takes a few loads.
    #[inline]
    pub fn check(&mut self) -> Freshness {
        check(&mut self.0)
    }
}

/// Checks the number of a stamp, 0 for a new one, and brings it up to date.
#[inline]
pub(crate) fn check(stamp: &mut u64) -> Freshness {
    let Some(now) = linux::changes() else {
        *stamp = 0; // a later number must not look like no change
        return Freshness::Unknown;
    };
    let before = core::mem::replace(stamp, now.number.get());
    match now.is_complete {
        _ if before != *stamp => Freshness::Stale,
        true => Freshness::Fresh,
        false => Freshness::Unknown,
    }
}
