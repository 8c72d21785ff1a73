//! Copying between two looks, out of memory that is replaced behind the copy.

/// Copies, if a first look says so, and gives the copy out, if a last look says so. `Err(zeros)` if it may not
/// leave: `$copy` is None for zeros.
///
/// Both fences order loads. Without the first, a CPU that still sees a page which has been replaced could load
/// bytes of it, and find the tag of the page in its place, twice. Without the last, bytes of a page that was
/// dropped could be followed by a look at what was there before. x86-64 needs only the compiler to keep the
/// order, arm64 a `dmb ishld` each.
///
/// A macro, because a closure that is called in several places is a call in each.
macro_rules! seqlock_read {
    ($first:expr, $copy:expr, $last:expr) => {
        if !$first {
            Err(false)
        } else {
            $crate::linux::atomic::fence($crate::linux::atomic::Ordering::Acquire);
            match $copy {
                None => Err(true),
                Some(copied) => {
                    $crate::linux::failpoint::hook($crate::linux::failpoint::Point::Copied);
                    $crate::linux::atomic::fence($crate::linux::atomic::Ordering::Acquire);
                    if $last { Ok(copied) } else { Err(false) }
                }
            }
        }
    };
}
pub(crate) use seqlock_read;
