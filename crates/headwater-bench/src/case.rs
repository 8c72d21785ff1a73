//! What a comparison is about.

use crate::Error;
use crate::list::{or_default, parse_list};

/// What a comparison is about.
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
}

impl Case {
    pub(crate) const ALL: [Case; 11] = [
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
    ];

    /// What is run if nothing is asked for, in some 20 seconds.
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
        }
    }

    pub(crate) fn names() -> Vec<&'static str> {
        Case::ALL.map(Case::name).to_vec()
    }

    /// The cases of `--cases`.
    pub(crate) fn parse_list(names: &[String]) -> Result<Vec<Case>, Error> {
        if names == ["all"] {
            return Ok(Case::ALL.to_vec());
        }
        Ok(or_default(parse_list(names, Case::parse)?, Case::DEFAULT))
    }

    /// Whether it is about one thread of one process, however many draw in other cases.
    pub(crate) const fn stands_alone(self) -> bool {
        matches!(self, Case::FirstByteAfterFork | Case::FirstByteAfterStart | Case::RfcU32)
    }

    fn parse(name: &str) -> Result<Case, Error> {
        Case::ALL
            .into_iter()
            .find(|case| case.name() == name)
            .ok_or_else(|| Error::UnknownCase(name.to_owned()))
    }
}
