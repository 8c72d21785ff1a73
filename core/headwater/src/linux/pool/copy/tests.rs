//! At each length, bytes that are taken are erased, and no others.

use super::{Block, Words, take_plain, take_rest, take_word};
use crate::linux::cpu::features::Features;

#[test]
fn words_are_taken_erased_and_put_at_every_length() {
    for len in 1..=16 {
        let bytes: [u8; 24] = core::array::from_fn(|i| i as u8 + 1);
        let mut page = [0u64; 3];
        for (word, bytes) in page.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().unwrap());
        }
        let erased = if len > 8 { 2 } else { 1 };
        let page_start = page.as_mut_ptr().cast();
        let mut out = [0xEE; 18];
        // SAFETY: an array of three words; 17 bytes follow the first of `out`.
        unsafe {
            let dst = out.as_mut_ptr().add(1);
            if len > 8 {
                Block::take(page_start).unwrap().put(dst, len);
            } else {
                u64::take(page_start).unwrap().put(dst, len);
            }
        }
        assert!(page[..erased].iter().all(|&word| word == 0), "{len}");
        assert!(page[erased..].iter().all(|&word| word != 0), "{len}");
        assert_eq!(out[0], 0xEE);
        assert_eq!(out[1..=len], bytes[..len], "{len}");
        assert_eq!(out[len + 1], 0xEE, "{len}");
    }
}

#[test]
fn the_rest_is_taken_and_erased() {
    for len in 1..16 {
        let bytes: [u8; 16] = core::array::from_fn(|i| i as u8 + 1);
        let mut page = [0, 8].map(|i| u64::from_ne_bytes(bytes[i..i + 8].try_into().unwrap()));
        let mut out = [0xEE; 18];
        // SAFETY: 16 bytes, and 17 after the first of `out`.
        let taken = unsafe { take_rest(page.as_mut_ptr().cast(), out.as_mut_ptr().add(1), len) };
        assert!(taken.is_some());
        let page = page.map(u64::to_ne_bytes).concat();
        let erased = if len > 8 { 16 } else { 8 };
        assert!(page[..erased] == [0; 16][..erased] && page[erased..] == bytes[erased..], "{len}");
        assert_eq!((out[0], &out[1..=len], out[len + 1]), (0xEE, &bytes[..len], 0xEE), "{len}");
    }
    let (mut page, mut out) = ([0u64; 2], [0; 16]);
    // SAFETY: 16 bytes each.
    assert!(unsafe { take_rest(page.as_mut_ptr().cast(), out.as_mut_ptr(), 5) }.is_none());
}

#[test]
fn a_word_is_taken_and_erased_and_its_neighbours_are_not() {
    let (mut page, mut out) = ([1u64, 2, 3], [0xEEu64; 3]);
    // SAFETY: 16 bytes from the second word on, and the second word of `out`.
    let taken =
        unsafe { take_word(page.as_mut_ptr().add(1).cast(), out.as_mut_ptr().add(1).cast()) };
    assert!(taken.is_some());
    assert_eq!((page, out), ([1, 0, 3], [0xEE, 2, 0xEE]));
}

#[test]
fn only_a_window_of_zeros_is_none() {
    for window in [[0u64, 0], [1, 0], [0, 1], [0, 1 << 63]] {
        let (mut first, mut second, mut third) = (window, window, window);
        let mut out = [0u64; 1];
        // SAFETY: 16 bytes, and 8.
        let copied = unsafe { take_word(third.as_mut_ptr().cast(), out.as_mut_ptr().cast()) };
        assert_eq!(copied.is_none(), window == [0, 0], "{window:x?}");
        // SAFETY: 16 bytes each.
        let (word, block) = unsafe {
            (u64::take(first.as_mut_ptr().cast()), Block::take(second.as_mut_ptr().cast()))
        };
        let zeros = window == [0, 0];
        assert_eq!((word.is_none(), block.is_none()), (zeros, zeros), "{window:x?}");
    }
}

/// Each number of blocks, at each place in a block: what is taken is erased, and nothing beside
/// it is.
#[test]
fn blocks_are_taken_and_erased_and_no_others() {
    const ALL: usize = 352;
    let is_wide = Features::detect().vaes512;
    if !is_wide {
        println!("skipped: this CPU has no AVX-512, the wide copy is not looked at");
    }
    let cases = (0..=20).flat_map(|n| [(n, 0, false), (n, 8, false), (n, 0, true), (n, 8, true)]);
    for (blocks, shift, wide) in cases.filter(|case| is_wide || !case.2) {
        let page: [u8; ALL] = core::array::from_fn(|i| (i % 255) as u8 + 1);
        let mut words = page.as_chunks().0.iter().copied().map(u64::from_ne_bytes);
        let mut words: [u64; ALL / 8] = core::array::from_fn(|_| words.next().unwrap());
        let (len, mut out) = (16 * blocks, [0xEE; ALL]);
        // SAFETY: 328 of 352 bytes at most, on both sides; the source is aligned to 8; the CPU
        // was asked.
        unsafe {
            let source = words.as_mut_ptr().cast::<u8>().add(shift);
            take_plain(source, out.as_mut_ptr().add(1), len, wide);
        }
        assert_eq!(out[1..][..len], page[shift..][..len]);
        assert!(out[0] == 0xEE && out[1 + len..].iter().all(|&byte| byte == 0xEE));
        let left = words.map(u64::to_ne_bytes);
        let left = left.as_flattened();
        assert_eq!(left[..shift], page[..shift]);
        assert!(left[shift..][..len].iter().all(|&byte| byte == 0));
        assert_eq!(left[shift + len..], page[shift + len..]);
    }
}
