//! Hosts that share what each machine should have of its own.

use crate::identity::hash;
use serde::Serialize;

/// A kind of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EvidenceKind {
    SshHostKey,
    BootId,
    RandomSeed,
    MachineId,
}

impl EvidenceKind {
    pub(super) const ALL: [EvidenceKind; 4] = [
        EvidenceKind::SshHostKey,
        EvidenceKind::BootId,
        EvidenceKind::RandomSeed,
        EvidenceKind::MachineId,
    ];

    /// Returns the noun for a sentence.
    pub(super) const fn noun(self) -> &'static str {
        match self {
            EvidenceKind::SshHostKey => "SSH host keys",
            EvidenceKind::BootId => "the boot id",
            EvidenceKind::RandomSeed => "the saved random seed",
            EvidenceKind::MachineId => "the machine id",
        }
    }

    /// Returns the fix, in a sentence.
    pub(super) const fn fix(self) -> &'static str {
        match self {
            EvidenceKind::SshHostKey => {
                "on each host: rm /etc/ssh/ssh_host_*_key* && ssh-keygen -A, then restart sshd; in \
                 the image: delete these files"
            }
            EvidenceKind::BootId => {
                "the hosts were resumed from one snapshot of a running machine: restart every \
                 program that ran before, or reboot, and provide a vmgenid device (HW040)"
            }
            EvidenceKind::RandomSeed => "delete /var/lib/systemd/random-seed in the image",
            EvidenceKind::MachineId => {
                "in the image: truncate -s 0 /etc/machine-id; on each host: rm /etc/machine-id && \
                 systemd-machine-id-setup, then reboot"
            }
        }
    }
}

/// One hash of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Evidence {
    kind: EvidenceKind,
    hash: u128,
    host: u32,
    /// The number of the report, because a newer report of the host replaces the evidence.
    report: u32,
}

impl Evidence {
    /// Returns the evidence for a text: a hash of a report, or a plain id.
    pub(super) fn new(host: u32, report: u32, kind: EvidenceKind, text: &str) -> Evidence {
        // Plain ids have 36 letters with hyphens, or 32 as hashes have; both are taken as numbers.
        let number = u128::from_str_radix(text, 16).or_else(|_| {
            // A fixed length keeps a million rows small, and a report may contain any text here.
            u128::from_str_radix(&hash("merge", "", text.as_bytes()), 16)
        });
        Evidence { kind, hash: number.unwrap_or_default(), host, report }
    }
}

/// Hosts that share at least one thing with another of the group.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) hosts: Vec<u32>,
    /// Each kind of evidence that is shared, with the number of hosts that share it.
    pub(super) shared: Vec<(EvidenceKind, usize)>,
    /// The largest number of hosts that have one and the same evidence of a kind. It is less than
    /// the number that share if hosts form a chain: the first shares a key with the second, and
    /// the second another one with the third.
    pub(super) largest: Vec<(EvidenceKind, usize)>,
}

/// The evidence of all hosts, and the groups that follow from it.
#[derive(Default)]
pub(super) struct Clones {
    evidence: Vec<Evidence>,
    /// The largest group first.
    pub(super) groups: Vec<Group>,
    /// Hosts with any evidence.
    pub(super) compared: usize,
}

impl Group {
    /// Returns how many hosts share what: "all share the machine id", or how a chain of pairs does.
    pub(super) fn says(&self, kind: EvidenceKind, count: usize) -> String {
        let largest = self.largest.iter().find(|known| known.0 == kind).map_or(0, |known| known.1);
        let noun = kind.noun();
        match (largest == self.hosts.len(), largest == count) {
            (true, _) => format!("all share {noun}"),
            (false, true) => format!("{count} hosts share {noun}"),
            (false, false) => format!(
                "{count} hosts share {noun} in smaller groups, at most {largest} of them the same one"
            ),
        }
    }
}

impl Clones {
    pub(super) fn add(&mut self, evidence: Evidence) {
        self.evidence.push(evidence);
    }

    /// Finds the groups. `newest` holds the number of each host's newest report.
    pub(super) fn finish(&mut self, newest: &[u32]) {
        let hosts = newest.len();
        self.evidence
            .retain(|evidence| newest.get(evidence.host as usize) == Some(&evidence.report));
        self.evidence.sort_unstable();
        self.evidence.dedup();
        let mut sets = Sets::new(hosts);
        let mut has_evidence = vec![false; hosts];
        for evidence in &self.evidence {
            if let Some(has) = has_evidence.get_mut(evidence.host as usize) {
                *has = true;
            }
        }
        self.compared = has_evidence.iter().filter(|has| **has).count();
        let is_same =
            |one: &Evidence, other: &Evidence| (one.kind, one.hash) == (other.kind, other.hash);
        let mut shares: Vec<(u32, EvidenceKind)> = Vec::new();
        let mut classes: Vec<(u32, EvidenceKind, usize)> = Vec::new();
        for same in self.evidence.chunk_by(is_same) {
            if let [first, _, ..] = same {
                classes.push((first.host, first.kind, same.len()));
                for other in same {
                    sets.join(first.host, other.host);
                    shares.push((other.host, other.kind));
                }
            }
        }
        shares.sort_unstable();
        shares.dedup();
        let mut members: Vec<(u32, u32)> = Vec::new();
        for hosts in shares.chunk_by(|one, other| one.0 == other.0) {
            members.extend(hosts.first().map(|(host, _)| (sets.of(*host), *host)));
        }
        members.sort_unstable();
        self.groups = members
            .chunk_by(|one, other| one.0 == other.0)
            .map(|members| {
                let hosts: Vec<u32> = members.iter().map(|(_, host)| *host).collect();
                let count = |kind| {
                    hosts
                        .iter()
                        .filter(|host| shares.binary_search(&(**host, kind)).is_ok())
                        .count()
                };
                let shared = EvidenceKind::ALL.map(|kind| (kind, count(kind)));
                let shared: Vec<_> = shared.into_iter().filter(|kind| kind.1 > 0).collect();
                let same = |kind| {
                    let of_kind = classes.iter().filter(move |class| class.1 == kind);
                    of_kind
                        .filter(|class| hosts.binary_search(&class.0).is_ok())
                        .map(|class| class.2)
                };
                let largest = |kind| same(kind).max().unwrap_or(0);
                let largest = shared.iter().map(|(kind, _)| (*kind, largest(*kind))).collect();
                Group { shared, largest, hosts }
            })
            .collect();
        self.groups.sort_by_key(|group| std::cmp::Reverse(group.hosts.len()));
        self.evidence = Vec::new();
    }
}

/// Disjoint sets of hosts.
struct Sets(Vec<u32>);

impl Sets {
    fn new(count: usize) -> Sets {
        Sets((0..).take(count).collect())
    }

    /// Returns the set of a host, named by its first member.
    fn of(&mut self, host: u32) -> u32 {
        let mut at = host;
        while let Some(&above) = self.0.get(at as usize) {
            if above == at {
                return at;
            }
            // Each step halves the path, so that long chains stay cheap.
            let next = self.0.get(above as usize).copied().unwrap_or(above);
            if let Some(slot) = self.0.get_mut(at as usize) {
                *slot = next;
            }
            at = next;
        }
        at
    }

    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.of(one), self.of(other));
        if let Some(slot) = self.0.get_mut(one.max(other) as usize) {
            *slot = one.min(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hosts of a group, and what they share.
    type Found = (Vec<u32>, Vec<(EvidenceKind, usize)>);

    fn groups(evidence: &[(u32, EvidenceKind, &str)]) -> Vec<Found> {
        let mut clones = Clones::default();
        for (host, kind, text) in evidence {
            clones.add(Evidence::new(*host, 0, *kind, text));
        }
        clones.finish(&[0; 10]);
        clones.groups.into_iter().map(|group| (group.hosts, group.shared)).collect()
    }

    #[test]
    fn hosts_that_share_evidence_are_a_group() {
        use EvidenceKind::{MachineId, SshHostKey};
        assert_eq!(groups(&[]), []);
        assert_eq!(groups(&[(0, MachineId, "a1"), (1, MachineId, "a2")]), []);
        // The same value of another kind is no evidence.
        assert_eq!(groups(&[(0, MachineId, "a1"), (1, SshHostKey, "a1")]), []);
        // Two equal values of one host are one host.
        assert_eq!(groups(&[(0, MachineId, "a1"), (0, MachineId, "a1")]), []);
        assert_eq!(
            groups(&[(4, MachineId, "a1"), (1, MachineId, "a1"), (2, MachineId, "a2")]),
            [(vec![1, 4], vec![(MachineId, 2)])]
        );
        // 0 and 1 share a key, 1 and 2 an id: one group.
        assert_eq!(
            groups(&[
                (0, SshHostKey, "k1"),
                (1, SshHostKey, "k1"),
                (1, MachineId, "a1"),
                (2, MachineId, "a1"),
                (3, MachineId, "a9"),
            ]),
            [(vec![0, 1, 2], vec![(SshHostKey, 2), (MachineId, 2)])]
        );
    }

    #[test]
    fn the_largest_group_is_first_and_a_replaced_report_is_forgotten() {
        let mut clones = Clones::default();
        for (host, text) in [(0, "a"), (1, "a"), (2, "b"), (3, "b"), (4, "b"), (5, "a")] {
            clones.add(Evidence::new(host, host, EvidenceKind::MachineId, text));
        }
        clones.finish(&[0, 1, 2, 3, 4, 9]);
        let hosts: Vec<_> = clones.groups.iter().map(|group| group.hosts.clone()).collect();
        assert_eq!(hosts, [vec![2, 3, 4], vec![0, 1]]);
        assert_eq!(clones.compared, 5);
    }

    #[test]
    fn a_long_chain_is_one_group() {
        let mut clones = Clones::default();
        for host in 0..10_000_u32 {
            clones.add(Evidence::new(host, 0, EvidenceKind::SshHostKey, &format!("{host:x}")));
            clones.add(Evidence::new(
                host,
                0,
                EvidenceKind::SshHostKey,
                &format!("{:x}", host + 1),
            ));
        }
        clones.finish(&[0; 10_000]);
        assert_eq!(clones.groups.len(), 1);
        assert_eq!(clones.groups[0].hosts.len(), 10_000);
    }
}
