//! One loop, compiled for each of the vector instructions that a CPU may have.
//!
//! The loops of this folder are plain Rust over IEEE 754's basic operations and integers, so the compiler may use
//! whatever vectors there are and the bits stay the same: it never fuses a multiplication with an addition, and never
//! changes the order of a sum, unless it is told that it may.

#![allow(unsafe_code)]

use crate::features::Features;

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
    /// The widest vectors of this CPU.
    #[inline]
    pub(crate) fn best() -> Path {
        Path::of(Features::detect())
    }

    /// 512-bit vectors, with the conversions between 64-bit integers and doubles; 256-bit ones, without FMA on purpose:
    /// nothing here may use it; or what every CPU has.
    #[inline]
    fn of(_features: Features) -> Path {
        #[cfg(target_arch = "x86_64")]
        match _features {
            Features { avx512: true, .. } => return Path(Instructions::Avx512),
            Features { avx2: true, .. } => return Path(Instructions::Avx2),
            _ => {}
        }
        Path(Instructions::Base)
    }

    /// Every path that this CPU has, the plain one first: what a test goes through.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Path> {
        let mut paths = vec![Path::of(Features::default())];
        let cpu = Features::detect();
        for (name, features) in [("AVX2", Features { avx512: false, ..cpu }), ("AVX-512", cpu)] {
            let path = Path::of(features);
            if paths.contains(&path) {
                println!("skipped: the {name} path: this CPU lacks it, its bits are not compared");
            } else {
                paths.push(path);
            }
        }
        paths
    }

    /// Runs the loop.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            Instructions::Base => kernel.run(),
            // SAFETY: `of` makes this value only of features that the CPU was asked for.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { run_avx2(kernel) },
            // SAFETY: as above.
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
