//! RDRAND, unprocessed.

use super::Source;
use crate::Error;

fn missing(reason: &str) -> Error {
    Error::Source { source: "rdrand".to_owned(), reason: reason.to_owned() }
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code)]
mod instruction {
    /// A CPU with the instruction.
    pub(super) struct Rdrand(());

    impl Rdrand {
        pub(super) fn detect() -> Option<Rdrand> {
            std::arch::is_x86_feature_detected!("rdrand").then_some(Rdrand(()))
        }

        /// Returns `None` if ten attempts in a row fail, which Intel calls a failure of the source.
        pub(super) fn word(&self) -> Option<u64> {
            (0..10).find_map(|_| {
                let mut word = 0;
                // SAFETY: only `detect` makes a `Rdrand`, and it has found the instruction.
                let ready = unsafe { core::arch::x86_64::_rdrand64_step(&mut word) };
                (ready == 1).then_some(word)
            })
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) fn open() -> Result<Box<dyn Source>, Error> {
    let rdrand = instruction::Rdrand::detect().ok_or_else(|| missing("this CPU has no RDRAND"))?;
    Ok(Box::new(rdrand))
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn open() -> Result<Box<dyn Source>, Error> {
    Err(missing("only x86-64 CPUs have RDRAND"))
}

#[cfg(target_arch = "x86_64")]
impl Source for instruction::Rdrand {
    fn fill(&mut self, out: &mut [u64]) -> Result<usize, Error> {
        for word in out.iter_mut() {
            *word = self
                .word()
                .ok_or_else(|| missing("the instruction had nothing ready, ten times in a row"))?;
        }
        Ok(out.len())
    }
}
