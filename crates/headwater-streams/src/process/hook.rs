//! Where a test may step into a draw.

/// A place in a draw or in the set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) enum Point {
    /// A slot is taken, and its state not yet read.
    Taken,
    /// Its state is read and not yet stored.
    Stepped,
    /// It is given back, and what was drawn is not yet known to be this process's.
    Drawn,
    /// A set-up has begun.
    Begun,
    /// It has its seed, and is not published.
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
