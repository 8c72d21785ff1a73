//! Failpoints: the places where a test may step into a draw.

/// A place in a draw or in the set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) enum Point {
    /// Counters are claimed, and their blocks not yet computed.
    Claimed,
    /// The blocks are computed, and the last check of the pool is still to come.
    Drawn,
    /// A set-up has begun.
    Begun,
    /// The set-up has its seed, and its pool is not published.
    Seeded,
}

#[cfg(test)]
thread_local! {
    pub(crate) static HOOK: core::cell::Cell<Option<fn(Point)>> = const { core::cell::Cell::new(None) };
}

/// Calls the test's function, in tests.
#[inline(always)]
pub(crate) fn hook(point: Point) {
    #[cfg(test)]
    if let Some(hook) = HOOK.get() {
        hook(point);
    }
    let _ = point;
}
