//! At each length, bytes that are taken are erased, and no others.

use super::{Block, Words, take_block, take_plain, take_rest, take_word};
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

/// Source and destination end where their pages do, and nothing follows them: an access beyond
/// faults.
#[test]
#[cfg(not(miri))] // which has no mprotect
fn nothing_is_touched_beyond_the_ends() {
    let (from, to) = (Edge::new(), Edge::new());
    for len in 1..=200 {
        let window = if len < 16 { 16 } else { len & !15 };
        let (source, dst) = (from.back(window), to.back(len));
        // SAFETY: both pages end so many bytes later; the source is aligned to 16.
        unsafe {
            source.write_bytes(0x5A, window);
            match len {
                8 => assert!(take_word(source, dst).is_some()),
                1..16 => assert!(take_rest(source, dst, len).is_some()),
                16 => assert!(take_block(source, dst, false).is_some()),
                _ => take_plain(source, to.back(window), window, false),
            }
            assert_eq!(to.back(1).read(), 0x5A, "{len}");
            to.back(len).write_bytes(0, len);
        }
    }
}

/// A page that can be accessed, and one after it that cannot.
pub(crate) struct Edge(*mut u8);

impl Edge {
    /// More than a request of any test here, and a multiple of the page size of any kernel.
    const ROOM: usize = 1 << 18;

    pub(crate) fn new() -> Edge {
        let (both, private) = (2 * Edge::ROOM, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, of which the second half is closed.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let at = libc::mmap(core::ptr::null_mut(), both, access, private, -1, 0);
            assert_ne!(at, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(at.byte_add(Edge::ROOM), Edge::ROOM, libc::PROT_NONE), 0);
            Edge(at.cast())
        }
    }

    /// Returns the place that many bytes before the edge.
    pub(crate) fn back(&self, bytes: usize) -> *mut u8 {
        assert!(bytes <= Edge::ROOM);
        // SAFETY: within the first half.
        unsafe { self.0.add(Edge::ROOM - bytes) }
    }
}

impl Drop for Edge {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, to which no pointer is left.
        unsafe { libc::munmap(self.0.cast(), 2 * Edge::ROOM) };
    }
}

/// In `hedged` the bytes that were taken have no mask yet, and the registers that a function saves
/// are in its frame soon.
#[test]
#[cfg(all(target_arch = "aarch64", not(any(miri, sanitized))))]
fn no_register_holds_what_was_taken() {
    // The words are made anew for each copy, and no register holds them before it.
    #[inline(never)]
    fn fill(page: &mut [u64; 16]) {
        for (i, word) in page.iter_mut().enumerate() {
            *word = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        registers::clear();
    }
    fn check(registers: [u64; registers::ALL], what: &str) {
        let mut page = [0; 16];
        fill(&mut page);
        let held = registers.iter().position(|&held| page.contains(&held));
        assert_eq!(held, None, "{what} leaves a word in a register");
    }
    let (mut page, mut out) = ([0u64; 16], [0u64; 16]);
    for len in [16, 32, 48, 128] {
        fill(&mut page);
        // SAFETY: at most the 128 bytes of both arrays.
        unsafe { take_plain(page.as_mut_ptr().cast(), out.as_mut_ptr().cast(), len, false) };
        check(registers::saved(), "take_plain");
        assert_ne!(out[0], 0);
    }
    fill(&mut page);
    // SAFETY: 16 bytes of both arrays.
    let _ = unsafe { take_block(page.as_mut_ptr().cast(), out.as_mut_ptr().cast(), false) };
    check(registers::saved(), "take_block");
    fill(&mut page);
    // SAFETY: 16 bytes of both arrays.
    let _ = unsafe { take_word(page.as_mut_ptr().cast(), out.as_mut_ptr().cast()) };
    check(registers::saved(), "take_word");
    for len in [1, 7, 9, 15] {
        fill(&mut page);
        // SAFETY: 16 bytes of both arrays.
        let _ = unsafe { take_rest(page.as_mut_ptr().cast(), out.as_mut_ptr().cast(), len) };
        check(registers::saved(), "take_rest");
    }
}

/// The registers of arm64, for tests that look for what a piece of assembly left in them.
#[cfg(all(target_arch = "aarch64", not(miri)))]
pub(crate) mod registers {
    /// 31 general registers, and the halves of 32 vectors.
    pub(crate) const ALL: usize = 31 + 64;

    /// Returns the registers, as they are where this is written.
    #[inline(always)]
    pub(crate) fn saved() -> [u64; ALL] {
        let mut saved = [0u64; ALL];
        // SAFETY: stores to our own array, whose address takes the place of what x17 held.
        unsafe {
            core::arch::asm!(
                "stp x0, x1, [x17]", "stp x2, x3, [x17, #16]", "stp x4, x5, [x17, #32]",
                "stp x6, x7, [x17, #48]", "stp x8, x9, [x17, #64]", "stp x10, x11, [x17, #80]",
                "stp x12, x13, [x17, #96]", "stp x14, x15, [x17, #112]", "str x16, [x17, #128]",
                "stp x18, x19, [x17, #144]", "stp x20, x21, [x17, #160]",
                "stp x22, x23, [x17, #176]", "stp x24, x25, [x17, #192]",
                "stp x26, x27, [x17, #208]", "stp x28, x29, [x17, #224]", "str x30, [x17, #240]",
                "add x16, x17, #248",
                ".irp v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19",
                "st1 {{v\\v\\().2d}}, [x16], #16",
                ".endr",
                ".irp v, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
                "st1 {{v\\v\\().2d}}, [x16], #16",
                ".endr",
                in("x17") saved.as_mut_ptr(), out("x16") _, options(nostack, preserves_flags),
            );
        }
        saved
    }

    /// Clears the registers that a function need not keep for its caller.
    #[inline(always)]
    pub(crate) fn clear() {
        // SAFETY: registers only, all declared. Without `nomem`, so that no access is moved past
        // it.
        unsafe {
            core::arch::asm!(
                ".irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17",
                "mov x\\r, xzr",
                ".endr",
                ".irp r, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27",
                "movi v\\r\\().2d, #0",
                ".endr",
                ".irp r, 28, 29, 30, 31",
                "movi v\\r\\().2d, #0",
                ".endr",
                clobber_abi("C"),
                options(nomem, nostack, preserves_flags),
            );
        }
    }
}
