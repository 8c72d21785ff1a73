use super::*;
use crate::{Case, Id, Report, Severity, diagnose};
use rustix::rand::{GetRandomFlags, getrandom};
use std::cell::Cell;

fn slope(before: u32, after: u32, kernel: &str, ready: bool) -> Slope {
    let calls = Cell::new(0);
    let read = || {
        calls.set(calls.get() + 1);
        Some(if calls.get() == 1 { before } else { after })
    };
    let kernel = Kernel::parse(kernel);
    let mut slope = Slope::measure(read, Duration::ZERO, kernel.as_ref(), ready).unwrap();
    // The test does not wait the five seconds.
    slope.seconds = 5.0;
    slope
}

/// Figures of the lab (docs/lab.md): 64 interrupts a second credit one bit a second, and 256 bits
/// are needed.
#[test]
fn the_time_that_is_left_follows_from_the_slope() {
    let read = Cell::new(209_u32);
    let step = || {
        let bits = read.get();
        read.set(bits + 1);
        Some(bits)
    };
    let kernel = Kernel::parse("6.12.107");
    let pause = Duration::from_millis(100);
    let measured = Slope::measure(step, pause, kernel.as_ref(), false).unwrap();
    // 46 bits are missing after one bit in a tenth of a second.
    assert!((measured.remaining_seconds.unwrap() - 4.6).abs() < 1e-9, "{measured:?}");
    assert!(measured.says().contains("ready in about 5 s"), "{}", measured.says());
}

#[test]
fn nothing_that_comes_is_never_and_a_ready_machine_has_nothing_left() {
    assert!(slope(2, 2, "6.12", false).says().contains("never"));
    assert_eq!(slope(2, 2, "6.12", false).remaining_seconds, None);
    assert_eq!(slope(256, 256, "6.12", true).remaining_seconds, None);
}

#[test]
fn what_the_count_means_depends_on_the_kernel() {
    assert!(slope(256, 256, "6.12", true).meaning.contains("stays at 256"));
    assert!(slope(3000, 3010, "4.9.100", true).meaning.contains("pool of 4096"));
    // The rework was carried back.
    assert!(slope(256, 256, "4.9.320", true).meaning.contains("stays at 256"));
}

fn with_device(bytes: Option<&[u8]>, name: &str) -> Sample {
    let folder =
        std::env::temp_dir().join(format!("headwater-doctor-{name}-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("dev")).unwrap();
    if let Some(bytes) = bytes {
        std::fs::write(folder.join("dev/hwrng"), bytes).unwrap();
    }
    let reading = sample::begin_device(Root::open(&folder).unwrap());
    // The file is small; a device that is stuck would be given up here.
    std::thread::sleep(Duration::from_millis(300));
    let sample = reading.end();
    std::fs::remove_dir_all(&folder).unwrap();
    sample
}

fn judged(sample: Sample) -> Report {
    let deep = Some(Deep { entropy: None, samples: vec![sample] });
    let mut report = diagnose(Case { deep, ..Case::default() });
    report.keep(&[Id::HwrngUnhealthy], &[]);
    report
}

#[test]
fn a_stuck_device_is_found_and_a_sound_one_is_not() {
    let mut sound = [0; 64 << 10];
    getrandom(&mut sound[..], GetRandomFlags::empty()).unwrap();
    let report = judged(with_device(Some(&sound), "sound"));
    assert_eq!(
        (report.findings.len(), report.passed.as_slice()),
        (0, [Id::HwrngUnhealthy].as_slice())
    );
    // A tenth of it is stuck.
    let mut stuck = sound;
    stuck[20_000..26_000].fill(0xFF);
    let report = judged(with_device(Some(&stuck), "stuck"));
    let finding = &report.findings[0];
    assert_eq!((finding.id, finding.severity), (Id::HwrngUnhealthy, Severity::Critical));
    assert!(finding.evidence[0].says.contains("cutoff 6"), "{:?}", finding.evidence);
    assert!(!finding.fixes.is_empty() && report.passed.is_empty());
}

/// No byte more than promised is taken, however much there is.
#[test]
fn a_sample_is_bounded_and_too_small_a_one_is_not_judged() {
    let much = vec![7; 1 << 20];
    assert_eq!(with_device(Some(&much), "much").bytes, 64 << 10);
    let report = judged(with_device(Some(&[7; 100]), "little"));
    assert!(report.findings.is_empty() && report.not_checked[0].why.contains("100 bytes"));
    let report = judged(with_device(None, "none"));
    assert!(
        report.not_checked.is_empty() && report.findings.is_empty(),
        "an absent device is sound"
    );
}

#[test]
fn the_cpus_instruction_is_sound_or_not_there() {
    let sample = rdrand::sample();
    match &sample.skipped {
        Some(why) => println!("skipped: a sample of RDRAND: {why}; its health is not tested here"),
        None => {
            assert!(sample.tests.iter().all(|test| test.alarms == 0) && sample.tests.len() == 2);
        }
    }
}
