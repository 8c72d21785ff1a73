//! The mask of a draw: nothing in mode `buffered`, fresh words of the CPU in mode `hedged`.

use crate::linux::process::Process;

/// The material from which a draw makes its masks.
///
/// Draws are generic over the mask, so that a plain draw carries neither a test of the mode nor two
/// dummy words through its registers: the 16-byte draw has none to spare.
pub(crate) trait Mask: Copy {
    /// True if bytes are masked.
    const HEDGED: bool;

    /// Draws the material for a request; returns None if the CPU's instruction failed. The request
    /// must then get a key of its own, because an unmasked byte would break the promise of
    /// `hedged`.
    fn draw(process: &Process) -> Option<Self>;

    /// Returns the two words from which `cipher::hedge` makes masks; zeros if nothing is masked.
    fn words(self) -> [u64; 2];
}

/// No mask.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

impl Mask for Plain {
    const HEDGED: bool = false;

    #[inline(always)]
    fn draw(_: &Process) -> Option<Plain> {
        Some(Plain)
    }

    #[inline(always)]
    fn words(self) -> [u64; 2] {
        [0; 2]
    }
}

/// Two fresh words for a mask, which differ. Requests of every length take both.
///
/// No word is kept from one request to the next, because the two of a request show a stuck
/// instruction by themselves: each is compared with 0 and all ones, and the second with the first.
/// So an instruction that repeats its word is refused at the first request after it stuck. If it
/// repeats only the last word of the previous request, nothing is seen here; but as the two words
/// of each request differ, X is another all the same. Longer periods are found by no comparison of
/// neighbours, whichever words they are.
#[derive(Clone, Copy)]
pub(crate) struct CpuWords([u64; 2]);

impl CpuWords {
    /// Draws the words alone. The caller has let old pages expire ([`Process::expire`]), before it
    /// looked at any page: a page that is filled before the clock was ever read belongs to no
    /// minute, and serves nothing.
    #[inline(always)]
    pub(crate) fn of_now(process: &Process) -> Option<CpuWords> {
        if !process.has_quick_words() {
            return None;
        }
        let first = process.cpu_word(0)?;
        Some(CpuWords([first, process.cpu_word(first)?]))
    }
}

impl Mask for CpuWords {
    const HEDGED: bool = true;

    #[inline(always)]
    fn draw(process: &Process) -> Option<CpuWords> {
        process.expire();
        CpuWords::of_now(process)
    }

    #[inline(always)]
    fn words(self) -> [u64; 2] {
        self.0
    }
}
