//! Self-check of a machine with several memory nodes: each CPU draws from pages of its own, and
//! they lie on its node, also after threads and whole processes moved and CPUs went away.
//!
//! A thread is pinned to one CPU after the other and draws. The pages that changed meanwhile are
//! those that this CPU draws from, whatever the library says of itself.

use crate::linux::kernel::now_us;
use crate::linux::pages::{places, written};
use crate::linux::sections::{Counters, draw, forward, path, pin, pin_to, remember};
use headwater_lab_protocol::{Message, Nodes, NodesPlan, line};
use rustix::mount::{MountFlags, mount};
use rustix::thread::{Pid, gettid};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::Release};
use std::sync::{Barrier, Mutex};
use std::thread::{scope, sleep};
use std::time::Duration;

/// Draws of 16 bytes on each CPU: enough for several pages, so that all of its pages are written.
const DRAWS: usize = 2000;
/// The directory of cpusets.
const CGROUPS: &str = "/sys/fs/cgroup";
/// The pause between two moves.
const PAUSE: Duration = Duration::from_millis(10);

/// Runs the check in a process of its own, and sends the result.
pub(crate) fn examine(plan: NodesPlan) {
    forward(&["nodes", &plan.seconds.to_string()]);
}

/// Runs `nodes SECONDS`, and prints the message with the result.
pub(crate) fn command(arguments: &[String]) -> ExitCode {
    let [seconds] = arguments else { return ExitCode::from(2) };
    let Ok(seconds) = seconds.parse::<u64>() else { return ExitCode::from(2) };
    match check(seconds) {
        Ok(result) => {
            print!("{}", line(&Message::from(result)));
            ExitCode::SUCCESS
        }
        // In place of the message, so that the lab gets the reason and not a status alone.
        Err(error) => {
            println!("{error}");
            ExitCode::SUCCESS
        }
    }
}

fn check(seconds: u64) -> io::Result<Nodes> {
    let begun = now_us();
    let nodes = cpus_of_nodes()?;
    // The first draw makes the memory for pages.
    headwater::fill(&mut [0; 16]).map_err(|error| io::Error::other(error.to_string()))?;
    let mut result = Nodes {
        cpus: nodes.iter().map(|(_, cpus)| cpus.len()).sum(),
        nodes: nodes.len(),
        ..Nodes::default()
    };
    if seconds > 0 {
        churn(&nodes, seconds, &mut result)?;
    }
    look(&nodes, &mut result)?;
    let status = headwater::status();
    status.mode.name().clone_into(&mut result.mode);
    result.path = path(status.path);
    result.used = status.pools.used;
    result.tripwires = status.counters.tripwires;
    result.fallbacks = status.counters.fallbacks;
    result.took_us = now_us() - begun;
    Ok(result)
}

/// Draws on each CPU in turn, and notes the pages that it wrote.
fn look(nodes: &[(usize, Vec<usize>)], result: &mut Nodes) -> io::Result<()> {
    let mut owners = BTreeMap::new();
    for (node, cpus) in nodes {
        for &cpu in cpus {
            if !pin(None, cpu) {
                return Err(io::Error::other(format!("no thread can be pinned to CPU {cpu}")));
            }
            let before = places()?;
            for _ in 0..DRAWS {
                headwater::fill(&mut [0; 16])
                    .map_err(|error| io::Error::other(error.to_string()))?;
            }
            let pages = written(&before, &places()?);
            result.without += usize::from(pages.is_empty());
            for (address, place) in pages {
                result.pages += 1;
                result.remote += usize::from(place.node != *node);
                result.shared += usize::from(owners.insert(address, cpu).is_some());
            }
        }
    }
    result.resident = places()?.len();
    Ok(())
}

/// Draws in twice as many threads as there are CPUs, while threads change their CPU, the process
/// its node, and CPUs go offline.
fn churn(nodes: &[(usize, Vec<usize>)], seconds: u64, result: &mut Nodes) -> io::Result<()> {
    result.threads = 2 * result.cpus;
    let cpusets = match make_cpusets(nodes) {
        Ok(()) => true,
        Err(error) => {
            result.cpuset_error = Some(error.to_string());
            false
        }
    };
    let (counters, remembered) = (Counters::default(), remember());
    let stop = AtomicBool::new(false);
    let threads = Mutex::new(Vec::new());
    let started = Barrier::new(result.threads + 1);
    let all: Vec<usize> = nodes.iter().flat_map(|(_, cpus)| cpus.iter().copied()).collect();
    scope(|scope| {
        for _ in 0..result.threads {
            scope.spawn(|| {
                threads.lock().unwrap().push(gettid());
                started.wait();
                draw(&remembered, &counters, &stop);
            });
        }
        started.wait();
        let threads = threads.lock().unwrap().clone();
        let end = now_us() + seconds * 1_000_000;
        let mut round = 0;
        while now_us() < end {
            round += 1;
            shuffle(&threads, &all, round, result);
            sleep(PAUSE);
            unplug(nodes, round, result);
            // Every thread may run everywhere, or the cpuset of one node would hold them all.
            for thread in &threads {
                pin_to(Some(*thread), &all);
            }
            if cpusets {
                let (node, _) = nodes[round % nodes.len()];
                let moved = fs::write(format!("{CGROUPS}/node{node}/cgroup.procs"), "0");
                result.process_moves += u64::from(moved.is_ok());
                sleep(PAUSE);
                let _ = fs::write(format!("{CGROUPS}/cgroup.procs"), "0");
            }
        }
        stop.store(true, Release);
    });
    let [words, zeros, repeats] = counters.sums();
    (result.words, result.zeros, result.repeats) = (words, zeros, repeats);
    Ok(())
}

/// Pins each thread to a CPU of another node than the one before.
fn shuffle(threads: &[Pid], all: &[usize], round: usize, result: &mut Nodes) {
    for (place, thread) in threads.iter().enumerate() {
        // An odd step visits every CPU, in an order that leaves the node each time.
        let cpu = all[(place + round * (all.len() / 2 + 1)) % all.len()];
        result.thread_moves += u64::from(pin(Some(*thread), cpu));
    }
}

/// Takes the last CPU of one node offline while its threads draw, and puts it online again.
fn unplug(nodes: &[(usize, Vec<usize>)], round: usize, result: &mut Nodes) {
    let Some(cpu) = nodes[round % nodes.len()].1.last().filter(|cpu| **cpu > 0) else { return };
    let online = format!("/sys/devices/system/cpu/cpu{cpu}/online");
    match fs::write(&online, "0") {
        Ok(()) => result.unplugs += 1,
        Err(error) => result.unplug_error = Some(format!("{online}: {error}")),
    }
    sleep(PAUSE);
    let _ = fs::write(&online, "1");
}

/// Returns each memory node with its CPUs.
fn cpus_of_nodes() -> io::Result<Vec<(usize, Vec<usize>)>> {
    let mut nodes = Vec::new();
    for entry in fs::read_dir("/sys/devices/system/node")? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("node")?.parse().ok());
        if let Some(node) = number {
            let list = format!("/sys/devices/system/node/node{node}/cpulist");
            nodes.push((node, cpus(&fs::read_to_string(list)?)));
        }
    }
    nodes.sort();
    Ok(nodes)
}

/// Returns the numbers of a list such as `0-3,8`.
fn cpus(list: &str) -> Vec<usize> {
    let mut all = Vec::new();
    for range in list.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            all.extend(first..=last);
        }
    }
    all
}

/// Makes a cpuset for each node. They hold CPUs alone: a cpuset with memory nodes would move the
/// pages of the process at each move, so their place would say nothing of the library.
fn make_cpusets(nodes: &[(usize, Vec<usize>)]) -> io::Result<()> {
    if !Path::new(CGROUPS).join("cgroup.controllers").exists() {
        mount(c"cgroup2", CGROUPS, c"cgroup2", MountFlags::empty(), None)?;
    }
    fs::write(format!("{CGROUPS}/cgroup.subtree_control"), "+cpuset")?;
    for (node, cpus) in nodes {
        let group = format!("{CGROUPS}/node{node}");
        match fs::create_dir(&group) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let list: Vec<_> = cpus.iter().map(usize::to_string).collect();
        fs::write(format!("{group}/cpuset.cpus"), list.join(","))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read() {
        assert_eq!(cpus("0-3,8\n"), [0, 1, 2, 3, 8]);
        assert_eq!(cpus("5"), [5]);
        assert!(cpus("\n").is_empty());
    }

    #[test]
    fn each_round_takes_a_thread_to_another_node() {
        let (all, nodes): (Vec<usize>, usize) = ((0..16).collect(), 4);
        let cpu = |round: usize| all[(round * (all.len() / 2 + 1)) % all.len()];
        for round in 0..32 {
            assert_ne!(cpu(round) / nodes, cpu(round + 1) / nodes);
        }
        assert_eq!((0..16).map(cpu).collect::<std::collections::BTreeSet<_>>().len(), 16);
    }
}
