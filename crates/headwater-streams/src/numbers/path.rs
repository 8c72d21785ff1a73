//! The vector instructions at hand: one place that selects, and a way to compile one loop for each of them.
//!
//! The loops of this folder are plain Rust over IEEE 754's basic operations and integers, so the compiler may use
//! whatever vectors there are and the bits stay the same: it never fuses a multiplication with an addition, and never
//! changes the order of a sum, unless it is told that it may.

#![allow(unsafe_code)]

/// A loop, and what it works on.
pub(crate) trait Kernel {
    type Output;

    /// The loop. To be `#[inline(always)]`, as all that it calls: what is not inlined is compiled for the oldest CPU.
    fn run(self) -> Self::Output;
}

/// The vector instructions that loops are run with. A value exists only where the CPU has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path(Instructions);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instructions {
    /// What every CPU of the architecture has: SSE2, NEON, or no vectors.
    Base,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Path {
    /// What every CPU has.
    pub(crate) const BASE: Path = Path(Instructions::Base);

    /// The widest vectors of this CPU.
    #[inline]
    pub(crate) fn best() -> Path {
        Path::avx512().or_else(Path::avx2).unwrap_or(Path::BASE)
    }

    /// Every path that this CPU has: what a test goes through.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Path> {
        let wider = [("AVX2", Path::avx2()), ("AVX-512", Path::avx512())];
        let mut paths = vec![Path::BASE];
        for (name, path) in wider {
            match path {
                Some(path) => paths.push(path),
                None => println!(
                    "skipped: the {name} path: this CPU lacks it, its bits are not compared"
                ),
            }
        }
        paths
    }

    /// 256-bit vectors. Without FMA on purpose: nothing here may use it.
    #[inline]
    fn avx2() -> Option<Path> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            return Some(Path(Instructions::Avx2));
        }
        None
    }

    /// 512-bit vectors, with the conversions between 64-bit integers and doubles.
    #[inline]
    fn avx512() -> Option<Path> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
        {
            return Some(Path(Instructions::Avx512));
        }
        None
    }

    /// Runs the loop.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            Instructions::Base => kernel.run(),
            // SAFETY: `avx2` makes this value only after it has asked the CPU.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { run_avx2(kernel) },
            // SAFETY: as above, `avx512`.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { run_avx512(kernel) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}
