//! What everything above an engine is made of.

/// The 64-bit words of one stream, by index.
pub(crate) trait Words: Sync {
    /// Writes words `start..start + out.len()` of attempt `draw`. The caller has checked that the range ends below 2^64.
    fn words(&self, draw: u16, start: u64, out: &mut [u64]);
}
