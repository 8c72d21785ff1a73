//! AES instructions are compared with the portable path before they make the first number.
//!
//! Some CPUs and emulators execute an instruction and return something else. QEMU 7.2, which Debian
//! 12 ships, emulates the AES instructions on 256-bit registers so that both halves of a register
//! become the same block. Streams would differ between machines, and each 16 bytes would repeat.

#![allow(unsafe_code)]

use super::{aes, bitsliced, vaes256, vaes512};
use crate::engine::Block;
use crate::features::Features;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

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
    // SAFETY: each is called only if the CPU has the instructions.
    let aes = |key, first, out: &mut [Block]| unsafe { aes::fill::<7>(key, 0, first, out) };
    // SAFETY: as above.
    let vaes256 = |key, first, out: &mut [Block]| unsafe { vaes256::fill::<7>(key, 0, first, out) };
    // SAFETY: as above.
    let vaes512 = |key, first, out: &mut [Block]| unsafe { vaes512::fill::<7>(key, 0, first, out) };
    let aes = agrees(aes);
    let vaes256 = aes && features.vaes256 && agrees(vaes256);
    let vaes512 = aes && features.vaes512 && agrees(vaes512);
    1 << 7 | u8::from(vaes512) << 2 | u8::from(vaes256) << 1 | u8::from(aes)
}

/// Returns whether the path makes the numbers of the portable one.
fn agrees(fill: impl Fn(Block, u64, &mut [Block])) -> bool {
    // A key and counters in which no two bytes are alike.
    let key = core::array::from_fn(|i| (i * 37 + 11) as u8);
    let first = 0x0123_4567_89AB_CDE0;
    let (mut expected, mut found) = ([Block::default(); BLOCKS], [Block::default(); BLOCKS]);
    bitsliced::fill::<7>(key, 0, first, &mut expected);
    fill(key, first, &mut found);
    expected == found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_instructions_are_seen() {
        let right = |key, first, out: &mut [Block]| bitsliced::fill::<7>(key, 0, first, out);
        assert!(agrees(right));
        for lanes in [2, 4] {
            assert!(!agrees(|key, first, out| {
                right(key, first, out);
                for register in out.chunks_exact_mut(lanes) {
                    register.fill(register[0]);
                }
            }));
        }
        for wrong in 0..BLOCKS {
            assert!(!agrees(|key, first, out| {
                right(key, first, out);
                out[wrong][15] ^= 128;
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
