//! Names of implementations.

/// `headwater`, `headwater-rng`, `headwater[hedged]`: what this project answers for.
pub(crate) fn is_headwater(implementation: &str) -> bool {
    implementation.split(['-', '[', '@']).next() == Some("headwater")
}
