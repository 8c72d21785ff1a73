//! The pages of random bytes in this process: on which memory node each lies, and what is in it.
//!
//! The core could say where its pages are, by the hooks of its tests. But a library with hooks is
//! not the one that users run, so this reads what the kernel shows of any process: the mappings
//! that it may drop, which hold pages of random bytes and nothing else here, the frame of each
//! page, and the node of each frame.
//!
//! Before Linux 6.11 the pages lie in mappings that are wiped on fork. There the lines of all CPUs,
//! which hold no random bytes, look the same and share a page, so a look would say nothing.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Bytes of a page.
const PAGE: u64 = 4096;
/// Bit of an entry in /proc/self/pagemap: the page is in memory.
const PRESENT: u64 = 1 << 63;
/// Bits of an entry: the number of the page's frame.
const FRAME: u64 = (1 << 55) - 1;

/// A resident page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The memory node of its frame.
    pub(crate) node: usize,
    /// A digest of its bytes.
    content: u64,
}

/// The resident pages, by address.
pub(crate) type Places = BTreeMap<u64, Place>;

/// Reads where the pages of this process lie. Only root sees the numbers of frames.
pub(crate) fn places() -> io::Result<Places> {
    let nodes = frames_of_nodes(&fs::read_to_string("/proc/zoneinfo")?);
    let (frames, memory) = (File::open("/proc/self/pagemap")?, File::open("/proc/self/mem")?);
    let mut places = Places::new();
    let mappings = mappings(&fs::read_to_string("/proc/self/smaps")?);
    if mappings.is_empty() {
        return Err(io::Error::other("no memory that the kernel may drop; it needs Linux 6.11"));
    }
    for mapping in mappings {
        for address in mapping.step_by(PAGE as usize) {
            let mut entry = [0; 8];
            frames.read_exact_at(&mut entry, address / PAGE * 8)?;
            let entry = u64::from_ne_bytes(entry);
            // A page that is not there must not be read, because the read would make one.
            if entry & PRESENT == 0 {
                continue;
            }
            let frame = entry & FRAME;
            let node = nodes.iter().find(|(frames, _)| frames.contains(&frame));
            let node = node.map(|(_, node)| *node).ok_or_else(|| {
                io::Error::other(format!("no node of /proc/zoneinfo has frame {frame}"))
            })?;
            let mut bytes = [0; PAGE as usize];
            memory.read_exact_at(&mut bytes, address)?;
            let mut digest = DefaultHasher::new();
            digest.write(&bytes);
            places.insert(address, Place { node, content: digest.finish() });
        }
    }
    Ok(places)
}

/// Returns the pages that were made or written between two readings.
pub(crate) fn written(before: &Places, after: &Places) -> Places {
    let is_new = |(address, place): &(&u64, &Place)| {
        before.get(address).is_none_or(|old| old.content != place.content)
    };
    after.iter().filter(is_new).map(|(address, place)| (*address, *place)).collect()
}

/// Returns the mappings that the kernel may drop.
fn mappings(smaps: &str) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    let mut current = None;
    for line in smaps.lines() {
        if let Some(flags) = line.strip_prefix("VmFlags:") {
            if flags.split_whitespace().any(|flag| flag == "dp") {
                found.extend(current.take());
            }
        } else if let Some((start, rest)) = line.split_once('-')
            && let Some((end, _)) = rest.split_once(' ')
            && let (Ok(start), Ok(end)) =
                (u64::from_str_radix(start, 16), u64::from_str_radix(end, 16))
        {
            current = Some(start..end);
        }
    }
    found
}

/// Returns the frames of each node's zones, from the text of /proc/zoneinfo.
fn frames_of_nodes(zoneinfo: &str) -> Vec<(Range<u64>, usize)> {
    let mut found = Vec::new();
    let (mut node, mut spanned) = (0, 0);
    for line in zoneinfo.lines() {
        let mut words = line.split_whitespace();
        let number =
            |word: Option<&str>| word.and_then(|word| word.trim_end_matches(',').parse().ok());
        match words.next() {
            Some("Node") => (node, spanned) = (number(words.next()).unwrap_or(0) as usize, 0),
            Some("spanned") => spanned = number(words.next()).unwrap_or(0),
            Some("start_pfn:") if spanned > 0 => {
                let start = number(words.next()).unwrap_or(0);
                found.push((start..start + spanned, node));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_random_bytes_are_looked_at() {
        let smaps = "\
7f0000000000-7f0000002000 rw-p 00000000 00:00 0
Size:                  8 kB
VmFlags: rd wr mr mw me ac sd
7f0000010000-7f0000014000 rw-p 00000000 00:00 0
Size:                 16 kB
VmFlags: rd wr mr mw me ac dd nh dp
7f0000020000-7f0000021000 rw-p 00000000 00:00 0                          [anon:x]
VmFlags: rd wr mr mw me lo wf sd
7f0000030000-7f0000031000 r--p 00000000 00:00 0                          [vvar]
VmFlags: rd mr io de dd
";
        let found = mappings(smaps);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0], 0x7f00_0001_0000..0x7f00_0001_4000);
    }

    /// The text of a guest with Linux 6.12 and two nodes, shortened.
    #[test]
    fn a_frame_belongs_to_the_zone_that_spans_it() {
        let zoneinfo = "\
Node 0, zone      DMA
  pages free     3839
        spanned  4095
        present  3998
  start_pfn:           1
Node 0, zone   Normal
  pages free     0
        spanned  0
        present  0
  start_pfn:           0
Node 1, zone    DMA32
        spanned  65536
  node_unreclaimable:  0
  start_pfn:           65536
";
        assert_eq!(frames_of_nodes(zoneinfo), [(1..4096, 0), (65536..131_072, 1)]);
    }

    #[test]
    fn a_page_is_written_if_it_is_new_or_has_other_bytes() {
        let place = |content| Place { node: 0, content };
        let before = Places::from([(1, place(7)), (2, place(8)), (4, place(9))]);
        let after = Places::from([(1, place(7)), (2, place(1)), (3, place(2))]);
        assert_eq!(written(&before, &after).into_keys().collect::<Vec<_>>(), [2, 3]);
    }
}
