//! Records in their directories.

use super::*;

fn record() -> Record {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("record-{}", COUNT.fetch_add(1, Relaxed));
    Script::new(&name, 5.0, 107.7).at(6.0, sshd).observe(600.0)
}

#[test]
fn a_record_is_saved_read_and_kept_twenty_times() {
    let directory = std::env::temp_dir().join(format!("headwater-boots-{}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    let mut record = Script::new("keep", 5.0, 107.7).at(6.0, sshd).observe(600.0);
    let file = record.save(&directory.join("run")).unwrap();
    assert_eq!(Record::parse(&fs::read_to_string(&file).unwrap()).unwrap(), record);
    let kept = directory.join("kept");
    for boot in 0..25 {
        record.boot_id = Some(format!("boot-{boot}"));
        record.keep(&kept).unwrap();
        record.keep(&kept).unwrap(); // the same boot, once
    }
    let mut names: Vec<String> = fs::read_dir(&kept)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    fs::remove_dir_all(&directory).unwrap();
    assert_eq!(names.len(), 20);
    assert_eq!(names[0], "000006-boot-5.json");
    assert_eq!(names[19], "000025-boot-24.json");
}

#[test]
fn the_record_of_the_observer_that_began_first_stays() {
    let directory = std::env::temp_dir().join(format!("headwater-two-{}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    let of_initramfs = record();
    let late = Record { began: 50.0, victims: Vec::new(), ..of_initramfs.clone() };
    let at_start = Record { outcome: RecordOutcome::ReadyAtStart, began: 1.0, ..late.clone() };
    let other_boot = Record { boot_id: Some("another".to_owned()), ..late.clone() };
    let began = |writers: &[&Record]| {
        let mut file = PathBuf::new();
        for writer in writers {
            file = writer.save(&directory).unwrap();
            writer.keep(&directory.join("kept")).unwrap();
        }
        let kept = crate::Root::open(&directory).unwrap();
        let names = kept.names("/kept");
        let text = kept.text(&format!("/kept/{}", names.last().unwrap())).unwrap();
        let began = Record::parse(&fs::read_to_string(file).unwrap()).unwrap().began;
        assert_eq!(Record::parse(&text).unwrap().began, began);
        fs::remove_dir_all(&directory).unwrap();
        began
    };
    assert_eq!(began(&[&of_initramfs, &late]), 5.0);
    assert_eq!(began(&[&late, &of_initramfs]), 5.0);
    assert_eq!(began(&[&at_start, &late]), 50.0);
    assert_eq!(began(&[&of_initramfs, &other_boot]), 50.0);
}

#[test]
fn a_directory_that_cannot_be_written_is_reported_and_nothing_is_left() {
    // A file in place of the directory, which root cannot write into either.
    let file = std::env::temp_dir().join(format!("headwater-no-boots-{}", std::process::id()));
    fs::write(&file, "").unwrap();
    let failed = record().save(&file.join("boots"));
    fs::remove_file(&file).unwrap();
    assert!(failed.is_err());
}

#[test]
fn a_boot_id_cannot_lead_out_of_the_directory() {
    let directory = std::env::temp_dir().join(format!("headwater-evil-{}", std::process::id()));
    let record = Record { boot_id: Some("../../etc/passwd".to_owned()), ..record() };
    let file = record.save(&directory).unwrap();
    fs::remove_dir_all(&directory).unwrap();
    assert_eq!(file, directory.join("unknown.json"));
}

#[test]
fn documents_of_other_kinds_are_not_records() {
    let good = record().json().unwrap();
    assert!(Record::parse(&good).is_some());
    for bad in ["", "{}", "[]", &good.replace("observe/1", "observe/2"), &good[..good.len() / 2]] {
        assert!(Record::parse(bad).is_none());
    }
}
