//! Names of implementations.

/// Returns whether this project answers for `implementation`, as for `headwater`, `headwater-rng`
/// and `headwater[hedged]`.
pub(crate) fn is_headwater(implementation: &str) -> bool {
    implementation.split(['-', '[', '@']).next() == Some("headwater")
}
