//! The words that the terminal and the page share.

use crate::{Effect, Finding, Fix, Id, Platform, Report, Severity, Side, Verdict};
use headwater_text::number::counted;
use std::cmp::Reverse;

/// Returns a platform's name as its makers write it.
pub(crate) const fn platform(platform: Platform) -> &'static str {
    match platform {
        Platform::BareMetal => "no hypervisor",
        Platform::Qemu => "QEMU",
        Platform::Libvirt => "libvirt",
        Platform::Ganeti => "Ganeti",
        Platform::Proxmox => "Proxmox VE",
        Platform::OpenStack => "OpenStack",
        Platform::KubeVirt => "KubeVirt",
        Platform::OVirt => "oVirt",
        Platform::CloudStack => "CloudStack",
        Platform::Firecracker => "Firecracker",
        Platform::CloudHypervisor => "Cloud Hypervisor",
        Platform::VMware => "VMware",
        Platform::HyperV => "Hyper-V",
        Platform::Xen => "Xen",
        Platform::Gce => "Google Compute Engine",
        Platform::Aws => "Amazon EC2",
        Platform::Azure => "Microsoft Azure",
        Platform::VirtualBox => "VirtualBox",
        Platform::Bhyve => "bhyve",
        Platform::Wsl => "WSL 2",
        Platform::AppleVirtualization => "Apple Virtualization",
        Platform::Container => "a container",
        Platform::OtherVm => "a hypervisor unknown to this version",
    }
}

/// Returns a severity in the words of a heading.
pub(crate) const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "critical",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// Returns the heading of the side on which a fix is made.
pub(crate) const fn side(fix: &Fix) -> &'static str {
    match (fix.side, fix.platform) {
        (Side::Host, Some(Platform::BareMetal)) => "In the firmware",
        (Side::Host, Some(Platform::Container)) => "On the container's host",
        (Side::Host, _) => "On the hypervisor (no image has to be changed)",
        (Side::Guest, _) => "In the machine",
    }
}

/// Returns the effect of a fix and the party to trust; empty if the fix only removes an obstacle.
pub(crate) fn brings(fix: &Fix) -> String {
    let effect = match fix.gives {
        Effect::Seed => "entropy once, at boot",
        Effect::Volume => "entropy at boot and after",
        Effect::Signal => "a signal at every clone",
        Effect::Nothing => "",
    };
    let trusts = fix.trusts.map(|party| format!("trusts {party}")).unwrap_or_default();
    let notes: Vec<&str> = [effect, &trusts].into_iter().filter(|note| !note.is_empty()).collect();
    notes.join("; ")
}

impl Report {
    /// Returns the answer in one line: who waited how long, on what machine, and the first step
    /// against it. A report without warnings has its tally there.
    pub fn headline(&self) -> String {
        let Some(finding) = self.answer().filter(|_| self.verdict() == Verdict::Findings) else {
            return self.tally();
        };
        let facts: Vec<String> = self
            .kernel
            .iter()
            .map(|release| format!("Linux {release}"))
            .chain(self.platform_in_words())
            .collect();
        let facts =
            if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
        let fix = finding.fixes.first().map(first_step).unwrap_or_default();
        harmless(&format!("{}{facts}.{fix}", capital(without_attempts(&finding.title))))
    }

    /// Returns the platform's name; of a hypervisor without a row in our tables the name that the
    /// log has.
    fn platform_in_words(&self) -> Option<String> {
        let found = self.platform?;
        let named = || self.boots.last()?.machine.hypervisor.clone();
        let name = (found == Platform::OtherVm).then(named).flatten();
        Some(name.unwrap_or_else(|| platform(found).to_owned()))
    }

    /// Returns the finding that answers best: of the worst ones the one that names who waited.
    pub fn answer(&self) -> Option<&Finding> {
        let rank = |finding: &&Finding| match finding.id {
            Id::Blocked => 0,
            Id::UnitWaited => 1,
            Id::TraceWaited => 2,
            Id::ReadyLate => 3,
            Id::NotReady => 4,
            _ => 5,
        };
        let is_wait = |finding: &&Finding| rank(finding) < 5 && finding.severity > Severity::Note;
        let waits = self.findings.iter().any(|finding| is_wait(&finding));
        // A source that is missing is the cause of the wait, and the answer names the wait.
        let is_cause =
            |finding: &&Finding| waits && (Id::NoJitter..=Id::HypervisorSeed).contains(&finding.id);
        // The first of equals, and findings are in the order of their numbers.
        self.findings
            .iter()
            .min_by_key(|finding| (is_cause(finding), Reverse(finding.severity), rank(finding)))
    }

    /// Returns the numbers of findings and checks in one line.
    pub fn tally(&self) -> String {
        let count =
            |wanted| self.findings.iter().filter(|finding| finding.severity == wanted).count();
        let counts: Vec<String> = [Severity::Critical, Severity::Warning, Severity::Note]
            .map(|severity| (count(severity), severity))
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, severity)| of_severity(count, severity))
            .collect();
        let checks = counted(self.passed.len(), "check");
        match self.verdict() {
            Verdict::CouldNotCheck => "Nothing could be checked".to_owned(),
            Verdict::Incomplete => {
                let missing = counted(self.not_checked.len(), "check");
                // A log that shows nothing about waits must not read as if it showed none.
                if self.not_checked.iter().any(|missed| missed.id == Id::ReadyLate) {
                    let notes = if counts.is_empty() {
                        String::new()
                    } else {
                        format!("; {}", counts.join(", "))
                    };
                    return format!(
                        "No answer: nothing here shows whether programs waited for random bytes; \
                         {missing} could not be made{notes}"
                    );
                }
                let notes = if counts.is_empty() {
                    String::new()
                } else {
                    format!("; {}", counts.join(", "))
                };
                format!(
                    "Incomplete: nothing found, and {missing} could not be made; {checks} found nothing{notes}"
                )
            }
            Verdict::Healthy if counts.is_empty() => format!("Healthy: {checks} found nothing"),
            Verdict::Healthy => format!("Healthy: {checks} found nothing; {}", counts.join(", ")),
            Verdict::Findings => {
                let lead = match self.findings.first().map(|finding| finding.severity) {
                    Some(Severity::Critical) => "Not healthy",
                    _ => "Could be better",
                };
                // A log shows so little that this number would read as reassurance.
                if self.is_excerpt {
                    return format!("{lead}: {}", counts.join(", "));
                }
                format!("{lead}: {}; {checks} found nothing", counts.join(", "))
            }
        }
    }

    /// Returns the input in one line: "this machine: Ganeti, Linux 5.10.0-30-amd64".
    pub fn about(&self) -> String {
        let kernel = self.kernel.as_ref().map(|release| format!("Linux {release}"));
        let on = self.platform_in_words();
        let facts: Vec<String> = on.into_iter().chain(kernel).collect();
        if facts.is_empty() {
            self.of.clone()
        } else {
            format!("{}: {}", self.of, facts.join(", "))
        }
    }

    /// Returns the time of readiness in words; `None` if unknown.
    pub fn readiness(&self) -> Option<String> {
        let bounds =
            self.ready_bounds.filter(|bounds| bounds.at_least > 0.0 || bounds.at_most.is_some())?;
        Some(format!(
            "the kernel's generator was ready {} after the kernel's start",
            bounds.words()
        ))
    }
}

/// Returns the first step in the words of line one.
fn first_step(fix: &Fix) -> String {
    let place = match (fix.side, fix.platform) {
        (Side::Host, Some(Platform::BareMetal)) => " in the firmware",
        (Side::Host, Some(Platform::Container)) => " on the container's host",
        (Side::Host, _) => " on the hypervisor",
        (Side::Guest, _) => "",
    };
    let exact = fix.exact.as_deref().filter(|exact| !exact.contains('\n'));
    let step = exact.map_or(fix.what.as_str(), |exact| {
        exact.split_once("    #").map_or(exact, |(command, _)| command)
    });
    format!(" Fix{place}: {step}")
}

/// Leaves out how often systemd started the unit, which the finding below says.
fn without_attempts(title: &str) -> &str {
    match title.split_once(", in ") {
        Some((head, rest)) if rest.contains(" attempts (") => head,
        _ => title,
    }
}

/// Begins a sentence with a capital, and leaves names of units and programs as they are.
fn capital(title: &str) -> String {
    let begins = ["the ", "a ", "at "].iter().any(|word| title.starts_with(word));
    let (first, rest) = title.split_at(usize::from(begins));
    format!("{}{rest}", first.to_uppercase())
}

/// Returns the worst severity, which chooses a colour.
pub(crate) fn worst(findings: &[Finding]) -> Option<Severity> {
    findings.iter().map(|finding| finding.severity).max()
}

/// Returns a number of findings: "1 note", "2 notes". "Critical" is said of findings, so it has no
/// plural, and the words for nouns would print "2 criticals".
fn of_severity(count: usize, found: Severity) -> String {
    match found {
        Severity::Critical => format!("{count} critical"),
        Severity::Warning | Severity::Note => counted(count, severity(found)),
    }
}

/// Writes seconds with three digits: 0.112 s, 1.02 s, 102 s.
pub(crate) fn time(seconds: f64) -> String {
    headwater_text::time::from_s(seconds)
}

/// Escapes foreign text; see [`headwater_text::escape::untrusted`].
pub(crate) fn harmless(text: &str) -> String {
    headwater_text::escape::untrusted(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_figures() {
        assert_eq!(
            [0.1123, 1.0234, 11.54, 101.67].map(time),
            ["0.112 s", "1.02 s", "11.5 s", "102 s"]
        );
    }

    #[test]
    fn a_log_cannot_paint_on_the_terminal() {
        assert_eq!(harmless("a\x1b[31mred\x07\u{202e}b\tc"), r"a\u{1b}[31mred\u{7}\u{202e}b c");
        assert_eq!(harmless("für 日本"), "für 日本");
    }
}
