//! The kind of each wrong sector.

use crate::extent::{Extent, ExtentKind};
use crate::find::{PatternPlace, Search, find, of_substream};
use crate::pattern::{END, Pattern};

/// Bytes that are judged together: the smallest unit that devices write.
pub(crate) const SECTOR: usize = 512;

/// The patterns that wrong data may come from.
#[derive(Clone, Debug)]
pub struct Suspects {
    /// The pattern that the target should hold.
    pub expected: Pattern,
    /// The patterns of what stood there before, and of the other targets.
    pub others: Vec<Suspect>,
}

/// A pattern that wrong data may come from.
#[derive(Clone, Debug)]
pub struct Suspect {
    /// The pattern.
    pub pattern: Pattern,
    /// Its name in a report: `older seed 1`, `pass 1`, `target /dev/sdb`.
    pub name: String,
    /// Which of the older seeds of the command line, from 0 on.
    pub was: Option<usize>,
    /// It is what another target holds at the same time, and not what this one held before.
    pub is_other_target: bool,
}

/// Judges the sectors of a target in order. Each wrong sector is first compared with the kind of
/// the one before, because damage is seldom one sector long.
pub(crate) struct Judge<'a> {
    suspects: &'a Suspects,
    last: Option<ExtentKind>,
    /// Sectors of other data, one after the other.
    others: u64,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(suspects: &'a Suspects) -> Judge<'a> {
        Judge { suspects, last: None, others: 0 }
    }

    /// Reports each wrong extent of `found`, which begins at `offset` and should be `expected`.
    pub(crate) fn compare(
        &mut self,
        offset: u64,
        expected: &[u8],
        found: &[u8],
        report: &mut dyn FnMut(Extent),
    ) {
        let mut at = 0;
        while at < found.len() {
            // Sectors of the target: the first piece may begin inside of one.
            let within = ((offset + at as u64) % SECTOR as u64) as usize;
            let end = (at + SECTOR - within).min(found.len());
            let (expected, found) = (&expected[at..end], &found[at..end]);
            if expected == found {
                self.last = None;
            } else {
                report(self.sector(offset + at as u64, expected, found));
            }
            at = end;
        }
    }

    /// Judges one wrong sector.
    fn sector(&mut self, offset: u64, expected: &[u8], found: &[u8]) -> Extent {
        let wrong = |i: &usize| expected[*i] != found[*i];
        let first = (0..found.len()).find(wrong).unwrap_or(0);
        let last = (0..found.len()).rev().find(wrong).unwrap_or(0);
        let differing = expected.iter().zip(found).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
        if differing == 1 {
            let bit = (expected[first] ^ found[first]).trailing_zeros() as u8;
            let from = offset + first as u64;
            return Extent { from, to: from + 1, kind: ExtentKind::FlippedBit { bit } };
        }
        // The whole sector is one kind's, or the part between the first and last wrong byte is: a
        // write that was torn inside of the sector leaves both ends as they were.
        let ranges = [0..found.len(), first..last + 1];
        for range in ranges.clone() {
            let from = offset + range.start as u64;
            if let Some(kind) = self.kind(from, &found[range.clone()]) {
                self.last = Some(kind);
                self.others = 0;
                return Extent { from, to: offset + range.end as u64, kind };
            }
        }
        self.last = None;
        self.others += 1;
        let [_, torn] = ranges;
        Extent {
            from: offset + torn.start as u64,
            to: offset + torn.end as u64,
            kind: ExtentKind::Other,
        }
    }

    /// Returns the kind that explains every byte of `data` at `offset`.
    fn kind(&mut self, offset: u64, data: &[u8]) -> Option<ExtentKind> {
        // Fewer zeros are a chance of 2^-32 or more in data of any kind.
        if data.len() >= 4 && data.iter().all(|&byte| byte == 0) {
            return Some(ExtentKind::Zeros);
        }
        if let Some(last) = self.last.filter(|&last| self.continues(last, offset, data)) {
            return Some(last);
        }
        // A disk full of other data, as after a wrong seed, is not searched at every alignment in
        // every sector: that would take ten times as long.
        let search = if self.others < 256 || self.others.is_multiple_of(16) {
            Search::Every
        } else {
            Search::Likely
        };
        let shift = |place: PatternPlace| place.offset.wrapping_sub(offset) as i64;
        if let Some(place) = find(&self.suspects.expected, offset, data, search) {
            return Some(ExtentKind::Elsewhere { shift: shift(place), substream: place.substream });
        }
        self.suspects.others.iter().enumerate().find_map(|(which, suspect)| {
            let pattern = &suspect.pattern;
            let kind = |shift, substream| match suspect.is_other_target {
                true => ExtentKind::OtherTarget { which, shift, substream },
                false => ExtentKind::Older { which, shift, substream },
            };
            // At its own place first: a shaped pattern has the same bytes at several places.
            if is_at(pattern, offset, data) {
                return Some(kind(0, pattern.stream.id()));
            }
            let place = find(pattern, offset, data, search)?;
            Some(kind(shift(place), place.substream))
        })
    }

    /// Reports whether `data` continues data of this kind.
    fn continues(&self, kind: ExtentKind, offset: u64, data: &[u8]) -> bool {
        let (pattern, shift, substream) = match kind {
            ExtentKind::Elsewhere { shift, substream } => {
                (&self.suspects.expected, shift, substream)
            }
            ExtentKind::Older { which, shift, substream }
            | ExtentKind::OtherTarget { which, shift, substream } => {
                (&self.suspects.others[which].pattern, shift, substream)
            }
            _ => return false,
        };
        let place = offset.wrapping_add_signed(shift);
        place < END - SECTOR as u64
            && of_substream(pattern, substream).is_some_and(|pattern| is_at(&pattern, place, data))
    }
}

/// Reports whether a pattern has `data`, of a sector at most, at this offset.
fn is_at(pattern: &Pattern, offset: u64, data: &[u8]) -> bool {
    let mut expected = [0; SECTOR];
    // Short data agrees by chance.
    match expected.get_mut(..data.len()).filter(|expected| expected.len() >= 16) {
        Some(expected) => {
            pattern.fill(offset, expected);
            expected == data
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use headwater_streams::Key;

    const KEY: u64 = 42;

    fn pattern(seed: u64) -> Pattern {
        Pattern::new(Key::from_seed(seed).stream(0).unwrap(), Shape::default())
    }

    /// Applies `damage` to eight sectors from `offset` on and returns the extents.
    fn judged(offset: u64, damage: impl Fn(&mut [u8])) -> Vec<Extent> {
        let suspect = |key| Suspect {
            pattern: pattern(key),
            name: format!("older seed {key}"),
            was: Some(key as usize - 1),
            is_other_target: false,
        };
        let suspects = Suspects { expected: pattern(KEY), others: vec![suspect(1), suspect(2)] };
        let mut expected = vec![0; 8 * SECTOR];
        suspects.expected.fill(offset, &mut expected);
        let mut found = expected.clone();
        damage(&mut found);
        let mut extents = crate::extent::Extents::default();
        Judge::new(&suspects).compare(offset, &expected, &found, &mut |extent| extents.add(extent));
        extents.into_vec()
    }

    /// Each case: its name, the damage, the extents that the report must have. Written before the
    /// code that judges them.
    #[test]
    fn damage_is_named() {
        type Damage = Box<dyn Fn(&mut [u8])>;
        type Expected = Vec<(u64, u64, ExtentKind)>;
        let at = |seed: u64, offset: u64| move |out: &mut [u8]| pattern(seed).fill(offset, out);
        let elsewhere = |shift| ExtentKind::Elsewhere { shift, substream: 0 };
        let older = |which, shift| ExtentKind::Older { which, shift, substream: 0 };
        let base = 1 << 20;
        let other_substream = |out: &mut [u8]| {
            Key::from_seed(KEY).stream(5).unwrap().fill_u8(0, out).unwrap();
        };
        let cases: Vec<(&str, Damage, Expected)> = vec![
            ("nothing", Box::new(|_| ()), vec![]),
            (
                "one zero sector",
                Box::new(|d| d[512..1024].fill(0)),
                vec![(512, 1024, ExtentKind::Zeros)],
            ),
            ("all zeros", Box::new(|d| d.fill(0)), vec![(0, 4096, ExtentKind::Zeros)]),
            (
                "two zero extents",
                Box::new(|d| {
                    d[0..512].fill(0);
                    d[1536..2048].fill(0);
                }),
                vec![(0, 512, ExtentKind::Zeros), (1536, 2048, ExtentKind::Zeros)],
            ),
            ("all ones", Box::new(|d| d[0..1024].fill(255)), vec![(0, 1024, ExtentKind::Other)]),
            (
                "the next sector's data",
                Box::new(move |d| at(KEY, base + 1024)(&mut d[512..1024])),
                vec![(512, 1024, elsewhere(512))],
            ),
            (
                "data of a place before",
                Box::new(move |d| at(KEY, 4096)(&mut d[512..2048])),
                vec![(512, 2048, elsewhere(4096 - 512 - base as i64))],
            ),
            (
                "data of a far place",
                Box::new(move |d| at(KEY, 1 << 55)(&mut d[..])),
                vec![(0, 4096, elsewhere((1_i64 << 55) - base as i64))],
            ),
            (
                "data shifted by one byte",
                Box::new(move |d| at(KEY, base + 1)(&mut d[0..1024])),
                vec![(0, 1024, elsewhere(1))],
            ),
            (
                "data shifted by 15 bytes",
                Box::new(move |d| at(KEY, base - 15)(&mut d[0..1024])),
                vec![(0, 1024, elsewhere(-15))],
            ),
            (
                "two sectors exchanged",
                Box::new(move |d| {
                    at(KEY, base + 512)(&mut d[0..512]);
                    at(KEY, base)(&mut d[512..1024]);
                }),
                vec![(0, 512, elsewhere(512)), (512, 1024, elsewhere(-512))],
            ),
            (
                "another stream of the key",
                Box::new(move |d| other_substream(&mut d[0..512])),
                vec![(0, 512, ExtentKind::Elsewhere { shift: -(base as i64), substream: 5 })],
            ),
            (
                "an older seed in place",
                Box::new(move |d| at(1, base + 512)(&mut d[512..2048])),
                vec![(512, 2048, older(0, 0))],
            ),
            (
                "the second older seed",
                Box::new(move |d| at(2, base)(&mut d[0..512])),
                vec![(0, 512, older(1, 0))],
            ),
            (
                "an older seed elsewhere",
                Box::new(move |d| at(1, base + 5120)(&mut d[0..512])),
                vec![(0, 512, older(0, 5120))],
            ),
            (
                "a seed that no one named",
                Box::new(move |d| at(3, base)(&mut d[0..512])),
                vec![(0, 512, ExtentKind::Other)],
            ),
            (
                "one bit",
                Box::new(|d| d[700] ^= 8),
                vec![(700, 701, ExtentKind::FlippedBit { bit: 3 })],
            ),
            (
                "one bit each of two sectors",
                Box::new(|d| {
                    d[511] ^= 1;
                    d[512] ^= 128;
                }),
                vec![
                    (511, 512, ExtentKind::FlippedBit { bit: 0 }),
                    (512, 513, ExtentKind::FlippedBit { bit: 7 }),
                ],
            ),
            (
                "two bits of a sector",
                Box::new(|d| {
                    d[0] ^= 1;
                    d[9] ^= 1;
                }),
                vec![(0, 10, ExtentKind::Other)],
            ),
            (
                "zeros that end inside of a sector",
                Box::new(|d| d[512..1136].fill(0)),
                vec![(512, 1136, ExtentKind::Zeros)],
            ),
            (
                "an old half of a torn sector",
                Box::new(move |d| at(1, base + 256)(&mut d[256..512])),
                vec![(256, 512, older(0, 0))],
            ),
            (
                "misplaced, then zeros, then a bit",
                Box::new(move |d| {
                    at(KEY, 0)(&mut d[0..512]);
                    d[512..1024].fill(0);
                    d[4095] ^= 2;
                }),
                vec![
                    (0, 512, elsewhere(-(base as i64))),
                    (512, 1024, ExtentKind::Zeros),
                    (4095, 4096, ExtentKind::FlippedBit { bit: 1 }),
                ],
            ),
            (
                "text",
                Box::new(|d| {
                    for (i, byte) in d[0..512].iter_mut().enumerate() {
                        *byte = b"ext4 "[i % 5];
                    }
                }),
                vec![(0, 512, ExtentKind::Other)],
            ),
            (
                "three zero bytes",
                Box::new(|d| d[100..103].fill(0)),
                vec![(100, 103, ExtentKind::Other)],
            ),
        ];
        for (name, damage, expected) in cases {
            let found: Vec<_> = judged(base, damage)
                .iter()
                .map(|extent| (extent.from - base, extent.to - base, extent.kind))
                .collect();
            // Random bytes agree by chance at the ends of an extent of other data or torn zeros.
            let near = found.len() == expected.len()
                && found.iter().zip(&expected).all(|(a, b)| {
                    a.2 == b.2
                        && if matches!(a.2, ExtentKind::Other | ExtentKind::Zeros) {
                            a.0.abs_diff(b.0) <= 2 && a.1.abs_diff(b.1) <= 2
                        } else {
                            (a.0, a.1) == (b.0, b.1)
                        }
                });
            assert!(near, "{name}: {found:?}, not {expected:?}");
        }
    }

    #[test]
    fn sectors_are_those_of_the_target() {
        let extents = judged(1000, |data| data[24..536].fill(0));
        assert_eq!(extents, [Extent { from: 1024, to: 1536, kind: ExtentKind::Zeros }]);
    }
}
