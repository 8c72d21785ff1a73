//! Equal spacings between birthdays.

use super::{Test, TestPart, spread, wide};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "birthday-spacings",
    source: "Marsaglia; L'Ecuyer and Simard, On the performance of birthday spacings tests, 2001",
    meaning: "Distances between values repeat: the values lie on a lattice.",
    unseen: "whether values lie on a lattice",
    least: 512,
    costly: true,
    fits: wide,
    run,
};

/// Birthdays and days as powers of two, largest first. With m birthdays in d days, m^3 / 4d
/// spacings are equal. Their number is Poisson distributed while m^2 / d is small; the square root
/// of m^2 / d bounds the error.
const CROWDS: [(u32, u32); 4] = [(17, 49), (14, 40), (12, 32), (9, 25)];

fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let mut parts = Vec::new();
    let fits = |&(people, days): &(u32, u32)| {
        days <= view.form.width && view.values.len() >> people >= if people == 9 { 1 } else { 4 }
    };
    for (people, days) in CROWDS.into_iter().filter(fits).take(2) {
        let (m, d) = (f64::from(1 << people), 2_f64.powi(days as i32));
        let there = view.values.len() >> people;
        let crowds = there.min(64);
        let mut seen = 0;
        let mut born = vec![0; 1 << people];
        for at in spread(there, crowds) {
            let crowd = &view.values[at << people..][..1 << people];
            born.iter_mut().zip(crowd).for_each(|(born, value)| *born = value >> (64 - days));
            born.sort_unstable();
            // The spacing around the end of the year counts too, so that all spacings are alike.
            let around = born[0] + (1 << days) - born[born.len() - 1];
            for i in (1..born.len()).rev() {
                born[i] -= born[i - 1];
            }
            born[0] = around;
            born.sort_unstable();
            seen += born.windows(2).filter(|two| two[0] == two[1]).count() as u64;
        }
        // Three equal spacings are two repeats, although they make three pairs.
        let pairs = m * m * m / (4.0 * d) * (1.0 - 2.0 / m);
        let threes = m.powi(5) / (18.0 * d * d);
        let expected = crowds as f64 * (pairs - threes);
        parts.push(TestPart::new(
            format!("2^{people} in 2^{days} days"),
            crowds << people,
            Tally::Rare { seen, expected },
        ));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats;
    use crate::view::Form;

    /// Four thousand crowds of each small size: a mean that is off by a percent would show.
    #[test]
    fn as_many_spacings_are_equal_as_the_formula_says() {
        let mut rng = fastrand::Rng::with_seed(12);
        for form in [Form { width: 64, reversed: false }, Form { width: 32, reversed: false }] {
            let mut total = Vec::<(u64, f64)>::new();
            for _ in 0..40 {
                let words: Vec<u64> = (0..1 << 16).map(|_| rng.u64(..)).collect();
                for (i, part) in
                    run(&View::new(&words, form, usize::MAX), Effort::Fast).into_iter().enumerate()
                {
                    let Tally::Rare { seen, expected } = part.tally else { unreachable!() };
                    total.resize(total.len().max(i + 1), (0, 0.0));
                    total[i].0 += seen;
                    total[i].1 += expected;
                }
            }
            for (seen, expected) in total {
                assert!(stats::poisson(seen, expected) > 1e-3, "{form}: {seen} for {expected}");
            }
        }
    }
}
