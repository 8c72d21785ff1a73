//! Copying between two looks, out of memory that is replaced behind the copy.

use crate::linux::atomic::{Ordering, fence};
use crate::linux::force::{Point, hook};

/// Copies, if a first look says so, and gives the copy out, if a last look says so. `Err(zeros)` if it may not
/// leave: `copy` gives None for zeros.
///
/// Both fences order loads. Without the first, a CPU to which a replaced page is still visible could load bytes
/// of the old page and then find the new one's tag, twice. Without the last, bytes of a page that was dropped
/// could be followed by a look at what was there before. x86-64 needs only the compiler to keep the order,
/// arm64 a `dmb ishld` each.
#[inline(always)]
pub(crate) fn copy_between<T>(
    first: impl FnOnce() -> bool,
    copy: impl FnOnce() -> Option<T>,
    last: impl FnOnce() -> bool,
) -> Result<T, bool> {
    if !first() {
        return Err(false);
    }
    fence(Ordering::Acquire);
    let Some(copied) = copy() else {
        return Err(true);
    };
    hook(Point::Copied);
    fence(Ordering::Acquire);
    if last() { Ok(copied) } else { Err(false) }
}
