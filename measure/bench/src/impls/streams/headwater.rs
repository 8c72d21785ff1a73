//! headwater's own engines.

use crate::case::{BOUND, Numbers};
use crate::impls::implementation::Implementation;
use crate::impls::streams::stream::{Stream, ready};
use headwater_streams::generators::{
    Pcg64Dxsm, SeedSequence, Sfc64, Xorshift128p, Xoshiro256pp, Xoshiro256ppX8,
};
use headwater_streams::{Engine, Key};

/// An engine that is addressed by index: what an array holds is up to the key, the stream and the
/// place alone.
macro_rules! indexed {
    ($constant:ident, $name:literal, $engine:ident) => {
        pub(super) const $constant: Implementation = Implementation {
            name: $name,
            version: &version,
            has_modes: false,
            open: &|| ready(Indexed { key: Key::with_engine(Engine::$engine, 42), at: 0 }),
        };
    };
}

/// An engine that draws from a state.
macro_rules! sequential {
    ($constant:ident, $name:literal, $open:expr) => {
        pub(super) const $constant: Implementation = Implementation {
            name: $name,
            version: &version,
            has_modes: false,
            open: &|| ready(Sequential($open)),
        };
    };
}

indexed!(ARS7, "headwater-ars7", Ars7);
indexed!(ARS5, "headwater-ars5", Ars5);
indexed!(PHILOX, "headwater-philox4x32", Philox4x32);
sequential!(XOSHIRO, "headwater-xoshiro256pp", Xoshiro256pp::from_u64(42));
sequential!(XOSHIRO_X8, "headwater-xoshiro256pp-x8", Xoshiro256pp::from_u64(42).lanes());
sequential!(SFC64, "headwater-sfc64", Sfc64::from_seed_sequence(&SeedSequence::from_words(&[42])));
sequential!(
    PCG64DXSM,
    "headwater-pcg64dxsm",
    Pcg64Dxsm::from_seed_sequence(&SeedSequence::from_words(&[42]))
);
sequential!(XORSHIFT, "headwater-xorshift128p", Xorshift128p::from_u64(42));

fn version() -> Option<String> {
    Some(env!("CARGO_PKG_VERSION").to_owned()) // all crates of the workspace have one
}

struct Indexed {
    key: Key,
    /// The element that comes next.
    at: u64,
}

impl Stream for Indexed {
    const HAS: &[Numbers] = &Numbers::ALL;

    fn next(&mut self, numbers: Numbers, out: &mut [u64]) -> Option<()> {
        let stream = self.key.stream(0).ok()?;
        let start = self.at;
        self.at += out.len() as u64;
        match numbers {
            Numbers::U64 => stream.fill_u64(start, out),
            Numbers::F64 => stream.fill_f64(start, bytemuck::cast_slice_mut(out)),
            Numbers::Normal => stream.fill_normal_f64(start, bytemuck::cast_slice_mut(out)),
            Numbers::Bounded => stream.fill_bounded_u64(BOUND, start, out),
            Numbers::Shuffle => self.key.stream(start).map(|stream| stream.shuffle(out)),
            Numbers::Child => {
                let child = self.key.child(start).to_raw();
                out.copy_from_slice(bytemuck::cast_slice(&child));
                Ok(())
            }
        }
        .ok()
    }
}

struct Sequential<E>(E);

macro_rules! words_of {
    ($($engine:ty)*) => { $(
        impl Stream for Sequential<$engine> {
            const HAS: &[Numbers] = &[Numbers::U64];

            fn next(&mut self, _: Numbers, out: &mut [u64]) -> Option<()> {
                self.0.fill_u64(out);
                Some(())
            }
        }
    )* };
}

words_of!(Xoshiro256pp Xoshiro256ppX8 Sfc64 Pcg64Dxsm Xorshift128p);
