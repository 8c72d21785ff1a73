//! The observer's records as evidence: the doctor reports their victims in place of its guesses.

use headwater_doctor::observe::Record;
use headwater_doctor::{Case, Id, Report, Root, Severity, diagnose};
use headwater_hostfile::{Archive, Entry};
use serde_json::{Value, json};
use std::path::Path;

const BOOT: &str = "11111111-2222-4333-8444-555555555555";

/// Returns a record in which sshd waited for 101.7 s, and a shell for less than a second.
fn record(boot: &str) -> Value {
    let victim = |unit: Value, process: &str, least: f64| {
        json!({"unit": unit, "process": process, "pid": 312, "thread": null, "tid": 312,
            "call": "getrandom", "from": 6.0, "until": 6.0 + least,
            "seconds": {"at_least": least, "at_most": least + 0.1}, "waits": 1, "ending": "ready"})
    };
    json!({
        "schema": "headwater.observe/1", "version": "1.0.0", "boot_id": boot, "kernel": "7.3.4",
        "began": 2.0, "ended": 107.7, "outcome": "ready", "ready": 107.7,
        "ready_by": "virtio_rng.0", "looks": 1057, "cpu_seconds": 0.1, "missed": 0,
        "victims": [victim(json!("ssh.service"), "sshd", 101.65), victim(Value::Null, "sh", 0.5)],
    })
}

/// Returns the report on a healthy host with these files.
fn report(files: &[(&str, String)]) -> Report {
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts");
    let host = std::fs::read(hosts.join("by-hand/debian11-libvirt.host")).unwrap();
    let mut archive = Archive::parse(&host).unwrap();
    for (path, text) in files {
        archive.insert(path, Entry::File(text.clone().into_bytes())).unwrap();
    }
    diagnose(Case::of_machine(Root::archive("test.host".to_owned(), archive)).unwrap())
}

fn waits(report: &Report) -> Vec<(Severity, &str)> {
    let found = report.findings.iter().filter(|finding| finding.id == Id::UnitWaited);
    found.map(|finding| (finding.severity, finding.title.as_str())).collect()
}

#[test]
fn victims_of_this_boot_are_facts() {
    let id = ("proc/sys/kernel/random/boot_id", format!("{BOOT}\n"));
    let run = (&*format!("run/headwater/boots/{BOOT}.json"), record(BOOT).to_string());
    let report = report(&[id, run]);
    assert_eq!(
        waits(&report),
        [(Severity::Critical, "ssh.service: sshd[312] waited 101.7 s for the random generator")]
    );
    let finding = report.findings.iter().find(|finding| finding.id == Id::UnitWaited).unwrap();
    assert!(finding.why.contains("virtio_rng.0"), "{}", finding.why);
    assert_eq!(report.observed.as_ref().unwrap().victims.len(), 2);
    let metrics = report.prometheus();
    let series =
        "headwater_doctor_waited_seconds{unit=\"ssh.service\",process=\"sshd\",tid=\"312\"} 101.65";
    assert!(metrics.contains(series), "{metrics}");
}

/// A shell that has become env, and env a shell, is three victims and one thread. If a series
/// is there twice, the collector refuses the whole file.
#[test]
fn a_thread_is_one_series_under_each_of_its_names() {
    let mut again = record(BOOT);
    let mut victim = again["victims"][0].clone();
    victim["seconds"] = json!({"at_least": 3.25, "at_most": 3.5});
    again["victims"].as_array_mut().unwrap().push(victim);
    let id = ("proc/sys/kernel/random/boot_id", format!("{BOOT}\n"));
    let run = (&*format!("run/headwater/boots/{BOOT}.json"), again.to_string());
    let metrics = report(&[id, run]).prometheus();
    let series =
        "headwater_doctor_waited_seconds{unit=\"ssh.service\",process=\"sshd\",tid=\"312\"}";
    assert_eq!(metrics.matches(series).count(), 1, "{metrics}");
    assert!(metrics.contains(&format!("{series} 104.9\n")), "{metrics}");
}

#[test]
fn victims_of_an_earlier_boot_are_notes() {
    let id = ("proc/sys/kernel/random/boot_id", format!("{BOOT}\n"));
    let kept = ("var/lib/headwater/boots/000001-old.json", record("old").to_string());
    let report = report(&[id, kept]);
    let [(Severity::Note, title)] = waits(&report)[..] else { panic!("{:?}", waits(&report)) };
    assert!(title.starts_with("at an earlier boot, ssh.service"), "{title}");
    assert_eq!(report.observed, None);
}

#[test]
fn files_that_are_not_records_change_nothing() {
    let good = record(BOOT).to_string();
    let bad = [
        String::new(),
        "{}".to_owned(),
        good[..good.len() / 2].to_owned(),
        good.replace("observe/1", "observe/2"),
        good.replace("101.65", "\"long\""),
    ];
    let paths = ["a", "b", "c", "d", "e"].map(|name| format!("run/headwater/boots/{name}.json"));
    let files: Vec<(&str, String)> = paths.iter().map(String::as_str).zip(bad).collect();
    let with = report(&files);
    assert_eq!(with.observed, None);
    assert_eq!(waits(&with), waits(&report(&[])));
}

#[test]
fn a_record_is_read_as_it_is_written() {
    let text = record(BOOT).to_string();
    let record = Record::parse(&text).unwrap();
    assert_eq!(Record::parse(&record.json().unwrap()), Some(record));
}
