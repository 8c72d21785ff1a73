//! Never called: no other architecture hedges.

pub(super) unsafe fn mask(_: *const u8, r: [u64; 2]) -> [u64; 2] {
    r
}

pub(super) unsafe fn mask_block(_: *const u8, _: [u64; 2], _: *mut u8) {}

pub(super) unsafe fn xor_block(_: &[u64; 2], _: *mut u8) {}

pub(super) unsafe fn mask_blocks<const N: usize>(_: *const u8, _: [u64; 2], _: *mut u8) {}
