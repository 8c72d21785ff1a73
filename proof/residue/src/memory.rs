//! Another process's memory, as /proc shows it.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// One mapping.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    /// Its addresses.
    pub range: Range<u64>,
    /// Its permissions, as `rw-p`.
    pub access: String,
    /// A file or a name in brackets, empty for most memory.
    pub name: String,
    /// True if any of it is in memory or in swap.
    pub is_resident: bool,
    /// Two letters each: `dp` droppable, `wf` wiped on fork.
    pub flags: Vec<String>,
}

impl Mapping {
    /// Returns whether the kernel gave it this flag.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|ours| ours == flag)
    }
}

/// A part of the memory, copied.
pub struct Section {
    /// The kind of memory.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// Lists the mappings that can be written to.
pub fn writable(pid: u32) -> io::Result<Vec<Mapping>> {
    Ok(parse(&fs::read_to_string(format!("/proc/{pid}/smaps"))?))
}

fn parse(smaps: &str) -> Vec<Mapping> {
    let mut found = Vec::new();
    let mut current = Mapping::default();
    for line in smaps.lines() {
        if let Some(flags) = line.strip_prefix("VmFlags:") {
            current.flags = flags.split_whitespace().map(str::to_owned).collect();
            if current.access.contains('w') {
                found.push(current.clone());
            }
        } else if line.starts_with("Rss:") || line.starts_with("Swap:") {
            current.is_resident |= line.split_whitespace().nth(1) != Some("0");
        } else if let Some(mapping) = heading(line) {
            current = mapping;
        }
    }
    found
}

fn heading(line: &str) -> Option<Mapping> {
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let hex = |text| u64::from_str_radix(text, 16).ok();
    let (range, access) = (hex(start)?..hex(end)?, words.next()?.to_owned());
    let name = words.nth(3).unwrap_or_default().to_owned();
    Some(Mapping { range, access, name, ..Mapping::default() })
}

/// Copies memory of a process that waits.
pub fn read(pid: u32, range: Range<u64>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    File::open(format!("/proc/{pid}/mem"))?.read_exact_at(&mut bytes, range.start)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_told_apart() {
        let smaps = "7f00-7f10 rw-p 00000000 00:00 0 \nRss: 4 kB\nVmFlags: rd wr dp\n\
                     7f10-7f20 r-xp 00000000 fe:00 12 /lib/x.so\nRss: 4 kB\nVmFlags: rd ex\n\
                     7f20-7f30 rw-p 00000000 00:00 0 [stack]\nRss: 0 kB\nVmFlags: rd wr\n";
        let found = parse(smaps);
        assert_eq!(found.len(), 2);
        assert!(found[0].has("dp") && found[0].is_resident && found[0].range == (0x7F00..0x7F10));
        assert!(found[1].name == "[stack]" && !found[1].is_resident);
    }
}
