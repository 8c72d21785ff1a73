//! The names, the unit and the call of a victim.

use super::*;

#[test]
fn a_victim_has_name_unit_call_and_seconds() {
    let script = Script::new("one", 5.0, 107.7).at(5.5, cron).at(6.0, sshd);
    let record = script.observe(600.0);
    assert_eq!((record.outcome, record.ready), (RecordOutcome::Ready, Some(107.7)));
    assert_eq!(record.boot_id.as_deref(), Some("b00t-1d"));
    let [victim] = record.victims.as_slice() else { panic!("{:?}", record.victims) };
    assert_eq!((victim.pid, victim.process.as_str()), (312, "sshd"));
    assert_eq!(victim.unit.as_deref(), Some("ssh.service"));
    assert_eq!(victim.ending, Ending::Ready);
    assert!(near(victim.exact().unwrap(), 101.7), "{victim:?}");
    if IS_X86 {
        let expected = [
            "ssh.service: sshd[312] waited 101.7 s in getrandom, ready",
            "waits were found by looks into /proc, without tracepoints: a test",
        ];
        assert_eq!(record.lines(), expected);
    }
}

#[test]
fn a_process_in_another_wait_is_no_victim() {
    let record = Script::new("other", 5.0, 8.0).at(5.1, cron).observe(600.0);
    assert_eq!(record.victims, []);
    assert_eq!(record.lines().len(), 2);
    assert!(record.lines()[0].contains("no process waited"));
}

#[test]
fn a_name_is_kept_when_the_process_ends_or_becomes_another() {
    let record = Script::new("exec", 5.0, 20.0)
        .at(6.0, sshd)
        // Killed at its start timeout.
        .at(10.0, |root| fs::remove_dir_all(root.join("312")).unwrap())
        .at(6.0, |root| thread(root, 50, 50, "keygen.sh", "wait_for_random_bytes", GETRANDOM, 5.5))
        .at(12.0, |root| thread(root, 50, 50, "ssh-keygen", "hrtimer_nanosleep", NANOSLEEP, 5.5))
        .at(15.0, |root| {
            thread(root, 50, 50, "ssh-keygen", "wait_for_random_bytes", GETRANDOM, 5.5);
        });
    let record = record.observe(600.0);
    let found: Vec<_> = record
        .victims
        .iter()
        .map(|victim| (victim.process.as_str(), victim.exact().unwrap().round(), victim.ending))
        .collect();
    assert_eq!(
        found,
        [
            ("keygen.sh", 6.0, Ending::GaveUp),
            ("ssh-keygen", 5.0, Ending::Ready),
            ("sshd", 4.0, Ending::GaveUp),
        ]
    );
}

#[test]
fn each_thread_is_a_victim_of_its_own() {
    let record = Script::new("threads", 5.0, 20.0)
        .at(6.0, |root| thread(root, 70, 70, "java", "futex_wait_queue", "202 0x1", 5.9))
        .at(8.0, |root| thread(root, 70, 71, "main", "wait_for_random_bytes", GETRANDOM, 8.0))
        .at(9.0, |root| thread(root, 70, 72, "pool-1", "wait_for_random_bytes", GETRANDOM, 9.0))
        .observe(600.0);
    let names: Vec<String> = record.victims.iter().map(Victim::name).collect();
    assert_eq!(names, ["java[70], thread main", "java[70], thread pool-1"]);
    assert!(near(record.victims[0].exact().unwrap(), 12.0));
    assert!(near(record.victims[1].exact().unwrap(), 11.0));
}

#[test]
fn a_read_of_the_device_is_named() {
    if !IS_X86 {
        return;
    }
    let reads = |root: &Path| thread(root, 80, 80, "dd", "wait_for_random_bytes", READ, 6.0);
    let record = Script::new("device", 5.0, 9.0).at(6.0, reads).observe(600.0);
    assert_eq!(record.victims[0].call, "/dev/random");
    // Before 5.6 another function waits.
    let reads = |root: &Path| thread(root, 80, 80, "dd", "_random_read.part.0", READ, 6.0);
    let record = Script::new("old", 5.0, 9.0).at(6.0, reads).observe(600.0);
    assert_eq!(record.victims[0].call, "/dev/random");
}
