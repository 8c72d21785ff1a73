//! `numbers.json`: numbers of every kind, to the last bit.

use super::json::{Object, document, hex, string};
use crate::streams::floats::{exponential_f64, normal_pair_f32, normal_pair_f64};
use crate::streams::numbers::{bounded, permuted, shuffled, uniform_f32, uniform_f64};
use crate::streams::{Seed, root_key, stream_bytes};

/// Elements of a range.
const LEN: usize = 24;

pub(super) fn file() -> String {
    let mut cases = Vec::new();
    for (engine, id) in [("ars7", 0), ("ars7", 11), ("philox4x32", 3)] {
        let stream = Stream { engine, id, key: root_key(engine, &Seed::Natural(42)) };
        // From the first; from the middle of a pair; past 32 bits.
        for start in [0, 5, (1 << 33) + 1] {
            stream.ranges(start, &mut cases);
        }
        for n in [1, 2, 7, 52, 256, 600, 2100] {
            let order = shuffled(n, |draw, place| stream.word(draw, place));
            cases.push(stream.case("shuffle", ("n", n as u64), 0, order.into_iter().map(whole)));
        }
        for n in [7, 52, 256, 257, 1_000_003, 1 << 32, 1_000_000_000_000_000_000, u64::MAX] {
            for start in [0, n.saturating_sub(LEN as u64)] {
                let values = (start..n).take(LEN).map(|i| whole(stream.permuted(n, i)));
                cases.push(stream.case("permutation", ("n", n), start, values));
            }
        }
        for n in [52, 100_000] {
            let values = (0..LEN as u64).map(|i| whole(stream.permuted(n, i)));
            cases.push(stream.case("sample", ("n", n), 0, values));
        }
    }
    let about = "values start, start + 1 and so on of a kind, from stream number stream of the key of the integer seed 42. Floats are the hexadecimal \
                 digits of their bits, the highest first. A shuffle says where each element of 0 to n - 1 comes from.";
    document("headwater.vectors.numbers/1", about, &cases)
}

struct Stream {
    engine: &'static str,
    key: [u8; 16],
    id: u64,
}

impl Stream {
    /// Returns a word of a draw.
    fn word(&self, draw: u16, place: u64) -> u64 {
        let bytes = stream_bytes(self.engine, self.key, self.id, draw, u128::from(place) * 8, 8);
        u64::from_le_bytes(core::array::from_fn(|i| bytes[i]))
    }

    /// Returns a `u32` of a draw.
    fn half(&self, draw: u16, place: u64) -> u32 {
        let word = self.word(draw, place / 2);
        if place.is_multiple_of(2) { word as u32 } else { (word >> 32) as u32 }
    }

    fn ranges(&self, start: u64, cases: &mut Vec<Object>) {
        let range = || start..start + LEN as u64;
        let none = ("n", 0);
        let mut add = |kind, bound, values: Vec<String>| {
            cases.push(self.case(kind, bound, start, values.into_iter()));
        };
        add("f64", none, range().map(|e| double(uniform_f64(self.word(0, e)))).collect());
        add("f32", none, range().map(|e| single(uniform_f32(self.half(0, e)))).collect());
        let exponentials = range().map(|e| double(exponential_f64(self.word(0, e))));
        add("exponential_f64", none, exponentials.collect());
        let pair = |e: u64| normal_pair_f64([e & !1, e | 1].map(|e| self.word(0, e)));
        add("normal_f64", none, range().map(|e| double(pair(e)[(e % 2) as usize])).collect());
        let pair = |e: u64| normal_pair_f32([e & !1, e | 1].map(|e| self.half(0, e)));
        add("normal_f32", none, range().map(|e| single(pair(e)[(e % 2) as usize])).collect());
        // The last one rejects nearly every second word.
        for bound in [1, 6, 1_000_000_007, (1 << 63) + 1] {
            let values = range().map(|e| whole(bounded(64, bound, |draw| self.word(draw, e))));
            add("bounded_u64", ("bound", bound), values.collect());
        }
        for bound in [6, (1 << 31) + 1] {
            let half = |draw, e| u64::from(self.half(draw, e));
            let values = range().map(|e| whole(bounded(32, bound, |draw| half(draw, e))));
            add("bounded_u32", ("bound", bound), values.collect());
        }
    }

    /// Returns a value of a permutation: up to 256 elements a shuffled table, above a network.
    fn permuted(&self, n: u64, index: u64) -> u64 {
        if n <= 256 {
            shuffled(n as usize, |draw, place| self.word(draw, place))[index as usize] as u64
        } else {
            permuted(n, index, &core::array::from_fn(|i| self.word(0, i as u64)))
        }
    }

    fn case(
        &self,
        kind: &str,
        (name, size): (&'static str, u64),
        start: u64,
        values: impl Iterator<Item = String>,
    ) -> Object {
        let mut case = vec![
            ("kind", string(kind)),
            ("engine", string(self.engine)),
            ("seed", string("42")),
            ("key", hex(&self.key)),
            ("stream", self.id.to_string()),
        ];
        if size > 0 {
            case.push((name, string(&size.to_string())));
        }
        case.push(("start", string(&start.to_string())));
        case.push(("values", format!("[{}]", values.collect::<Vec<_>>().join(", "))));
        case
    }
}

fn whole(n: impl ToString) -> String {
    string(&n.to_string())
}

fn double(x: f64) -> String {
    string(&format!("{:016x}", x.to_bits()))
}

fn single(x: f32) -> String {
    string(&format!("{:08x}", x.to_bits()))
}
