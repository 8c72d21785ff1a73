//! The end of an observation, its cause, and what the tables had no room for.

use super::*;

#[test]
fn a_ready_generator_ends_the_observation_at_once() {
    let record = Script::new("ready", 5.0, 0.0).at(5.0, sshd).observe(600.0);
    assert_eq!((record.outcome, record.looks), (RecordOutcome::ReadyAtStart, 0));
    assert!(record.victims.is_empty() && record.lines().is_empty());
}

#[test]
fn the_observer_stops_after_its_limit_and_says_so() {
    let record = Script::new("limit", 5.0, 1e9).at(6.0, sshd).observe(600.0);
    assert_eq!((record.outcome, record.ready), (RecordOutcome::TimedOut, None));
    assert!((6000..6010).contains(&record.looks), "{}", record.looks);
    assert_eq!(record.victims[0].ending, Ending::StillWaits);
    let lines = record.lines();
    assert!(lines[0].contains("so far"), "{lines:?}");
    assert!(lines[1].contains("not ready after 605 s; the observer stops"), "{lines:?}");
}

#[test]
fn a_signal_ends_the_observation_with_a_record() {
    let stop = |root: &Path| put(root, "stop", "");
    let record = Script::new("stop", 5.0, 1e9).at(6.0, sshd).at(20.0, stop).observe(600.0);
    assert_eq!(record.outcome, RecordOutcome::TimedOut);
    assert!(near(record.ended, 20.0), "{record:?}");
    assert!(near(record.victims[0].exact().unwrap(), 14.0), "{record:?}");
}

#[test]
fn the_cause_of_readiness_follows_from_the_sources() {
    let device =
        |root: &Path| put(root, "sysfs/class/misc/hw_random/rng_current", "virtio_rng.0\n");
    let bits = |bits: u32| {
        move |root: &Path| put(root, "sys/kernel/random/entropy_avail", &format!("{bits}\n"))
    };
    let cause = |script: Script| script.observe(600.0).ready_by;
    let new = |name| {
        let script = Script::new(name, 5.0, 105.0);
        put(&script.root, "sysfs/class/misc/hw_random/rng_current", "none\n");
        script
    };
    assert_eq!(cause(new("by-device").at(104.5, device)).as_deref(), Some("virtio_rng.0"));
    let by_seed = new("by-seed").at(5.0, bits(12)).at(100.0, bits(40));
    assert_eq!(cause(by_seed).as_deref(), Some("a credited seed"));
    let mut slow = new("by-interrupts");
    for step in 0..100 {
        slow = slow.at(5.0 + f64::from(step), bits(1 + step * 255 / 100));
    }
    assert_eq!(cause(slow).as_deref(), Some("interrupts"));
    assert_eq!(cause(new("unknown")), None);
}

#[test]
fn thousands_of_threads_cost_no_allocation_and_the_excess_is_counted() {
    let crowd = |root: &Path| {
        for pid in 1000..1600 {
            thread(root, pid, pid, "worker", "wait_for_random_bytes", GETRANDOM, 6.0);
        }
    };
    let record = Script::new("crowd", 5.0, 6.5).at(6.0, crowd).observe(600.0);
    assert_eq!(record.victims.len(), 512);
    assert!(record.missed >= 88, "{}", record.missed);
    assert!(record.lines().iter().any(|line| line.contains("were not observed")));
}
