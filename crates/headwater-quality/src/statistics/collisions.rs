//! Values that agree in their leading bits, or altogether.

use super::{Part, Test, wide, words};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "collisions",
    source: "Knuth, TAOCP 2, 3.3.2 I; Christiansen 1975",
    meaning: "Values fall into the same places too often, or avoid each other.",
    unseen: "whether values avoid each other, or crowd",
    least: 1 << 12,
    costly: true,
    fits: wide,
    run: collisions,
};

pub(crate) const REPEATS: Test = Test {
    name: "repeats",
    source: "own; the birthday bound on whole words",
    meaning: "A word of 64 bits came twice, which chance does once in years: the stream repeats, or two parts of it are copies.",
    unseen: "whether whole words come twice",
    least: 64,
    costly: false,
    fits: words,
    run: repeats,
};

fn collisions(view: &View, _: Effort) -> Vec<Part> {
    let balls = view.values.len().ilog2().min(20);
    // So many urns that some 32 collisions are expected.
    let urns = 2 * balls - 6;
    if urns > view.form.width {
        return few_urns(view);
    }
    vec![count(view, balls, urns)]
}

/// Where values are narrower than that, fewer balls.
fn few_urns(view: &View) -> Vec<Part> {
    vec![count(view, (view.form.width + 6) / 2, view.form.width)]
}

fn count(view: &View, balls: u32, urns: u32) -> Part {
    let (m, n) = (f64::from(1 << balls), 2_f64.powi(urns as i32));
    let mut seen = 0;
    let mut expected = 0.0;
    for values in view.values.chunks_exact(1 << balls).take(4) {
        seen += doubles(values.iter().map(|value| value >> (64 - urns)).collect());
        // m - n (1 - (1 - 1/n)^m), whose difference would lose all digits.
        expected += m * m / (2.0 * n) * (1.0 - 1.0 / m) * (1.0 - m / (3.0 * n));
    }
    Part::new(format!("2^{balls} in 2^{urns}"), Tally::Rare { seen, expected })
}

/// Where a stream, or a part of it, comes again, so do all its words: of many, those with four leading zeros are enough, and soon sorted.
fn repeats(view: &View, _: Effort) -> Vec<Part> {
    let m = view.values.len() as f64;
    let pairs = m * m / 2.0 / 2_f64.powi(64);
    let (name, words, share) = if view.values.len() <= 1 << 20 {
        ("whole words", view.values.clone(), 1.0)
    } else {
        let few = view.values.iter().filter(|&word| word >> 60 == 0);
        ("whole words, one in 16", few.copied().collect(), 1.0 / 16.0)
    };
    vec![Part::new(name, Tally::Rare { seen: doubles(words), expected: pairs * share })]
}

/// How many are equal to one before them.
fn doubles(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.windows(2).filter(|two| two[0] == two[1]).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Form;

    fn seen(words: &[u64]) -> u64 {
        let view = View::new(words, Form { width: 64, reversed: false }, usize::MAX);
        match repeats(&view, Effort::Standard).remove(0).tally {
            Tally::Rare { seen, .. } => seen,
            other => panic!("{other:?}"),
        }
    }

    /// Of few words all are compared, of many a sixteenth: what a repeated stretch of a thousand does not escape.
    #[test]
    fn a_stretch_that_comes_again_is_seen_in_few_words_and_in_many() {
        let mut rng = fastrand::Rng::with_seed(1);
        for (len, least, most) in [(1 << 16, 1000, 1000), (1 << 21, 30, 100)] {
            let mut words: Vec<u64> = (0..len).map(|_| rng.u64(..)).collect();
            assert_eq!(seen(&words), 0);
            words.copy_within(77..1077, len - 5000);
            let seen = seen(&words);
            assert!((least..=most).contains(&seen), "{seen} of {len} words");
        }
    }
}
