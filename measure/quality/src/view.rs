//! A view of a block: its words as values of 8, 32 or 64 bits, forwards or with the bits of each
//! value reversed, and as bit planes.

use std::fmt;
use std::sync::OnceLock;

/// The form in which words become values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// 8, 32 or 64. Bytes and halves leave a word lowest first, as they lie in memory.
    pub(crate) width: u32,
    /// The lowest bit becomes the highest, so a test of high bits sees the low ones.
    pub(crate) reversed: bool,
}

impl Form {
    pub(crate) const ALL: [Form; 6] = [
        Form { width: 64, reversed: false },
        Form { width: 64, reversed: true },
        Form { width: 32, reversed: false },
        Form { width: 32, reversed: true },
        Form { width: 8, reversed: false },
        Form { width: 8, reversed: true },
    ];
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bit{}", self.width, if self.reversed { ", reversed" } else { "" })
    }
}

/// A block in one form. Values are left-aligned: the highest bit of a value is bit 63, whatever its
/// width.
pub(crate) struct View {
    pub(crate) form: Form,
    pub(crate) values: Vec<u64>,
    planes: OnceLock<Planes>,
}

impl View {
    /// Views at most `limit` values of `words`, taken in pieces from the whole block.
    ///
    /// A prefix would hide everything that begins late: bytes that go bad after 4 MiB once passed
    /// 64 MiB.
    pub(crate) fn new(words: &[u64], form: Form, limit: usize) -> View {
        let parts = (64 / form.width) as usize;
        let mut values = Vec::with_capacity(words.len().saturating_mul(parts).min(limit));
        for &word in pieces(words, limit / parts, PIECE / parts) {
            for part in 0..parts as u32 {
                let value = word << (64 - form.width * (part + 1));
                let value = value & (u64::MAX << (64 - form.width));
                values.push(if form.reversed {
                    value.reverse_bits() << (64 - form.width)
                } else {
                    value
                });
            }
        }
        View { form, values, planes: OnceLock::new() }
    }

    /// Returns the bit planes. Plane 0 holds the lowest bit of each value.
    pub(crate) fn planes(&self) -> &Planes {
        self.planes.get_or_init(|| Planes::new(&self.values, self.form.width))
    }
}

/// Values in each piece of a sampled view. Windows of the linear tests are shorter, so none of them
/// spans two pieces.
const PIECE: usize = 1 << 13;

/// Returns at most `limit` of `words`, in pieces of `length` whose starts are spread evenly from
/// the first word to the last.
///
/// A perfect generator's values are independent wherever they come from, so the tests' p-values
/// hold for joined pieces.
pub(crate) fn pieces(words: &[u64], limit: usize, length: usize) -> impl Iterator<Item = &u64> {
    let length = if words.len() <= limit { words.len() } else { length.min(limit) };
    let count = words.len().min(limit).checked_div(length).unwrap_or(0);
    let last = words.len() - length; // start of the last piece
    (0..count).flat_map(move |piece| {
        let start = if count == 1 {
            0
        } else {
            (last as u128 * piece as u128 / (count as u128 - 1)) as usize
        };
        &words[start..start + length]
    })
}

/// The same bit of each value, as a sequence: bit `i % 64` of word `i / 64` belongs to value `i`.
pub(crate) struct Planes {
    bits: Vec<u64>,
    stride: usize,
}

impl Planes {
    fn new(values: &[u64], width: u32) -> Planes {
        let stride = values.len() / 64;
        let mut bits = vec![0; stride * width as usize];
        for (column, values) in values.chunks_exact(64).enumerate() {
            let mut square: [u64; 64] = values.try_into().expect("chunks of 64");
            transpose(&mut square);
            for plane in 0..width as usize {
                bits[plane * stride + column] = square[64 - width as usize + plane];
            }
        }
        Planes { bits, stride }
    }

    pub(crate) fn len(&self) -> usize {
        self.bits.len().checked_div(self.stride).unwrap_or(0)
    }

    pub(crate) fn get(&self, plane: usize) -> &[u64] {
        &self.bits[plane * self.stride..(plane + 1) * self.stride]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u64]> {
        (0..self.len()).map(|plane| self.get(plane))
    }
}

/// Mirrors a square of 64 by 64 bits: bit `j` of word `i` becomes bit `i` of word `j` (Warren,
/// Hacker's Delight, 7-3).
pub(crate) fn transpose(square: &mut [u64; 64]) {
    let mut mask = 0x0000_0000_ffff_ffff_u64;
    let mut step = 32;
    while step != 0 {
        let mut i = 0;
        while i < 64 {
            let swap = ((square[i] >> step) ^ square[i + step]) & mask;
            square[i] ^= swap << step;
            square[i + step] ^= swap;
            i = (i + step + 1) & !step;
        }
        step >>= 1;
        mask ^= mask << step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_is_mirrored_bit_by_bit() {
        let mut rng = fastrand::Rng::with_seed(1);
        let square: [u64; 64] = std::array::from_fn(|_| rng.u64(..));
        let mut mirrored = square;
        transpose(&mut mirrored);
        for (i, row) in square.into_iter().enumerate() {
            for (j, column) in mirrored.into_iter().enumerate() {
                assert_eq!(row >> j & 1, column >> i & 1);
            }
        }
    }

    #[test]
    fn pieces_reach_from_the_first_word_to_the_last() {
        let words: Vec<u64> = (0..100_000).collect();
        for (limit, length, count) in
            [(8192, 1024, 8), (1024, 1024, 1), (100, 1024, 1), (200_000, 10, 1)]
        {
            let taken: Vec<u64> = pieces(&words, limit, length).copied().collect();
            assert_eq!(taken.len(), words.len().min(limit), "{limit}");
            assert_eq!(taken[0], 0);
            let jumps = taken.windows(2).filter(|two| two[1] != two[0] + 1).count();
            assert_eq!(jumps, count - 1, "{limit}");
            if count > 1 {
                assert_eq!(*taken.last().unwrap(), 99_999);
            }
        }
        assert_eq!(pieces(&[], 5, 2).count(), 0);
    }

    #[test]
    fn every_form_shows_the_bits_where_it_says() {
        let words: Vec<u64> = (1..513_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for form in Form::ALL {
            let view = View::new(&words, form, usize::MAX);
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let width = form.width as usize / 8;
            assert_eq!(view.values.len(), bytes.len() / width);
            for (i, bytes) in bytes.chunks_exact(width).enumerate() {
                let mut wide = [0; 8];
                wide[..width].copy_from_slice(bytes);
                let value = u64::from_le_bytes(wide);
                for bit in 0..form.width {
                    let place = if form.reversed { form.width - 1 - bit } else { bit };
                    assert_eq!(
                        view.planes().get(bit as usize)[i / 64] >> (i % 64) & 1,
                        value >> place & 1,
                        "{form}, value {i}, bit {bit}"
                    );
                    assert_eq!(view.values[i] >> (64 - form.width + bit) & 1, value >> place & 1);
                }
            }
        }
    }
}
