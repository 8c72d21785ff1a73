//! Gaps between equal values of 16 bits in all data.

use super::{Test, TestPart, words};
use crate::effort::Effort;
use crate::tally::Tally;
use crate::view::View;

pub(crate) const TEST: Test = Test {
    name: "returns",
    source: "Knuth, TAOCP 2, 3.3.2 D (gap test), for each of the 65,536 values",
    meaning: "Over all data, 16-bit values come back after some distances too often or too rarely.",
    unseen: "whether 16-bit values come back at random distances",
    least: 1 << 16,
    costly: false,
    fits: words,
    run,
};

const VALUES: usize = 1 << 16;

/// The longest gap that has a cell of its own: one in seven is longer.
const LONGEST: usize = 2 * VALUES;

/// The smallest number of gaps that a cell may expect.
const LEAST: f64 = 12.0;

/// Counts gaps by length. A multiplicative generator shows at single distances, so cells are as
/// narrow as the data allows.
///
/// A gap is counted if it began `LONGEST` places before the end or earlier: all of these are known,
/// and a count of the gaps that ended would prefer short ones. Gaps of different values depend on
/// each other a little, because each place ends one gap; in simulations the chi-square's variance
/// was 6 percent above that of independent gaps, and its mean 0.3 percent.
fn run(view: &View, _: Effort) -> Vec<TestPart> {
    let places = 4 * view.values.len();
    let Some(begun) = places.checked_sub(LONGEST) else { return Vec::new() };
    let chance = 1.0 / VALUES as f64;
    let beyond = |gap: usize| (1.0 - chance).powi(gap as i32);
    let rarest = begun as f64 * chance * beyond(LONGEST);
    let width = ((LEAST / rarest).ceil() as usize).next_power_of_two();
    if width > LONGEST / 8 {
        return Vec::new();
    }
    let cells = LONGEST / width;
    let mut seen = vec![0_u64; cells + 1];
    // One more than the place of each value's last occurrence; 0 before the first.
    let mut last = vec![0_usize; VALUES];
    let quarters = view
        .values
        .iter()
        .flat_map(|word| [0, 16, 32, 48].map(|shift| usize::from((word >> shift) as u16)));
    for (place, value) in quarters.enumerate() {
        let before = std::mem::replace(&mut last[value], place + 1);
        if (1..=begun).contains(&before) {
            let gap = place + 1 - before;
            seen[((gap - 1) / width).min(cells)] += 1;
        }
    }
    // Gaps that began in time and have not ended are long.
    seen[cells] += last.iter().filter(|last| (1..=begun).contains(*last)).count() as u64;
    let edges = (0..cells).map(|cell| beyond(cell * width) - beyond((cell + 1) * width));
    let chances = edges.chain([beyond(LONGEST)]).collect();
    let name = match width {
        1 => format!("gaps up to {LONGEST}"),
        _ => format!("gaps up to {LONGEST}, {width} lengths together"),
    };
    vec![TestPart::new(name, places, Tally::Cells { seen, chances })]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Form;

    fn parts(words: &[u64]) -> Vec<TestPart> {
        run(&View::new(words, Form { width: 64, reversed: false }, usize::MAX), Effort::Fast)
    }

    #[test]
    fn every_gap_that_begins_in_time_is_counted_once() {
        let mut rng = fastrand::Rng::with_seed(3);
        let words: Vec<u64> = (0..1 << 17).map(|_| rng.u64(..)).collect();
        let values: Vec<u16> = words
            .iter()
            .flat_map(|word| word.to_le_bytes().as_chunks().0.to_vec())
            .map(u16::from_le_bytes)
            .collect();
        let part = &parts(&words)[0];
        let Tally::Cells { seen, chances } = &part.tally else { unreachable!() };
        assert_eq!(seen.iter().sum::<u64>() as usize, values.len() - LONGEST);
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let width = LONGEST / (seen.len() - 1);
        // A few values by the definition.
        let mut expected = vec![0; seen.len()];
        let mut checked = vec![0; seen.len()];
        let begun = values.len() - LONGEST;
        for place in (0..begun).step_by(997) {
            let next = values[place + 1..].iter().position(|other| *other == values[place]);
            expected[next.map_or(seen.len() - 1, |gap| (gap / width).min(seen.len() - 1))] += 1;
            checked[0] += 1;
        }
        let long = expected[seen.len() - 1] as f64 / f64::from(checked[0]);
        assert!((long - 0.135).abs() < 0.05, "{long}");
        for (cell, count) in expected.iter().enumerate() {
            assert!(seen[cell] >= *count, "cell {cell}");
        }
    }

    #[test]
    fn a_value_at_a_fixed_distance_is_found_and_good_numbers_pass() {
        let mut rng = fastrand::Rng::with_seed(8);
        let mut words: Vec<u64> = (0..1 << 19).map(|_| rng.u64(..)).collect();
        assert!(parts(&words)[0].tally.p() > 1e-4);
        // One 16-bit value in 1,024 comes back 4,000 values later.
        for at in (0..words.len() - 1000).step_by(256) {
            words[at + 1000] = words[at + 1000] & !0xFFFF | words[at] & 0xFFFF;
        }
        assert!(parts(&words)[0].tally.p() < 1e-9);
    }

    #[test]
    fn little_data_makes_no_figure() {
        assert!(parts(&vec![0; 1 << 14]).is_empty());
    }
}
