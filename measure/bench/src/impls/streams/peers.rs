//! The other sources from which Rust programs fill arrays.

use crate::case::{BOUND, Numbers};
use crate::impls::implementation::Implementation;
use crate::impls::streams::stream::{Stream, ready};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_philox::Philox;
use rand_xoshiro::Xoshiro256PlusPlus;

/// xoshiro256++ of `rand_xoshiro`, which is also what `rand`'s `SmallRng` is; with `rand`'s and
/// `rand_distr`'s ways to make numbers of it.
pub(super) const XOSHIRO: Implementation = Implementation {
    name: "rand_xoshiro",
    version: &|| {
        option_env!("HEADWATER_BENCH_RAND_XOSHIRO").map(|version| format!("rand_xoshiro {version}"))
    },
    has_modes: false,
    open: &|| ready(Xoshiro(Xoshiro256PlusPlus::seed_from_u64(42))),
};

pub(super) const PHILOX: Implementation = Implementation {
    name: "rand_philox",
    version: &|| {
        option_env!("HEADWATER_BENCH_RAND_PHILOX").map(|version| format!("rand_philox {version}"))
    },
    has_modes: false,
    open: &|| ready(Philox4x32(Philox::from_u64_seed(42))),
};

/// No generator, but what no generator passes: memory, written.
pub(super) const MEMSET: Implementation = Implementation {
    name: "memset",
    version: &|| None,
    has_modes: false,
    open: &|| ready(Memset(0)),
};

struct Xoshiro(Xoshiro256PlusPlus);

impl Stream for Xoshiro {
    const HAS: &[Numbers] = &[
        Numbers::U64,
        Numbers::F64,
        Numbers::Normal,
        Numbers::Bounded,
        Numbers::Shuffle,
        Numbers::Child,
    ];

    fn next(&mut self, numbers: Numbers, out: &mut [u64]) -> Option<()> {
        let rng = &mut self.0;
        match numbers {
            Numbers::U64 => rng.fill_bytes(bytemuck::cast_slice_mut(out)),
            Numbers::F64 => {
                let out: &mut [f64] = bytemuck::cast_slice_mut(out);
                out.iter_mut().for_each(|number| *number = rng.random());
            }
            Numbers::Normal => {
                let out: &mut [f64] = bytemuck::cast_slice_mut(out);
                out.iter_mut().for_each(|number| *number = rng.sample(StandardNormal));
            }
            Numbers::Bounded => {
                out.iter_mut().for_each(|number| *number = rng.random_range(0..BOUND));
            }
            Numbers::Shuffle => out.shuffle(rng),
            Numbers::Child => {
                rng.jump();
                out.fill_with(|| rng.next_u64());
            }
        }
        Some(())
    }
}

struct Philox4x32(Philox);

impl Stream for Philox4x32 {
    const HAS: &[Numbers] = &[Numbers::U64];

    fn next(&mut self, _: Numbers, out: &mut [u64]) -> Option<()> {
        self.0.fill_u32(bytemuck::cast_slice_mut(out));
        Some(())
    }
}

struct Memset(u8);

impl Stream for Memset {
    const HAS: &[Numbers] = &[Numbers::U64];

    fn next(&mut self, _: Numbers, out: &mut [u64]) -> Option<()> {
        self.0 = self.0 % 0x7F + 1;
        out.fill(u64::from_ne_bytes([self.0; 8]));
        Some(())
    }
}
