//! The generators against other people's programs: rand_xoshiro, and the NumPy of this machine.

use headwater_streams::generators::{Pcg64Dxsm, SeedSequence, Sfc64, Xoshiro256pp};
use rand_core::{Rng, SeedableRng};
use std::env;
use std::process::Command;

#[test]
fn xoshiro256pp_is_rand_xoshiros() {
    for seed in (0..100).chain([u64::MAX]) {
        let mut ours = Xoshiro256pp::seed_from_u64(seed);
        let mut theirs = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
        assert_eq!(ours.next_u64(), theirs.next_u64());
        assert_eq!(ours.next_u32(), theirs.next_u32());
        ours.jump();
        theirs.jump();
        let (mut our_bytes, mut their_bytes) = ([0; 21], [0; 21]);
        ours.fill_bytes(&mut our_bytes);
        theirs.fill_bytes(&mut their_bytes);
        assert_eq!(our_bytes, their_bytes);
        ours.long_jump();
        theirs.long_jump();
        assert_eq!(ours.next_u64(), theirs.next_u64());
    }
    let zeros = rand_xoshiro::Xoshiro256PlusPlus::from_seed([0; 32]).next_u64();
    assert_eq!(Xoshiro256pp::from_seed([0; 32]).next_u64(), zeros);
    let seed = std::array::from_fn(|i| i as u8);
    let bytes = rand_xoshiro::Xoshiro256PlusPlus::from_seed(seed).next_u64();
    assert_eq!(Xoshiro256pp::from_seed(seed).next_u64(), bytes);
}

/// Seeds of every length that NumPy treats differently: no word of the pool, part of it, all, more
/// than it.
const SEEDS: [&[u32]; 8] = [
    &[0],
    &[1],
    &[u32::MAX],
    &[0xdead_beef, 0x1234],
    &[1, 2, 3, 4],
    &[1, 2, 3, 4, 5],
    &[0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344, 0xa409_3822, 0x299f_31d0, 0x082e_fa98],
    &[7, 0, 0, 1],
];

/// Prints, for each seed, its child 3 and child 0 of that child: words of the sequence, then words
/// of the engines, raw, after an advance, and as fractions.
const NUMPY: &str = "
import sys, numpy as np
from numpy.random import SeedSequence, PCG64DXSM, SFC64, Generator
def line(values): print(*[int(v) for v in values])
for seed in sys.argv[1:]:
    words = [int(w) for w in seed.split(',')]
    number = sum(w << 32 * i for i, w in enumerate(words))
    for entropy in (words, number):
        root = SeedSequence(entropy)
        child = root.spawn(4)[3]
        for s in (root, child, child.spawn(1)[0]):
            line(s.generate_state(9))
            line(s.generate_state(5, np.uint64))
            pcg = PCG64DXSM(s)
            line([pcg.state['state']['state'], pcg.state['state']['inc']])
            line(pcg.random_raw(100))
            pcg.advance(12345678901234567890)
            line(pcg.random_raw(5))
            line(Generator(pcg).random(5) * 2.0**53)
            sfc = SFC64(s)
            line(sfc.state['state']['state'])
            line(sfc.random_raw(100))
            line(Generator(sfc).random(5) * 2.0**53)
";

fn python() -> String {
    env::var("HEADWATER_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn push<T: ToString>(lines: &mut String, values: impl IntoIterator<Item = T>) {
    let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    lines.push_str(&values.join(" "));
    lines.push('\n');
}

fn expect(lines: &mut String, seeds: &SeedSequence) {
    push(lines, seeds.generate_u32::<9>());
    push(lines, seeds.generate_u64::<5>());
    let mut pcg = Pcg64Dxsm::from_seed_sequence(seeds);
    push(lines, [pcg.state().0, pcg.state().1]);
    push(lines, (0..100).map(|_| pcg.next_u64()));
    pcg.advance(12345678901234567890);
    push(lines, (0..5).map(|_| pcg.next_u64()));
    push(lines, (0..5).map(|_| (pcg.next_f64() * (1u64 << 53) as f64) as u64));
    let mut sfc = Sfc64::from_seed_sequence(seeds);
    push(lines, sfc.state());
    push(lines, (0..100).map(|_| sfc.next_u64()));
    push(lines, (0..5).map(|_| (sfc.next_f64() * (1u64 << 53) as f64) as u64));
}

#[test]
fn pcg64dxsm_and_sfc64_are_numpys() {
    let seeds = SEEDS.map(|words| words.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
    let answer = Command::new(python()).args(["-c", NUMPY]).args(&seeds).output();
    let answer = match answer {
        Ok(answer) if answer.status.success() => String::from_utf8(answer.stdout).unwrap(),
        other => {
            let why = match other {
                Ok(answer) => String::from_utf8_lossy(&answer.stderr)
                    .lines()
                    .last()
                    .unwrap_or("it failed")
                    .to_owned(),
                Err(error) => error.to_string(),
            };
            println!(
                "skipped: the words of NumPy: {} says: {why}; whether a newer NumPy still agrees",
                python()
            );
            return;
        }
    };
    let mut expected = String::new();
    for words in SEEDS {
        let as_integer = words.iter().rev().try_fold(0u128, |number, word| {
            (number >> 96 == 0).then_some(number << 32 | u128::from(*word))
        });
        // A longer integer is the same as its words.
        let integer =
            as_integer.map_or_else(|| SeedSequence::from_words(words), SeedSequence::from);
        for root in [SeedSequence::from_words(words), integer] {
            let child = root.child(3);
            for seeds in [&root, &child, &child.child(0)] {
                expect(&mut expected, seeds);
            }
        }
    }
    for (ours, theirs) in expected.lines().zip(answer.lines()) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(expected.lines().count(), answer.lines().count());
}
