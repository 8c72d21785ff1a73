//! The real batteries, as far as they are installed.

use headwater_quality::{Args, Verdict, run};

/// Every installed battery reads the stream, reports its version and passes a sound engine. The
/// report names the missing ones.
#[test]
fn installed_batteries_are_fed_and_understood() {
    let args = Args { source: "ars7".to_owned(), fast: true, external: true, ..Args::default() };
    let report = run(&args, std::io::empty()).unwrap();
    let names: Vec<&str> = report.external.iter().map(|battery| battery.name.as_str()).collect();
    assert_eq!(names, ["ent", "rngtest", "dieharder", "PractRand"]);
    for battery in &report.external {
        match &battery.skipped {
            Some(reason) => println!("skipped: {}: {reason}: its opinion is missing", battery.name),
            None => {
                println!(
                    "{} {:?}, {} bytes: {:?}",
                    battery.name, battery.version, battery.bytes, battery.results
                );
                assert!(battery.bytes >= 1 << 20 && !battery.results.is_empty());
                assert!(battery.results.iter().all(|result| result.verdict != Verdict::Failed));
            }
        }
        assert_ne!(battery.skipped.as_deref(), Some(""), "{}", battery.name);
    }
}

/// A counter's bytes are as uneven as can be.
#[test]
fn a_battery_that_finds_something_fails_the_run() {
    let args = Args { source: "counter".to_owned(), fast: true, external: true, ..Args::default() };
    let report = run(&args, std::io::empty()).unwrap();
    for battery in report.external.iter().filter(|battery| battery.skipped.is_none()) {
        assert!(
            battery.results.iter().any(|result| result.verdict == Verdict::Failed),
            "{}: {:?}",
            battery.name,
            battery.results
        );
    }
}
