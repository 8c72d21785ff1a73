//! The engines: for each key a bijection of 128 bits, from counters to blocks.
//!
//! Each engine has a file with its origin and one function for each kind of CPU. All functions of
//! an engine make the same blocks, so `backend` may choose among them by speed.

mod ars;
mod backend;
mod inverse;
mod philox;

#[cfg(feature = "process")]
#[cfg_attr(not(all(target_arch = "x86_64", target_os = "linux")), allow(unused_imports))]
pub(crate) use ars::keys as ars7_keys;
#[cfg(target_arch = "x86_64")]
pub(crate) use ars::known_answer::only_right_ones;
pub(crate) use backend::Backend;
pub(crate) use inverse::counter;

#[cfg(feature = "std")]
use crate::Error;
use core::fmt;
#[cfg(feature = "std")]
use core::str::FromStr;

/// 16 bytes: the output of an engine for one counter, and also the form of that counter, the lowest
/// byte first.
pub(crate) type Block = [u8; 16];

/// A counter-based engine: block `i` of a stream is one call of it, whatever was called before.
///
/// All are [not for secrets](crate). The engine is part of the key: another engine makes other
/// numbers from the same seed, and one engine makes the same numbers on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// ARS4x32 with seven rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy
    /// as 1, 2, 3", SC11): AES rounds, and a key schedule of additions. It is the default, because
    /// it fills at memory speed where the CPU has AES; where the CPU has none, Philox is faster.
    #[default]
    Ars7,
    /// ARS4x32 with five rounds, the fewest without a defect that its authors know of. Intel's MKL
    /// calls this engine ARS5.
    Ars5,
    /// Philox4x32 with ten rounds, by the same authors: four multiplications of 32 bits a round,
    /// which every CPU and GPU has.
    ///
    /// Its own key has 64 bits. The upper 64 bits of a [`Key`](crate::Key) are XORed into the upper
    /// half of the counter, so that keys have 128 bits here too; with those bits zero it is the
    /// Philox4x32-10 of cuRAND, PyTorch and C++26.
    Philox4x32,
}

impl Engine {
    /// Every engine, the default first.
    pub const ALL: &[Engine] = &[Engine::Ars7, Engine::Ars5, Engine::Philox4x32];

    /// Returns the name in lower case. Users type this name, and it is hashed into the engine's
    /// keys.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Ars7 => "ars7",
            Engine::Ars5 => "ars5",
            Engine::Philox4x32 => "philox4x32",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(feature = "std")]
impl FromStr for Engine {
    type Err = Error;

    fn from_str(name: &str) -> Result<Engine, Error> {
        let known = Engine::ALL.iter().copied().find(|engine| engine.name() == name);
        known.ok_or_else(|| Error::UnknownEngine(name.to_string()))
    }
}
