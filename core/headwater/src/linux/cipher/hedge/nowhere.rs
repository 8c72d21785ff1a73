//! Never called: no other architecture hedges.

const NEVER: &str = "no mode with masks is chosen on this architecture";

pub(super) unsafe fn mask(_: *const u8, _: [u64; 2]) -> [u64; 2] {
    unreachable!("{NEVER}")
}

pub(super) unsafe fn mask_block(_: *const u8, _: [u64; 2], _: *mut u8) {
    unreachable!("{NEVER}")
}

pub(super) unsafe fn xor_block(_: [u64; 2], _: *mut u8) {
    unreachable!("{NEVER}")
}

pub(super) unsafe fn mask_blocks<const N: usize>(_: *const u8, _: [u64; 2], _: *mut u8) {
    unreachable!("{NEVER}")
}
