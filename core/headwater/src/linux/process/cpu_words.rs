//! The CPU's random instruction as this process uses it: checked words, and the end of their use.

#![allow(unsafe_code)]

use super::Process;
use crate::linux::cipher;
use crate::linux::cpu::random;
use crate::status::CpuRng;
use core::sync::atomic::Ordering::Relaxed;

/// The numbers that `cpu_rng` is stored as.
const CPU_RNGS: [CpuRng; 5] =
    [CpuRng::Good, CpuRng::Absent, CpuRng::Broken, CpuRng::Slow, CpuRng::NotAsked];
const GOOD: u8 = 0;
const BROKEN: u8 = 2;

const _: () = assert!(
    matches!(CPU_RNGS[GOOD as usize], CpuRng::Good)
        && matches!(CPU_RNGS[BROKEN as usize], CpuRng::Broken)
);

impl Process {
    pub(crate) fn cpu_rng(&self) -> CpuRng {
        CPU_RNGS[usize::from(self.cpu_rng.load(Relaxed)) % CPU_RNGS.len()]
    }

    /// Returns whether the instruction is sound and quick. One comparison, because each masked
    /// draw asks.
    #[inline(always)]
    pub(crate) fn has_quick_words(&self) -> bool {
        self.cpu_rng.load(Relaxed) == GOOD
    }

    /// Returns whether the CPU's words enter each key: the instruction is sound, quick or slow.
    pub(crate) fn has_cpu_words(&self) -> bool {
        matches!(self.cpu_rng(), CpuRng::Good | CpuRng::Slow)
    }

    /// Returns whether requests can be hedged: AES, and a random instruction that is sound and
    /// quick.
    pub(crate) fn can_hedge(&self) -> bool {
        // Miri has the instructions of the masks, and not those of the other back ends.
        let aes = self.backend.is_aes() || cfg!(all(miri, target_feature = "aes"));
        self.has_quick_words() && aes
    }

    /// Returns a checked word of the CPU's instruction. The first bad word ends the use of the
    /// instruction in this process. To draw again would hide it, but a mask made of predictable
    /// words protects nothing, and the next word is no better proof than this one.
    #[inline]
    pub(crate) fn cpu_word(&self, previous: u64) -> Option<u64> {
        let word = random::word(previous);
        if word.is_none() {
            self.distrust_cpu_rng();
        }
        word
    }

    /// Ends the use of the CPU's instruction in this process.
    #[cold]
    pub(crate) fn distrust_cpu_rng(&self) {
        self.cpu_rng.store(BROKEN, Relaxed);
        self.choose_mode();
    }

    /// Writes the second half of a seed to `at`: random words of the CPU if its instruction is
    /// sound, else the cycle counter; both with the epoch and the CPU's number, so that a parent
    /// and its child, and two CPUs, cannot make the same seed.
    ///
    /// `expected` is whether there were words when the first half was chosen, because that half may
    /// be a link, or in `hedged` a page's bytes, which are chosen only for words beside them.
    /// Returns false if they were expected and are not there: the caller chooses and draws anew.
    /// That the instruction has not failed here is not enough, because it may have failed meanwhile
    /// in another thread, or in a refill of the page. It is not trusted again, so a seed is drawn
    /// anew once.
    ///
    /// # Safety
    ///
    /// `at` is writable for 32 bytes and aligned to 8.
    #[must_use]
    pub(crate) unsafe fn mix(&self, at: *mut u8, expected: bool) -> bool {
        let mut words = [0; 2];
        let drawn = self.has_cpu_words() && self.draw_words(&mut words);
        // Read only without good words: under prctl(PR_SET_TSC) the counter's instruction is a
        // SIGSEGV.
        let cycles = if drawn { 0 } else { random::cycles() };
        let (epoch, cpu) = (self.epoch().get(), self.cpu_hint.get());
        // SAFETY: `write_mix` writes four words, so it wants what this function wants of `at`: 32
        // bytes, aligned to 8.
        unsafe { cipher::write_mix(at.cast(), &mut words, cycles, epoch, cpu) };
        drawn || !expected
    }

    /// Draws words of the CPU, each different from the one before. False if the instruction failed.
    fn draw_words(&self, words: &mut [u64; 2]) -> bool {
        let mut previous = 0;
        words.iter_mut().all(|word| {
            let drawn = self.cpu_word(previous);
            *word = drawn.unwrap_or(0);
            previous = *word;
            drawn.is_some()
        })
    }
}
