//! Philox4x32 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
//! SC11, section 4.3.

/// Returns a block of Philox4x32-10, after ten rounds. Word 0 of counter, key and block is the
/// lowest.
pub fn philox4x32(key: u64, counter: u128) -> u128 {
    let [mut c0, mut c1, mut c2, mut c3]: [u32; 4] =
        core::array::from_fn(|i| (counter >> (32 * i)) as u32);
    let [mut k0, mut k1] = [key as u32, (key >> 32) as u32];
    for _ in 0..10 {
        let product0 = u64::from(c0) * 0xD251_1F53;
        let product2 = u64::from(c2) * 0xCD9E_8D57;
        c0 = (product2 >> 32) as u32 ^ c1 ^ k0;
        c1 = product2 as u32;
        c2 = (product0 >> 32) as u32 ^ c3 ^ k1;
        c3 = product0 as u32;
        k0 = k0.wrapping_add(0x9E37_79B9);
        k1 = k1.wrapping_add(0xBB67_AE85);
    }
    [c3, c2, c1, c0].into_iter().fold(0, |block, word| block << 32 | u128::from(word))
}
