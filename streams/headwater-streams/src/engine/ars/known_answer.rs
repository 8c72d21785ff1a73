//! AES instructions compute a known answer before they make the first number.
//!
//! A CPU that has an instruction does not always compute it right: QEMU 7.2, which Debian 12 ships,
//! emulates the AES instructions on 256-bit registers so that both halves of a register become the
//! same block. Streams would then differ between machines, and each 16 bytes would repeat. But a
//! feature bit shows none of this, so we compute blocks that we know.

#![allow(unsafe_code)]

use super::{aes, vaes256, vaes512};
use crate::engine::Block;
use crate::features::Features;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// A key and the lower half of a counter in which no two bytes are alike, and the first blocks that
/// ars7 makes of them, by `reference`.
static KEY: Block = [11, 48, 85, 122, 159, 196, 233, 14, 51, 88, 125, 162, 199, 236, 17, 54];
const FIRST: u64 = 0x0123_4567_89AB_CDE0;
static KNOWN: [Block; 4] = [
    [159, 105, 104, 178, 101, 82, 20, 176, 45, 60, 48, 66, 86, 230, 96, 173],
    [252, 220, 64, 89, 200, 148, 170, 80, 182, 44, 160, 214, 21, 202, 80, 199],
    [43, 68, 252, 171, 115, 221, 18, 53, 188, 176, 120, 227, 10, 110, 127, 181],
    [49, 190, 223, 233, 253, 118, 84, 142, 183, 26, 126, 3, 56, 84, 79, 36],
];

/// Blocks of one request: a strip of eight registers of four blocks, a whole register, one block.
const BLOCKS: usize = 37;

/// Leaves out the AES instructions that make wrong numbers here.
#[inline]
pub(crate) fn only_right_ones(features: Features) -> Features {
    if !features.aes {
        return features;
    }
    /// One bit for each field, and one that says that the others are known. Every thread that finds
    /// it unknown computes the same.
    static RIGHT: AtomicU8 = AtomicU8::new(0);
    let right = match RIGHT.load(Relaxed) {
        0 => {
            let right = find(features);
            RIGHT.store(right, Relaxed);
            right
        }
        right => right,
    };
    let is_right = |bit: u8| right >> bit & 1 == 1;
    Features {
        aes: is_right(0),
        vaes256: features.vaes256 && is_right(1),
        vaes512: features.vaes512 && is_right(2),
        ..features
    }
}

#[cold]
fn find(features: Features) -> u8 {
    // SAFETY: `only_right_ones` calls this function only if `features.aes` is set.
    let aes = |key, first, out: &mut [Block]| unsafe { aes::fill::<7>(key, 0, first, out) };
    // SAFETY: called only where `features.vaes256` is set, which `&&` asks first.
    let vaes256 = |key, first, out: &mut [Block]| unsafe { vaes256::fill::<7>(key, 0, first, out) };
    // SAFETY: called only where `features.vaes512` is set, which `&&` asks first.
    let vaes512 = |key, first, out: &mut [Block]| unsafe { vaes512::fill::<7>(key, 0, first, out) };
    let aes = agrees(aes);
    let vaes256 = aes && features.vaes256 && agrees(vaes256);
    let vaes512 = aes && features.vaes512 && agrees(vaes512);
    1 << 7 | u8::from(vaes512) << 2 | u8::from(vaes256) << 1 | u8::from(aes)
}

/// Returns whether the path makes the known blocks, and each block in a long request as alone. A
/// lane that computes another one's block differs in one of the two.
///
/// The portable path would be another witness, but takes 11 KiB of stack, which a signal handler
/// may not have.
#[inline(never)]
fn agrees(fill: impl Fn(Block, u64, &mut [Block])) -> bool {
    let mut together = [Block::default(); BLOCKS];
    fill(KEY, FIRST, &mut together);
    let mut differences = 0;
    let mut compare = |a: &Block, b: &Block| {
        differences |= u128::from_le_bytes(*a) ^ u128::from_le_bytes(*b);
    };
    // By reference: an iterator of the array itself would hold a copy on the stack.
    for (block, known) in together.iter().zip(&KNOWN) {
        compare(block, known);
    }
    for (block, counter) in together.iter().zip(FIRST..FIRST + BLOCKS as u64) {
        let mut alone = [Block::default()];
        fill(KEY, counter, &mut alone);
        let [alone] = &alone;
        compare(block, alone);
    }
    differences == 0
}

#[cfg(test)]
mod tests {
    use super::super::bitsliced;
    use super::*;

    // The packed crate lacks the reference.
    #[test]
    #[cfg(reference)]
    fn the_reference_gives_the_known_answer() {
        let key = u128::from_le_bytes(KEY);
        let known = (FIRST..FIRST + 4)
            .map(|counter| reference::streams::ars(7, key, u128::from(counter)).to_le_bytes());
        assert!(known.clone().eq(KNOWN), "{:?}", known.collect::<Vec<_>>());
    }

    #[test]
    fn faults_of_instructions_are_seen() {
        let right = |key, first, out: &mut [Block]| bitsliced::fill::<7>(key, 0, first, out);
        assert!(agrees(right));
        for lanes in [2, 4] {
            assert!(!agrees(|key, first, out: &mut [Block]| {
                right(key, first, out);
                for register in out.chunks_exact_mut(lanes) {
                    register.fill(register[0]);
                }
            }));
        }
        for wrong in 0..BLOCKS {
            assert!(!agrees(|key, first, out: &mut [Block]| {
                right(key, first, out);
                if out.len() > 1 {
                    out[wrong][15] ^= 128;
                }
            }));
        }
    }

    #[test]
    fn paths_of_this_machine_are_kept() {
        let all = Features::detect();
        assert_eq!(only_right_ones(all), all);
        assert_eq!(only_right_ones(Features::default()), Features::default());
    }
}
