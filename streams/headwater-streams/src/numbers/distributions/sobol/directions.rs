//! The direction numbers of Joe and Kuo, read from their file while this crate is compiled.

/// The dimensions that the file has.
pub(super) const MOST: usize = 1111;
/// Bits of a coordinate, all that a double has between 1/2 and 1.
pub(super) const BITS: usize = 53;

const TEXT: &[u8] = include_bytes!("joe-kuo.txt");

/// Returns the place after the comments.
const fn data() -> usize {
    let mut at = 0;
    while TEXT[at] == b'#' {
        while TEXT[at] != b'\n' {
            at += 1;
        }
        at += 1;
    }
    at
}

/// Returns how many numbers the file has.
const fn count() -> usize {
    let (mut at, mut numbers) = (data(), 0);
    while at < TEXT.len() {
        numbers += (TEXT[at] == b' ' || TEXT[at] == b'\n') as usize;
        at += 1;
    }
    numbers
}

/// The numbers of all lines, and where each line begins among them.
struct Table {
    numbers: [u16; count()],
    lines: [u16; MOST],
}

/// A `static`, so that the library has it once.
static TABLE: Table = {
    let mut table = Table { numbers: [0; count()], lines: [0; MOST] };
    let (mut at, mut next, mut line, mut number) = (data(), 0, 1, 0u16);
    while at < TEXT.len() {
        match TEXT[at] {
            b' ' | b'\n' => {
                table.numbers[next] = number;
                next += 1;
                number = 0;
                if TEXT[at] == b'\n' && line < MOST {
                    table.lines[line] = next as u16;
                    line += 1;
                }
            }
            digit => number = number * 10 + (digit - b'0') as u16,
        }
        at += 1;
    }
    assert!(line == MOST && next < 1 << 16);
    table
};

/// Returns the direction numbers of a dimension, counted from 0, as whole numbers below 2^53.
pub(super) fn directions(dimension: usize) -> [u64; BITS] {
    let line = TABLE.lines.get(dimension).copied().unwrap_or_default();
    let mut numbers = TABLE.numbers.iter().skip(line.into()).copied();
    let polynomial = numbers.next().unwrap_or(1);
    let degree = polynomial.checked_ilog2().unwrap_or(0) as usize;
    let mut m = [1u64; BITS];
    // Dimension 0 is van der Corput's sequence: all m are 1.
    if degree > 0 {
        m.iter_mut().zip(numbers).take(degree).for_each(|(m, number)| *m = number.into());
        for k in degree..BITS {
            let before = |back: usize| m.get(k.wrapping_sub(back)).copied().unwrap_or_default();
            // The leading term is that of the number itself.
            let mut next = before(degree);
            for back in 1..=degree {
                if polynomial >> (degree - back) & 1 == 1 {
                    next ^= before(back) << back;
                }
            }
            if let Some(place) = m.get_mut(k) {
                *place = next;
            }
        }
    }
    for (shift, m) in (0..BITS).rev().zip(&mut m) {
        *m <<= shift;
    }
    m
}
