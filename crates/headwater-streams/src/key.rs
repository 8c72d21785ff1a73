//! Keys: the root of all streams, and how one becomes many.

use crate::counter::STREAMS;
use crate::{Engine, Error, Label, Seed, Stream};
use blake2::Blake2s;
use blake2::digest::{Digest, consts::U16};

/// Begins every hash: the specification, and the version of it that fixes all values.
const SPEC: &[u8; 16] = b"hw-streams-draft";

/// What is hashed, so that a root, a child and expanded bytes are never one.
#[derive(Clone, Copy)]
enum Purpose {
    Root = 0,
    Child = 1,
}

/// An engine and 128 bits for it: everything that the numbers of 2^48 streams depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    engine: Engine,
    bytes: [u8; 16],
}

impl Key {
    /// The key of the default engine that `seed` stands for.
    pub fn from_seed<'a>(seed: impl Into<Seed<'a>>) -> Key {
        Key::with_engine(Engine::default(), seed)
    }

    /// The key of `engine` that `seed` stands for. Two engines' keys from one seed have nothing to do with each other.
    pub fn with_engine<'a>(engine: Engine, seed: impl Into<Seed<'a>>) -> Key {
        let mut hash = begin(Purpose::Root, engine);
        seed.into().encode(|piece| hash.update(piece));
        Key { engine, bytes: hash.finalize().into() }
    }

    /// The key made of these 16 bytes as they are, with no hash between: for other people's test vectors.
    pub const fn from_raw(engine: Engine, bytes: [u8; 16]) -> Key {
        Key { engine, bytes }
    }

    /// The key of the child called `label`.
    pub fn child<'a>(&self, label: impl Into<Label<'a>>) -> Key {
        let mut hash = begin(Purpose::Child, self.engine);
        hash.update(self.bytes);
        label.into().encode(|piece| hash.update(piece));
        Key { engine: self.engine, bytes: hash.finalize().into() }
    }

    /// Stream number `id` of this key.
    ///
    /// # Errors
    ///
    /// [`Error::StreamId`] if `id` is 2^48 or more.
    pub const fn stream(&self, id: u64) -> Result<Stream, Error> {
        if id < STREAMS { Ok(Stream::new(*self, id)) } else { Err(Error::StreamId(id)) }
    }

    /// The engine.
    pub const fn engine(&self) -> Engine {
        self.engine
    }

    /// The 16 bytes.
    pub const fn to_raw(&self) -> [u8; 16] {
        self.bytes
    }
}

fn begin(purpose: Purpose, engine: Engine) -> Blake2s<U16> {
    let mut hash = Blake2s::<U16>::new();
    hash.update(SPEC);
    let mut name = [0; 12];
    name[..engine.name().len()].copy_from_slice(engine.name().as_bytes());
    hash.update(name);
    hash.update([purpose as u8]);
    hash
}
