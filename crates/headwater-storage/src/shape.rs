//! The shape of the data: how far an array can compress and deduplicate it.

use crate::ratio::Ratio;
use crate::spread::Spread;

/// Bytes of one compression unit. Arrays compress 4 KiB or more at a time, so data that compresses
/// in each unit compresses in all of them.
pub(crate) const UNIT: u64 = 4096;

/// Bytes that a compressed unit needs beside its random part: lz4 writes about 19, zstd about 7.
const OVERHEAD: u64 = 13;

/// The highest ratio for compression. Above it, the 16 bytes by which a unit's random part grows
/// would move the ratio by more than 2 %.
const HIGHEST: u32 = 10_000;

/// The shape of a pattern. Without ratios the pattern is the plain stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Bytes at the beginning of each unit that are random; the last 16 of them repeat up to its
    /// end. Always a multiple of 16, so that the repeated bytes are one block of the engine.
    pub(crate) random: Option<u64>,
    /// The spread of repeated chunks.
    pub(crate) spread: Option<Spread>,
}

/// A ratio for deduplication and the size of the chunks that repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dedup {
    /// Chunks divided by distinct chunks.
    pub ratio: Ratio,
    /// Bytes of a chunk.
    pub chunk: u64,
}

impl Shape {
    /// Makes a shape from the ratios that a user asks for.
    ///
    /// # Errors
    ///
    /// One line, if a ratio or the size of a chunk is out of range.
    pub fn new(compressible: Option<Ratio>, dedup: Option<Dedup>) -> Result<Shape, String> {
        let random = match compressible {
            None | Some(Ratio::ONE) => None,
            Some(ratio) if ratio.thousandths() > HIGHEST => {
                return Err(format!("data cannot be made compressible by {ratio}: 10 is the most"));
            }
            Some(ratio) => {
                let wanted = UNIT * 1000 / u64::from(ratio.thousandths());
                let rounded = (wanted.saturating_sub(OVERHEAD) + 8) / 16 * 16;
                Some(rounded.min(UNIT))
            }
        };
        let spread = match dedup {
            None => None,
            Some(Dedup { ratio, chunk }) => {
                if chunk == 0 || !chunk.is_multiple_of(512) || chunk > 1 << 30 {
                    return Err(format!(
                        "chunks of {chunk} bytes cannot be deduplicated: use a multiple of 512 up to 1GiB"
                    ));
                }
                if random.is_some() && !chunk.is_multiple_of(UNIT) {
                    return Err(format!(
                        "chunks of {chunk} bytes cannot be compressible too: use a multiple of 4KiB"
                    ));
                }
                Some(Spread::new(ratio, chunk))
            }
        };
        Ok(Shape { random, spread })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_shapes_are_refused() {
        let ratio = |text: &str| text.parse::<Ratio>().unwrap();
        let dedup = |chunk| Some(Dedup { ratio: ratio("1.3"), chunk });
        assert!(Shape::new(Some(ratio("10")), None).is_ok());
        assert!(Shape::new(Some(ratio("10.001")), None).is_err());
        for chunk in [0, 100, 513, 2 << 30] {
            assert!(Shape::new(None, dedup(chunk)).is_err(), "{chunk}");
        }
        assert!(Shape::new(None, dedup(512)).is_ok());
        assert!(Shape::new(Some(ratio("2")), dedup(512)).is_err());
        assert!(Shape::new(Some(ratio("2")), dedup(8192)).is_ok());
    }
}
