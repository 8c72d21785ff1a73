//! Generators of Rust that seed themselves.

use super::{Sources, hex};
use rand::rngs::{SmallRng, StdRng};
use rand::{Rng, SeedableRng};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

pub(super) fn sources() -> Sources {
    let mut sources = Sources::new("rand 0.10, fastrand 2, std");
    sources.draw("rust/rand::rng", || Ok(sixteen(&mut rand::rng())));
    let mut kept: StdRng = rand::make_rng();
    sources.draw("rust/StdRng, kept", move || Ok(sixteen(&mut kept)));
    let mut small: SmallRng = rand::make_rng();
    sources.draw("rust/SmallRng, kept", move || Ok(sixteen(&mut small)));
    sources.draw("rust/StdRng, new", || Ok(sixteen(&mut rand::make_rng::<StdRng>())));
    let _ = StdRng::seed_from_u64; // a seed of the user's is meant to repeat, and is no source
    sources.draw("rust/fastrand", || Ok(format!("{:032x}", fastrand::u128(..))));
    let mut rng = fastrand::Rng::new();
    sources.draw("rust/fastrand::Rng, kept", move || Ok(format!("{:032x}", rng.u128(..))));
    // A thread draws two keys once, and each new map adds one to the first.
    sources.draw("rust/RandomState, new", || {
        Ok(format!("{:016x}", RandomState::new().hash_one("headwater")))
    });
    let map: HashMap<&str, ()> = HashMap::new();
    sources.keep("rust/HashMap, kept", move || {
        Ok(format!("{:016x}", map.hasher().hash_one("headwater")))
    });
    sources
}

fn sixteen(rng: &mut impl Rng) -> String {
    let mut bytes = [0; 16];
    rng.fill_bytes(&mut bytes);
    hex(&bytes)
}
