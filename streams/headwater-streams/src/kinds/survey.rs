//! One pass over a list of elements, before they are drawn.

use crate::numbers::path::{Kernel, Path};

/// The bits and the order of a list of elements.
///
/// A column of row ids counts up far more often than not, and then [`Elements::From`] its first one
/// draws the same values in a fraction of the time of [`Elements::At`] the list.
///
/// ```
/// use headwater_streams::kinds::Survey;
///
/// assert_eq!(Survey::of(&[4, 5, 6]), Survey { bits: 7, is_run: true });
/// assert_eq!(Survey::of(&[4, 6, 5]), Survey { bits: 7, is_run: false });
/// ```
///
/// [`Elements::From`]: super::Elements::From
/// [`Elements::At`]: super::Elements::At
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The bits that one element or more has. No element is above it, and the sign is in it if one
    /// has it.
    pub bits: u64,
    /// True if each element is the one before plus 1, also in an empty list.
    pub is_run: bool,
}

impl Survey {
    /// Reads a list.
    #[must_use]
    #[inline]
    pub fn of(list: &[u64]) -> Survey {
        Path::best().run(Pass(list))
    }
}

struct Pass<'a>(&'a [u64]);

impl Kernel for Pass<'_> {
    type Output = Survey;

    #[inline(always)]
    fn run(self) -> Survey {
        let first = self.0.first().copied().unwrap_or(0);
        let (mut bits, mut differs) = (0, 0);
        for (&element, i) in self.0.iter().zip(0..) {
            bits |= element;
            differs |= element ^ first.wrapping_add(i);
        }
        // The list 2^64 - 1, 0 counts up as words do, but no range of elements has both.
        let wraps = first.checked_add(self.0.len().saturating_sub(1) as u64).is_none();
        Survey { bits, is_run: differs == 0 && !wraps }
    }
}

#[cfg(all(test, reference))]
mod tests {
    use super::*;

    /// Looks at neighbours, which the loop does not.
    fn plain(list: &[u64]) -> Survey {
        let is_run = list.windows(2).all(|two| two[0].checked_add(1) == Some(two[1]));
        Survey { bits: list.iter().fold(0, |bits, element| bits | element), is_run }
    }

    #[test]
    fn lists_of_all_lengths_with_one_wrong_place() {
        let starts = [0, 1, 7, 1 << 32, u64::MAX >> 1, 1 << 63, u64::MAX - 69];
        for path in Path::all() {
            for start in starts {
                for len in 0..=70 {
                    let run: Vec<u64> = (start..=u64::MAX).take(len).collect();
                    assert_eq!(path.run(Pass(&run)), plain(&run), "{start} {len} {path:?}");
                    for place in 0..len {
                        for bit in [0, 1, 31, 32, 63] {
                            let mut list = run.clone();
                            list[place] ^= 1 << bit;
                            assert_eq!(path.run(Pass(&list)), plain(&list), "{list:?} {path:?}");
                        }
                    }
                }
            }
            let wrapped = [u64::MAX - 1, u64::MAX, 0, 1];
            assert_eq!(path.run(Pass(&wrapped)), plain(&wrapped));
        }
    }
}
