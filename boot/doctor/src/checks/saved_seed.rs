//! HW029: the saved seed is missing, old or not credited.

use super::Answer;
use crate::finding::evidence;
use crate::fixes::Cause;
use crate::{Case, Finding, Id, Platform, Severity};
use std::time::{Duration, SystemTime};

/// systemd's, by systemd-random-seed.service(8).
const SEED: &str = "/var/lib/systemd/random-seed";

pub(super) fn check(case: &Case) -> Answer {
    let Some(host) = &case.host else { return Answer::NotAsked };
    // Other inits have other places; a container has none of its own.
    let runs_systemd = host.root.text("/proc/1/comm").is_ok_and(|name| name == "systemd");
    if !runs_systemd || host.platform == Platform::Container {
        return Answer::NotAsked;
    }
    // A copy of /proc and /sys alone says nothing about files in /var.
    let holds = |path| host.root.exists(path);
    if !host.root.is_live() && !holds("/recording.json") && !holds("/var/lib/systemd") {
        return Answer::CouldNot(format!("this root does not hold {SEED}, nor its directory"));
    }
    let starved = case.is_starved();
    let size = host.root.size(SEED);
    let (title, proof, cause) = if !host.root.exists(SEED) {
        (
            "no seed is kept from one boot to the next".to_owned(),
            evidence(SEED, "is not there"),
            Cause::SavedSeedMissing,
        )
    } else if let Some(size) = size.filter(|size| *size < 32) {
        (
            format!(
                "the seed that is kept for the next boot has {size} bytes, too few for 256 bits"
            ),
            evidence(SEED, format!("{size} bytes")),
            Cause::SavedSeedMissing,
        )
    } else if let Some(days) = age_at_boot(case) {
        (
            format!(
                "the seed that is kept for the next boot is {days} days older than this boot: it is used again and again"
            ),
            evidence(SEED, format!("written {days} days before this boot")),
            Cause::SavedSeedMissing,
        )
    } else if starved && !is_credited(case) {
        (
            "the seed of the last boot was read and not credited, so it did not end the wait"
                .to_owned(),
            evidence("systemd-random-seed.service", "no SYSTEMD_RANDOM_SEED_CREDIT"),
            Cause::SavedSeedUncredited,
        )
    } else {
        return Answer::fine();
    };
    Finding {
        id: Id::SavedSeed,
        severity: if starved { Severity::Warning } else { Severity::Note },
        title,
        evidence: vec![proof],
        why: "systemd saves random bytes at shutdown and at each start, and mixes them in at the next boot, by default without \
              credit. A credited seed ends the wait. The credit is only safe if no two machines start from one image, and no \
              machine starts twice from the same snapshot."
            .to_owned(),
        fixes: case.fixes(cause),
        verify: "systemctl status systemd-random-seed shows success, and ls -l /var/lib/systemd/random-seed this boot's date".to_owned(),
    }
    .into()
}

/// Returns the whole days from the file's last change to this boot, if more than one; systemd
/// writes the file at each boot.
fn age_at_boot(case: &Case) -> Option<u64> {
    let host = case.host.as_ref().filter(|host| host.root.is_live())?;
    let file = host.root.metadata(SEED)?;
    let booted =
        SystemTime::now().checked_sub(Duration::try_from_secs_f64(host.uptime()?).ok()?)?;
    let days = booted.duration_since(file.modified().ok()?).ok()?.as_secs() / 86_400;
    (days > 1).then_some(days)
}

fn is_credited(case: &Case) -> bool {
    let folder = "/etc/systemd/system/systemd-random-seed.service.d";
    let Some(host) = &case.host else { return false };
    host.root.names(folder).iter().any(|name| {
        host.root
            .text(&format!("{folder}/{name}"))
            .is_ok_and(|text| text.contains("SYSTEMD_RANDOM_SEED_CREDIT="))
    })
}
