//! The estimates beside those that the reference program has recorded of its own data sets.

use super::*;
use std::path::Path;

fn estimated(samples: &[u8]) -> Assessment {
    of(&Samples::new(samples.to_vec()))
}

/// Returns file, kind, estimator and estimate of each line of `reference.txt`.
fn reference() -> Vec<(&'static str, &'static str, &'static str, f64)> {
    let lines = include_str!("../../tests/sp800-90b/reference.txt").lines();
    let rows = lines.filter(|line| !line.starts_with('#')).map(|line| {
        let mut parts = line.split('\t');
        let mut next = || parts.next().expect("four columns");
        (next(), next(), next(), next().parse().expect("a number"))
    });
    rows.collect()
}

/// Compares every estimate of a file. The reference prints 17 digits, which two ways of adding a
/// million numbers do not share; its users read six.
fn compare(name: &str, samples: &[u8]) {
    let found = estimated(samples);
    let mut compared = 0;
    for (_, kind, estimator, expected) in reference().into_iter().filter(|row| row.0 == name) {
        let one = found.estimates.iter().find(|one| one.name == estimator);
        let bits = match kind {
            "assessed" => Some(found.assessed),
            "sample" => one.and_then(|one| one.sample),
            _ => one.and_then(|one| one.bit),
        };
        let bits = bits.unwrap_or_else(|| panic!("{name}: no {estimator} of a {kind}"));
        assert!(
            (bits - expected).abs() <= 1e-9 * expected.abs().max(1e-3),
            "{name}, {estimator} of a {kind}: {bits} for {expected}"
        );
        compared += 1;
    }
    assert!(compared >= 11, "{name}: {compared} estimates");
    let there = found.estimates.iter().flat_map(|one| [one.sample, one.bit]).flatten().count();
    assert_eq!(compared, there + 1, "{name}: estimates that the reference does not make");
}

#[test]
fn short_samples_have_the_estimates_of_the_reference_program() {
    compare("rand1_short", include_bytes!("../../tests/sp800-90b/rand1_short.bin"));
    compare("rand4_short", include_bytes!("../../tests/sp800-90b/rand4_short.bin"));
    compare("rand8_short", include_bytes!("../../tests/sp800-90b/rand8_short.bin"));
}

/// `HEADWATER_SP800_90B` names a checkout of the reference program, whose `bin/` has the standard's
/// data sets, a megabyte each.
#[test]
fn the_standards_data_sets_have_the_estimates_of_the_reference_program() {
    let Some(checkout) = std::env::var_os("HEADWATER_SP800_90B") else {
        println!(
            "skipped: HEADWATER_SP800_90B names no checkout of usnistgov/SP800-90B_EntropyAssessment: \
             eight data sets of a megabyte are not compared, three of 10,000 samples are"
        );
        return;
    };
    let mut names: Vec<&str> = reference().into_iter().map(|row| row.0).collect();
    names.dedup();
    assert_eq!(names.len(), 11);
    for name in names {
        let file = Path::new(&checkout).join("bin").join(format!("{name}.bin"));
        let samples =
            std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        compare(name, &samples);
        for line in include_str!("../../tests/sp800-90b/restarts.txt").lines() {
            let columns: Vec<&str> = line.split('\t').collect();
            if columns[0] == name && columns[4] != "-" {
                let initial = columns[1].parse().unwrap();
                let judged = restarts::judge(samples.clone(), initial, None).unwrap();
                assert_eq!(judged.row.max(judged.column).to_string(), columns[3], "{line}");
                for (found, expected) in [(judged.rows, columns[4]), (judged.columns, columns[5])] {
                    assert_eq!(format!("{:.6}", found.unwrap()), expected, "{line}");
                }
            }
        }
        compare_iid(name, samples, false);
        println!("{name}: as the reference programs");
    }
}

#[test]
fn the_assessment_is_the_same_each_time_and_one_symbol_has_no_entropy() {
    let mut rng = fastrand::Rng::with_seed(1);
    let samples: Vec<u8> = (0..20_000).map(|_| rng.u8(..3)).collect();
    let (first, second) = (estimated(&samples), estimated(&samples));
    assert_eq!(first, second);
    assert_eq!((first.width, first.symbols), (2, 3));
    assert!((0.3..1.6).contains(&first.assessed), "{}", first.assessed);
    let stuck = estimated(&[7; 20_000]);
    assert_eq!((stuck.assessed, stuck.sample, stuck.symbols), (0.0, 0.0, 1));
    // A period that a dictionary or a lag predicts, and whose suffixes agree for its whole length.
    let period: Vec<u8> = (0..100_000).map(|i| (i % 100) as u8).collect();
    assert!(estimated(&period).assessed < 0.01, "{:?}", estimated(&period));
}

/// Compares the tests of section 5 with the reference program's, and its verdicts if `decided` says
/// that the draw of the permutations decides none of them.
fn compare_iid(name: &str, samples: Vec<u8>, decided: bool) {
    let samples = Samples::new(samples);
    let iid = if decided { iid::judge(&samples, 2) } else { iid::before_permutations(&samples) };
    let word = |passed: bool| if passed { "Passed" } else { "Failed" };
    let repeated = iid.repeated.as_ref().expect("a test of more than one symbol");
    let mut compared = 0;
    let lines = include_str!("../../tests/sp800-90b/iid.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let [file, what, expected] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        if file != name {
            continue;
        }
        compared += 1;
        let verdict = match what {
            "chi-square" => Some(iid.chi_square.iter().all(|test| test.passed)),
            "substring" => Some(repeated.passed),
            "permutations" if decided => {
                Some(iid.permutations.iter().all(|test| test.passed == Some(true)))
            }
            "permutations" => continue,
            _ => None,
        };
        if let Some(passed) = verdict {
            assert_eq!(word(passed), expected, "{name}, {what}");
            continue;
        }
        let found = match what {
            "sample" => iid.sample,
            "bit" => iid.bit.unwrap(),
            "repeated collision" => repeated.collision,
            "repeated length" => repeated.length as f64,
            "repeated p" => repeated.p,
            _ => {
                let chi = |part: &str| {
                    let kind = what.strip_suffix(part)?;
                    iid.chi_square
                        .iter()
                        .find(|test| test.name.trim_end_matches(" of bits") == kind)
                };
                let statistic = || {
                    let named = |test: &&Permuted| {
                        test.lag
                            .map_or(what == test.name, |lag| what == format!("{} {lag}", test.name))
                    };
                    let found = iid.permutations.iter().find(named);
                    found.unwrap_or_else(|| panic!("{what} is no statistic")).value
                };
                let score = chi(" score").map(|test| test.score);
                let freedom = || chi(" freedom").map(|test| test.freedom as f64);
                let p = || chi(" p").map(|test| test.p);
                score.or_else(freedom).or_else(p).unwrap_or_else(statistic)
            }
        };
        let expected: f64 = expected.parse().unwrap();
        assert!(
            (found - expected).abs() <= 1e-9 * expected.abs().max(1e-3),
            "{name}, {what}: {found} for {expected}"
        );
    }
    assert!(compared >= 32, "{name}: {compared} lines");
}

#[test]
fn short_samples_have_the_statistics_and_verdicts_of_the_reference_program() {
    let rand1 = include_bytes!("../../tests/sp800-90b/rand1_short.bin");
    let rand8 = include_bytes!("../../tests/sp800-90b/rand8_short.bin");
    compare_iid("rand1_short", rand1.to_vec(), true);
    compare_iid("rand8_short", rand8.to_vec(), true);
    let rand4 = include_bytes!("../../tests/sp800-90b/rand4_short.bin");
    compare_iid("rand4_short", rand4.to_vec(), false);
}

/// Each defect of order fails the statistic that is there for it, and samples without one pass.
#[test]
fn defects_of_order_are_not_independent() {
    let mut rng = fastrand::Rng::with_seed(3);
    let judged = |samples: &[u8]| iid::judge(&Samples::new(samples.to_vec()), 2);
    let failed = |iid: &Iid| -> Vec<&'static str> {
        assert_eq!((iid.passed, iid.assessed), (false, None));
        let failed = iid.permutations.iter().filter(|test| test.passed == Some(false));
        failed.map(|test| test.name).collect()
    };
    let sound: Vec<u8> = (0..10_000).map(|_| rng.u8(..6)).collect();
    let first = judged(&sound);
    assert!(first.passed, "{first:#?}");
    // Few values have ties.
    let longest = &first.permutations[2];
    assert!(longest.equal > 0 && longest.greater + longest.equal > 5, "{longest:?}");
    // A biased die is independent too, and has what its most common face leaves.
    let biased: Vec<u8> = sound.iter().map(|&face| face.saturating_sub(2)).collect();
    let judged_biased = judged(&biased);
    assert!(judged_biased.passed);
    assert!((0.95..1.01).contains(&judged_biased.sample), "{}", judged_biased.sample);
    // The number of threads changes nothing, nor does a second run.
    let one = iid::judge(&Samples::new(sound.clone()), 1);
    assert_eq!((&one, &judged(&sound)), (&first, &first));
    // Every other sample is that of two before.
    let mut echo = sound.clone();
    (2..echo.len()).step_by(4).for_each(|i| echo[i] = echo[i - 2]);
    let found = failed(&judged(&echo));
    assert!(found.contains(&"periodicity") && !found.contains(&"excursion"), "{found:?}");
    let mut drifting = sound;
    drifting[..5000].sort_unstable();
    let drifting = judged(&drifting);
    let found = failed(&drifting);
    assert!(
        found.contains(&"excursion") && found.contains(&"length of directional runs"),
        "{found:?}"
    );
    let excursion = &drifting.permutations[0];
    assert_eq!([excursion.greater, excursion.equal, excursion.smaller], [0, 0, 10_000]);
    let compression = drifting.permutations.last().unwrap().passed;
    assert_eq!(compression, None, "a verdict that is known needs no compression");
    let stuck = judged(&[5; 10_000]);
    assert_eq!((stuck.passed, stuck.assessed, stuck.permutations.len()), (true, Some(0.0), 0));
}

/// The reference program draws five million rows for its cutoffs, so they are those of a sample: of
/// what lies beyond its cutoff and beyond one less, the 25 in five million are not more than five
/// standard deviations away.
#[test]
fn restarts_have_the_cutoffs_of_the_reference_program() {
    let lines = include_str!("../../tests/sp800-90b/restarts.txt").lines();
    let mut compared = 0;
    for line in lines.filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let initial: f64 = columns[1].parse().unwrap();
        let drawn: usize = columns[2].parse().unwrap();
        let beyond = |most| 5e6 * (1.0 - restarts::at_most(most, initial, 1000));
        assert!(beyond(drawn) < 50.0 && beyond(drawn - 1) > 8.0, "{line}: {}", beyond(drawn));
        let cutoff = restarts::cutoff(initial, 1000);
        let rows = 5e6 * (1.0 - 0.99_f64.powf(1.0 / 2000.0));
        assert!(beyond(cutoff) <= rows && beyond(cutoff - 1) > rows && cutoff.abs_diff(drawn) <= 2);
        compared += 1;
    }
    assert!(compared >= 4);
    assert_eq!(restarts::cutoff(0.0, 1000), 1000);
}

/// Beside all 2^12 rows of twelve bits, and all 3^8 rows of eight symbols of which the third is
/// rarer.
#[test]
fn the_probabilities_of_cutoffs_are_those_of_all_rows() {
    for (entropy, side, symbols) in [(1.0, 12, 2_usize), (1.1, 8, 3)] {
        let chance = 0.5_f64.powf(entropy);
        let chances = [chance, chance, 1.0 - 2.0 * chance];
        let mut exact = vec![0.0; side + 1];
        for row in 0..symbols.pow(side as u32) {
            let (mut counts, mut share) = ([0; 3], 1.0);
            let mut left = row;
            for _ in 0..side {
                counts[left % symbols] += 1;
                share *= chances[left % symbols];
                left /= symbols;
            }
            exact[counts.into_iter().max().unwrap()] += share;
        }
        let mut sum = 0.0;
        for (most, share) in exact.into_iter().enumerate() {
            sum += share;
            let found = restarts::at_most(most, entropy, side);
            assert!((found - sum).abs() < 1e-9, "{entropy}, {most}: {found} for {sum}");
        }
    }
}

/// Returns a matrix of a hundred rows.
fn matrix(value: impl FnMut(usize) -> u8) -> Vec<u8> {
    (0..10_000).map(value).collect()
}

#[test]
fn restarts_that_begin_alike_are_not_sane() {
    let mut rng = fastrand::Rng::with_seed(4);
    let sound = matrix(|_| rng.u8(..2));
    let judge = |samples: &[u8], initial, threads| {
        restarts::of(samples.to_vec(), 100, initial, threads).unwrap()
    };
    let mut alike = sound.clone();
    alike.chunks_exact_mut(100).for_each(|row| row[17] = 1);
    let judged = judge(&alike, 1.0, None);
    assert_eq!((judged.sane, judged.column, judged.assessed), (false, 100, None));
    let why = judged.failure();
    assert_eq!(why, Some("restarts repeat more samples than the initial estimate allows"));
    // One stuck restart is a row.
    let mut stuck = sound.clone();
    stuck[500..600].fill(0);
    let judged = judge(&stuck, 1.0, None);
    assert!(!judged.sane && judged.row == 100 && judged.column < 80, "{judged:?}");
    // Sound restarts keep the smallest estimate, here that of the claim.
    let judged = judge(&sound, 0.5, None);
    assert_eq!((judged.sane, judged.failure(), judged.assessed), (true, None, Some(0.5)));
    let judged = judge(&sound, 1.0, Some(2));
    assert_eq!((judged.failure(), judged.assessed), (None, judged.rows));
    let [rows, columns] = judged.iid.as_ref().unwrap();
    assert_eq!(rows.sample, columns.sample);
    assert_ne!(rows.permutations, columns.permutations);
}

/// Each bit is followed by the other one, so rows and columns have as many ones as a coin throws,
/// and half of the entropy.
#[test]
fn restarts_with_less_than_half_of_the_claim_fail() {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut last = 0;
    let pairs = matrix(|i| {
        last = if i % 2 == 0 { rng.u8(..2) } else { 1 - last };
        last
    });
    let judged = restarts::of(pairs.clone(), 100, 1.0, None).unwrap();
    assert!(judged.sane && judged.rows < Some(0.5) && judged.assessed.is_none(), "{judged:?}");
    let why = judged.failure();
    assert_eq!(why, Some("restarts have less than half of the entropy of the initial estimate"));
    // Half is the limit.
    let least = judged.rows.unwrap().min(judged.columns.unwrap());
    let claimed = |claim| restarts::of(pairs.clone(), 100, claim, None).unwrap().assessed;
    assert_eq!((claimed(1.95 * least), claimed(2.05 * least)), (Some(least), None));
    let judged = restarts::of(pairs, 100, 1.0, Some(2)).unwrap();
    assert!(judged.failure().unwrap().contains("not independent"), "{judged:?}");
}

#[test]
fn too_few_samples_and_other_sources_are_refused() {
    let args = |source: &str| Args { source: source.to_owned(), ..Args::default() };
    let few = assess(&args("-"), &[1_u8, 2, 3][..]).unwrap_err();
    assert!(few.to_string().starts_with("3 samples are too few"), "{few}");
    assert!(assess(&args("ars7"), &[0_u8; 20_000][..]).unwrap_err().is_usage());
    let idle = Args { threads: Some(2), ..args("-") };
    assert!(assess(&idle, &[0_u8; 20_000][..]).unwrap_err().is_usage());
    let short = Args { restart: Some(1.0), ..args("-") };
    let short = assess(&short, &[0_u8; 20_000][..]).unwrap_err();
    assert!(short.to_string().starts_with("20000 samples are no matrix"), "{short}");
    for claim in [-0.1, 1.1, f64::NAN] {
        let claimed = Args { restart: Some(claim), ..args("-") };
        assert!(assess(&claimed, &[1_u8; 1_000_000][..]).unwrap_err().is_usage(), "{claim}");
    }
}
