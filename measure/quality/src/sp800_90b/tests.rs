//! The estimates beside those that the reference program has recorded of its own data sets.

use super::*;
use std::path::Path;

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
    let found = of(samples);
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
        println!("{name}: as the reference program");
    }
}

#[test]
fn the_assessment_is_the_same_each_time_and_one_symbol_has_no_entropy() {
    let mut rng = fastrand::Rng::with_seed(1);
    let samples: Vec<u8> = (0..20_000).map(|_| rng.u8(..3)).collect();
    let (first, second) = (of(&samples), of(&samples));
    assert_eq!(first, second);
    assert_eq!((first.width, first.symbols), (2, 3));
    assert!((0.3..1.6).contains(&first.assessed), "{}", first.assessed);
    let stuck = of(&[7; 20_000]);
    assert_eq!((stuck.assessed, stuck.sample, stuck.symbols), (0.0, 0.0, 1));
    // A period that a dictionary or a lag predicts, and whose suffixes agree for its whole length.
    let period: Vec<u8> = (0..100_000).map(|i| (i % 100) as u8).collect();
    assert!(of(&period).assessed < 0.01, "{:?}", of(&period));
}

#[test]
fn too_few_samples_and_other_sources_are_refused() {
    let args = |source: &str| Args { source: source.to_owned(), ..Args::default() };
    let few = assess(&args("-"), &[1_u8, 2, 3][..]).unwrap_err();
    assert!(few.to_string().starts_with("3 samples are too few"), "{few}");
    assert!(assess(&args("ars7"), &[0_u8; 20_000][..]).unwrap_err().is_usage());
}
