//! The speed of the generators, beside rand_xoshiro: interleaved rounds in one process, medians.
//!
//! `cargo bench -p headwater-streams --bench generators`. Compare within one run only.

use headwater_streams::generators::{Pcg64Dxsm, SeedSequence, Sfc64, Xorshift128p, Xoshiro256pp};
use rand_core::{Rng, SeedableRng};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 41;
/// Stays in the second-level cache.
const BYTES: usize = 64 << 10;
const WORDS: usize = 8192;

type Case<'a> = (&'a str, Box<dyn FnMut() + 'a>);

fn fill<'a, R: Rng + 'a>(name: &'a str, mut rng: R) -> Case<'a> {
    let mut bytes = vec![0; BYTES];
    (name, Box::new(move || (0..16).for_each(|_| rng.fill_bytes(black_box(&mut bytes)))))
}

fn words<'a, R: Rng + 'a>(name: &'a str, mut rng: R) -> Case<'a> {
    let draw = move || {
        let sum = (0..16 * WORDS).fold(0u64, |sum, _| sum.wrapping_add(rng.next_u64()));
        black_box(sum);
    };
    (name, Box::new(draw))
}

/// Returns the median nanoseconds of each case. Each round runs all cases in turn.
fn measure(cases: &mut [Case]) -> Vec<f64> {
    let mut times = vec![Vec::new(); cases.len()];
    for round in 0..ROUNDS + 1 {
        for ((_, work), times) in cases.iter_mut().zip(&mut times) {
            let start = Instant::now();
            work();
            if round > 0 {
                times.push(start.elapsed().as_secs_f64() * 1e9);
            }
        }
    }
    times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    times.iter().map(|times| times[ROUNDS / 2]).collect()
}

fn report(title: &str, unit: &str, mut cases: Vec<Case>, value: impl Fn(f64) -> f64) {
    println!("\n{title}");
    let times = measure(&mut cases);
    for ((name, _), time) in cases.iter().zip(&times) {
        println!("  {name:24} {:8.2} {unit}   {:5.2}x", value(*time), times[0] / time);
    }
}

fn main() {
    let start = Xoshiro256pp::from_u64(1);
    let seeds = SeedSequence::from(1u64);
    let peer = || rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    report(
        "fill of 64 KiB",
        "GB/s",
        vec![
            fill("rand_xoshiro", peer()),
            fill("xoshiro256pp", start.clone()),
            fill("xoshiro256pp x8", start.lanes()),
            fill("xorshift128p", Xorshift128p::from_u64(1)),
            fill("pcg64dxsm", Pcg64Dxsm::from_seed_sequence(&seeds)),
            fill("sfc64", Sfc64::from_seed_sequence(&seeds)),
        ],
        |ns| (16 * BYTES) as f64 / ns,
    );
    report(
        "one word",
        "ns",
        vec![
            words("rand_xoshiro", peer()),
            words("xoshiro256pp", start.clone()),
            words("xoshiro256pp x8", start.lanes()),
            words("xorshift128p", Xorshift128p::from_u64(1)),
            words("pcg64dxsm", Pcg64Dxsm::from_seed_sequence(&seeds)),
            words("sfc64", Sfc64::from_seed_sequence(&seeds)),
        ],
        |ns| ns / (16 * WORDS) as f64,
    );
    let mut theirs = peer();
    let mut jumping = start.clone();
    let mut far = start.clone();
    report(
        "a jump",
        "ns",
        vec![
            ("rand_xoshiro", Box::new(move || (0..100).for_each(|_| theirs.jump()))),
            ("xoshiro256pp", Box::new(move || (0..100).for_each(|_| jumping.jump()))),
            (
                "of any length",
                Box::new(move || (0..100).for_each(|_| far = far.node(black_box(u64::MAX / 3)))),
            ),
        ],
        |ns| ns / 100.0,
    );
}
