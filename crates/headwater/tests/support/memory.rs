//! This process's memory, as /proc shows it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// One mapping of this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mapping {
    pub(crate) range: Range<u64>,
    /// What of it is in memory, in KiB.
    pub(crate) resident_kib: u64,
    /// Two letters each: dp droppable, wf wiped on fork, lo locked, nh without huge pages.
    pub(crate) flags: Vec<String>,
}

impl Mapping {
    pub(crate) fn is(&self, flag: &str) -> bool {
        self.flags.iter().any(|ours| ours == flag)
    }
}

/// The mappings whose flags in /proc/self/smaps hold one of `flags`.
pub(crate) fn mappings_with(flags: &[&str]) -> Vec<Mapping> {
    let smaps = fs::read_to_string("/proc/self/smaps").unwrap();
    let mut found = Vec::new();
    let mut current = Mapping::default();
    for line in smaps.lines() {
        if let Some(words) = line.strip_prefix("VmFlags:") {
            current.flags = words.split_whitespace().map(str::to_owned).collect();
            if flags.iter().any(|flag| current.is(flag)) {
                found.push(current.clone());
            }
        } else if let Some(size) = line.strip_prefix("Rss:") {
            current.resident_kib = kib(size);
        } else if let Some(range) = address_range(line) {
            current.range = range;
        }
    }
    found
}

/// The number in a line of /proc/self/smaps.
fn kib(size: &str) -> u64 {
    size.trim().trim_end_matches(" kB").parse().unwrap()
}

fn address_range(line: &str) -> Option<Range<u64>> {
    let (begin, end) = line.split(' ').next()?.split_once('-')?;
    let hex = |text| u64::from_str_radix(text, 16).ok();
    Some(hex(begin)?..hex(end)?)
}

/// Every word, at every multiple of 8, in memory that is droppable (dp) or wiped on fork (wf): whatever
/// headwater has buffered is among them. Without 0.
pub(crate) fn buffered_words() -> HashSet<u64> {
    let memory = File::open("/proc/self/mem").unwrap();
    let mut words = HashSet::new();
    for mapping in mappings_with(&["dp", "wf"]) {
        let Range { start, end } = mapping.range;
        let mut bytes = vec![0; (end - start) as usize];
        memory.read_exact_at(&mut bytes, start).unwrap();
        let all = bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
        words.extend(all.filter(|&word| word != 0));
    }
    words
}

/// Whether a file whose path ends like this is mapped.
pub(crate) fn is_mapped(path: &str) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().any(|line| line.ends_with(path))
}

/// Where the mapping of this name begins.
pub(crate) fn start_of(name: &str) -> Option<u64> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.ends_with(name))?;
    Some(address_range(line)?.start)
}

/// Anonymous resident memory of this process, in KiB.
pub(crate) fn anonymous_kib() -> u64 {
    let rollup = fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let line = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:"));
    kib(line.unwrap())
}

/// Resident memory that is droppable or wiped on fork, in KiB: headwater's pools, and nothing else's.
pub(crate) fn pools_kib() -> u64 {
    let smaps = fs::read_to_string("/proc/self/smaps").unwrap();
    let (mut resident, mut sum) = (0, 0);
    for line in smaps.lines() {
        if let Some(number) = line.strip_prefix("Rss:") {
            resident = number.trim().trim_end_matches(" kB").parse().unwrap();
        } else if let Some(flags) = line.strip_prefix("VmFlags:")
            && flags.split_whitespace().any(|flag| flag == "dp" || flag == "wf")
        {
            sum += resident;
        }
    }
    sum
}
