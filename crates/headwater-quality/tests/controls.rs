//! The tests tested: what must fail does, what is sound does not.

use headwater_quality::{Args, Kind, Report, Verdict, run, sources};

fn judge(source: &str, change: impl FnOnce(&mut Args)) -> Report {
    let mut args =
        Args { source: source.to_owned(), fast: true, seed: 1, size: 1.0, ..Args::default() };
    change(&mut args);
    run(&args, std::io::empty()).unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn failures(report: &Report) -> Vec<String> {
    let failed = report.rows.iter().filter(|row| row.verdict == Verdict::Failed);
    failed.map(|row| format!("{} ({})", row.test, row.streams)).collect()
}

/// Which test must find which control, whatever others find too.
#[test]
fn every_control_is_caught_by_the_test_that_should() {
    for (control, test) in [
        ("xorshift128+", "linear-complexity (one stream)"),
        ("xoroshiro128+", "rank (one stream)"),
        ("mt19937", "linear-complexity (one stream)"),
        ("lcg64", "linear-complexity (one stream)"),
        ("wyrand", "serial (seeds 1..9)"),
        ("ars3", "cube-sums (one stream)"),
        ("counter", "bit-correlation (one stream)"),
        ("stuck", "bit-frequency (one stream)"),
        ("clock%3", "serial (one stream)"),
        ("twice", "repeats (one stream)"),
    ] {
        let report = judge(control, |_| ());
        assert_eq!(report.verdict, Verdict::Failed, "{control}");
        let failures = failures(&report);
        assert!(failures.iter().any(|failure| failure == test), "{control}: {failures:?}");
    }
    let named = sources().filter(|source| source.kind == Kind::Control).count();
    assert_eq!(named, 10, "a control without a line above");
}

/// Except by bad luck once in a million runs, which for the reproducible ones would be there each time.
#[test]
fn what_is_sound_is_not_accused() {
    for source in sources().filter(|source| source.kind != Kind::Control) {
        let args = Args {
            source: source.name.to_owned(),
            fast: true,
            seed: 1,
            size: 1.0,
            ..Args::default()
        };
        match run(&args, std::io::empty()) {
            Ok(report) => assert_ne!(
                report.verdict,
                Verdict::Failed,
                "{}: {:?}",
                source.name,
                failures(&report)
            ),
            // A mode or a device that this machine does not have.
            Err(error) if !source.is_reproducible() => {
                println!("skipped: {}: {error}: nobody judges it here", source.name);
            }
            Err(error) => panic!("{}: {error}", source.name),
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_report_with_any_number_of_threads() {
    let rows = |threads| {
        let report = judge("wyrand", |args| args.threads = Some(threads));
        serde_json::to_string(&report.rows).unwrap()
    };
    assert_eq!(rows(1), rows(5));
}

#[test]
fn streams_and_seeds_that_are_asked_for_are_all_that_is_judged() {
    let report = judge("wyrand", |args| {
        args.streams = Some(16);
        args.seeds = Some(5..9);
    });
    assert!(
        report.rows.iter().all(|row| row.streams == "16 streams" || row.streams == "seeds 5..9")
    );
    assert_eq!(report.verdict, Verdict::Failed);
}

#[test]
fn standard_input_may_be_of_any_length_and_too_little_is_said() {
    let mut rng = fastrand::Rng::with_seed(2);
    let bytes: Vec<u8> = (0..(1 << 20) + 5).map(|_| rng.u8(..)).collect();
    let args = Args { source: "-".to_owned(), fast: true, seed: 1, size: 1.0, ..Args::default() };
    for length in [0, 1, 4095] {
        let error = run(&args, &bytes[..length]).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{length} bytes are too few")), "{error}");
        assert!(!error.is_usage());
    }
    let mut unseen = usize::MAX;
    for length in [4096, 5000, 40_000, 1 << 17, bytes.len()] {
        let report = run(&args, &bytes[..length]).unwrap();
        assert_ne!(report.verdict, Verdict::Failed, "{length}: {:?}", failures(&report));
        assert_eq!(report.bytes, length as u64 / 8 * 8);
        let missed = report.not_tested.iter().filter(|line| line.contains("needs")).count();
        assert!(missed <= unseen, "more shows more: {missed} of {length}");
        unseen = missed;
    }
    assert_eq!(unseen, 0);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |source: &str, change: &dyn Fn(&mut Args)| {
        let mut args = Args { source: source.to_owned(), seed: 1, size: 1.0, ..Args::default() };
        change(&mut args);
        let error = run(&args, std::io::empty()).unwrap_err();
        assert!(error.is_usage() && !error.to_string().contains('\n'), "{error}");
    };
    refused("dice", &|_| ());
    refused("/dev/urandom", &|args| args.seeds = Some(0..4));
    refused("-", &|args| args.streams = Some(4));
    refused("-", &|args| args.external = true);
    refused("wyrand", &|args| args.state = Some("x".into()));
    refused("wyrand", &|args| args.size = f64::NAN);
}
