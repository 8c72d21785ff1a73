//! The engines backwards: the counter of a block.
//!
//! Each engine is a bijection under each key, so a block that was found somewhere names the place
//! that it belongs to. Only the search for misplaced data needs this, a few blocks at a time, so
//! one form serves all CPUs. It indexes tables by the data, which would leak a secret through the
//! cache, but no secret passes through an engine.

use super::{Block, Engine, ars, philox};

/// Returns the counter whose block under `key` is `block`.
pub(crate) fn counter(engine: Engine, key: Block, block: Block) -> Block {
    match engine {
        Engine::Ars7 => ars::inverse::counter(7, key, block),
        Engine::Ars5 => ars::inverse::counter(5, key, block),
        Engine::Philox4x32 => philox::inverse::counter(key, block),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Engine, Key};

    /// Counters at the ends of each field, and blocks that no stream has asked for.
    #[test]
    fn the_counter_of_a_block_makes_the_block() {
        let keys = [[0; 16], [0xFF; 16], core::array::from_fn(|i| 15 * i as u8 + 1)];
        for &engine in Engine::ALL {
            for key in keys.map(|raw| Key::from_raw(engine, raw)) {
                let mut counter = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210_u128;
                for fixed in [0, 1, u128::MAX, 1 << 64, u128::MAX >> 64, 1 << 80] {
                    assert_eq!(key.counter(key.block(fixed)), fixed, "{engine}");
                    assert_eq!(key.block(key.counter(fixed)), fixed, "{engine}");
                }
                for _ in 0..200 {
                    assert_eq!(key.counter(key.block(counter)), counter, "{engine}");
                    counter = counter
                        .wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645)
                        .wrapping_add(1);
                }
            }
        }
    }

    #[test]
    fn the_counter_has_the_fields_of_the_stream() {
        for &engine in Engine::ALL {
            let stream = Key::with_engine(engine, 42).stream(0x1234_5678_9abc).unwrap();
            let mut bytes = [0; 16];
            stream.fill_u8(16 * 77, &mut bytes).unwrap();
            let counter = stream.key().counter(u128::from_le_bytes(bytes));
            assert_eq!(counter, 0x1234_5678_9abc << 80 | 77, "{engine}");
        }
    }
}
