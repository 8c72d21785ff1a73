//! Draws of every length in every way, and what all of them must satisfy whatever serves them.

use super::statistics::{assert_balanced, assert_distinct};
use headwater::Rng;
use headwater_testing::words::sort_blocks;
use std::hint::black_box;
use std::mem::MaybeUninit;

const SENTINEL: u8 = 0xA5;
const MARGIN: usize = 64;

/// Returns lengths around every boundary of a path: one word, one block, the small limit, the page,
/// the chunk.
pub(crate) fn lengths() -> impl Iterator<Item = usize> {
    let more = [63..=65, 255..=257, 1023..=1026, 4095..=4097];
    (1..=40).chain(more.into_iter().flatten()).chain([65_536, (1 << 20) + 1])
}

/// The drawn words, in which repeats are searched.
#[derive(Default)]
pub(crate) struct Seen {
    blocks: Vec<u128>,
    words: Vec<u64>,
}

impl Seen {
    /// Takes one output. 16 zero bytes in a row, at any of the 10^7 places that a test looks at,
    /// have probability 10^7 / 2^128 = 3e-32.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let mut zeros = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            zeros = if byte == 0 { zeros + 1 } else { 0 };
            assert!(zeros < 16, "16 zeros up to byte {at} of {}", bytes.len());
        }
        if let (8..16, Some(word)) = (bytes.len(), bytes.first_chunk()) {
            self.words.push(u64::from_ne_bytes(*word));
        }
        let blocks = bytes.as_chunks().0.iter();
        self.blocks.extend(blocks.map(|block| u128::from_ne_bytes(*block)));
    }

    /// Takes what another thread has seen.
    pub(crate) fn absorb(&mut self, other: Seen) {
        self.blocks.extend(other.blocks);
        self.words.extend(other.words);
    }

    /// Checks that no block and no short output repeats. Fewer than 2^21 blocks and 2^15 words are
    /// ever kept: false alarms 2^41 / 2^128 and 2^29 / 2^64, together 3e-11.
    pub(crate) fn assert_no_repeats(mut self) {
        assert!(self.blocks.len() < 1 << 21 && self.words.len() < 1 << 15);
        sort_blocks(&mut self.blocks);
        let repeated = self.blocks.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(repeated, None, "a block repeats");
        assert_distinct(self.words, "short outputs");
    }
}

/// Draws `len` bytes until each place has held something else than what lay there before, and looks
/// at the margins each time. A place that is written stays unchanged in all 24 draws with
/// probability 2^-192.
pub(crate) fn draw_length(len: usize, seen: &mut Seen, draw: &mut dyn FnMut(&mut [u8])) {
    // Every alignment within a block comes up.
    let begin = MARGIN + len % 16;
    let mut buffer = vec![SENTINEL; begin + len + MARGIN];
    let mut unwritten: Vec<usize> = (0..len).collect();
    for _ in 0..24 {
        buffer[begin..][..len].fill(SENTINEL);
        draw(&mut black_box(&mut buffer)[begin..][..len]);
        let (before, rest) = buffer.split_at(begin);
        let (drawn, after) = rest.split_at(len);
        assert!(before.iter().all(|&byte| byte == SENTINEL), "wrote before {len} bytes");
        assert!(after.iter().all(|&byte| byte == SENTINEL), "wrote after {len} bytes");
        seen.take(drawn);
        unwritten.retain(|&at| drawn[at] == SENTINEL);
        if unwritten.is_empty() {
            return;
        }
    }
    panic!("of {len} bytes, {unwritten:?} were never written");
}

/// Draws in every way this crate offers.
pub(crate) fn draw_everything() {
    let mut seen = Seen::default();
    let mut rng = Rng::new().unwrap();
    for len in lengths() {
        draw_length(len, &mut seen, &mut |buf| headwater::fill(buf).unwrap());
        draw_length(len, &mut seen, &mut |buf| rng.fill(buf).unwrap());
    }
    for len in [5, 16, 100, 2000] {
        draw_length(len, &mut seen, &mut |buf| headwater::try_fill(buf).unwrap());
        draw_length(len, &mut seen, &mut |buf| {
            let mut uninit = vec![MaybeUninit::uninit(); len];
            buf.copy_from_slice(headwater::fill_uninit(&mut uninit).unwrap());
        });
    }
    macro_rules! arrays {
        ($($len:literal)*) => {$(
            draw_length($len, &mut seen, &mut |buf| {
                buf.copy_from_slice(&headwater::array::<$len>().unwrap());
            });
        )*};
    }
    arrays!(1 2 3 4 7 8 9 12 15 16 17 24 32 64 100 1024 1025 5000);
    seen.assert_no_repeats();
    draw_words(&mut rng);
    let mut bytes = vec![0; 1 << 20];
    headwater::fill(&mut bytes).unwrap();
    assert_balanced(&bytes, "one large fill");
    for piece in bytes.chunks_mut(100) {
        headwater::fill(piece).unwrap();
    }
    assert_balanced(&bytes, "many small fills");
    for piece in bytes.chunks_mut(16) {
        rng.fill(piece).unwrap();
    }
    assert_balanced(&bytes, "many blocks of a handle");
}

fn draw_words(rng: &mut Rng) {
    let mut words = Vec::new();
    let (mut ones, mut zeros) = (0, 0);
    for _ in 0..5_000 {
        words.push(headwater::u64().unwrap());
        words.push(rng.next_u64());
        let halves = [headwater::u32().unwrap(), rng.next_u32()];
        ones |= halves[0] & halves[1];
        zeros |= !(halves[0] | halves[1]);
    }
    assert_distinct(words, "words");
    // Each bit of a u32 is set in both at once, and clear in both: 64 * (3/4)^5000 false alarms.
    assert_eq!((ones, zeros), (u32::MAX, u32::MAX), "a bit of u32 stands still");
}
