//! The one place that chooses the code which computes an engine on this CPU. Each choice produces
//! the same bytes, so the choice is one of speed alone.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use super::ars::aes as ars_aes;
#[cfg(target_arch = "aarch64")]
use super::ars::arm as ars_aes;
use super::{Block, Engine, ars, philox};
use crate::features::Features;

/// The code for one engine on one kind of CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// 512-bit registers: VAES, or AVX-512 multiplications.
    #[cfg(target_arch = "x86_64")]
    Wide,
    /// 256-bit registers: VAES, or AVX2 multiplications.
    #[cfg(target_arch = "x86_64")]
    Half,
    /// 128-bit registers: AES instructions, or SSE2 multiplications.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    Narrow,
    /// Code without special instructions, for every CPU.
    Portable,
}

/// Calls an engine's function in each of its forms. The number of rounds is a constant of the code.
macro_rules! dispatch {
    ($backend:expr, $engine:expr, $function:ident, $($argument:expr),*) => {
        match ($backend, $engine) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Wide` of ARS comes from `choose` alone, which asks for `vaes512`.
            (Backend::Wide, Engine::Ars7) => unsafe { ars::vaes512::$function::<7>($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `choose` asks for `vaes512`, as for ars7.
            (Backend::Wide, Engine::Ars5) => unsafe { ars::vaes512::$function::<5>($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Half` of ARS comes from `choose` alone, which asks for `vaes256`.
            (Backend::Half, Engine::Ars7) => unsafe { ars::vaes256::$function::<7>($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `choose` asks for `vaes256`, as for ars7.
            (Backend::Half, Engine::Ars5) => unsafe { ars::vaes256::$function::<5>($($argument),*) },
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            // SAFETY: a `Narrow` of ARS comes from `choose` alone, which asks for `aes`.
            (Backend::Narrow, Engine::Ars7) => unsafe { ars_aes::$function::<7>($($argument),*) },
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            // SAFETY: `choose` asks for `aes`, as for ars7.
            (Backend::Narrow, Engine::Ars5) => unsafe { ars_aes::$function::<5>($($argument),*) },
            (Backend::Portable, Engine::Ars7) => ars::bitsliced::$function::<7>($($argument),*),
            (Backend::Portable, Engine::Ars5) => ars::bitsliced::$function::<5>($($argument),*),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Wide` of Philox comes from `choose` alone, which asks for `avx512`.
            (Backend::Wide, Engine::Philox4x32) => unsafe { philox::avx512::$function($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a `Half` of Philox comes from `choose` alone, which asks for `avx2`.
            (Backend::Half, Engine::Philox4x32) => unsafe { philox::avx2::$function($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: every x86-64 CPU has SSE2.
            (Backend::Narrow, Engine::Philox4x32) => unsafe { philox::sse2::$function($($argument),*) },
            (_, Engine::Philox4x32) => philox::portable::$function($($argument),*),
        }
    };
}

impl Backend {
    /// Returns the fastest backend for `engine` on a CPU with these features.
    #[inline]
    pub(crate) fn choose(engine: Engine, features: Features) -> Backend {
        // Machines with one form of an engine do not use these two.
        let _ = (engine, features);
        #[cfg(target_arch = "x86_64")]
        {
            let (wide, half, narrow) = match engine {
                Engine::Ars7 | Engine::Ars5 => (features.vaes512, features.vaes256, features.aes),
                Engine::Philox4x32 => (features.avx512, features.avx2, features.sse2),
            };
            match (wide, half, narrow) {
                (true, _, _) => Backend::Wide,
                (_, true, _) => Backend::Half,
                (_, _, true) => Backend::Narrow,
                _ => Backend::Portable,
            }
        }
        #[cfg(target_arch = "aarch64")]
        match engine {
            Engine::Ars7 | Engine::Ars5 if features.aes => Backend::Narrow,
            _ => Backend::Portable,
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        Backend::Portable
    }

    /// Writes the blocks of counters `upper << 64 | first`, and of the counters that follow.
    /// `first + out.len()` is below 2^64.
    #[inline]
    pub(crate) fn fill(
        self,
        engine: Engine,
        key: Block,
        upper: u64,
        first: u64,
        out: &mut [Block],
    ) {
        dispatch!(self, engine, fill, key, upper, first, out);
    }

    /// Replaces each counter by its block.
    #[inline]
    pub(crate) fn replace(self, engine: Engine, key: Block, counters: &mut [Block]) {
        dispatch!(self, engine, replace, key, counters);
    }
}

#[cfg(all(test, reference))]
mod tests {
    use super::*;
    use crate::features::tests::on_every_path;

    /// Computes the engine by its definition.
    fn expected(engine: Engine, key: u128, counter: u128) -> Block {
        let block = match engine {
            Engine::Ars7 => reference::streams::ars(7, key, counter),
            Engine::Ars5 => reference::streams::ars(5, key, counter),
            Engine::Philox4x32 => {
                reference::streams::philox4x32(key as u64, counter ^ key >> 64 << 64)
            }
        };
        block.to_le_bytes()
    }

    /// Numbers of blocks around every strip and register: 1, 2 and 4 blocks a register, 8 registers
    /// a strip, 4, 8 and 16 lanes of Philox, batches of 64.
    const COUNTS: &[usize] = &[
        0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 31, 32, 33, 36, 39, 63, 64, 65, 127, 128,
        130,
    ];

    const KEYS: [u128; 4] = [
        0,
        u128::MAX,
        0x0123_4567_89ab_cdef_fedc_ba98_7654_3210,
        0x8000_0000_0000_0000_7fff_ffff_ffff_ffff,
    ];

    #[test]
    fn every_path_fills_what_the_reference_does() {
        // Both halves of a counter, and carries within the lower one.
        let places = [
            (0, 0),
            (u64::MAX, 0xFFFF_FFF0),
            (0x1234_5678_9abc_def0, u64::MAX - 200),
            (1, 1 << 63),
        ];
        for &engine in Engine::ALL {
            for key in KEYS {
                for (upper, first) in places {
                    let longest = *COUNTS.last().unwrap();
                    let counter = |i: usize| u128::from(upper) << 64 | u128::from(first + i as u64);
                    let expected: Vec<Block> =
                        (0..longest).map(|i| expected(engine, key, counter(i))).collect();
                    on_every_path(|features| {
                        let backend = Backend::choose(engine, features);
                        for &count in COUNTS {
                            let mut out = vec![[0xA5; 16]; count + 1];
                            backend.fill(
                                engine,
                                key.to_le_bytes(),
                                upper,
                                first,
                                &mut out[..count],
                            );
                            assert_eq!(
                                out[..count],
                                expected[..count],
                                "{engine} {backend:?} {count}"
                            );
                            assert_eq!(
                                out[count], [0xA5; 16],
                                "{engine} {backend:?} wrote past {count}"
                            );
                        }
                    });
                }
            }
        }
    }

    #[test]
    fn every_path_replaces_what_the_reference_does() {
        for &engine in Engine::ALL {
            for key in KEYS {
                // No two alike in any byte, and no order.
                let counters: Vec<u128> = (1..=130)
                    .map(|i: u128| i.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835))
                    .collect();
                let expected: Vec<Block> =
                    counters.iter().map(|&counter| expected(engine, key, counter)).collect();
                on_every_path(|features| {
                    let backend = Backend::choose(engine, features);
                    for &count in COUNTS {
                        let mut blocks: Vec<Block> =
                            counters[..count].iter().map(|counter| counter.to_le_bytes()).collect();
                        backend.replace(engine, key.to_le_bytes(), &mut blocks);
                        assert_eq!(blocks, expected[..count], "{engine} {backend:?} {count}");
                    }
                });
            }
        }
    }
}
