//! The compression estimate (section 6.3.4): Maurer's universal statistic over blocks of six bits.

use super::Z;

/// Bits of a block.
const BLOCK: usize = 6;
const ALPHABET: usize = 1 << BLOCK;
/// Blocks that fill the dictionary first.
const FIRST: usize = 1000;

/// Returns the estimate in bits of entropy a bit, or `None` for too few bits.
pub(super) fn estimate(bits: &[u8]) -> Option<f64> {
    let (blocks, _) = bits.as_chunks::<BLOCK>();
    if blocks.len() <= FIRST + 1 {
        return None;
    }
    let mut last = [0_usize; ALPHABET];
    let (mut sum, mut squares) = (Sum::default(), Sum::default());
    for (i, block) in blocks.iter().enumerate() {
        let block = block.iter().fold(0, |block, &bit| block << 1 | usize::from(bit));
        if i >= FIRST {
            let distance = ((i + 1 - last[block]) as f64).log2();
            sum.add(distance);
            squares.add(distance * distance);
        }
        last[block] = i + 1;
    }
    let count = (blocks.len() - FIRST) as f64;
    let mean = sum.total / count;
    let deviation = 0.5907 * (squares.total / (count - 1.0) - mean * mean).sqrt();
    let low = mean - Z * deviation / count.sqrt();
    let expected = |p: f64| {
        let others = ALPHABET as f64 - 1.0;
        share(p, blocks.len()) + others * share((1.0 - p) / others, blocks.len())
    };
    let (mut least, mut most) = (1.0 / ALPHABET as f64, 1.0);
    if expected(least) <= low {
        return Some(1.0);
    }
    // The mean falls as p rises. Sixty halvings leave nothing of a double's 53 bits.
    for _ in 0..60 {
        let p = (least + most) / 2.0;
        if expected(p) > low { least = p } else { most = p }
    }
    Some(-((least + most) / 2.0).log2() / BLOCK as f64)
}

/// Returns G of the standard: the part in the mean of a block with probability `z`.
///
/// With a(i) = log2(i) (1 - z)^(i - 1), its double sum is one over all i of a(i), times the number
/// of places that lie beyond, because each a(i) occurs once for every later place.
fn share(z: f64, blocks: usize) -> f64 {
    let (mut before, mut beyond, mut double) = (Sum::default(), Sum::default(), Sum::default());
    let mut power = 1.0 - z;
    for i in 2..=blocks {
        let a = (i as f64).log2() * power;
        if i <= FIRST {
            before.add(a);
        } else {
            beyond.add(a);
            double.add((blocks - i) as f64 * a);
        }
        power *= 1.0 - z;
        if power == 0.0 {
            break;
        }
    }
    let count = (blocks - FIRST) as f64;
    z * (z * (double.total + count * before.total) + beyond.total) / count
}

/// A sum that carries what rounding lost (Kahan 1965): a million terms agree with the reference
/// program's to its last digits.
#[derive(Default)]
struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, term: f64) {
        let term = term - self.lost;
        let total = self.total + term;
        self.lost = (total - self.total) - term;
        self.total = total;
    }
}
