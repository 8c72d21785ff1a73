//! Which CPU each thread of a measurement runs on.

use crate::error::Error;
use crate::system::process;
use std::fs;
use std::path::Path;

/// The ways to pin threads that `--pin` knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pin {
    /// The kernel places the threads.
    #[default]
    None,
    /// Each thread on a CPU of its own, a core's second hardware thread only when every core has
    /// one.
    Core,
    /// A CPU for each thread, and all of a node's CPUs before the next node's first.
    Node,
}

impl Pin {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Pin::None => "none",
            Pin::Core => "core",
            Pin::Node => "node",
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Pin, Error> {
        [Pin::None, Pin::Core, Pin::Node]
            .into_iter()
            .find(|pin| pin.name() == text)
            .ok_or_else(|| Error::UnknownPin(text.to_owned()))
    }
}

/// The CPUs in the order in which a measurement takes them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pins {
    pub(crate) pin: Pin,
    /// The number of usable CPUs of each node that has any.
    pub(crate) nodes: Vec<usize>,
    order: Vec<usize>,
}

impl Pins {
    /// Returns the CPUs in the order that `pin` means on this machine.
    pub(crate) fn new(pin: Pin) -> Result<Pins, Error> {
        if pin == Pin::None {
            return Ok(Pins::default());
        }
        let cpus = process::cpus().map_err(|error| Error::Process(format!("--pin: {error}")))?;
        Ok(Pins::of(pin, &cpus, Path::new("/sys/devices/system")))
    }

    fn of(pin: Pin, cpus: &[usize], system: &Path) -> Pins {
        let mut nodes = nodes(cpus, system);
        let groups = match pin {
            Pin::Node => nodes.clone(),
            Pin::None | Pin::Core => vec![cpus.to_vec()],
        };
        nodes.retain(|node| !node.is_empty());
        let order = groups.iter().flat_map(|group| cores_first(group, system)).collect();
        Pins { pin, nodes: nodes.iter().map(Vec::len).collect(), order }
    }

    /// Returns the pins of a machine whose nodes have so many CPUs.
    #[cfg(test)]
    pub(crate) fn with_nodes(nodes: Vec<usize>) -> Pins {
        Pins { pin: Pin::Node, nodes, order: Vec::new() }
    }

    /// Returns the number of CPUs of the first node, if nodes are filled one after the other and
    /// there are several nodes.
    pub(crate) fn first_of_several(&self) -> Option<usize> {
        self.nodes.first().copied().filter(|_| self.pin == Pin::Node && self.nodes.len() > 1)
    }

    /// Puts the calling thread onto the CPU of the measurement's `index`-th thread. With more
    /// threads than CPUs it begins again at the first.
    pub(crate) fn take(&self, index: usize) -> Result<(), Error> {
        if self.order.is_empty() {
            return Ok(());
        }
        let cpu = self.order[index % self.order.len()];
        process::set_cpus(&[cpu]).map_err(|error| Error::Process(format!("CPU {cpu}: {error}")))
    }

    /// Pins the calling thread, as [`take`](Pins::take) does, until the guard is dropped.
    pub(crate) fn lend(&self, index: usize) -> Result<Lent, Error> {
        let before =
            if self.order.is_empty() { Vec::new() } else { process::cpus().unwrap_or_default() };
        self.take(index)?;
        Ok(Lent(before))
    }
}

/// The CPUs that a thread had before [`Pins::lend`].
pub(crate) struct Lent(Vec<usize>);

impl Drop for Lent {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            // It was allowed a moment ago. If no longer, the thread stays where it is.
            let _ = process::set_cpus(&self.0);
        }
    }
}

/// Groups `cpus` by node, in the order of the nodes' numbers. If the kernel reports no nodes, there
/// is one.
fn nodes(cpus: &[usize], system: &Path) -> Vec<Vec<usize>> {
    let mut nodes: Vec<(usize, Vec<usize>)> = fs::read_dir(system.join("node"))
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let number = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
            let list = fs::read_to_string(entry.path().join("cpulist")).ok()?;
            let here = parse_cpu_list(&list)?;
            Some((number, cpus.iter().copied().filter(|cpu| here.contains(cpu)).collect()))
        })
        .collect();
    nodes.sort();
    let listed: usize = nodes.iter().map(|(_, cpus)| cpus.len()).sum();
    if listed == cpus.len() {
        nodes.into_iter().map(|(_, cpus)| cpus).collect()
    } else {
        vec![cpus.to_vec()]
    }
}

/// Returns `cpus` with the first hardware thread of every core before any second hardware thread.
fn cores_first(cpus: &[usize], system: &Path) -> Vec<usize> {
    let rank = |cpu: usize| {
        let file = format!("cpu/cpu{cpu}/topology/thread_siblings_list");
        let siblings = fs::read_to_string(system.join(file)).ok();
        let siblings = siblings.as_deref().and_then(parse_cpu_list).unwrap_or_default();
        siblings.iter().position(|&sibling| sibling == cpu).unwrap_or(0)
    };
    let mut order: Vec<(usize, usize)> = cpus.iter().map(|&cpu| (rank(cpu), cpu)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, cpu)| cpu).collect()
}

/// Reads a list of CPUs such as `0-3,8,10-11`. An empty text is the list of a node without CPUs.
fn parse_cpu_list(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cpus.extend(first.parse::<usize>().ok()?..=last.parse().ok()?);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// Two nodes of two cores with two hardware threads each, numbered core by core, and a
    /// third node that has memory only.
    struct System(PathBuf);

    impl System {
        fn new(name: &str) -> System {
            let path =
                std::env::temp_dir().join(format!("headwater-bench-{name}-{}", std::process::id()));
            let system = System(path);
            system.write("node/node1/cpulist", "4-5,6-7\n");
            system.write("node/node0/cpulist", "0-3\n");
            system.write("node/node10/cpulist", "\n");
            system.write("node/online", "0-1\n");
            for cpu in 0..8 {
                let file = format!("cpu/cpu{cpu}/topology/thread_siblings_list");
                system.write(&file, &format!("{}-{}\n", cpu / 2 * 2, cpu / 2 * 2 + 1));
            }
            system
        }

        fn write(&self, file: &str, text: &str) {
            let path = self.0.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    impl Drop for System {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn core_takes_every_core_before_a_second_thread_and_node_every_cpu_of_a_node() {
        let system = System::new("pins");
        let all: Vec<usize> = (0..8).collect();
        let core = Pins::of(Pin::Core, &all, &system.0);
        assert_eq!(core.order, [0, 2, 4, 6, 1, 3, 5, 7]);
        let node = Pins::of(Pin::Node, &all, &system.0);
        assert_eq!(node.order, [0, 2, 1, 3, 4, 6, 5, 7]);
        assert_eq!(node.nodes, [4, 4]);
    }

    #[test]
    fn cpus_that_we_may_not_use_are_left_out() {
        let system = System::new("pins-some");
        let node = Pins::of(Pin::Node, &[1, 2, 5, 6], &system.0);
        assert_eq!((node.order, node.nodes), (vec![2, 1, 6, 5], vec![2, 2]));
        let node = Pins::of(Pin::Node, &[2, 3], &system.0);
        assert_eq!((node.order, node.nodes), (vec![2, 3], vec![2]));
    }

    #[test]
    fn a_kernel_that_tells_nothing_has_one_node() {
        let node = Pins::of(Pin::Node, &[0, 3], Path::new("/nonexistent"));
        assert_eq!((node.order, node.nodes), (vec![0, 3], vec![2]));
    }

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        assert_eq!(parse_cpu_list("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse_cpu_list("\n"), Some(Vec::new()));
        assert_eq!(parse_cpu_list("0-x"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_lent_cpu_is_given_back() {
        std::thread::spawn(|| {
            let before = process::cpus().unwrap();
            let pins = Pins::new(Pin::Core).unwrap();
            let last = pins.order.len() - 1;
            {
                let _lent = pins.lend(2 * pins.order.len() - 1).unwrap();
                assert_eq!(process::cpus().unwrap(), [pins.order[last]]);
            }
            assert_eq!(process::cpus().unwrap(), before);
            let _lent = Pins::default().lend(0).unwrap();
            assert_eq!(process::cpus().unwrap(), before, "none leaves a thread alone");
        })
        .join()
        .unwrap();
    }
}
