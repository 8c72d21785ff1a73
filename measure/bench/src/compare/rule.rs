//! The changes since an earlier run, figure by figure, as far as they are more than noise.
//!
//! The rule, argued in `docs/bench.md`: a figure has changed if the 95 % intervals of the two
//! medians do not overlap, and the medians differ by more than 3 % and by more than three times the
//! wider MAD. The change is headwater's, and not the machine's, if as much is left after division
//! by the change of all others in the same rounds.

use crate::compare::record::{BaselineReport, BaselineRow};
use crate::error::Error;
use crate::impls::names::is_headwater;
use crate::machine::Machine;
use crate::measure::row::Row;
use crate::report::change::{Change, ChangeVerdict, Changes};
use crate::stats::{Interval, median};

/// Differences below this are not looked at: where the linker puts a loop moves a figure by as
/// much.
const LEAST: f64 = 0.03;
/// And so many times the MAD, which knows how much this figure moves within a run.
const MADS: f64 = 3.0;

/// Compares the rows of a run with those of an earlier one.
pub(crate) fn changes(baseline: &BaselineReport, rows: &[Row], machine: &Machine) -> Changes {
    let pairs: Vec<(&BaselineRow, &Row)> = rows
        .iter()
        .filter_map(|row| Some((baseline.rows.iter().find(|old| same_figure(old, row))?, row)))
        .collect();
    Changes {
        date: baseline.machine.date,
        differences: differences(&baseline.machine, machine, &pairs),
        changes: pairs.iter().map(|pair| change(*pair, &pairs)).collect(),
        gone: baseline.rows.len().saturating_sub(pairs.len()),
        new: rows.len() - pairs.len(),
    }
}

fn change((old, now): (&BaselineRow, &Row), pairs: &[(&BaselineRow, &Row)]) -> Change {
    let ratio = now.ns_per_call / old.ns_per_call;
    let (then, since) = (old.interval(), now.interval());
    let end = |top: Option<f64>, bottom: Option<f64>| top.zip(bottom).map(|(a, b)| a / b);
    let low = end(since.low, then.high).unwrap_or(0.0);
    let high = end(since.high, then.low).unwrap_or(f64::INFINITY);
    let others = machine_speed((old, now), pairs);
    let threshold = LEAST.max(MADS * now.spread().max(old.mad / old.ns_per_call));
    Change {
        case: now.case.clone(),
        implementation: now.implementation.clone(),
        len: now.len,
        threads: now.threads,
        title: now.title(),
        ratio,
        low,
        high,
        others,
        verdict: verdict(
            ratio,
            &Interval { median: ratio, low: Some(low), high: Some(high) },
            threshold,
            others,
        ),
    }
}

/// Judges a change by `ratio`, which is time over time, so that a ratio above 1 is slower.
fn verdict(ratio: f64, interval: &Interval, threshold: f64, others: Option<f64>) -> ChangeVerdict {
    // The same distance in both directions: half as fast is as far from 1 as twice as fast.
    let beyond = |ratio: f64| ratio.ln().abs() > threshold.ln_1p();
    if interval.side_of(1.0).is_none() || !beyond(ratio) {
        return ChangeVerdict::Same;
    }
    let own = ratio / others.unwrap_or(1.0);
    if !beyond(own) || (own > 1.0) != (ratio > 1.0) {
        ChangeVerdict::Machine
    } else if ratio > 1.0 {
        ChangeVerdict::Slower
    } else {
        ChangeVerdict::Faster
    }
}

/// Returns the median change of the implementations that were timed in the same rounds, are not
/// headwater, and have the same version as then.
fn machine_speed(
    (_, subject): (&BaselineRow, &Row),
    pairs: &[(&BaselineRow, &Row)],
) -> Option<f64> {
    let others: Vec<f64> = pairs
        .iter()
        .filter(|(old, now)| {
            now.in_same_rounds(subject)
                && now.implementation != subject.implementation
                && !is_headwater(&now.implementation)
                && now.version.is_some()
                && now.version == old.version
        })
        .map(|(old, now)| now.ns_per_call / old.ns_per_call)
        .collect();
    (!others.is_empty()).then(|| median(&others))
}

fn same_figure(old: &BaselineRow, now: &Row) -> bool {
    old.case == now.case
        && old.implementation == now.implementation
        && old.mode == now.mode
        && old.len == now.len
        && old.threads == now.threads
        && old.procs.is_none_or(|procs| procs == now.procs)
        && old.pin == now.pin
        && old.note == now.note
}

/// Refuses a record of another machine, with the way to insist. A record of another machine says
/// nothing about a change.
pub(crate) fn check_machine(then: &Machine, now: &Machine) -> Result<(), Error> {
    let number = |cores: Option<usize>| cores.map(|cores| cores.to_string());
    let virtual_ = |hypervisor: Option<bool>| hypervisor.map(|under| under.to_string());
    let known = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
    for (what, then, now) in [
        ("CPU", then.cpu.clone(), now.cpu.clone()),
        ("number of CPUs", number(then.cores), number(now.cores)),
        ("hypervisor", virtual_(then.hypervisor), virtual_(now.hypervisor)),
    ] {
        if then != now {
            return Err(Error::OtherMachine(format!(
                "its {what} is '{}' and here it is '{}'",
                known(then),
                known(now)
            )));
        }
    }
    Ok(())
}

/// Lists the differences that may explain a change.
fn differences(then: &Machine, now: &Machine, pairs: &[(&BaselineRow, &Row)]) -> Vec<String> {
    let show = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let number = |cores: Option<usize>| cores.map(|cores| cores.to_string());
    let fields = [
        ("CPU", then.cpu.clone(), now.cpu.clone()),
        ("number of CPUs", number(then.cores), number(now.cores)),
        ("microcode", then.microcode.clone(), now.microcode.clone()),
        ("kernel", then.kernel.clone(), now.kernel.clone()),
        ("libc", then.libc.clone(), now.libc.clone()),
        ("governor", then.governor.clone(), now.governor.clone()),
        ("mitigations", then.mitigations.clone(), now.mitigations.clone()),
        ("compiler", then.rustc.clone(), now.rustc.clone()),
    ];
    let mut list: Vec<String> = Vec::new();
    let mut note = |what: &str, then: &Option<String>, now: &Option<String>| {
        let line = format!("{what}: {} then, {} now", show(then), show(now));
        if then != now && !list.contains(&line) {
            list.push(line);
        }
    };
    for (what, then, now) in &fields {
        note(what, then, now);
    }
    for (old, now) in pairs {
        // The kernel's own calls have its version, which is said above.
        if now.version.is_some() && now.version != fields[3].2 {
            note(&now.implementation, &old.version, &now.version);
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::Report;

    /// Returns a run in which each of these implementations took so many nanoseconds, with a MAD of
    /// one in a hundred.
    fn rows(times: &[(&str, f64)]) -> Vec<Row> {
        let row = |&(implementation, ns): &(&str, f64)| {
            let rounds = (0..100).map(|k| ns * (0.98 + 0.04 * f64::from(k) / 99.0)).collect();
            Row {
                version: Some("1".to_owned()),
                ..Row::new("fill", implementation, 16, 1000, rounds)
            }
        };
        times.iter().map(row).collect()
    }

    fn baseline(times: &[(&str, f64)]) -> BaselineReport {
        let text = serde_json::to_string(&Report::of(rows(times))).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn verdicts(then: &[(&str, f64)], now: &[(&str, f64)]) -> Vec<ChangeVerdict> {
        let found = changes(&baseline(then), &rows(now), &crate::machine());
        found.changes.iter().map(|change| change.verdict).collect()
    }

    #[test]
    fn what_is_within_noise_has_not_changed() {
        // Intervals apart, yet less than 3 %; and 3.5 %, apart and above 3 MAD of 1 %.
        assert_eq!(
            verdicts(&[("headwater", 10.0)], &[("headwater", 10.25)]),
            [ChangeVerdict::Same]
        );
        assert_eq!(
            verdicts(&[("headwater", 10.0)], &[("headwater", 10.35)]),
            [ChangeVerdict::Slower]
        );
        assert_eq!(
            verdicts(&[("headwater", 10.35)], &[("headwater", 10.0)]),
            [ChangeVerdict::Faster]
        );
    }

    #[test]
    fn three_mads_bound_what_is_seen_in_a_noisy_run() {
        let mut now = rows(&[("headwater", 12.0)]);
        now[0].mad = 0.6; // 5 %, so that 20 % are beyond it and 14 % are not
        let compare = |now: &[Row]| {
            let baseline = baseline(&[("headwater", 10.0)]);
            changes(&baseline, now, &crate::machine()).changes[0].verdict
        };
        assert_eq!(compare(&now), ChangeVerdict::Slower);
        now[0].ns_per_call = 11.4;
        assert_eq!(compare(&now), ChangeVerdict::Same);
    }

    #[test]
    fn overlapping_intervals_decide_nothing() {
        let six = |ns: [f64; 6]| Row::new("fill", "headwater", 16, 1000, ns.to_vec());
        let then = six([10.0, 10.0, 10.0, 10.0, 10.0, 11.1]);
        let now = six([11.0, 11.0, 11.0, 11.0, 11.0, 11.0]);
        let text = serde_json::to_string(&Report::of(vec![then])).unwrap();
        let baseline: BaselineReport = serde_json::from_str(&text).unwrap();
        let found = changes(&baseline, &[now], &crate::machine());
        assert_eq!(found.changes[0].verdict, ChangeVerdict::Same, "{found:?}");
    }

    #[test]
    fn a_slower_machine_is_no_regression() {
        let then = [("headwater", 10.0), ("urandom-read", 400.0), ("getrandom-syscall", 350.0)];
        let slow = then.map(|(name, ns)| (name, 1.2 * ns));
        assert_eq!(verdicts(&then, &slow)[0], ChangeVerdict::Machine);
        let worse = [("headwater", 14.0), slow[1], slow[2]];
        assert_eq!(verdicts(&then, &worse)[0], ChangeVerdict::Slower, "1.4 times, the others 1.2");
        let found = changes(&baseline(&then), &rows(&worse), &crate::machine());
        assert_eq!(found.regressions().count(), 1);
        assert!((found.changes[0].others.unwrap() - 1.2).abs() < 1e-9);
    }

    #[test]
    fn another_version_of_a_peer_does_not_tell_of_the_machine() {
        let then = [("headwater", 10.0), ("openssl-RAND_bytes", 400.0)];
        let mut now = rows(&[("headwater", 12.0), ("openssl-RAND_bytes", 480.0)]);
        now[1].version = Some("2".to_owned());
        let found = changes(&baseline(&then), &now, &crate::machine());
        assert_eq!(found.changes[0].verdict, ChangeVerdict::Slower);
        assert!(found.differences.contains(&"openssl-RAND_bytes: 1 then, 2 now".to_owned()));
    }

    #[test]
    fn only_headwater_can_regress() {
        let then = [("headwater", 10.0), ("urandom-read", 400.0)];
        let now = rows(&[("headwater", 10.0), ("urandom-read", 600.0)]);
        let found = changes(&baseline(&then), &now, &crate::machine());
        assert_eq!(found.changes[1].verdict, ChangeVerdict::Slower);
        assert_eq!(found.regressions().count(), 0);
        for (name, ours) in [
            ("headwater", true),
            ("headwater-rng", true),
            ("headwater-rng[hedged]", true),
            ("headwater[strict]", true),
            ("headwaters", false),
            ("rand-thread_rng", false),
        ] {
            assert_eq!(is_headwater(name), ours, "{name}");
        }
    }

    #[test]
    fn a_figure_of_another_mode_is_another_figure() {
        let mut now = rows(&[("headwater", 30.0), ("urandom-read", 400.0)]);
        now[0].mode = Some("hedged".to_owned());
        let baseline = baseline(&[("headwater", 10.0), ("urandom-read", 400.0), ("libc", 5.0)]);
        let found = changes(&baseline, &now, &crate::machine());
        assert_eq!((found.changes.len(), found.gone, found.new), (1, 2, 1));
    }

    #[test]
    fn another_machine_is_refused_by_name_and_another_kernel_is_said() {
        let here = crate::machine();
        assert_eq!(check_machine(&here, &here), Ok(()));
        let mut other = here.clone();
        other.kernel = Some("5.0".to_owned());
        assert_eq!(check_machine(&other, &here), Ok(()));
        assert!(differences(&other, &here, &[])[0].starts_with("kernel: 5.0 then, "));
        other.cpu = Some("Z80".to_owned());
        let error = check_machine(&other, &here).unwrap_err();
        assert!(error.is_usage());
        let text = error.to_string();
        assert!(
            text.contains("its CPU is 'Z80'") && text.contains("--compare-any-machine"),
            "{text}"
        );
        assert!(!text.contains('\n'));
        let unknown = Machine { cores: None, ..here.clone() };
        assert!(check_machine(&unknown, &here).is_err(), "what is unknown is not the same");
    }
}
