//! AES-256 in counter mode for x86-64, in assembly from the key to the last byte of the keystream.
//!
//! The code is assembly so that no compiler setting decides where key material goes. Under cargo's
//! default profile, rustc spilled every round key of an earlier version to the stack, where the
//! keys stayed after the refill and revealed bytes that had been served and erased (DESIGN.md, "Why
//! is the cipher assembly?"). Here a round key is in a vector register or in the 240 bytes that the
//! caller provides and wipes; each block clears the registers that it used before it ends.
//!
//! [`schedule`] expands the key. The keystream has three forms: [`vaes512`] (four blocks to an
//! instruction), [`vaes256`] (two) and [`aesni`] (one). Each text is a `.s` file, so that an editor
//! knows it for assembly and a comment can stand beside an instruction; `include_str!` makes it the
//! template of an `asm!`, which names its operands. A piece that a text needs twice is an assembler
//! macro. The text's end purges it, because the compiler assembles all texts of a crate together,
//! and may have copied the function that holds one.

pub(crate) mod aesni;
pub(crate) mod chacha;
mod schedule;
pub(crate) mod vaes256;
pub(crate) mod vaes512;

pub(crate) use schedule::{derive, expand};

/// Constants of the counter, shared by all forms.
#[repr(C, align(64))]
pub(crate) struct Constants {
    /// The counters of four neighbouring blocks: low half, high half.
    lanes: [u64; 8],
    /// A byte shuffle that turns a little-endian counter into a big-endian block.
    reverse: [u8; 64],
    /// The step of a register of four blocks, of two, and of one.
    steps: [[u64; 8]; 3],
}

/// Read by the assembly at fixed offsets: lanes at 0, shuffle at 64, steps at 128, 192 and 256.
pub(crate) static CONSTANTS: Constants = Constants {
    lanes: [0, 0, 1, 0, 2, 0, 3, 0],
    reverse: reversed(),
    steps: [step(4), step(2), step(1)],
};

const fn step(blocks: u64) -> [u64; 8] {
    [blocks, 0, blocks, 0, blocks, 0, blocks, 0]
}

const fn reversed() -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut i = 0;
    while i < 64 {
        bytes[i] = 15 - (i % 16) as u8;
        i += 1;
    }
    bytes
}
