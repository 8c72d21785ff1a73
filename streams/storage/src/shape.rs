//! The shape of the data: how far an array can compress and deduplicate it.

use crate::ratio::Ratio;
use crate::spread::Spread;

/// Bytes of one compression unit. Arrays compress 4 KiB or more at a time, so data that compresses
/// in each unit compresses in all of them.
pub(crate) const UNIT: u64 = 4096;

/// Bytes that repeat up to the end of a unit. Four, because lz4 probes only every tenth byte after
/// a long random part: a period of 16 would hide the repetition from it for 100 bytes more. They
/// differ between units, so data of another unit is noticed in every sector.
pub(crate) const PERIOD: usize = 4;

/// Bytes that a compressed unit needs beside its random part: zstd about 7, lz4 about 35. The
/// middle keeps both within 2 %.
const OVERHEAD: u64 = 21;

/// The highest ratio for compression. Above it, the compressors differ by more than 4 %.
const HIGHEST: u32 = 6000;

/// The shape of a pattern. Without ratios the pattern is the plain stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Bytes at the beginning of each unit that are random. The last [`PERIOD`] of them repeat up
    /// to its end.
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
                return Err(format!("data cannot be made compressible by {ratio}: 6 is the most"));
            }
            Some(ratio) => {
                let wanted = UNIT * 1000 / u64::from(ratio.thousandths());
                Some(wanted.saturating_sub(OVERHEAD))
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
        assert!(Shape::new(Some(ratio("6")), None).is_ok());
        assert!(Shape::new(Some(ratio("6.001")), None).is_err());
        for chunk in [0, 100, 513, 2 << 30] {
            assert!(Shape::new(None, dedup(chunk)).is_err(), "{chunk}");
        }
        assert!(Shape::new(None, dedup(512)).is_ok());
        assert!(Shape::new(Some(ratio("2")), dedup(512)).is_err());
        assert!(Shape::new(Some(ratio("2")), dedup(8192)).is_ok());
    }
}
