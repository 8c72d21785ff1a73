//! The table of boots as assertions: which guests stall, for how long, and what prevents it.

use crate::judge::boot::BootReport;
use crate::judge::cause::{LONG, SHORT};
use crate::judge::finding::{Finding, FindingKind};
use crate::machine::part::ARM_PART;
use crate::plan::{BootPlan, Clock, Rng};

/// A boot with the expected duration of its first getrandom(2).
#[derive(Clone, Debug)]
pub struct BootCase {
    /// Name in the table.
    pub title: &'static str,
    /// The boot.
    pub plan: BootPlan,
    /// The expected duration.
    pub expected: Expected,
}

/// Duration of the first getrandom(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Under half a second, which passes unnoticed.
    Ready,
    /// The 256 ticks that the jitter loop takes, or three times as long on a busy host.
    Jitter,
    /// Longer than the limit.
    Stalled,
    /// Minutes, at a bit a second.
    Slow,
}

impl Expected {
    /// Returns the name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Expected::Ready => "ready",
            Expected::Jitter => "about 1 s",
            Expected::Stalled => "stalled",
            Expected::Slow => "minutes",
        }
    }

    fn holds(self, report: &BootReport) -> bool {
        match (self, report.blocked_s) {
            (Expected::Ready, Some(blocked)) => blocked < SHORT,
            (Expected::Jitter, Some(blocked)) => (SHORT..LONG).contains(&blocked),
            (Expected::Slow, Some(blocked)) => blocked > 2.0 * LONG,
            (Expected::Stalled, None) => true,
            _ => false,
        }
    }
}

impl BootCase {
    /// Returns the unmet expectations: the duration of getrandom(2), and the doctor's results.
    pub fn findings(&self, report: &BootReport) -> Vec<Finding> {
        let finding = |text| Finding { situation: "boot", kind: FindingKind::Broken, text };
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

/// Returns the plain boots of one kernel: one for each source of entropy, and one without any.
pub(crate) fn plain(series: &str) -> Vec<BootCase> {
    let case = |title, rng, append: &str, expected| BootCase {
        title,
        plan: BootPlan { rng, append: append.to_owned(), ..BootPlan::new(series) },
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

/// Returns boots without a cycle counter, on the jiffies clock. A wait of `limit_s` counts as
/// endless.
pub(crate) fn stalls(series: &str, limit_s: u32) -> Vec<BootCase> {
    let endless = series == "7";
    let plan = |rng| BootPlan { rng, clock: Clock::Jiffies, limit_s, ..BootPlan::new(series) };
    let stalled = if endless { Expected::Stalled } else { Expected::Jitter };
    let mut cases =
        vec![BootCase { title: "no counter", plan: plan(Rng::None), expected: stalled }];
    if !endless {
        return cases; // older kernels read the counter even if CPUID denies it
    }
    let more = |title, plan, expected| BootCase { title, plan, expected };
    cases.extend([
        more("no counter, RDRAND", plan(Rng::Rdrand), Expected::Ready),
        more("no counter, RDRAND untrusted", plan(Rng::RdrandUntrusted), Expected::Stalled),
        more("no counter, virtio-rng early", plan(Rng::Virtio), Expected::Ready),
        more("no counter, a seed, credited", plan(Rng::Seed), Expected::Ready),
        more(
            "no counter, a seed, not credited",
            BootPlan { append: "hw.credit=0".into(), ..plan(Rng::None) },
            Expected::Stalled,
        ),
        more(
            "no counter, vmgenid",
            BootPlan { devices: "-device vmgenid,guid=auto".into(), ..plan(Rng::None) },
            Expected::Stalled,
        ),
        more(
            "no counter, HPET",
            BootPlan { clock: Clock::Hpet, ..plan(Rng::None) },
            Expected::Jitter,
        ),
    ]);
    cases
}

/// Returns boots whose wait ends late: by a clock's interrupts, whose 256 bits take four minutes,
/// and by a driver that is loaded at the limit.
pub(crate) fn slow(series: &str) -> Vec<BootCase> {
    let plan = |rng, limit_s, append: &str| BootPlan {
        rng,
        clock: Clock::Jiffies,
        limit_s,
        append: append.to_owned(),
        ..BootPlan::new(series)
    };
    vec![
        BootCase {
            title: "no counter, 64 interrupts a second",
            plan: plan(Rng::None, 400, "hw.rtc=1"),
            expected: Expected::Slow,
        },
        BootCase {
            title: "no counter, virtio-rng after 15 s",
            plan: plan(Rng::VirtioLate, 15, ""),
            expected: Expected::Jitter,
        },
    ]
}

/// Returns boots with firmware that passes a seed, of a kernel that trusts it and of one that does
/// not.
pub(crate) fn firmware(series: &str) -> Vec<BootCase> {
    let case = |title, append: &str, expected| BootCase {
        title,
        plan: BootPlan { rng: Rng::Efi, append: append.to_owned(), ..BootPlan::new(series) },
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

/// Returns plain boots on arm64, whose cycle counter cannot be switched off.
pub(crate) fn arm() -> Vec<BootCase> {
    let titles = [
        ("nothing", "arm64, nothing"),
        ("RDRAND", "arm64, RNDR"),
        ("virtio-rng, driver early", "arm64, virtio-rng, driver early"),
    ];
    let title = |case: &BootCase| titles.into_iter().find(|(title, _)| *title == case.title);
    let cases = plain(ARM_PART).into_iter();
    cases.filter_map(|case| title(&case).map(|(_, title)| BootCase { title, ..case })).collect()
}
