//! Reports of pairs whose draws and messages are known.

use super::*;
use headwater_lab_protocol::Draw;
use std::path::PathBuf;

const WITNESSES: [&str; 4] = ["syscall", "headwater", "openssl", "stamp"];

fn kernel() -> KernelImage {
    KernelImage {
        series: "7".into(),
        release: "from-manifest".into(),
        architecture: "x86_64".into(),
        image: PathBuf::new(),
        sha256: String::new(),
        modules: Vec::new(),
    }
}

fn log(at_us: u64, text: &str) -> Message {
    Log { at_us, text: text.into() }.into()
}

fn status(asked: &str, mode: &str, reason: &str) -> Message {
    Status {
        asked: asked.into(),
        mode: mode.into(),
        reseed_generation: "live".into(),
        reason: reason.into(),
        ..Status::default()
    }
    .into()
}

/// Makes a round of four draws with successive marks. A 0 in place of bytes makes a draw
/// absent.
fn round(mark: u64, bytes: [u128; 4]) -> Vec<Draw> {
    let draw = |(at, bytes): (usize, u128)| Draw {
        mark: mark + at as u64,
        bytes: (bytes != 0).then(|| (bytes << 64 | (bytes + 1_000_000)).to_be_bytes()),
    };
    bytes.into_iter().enumerate().map(draw).collect()
}

fn thread(rounds: &[(u64, Vec<Draw>)]) -> Thread {
    rounds.iter().cloned().collect()
}

/// Makes the transcript of two threads, `auto` and `strict`, on a CPU of 1 MHz. They are
/// resumed 2 s after the guest was ready at 3 s. The system call repeats in both threads,
/// headwater in `auto` alone, OpenSSL is absent.
fn transcript() -> PairTranscript {
    let past = round(1_999_997, [1, 2, 0, 7]);
    let clone = |mark: u64, own: u128, stamp: u128| {
        let one = [(1, past.clone()), (2, round(mark, [10, 20, 0, stamp]))];
        let two = [(1, past.clone()), (2, round(mark + 500_000, [11, own, 0, stamp]))];
        vec![thread(&one), thread(&two)]
    };
    PairTranscript {
        source: vec![
            Hello { kernel: "Linux version 7.3.4 (x)".into(), ..Hello::default() }.into(),
            log(0, "tsc: Detected 1.000 MHz processor"),
            status("auto", "strict", "early"),
            status("strict", "strict", "asked for"),
            Ready {
                at_us: 3_000_000,
                cycles: 0,
                threads: ["auto", "strict"].map(str::to_owned).to_vec(),
                witnesses: WITNESSES.map(str::to_owned).to_vec(),
            }
            .into(),
            status("auto", "hedged", "no clone marker"),
        ],
        clones: [
            CloneTranscript {
                threads: clone(2_500_000, 21, 7),
                messages: vec![
                    log(4_000_000, "random: crng reseeded due to virtual machine fork"),
                    log(5_250_000, "random: crng reseeded due to virtual machine fork"),
                    status("auto", "hedged", ""),
                    status("auto", "buffered", ""),
                ],
            },
            CloneTranscript { threads: clone(2_600_000, 22, 8), messages: Vec::new() },
        ],
        state_mib: 90,
    }
}

fn plan() -> ClonePlan {
    ClonePlan {
        modes: ["auto", "strict"].map(str::to_owned).to_vec(),
        smp: 2,
        vmclock: true,
        ..ClonePlan::new("7")
    }
}

fn judged(change: impl FnOnce(&mut PairTranscript)) -> Result<ClonePair> {
    let mut transcript = transcript();
    change(&mut transcript);
    judge(&plan(), &kernel(), &transcript)
}

fn row<'a>(pair: &'a ClonePair, witness: &str, mode: Option<&str>) -> &'a WitnessResult {
    let mut rows =
        pair.rows.iter().filter(|row| row.witness == witness && row.mode.as_deref() == mode);
    let row = rows.next().unwrap_or_else(|| panic!("no row {witness} {mode:?}"));
    assert!(rows.next().is_none(), "two rows {witness} {mode:?}");
    row
}

#[test]
fn witnesses_without_a_mode_are_compared_across_all_threads() {
    let pair = judged(|_| ()).unwrap();
    let syscall = row(&pair, "syscall", None);
    assert_eq!((syscall.draws, syscall.repeated), (2, 2));
    assert_eq!(row(&pair, "openssl", None).draws, 0);
    // The stamp is not a witness.
    assert_eq!(pair.rows.len(), 4);
}

#[test]
fn headwater_is_compared_by_mode() {
    let pair = judged(|_| ()).unwrap();
    let auto = row(&pair, "headwater", Some("auto"));
    assert_eq!((auto.draws, auto.repeated), (1, 1));
    let strict = row(&pair, "headwater", Some("strict"));
    assert_eq!((strict.draws, strict.repeated, strict.last_s), (1, 0, None));
}

/// The bytes that only another mode's process drew are not a repeat of this mode.
#[test]
fn a_mode_is_compared_with_itself_only() {
    let pair = judged(|transcript| {
        let shared = transcript.clones[0].threads[0][&2][1].bytes;
        transcript.clones[1].threads[0].get_mut(&2).unwrap()[1].bytes = None;
        transcript.clones[1].threads[1].get_mut(&2).unwrap()[1].bytes = shared;
    })
    .unwrap();
    assert_eq!(row(&pair, "headwater", Some("auto")).repeated, 0);
}

#[test]
fn repeats_after_the_stamp_and_within_a_clone_reach_the_row() {
    let pair = judged(|transcript| {
        // The first clone's stamp changes in round 2, and round 3 repeats the other clone.
        let [one, two] = &mut transcript.clones;
        one.threads[0].get_mut(&2).unwrap()[3].bytes = Some([9; 16]);
        one.threads[0].insert(3, round(2_700_000, [12, 20, 0, 0]));
        two.threads[0].insert(3, round(2_800_000, [13, 20, 0, 0]));
    })
    .unwrap();
    let auto = row(&pair, "headwater", Some("auto"));
    assert_eq!((auto.repeated, auto.after_stamp), (2, 1));
    assert_eq!(auto.twice_within, 4); // both halves, in both clones
    assert_eq!(row(&pair, "syscall", None).twice_within, 0);
}

#[test]
fn times_are_those_of_the_guests_counter() {
    let pair = judged(|_| ()).unwrap();
    // The clones diverged at cycle 2,000,000 with the past's stamp; a cycle is a microsecond.
    let last = row(&pair, "syscall", None).last_s.unwrap();
    assert!((last - 1.0).abs() < 1e-9, "{last}");
    let watched = pair.watched_s.unwrap();
    assert!((watched - 1.000_001).abs() < 1e-9, "{watched}");
}

/// The counter of a machine that was off begins again, so it is below its last value.
#[test]
fn times_after_a_hibernation_count_from_the_first_draw() {
    let plan = ClonePlan { method: CopyMethod::Hibernation, ..plan() };
    let mut transcript = transcript();
    for (clone, begin) in transcript.clones.iter_mut().zip([1_000, 1_500]) {
        for thread in &mut clone.threads {
            let draws = thread.get_mut(&2).unwrap();
            draws.iter_mut().zip(0..).for_each(|(draw, at)| draw.mark = begin + at * 100_000);
        }
    }
    let pair = judge(&plan, &kernel(), &transcript).unwrap();
    assert!(pair.hibernated && !pair.rollback);
    let watched = pair.watched_s.unwrap();
    assert!(watched > 0.0 && watched < 1.0, "{watched}");
    assert_eq!(row(&pair, "syscall", None).last_s, Some(0.0));
    assert_eq!(pair.fork_reseeds, [None, None]);
}

/// Resume is 5 s after boot: 3 s at cycle 0, and 2,000,000 cycles more.
#[test]
fn the_last_reseed_of_each_kernel_is_relative_to_the_resume() {
    let pair = judged(|_| ()).unwrap();
    let [Some(first), None] = pair.fork_reseeds[..] else { panic!("{:?}", pair.fork_reseeds) };
    assert!((first - 0.25).abs() < 1e-9, "{first}");
}

#[test]
fn without_a_frequency_there_are_no_times() {
    let pair = judged(|transcript| {
        transcript.source.retain(|message| !matches!(message, Message::Log(_)));
    })
    .unwrap();
    assert_eq!((pair.watched_s, row(&pair, "syscall", None).last_s), (None, None));
    assert_eq!(pair.fork_reseeds, [None, None]);
    assert_eq!(row(&pair, "syscall", None).repeated, 2);
}

#[test]
fn frequencies_of_both_architectures_are_read() {
    let of = |text: &str| frequency(&[log(0, "tsc: unrelated"), log(0, text)]);
    assert_eq!(of("tsc: Detected 2445.406 MHz processor"), Some(2_445_406_000.0));
    assert_eq!(of("arch_timer: cp15 timer running at 62.50MHz (virt)."), Some(62_500_000.0));
    assert_eq!(of("tsc: Detected MHz processor"), None);
    assert_eq!(of("tsc: Detected 2445.406 kHz processor"), None);
    assert_eq!(of("tsc: Detected 2445"), None);
    assert_eq!(of("clocksource: tsc: mask: 0xffff"), None);
}

/// `auto` settles on its mode after the first status.
#[test]
fn the_last_status_before_the_snapshot_counts() {
    let pair = judged(|_| ()).unwrap();
    let [auto, strict] = &pair.modes[..] else { panic!("{:?}", pair.modes) };
    assert_eq!((auto.asked.as_str(), auto.before.as_str()), ("auto", "hedged"));
    assert_eq!(auto.reason, "no clone marker");
    assert_eq!(auto.guards["reseed_generation"], "live");
    assert_eq!(auto.after, ["buffered", ""]);
    assert_eq!((strict.before.as_str(), strict.reason.as_str()), ("strict", "asked for"));
}

#[test]
fn the_report_names_kernel_and_plan() {
    let pair = judged(|_| ()).unwrap();
    assert_eq!((pair.kernel.as_str(), pair.series.as_str()), ("7.3.4", "7"));
    assert_eq!((pair.threads, pair.threads_compared, pair.state_mib), (2, 2, 90));
    assert!(pair.vmclock && pair.rdrand && !pair.rollback && pair.smp == 2);
    let unnamed = judged(|transcript| drop(transcript.source.remove(0))).unwrap();
    assert_eq!(unnamed.kernel, "from-manifest");
}

#[test]
fn a_guest_that_was_not_ready_or_did_not_draw_is_an_error() {
    let error = |result: Result<ClonePair>| format!("{:#}", result.unwrap_err());
    let unready = judged(|transcript| {
        transcript.source.retain(|message| !matches!(message, Message::Ready(_)));
    });
    assert!(error(unready).contains("never ready"));
    let silent = judged(|transcript| {
        for thread in &mut transcript.clones[1].threads {
            thread.remove(&2);
        }
    });
    assert!(error(silent).contains("no thread drew in both clones"));
    let stampless = judged(|transcript| {
        for message in &mut transcript.source {
            if let Message::Ready(ready) = message {
                ready.witnesses.pop();
            }
        }
    });
    assert!(error(stampless).contains("stamp"));
}
