//! Blocks of 1, 2, 4 ... pieces, made as a binary counter carries: two of one size become one of
//! the next.

/// Counts of `CELLS` kinds, added up over blocks of every size.
pub(super) struct Blocks<const CELLS: usize> {
    /// For each size the number of blocks so far, and the block that waits for its neighbour.
    sizes: Vec<(u64, [i64; CELLS])>,
}

impl<const CELLS: usize> Blocks<CELLS> {
    pub(super) fn new() -> Self {
        Blocks { sizes: Vec::new() }
    }

    /// Adds the next piece, and passes each block that it completes to `see`, with its size as a
    /// power of two.
    pub(super) fn push(
        &mut self,
        mut counts: [i64; CELLS],
        mut see: impl FnMut(usize, &[i64; CELLS]),
    ) {
        for size in 0.. {
            see(size, &counts);
            if size == self.sizes.len() {
                self.sizes.push((0, [0; CELLS]));
            }
            let (blocks, waiting) = &mut self.sizes[size];
            *blocks += 1;
            if !blocks.is_multiple_of(2) {
                *waiting = counts;
                return;
            }
            counts.iter_mut().zip(waiting).for_each(|(sum, before)| *sum += *before);
        }
    }

    /// Returns the number of blocks of each size.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.sizes.iter().map(|(blocks, _)| *blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eleven_pieces_make_eleven_five_two_and_one_blocks() {
        let mut blocks = Blocks::new();
        let mut seen: Vec<Vec<[i64; 2]>> = vec![Vec::new(); 4];
        for piece in 0..11 {
            blocks.push([piece, 1], |size, counts| seen[size].push(*counts));
        }
        assert_eq!(blocks.numbers().collect::<Vec<_>>(), [11, 5, 2, 1]);
        for (size, seen) in seen.iter().enumerate() {
            let pieces: Vec<i64> = (0..11).collect();
            let expected: Vec<[i64; 2]> = pieces
                .chunks_exact(1 << size)
                .map(|block| [block.iter().sum(), 1 << size])
                .collect();
            assert_eq!(*seen, expected);
        }
    }
}
