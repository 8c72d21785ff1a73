//! The table of boots as assertions: what stalls, for how long, what cures it and what does not.

use crate::boot::{Clock, Plan, Report, Rng};
use crate::cause::{LONG, SHORT};
use crate::situations::{Finding, Kind};

/// A boot, and how long getrandom(2) must block in it.
#[derive(Clone, Debug)]
pub struct Case {
    /// A name for the table.
    pub title: &'static str,
    /// What to boot.
    pub plan: Plan,
    /// How long it must block.
    pub expected: Expected,
}

/// How long getrandom(2) blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Not so that anybody would notice: under half a second.
    Ready,
    /// For the 256 ticks that the jitter loop takes, and three times as long on a busy machine.
    Jitter,
    /// To the limit.
    Stalled,
    /// For minutes, and not for ever: a bit a second.
    Slow,
}

impl Expected {
    /// For the table.
    pub fn name(self) -> &'static str {
        match self {
            Expected::Ready => "ready",
            Expected::Jitter => "about 1 s",
            Expected::Stalled => "stalled",
            Expected::Slow => "minutes",
        }
    }

    fn holds(self, report: &Report) -> bool {
        match (self, report.blocked_s) {
            (Expected::Ready, Some(blocked)) => blocked < SHORT,
            (Expected::Jitter, Some(blocked)) => (SHORT..LONG).contains(&blocked),
            (Expected::Slow, Some(blocked)) => blocked > 2.0 * LONG,
            (Expected::Stalled, None) => true,
            _ => false,
        }
    }
}

impl Case {
    /// What does not hold: how long getrandom(2) blocked, and what the doctor made of it in the guest.
    pub fn findings(&self, report: &Report) -> Vec<Finding> {
        let finding = |text| Finding { situation: "boot", kind: Kind::Broken, text };
        let mut findings = Vec::new();
        if !self.expected.holds(report) {
            let blocked = report.blocked_s.map_or_else(
                || format!("over {} s", report.limit_s),
                |blocked| format!("{blocked:.2} s"),
            );
            findings.push(finding(format!(
                "'{}' on {}: getrandom blocked for {blocked}, expected {}",
                self.title,
                report.kernel,
                self.expected.name()
            )));
        }
        let faults =
            report.doctor.iter().flat_map(|doctor| doctor.faults(report.blocked_s.is_none()));
        findings.extend(
            faults.map(|fault| finding(format!("'{}' on {}: {fault}", self.title, report.kernel))),
        );
        findings
    }
}

/// The plain boots of one kernel: what seeds it, and what it does when nothing does.
pub fn plain(series: &str) -> Vec<Case> {
    let case = |title, rng, append: &str, expected| Case {
        title,
        plan: Plan { rng, append: append.to_owned(), ..Plan::new(series) },
        expected,
    };
    vec![
        case("nothing", Rng::None, "", Expected::Jitter),
        case("RDRAND", Rng::Rdrand, "", Expected::Ready),
        case("RDRAND, random.trust_cpu=off", Rng::RdrandUntrusted, "", Expected::Jitter),
        case("virtio-rng, driver early", Rng::Virtio, "", Expected::Ready),
        case("virtio-rng, driver late", Rng::VirtioLate, "", Expected::Jitter),
        case(
            "random.trust_bootloader=off",
            Rng::None,
            "random.trust_bootloader=off",
            Expected::Jitter,
        ),
        case("a seed, credited", Rng::Seed, "", Expected::Ready),
    ]
}

/// The hunt for the stall: a kernel without a cycle counter, on the jiffies clock. `limit_s` is what counts as endless.
pub fn stalls(series: &str, limit_s: u32) -> Vec<Case> {
    let endless = series == "7";
    let plan = |rng| Plan { rng, clock: Clock::Jiffies, limit_s, ..Plan::new(series) };
    let stalled = if endless { Expected::Stalled } else { Expected::Jitter };
    let mut cases = vec![Case { title: "no counter", plan: plan(Rng::None), expected: stalled }];
    if !endless {
        return cases; // older kernels read the counter whatever CPUID says
    }
    let more = |title, plan, expected| Case { title, plan, expected };
    cases.extend([
        more("no counter, RDRAND", plan(Rng::Rdrand), Expected::Ready),
        more("no counter, RDRAND untrusted", plan(Rng::RdrandUntrusted), Expected::Stalled),
        more("no counter, virtio-rng early", plan(Rng::Virtio), Expected::Ready),
        more("no counter, a seed, credited", plan(Rng::Seed), Expected::Ready),
        more(
            "no counter, a seed, not credited",
            Plan { append: "hw.credit=0".into(), ..plan(Rng::None) },
            Expected::Stalled,
        ),
        more(
            "no counter, vmgenid",
            Plan { devices: "-device vmgenid,guid=auto".into(), ..plan(Rng::None) },
            Expected::Stalled,
        ),
        more("no counter, HPET", Plan { clock: Clock::Hpet, ..plan(Rng::None) }, Expected::Jitter),
    ]);
    cases
}

/// The driver that comes when the limit is over, and ends the wait at once; how fast interrupts of a clock would: its 256
/// bits take four minutes.
pub fn slow(series: &str) -> Vec<Case> {
    let plan = |rng, limit_s, append: &str| Plan {
        rng,
        clock: Clock::Jiffies,
        limit_s,
        append: append.to_owned(),
        ..Plan::new(series)
    };
    vec![
        Case {
            title: "no counter, 64 interrupts a second",
            plan: plan(Rng::None, 400, "hw.rtc=1"),
            expected: Expected::Slow,
        },
        Case {
            title: "no counter, virtio-rng after 15 s",
            plan: plan(Rng::VirtioLate, 15, ""),
            expected: Expected::Jitter,
        },
    ]
}

/// Firmware that passes a seed, and a kernel told not to trust it.
pub fn firmware(series: &str) -> Vec<Case> {
    let case = |title, append: &str, expected| Case {
        title,
        plan: Plan { rng: Rng::Efi, append: append.to_owned(), ..Plan::new(series) },
        expected,
    };
    vec![
        case("UEFI seed", "", Expected::Ready),
        case(
            "UEFI seed, random.trust_bootloader=off",
            "random.trust_bootloader=off",
            Expected::Jitter,
        ),
    ]
}

/// The same on arm64, whose counter no flag takes away.
pub fn arm() -> Vec<Case> {
    let titles = [
        ("nothing", "arm64, nothing"),
        ("RDRAND", "arm64, RNDR"),
        ("virtio-rng, driver early", "arm64, virtio-rng, driver early"),
    ];
    let title = |case: &Case| titles.into_iter().find(|(title, _)| *title == case.title);
    let cases = plain(crate::setup::ARM_PART).into_iter();
    cases.filter_map(|case| title(&case).map(|(_, title)| Case { title, ..case })).collect()
}
