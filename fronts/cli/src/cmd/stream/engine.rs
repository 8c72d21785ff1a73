//! The engines that `--engine` names, and their bytes from any place of a stream.
//!
//! The library has one enum for the engines that address elements by index and one type for each
//! generator with a state, because their interfaces differ. The command has one list, because its
//! users see bytes in both cases.

use crate::failure::Failure;
use clap::ValueEnum;
use headwater_streams::generators::{Pcg64Dxsm, SeedSequence, Sfc64, Xorshift128p, Xoshiro256pp};
use headwater_streams::{Key, Seed, Stream};

/// An engine by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Engine {
    /// AES rounds on a counter; 2^48 streams
    Ars7,
    /// Five rounds instead of seven, bit-compatible with Intel's MKL
    Ars5,
    /// Multiplications on a counter, bit-compatible with GPU libraries; 2^48 streams
    Philox4x32,
    /// 256 bits of state; streams 2^128 words apart
    Xoshiro256pp,
    /// Eight interleaved streams of xoshiro256++
    #[value(name = "xoshiro256pp-x8")]
    Xoshiro256ppX8,
    /// For comparison only: its defects are known; streams 2^64 words apart
    Xorshift128p,
    /// NumPy's PCG64DXSM(S); streams are children of NumPy's SeedSequence(S)
    Pcg64dxsm,
    /// NumPy's SFC64(S), streams as for pcg64dxsm; cannot skip
    Sfc64,
}

/// Fills a buffer with the next whole words.
type Words = Box<dyn FnMut(&mut [u8])>;

/// The bytes of one stream from one place on. The pieces in which they are taken do not change
/// them.
pub(super) enum Bytes {
    /// A counter engine addresses bytes by index.
    Indexed { stream: Stream, next: u64 },
    /// A generator with a state produces whole words.
    Ordered {
        words: Words,
        /// The word in which the last piece ended.
        word: [u8; 8],
        /// Bytes of `word` that the next piece begins with.
        left: usize,
    },
}

impl Engine {
    /// Returns the bytes of the stream from byte `offset` on, of which `len` will be taken.
    ///
    /// # Errors
    ///
    /// One line, if the engine has no such stream or place.
    pub(super) fn start(
        self,
        seed: &Seed<'_>,
        children: &[String],
        substream: Option<u64>,
        offset: u64,
        len: u64,
    ) -> Result<Bytes, String> {
        let key = || descend(Key::from_seed(seed.clone()), children);
        let index = substream.unwrap_or(0);
        let skip = u128::from(offset / 8);
        let words: Words = match self {
            Engine::Ars7 | Engine::Ars5 | Engine::Philox4x32 => {
                return self.indexed(seed, children, index, offset, len);
            }
            Engine::Xoshiro256pp => {
                let mut there = Xoshiro256pp::from_key(&key()).stream(index);
                there.advance(skip);
                Box::new(move |out| there.fill_bytes(out))
            }
            Engine::Xoshiro256ppX8 => {
                let group = below(61, index)?;
                let mut there = Xoshiro256pp::from_key(&key()).lanes().stream(group);
                there.advance(skip);
                Box::new(move |out| there.fill_bytes(out))
            }
            Engine::Xorshift128p => {
                let mut there = Xorshift128p::from_key(&key()).stream(index);
                there.advance(skip);
                Box::new(move |out| there.fill_bytes(out))
            }
            Engine::Pcg64dxsm => {
                let sequence = numpys(seed, children, substream)?;
                let mut there = Pcg64Dxsm::from_seed_sequence(&sequence);
                there.advance(skip);
                Box::new(move |out| there.fill_bytes(out))
            }
            Engine::Sfc64 if offset != 0 => {
                return Err(format!(
                    "sfc64 cannot skip: drop the bytes with '| tail -c +{}' in place of --offset, or use pcg64dxsm",
                    u128::from(offset) + 1
                ));
            }
            Engine::Sfc64 => {
                let sequence = numpys(seed, children, substream)?;
                let mut there = Sfc64::from_seed_sequence(&sequence);
                Box::new(move |out| there.fill_bytes(out))
            }
        };
        let mut bytes = Bytes::Ordered { words, word: [0; 8], left: 0 };
        let within = (offset % 8) as usize;
        bytes.fill(&mut [0; 8][..within]).map_err(|_| "a generator with a state has no end")?;
        Ok(bytes)
    }

    fn indexed(
        self,
        seed: &Seed<'_>,
        children: &[String],
        index: u64,
        next: u64,
        len: u64,
    ) -> Result<Bytes, String> {
        // The library knows the engine by the same name, which is hashed into its keys.
        let value = self.to_possible_value().expect("every engine has a name");
        let engine = value.get_name().parse().map_err(|error| format!("{error}"))?;
        let key = descend(Key::with_engine(engine, seed.clone()), children);
        let stream = key.stream(index).map_err(|error| error.to_string())?;
        if next.checked_add(len).is_none() {
            return Err(format!(
                "{len} bytes from byte {next} on pass the end of the stream at 2^64 - 1"
            ));
        }
        Ok(Bytes::Indexed { stream, next })
    }
}

/// Returns the key's child with the first name, that child's child with the second, and so on.
pub(super) fn descend(key: Key, children: &[String]) -> Key {
    children.iter().fold(key, |key, name| key.child(name.as_str()))
}

/// Returns the sequence that NumPy makes of the same number, or its child with this number.
fn numpys(
    seed: &Seed<'_>,
    children: &[String],
    substream: Option<u64>,
) -> Result<SeedSequence, String> {
    if !children.is_empty() {
        return Err("NumPy's generators have no children by name: use --substream".to_owned());
    }
    let root = SeedSequence::try_from(seed).map_err(|error| error.to_string())?;
    match substream {
        None => Ok(root),
        Some(index) => Ok(root.child(below(32, index)? as u32)),
    }
}

/// Returns `index` if it is below 2^`bits`.
fn below(bits: u32, index: u64) -> Result<u64, String> {
    if index >> bits == 0 {
        Ok(index)
    } else {
        Err(format!(
            "substream {index} does not exist: this engine has 2^{bits}; use another seed for more"
        ))
    }
}

impl Bytes {
    /// Fills `out` with the next bytes.
    pub(super) fn fill(&mut self, out: &mut [u8]) -> Result<(), Failure> {
        match self {
            Bytes::Indexed { stream, next } => {
                stream.fill_u8(*next, out).map_err(|error| Failure::Usage(error.to_string()))?;
                *next += out.len() as u64;
            }
            Bytes::Ordered { words, word, left } => {
                let (first, rest) = out.split_at_mut(out.len().min(*left));
                first.copy_from_slice(&word[8 - *left..][..first.len()]);
                *left -= first.len();
                let (whole, last) = rest.as_chunks_mut::<8>();
                words(whole.as_flattened_mut());
                if !last.is_empty() {
                    words(word);
                    last.copy_from_slice(&word[..last.len()]);
                    *left = 8 - last.len();
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_length_are_the_whole() {
        let start = |offset| {
            Engine::Xoshiro256pp
                .start(&Seed::from(1), &[], None, offset, 1000)
                .unwrap_or_else(|_| panic!())
        };
        let mut whole = [0; 1000];
        assert!(start(0).fill(&mut whole).is_ok());
        for length in 1..40 {
            let (mut pieces, mut at) = (start(3), 3);
            for round in 0.. {
                let mut piece = vec![0; (length * round) % 23];
                if at + piece.len() > whole.len() {
                    break;
                }
                assert!(pieces.fill(&mut piece).is_ok());
                assert_eq!(piece, whole[at..][..piece.len()], "{length}, {at}");
                at += piece.len().max(1);
                if piece.is_empty() {
                    assert!(pieces.fill(&mut [0]).is_ok());
                }
            }
        }
    }

    /// A name that one command takes and the other refuses sends its user to the documentation
    /// twice.
    #[test]
    fn quality_knows_every_engine_by_the_same_name() {
        let ours: Vec<_> = Engine::value_variants()
            .iter()
            .map(|engine| engine.to_possible_value().unwrap().get_name().to_owned())
            .collect();
        let sources: Vec<_> = headwater_quality::sources().map(|source| source.name).collect();
        for name in &ours {
            assert!(sources.contains(&name.as_str()), "quality does not know {name}");
        }
        let reproducible = headwater_quality::sources().filter(|source| {
            source.kind == headwater_quality::SourceKind::Engine && source.is_reproducible()
        });
        for source in reproducible {
            assert!(ours.iter().any(|name| name == source.name), "stream lacks {}", source.name);
        }
    }
}
