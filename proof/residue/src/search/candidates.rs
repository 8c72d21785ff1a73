//! Keys by trial: every two rows could be two round keys in a row, at any place of the schedule.

use super::oracle::{Cipher, Oracle};
use super::schedule::{Row, Schedule};
use super::targets::{Targets, rows};
use crate::memory::Section;
use std::collections::HashSet;

/// Where there are no more different rows than this, each is tried with each other one.
const FEW: usize = 300;
/// Elsewhere, with those that lie no farther away: 16, 32 and 64 bytes are what compilers use.
const NEAR: usize = 256;

/// Finds the keys that give a target, in the order they are found.
pub fn keys(sections: &[Section], targets: &Targets) -> Vec<([u8; 32], Cipher)> {
    let mut pairs = HashSet::new();
    // Stack and registers together: a schedule can be half in the one and half in the other.
    let dead: Vec<Row> = distinct(&sections[..2.min(sections.len())]);
    if dead.len() <= FEW {
        pairs.extend(dead.iter().flat_map(|a| dead.iter().map(|b| (*a, *b))));
    }
    for section in sections {
        near(&section.bytes, &mut pairs);
    }
    let schedule = Schedule::new();
    let mut oracle = Oracle::new(targets);
    let mut found: Vec<([u8; 32], Cipher)> = Vec::new();
    for (a, b) in &pairs {
        for i in 0..14 {
            let key = schedule.master(a, b, i);
            if !found.contains(&(key, Cipher::Aes)) && oracle.aes(&key) {
                found.push((key, Cipher::Aes));
            }
        }
        let key = schedule.master(a, b, 0);
        if oracle.chacha(&key) {
            found.push((key, Cipher::ChaCha));
        }
    }
    found
}

fn distinct(sections: &[Section]) -> Vec<Row> {
    let all = sections.iter().flat_map(|section| rows(&section.bytes, 8));
    all.map(|(_, row)| row).collect::<HashSet<_>>().into_iter().collect()
}

/// Adds each two rows, in both orders, whose distance is a multiple of 16 and small.
fn near(bytes: &[u8], pairs: &mut HashSet<(Row, Row)>) {
    let all: Vec<(usize, Row)> = rows(bytes, 8).collect();
    for (i, (at, a)) in all.iter().enumerate() {
        let close = all[i + 1..].iter().take_while(|(other, _)| other - at <= NEAR);
        for (_, b) in close.filter(|(other, _)| (other - at) % 16 == 0) {
            pairs.insert((*a, *b));
            pairs.insert((*b, *a));
        }
    }
}
