//! Linear algebra over GF(2), a bit at a time.

/// Returns the linear complexity of a sequence, and the number of times that it grew on the way.
///
/// Massey, "Shift-register synthesis and BCH decoding", 1969, with its own letters: `c` is the
/// register's polynomial, `b` the one before the last change of its length `l`, `x` the distance to
/// that change.
pub fn linear_complexity(s: &[bool]) -> (usize, usize) {
    let mut c = vec![false; s.len() + 1];
    let mut b = vec![false; s.len() + 1];
    (c[0], b[0]) = (true, true);
    let (mut l, mut x, mut jumps) = (0, 1, 0);
    for n in 0..s.len() {
        let d = (0..=l).fold(false, |d, i| d ^ (c[i] & s[n - i]));
        if !d {
            x += 1;
            continue;
        }
        let t = c.clone();
        for i in 0..=s.len() - x {
            c[i + x] ^= b[i];
        }
        if 2 * l > n {
            x += 1;
        } else {
            (l, b, x) = (n + 1 - l, t, 1);
            jumps += 1;
        }
    }
    (l, jumps)
}

/// Returns the rank of a square matrix whose rows, of `side` bits each, lie one after the other.
/// `side` is a multiple of 64.
pub fn binary_rank(rows: &[u64], side: usize) -> usize {
    let bit = |i: usize, j: usize| rows[(i * side + j) / 64] >> (j % 64) & 1 == 1;
    let mut rows: Vec<Vec<bool>> =
        (0..side).map(|i| (0..side).map(|j| bit(i, j)).collect()).collect();
    let mut rank = 0;
    for column in 0..side {
        let Some(pivot) = (rank..side).find(|&row| rows[row][column]) else { continue };
        rows.swap(rank, pivot);
        let pivot = rows[rank].clone();
        for row in rows[rank + 1..].iter_mut().filter(|row| row[column]) {
            row.iter_mut().zip(&pivot).for_each(|(bit, add)| *bit ^= add);
        }
        rank += 1;
    }
    rank
}
