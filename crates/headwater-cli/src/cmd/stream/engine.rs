//! Generators with a state: where a seed, a substream and an offset lead, and bytes from there on.

use headwater_streams::generators::{Pcg64Dxsm, SeedSequence, Sfc64, Xorshift128p, Xoshiro256pp};
use headwater_streams::{Key, Seed};

/// Those that have no elements by index. How a seed becomes a state is told in STREAMS.md.
#[derive(Clone, Copy, Debug)]
pub(super) enum Generator {
    Xoshiro256pp,
    Xoshiro256ppX8,
    Xorshift128p,
    Pcg64Dxsm,
    Sfc64,
}

/// Fills a buffer with the bytes that come next.
type Words = Box<dyn FnMut(&mut [u8])>;

/// The words of a generator as bytes, however they are cut into pieces.
pub(super) struct Bytes {
    /// Fills with whole words; of the last one, what does not fit is thrown away.
    words: Words,
    /// The word that the last piece ended in, and how many of its bytes are left.
    word: [u8; 8],
    left: usize,
}

impl Generator {
    /// Its bytes from byte `offset` on.
    ///
    /// # Errors
    ///
    /// One line, if it has no such place.
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
                    "sfc64 cannot skip: leave --offset out and drop the bytes, as in '| tail -c +{}', or take pcg64dxsm, which can",
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

/// The sequence that NumPy makes of the same number, or its child of this number.
fn numpys(seed: &Seed<'_>, substream: Option<u64>) -> Result<SeedSequence, String> {
    let root = SeedSequence::try_from(seed).map_err(|error| error.to_string())?;
    match substream {
        None => Ok(root),
        Some(index) => Ok(root.child(below(32, index)? as u32)),
    }
}

/// `index`, if it is below 2^`bits`.
fn below(bits: u32, index: u64) -> Result<u64, String> {
    if index >> bits == 0 {
        Ok(index)
    } else {
        Err(format!(
            "substream {index} does not exist: numbers end at 2^{bits} - 1 for this engine; take another seed for more"
        ))
    }
}

impl Bytes {
    /// The next bytes.
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
