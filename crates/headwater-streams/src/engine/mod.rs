//! The engines: bijections of 128 bits, each a key's.

mod portable;

use crate::Error;
use core::fmt;
use core::str::FromStr;

/// A counter-based engine: block `i` of a stream is one call of it, whatever was called before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// Seven rounds of AES with a key schedule of additions. The default: at memory speed where the CPU has AES.
    #[default]
    Ars7,
    /// Five rounds of the same, which is what MKL calls ARS5.
    Ars5,
    /// Ten rounds of multiplications: what GPUs and machines without AES do best.
    Philox4x32,
}

impl Engine {
    /// Every engine, the default first.
    pub const ALL: &[Engine] = &[Engine::Ars7, Engine::Ars5, Engine::Philox4x32];

    /// Its name, in lower case: how it is typed, and what is hashed into its keys.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Ars7 => "ars7",
            Engine::Ars5 => "ars5",
            Engine::Philox4x32 => "philox4x32",
        }
    }

    /// Block number `counter`.
    pub(crate) fn block(self, key: u128, counter: u128) -> u128 {
        match self {
            Engine::Ars7 => portable::ars(7, key, counter),
            Engine::Ars5 => portable::ars(5, key, counter),
            Engine::Philox4x32 => portable::philox(key, counter),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Engine {
    type Err = Error;

    fn from_str(name: &str) -> Result<Engine, Error> {
        let known = Engine::ALL.iter().copied().find(|engine| engine.name() == name);
        known.ok_or_else(|| Error::UnknownEngine(name.to_string()))
    }
}
