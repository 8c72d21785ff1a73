//! The tests tested: what must fail does, what is sound does not.

use headwater_quality::{Args, Group, Report, Row, SourceKind, Verdict, run, sources};

fn judge(source: &str, change: impl FnOnce(&mut Args)) -> Report {
    let mut args = Args { source: source.to_owned(), fast: true, ..Args::default() };
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
        ("xorshift128p", "linear-complexity (one stream)"),
        ("xoroshiro128+", "rank (one stream)"),
        ("mt19937", "linear-complexity (one stream)"),
        ("lcg64", "linear-complexity (one stream)"),
        ("wyrand", "serial (seeds 1..9)"),
        ("ars3", "cube-sums (one stream)"),
        ("ars4", "exchanges (one stream)"),
        ("counter", "bit-correlation (one stream)"),
        ("stuck", "bit-frequency (one stream)"),
        ("clock%3", "serial (one stream)"),
        ("twice", "repeats (one stream)"),
        ("late-bytes", "byte-frequency (one stream)"),
        ("copied-bit-8", "bit-autocorrelation (one stream)"),
        ("copied-bit-9", "bit-autocorrelation (one stream)"),
        ("biased-10", "byte-frequency (one stream)"),
        ("period-20", "repeats (one stream)"),
        ("drift-9", "drift (one stream)"),
        ("echo-8191", "copies (one stream)"),
        ("slip-3", "slips (one stream)"),
        ("noisy-register", "trinomials (one stream)"),
    ] {
        let report = judge(control, |_| ());
        assert_eq!(report.verdict, Verdict::Failed, "{control}");
        let failures = failures(&report);
        assert!(failures.iter().any(|failure| failure == test), "{control}: {failures:?}");
    }
    let named = sources().filter(|source| source.kind == SourceKind::Control).count();
    assert_eq!(named, 20 + SMALL.len(), "a control without a line above, or among the small ones");
}

/// Controls whose defect 4 MiB do not show, with the test that finds it in 32 MiB.
const SMALL: [(&str, &str); 2] =
    [("markov-10", "bit-autocorrelation"), ("biased-12", "byte-frequency")];

#[test]
fn small_defects_are_found_in_32_mib() {
    for (control, test) in SMALL {
        let report = judge(control, |args| {
            args.block_words = Some(1 << 22);
            args.only = vec![Group::One];
        });
        let failures = failures(&report);
        assert!(failures.contains(&format!("{test} (one stream)")), "{control}: {failures:?}");
    }
}

/// Returns whether a row belongs to the tests that read all data, or to the parts that were added
/// to older tests with them.
fn reads_all(row: &Row) -> bool {
    matches!(
        row.test.as_str(),
        "byte-frequency"
            | "byte-pairs"
            | "bit-autocorrelation"
            | "returns"
            | "residues"
            | "drift"
            | "triples"
            | "copies"
            | "slips"
    ) || row.part.starts_with("8 bytes at any place")
        || row.part.starts_with("all bytes, gaps")
}

/// Before the tests that read all data there was no test for these controls. If another test began
/// to find them, the control would no longer show that these tests work.
#[test]
fn only_the_tests_that_read_all_data_find_the_subtle_controls() {
    // Two are absent. Samples from the whole block, in place of a prefix, show late-bytes to older
    // tests too, and the mean of Hamming weights always showed a bias of 2^-10.
    for control in ["copied-bit-8", "copied-bit-9", "period-20"] {
        let report = judge(control, |args| args.only = vec![Group::One]);
        let failed = report.rows.iter().filter(|row| row.verdict == Verdict::Failed);
        let others: Vec<_> = failed.filter(|row| !reads_all(row)).collect();
        assert_eq!(report.verdict, Verdict::Failed, "{control}");
        assert!(others.is_empty(), "{control}: {others:?}");
    }
}

/// Defects that passed 128 MiB before there was a test for each: no other test sees 4 MiB of them.
#[test]
fn only_their_own_tests_find_drifts_echoes_slips_and_noisy_registers() {
    // Slips of one length are also copies at one lag.
    for (control, own) in [
        ("drift-9", &["drift"][..]),
        ("echo-8191", &["copies"]),
        ("slip-3", &["slips", "copies"]),
        ("noisy-register", &["trinomials"]),
    ] {
        let report = judge(control, |args| args.only = vec![Group::One]);
        let failed = report.rows.iter().filter(|row| row.verdict == Verdict::Failed);
        let tests: Vec<&str> = failed.map(|row| row.test.as_str()).collect();
        assert!(tests.contains(&own[0]), "{control}: {tests:?}");
        assert!(tests.iter().all(|test| own.contains(test)), "{control}: {tests:?}");
    }
}

/// Bytes that go bad after 4 MiB: the 8-bit forms once saw the first 1/32 of the data.
#[test]
fn bytes_that_go_bad_after_4_mib_of_16_fail() {
    let mut rng = fastrand::Rng::with_seed(20);
    let mut bytes: Vec<u8> = (0..16 << 17).flat_map(|_| rng.u64(..).to_le_bytes()).collect();
    let judge = |bytes: &[u8]| {
        let args = Args {
            source: "-".to_owned(),
            fast: true,
            block_words: Some(bytes.len() / 8),
            ..Args::default()
        };
        run(&args, bytes).unwrap()
    };
    assert_ne!(judge(&bytes).verdict, Verdict::Failed);
    // One byte in 64 loses its parity: a share of 1/64 of one byte's 8 bits.
    for byte in bytes[4 << 20..].iter_mut().step_by(64) {
        *byte ^= u8::from(byte.count_ones() % 2 == 1);
    }
    let report = judge(&bytes);
    let failures = failures(&report);
    assert!(failures.contains(&"byte-frequency (one stream)".to_owned()), "{failures:?}");
}

/// The number of values in the JSON is the number that the figure used.
#[test]
fn every_figure_reports_the_values_that_it_used() {
    let report = judge("ars7", |args| args.only = vec![Group::One]);
    let values = |test: &str, form: &str, part: &str| {
        let row = report
            .rows
            .iter()
            .find(|row| row.test == test && row.form == form && row.part.starts_with(part));
        row.unwrap_or_else(|| panic!("{test} {form} {part}")).values
    };
    assert_eq!(values("byte-frequency", "64 bit", "bytes"), 4 << 20);
    assert_eq!(values("byte-pairs", "64 bit", "even"), (4 << 20) - 8);
    assert_eq!(values("bit-autocorrelation", "64 bit", "lags"), 1 << 19);
    assert_eq!(values("gap", "8 bit", "gaps"), 1 << 17);
    assert_eq!(values("bit-correlation", "64 bit", "1 apart"), 16 * 63 * 64);
    assert_eq!(values("linear-complexity", "64 bit", "length of 4096"), 4096);
}

/// `--standard` stops at the first failure, because every further figure would only confirm it.
#[test]
fn standard_stops_at_the_first_failure_and_all_goes_on() {
    let report = |all| {
        judge("stuck", |args| {
            (args.fast, args.all, args.block_words) = (false, all, Some(1 << 16));
            args.only = vec![Group::One];
        })
    };
    let (first, whole) = (report(false), report(true));
    assert!(first.stopped && !whole.stopped);
    assert!(first.rows.len() < whole.rows.len());
    assert_eq!((first.verdict, whole.verdict), (Verdict::Failed, Verdict::Failed));
}

/// The stop assumes a number of figures that no run may exceed.
#[test]
fn no_run_has_more_figures_than_the_stop_assumes() {
    let report =
        judge("ars7", |args| (args.fast, args.all, args.block_words) = (true, false, None));
    // --standard has seven arrangements in place of four, and fewer than half as many figures again
    // of each.
    assert!(report.rows.len() / 4 * 7 * 3 / 2 < 2048, "{} figures", report.rows.len());
}

/// Except by bad luck once in a million runs, which for the reproducible ones would be there each
/// time.
#[test]
fn what_is_sound_is_not_accused() {
    for source in sources().filter(|source| source.kind != SourceKind::Control) {
        let args = Args { source: source.name.to_owned(), fast: true, ..Args::default() };
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
                println!("skipped: {}: {error}: not judged on this machine", source.name);
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
    let args = Args { source: "-".to_owned(), fast: true, ..Args::default() };
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
        let mut args = Args { source: source.to_owned(), ..Args::default() };
        change(&mut args);
        let error = run(&args, std::io::empty()).unwrap_err();
        assert!(error.is_usage() && !error.to_string().contains('\n'), "{error}");
    };
    refused("dice", &|_| ());
    refused("/dev/urandom", &|args| args.seeds = Some(0..4));
    refused("-", &|args| args.streams = Some(4));
    refused("-", &|args| args.external = true);
    refused("wyrand", &|args| args.state = Some("x".into()));
    refused("wyrand", &|args| args.size = Some(1.0));
    refused("wyrand", &|args| args.entropy = true);
    refused("headwater", &|args| args.seed = Some(1));
    refused("-", &|args| args.seed = Some(1));
    refused("wyrand", &|args| (args.seed, args.seeds) = (Some(1), Some(0..4)));
    refused("wyrand", &|args| {
        args.deep = true;
        args.size = Some(f64::NAN);
    });
}
