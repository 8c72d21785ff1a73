//! The source of everything above an engine: words.

/// The 64-bit words of one stream, by index.
pub(crate) trait Words: Sync {
    /// Writes words `start..start + out.len()` of attempt `draw`. The caller has checked that the
    /// range ends below 2^64.
    fn words(&self, draw: u16, start: u64, out: &mut [u64]);

    /// Writes the groups of draw 0 with these numbers, in their order: `width` words each, 1 or 2.
    fn groups(&self, width: usize, groups: &[u64], out: &mut [u64]) {
        for (out, &group) in out.chunks_exact_mut(width).zip(groups) {
            self.words(0, group * width as u64, out);
        }
    }

    /// Writes blocks `start..start + out.len()` of a draw, as two words each. The caller has
    /// checked that the range ends below 2^64.
    fn blocks(&self, draw: u16, start: u64, out: &mut [[u64; 2]]);

    /// Writes the blocks of a draw with these numbers, in their order.
    fn blocks_at(&self, draw: u16, blocks: &[u64], out: &mut [[u64; 2]]);
}
