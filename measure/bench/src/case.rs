//! The cases: the subjects of comparisons.

use crate::error::Error;
use crate::list::{or_default, parse_list};

/// Bytes of one draw in the case `crowd`.
pub(crate) const CROWD_LEN: usize = 16;
/// Bytes of one draw in the case `upper-halves`.
pub(crate) const UPPER_HALVES_LEN: usize = 16;
/// Bytes of the draw that the cases `first-byte-after-fork` and `first-byte-after-start` time.
pub(crate) const FIRST_BYTE_LEN: usize = 16;

/// The subject of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Fill,
    U32,
    U64,
    UuidV4,
    UuidV7,
    Dns,
    Handshake,
    Latency,
    FirstByteAfterFork,
    FirstByteAfterStart,
    RfcU32,
    /// Threads draw together for longer than a scheduler's slice, and may be more than the CPUs.
    Crowd,
    /// The upper halves of vector registers are clean or dirty before a fill.
    UpperHalves,
    /// Arrays of these numbers, by reproducible streams.
    Stream(Numbers),
}

impl Case {
    pub(crate) const ALL: [Case; 19] = [
        Case::Fill,
        Case::U32,
        Case::U64,
        Case::UuidV4,
        Case::UuidV7,
        Case::Dns,
        Case::Handshake,
        Case::Latency,
        Case::FirstByteAfterFork,
        Case::FirstByteAfterStart,
        Case::RfcU32,
        Case::Crowd,
        Case::UpperHalves,
        Case::Stream(Numbers::U64),
        Case::Stream(Numbers::F64),
        Case::Stream(Numbers::Normal),
        Case::Stream(Numbers::Bounded),
        Case::Stream(Numbers::Shuffle),
        Case::Stream(Numbers::Child),
    ];

    /// The cases that run by default, in some 20 seconds.
    const DEFAULT: [Case; 5] = [Case::Fill, Case::U32, Case::U64, Case::UuidV4, Case::RfcU32];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Case::Fill => "fill",
            Case::U32 => "u32",
            Case::U64 => "u64",
            Case::UuidV4 => "uuid-v4",
            Case::UuidV7 => "uuid-v7",
            Case::Dns => "dns",
            Case::Handshake => "handshake",
            Case::Latency => "latency",
            Case::FirstByteAfterFork => "first-byte-after-fork",
            Case::FirstByteAfterStart => "first-byte-after-start",
            Case::RfcU32 => "rfc-u32",
            Case::Crowd => "crowd",
            Case::UpperHalves => "upper-halves",
            Case::Stream(Numbers::U64) => "stream-u64",
            Case::Stream(Numbers::F64) => "stream-f64",
            Case::Stream(Numbers::Normal) => "stream-normal",
            Case::Stream(Numbers::Bounded) => "stream-bounded",
            Case::Stream(Numbers::Shuffle) => "stream-shuffle",
            Case::Stream(Numbers::Child) => "stream-child",
        }
    }

    pub(crate) fn names() -> Vec<&'static str> {
        Case::ALL.map(Case::name).to_vec()
    }

    /// Reads the cases of `--cases`. An empty list means the default cases, and `all` alone means
    /// every case.
    pub(crate) fn parse_list(names: &[String]) -> Result<Vec<Case>, Error> {
        if names == ["all"] {
            return Ok(Case::ALL.to_vec());
        }
        Ok(or_default(parse_list(names, Case::parse)?, Case::DEFAULT))
    }

    /// Reports whether the case is about reproducible numbers and not about secrets. The two fields
    /// have no implementation in common.
    pub(crate) const fn is_of_streams(self) -> bool {
        matches!(self, Case::Stream(_))
    }

    /// Reports whether the case has one thread of one process, however many draw in other cases.
    pub(crate) const fn stands_alone(self) -> bool {
        matches!(
            self,
            Case::FirstByteAfterFork | Case::FirstByteAfterStart | Case::RfcU32 | Case::UpperHalves
        )
    }

    fn parse(name: &str) -> Result<Case, Error> {
        Case::ALL.into_iter().find(|case| case.name() == name).ok_or_else(|| Error::UnknownCase {
            name: name.to_owned(),
            known: Case::names().join(", "),
        })
    }
}

/// The numbers that fill an array in the cases of streams, or the operation on the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// All 64 bits.
    U64,
    /// 53 bits, in [0, 1).
    F64,
    /// Numbers of mean 0 and variance 1, as f64.
    Normal,
    /// Below [`BOUND`], as u64.
    Bounded,
    /// A random order of the u64 that are there.
    Shuffle,
    /// No array, but the key of a child: what a split costs.
    Child,
}

impl Numbers {
    pub(crate) const ALL: [Numbers; 6] = [
        Numbers::U64,
        Numbers::F64,
        Numbers::Normal,
        Numbers::Bounded,
        Numbers::Shuffle,
        Numbers::Child,
    ];
}

/// [`Numbers::Bounded`] are below this bound.
pub(crate) const BOUND: u64 = 1000;
