//! The key schedule of AES-256 (FIPS 197, section 5.2), in both directions.

/// 16 bytes: a block or a round key.
pub type Row = [u8; 16];

/// Both directions of the schedule, with the one table they need.
pub struct Schedule {
    sbox: [u8; 256],
}

impl Schedule {
    /// Computes the table from its definition: the inverse in GF(2^8), then an affine map.
    pub fn new() -> Schedule {
        let mut sbox = [0x63; 256];
        let (mut p, mut q) = (1u8, 1u8);
        loop {
            p ^= (p << 1) ^ if p & 0x80 != 0 { 0x1B } else { 0 }; // times 3
            q ^= q << 1;
            q ^= q << 2;
            q ^= q << 4;
            q ^= if q & 0x80 != 0 { 0x09 } else { 0 }; // divided by 3
            let turned = (1..5).fold(q, |sum, by| sum ^ q.rotate_left(by));
            sbox[usize::from(p)] = turned ^ 0x63;
            if p == 1 {
                return Schedule { sbox };
            }
        }
    }

    /// Computes what word `j` is made of besides word `j - 8`.
    fn step(&self, j: usize, previous: u32) -> u32 {
        let substituted = |word: u32| {
            u32::from_be_bytes(word.to_be_bytes().map(|byte| self.sbox[usize::from(byte)]))
        };
        match j % 8 {
            0 => substituted(previous.rotate_left(8)) ^ (1 << (24 + j / 8 - 1)),
            4 => substituted(previous),
            _ => previous,
        }
    }

    /// Computes the key of which `a` and `b` are the round keys `i` and `i + 1`.
    pub fn master(&self, a: &Row, b: &Row, i: usize) -> [u8; 32] {
        let mut words = [0u32; 8];
        for (word, bytes) in
            words.iter_mut().zip(a.as_chunks::<4>().0.iter().chain(b.as_chunks().0))
        {
            *word = u32::from_be_bytes(*bytes);
        }
        // The window of eight words moves down by one word at a time; the last one leaves it.
        for first in (0..4 * i).rev() {
            let last = words[7];
            words.copy_within(0..7, 1);
            words[0] = last ^ self.step(first + 8, words[7]);
        }
        let mut key = [0; 32];
        for (bytes, word) in key.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_be_bytes();
        }
        key
    }

    /// Expands a key to its 15 round keys.
    pub fn expand(&self, key: &[u8; 32]) -> [Row; 15] {
        let mut words = [0u32; 60];
        for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
            *word = u32::from_be_bytes(*bytes);
        }
        for j in 8..60 {
            words[j] = words[j - 8] ^ self.step(j, words[j - 1]);
        }
        let mut rows = [[0; 16]; 15];
        for (bytes, word) in rows.as_flattened_mut().as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_be_bytes();
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unhex(text: &str) -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap())
            .collect()
    }

    /// FIPS 197, appendix A.3.
    #[test]
    fn the_standard_schedule_comes_out_and_goes_back() {
        let key = unhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
        let key: [u8; 32] = key.try_into().unwrap();
        let schedule = Schedule::new();
        let rows = schedule.expand(&key);
        assert_eq!(rows[2][..], unhex("9ba354118e6925afa51a8b5f2067fcde"));
        assert_eq!(rows[14][..], unhex("fe4890d1e6188d0b046df344706c631e"));
        for i in 0..14 {
            assert_eq!(schedule.master(&rows[i], &rows[i + 1], i), key, "round keys {i}");
        }
    }
}
