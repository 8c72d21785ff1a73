//! `headwater lab nodes`: a guest with several memory nodes and many CPUs. Each CPU's pages must
//! lie on its node.

use crate::judge::boot::release;
use crate::judge::nodes::{self, NodesReport};
use crate::machine::cache::Cache;
use crate::machine::qemu::{Guest, Machine};
use crate::machine::{program, setup};
use anyhow::{Context, Result};
use headwater_lab_protocol::{self as protocol, Command, Hello, NodesPlan};
use std::path::Path;
use std::time::Duration;

/// MiB of memory for each node, and for each CPU of it.
const MEMORY: (usize, usize) = (128, 8);

/// A CPU without RDPID, which sections need. The rest leaves draws buffered.
const LOCKED: &str = "max,-rdpid";

/// A machine with memory nodes.
#[derive(Clone, Copy, Debug)]
pub struct NodesPlanned {
    /// Memory nodes.
    pub nodes: usize,
    /// CPUs of all nodes, a multiple of their number.
    pub cpus: usize,
    /// Seconds of moves before the second look.
    pub seconds: u64,
}

/// Looks twice: in a process that has just begun, and in one whose threads have moved. Once with
/// the CPU that sections need, and once with a CPU that leaves the locked path.
///
/// # Errors
///
/// If a guest cannot be started, or does not answer.
pub fn nodes(
    cache: &Cache,
    kernel: &str,
    planned: NodesPlanned,
    guest: Option<&Path>,
) -> Result<Vec<NodesReport>> {
    let NodesPlanned { nodes, cpus, seconds } = planned;
    let kernel = setup::find_x86_kernel(cache, kernel)?;
    let program = program::find(cache, guest, &kernel.architecture)?;
    let archive = program::archive(cache, &program, &kernel)?;
    let directory = cache.run("nodes")?;
    let mut reports = Vec::new();
    for cpu in [super::sections::CPU, LOCKED] {
        let mut machine = Machine::new(&kernel, archive.path());
        machine.cpu = cpu.to_owned();
        machine.cpus = cpus;
        machine.append = "hw.limit=60".to_owned();
        machine.device(&words(nodes, cpus));
        let (mut guest, hello) = Guest::start_until_ready(cache, &machine, &directory, "nodes")?;
        let hello = protocol::first::<Hello>(&hello).cloned().unwrap_or_default();
        let release = release(&hello.kernel).unwrap_or(&kernel.release).to_owned();
        for seconds in [0, seconds] {
            let command = Command::Nodes(NodesPlan { seconds });
            let limit = machine.start_limit() + Duration::from_secs(seconds * 2);
            let answer = guest.ask_for(&command, limit)?;
            let found = nodes::of(&answer).context("the guest did not send a result")?;
            let asked = (nodes, cpus);
            reports.push(NodesReport::new(&release, &kernel.series, asked, seconds, found));
        }
        guest.off();
    }
    Ok(reports)
}

/// Returns QEMU's words for memory nodes, each with its share of the CPUs.
fn words(nodes: usize, cpus: usize) -> String {
    let each = cpus / nodes;
    let size = MEMORY.0 + MEMORY.1 * each;
    let mut words = format!("-m {}", size * nodes);
    for node in 0..nodes {
        let (first, last) = (node * each, (node + 1) * each - 1);
        words += &format!(" -object memory-backend-ram,size={size}M,id=node{node}");
        words += &format!(" -numa node,nodeid={node},cpus={first}-{last},memdev=node{node}");
    }
    words
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_node_has_its_share_of_cpus_and_memory() {
        assert_eq!(
            super::words(2, 4),
            "-m 288 -object memory-backend-ram,size=144M,id=node0 \
             -numa node,nodeid=0,cpus=0-1,memdev=node0 \
             -object memory-backend-ram,size=144M,id=node1 \
             -numa node,nodeid=1,cpus=2-3,memdev=node1"
        );
    }
}
