//! The features of this CPU, which no other file asks for. They choose how values are computed, and
//! never which.

/// Instructions for which the crate has a path. A field is false if the instructions are missing or
/// unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Features {
    /// AES rounds on one block: AES-NI with SSE4.1, or the Cryptographic Extension of Armv8.
    pub(crate) aes: bool,
    /// SSE2: every x86-64 CPU, unless a test says otherwise.
    pub(crate) sse2: bool,
    /// AVX2.
    pub(crate) avx2: bool,
    /// AES rounds on 256-bit registers (VAES, AVX2).
    pub(crate) vaes256: bool,
    /// AVX-512 F, BW, DQ and VL.
    pub(crate) avx512: bool,
    /// AES rounds on 512-bit registers (VAES, AVX-512).
    pub(crate) vaes512: bool,
}

impl Features {
    /// Returns the features of this CPU, without AES instructions that compute something else. The
    /// standard library asks the CPU once for each process, and answers from memory afterwards.
    #[inline]
    pub(crate) fn detect() -> Features {
        #[cfg(test)]
        if let Some(features) = tests::forced() {
            return features;
        }
        // Miri interprets the portable path only.
        let features = if cfg!(miri) { Features::default() } else { detect() };
        #[cfg(target_arch = "x86_64")]
        let features = crate::engine::only_right_ones(features);
        features
    }
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[inline]
fn detect() -> Features {
    use std::arch::is_x86_feature_detected as has;
    let aes = has!("aes") && has!("sse4.1");
    let avx2 = has!("avx2");
    let avx512 =
        avx2 && has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
    let vaes = aes && has!("vaes");
    Features { aes, sse2: true, avx2, vaes256: avx2 && vaes, avx512, vaes512: avx512 && vaes }
}

/// Returns the features of this CPU without the standard library: `cpufeatures` asks once. It
/// counts VAES as an AVX-512 instruction, so a CPU that has VAES with AVX2 alone takes the path of
/// AES-NI.
#[cfg(all(target_arch = "x86_64", not(feature = "std")))]
#[inline]
fn detect() -> Features {
    cpufeatures::new!(has_aes, "aes", "sse4.1");
    cpufeatures::new!(has_avx2, "avx2");
    cpufeatures::new!(has_avx512, "avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl");
    cpufeatures::new!(has_vaes, "aes", "sse4.1", "vaes");
    let (aes, avx2, avx512) = (has_aes::get(), has_avx2::get(), has_avx512::get());
    let vaes = has_vaes::get();
    Features { aes, sse2: true, avx2, vaes256: avx2 && vaes, avx512, vaes512: avx512 && vaes }
}

#[cfg(all(target_arch = "aarch64", not(feature = "std")))]
#[inline]
fn detect() -> Features {
    cpufeatures::new!(has_aes, "aes");
    Features { aes: has_aes::get(), ..Features::default() }
}

#[cfg(all(target_arch = "aarch64", feature = "std"))]
#[inline]
fn detect() -> Features {
    Features { aes: std::arch::is_aarch64_feature_detected!("aes"), ..Features::default() }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline]
fn detect() -> Features {
    Features::default()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use core::cell::Cell;

    thread_local! {
        static FORCED: Cell<Option<Features>> = const { Cell::new(None) };
    }

    pub(super) fn forced() -> Option<Features> {
        FORCED.get()
    }

    /// Runs `test` on this thread once for each path that this CPU has, from the widest to the
    /// portable one.
    pub(crate) fn on_every_path(test: impl Fn(Features)) {
        let all = Features::detect();
        for (there, path) in [
            (all.vaes512, "VAES with AVX-512"),
            (all.vaes256, "VAES with AVX2"),
            (all.avx512, "AVX-512"),
            (all.avx2, "AVX2"),
            (all.aes, "AES instructions"),
        ] {
            if !there {
                println!(
                    "skipped: the path for {path}: this CPU has none, its values are not checked"
                );
            }
        }
        let mut tried: Vec<Features> = Vec::new();
        for features in [
            all,
            Features { vaes512: false, ..all },
            Features { vaes512: false, avx512: false, ..all },
            Features { vaes512: false, avx512: false, vaes256: false, ..all },
            Features { aes: all.aes, sse2: all.sse2, ..Features::default() },
            Features::default(),
        ] {
            if !tried.contains(&features) {
                tried.push(features);
                FORCED.set(Some(features));
                test(features);
                FORCED.set(None);
            }
        }
    }
}
