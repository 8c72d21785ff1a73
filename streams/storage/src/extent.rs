//! Wrong extents, and neighbours of one kind joined.

use std::collections::BTreeMap;

/// The data that stands in a wrong extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtentKind {
    /// Only zeros: a write that was lost, or a sparse region.
    Zeros,
    /// The pattern's bytes of another place: a misdirected write.
    Elsewhere {
        /// The place minus the extent's own offset.
        shift: i64,
        /// Number of the stream of the bytes.
        substream: u64,
    },
    /// Bytes of an older seed or pass: a write that was lost after an earlier one.
    Older {
        /// Which of [`Suspects::others`](crate::Suspects), from 0 on.
        which: usize,
        /// The place minus the extent's own offset.
        shift: i64,
        /// Number of the stream of the bytes.
        substream: u64,
    },
    /// Bytes of another target of the same command: exchanged cables.
    OtherTarget {
        /// Which of [`Suspects::others`](crate::Suspects), from 0 on.
        which: usize,
        /// The place minus the extent's own offset.
        shift: i64,
        /// Number of the stream of the bytes.
        substream: u64,
    },
    /// One bit of a sector.
    FlippedBit {
        /// The bit of the byte, 0 the lowest.
        bit: u8,
    },
    /// Other data.
    Other,
    /// The device could not read the extent.
    Unreadable,
    /// The file ends before the extent.
    Missing,
}

impl ExtentKind {
    /// The number of kinds.
    pub(crate) const COUNT: usize = 7;

    /// Returns the number of the kind, in the order of reports.
    pub(crate) fn index(self) -> usize {
        match self {
            ExtentKind::Zeros => 0,
            // For a reader both are data of another place.
            ExtentKind::Elsewhere { .. } | ExtentKind::OtherTarget { .. } => 1,
            ExtentKind::Older { .. } => 2,
            ExtentKind::FlippedBit { .. } => 3,
            ExtentKind::Other => 4,
            ExtentKind::Unreadable => 5,
            ExtentKind::Missing => 6,
        }
    }

    /// Returns the largest gap between two extents that are one. Random bytes agree with others by
    /// chance once in 256, so an extent of other data may seem to end a byte early.
    fn gap(self) -> u64 {
        if matches!(self, ExtentKind::Other | ExtentKind::Zeros) { 8 } else { 0 }
    }
}

/// A wrong extent of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Offset of the first wrong byte.
    pub from: u64,
    /// Offset after the last wrong byte.
    pub to: u64,
    /// The data that stands there.
    pub kind: ExtentKind,
}

impl Extent {
    /// Returns the number of bytes.
    pub fn bytes(&self) -> u64 {
        self.to - self.from
    }
}

/// Wrong extents by offset. A disk may be wrong in every sector, so memory must be bounded: beyond
/// [`Extents::LIMIT`] extents are only counted.
#[derive(Debug, Default)]
pub(crate) struct Extents {
    by_offset: BTreeMap<u64, Extent>,
    /// Number and bytes of the extents of each kind that are only counted.
    pub(crate) uncounted: [(u64, u64); ExtentKind::COUNT],
}

impl Extents {
    const LIMIT: usize = 1 << 16;

    /// Adds an extent that overlaps none, and joins it with its neighbours of the same kind.
    pub(crate) fn add(&mut self, mut extent: Extent) {
        let joins = |left: &Extent, right: &Extent| {
            left.kind == right.kind
                && !matches!(left.kind, ExtentKind::FlippedBit { .. })
                && left.to + left.kind.gap() >= right.from
        };
        let before = self.by_offset.range(..extent.from).next_back().map(|(_, before)| *before);
        if let Some(before) = before.filter(|before| joins(before, &extent)) {
            self.by_offset.remove(&before.from);
            extent.from = before.from;
        }
        let after = self.by_offset.range(extent.from..).next().map(|(_, after)| *after);
        if let Some(after) = after.filter(|after| joins(&extent, after)) {
            self.by_offset.remove(&after.from);
            extent.to = after.to;
        }
        if self.by_offset.len() < Extents::LIMIT {
            self.by_offset.insert(extent.from, extent);
        } else {
            let (count, bytes) = &mut self.uncounted[extent.kind.index()];
            *count += 1;
            *bytes += extent.bytes();
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Extent> {
        self.by_offset.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_extent_in_any_order() {
        let kind = ExtentKind::Elsewhere { shift: 512, substream: 0 };
        let parts = [(0, 512), (512, 1024), (1024, 1536), (4096, 8192)];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            let mut extents = Extents::default();
            for i in order {
                let (from, to) = parts[i];
                extents.add(Extent { from, to, kind });
            }
            let ranges: Vec<_> = extents.into_vec().iter().map(|e| (e.from, e.to)).collect();
            assert_eq!(ranges, [(0, 1536), (4096, 8192)]);
        }
    }

    #[test]
    fn kinds_stay_apart() {
        let mut extents = Extents::default();
        extents.add(Extent { from: 0, to: 512, kind: ExtentKind::Zeros });
        extents.add(Extent { from: 512, to: 1024, kind: ExtentKind::Other });
        extents.add(Extent { from: 1024, to: 1025, kind: ExtentKind::FlippedBit { bit: 1 } });
        extents.add(Extent { from: 1025, to: 1026, kind: ExtentKind::FlippedBit { bit: 1 } });
        extents.add(Extent {
            from: 2048,
            to: 2560,
            kind: ExtentKind::Elsewhere { shift: 1, substream: 0 },
        });
        extents.add(Extent {
            from: 2560,
            to: 3072,
            kind: ExtentKind::Elsewhere { shift: 2, substream: 0 },
        });
        assert_eq!(extents.into_vec().len(), 6);
    }

    #[test]
    fn a_flood_of_extents_is_counted_without_being_kept() {
        let mut extents = Extents::default();
        let more = Extents::LIMIT as u64 + 10;
        for i in 0..more {
            extents.add(Extent { from: 1024 * i, to: 1024 * i + 100, kind: ExtentKind::Other });
        }
        assert_eq!(extents.uncounted[ExtentKind::Other.index()], (10, 1000));
        assert_eq!(extents.into_vec().len(), Extents::LIMIT);
    }
}
