//! Copies of what is known: keys and round keys, and blocks that were never served.

use super::schedule::{Row, Schedule};
use super::targets::Targets;
use crate::memory::Section;
use std::collections::HashSet;

/// The number of places at which something was found, and the first of them.
#[derive(Debug, Default)]
pub struct Copies {
    /// The number of places.
    pub count: usize,
    /// Where the first was; on the stack that is counted from its end, where it begins.
    pub first: Option<String>,
}

impl Copies {
    /// Counts the places where `is_known` is true of `N` bytes, which then do not overlap.
    pub fn count<const N: usize>(
        sections: &[Section],
        is_known: impl Fn(&[u8; N]) -> bool,
    ) -> Copies {
        let mut copies = Copies::default();
        for section in sections {
            let mut at = 0;
            while let Some(window) = section.bytes[at..].first_chunk() {
                if is_known(window) {
                    copies.count += 1;
                    copies.first.get_or_insert_with(|| place(section, at));
                    at += N;
                } else {
                    at += 1;
                }
            }
        }
        copies
    }

    /// Counts pieces of 8 bytes of any of the keys, wherever they begin in it.
    pub fn of_keys(sections: &[Section], keys: &[[u8; 32]]) -> Copies {
        let pieces: HashSet<[u8; 8]> = keys
            .iter()
            .flat_map(|key| key.windows(8).map(|piece| piece.try_into().expect("8 bytes")))
            .collect();
        if pieces.is_empty() {
            return Copies::default();
        }
        Copies::count(sections, |window| pieces.contains(window))
    }

    /// Counts round keys but the first two, which are the key.
    pub fn of_round_keys(sections: &[Section], keys: &[[u8; 32]]) -> Copies {
        let schedule = Schedule::new();
        let mut rows = Targets::new([]);
        keys.iter()
            .flat_map(|key| schedule.expand(key)[2..].to_vec())
            .for_each(|row| rows.add(row));
        Copies::of_rows(sections, &rows)
    }

    /// Counts rows.
    pub fn of_rows(sections: &[Section], known: &Targets) -> Copies {
        Copies::count(sections, |window: &Row| known.has(window))
    }
}

fn place(section: &Section, at: usize) -> String {
    match section.name.as_str() {
        "registers" => register(at),
        "stack" => format!("stack-{}", section.bytes.len() - at),
        name => format!("{name}+{at}"),
    }
}

/// Names the register that was saved there, by the order and the sizes of the subject's `Saved`.
fn register(at: usize) -> String {
    if cfg!(target_arch = "aarch64") {
        match at {
            ..248 => format!("x{}", at / 8),
            248..256 => "sp".into(),
            _ => format!("v{}", (at - 256) / 16),
        }
    } else {
        match at {
            ..128 => format!("general register {}", at / 8),
            128..192 => format!("k{}", (at - 128) / 8),
            _ => format!("zmm{}", (at - 192) / 64),
        }
    }
}
