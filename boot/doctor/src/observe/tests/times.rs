//! The times of waits, and their bounds.

use super::*;

#[test]
fn threads_are_listed_again_once_a_number_is_new() {
    let newest = |number: u32| {
        move |root: &Path| put(root, "loadavg", &format!("0.01 0.02 0.03 1/99 {number}\n"))
    };
    let script = Script::new("newest", 5.0, 20.0);
    newest(300)(&script.root);
    // sshd is there at 6 s, and its number is the newest one from 9 s on.
    let record = script.at(6.0, sshd).at(9.0, newest(312)).observe(600.0);
    let [victim] = record.victims.as_slice() else { panic!("{:?}", record.victims) };
    assert!((9.0..9.2).contains(&victim.from), "{victim:?}");
    // Its wait began when the process did, or later: at most the 0.1 s since the look before.
    assert!(near(victim.seconds.at_least, 11.0), "{victim:?}");
}

#[test]
fn a_thread_that_slept_for_long_is_timed_within_a_fifth_of_a_second() {
    for tid in [70, 71] {
        let sleeps = move |root: &Path| thread(root, tid, tid, "d", "do_epoll_wait", "232", 5.0);
        let waits =
            move |root: &Path| thread(root, tid, tid, "d", "wait_for_random_bytes", GETRANDOM, 5.0);
        let script = Script::new(&format!("rest-{tid}"), 5.0, 30.0).at(5.0, sleeps);
        let record = script.at(20.0, waits).observe(600.0);
        let victim = &record.victims[0];
        assert!(victim.seconds.at_least >= 9.79 && victim.seconds.at_least <= 10.01, "{victim:?}");
        assert!(near(victim.exact().unwrap(), 10.0), "{victim:?}");
        assert_eq!(victim.waits, 1);
    }
}

#[test]
fn two_waits_of_one_thread_are_added() {
    let wait = |root: &Path| thread(root, 80, 80, "dd", "random_read_iter", READ, 6.0);
    let work = |root: &Path| thread(root, 80, 80, "dd", "hrtimer_nanosleep", NANOSLEEP, 6.0);
    let record =
        Script::new("twice", 5.0, 20.0).at(6.0, wait).at(9.0, work).at(15.0, wait).observe(600.0);
    let [victim] = record.victims.as_slice() else { panic!("{:?}", record.victims) };
    assert_eq!(victim.waits, 2);
    let middle = (victim.seconds.at_least + victim.seconds.at_most.unwrap()) / 2.0;
    assert!((middle - 8.0).abs() < 0.2, "{victim:?}");
}
