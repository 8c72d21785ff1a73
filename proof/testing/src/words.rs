//! Drawn words, sorted to find zeros and repeats among them.
//!
//! The workspace compiles this crate optimised and without debug assertions. A test's own build has
//! both the other way round, and there the standard library's sort calls a check for each access:
//! sorting was two thirds of the time of the tests that count repeats.

/// Sorts the words.
pub fn sort(words: &mut [u64]) {
    words.sort_unstable();
}

/// Sorts blocks of 16 bytes.
pub fn sort_blocks(blocks: &mut [u128]) {
    blocks.sort_unstable();
}

/// Sorts the words, and returns how many are zero and how many equal the one before.
pub fn zeros_and_repeats(words: &mut [u64]) -> (usize, usize) {
    sort(words);
    let zeros = words.iter().take_while(|&&word| word == 0).count();
    (zeros, words.windows(2).filter(|pair| pair[0] == pair[1]).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_repeats_are_counted_wherever_they_are() {
        for (words, expected) in [
            (vec![], (0, 0)),
            (vec![7], (0, 0)),
            (vec![3, 0, 2, u64::MAX], (1, 0)),
            (vec![5, 1, 5, 2, 5, u64::MAX, 2, u64::MAX], (0, 4)),
            (vec![0, 9, 0], (2, 1)),
        ] {
            let mut sorted = words.clone();
            assert_eq!(zeros_and_repeats(&mut sorted), expected, "{words:?}");
            assert!(sorted.is_sorted() && sorted.len() == words.len(), "{words:?}");
        }
    }
}
