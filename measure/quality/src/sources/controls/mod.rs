//! Generators that must fail. If a battery passes one of them, its verdict on other generators
//! means nothing.

mod ars;
mod clock;
mod linear;
mod moving;
mod mt19937;
mod subtle;

use super::{Named, Open, Source, SourceKind, endless, splitmix};

pub(super) const ALL: &[Named] = &[
    control(
        "xorshift128p",
        "linear in its lowest bit, of degree 128 (Vigna 2014; shifts 23, 18, 5)",
        Open::Streams(linear::xorshift128p),
    ),
    control(
        "xoroshiro128+",
        "linear in its lowest bit, of degree 128 (Blackman and Vigna 2018; 24, 16, 37)",
        Open::Seeded(linear::xoroshiro128_plus),
    ),
    control(
        "mt19937",
        "linear in every bit, of degree 19,937 (Nishimura's 64-bit version of 2004)",
        Open::Seeded(mt19937::open),
    ),
    control(
        "lcg64",
        "low bits have short periods (Knuth's MMIX, all 64 bits of the state)",
        Open::Seeded(lcg64),
    ),
    control(
        "wyrand",
        "neighbouring seeds give related streams, and words repeat too often (Wang Yi, wyhash final version 4)",
        Open::Seeded(wyrand),
    ),
    control(
        "ars3",
        "three rounds of AES over a counter, where seven are sound",
        Open::Seeded(ars::open::<3>),
    ),
    control(
        "ars4",
        "four rounds of AES over a counter, where seven are sound",
        Open::Seeded(ars::open::<4>),
    ),
    control("counter", "each word is the one before plus one", Open::Seeded(counter)),
    control("stuck", "one word for ever", Open::Seeded(|seed| endless(move || seed))),
    control(
        "clock%3",
        "the clock's nanoseconds modulo 3, once taken for a random choice",
        Open::Live(|| Ok(clock::open())),
    ),
    control("twice", "two copies of one sound stream, interleaved", Open::Seeded(twice)),
    control(
        "late-bytes",
        "sound for 2 MiB; then one byte of each word has even parity",
        Open::Seeded(subtle::late_bytes),
    ),
    control(
        "copied-bit-8",
        "each bit copies the one before with probability 2^-8",
        Open::Seeded(subtle::copied_bit::<8>),
    ),
    control(
        "copied-bit-9",
        "each bit copies the one before with probability 2^-9",
        Open::Seeded(subtle::copied_bit::<9>),
    ),
    control(
        "markov-10",
        "each bit copies the one before with probability 2^-10; needs 32 MiB",
        Open::Seeded(subtle::copied_bit::<10>),
    ),
    control(
        "biased-10",
        "each bit is one with probability 1/2 + 2^-10",
        Open::Seeded(subtle::biased::<10>),
    ),
    control(
        "biased-12",
        "each bit is one with probability 1/2 + 2^-12; needs 32 MiB",
        Open::Seeded(subtle::biased::<12>),
    ),
    control("period-20", "a period of 2^20 + 3 bytes", Open::Seeded(subtle::period)),
    control(
        "drift-9",
        "each bit is one with probability 1/2 + 2^-9 or 1/2 - 2^-9, which changes every 512 KiB",
        Open::Seeded(moving::drift),
    ),
    control(
        "echo-8191",
        "each bit copies the bit 8,191 places before with probability 1/64",
        Open::Seeded(moving::echo),
    ),
    control("slip-3", "8 KiB of each MiB come again, three bits off", Open::Seeded(moving::slip)),
    control(
        "noisy-register",
        "bits of x^9689 + x^4187 + 1, one in eight drawn anew",
        Open::Seeded(moving::register),
    ),
];

const fn control(name: &'static str, about: &'static str, open: Open) -> Named {
    Named { name, kind: SourceKind::Control, about, open }
}

fn lcg64(seed: u64) -> Box<dyn Source> {
    let mut state = seed;
    endless(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state
    })
}

fn wyrand(seed: u64) -> Box<dyn Source> {
    let mut state = seed;
    endless(move || {
        state = state.wrapping_add(0x2d35_8dcc_aa6c_78a5);
        let product = u128::from(state) * u128::from(state ^ 0x8bb8_4b93_962e_acc9);
        product as u64 ^ (product >> 64) as u64
    })
}

fn counter(seed: u64) -> Box<dyn Source> {
    let mut next = seed;
    endless(move || {
        next = next.wrapping_add(1);
        next.wrapping_sub(1)
    })
}

fn twice(seed: u64) -> Box<dyn Source> {
    let mut state = seed;
    let mut copy = None;
    endless(move || copy.take().unwrap_or_else(|| *copy.insert(splitmix(&mut state))))
}

#[cfg(test)]
mod tests {
    use crate::sources::{Way, by_name};

    fn words(name: &str, seed: u64, n: usize) -> Vec<u64> {
        let mut words = vec![0; n];
        by_name(name).unwrap().begin(seed, Way::Plain).unwrap().fill(&mut words).unwrap();
        words
    }

    #[test]
    fn wyrand_is_the_one_of_fastrand() {
        let mut peer = fastrand::Rng::with_seed(42);
        assert!(words("wyrand", 42, 100).iter().all(|&word| word == peer.u64(..)));
    }

    #[test]
    fn xoroshiro_is_the_one_of_its_authors_crate() {
        use rand_xoshiro::rand_core::{Rng, SeedableRng};
        // The crate makes its state of a seed by SplitMix64 too.
        let mut peer = rand_xoshiro::Xoroshiro128Plus::seed_from_u64(42);
        assert!(words("xoroshiro128+", 42, 100).iter().all(|&word| word == peer.next_u64()));
    }

    /// The author publishes the first output of another seeding. The C++ standard, [rand.predef],
    /// has the 10,000th of this one.
    #[test]
    fn the_twister_gives_the_word_that_the_cpp_standard_demands() {
        assert_eq!(words("mt19937", 5489, 10_000)[9_999], 9_981_545_732_273_789_042);
    }

    #[test]
    fn a_stream_that_comes_twice_does() {
        let words = words("twice", 1, 100);
        assert!(words.chunks_exact(2).all(|two| two[0] == two[1]));
        assert!(words.windows(3).all(|three| three[0] != three[2]));
    }
}
