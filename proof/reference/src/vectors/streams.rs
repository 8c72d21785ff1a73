//! `streams.json`: bytes of streams.

use super::json::{Object, document, hex, string};
use crate::streams::{Seed, root_key, stream_bytes};

pub(super) fn file() -> String {
    let mut cases: Vec<Object> = Vec::new();
    for engine in ["ars7", "ars5", "philox4x32"] {
        let key = root_key(engine, &Seed::Natural(42));
        for (stream, start, len) in [
            (0, 0, 1100),
            (1, 0, 48),
            ((1 << 48) - 1, 0, 48),
            // Ranges that begin and end within blocks; a carry out of the lower 32 bits of the
            // block's number; the last bytes.
            (7, 5, 40),
            (7, (1 << 36) - 33, 70),
            (7, u64::MAX - 40, 40),
        ] {
            cases.push(vec![
                ("engine", string(engine)),
                ("seed", string("42")),
                ("key", hex(&key)),
                ("stream", stream.to_string()),
                ("start", string(&start.to_string())),
                ("bytes", hex(&stream_bytes(engine, key, stream, 0, u128::from(start), len))),
            ]);
        }
    }
    let about = "bytes of stream number stream of the key of the integer seed 42, from byte start on. u32 and u64 are these bytes, the lowest first.";
    document("headwater.vectors.streams/1", about, &cases)
}
