//! The merge of whole inputs, judged by its JSON.

use super::*;
use serde_json::{Value, json};
use std::fs;

/// A directory that is removed at the end of a test.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Temporary {
        let path = std::env::temp_dir().join(format!("headwater-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Temporary(path)
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns a report with one finding if an id is given.
fn report(name: &str, time: u64, finding: Option<(&str, &str)>) -> Value {
    let findings: Vec<Value> = finding
        .iter()
        .map(|(id, severity)| {
            json!({"id": id, "severity": severity, "title": format!("{id} on {name}"),
                "fixes": [{"what": "add a random device", "exact": "-device virtio-rng-pci"}]})
        })
        .collect();
    let verdict = match finding {
        Some((_, "note")) | None => "healthy",
        Some(_) => "findings",
    };
    json!({
        "schema": "headwater.doctor/1", "verdict": verdict, "version": "1.0.0", "time": time,
        "host": {"name": name, "machine_id": format!("{name}-id"), "boot_id": null,
            "uptime_seconds": 100},
        "identity": null, "of": "this machine", "platform": "ganeti", "kernel": "4.19.0-27-amd64",
        "ready_seconds": 101.7, "findings": findings, "not_checked": [], "passed": ["HW001"],
        "boots": [],
    })
}

fn merged(stream: &str) -> Fleet {
    let mut fleet = Fleet::default();
    read(&mut fleet, "-", stream.as_bytes());
    fleet.finish();
    fleet
}

fn json_of(fleet: Fleet) -> Value {
    serde_json::from_str(&Merged(fleet).json().unwrap()).unwrap()
}

#[test]
fn hosts_are_grouped_by_cause_and_fix_and_the_worst_is_first() {
    let stream = [
        report("a", 1, Some(("HW024", "warning"))),
        report("b", 1, None),
        report("c", 1, Some(("HW024", "warning"))),
        report("d", 1, Some(("HW004", "critical"))),
        report("e", 1, Some(("HW043", "note"))),
    ]
    .map(|report| report.to_string())
    .join("\n");
    let fleet = merged(&stream);
    assert_eq!(fleet.verdict(), Verdict::Findings);
    let all = json_of(fleet);
    let names = |list: &Value, key: &str| -> Vec<String> {
        list.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&all["causes"], "id"), ["HW004", "HW024", "HW043"]);
    assert_eq!(all["causes"][1]["hosts"], 2);
    assert_eq!(all["causes"][1]["exact"], "-device virtio-rng-pci");
    assert_eq!(names(&all["hosts"], "name"), ["d", "a", "c", "e", "b"]);
    assert_eq!(all["counts"]["healthy"], 2, "a note is healthy");
}

#[test]
fn the_verdict_is_the_worst_of_the_hosts() {
    let healthy = report("a", 1, None).to_string();
    let mut incomplete = report("b", 1, None);
    incomplete["verdict"] = "incomplete".into();
    let found = report("c", 1, Some(("HW040", "warning"))).to_string();
    for (stream, expected) in [
        (String::new(), Verdict::CouldNotCheck),
        ("nonsense".to_owned(), Verdict::CouldNotCheck),
        (healthy.clone(), Verdict::Healthy),
        (format!("{healthy}\n{incomplete}"), Verdict::Incomplete),
        (format!("{healthy}\n{{\"schema\":"), Verdict::Incomplete),
        (format!("{healthy}\n{incomplete}\n{found}"), Verdict::Findings),
    ] {
        assert_eq!(merged(&stream).verdict(), expected, "{stream}");
    }
}

#[test]
fn bad_reports_cost_nothing_else() {
    let directory = Temporary::new("merge-bad");
    let good = report("good", 5, None);
    directory.put("1.json", &good.to_string());
    directory.put("2.json", &good.to_string()[..80]);
    directory.put("3.json", "<html>\n<body>\nBad Gateway\n</html>\n");
    directory.put("4.json", "{\"schema\": \"headwater.bench/1\", \"rows\": []}");
    directory.put("5.json", &good.to_string().replace("doctor/1", "doctor/9"));
    directory.put("6.json", "");
    directory.put("7.json", "\u{0}\u{0}\u{0}");
    directory.put("deep/er/8.json", &report("deep", 5, None).to_string());
    directory.put(
        "lines.jsonl",
        &format!("{}\n{{\"cut\": \n{}\n", report("l1", 1, None), report("l2", 1, None)),
    );
    directory.put("notes.txt", "not a report, and not read");
    std::os::unix::fs::symlink(&directory.0, directory.0.join("deep/loop")).unwrap();
    std::os::unix::fs::symlink("/nonexistent", directory.0.join("9.json")).unwrap();
    let args = MergeArgs { reports: vec![directory.0.clone()], ..MergeArgs::default() };
    let all = json_of(merge(&args).unwrap().0);
    assert_eq!(all["counts"]["hosts"], 4);
    let bad: Vec<String> = all["bad"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bad| {
            let source = bad["source"].as_str().unwrap();
            let source = source.rsplit('/').next().unwrap();
            format!("{source}: {}", bad["reason"].as_str().unwrap())
        })
        .collect();
    let expected = [
        "2.json: the document is truncated",
        "3.json: not JSON: no object begins here",
        "4.json: not a report of headwater doctor: headwater.bench/1",
        "5.json: headwater.doctor/9 is newer than this version, which reads headwater.doctor/1",
        "6.json: is empty",
        "7.json: not JSON: no object begins here",
        "9.json: cannot be read: No such file or directory (os error 2)",
        "lines.jsonl, document 2: the document is truncated",
    ];
    assert_eq!(bad, expected);
    let missing = MergeArgs { reports: vec![directory.0.join("none")], ..MergeArgs::default() };
    assert!(matches!(merge(&missing), Err(Error::Reports { .. })));
}

#[test]
fn of_two_reports_of_one_host_the_newer_counts() {
    let old = report("a", 1000, Some(("HW024", "warning"))).to_string();
    let new = report("a", 2000, None).to_string();
    for stream in [format!("{old}{new}"), format!("{new}{old}")] {
        let fleet = merged(&stream);
        assert_eq!((fleet.rows.len(), fleet.replaced()), (1, 1));
        assert_eq!(fleet.verdict(), Verdict::Healthy);
        let notes = Merged(fleet).notes().join(" ");
        assert!(notes.contains("1 report was of a host with a newer report"), "{notes}");
    }
}

#[test]
fn clones_with_one_name_are_two_hosts_if_both_ran_at_once() {
    let of = |boot: &str, time: u64, uptime: u64| {
        let mut report = report("template", time, None);
        report["host"]["boot_id"] = boot.into();
        report["host"]["uptime_seconds"] = uptime.into();
        report.to_string()
    };
    // Rebooted between two reports: one host.
    assert_eq!(merged(&(of("b1", 10_000, 500) + &of("b2", 20_000, 500))).rows.len(), 1);
    // The second boot began before the first report: two hosts, which share the machine id.
    let fleet = merged(&(of("b1", 10_000, 500) + &of("b2", 20_000, 15_000)));
    assert_eq!(fleet.rows.len(), 2);
    assert_eq!(fleet.clones.groups.len(), 1);
    assert_eq!(fleet.verdict(), Verdict::Findings);
}

#[test]
fn hosts_that_share_hashed_evidence_are_reported() {
    let of = |name: &str, keys: &[&str], seed: &str, salt: &str| {
        let mut report = report(name, 1, None);
        report["identity"] = json!({"salt": salt, "machine_id": format!("{name}{salt}"),
            "ssh_host_keys": keys, "random_seed": seed, "boot_id": null, "hardware": name});
        report.to_string()
    };
    let stream = of("a", &["k1", "k2"], "s1", "x")
        + &of("b", &["k2", "k3"], "s2", "x")
        + &of("c", &["k4"], "s3", "y")
        + &of("d", &["k5"], "s3", "y");
    let fleet = merged(&stream);
    let text = Merged(fleet).text();
    assert!(text.contains("4 hosts: 4 healthy; 4 hosts of a common image"), "{text}");
    assert!(text.contains("all share SSH host keys"), "{text}");
    assert!(text.contains("all share the saved random seed"), "{text}");
    assert!(text.contains("2 salts"), "{text}");
    let all = json_of(merged(&stream));
    assert_eq!(all["clones"].as_array().unwrap().len(), 2);
    assert_eq!(all["clones"][0]["names"], json!(["a", "b"]));
}

#[test]
fn containers_share_the_boot_of_their_host() {
    let of = |name: &str, platform: &str| {
        let mut report = report(name, 1, None);
        report["host"]["boot_id"] = "b1".into();
        report["platform"] = platform.into();
        report.to_string()
    };
    let containers = of("a", "container") + &of("b", "container") + &of("host", "bare_metal");
    assert!(merged(&containers).clones.groups.is_empty());
    assert_eq!(merged(&(of("a", "qemu") + &of("b", "qemu"))).clones.groups.len(), 1);
}

#[test]
fn a_host_without_a_name_is_named_by_its_recording_or_file() {
    let mut old = report("x", 1, None);
    old.as_object_mut().unwrap().remove("host");
    let nameless = old.to_string();
    old["of"] = "fixtures/ganeti-7.host".into();
    let directory = Temporary::new("merge-names");
    directory.put("web-17.json", &nameless);
    directory.put("two.jsonl", &format!("{nameless}\n{nameless}"));
    directory.put("recording.json", &old.to_string());
    let args = MergeArgs { reports: vec![directory.0.clone()], ..MergeArgs::default() };
    let fleet = merge(&args).unwrap().0;
    let mut names: Vec<String> = fleet
        .rows
        .iter()
        .map(|row| row.name.replace(&*directory.0.to_string_lossy(), "DIR"))
        .collect();
    names.sort();
    assert_eq!(names, ["DIR/two.jsonl, document 2", "ganeti-7", "two", "web-17"]);
}

#[test]
fn foreign_text_is_harmless_in_every_output() {
    let mut report = report("=cmd|' /C calc'!A0\",\u{1b}[31m\u{202e}<script>", 1, None);
    report["findings"] = json!([{"id": "HW999<b>", "severity": "apocalyptic",
        "title": "\u{1b}]0;x\u{7}", "fixes": [{"what": "<img src=x>", "exact": "a\u{1b}b\nc"}]}]);
    report["verdict"] = "findings".into();
    let merged = Merged(merged(&report.to_string()));
    let plain = merged.csv();
    assert!(plain.contains("\"'=cmd"), "{plain}");
    assert!(plain.contains("A0\"\","), "{plain}");
    let page = merged.html(Some("n"));
    assert!(!page.contains("<img") && !page.contains("<script>\"") && page.contains("&lt;img"));
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
    let json = merged.json().unwrap();
    assert!(!json.contains('\u{1b}') && !json.contains('\u{202e}'));
    serde_json::from_str::<Value>(&json).unwrap();
    let text = merged.text();
    assert!(!text.contains("\u{1b}]0") && !text.contains('\u{202e}'), "{text}");
    assert!(text.contains("a check of a newer version"), "{text}");
}

#[test]
fn any_bytes_in_place_of_a_report_are_survived() {
    let good = report("a", 1, Some(("HW024", "warning"))).to_string();
    proptest::proptest!(|(at in 0..good.len(), byte in 0_u8..255, cut in 0..good.len())| {
        let mut bytes = good.clone().into_bytes();
        bytes[at] = byte;
        bytes.truncate(cut.max(1));
        bytes.extend(b"\n");
        bytes.extend(report("sound", 1, None).to_string().into_bytes());
        let mut fleet = Fleet::default();
        read(&mut fleet, "-", bytes.as_slice());
        fleet.finish();
        assert!(fleet.rows.iter().any(|row| &*row.name == "sound"));
        let merged = Merged(fleet);
        merged.text();
        merged.json().unwrap();
    });
}

/// The heading has the worst severity, so the example is the host that has it, and of those the one
/// that waited longest.
#[test]
fn the_example_of_a_cause_is_the_worst_host() {
    let of = |name: &str, severity: &str, title: &str| {
        let mut report = report(name, 1, None);
        report["verdict"] = json!("findings");
        report["findings"] = json!([{"id": "HW004", "severity": severity, "title": title,
            "evidence": [], "why": "", "fixes": [], "verify": ""}]);
        report.to_string()
    };
    let stream = of("mild", "warning", "Tomcat waited 5.0 s for the seed")
        + &of("worst", "critical", "Tomcat waited 330 s for the seed")
        + &of("bad", "critical", "Tomcat waited 90 s for the seed");
    let text = Merged(merged(&stream)).text();
    assert!(text.contains("such as worst: Tomcat waited 330 s"), "{text}");
}

/// Three hosts in a chain: the first and the last have nothing in common.
#[test]
fn a_chain_of_shared_keys_is_not_said_to_be_one_key() {
    let of = |name: &str, keys: &[&str]| {
        let mut report = report(name, 1, None);
        report["identity"] = json!({"salt": "x", "machine_id": name, "ssh_host_keys": keys,
            "random_seed": null, "boot_id": null, "hardware": name});
        report.to_string()
    };
    let stream = of("a", &["k1"]) + &of("b", &["k1", "k2"]) + &of("c", &["k2"]);
    let text = Merged(merged(&stream)).text();
    assert!(!text.contains("all share"), "{text}");
    assert!(text.contains("3 hosts share SSH host keys in smaller groups, at most 2"), "{text}");
    let mut late = report("late", 1, None);
    late["verdict"] = json!("findings");
    late["findings"] = json!([{"id": "HW002", "severity": "critical", "title": "late",
        "evidence": [], "why": "", "fixes": [], "verify": ""}]);
    let page = Merged(merged(&(stream + &late.to_string()))).html(None);
    assert!(page.contains("in smaller groups, at most 2"), "{page}");
    // Copies repeat each other's keys, which is worse than any wait, so they come first.
    let place = |heading: &str| page.find(heading).unwrap_or_else(|| panic!("{heading}: {page}"));
    assert!(place("Clones of one image") < place("Causes and fixes"), "{page}");
}
