//! `headwater doctor` and `headwater wait` in a guest: a machine that is not ready is where they are needed, and where
//! whatever they are made of must not wait itself.

use crate::line::Line;
use crate::qemu::Guest;
use crate::recording;
use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;

/// Where the guest keeps the doctor's report.
const REPORT: &str = "/doctor.json";
/// What a live look may take, in the guest's own time.
const LIMIT_S: f64 = 1.0;
/// The wait that the guest asks for.
const TIMEOUT_S: f64 = 3.0;

/// What the two commands said in a guest.
#[derive(Clone, Debug, Serialize)]
pub struct Examined {
    /// Exit status of `doctor --json`.
    pub doctor_status: i32,
    /// How long it took.
    pub doctor_s: f64,
    /// Exit status of `wait --timeout 3`.
    pub wait_status: i32,
    /// How long it took.
    pub wait_s: f64,
    /// The process that asked for bytes beforehand.
    pub patient: u32,
    /// The doctor's report, schema `headwater.doctor/1`.
    pub report: Value,
}

/// Has the guest run both. Costs the guest's kernel some interrupts; the report is fetched by [`fetch`].
pub(crate) fn run(guest: &mut Guest) -> Result<Vec<Line>> {
    guest.ask("doctor").context("the doctor in the guest")
}

/// The report as well: hundreds of interrupts, which end a stall if there are enough of them.
pub(crate) fn fetch(guest: &mut Guest, told: &[Line]) -> Result<Examined> {
    let json = recording::file_of_guest(guest, REPORT)
        .with_context(|| format!("the doctor's report, {REPORT}"))?;
    read(told, &json)
}

fn read(told: &[Line], json: &[u8]) -> Result<Examined> {
    let of = |word: &str| {
        told.iter()
            .find(|line| line.word == word)
            .with_context(|| format!("the guest said nothing of '{word}'"))
    };
    let (doctor, wait) = (of("doctor")?, of("wait")?);
    let status = |line: &Line| line.number("status").context("the guest told no exit status");
    let took = |line: &Line| line.number("took").context("the guest told no time");
    Ok(Examined {
        doctor_status: status(doctor)?,
        doctor_s: took(doctor)?,
        wait_status: status(wait)?,
        wait_s: took(wait)?,
        patient: doctor.number("patient").context("the guest did not say who asks")?,
        report: serde_json::from_slice(json).context("the doctor's report is no JSON")?,
    })
}

impl Examined {
    fn findings(&self) -> impl Iterator<Item = &Value> {
        self.report["findings"].as_array().into_iter().flatten()
    }

    fn finding(&self, id: &str) -> Option<&Value> {
        self.findings().find(|finding| finding["id"] == id)
    }

    /// The names of what is critical.
    pub fn critical(&self) -> Vec<&str> {
        self.findings()
            .filter(|finding| finding["severity"] == "critical")
            .filter_map(|finding| finding["id"].as_str())
            .collect()
    }

    /// For a table: how long it took, and what is critical.
    pub(crate) fn brief(&self) -> String {
        let critical = self.critical();
        let found = if critical.is_empty() { "nothing".to_owned() } else { critical.join(" ") };
        format!("{found}, {:.2} s", self.doctor_s)
    }

    /// How both ended, and the worst of what was found, as the doctor puts it.
    pub(crate) fn told(&self) -> String {
        let worst = self.findings().filter(|finding| finding["severity"] == "critical");
        let titles: String =
            worst.map(|it| format!("  {}: {}\n", text(&it["id"]), text(&it["title"]))).collect();
        format!(
            "in the guest: headwater doctor ended with status {} after {:.2} s\n{titles}\
             headwater wait --timeout 3 ended with status {} after {:.2} s\n",
            self.doctor_status, self.doctor_s, self.wait_status, self.wait_s
        )
    }

    /// What is wrong with it, in a clause each: in a guest that is `stalled` for want of a counter it must say so, and who
    /// hangs, and why; in one that is ready, none of it.
    pub fn faults(&self, stalled: bool) -> Vec<String> {
        let mut faults = Vec::new();
        let mut claim = |holds: bool, text: &dyn Fn() -> String| {
            if !holds {
                faults.push(text());
            }
        };
        let (doctor, wait) = (self.doctor_status, self.wait_status);
        let said = |id: &str| self.finding(id).is_some();
        for id in ["HW001", "HW003"] {
            claim(said(id) == stalled, &|| {
                format!("the doctor {} {id}", if said(id) { "says" } else { "does not say" })
            });
        }
        if !stalled {
            claim(wait == 0, &|| format!("wait ended with status {wait} on a ready machine"));
            return faults;
        }
        // The cause. (A ready machine may have it too, and live by another source.)
        claim(said("HW023"), &|| "the doctor does not say HW023".to_owned());
        let named = format!("process {} (patient)", self.patient);
        let blocked = self.finding("HW003").map_or(String::new(), |it| it["evidence"].to_string());
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

    /// As the guest of Linux 7.3.4 without a cycle counter says it.
    fn stalled() -> Examined {
        let told =
            ["HW doctor status=1 took=0.132 patient=61", "HW wait status=1 took=3.016 patient=61"];
        let told: Vec<Line> = told.iter().filter_map(|line| Line::parse(line)).collect();
        let json = br#"{"findings": [
            {"id": "HW001", "severity": "critical", "evidence": []},
            {"id": "HW003", "severity": "critical", "evidence": [
                {"place": "process 61 (patient)", "says": "/proc/61/wchan: wait_for_random_bytes"}]},
            {"id": "HW023", "severity": "critical", "evidence": []},
            {"id": "HW013", "severity": "note", "evidence": []}]}"#;
        read(&told, json).unwrap()
    }

    #[test]
    fn a_stalled_guest_is_told_with_who_hangs_and_why() {
        assert_eq!(stalled().faults(true), [""; 0]);
        assert_eq!(stalled().critical(), ["HW001", "HW003", "HW023"]);
    }

    #[test]
    fn each_claim_of_a_stalled_guest_can_fail() {
        let fault = |change: &dyn Fn(&mut Examined)| {
            let mut examined = stalled();
            change(&mut examined);
            examined.faults(true).join("; ")
        };
        assert_eq!(
            fault(&|it| it.report["findings"][0] = Value::Null),
            "the doctor does not say HW001"
        );
        assert_eq!(
            fault(&|it| it.report["findings"][2] = Value::Null),
            "the doctor does not say HW023"
        );
        assert!(fault(&|it| it.report["findings"][1] = Value::Null).contains("does not say HW003"));
        assert!(fault(&|it| it.patient = 62).contains("does not name process 62"));
        assert!(fault(&|it| it.doctor_s = 1.5).contains("took 1.50 s"));
        assert!(fault(&|it| it.doctor_status = 0).contains("status 0, not 1"));
        assert!(fault(&|it| it.wait_status = 0).contains("wait ended with status 0"));
        assert!(fault(&|it| it.wait_s = 0.1).contains("gave up after 0.10 s"));
    }

    #[test]
    fn a_ready_guest_is_told_none_of_it() {
        let faults = stalled().faults(false);
        assert_eq!(faults.len(), 3, "{faults:?}");
        let mut ready = stalled();
        ready.report["findings"] = Value::Array(Vec::new());
        ready.wait_status = 0;
        assert_eq!(ready.faults(false), [""; 0]);
    }
}
