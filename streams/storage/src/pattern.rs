//! The expected bytes of a target, as a function of the offset.

use crate::shape::{PERIOD, Shape, UNIT};
use headwater_streams::Stream;

/// A function from a byte's offset to its value. Without a shape, byte `o` is byte `o` of the
/// stream, as `headwater stream --offset o` writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub(crate) stream: Stream,
    pub(crate) shape: Shape,
}

/// The end of the offsets that a file can have: `loff_t` has a sign.
pub(crate) const END: u64 = i64::MAX as u64;

impl Pattern {
    /// Makes a pattern of the bytes of a stream.
    pub fn new(stream: Stream, shape: Shape) -> Pattern {
        Pattern { stream, shape }
    }

    /// Writes the bytes from `offset` on, which end before 2^63.
    pub fn fill(&self, offset: u64, out: &mut [u8]) {
        let Some(spread) = self.shape.spread else {
            return self.fill_units(offset, out);
        };
        let (mut offset, mut out) = (offset, out);
        while !out.is_empty() {
            let within = offset % spread.chunk;
            let len = ((spread.chunk - within) as usize).min(out.len());
            let (here, rest) = out.split_at_mut(len);
            self.fill_units(spread.content(offset / spread.chunk) * spread.chunk + within, here);
            offset += len as u64;
            out = rest;
        }
    }

    /// Writes the bytes of the stream from `offset` on, with the repeated part of each unit.
    fn fill_units(&self, offset: u64, out: &mut [u8]) {
        let Some(random) = self.shape.random else {
            return self.plain(offset, out);
        };
        let (mut offset, mut out) = (offset, out);
        while !out.is_empty() {
            let within = offset % UNIT;
            let len = ((UNIT - within) as usize).min(out.len());
            let (here, rest) = out.split_at_mut(len);
            match <&mut [u8; UNIT as usize]>::try_from(&mut *here) {
                Ok(unit) => self.unit(offset, random as usize, unit),
                Err(_) => {
                    let mut unit = [0; UNIT as usize];
                    self.unit(offset - within, random as usize, &mut unit);
                    here.copy_from_slice(&unit[within as usize..][..len]);
                }
            }
            offset += len as u64;
            out = rest;
        }
    }

    fn unit(&self, offset: u64, random: usize, unit: &mut [u8; UNIT as usize]) {
        self.plain(offset, &mut unit[..random]);
        let (random, repeated) = unit.split_at_mut(random);
        let last = &random[random.len() - PERIOD..];
        for part in repeated.chunks_mut(PERIOD) {
            part.copy_from_slice(&last[..part.len()]);
        }
    }

    fn plain(&self, offset: u64, out: &mut [u8]) {
        // A stream has 2^64 - 1 bytes, and a file fewer than 2^63.
        self.stream.fill_u8(offset, out).expect("a file ends before the stream does");
    }

    /// Returns a text that two patterns share only if all their bytes are equal.
    ///
    /// It reveals no more of the key than other bytes of the key's own: the seed stays with its
    /// owner. A state file carries it.
    pub fn fingerprint(&self) -> String {
        let mut bytes = [0; 8];
        self.stream.key().expand("headwater stream write", &mut bytes);
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let random = self.shape.random.unwrap_or(UNIT);
        let spread = self.shape.spread.map(|spread| format!("{spread:?}")).unwrap_or_default();
        format!("{} {digits} {} {random} {spread}", self.stream.key().engine(), self.stream.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dedup;
    use headwater_streams::Key;

    fn patterns() -> Vec<Pattern> {
        let stream = Key::from_seed(7).stream(3).unwrap();
        let ratio = |text: &str| Some(text.parse().unwrap());
        let dedup = |chunk| Some(Dedup { ratio: "1.3".parse().unwrap(), chunk });
        [
            Shape::default(),
            Shape::new(ratio("2.5"), None).unwrap(),
            Shape::new(ratio("1.5"), None).unwrap(),
            Shape::new(None, dedup(512)).unwrap(),
            Shape::new(ratio("4"), dedup(8192)).unwrap(),
        ]
        .map(|shape| Pattern::new(stream, shape))
        .to_vec()
    }

    #[test]
    fn parts_make_the_whole() {
        for pattern in patterns() {
            let mut whole = vec![0; 100_000];
            pattern.fill(0, &mut whole);
            let mut at = 0;
            for len in (1..600).cycle() {
                let len = (len * 37 % 5000).min(whole.len() - at);
                let mut part = vec![0; len];
                pattern.fill(at as u64, &mut part);
                assert_eq!(part, whole[at..][..len], "{at} {len}");
                at += len;
                if at == whole.len() {
                    break;
                }
            }
        }
    }

    #[test]
    fn the_plain_pattern_is_the_stream() {
        let pattern = patterns()[0];
        let (mut ours, mut streams) = ([0; 777], [0; 777]);
        pattern.fill(1_000_003, &mut ours);
        pattern.stream.fill_u8(1_000_003, &mut streams).unwrap();
        assert_eq!(ours, streams);
    }

    #[test]
    fn fingerprints_differ_where_patterns_do() {
        let mut prints: Vec<_> = patterns().iter().map(Pattern::fingerprint).collect();
        let key = Key::from_seed(8);
        prints.push(Pattern::new(key.stream(3).unwrap(), Shape::default()).fingerprint());
        prints.push(Pattern::new(key.stream(4).unwrap(), Shape::default()).fingerprint());
        let count = prints.len();
        prints.sort();
        prints.dedup();
        assert_eq!(prints.len(), count);
    }
}
