//! One loop, compiled for each of the vector instructions that a CPU may have.
//!
//! A reader would expect intrinsics here, and then one loop for each instruction set, which would
//! have to agree to the bit. Instead the loops of this directory are plain Rust over IEEE 754's
//! basic operations and integers. The compiler may therefore use any vectors without changing a
//! bit, because unless it is allowed to, it never fuses a multiplication with an addition, and
//! never changes the order of a sum.

#![allow(unsafe_code)]

use crate::features::Features;

/// A loop, and what it works on.
pub(crate) trait Kernel {
    type Output;

    /// Runs the loop. This function and all that it calls are `#[inline(always)]`: a function that
    /// is not inlined is compiled for the oldest CPU.
    fn run(self) -> Self::Output;
}

/// The vector instructions that loops are run with. A value exists only where the CPU has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path(Instructions);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instructions {
    /// The instructions that every CPU of the architecture has: SSE2, NEON, or no vectors.
    Base,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Path {
    /// Returns the widest vectors of this CPU.
    #[inline]
    pub(crate) fn best() -> Path {
        Path::of(Features::detect())
    }

    /// Returns 512-bit vectors, with the conversions between 64-bit integers and doubles; else
    /// 256-bit ones; else the instructions that every CPU has. FMA is not required, because no loop
    /// may use it.
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

    /// Returns every path that this CPU has for the tests, the plain one first.
    #[cfg(all(test, reference))]
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
            // SAFETY: `of` alone makes this value, and only if the CPU's features have AVX2.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { run_avx2(kernel) },
            // SAFETY: `of` alone makes this value, and only if the CPU's features have AVX-512.
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
