//! What came of a pair of clones: rows of witnesses, what was armed, and when repeats ended.

use crate::clone::{Armed, Made, Pair, Plan, Row, has_mode};
use crate::compare::{Parted, Repeats};
use crate::line::Line;
use crate::manifest;
use anyhow::{Context, Result, bail};

/// Compares what the clones drew.
pub(crate) fn judge(plan: &Plan, kernel: &manifest::Kernel, made: &Made) -> Result<Pair> {
    let ready = made
        .source
        .iter()
        .find(|line| line.word == "ready")
        .context("the guest was never ready")?;
    // A kernel that was given as a file has no name but its own.
    let hello = made.source.iter().find(|line| line.word == "hello");
    let release = hello.and_then(|hello| hello.get("text").split(' ').nth(2));
    let witnesses: Vec<&str> = ready.get("witnesses").split(',').collect();
    let modes: Vec<&str> = ready.get("workers").split(',').collect();
    let stamp =
        witnesses.iter().position(|name| *name == "stamp").context("the guest draws no stamp")?;
    let parted = Parted::of(&made.clones[0].threads, &made.clones[1].threads, &modes, stamp);
    if parted.threads == 0 {
        bail!("no thread drew anything in both clones");
    }
    let frequency = frequency(&made.source);
    let seconds = |cycles: u64| frequency.map(|frequency| cycles as f64 / frequency);
    let everybody: Vec<usize> = (0..modes.len()).collect();
    let mut rows = Vec::new();
    for (index, &witness) in witnesses.iter().enumerate().filter(|(index, _)| *index != stamp) {
        let mut add = |mode: Option<&str>, threads: &[usize]| {
            let Repeats { draws, repeated, last, after_stamp } = parted.repeats(index, threads);
            rows.push(Row {
                witness: witness.to_owned(),
                mode: mode.map(str::to_owned),
                draws,
                repeated,
                last_s: if repeated > 0 { seconds(last) } else { None },
                after_stamp,
                twice_within: parted.twice_within(index),
            });
        };
        if has_mode(witness) {
            for mode in &plan.modes {
                let threads: Vec<usize> =
                    everybody.iter().copied().filter(|thread| modes[*thread] == mode).collect();
                add(Some(mode), &threads);
            }
        } else {
            add(None, &everybody);
        }
    }
    // The counter runs before the kernel's clock does; one line of the guest tells both.
    let resumed = frequency
        .zip(ready.number::<f64>("at"))
        .zip(ready.number::<u64>("cycles"))
        .map(|((frequency, at), cycles)| at + (parted.at as f64 - cycles as f64) / frequency);
    Ok(Pair {
        schema: "headwater.lab-clone/1",
        kernel: release.unwrap_or(&kernel.release).to_owned(),
        series: kernel.series.clone(),
        vmgenid: plan.vmgenid,
        vmclock: plan.vmclock,
        smp: plan.smp,
        rollback: plan.rollback,
        rdrand: plan.rdrand,
        watched_s: seconds(parted.watched()),
        threads: modes.len(),
        threads_compared: parted.threads,
        rows,
        armed: plan.modes.iter().map(|mode| armed(mode, made)).collect(),
        fork_reseeds: made.clones.iter().map(|clone| fork_reseed(&clone.lines, resumed)).collect(),
        state_mib: made.state_mib,
        wall_s: 0.0,
    })
}

/// Cycles in a second, as the guest's kernel measured them.
fn frequency(lines: &[Line]) -> Option<f64> {
    let texts = || lines.iter().filter(|line| line.word == "kmsg").map(|line| line.get("text"));
    let tsc = texts().find_map(|text| {
        let rest = text.strip_prefix("tsc: Detected ")?;
        rest.split(' ').next()?.parse::<f64>().ok()
    });
    let arm = || {
        texts().find_map(|text| {
            let rest = text.split("cp15 timer running at ").nth(1)?;
            rest.split("MHz").next()?.parse::<f64>().ok()
        })
    };
    tsc.or_else(arm).map(|mhz| mhz * 1e6)
}

fn armed(mode: &str, made: &Made) -> Armed {
    let status = |lines: &[Line]| {
        lines.iter().rfind(|line| line.word == "status" && line.get("for") == mode).cloned()
    };
    let before = status(&made.source).unwrap_or_default();
    let after = made
        .clones
        .iter()
        .map(|clone| status(&clone.lines).unwrap_or_default().get("mode").to_owned());
    let guards =
        ["reseed_generation", "vmgenid", "vmclock", "hardware", "cpu_rng", "source", "page"];
    Armed {
        asked: mode.to_owned(),
        before: before.get("mode").to_owned(),
        after: after.collect(),
        reason: before.get("text").to_owned(),
        guards: guards.iter().map(|key| ((*key).to_owned(), before.get(key).to_owned())).collect(),
    }
}

/// When the kernel said that it was cloned, after the resume.
fn fork_reseed(lines: &[Line], resumed: Option<f64>) -> Option<f64> {
    let line = lines.iter().rfind(|line| {
        line.word == "kmsg" && line.get("text").contains("reseeded due to virtual machine fork")
    })?;
    Some(line.number::<f64>("at")? - resumed?)
}
