//! Keys: the roots of all streams, and their children.

use crate::counter::STREAMS;
use crate::engine::{self, Backend};
use crate::features::Features;
use crate::{Engine, Error, Label, Seed, Stream};
use blake2::{Blake2s256, Digest};

/// The beginning of every message: the specification and its version.
const SPEC: &[u8; 16] = b"hw-streams-v1\0\0\0";
/// Room for an engine's name, which is padded with zeros.
const NAME: usize = 12;
// A longer name would overlap the purpose, and two engines might share their keys.
const _: () = {
    let mut i = 0;
    while i < Engine::ALL.len() {
        assert!(Engine::ALL[i].name().len() <= NAME);
        i += 1;
    }
};

/// The purpose of a hash: a byte of the message, so that a root, a child and expanded bytes never
/// meet.
#[derive(Clone, Copy)]
enum Purpose {
    Root = 0,
    Child = 1,
    Expand = 2,
}

/// An engine and 128 bits: everything that the numbers of 2^48 streams depend on. [Not for
/// secrets](crate).
///
/// Keys are values, without a counter or other shared state. So a key's children and streams are
/// functions of the key and their names: in any order, any number of times, on any machine and
/// thread.
///
/// ```
/// use headwater_streams::Key;
///
/// let key = Key::from_seed(42);
/// let mut arrivals = [0; 4];
/// key.child("arrivals").stream(3)?.fill_u64(0, &mut arrivals)?;
/// # Ok::<(), headwater_streams::Error>(())
/// ```
///
/// The keys of two children, or of two seeds, are equal with a chance of 2^-128; STREAMS.md works
/// out the chance among millions. Streams of one key do not meet at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(into = "crate::form::KeyForm", try_from = "crate::form::KeyForm")
)]
pub struct Key {
    engine: Engine,
    bytes: [u8; 16],
}

impl Key {
    /// Returns the key of the default engine, `ars7`, of `seed`.
    pub fn from_seed<'a>(seed: impl Into<Seed<'a>>) -> Key {
        Key::with_engine(Engine::default(), seed)
    }

    /// Returns the key of `engine` and `seed`. Two engines' keys from one seed are unrelated.
    pub fn with_engine<'a>(engine: Engine, seed: impl Into<Seed<'a>>) -> Key {
        seed.into().encoded(|kind, seed| Key {
            engine,
            bytes: half(hash(Purpose::Root, engine, &[&[kind], seed])),
        })
    }

    /// Returns the key made of these 16 bytes as they are, the lowest first, with no hash between.
    /// So it serves test vectors, and reproduces the numbers of other programs with the same
    /// engine. But similar bytes make similar keys, so otherwise make keys
    /// [from a seed](Key::from_seed).
    pub const fn from_raw(engine: Engine, bytes: [u8; 16]) -> Key {
        Key { engine, bytes }
    }

    /// Returns the key of the child called `label`. Make a child for each part of a program, each
    /// task or each particle that needs numbers of its own.
    ///
    /// A pure function of the key and the label. An integer as a label is its value, and not a
    /// text; see [`Seed`].
    pub fn child<'a>(&self, label: impl Into<Label<'a>>) -> Key {
        label.into().encoded(|kind, label| Key {
            engine: self.engine,
            bytes: half(hash(Purpose::Child, self.engine, &[&self.bytes, &[kind], label])),
        })
    }

    /// Fills `out` with bytes for the generator called `label`: the material that seeds the states
    /// of other generators. The bytes are unrelated to the key's streams and children, and a
    /// shorter `out` gets the beginning of a longer one.
    pub fn expand<'a>(&self, label: impl Into<Label<'a>>, out: &mut [u8]) {
        label.into().encoded(|kind, label| {
            for (number, chunk) in (0_u64..).zip(out.chunks_mut(32)) {
                let number = number.to_le_bytes();
                let parts: [&[u8]; 4] = [&self.bytes, &number, &[kind], label];
                let bytes = hash(Purpose::Expand, self.engine, &parts);
                chunk.copy_from_slice(&bytes[..chunk.len()]);
            }
        });
    }

    /// Returns stream number `id` of this key. No two streams of a key have a block in common.
    ///
    /// # Errors
    ///
    /// [`Error::StreamId`] if `id` is 2^48 or more.
    pub const fn stream(&self, id: u64) -> Result<Stream, Error> {
        if id < STREAMS { Ok(Stream::new(*self, id)) } else { Err(Error::StreamId(id)) }
    }

    /// Returns the engine's own output: the block that it makes of `counter`, whatever stream that
    /// is in.
    ///
    /// Word 0 of the authors' `ctr`, `key` and result is the lowest of ours. If the upper half of
    /// the key is zero, Philox returns the block of cuRAND and PyTorch for seed `key`, subsequence
    /// `counter >> 64` and offset `counter as u64 * 4`.
    pub fn block(&self, counter: u128) -> u128 {
        let mut block = [counter.to_le_bytes()];
        Backend::choose(self.engine, Features::detect()).replace(
            self.engine,
            self.bytes,
            &mut block,
        );
        u128::from_le_bytes(block[0])
    }

    /// Returns the counter whose [`block`](Key::block) is `block`: from the top 48 bits of stream,
    /// 16 bits of draw and 64 bits of block number.
    ///
    /// An engine is a bijection, so every block has a counter, which shows where a block that was
    /// found belongs. A block of other data has a counter too. Its 16 bits of draw are zero with a
    /// chance of 2^-16 only, and the next block's counter is not the next one.
    ///
    /// ```
    /// use headwater_streams::Key;
    ///
    /// let key = Key::from_seed(42);
    /// let mut found = [0; 16];
    /// key.stream(3)?.fill_u8(16 * 1000, &mut found)?;
    /// assert_eq!(key.counter(u128::from_le_bytes(found)), 3 << 80 | 1000);
    /// # Ok::<(), headwater_streams::Error>(())
    /// ```
    pub fn counter(&self, block: u128) -> u128 {
        u128::from_le_bytes(engine::counter(self.engine, self.bytes, block.to_le_bytes()))
    }

    /// Returns the engine.
    pub const fn engine(&self) -> Engine {
        self.engine
    }

    /// Returns the 16 bytes, from which [`from_raw`](Key::from_raw) makes the key again.
    pub const fn to_raw(&self) -> [u8; 16] {
        self.bytes
    }
}

/// Returns BLAKE2s-256 (RFC 7693) of the specification's name, the engine's, the purpose, and
/// `parts`. The purpose fixes the lengths of all these but the last part, which goes up to the end,
/// so two different lists of parts are two different messages.
fn hash(purpose: Purpose, engine: Engine, parts: &[&[u8]]) -> [u8; 32] {
    // A short message goes to BLAKE2s in one piece: joining five pieces would take half of its
    // time.
    let mut message = [0; 128];
    let mut len = SPEC.len() + NAME + 1;
    message[..SPEC.len()].copy_from_slice(SPEC);
    message[SPEC.len()..][..engine.name().len()].copy_from_slice(engine.name().as_bytes());
    message[SPEC.len() + NAME] = purpose as u8;
    let mut hash = Blake2s256::new();
    for part in parts {
        match message.get_mut(len..len + part.len()) {
            Some(place) => {
                place.copy_from_slice(part);
                len += part.len();
            }
            None => {
                hash.update(&message[..len]);
                hash.update(part);
                len = 0;
            }
        }
    }
    hash.update(&message[..len]);
    hash.finalize().into()
}

/// Turns a hash into a key: its first half.
fn half(hash: [u8; 32]) -> [u8; 16] {
    core::array::from_fn(|i| hash[i])
}
