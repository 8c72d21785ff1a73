//! The report on the places of pages in a guest with several memory nodes.

use crate::judge::finding::{Finding, FindingKind};
use headwater_lab_protocol::{self as protocol, Nodes};
use serde::Serialize;

/// The report on one look, in JSON of schema `headwater.lab-nodes/1`.
#[derive(Clone, Debug, Serialize)]
pub struct NodesReport {
    pub(crate) schema: &'static str,
    /// `uname -r` of the guest.
    pub kernel: String,
    /// The series of the guest's kernel.
    pub series: String,
    /// Memory nodes and CPUs that the machine was given.
    pub asked: (usize, usize),
    /// Seconds for which threads drew, moved, and lost their CPUs before the look; 0: none.
    pub seconds: u64,
    /// The result of the guest.
    #[serde(flatten)]
    pub found: Nodes,
}

impl NodesReport {
    pub(crate) fn new(
        kernel: &str,
        series: &str,
        asked: (usize, usize),
        seconds: u64,
        found: &Nodes,
    ) -> NodesReport {
        NodesReport {
            schema: "headwater.lab-nodes/1",
            kernel: kernel.to_owned(),
            series: series.to_owned(),
            asked,
            seconds,
            found: found.clone(),
        }
    }

    /// Returns the promises that are broken, and the reasons why a run does not show that they
    /// hold.
    ///
    /// A page lies where it is first written. If the thread is moved to another node in the middle
    /// of a slot's first refill, the page lies there and stays, because moving it takes a system
    /// call, and a draw makes none but getrandom(2). It costs time alone, so after moves the report
    /// counts such pages, and only a process that has not moved promises that there are none.
    pub fn findings(&self) -> Vec<Finding> {
        let Nodes { pages, remote, shared, without, words, zeros, repeats, .. } = &self.found;
        let found = &self.found;
        let mut findings = Vec::new();
        let mut claim = |holds: bool, kind, text: &str| {
            if !holds {
                let text = format!("{}, {} CPUs: {text}", self.kernel, found.cpus);
                findings.push(Finding { situation: "nodes", kind, text });
            }
        };
        use FindingKind::{Broken, NotShown};
        claim(*repeats == 0, Broken, &format!("{repeats} of {words} words repeat"));
        claim(*zeros == 0, Broken, &format!("{zeros} of {words} words are zero"));
        let tripped = format!("headwater found {} windows of zeros", found.tripwires);
        claim(found.tripwires == 0, Broken, &tripped);
        claim(*shared == 0, Broken, &format!("{shared} of {pages} pages serve two CPUs"));
        let far = format!("{remote} of {pages} pages lie on another node than their CPU");
        claim(*remote == 0 || self.seconds > 0, Broken, &far);
        claim(*without == 0, NotShown, &format!("the draws of {without} CPUs wrote no page"));
        let other = format!("the guest has {} nodes and {} CPUs", found.nodes, found.cpus);
        claim((found.nodes, found.cpus) == self.asked, NotShown, &other);
        if self.seconds > 0 {
            claim(*words > 0, NotShown, "no word was drawn before the look");
            let error = |error: &Option<String>| error.clone().unwrap_or_default();
            let set = format!("no cpuset moved the process: {}", error(&found.cpuset_error));
            claim(found.process_moves > 0, NotShown, &set);
            let plug = format!("no CPU went offline: {}", error(&found.unplug_error));
            claim(found.unplugs > 0, NotShown, &plug);
        }
        findings
    }
}

/// Returns the result of a guest, from the messages of one command.
pub(crate) fn of(messages: &[protocol::Message]) -> Option<&Nodes> {
    protocol::first(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> NodesReport {
        let found = Nodes {
            cpus: 16,
            nodes: 4,
            pages: 32,
            words: 1_000_000,
            process_moves: 9,
            unplugs: 9,
            ..Nodes::default()
        };
        NodesReport::new("6.12", "6.12", (4, 16), 10, &found)
    }

    #[test]
    fn every_broken_promise_is_a_finding() {
        use FindingKind::{Broken, NotShown};
        let kinds = |change: &dyn Fn(&mut NodesReport)| -> Vec<FindingKind> {
            let mut report = good();
            change(&mut report);
            report.findings().into_iter().map(|finding| finding.kind).collect()
        };
        assert_eq!(kinds(&|_| ()), []);
        assert_eq!(kinds(&|report| report.found.remote = 1), []);
        assert_eq!(kinds(&|report| report.found.shared = 1), [Broken]);
        assert_eq!(kinds(&|report| report.found.repeats = 1), [Broken]);
        assert_eq!(kinds(&|report| report.found.zeros = 1), [Broken]);
        assert_eq!(kinds(&|report| report.found.tripwires = 1), [Broken]);
        assert_eq!(kinds(&|report| report.found.without = 1), [NotShown]);
        assert_eq!(kinds(&|report| report.found.cpus = 15), [NotShown]);
        assert_eq!(kinds(&|report| report.found.words = 0), [NotShown]);
        assert_eq!(kinds(&|report| report.found.process_moves = 0), [NotShown]);
        assert_eq!(kinds(&|report| report.found.unplugs = 0), [NotShown]);
        let quiet = |report: &mut NodesReport| {
            (report.seconds, report.found.words, report.found.unplugs) = (0, 0, 0);
            report.found.process_moves = 0;
        };
        assert_eq!(kinds(&|report| quiet(report)), []);
        assert_eq!(
            kinds(&|report| {
                quiet(report);
                report.found.remote = 1;
            }),
            [Broken]
        );
    }
}
