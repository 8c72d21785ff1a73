//! Checks of `headwater doctor` and `headwater wait` in a guest. A machine whose generator is not
//! ready needs both most, and neither may wait itself there.

use anyhow::{Context, Result};
use headwater_lab_protocol::{self as protocol, DoctorEnd, Message, WaitEnd};
use serde::Serialize;
use serde_json::Value;

/// Longest duration of a doctor's run, in the guest's own time.
const LIMIT_S: f64 = 1.0;
/// The timeout that the guest passes to `headwater wait`.
const TIMEOUT_S: f64 = 3.0;

/// Results of both commands in a guest.
#[derive(Clone, Debug, Serialize)]
pub struct DoctorResults {
    /// Exit status of `doctor --json`.
    pub doctor_status: i32,
    /// Duration of `doctor --json`.
    pub doctor_s: f64,
    /// Exit status of `wait --timeout 3`.
    pub wait_status: i32,
    /// Duration of `wait --timeout 3`.
    pub wait_s: f64,
    /// Number of the process that asked for bytes beforehand.
    pub patient: u32,
    /// The doctor's report, schema `headwater.doctor/1`.
    pub report: Value,
}

impl DoctorResults {
    /// Reads the guest's messages about the two commands, and the doctor's report.
    pub(crate) fn read(messages: &[Message], json: &[u8]) -> Result<DoctorResults> {
        let doctor = protocol::first::<DoctorEnd>(messages).context("no result of the doctor")?;
        let wait = protocol::first::<WaitEnd>(messages).context("no result of `wait`")?;
        Ok(DoctorResults {
            doctor_status: doctor.status,
            doctor_s: doctor.took_us as f64 / 1e6,
            wait_status: wait.status,
            wait_s: wait.took_us as f64 / 1e6,
            patient: doctor.patient,
            report: serde_json::from_slice(json).context("the doctor's report is not JSON")?,
        })
    }

    fn findings(&self) -> impl Iterator<Item = &Value> {
        self.report["findings"].as_array().into_iter().flatten()
    }

    fn finding(&self, id: &str) -> Option<&Value> {
        self.findings().find(|finding| finding["id"] == id)
    }

    /// Returns the names of all critical findings.
    pub fn critical(&self) -> Vec<&str> {
        self.findings()
            .filter(|finding| finding["severity"] == "critical")
            .filter_map(|finding| finding["id"].as_str())
            .collect()
    }

    /// Returns critical findings and duration for a table's cell.
    pub(crate) fn brief(&self) -> String {
        let critical = self.critical();
        let found = if critical.is_empty() { "nothing".to_owned() } else { critical.join(" ") };
        format!("{found}, {:.2} s", self.doctor_s)
    }

    /// Returns the end of both commands and the critical findings, for a report.
    pub(crate) fn text(&self) -> String {
        let critical = self.findings().filter(|finding| finding["severity"] == "critical");
        let titles: String = critical
            .map(|finding| format!("  {}: {}\n", text(&finding["id"]), text(&finding["title"])))
            .collect();
        format!(
            "in the guest: headwater doctor ended with status {} after {:.2} s\n{titles}\
             headwater wait --timeout 3 ended with status {} after {:.2} s\n",
            self.doctor_status, self.doctor_s, self.wait_status, self.wait_s
        )
    }

    /// Returns the faults of both commands, each as a clause.
    ///
    /// In a `stalled` guest without a cycle counter, the doctor must report the stall, the process
    /// that waits, and the cause. In a ready guest, it must report none of them.
    pub fn faults(&self, stalled: bool) -> Vec<String> {
        let mut faults = Vec::new();
        let mut claim = |holds: bool, text: &dyn Fn() -> String| {
            if !holds {
                faults.push(text());
            }
        };
        let (doctor, wait) = (self.doctor_status, self.wait_status);
        let reports = |id: &str| self.finding(id).is_some();
        for id in ["HW001", "HW003"] {
            claim(reports(id) == stalled, &|| {
                let verb = if reports(id) { "reports" } else { "does not report" };
                format!("the doctor {verb} {id}")
            });
        }
        if !stalled {
            claim(wait == 0, &|| format!("wait ended with status {wait} on a ready machine"));
            return faults;
        }
        // The cause. By itself it proves no stall, because a ready machine may lack a counter too,
        // and use another source.
        claim(reports("HW023"), &|| "the doctor does not report HW023".to_owned());
        let named = format!("process {} (patient)", self.patient);
        let blocked =
            self.finding("HW003").map_or(String::new(), |finding| finding["evidence"].to_string());
        claim(blocked.contains(&named), &|| format!("HW003 does not name {named}: {blocked}"));
        claim(doctor == 1, &|| format!("doctor ended with status {doctor}, not 1"));
        claim(self.doctor_s < LIMIT_S, &|| {
            format!("doctor took {:.2} s, not under {LIMIT_S} s", self.doctor_s)
        });
        claim(wait == 1, &|| format!("wait ended with status {wait}, not 1"));
        claim(self.wait_s >= TIMEOUT_S, &|| format!("wait gave up after {:.2} s", self.wait_s));
        faults
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results in a guest with Linux 7.3.4 without a cycle counter.
    fn stalled() -> DoctorResults {
        let ends = [
            DoctorEnd { status: 1, took_us: 132_000, patient: 61 }.into(),
            WaitEnd { status: 1, took_us: 3_016_000 }.into(),
        ];
        let json = br#"{"findings": [
            {"id": "HW001", "severity": "critical", "evidence": []},
            {"id": "HW003", "severity": "critical", "evidence": [
                {"place": "process 61 (patient)", "says": "/proc/61/wchan: wait_for_random_bytes"}]},
            {"id": "HW023", "severity": "critical", "evidence": []},
            {"id": "HW013", "severity": "note", "evidence": []}]}"#;
        DoctorResults::read(&ends, json).unwrap()
    }

    #[test]
    fn a_stalled_guest_is_reported_with_process_and_cause() {
        assert_eq!(stalled().faults(true), [""; 0]);
        assert_eq!(stalled().critical(), ["HW001", "HW003", "HW023"]);
    }

    #[test]
    fn each_claim_of_a_stalled_guest_can_fail() {
        let fault = |change: &dyn Fn(&mut DoctorResults)| {
            let mut results = stalled();
            change(&mut results);
            results.faults(true).join("; ")
        };
        let without =
            |index: usize| fault(&|results| results.report["findings"][index] = Value::Null);
        assert_eq!(without(0), "the doctor does not report HW001");
        assert_eq!(without(2), "the doctor does not report HW023");
        assert!(without(1).contains("does not report HW003"));
        assert!(fault(&|results| results.patient = 62).contains("does not name process 62"));
        assert!(fault(&|results| results.doctor_s = 1.0).contains("took 1.00 s"));
        assert!(fault(&|results| results.doctor_status = 0).contains("status 0, not 1"));
        assert!(fault(&|results| results.wait_status = 0).contains("wait ended with status 0"));
        assert!(fault(&|results| results.wait_s = 2.9).contains("gave up after 2.90 s"));
    }

    #[test]
    fn a_ready_guest_must_have_none_of_these_findings() {
        let faults = stalled().faults(false);
        assert_eq!(faults.len(), 3, "{faults:?}");
        let mut ready = stalled();
        ready.report["findings"] = Value::Array(Vec::new());
        ready.wait_status = 0;
        assert_eq!(ready.faults(false), [""; 0]);
    }

    #[test]
    fn a_missing_result_is_an_error() {
        assert!(DoctorResults::read(&[], b"{}").is_err());
        let ends = [
            DoctorEnd { status: 1, took_us: 0, patient: 1 }.into(),
            WaitEnd { status: 1, took_us: 0 }.into(),
        ];
        assert!(DoctorResults::read(&ends[..1], b"{}").is_err());
        assert!(DoctorResults::read(&ends, b"{").is_err());
        assert!(DoctorResults::read(&ends, b"{}").is_ok());
    }
}
