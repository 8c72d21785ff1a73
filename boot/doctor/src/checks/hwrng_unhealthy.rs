//! HW027: a hardware source fails its health tests.

use super::Answer;
use crate::deep::{HealthTest, RDRAND, Sample};
use crate::fixes::Cause;
use crate::{Case, Evidence, Finding, Id, Severity};

pub(super) fn check(case: &Case) -> Answer {
    let Some(deep) = &case.deep else { return Answer::NotAsked };
    let findings: Vec<Finding> =
        deep.samples.iter().filter_map(|sample| finding(case, sample)).collect();
    let unread = deep.samples.iter().filter(|sample| !sample.absent);
    let unread = unread.filter_map(|sample| Some((sample.source, sample.skipped.as_ref()?)));
    let unread: Vec<String> = unread.map(|(source, why)| format!("{source}: {why}")).collect();
    if unread.is_empty() {
        // A machine without any hardware source has none that could be unhealthy.
        Answer::Found(findings)
    } else {
        Answer::InPart(findings, unread.join("; "))
    }
}

fn finding(case: &Case, sample: &Sample) -> Option<Finding> {
    let alarms: Vec<&HealthTest> = sample.tests.iter().filter(|test| test.alarms > 0).collect();
    if alarms.is_empty() {
        return None;
    }
    let evidence = alarms.iter().map(|test| Evidence {
        place: format!("{}, {} bytes", sample.source, sample.bytes),
        says: test.says(),
    });
    let cause = if sample.source == RDRAND { Cause::CpuRngBroken } else { Cause::HwrngUnhealthy };
    Some(Finding {
        id: Id::HwrngUnhealthy,
        severity: Severity::Critical,
        title: format!("{} fails health tests: its bytes are stuck, or very uneven", sample.source),
        evidence: evidence.collect(),
        why:
            "A sound source fails such a test about once in a million runs. The kernel counts the source's \
              bytes as entropy; if it has no other source, keys may be guessed."
                .to_owned(),
        fixes: case.fixes(cause),
        verify: "headwater doctor --deep --only HW027".to_owned(),
    })
}
