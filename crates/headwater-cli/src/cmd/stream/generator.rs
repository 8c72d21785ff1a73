//! Generators with a state, started at a seed, a substream and an offset.

use headwater_streams::generators::{Pcg64Dxsm, SeedSequence, Sfc64, Xorshift128p, Xoshiro256pp};
use headwater_streams::{Key, Seed};

/// A generator without random access. STREAMS.md defines how a seed becomes its state.
#[derive(Clone, Copy, Debug)]
pub(super) enum Generator {
    Xoshiro256pp,
    Xoshiro256ppX8,
    Xorshift128p,
    Pcg64Dxsm,
    Sfc64,
}

/// Fills a buffer with the next bytes.
type Words = Box<dyn FnMut(&mut [u8])>;

/// The words of a generator as bytes, in pieces of any length.
pub(super) struct Bytes {
    /// Fills with whole words, and drops the rest of the last word.
    words: Words,
    /// The word in which the last piece ended; its last `left` bytes are unused.
    word: [u8; 8],
    left: usize,
}

impl Generator {
    /// Starts at byte `offset`.
    ///
    /// # Errors
    ///
    /// Returns a message of one line if the generator has no such position.
    pub(super) fn start(
        self,
        seed: &Seed<'_>,
        substream: Option<u64>,
        offset: u64,
    ) -> Result<Bytes, String> {
        let key = || Key::from_seed(seed.clone());
        let index = substream.unwrap_or(0);
        let skip = u128::from(offset / 8);
        let words: Words = match self {
            Generator::Xoshiro256pp => {
                let mut there = Xoshiro256pp::from_key(&key()).stream(index);
                there.advance(skip);
                Box::new(move |out| there.fill_bytes(out))
            }
            Generator::Xoshiro256ppX8 => {
                let group = below(61, index)?;
                let mut there = Xoshiro256pp::from_key(&key()).lanes().stream(group);
                there.advance(skip);
                Box::new(move |out| there.fill_bytes(out))
            }
            Generator::Xorshift128p => {
                let mut there = Xorshift128p::from_key(&key()).stream(index);
                there.advance(skip);
                Box::new(move |out| there.fill_bytes(out))
            }
            Generator::Pcg64Dxsm => {
                let mut there = Pcg64Dxsm::from_seed_sequence(&numpys(seed, substream)?);
                there.advance(skip);
                Box::new(move |out| there.fill_bytes(out))
            }
            Generator::Sfc64 if offset != 0 => {
                return Err(format!(
                    "sfc64 cannot skip: drop the bytes with '| tail -c +{}' in place of --offset, or use pcg64dxsm",
                    u128::from(offset) + 1
                ));
            }
            Generator::Sfc64 => {
                let mut there = Sfc64::from_seed_sequence(&numpys(seed, substream)?);
                Box::new(move |out| there.fill_bytes(out))
            }
        };
        let mut bytes = Bytes { words, word: [0; 8], left: 0 };
        let within = (offset % 8) as usize;
        bytes.fill(&mut [0; 8][..within]);
        Ok(bytes)
    }
}

/// Returns NumPy's SeedSequence of the same number, or its child `substream`.
fn numpys(seed: &Seed<'_>, substream: Option<u64>) -> Result<SeedSequence, String> {
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
    pub(super) fn fill(&mut self, out: &mut [u8]) {
        let (first, rest) = out.split_at_mut(out.len().min(self.left));
        first.copy_from_slice(&self.word[8 - self.left..][..first.len()]);
        self.left -= first.len();
        let (whole, last) = rest.as_chunks_mut::<8>();
        (self.words)(whole.as_flattened_mut());
        if !last.is_empty() {
            (self.words)(&mut self.word);
            last.copy_from_slice(&self.word[..last.len()]);
            self.left = 8 - last.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_length_are_the_whole() {
        let start = |offset| Generator::Xoshiro256pp.start(&Seed::from(1), None, offset).unwrap();
        let mut whole = [0; 1000];
        start(0).fill(&mut whole);
        for length in 1..40 {
            let (mut pieces, mut at) = (start(3), 3);
            for round in 0.. {
                let mut piece = vec![0; (length * round) % 23];
                if at + piece.len() > whole.len() {
                    break;
                }
                pieces.fill(&mut piece);
                assert_eq!(piece, whole[at..][..piece.len()], "{length}, {at}");
                at += piece.len().max(1);
                if piece.is_empty() {
                    pieces.fill(&mut [0]);
                }
            }
        }
    }
}
