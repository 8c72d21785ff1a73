//! A sample of the CPU's RDRAND instruction, which has no file in /proc or /dev to read.

use super::sample::{self, Sample};

pub(crate) const RDRAND: &str = "RDRAND";

/// The instruction fails under contention; Intel asks for ten tries before a failure counts.
#[cfg(target_arch = "x86_64")]
const TRIES: usize = 10;

#[cfg(target_arch = "x86_64")]
pub(super) fn sample() -> Sample {
    if !std::arch::is_x86_feature_detected!("rdrand") {
        return absent("this CPU has no RDRAND");
    }
    let mut bytes = Vec::with_capacity(sample::MOST);
    while bytes.len() < sample::MOST {
        match word() {
            Some(word) => bytes.extend_from_slice(&word.to_le_bytes()),
            None => return sample::skipped(RDRAND, "the instruction failed ten times".to_owned()),
        }
    }
    sample::judged(RDRAND, &bytes)
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn sample() -> Sample {
    absent("only x86-64 CPUs have RDRAND")
}

fn absent(why: &str) -> Sample {
    Sample { absent: true, ..sample::skipped(RDRAND, why.to_owned()) }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // an instruction without a safe intrinsic
fn word() -> Option<u64> {
    let mut word = 0;
    (0..TRIES).find_map(|_| {
        // SAFETY: `sample`, the only caller, has detected the instruction.
        let ok = unsafe { core::arch::x86_64::_rdrand64_step(&mut word) };
        (ok == 1).then_some(word)
    })
}
