//! A seqlock's read: a copy between two comparisons, out of memory that may be replaced meanwhile.

/// The reason why a copy may not be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Void {
    /// A guard had changed before or after the copy.
    Moved,
    /// The bytes were zero, which random bytes are not.
    Zeros,
}

/// Copies if `$first` is true, and returns the copy if `$last` is true; `$copy` is None for zeros.
///
/// Both fences order loads. Without the first fence, a CPU that still sees a replaced page could
/// load bytes of that page and find the tag of its successor in both comparisons. Without the last
/// fence, bytes of a dropped page could be followed by a comparison with the state before the drop.
/// x86-64 needs only the compiler to keep the order; arm64 executes a `dmb ishld` for each fence.
///
/// A macro, because the compiler makes a call of a closure that is used in several places.
macro_rules! seqlock_read {
    ($first:expr, $copy:expr, $last:expr) => {
        if !$first {
            Err($crate::linux::sync::seqlock::Void::Moved)
        } else {
            $crate::linux::atomic::fence($crate::linux::atomic::Ordering::Acquire);
            match $copy {
                None => Err($crate::linux::sync::seqlock::Void::Zeros),
                Some(copied) => {
                    $crate::linux::failpoint::hook($crate::linux::failpoint::Point::Copied);
                    $crate::linux::atomic::fence($crate::linux::atomic::Ordering::Acquire);
                    if $last { Ok(copied) } else { Err($crate::linux::sync::seqlock::Void::Moved) }
                }
            }
        }
    };
}
pub(crate) use seqlock_read;
