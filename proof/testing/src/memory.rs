//! Memory mappings of this process, read from /proc.

use std::collections::HashSet;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// One mapping of this process.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    /// Its addresses.
    pub range: Range<u64>,
    /// Resident memory, in KiB.
    pub resident_kib: u64,
    /// Flags of two letters: dp droppable, wf wiped on fork, lo locked, nh without huge pages.
    pub flags: Vec<String>,
}

impl Mapping {
    /// Returns true if the mapping has this flag.
    pub fn is(&self, flag: &str) -> bool {
        self.flags.iter().any(|ours| ours == flag)
    }
}

/// Returns the mappings that have at least one of `flags` in /proc/self/smaps.
pub fn mappings_with(flags: &[&str]) -> Vec<Mapping> {
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

/// Parses a size of /proc/self/smaps.
fn kib(size: &str) -> u64 {
    size.trim().trim_end_matches(" kB").parse().unwrap()
}

fn address_range(line: &str) -> Option<Range<u64>> {
    let (begin, end) = line.split(' ').next()?.split_once('-')?;
    let hex = |text| u64::from_str_radix(text, 16).ok();
    Some(hex(begin)?..hex(end)?)
}

/// Returns every aligned word except 0 in memory that is droppable (dp) or wiped on fork (wf). All
/// bytes that headwater has buffered are among them.
pub fn buffered_words() -> HashSet<u64> {
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

/// Returns whether a word of [`buffered_words`] looks like a random one. Counts, addresses,
/// distances of addresses and the numbers of refills (an index above 2^48 and a count) do not; of
/// random words one in 2^15 does not.
pub fn is_random(word: u64) -> bool {
    let is_small = matches!(word.cast_signed() >> 47, 0 | -1);
    !is_small && word << 16 >> 32 != 0
}

/// Returns true if a file is mapped whose path ends with `path`.
pub fn is_mapped(path: &str) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().any(|line| line.ends_with(path))
}

/// Returns the start address of the mapping with this name.
pub fn start_of(name: &str) -> Option<u64> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.ends_with(name))?;
    Some(address_range(line)?.start)
}

/// Returns the number of bytes in a page of this machine's memory.
pub fn page_size() -> usize {
    // SAFETY: reads a constant of the system.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// Returns the anonymous resident memory of this process, in KiB.
pub fn anonymous_kib() -> u64 {
    let rollup = fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let line = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:"));
    kib(line.unwrap())
}

/// Returns the resident memory that is droppable or wiped on fork, in KiB. Only headwater's pools
/// are.
pub fn pools_kib() -> u64 {
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
