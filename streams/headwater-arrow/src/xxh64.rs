//! XXH64 (Yann Collet, xxHash specification 0.1.1, "XXH64 Algorithm Description").
//!
//! Spark's built-in `xxhash64` is this function, so a cluster of Spark computes the ids of
//! [`key_of`](crate::key_of) with nothing of ours installed. XXH3 would be faster for texts; but
//! Spark lacks it.

const P1: u64 = 0x9E37_79B1_85EB_CA87;
const P2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const P3: u64 = 0x1656_67B1_9E37_79F9;
const P4: u64 = 0x85EB_CA77_C2B2_AE63;
const P5: u64 = 0x27D4_EB2F_1656_67C5;

fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(P2)).rotate_left(31).wrapping_mul(P1)
}

fn merge(hash: u64, lane: u64) -> u64 {
    (hash ^ round(0, lane)).wrapping_mul(P1).wrapping_add(P4)
}

fn eight(hash: u64, word: u64) -> u64 {
    (hash ^ round(0, word)).rotate_left(27).wrapping_mul(P1).wrapping_add(P4)
}

fn avalanche(mut hash: u64) -> u64 {
    hash = (hash ^ hash >> 33).wrapping_mul(P2);
    hash = (hash ^ hash >> 29).wrapping_mul(P3);
    hash ^ hash >> 32
}

/// Returns XXH64 of the bytes with this seed.
///
/// ```
/// assert_eq!(headwater_arrow::xxh64(b"", 0), 0xEF46_DB37_51D8_E999); // the author's
/// ```
pub fn xxh64(bytes: &[u8], seed: u64) -> u64 {
    let (stripes, rest) = bytes.as_chunks::<32>();
    let mut hash = match stripes {
        [] => seed.wrapping_add(P5),
        _ => {
            let start = [P1.wrapping_add(P2), P2, 0, P1.wrapping_neg()];
            let mut lanes = start.map(|prime| seed.wrapping_add(prime));
            for stripe in stripes {
                for (lane, word) in lanes.iter_mut().zip(stripe.as_chunks::<8>().0) {
                    *lane = round(*lane, u64::from_le_bytes(*word));
                }
            }
            let [a, b, c, d] = lanes;
            let all = [a.rotate_left(1), b.rotate_left(7), c.rotate_left(12), d.rotate_left(18)];
            let sum = all.into_iter().fold(0, u64::wrapping_add);
            lanes.into_iter().fold(sum, merge)
        }
    };
    hash = hash.wrapping_add(bytes.len() as u64);
    let (words, rest) = rest.as_chunks::<8>();
    hash = words.iter().fold(hash, |hash, word| eight(hash, u64::from_le_bytes(*word)));
    let (halves, rest) = rest.as_chunks::<4>();
    for half in halves {
        let word = u64::from(u32::from_le_bytes(*half));
        hash = (hash ^ word.wrapping_mul(P1)).rotate_left(23).wrapping_mul(P2).wrapping_add(P3);
    }
    for &byte in rest {
        hash = (hash ^ u64::from(byte).wrapping_mul(P5)).rotate_left(11).wrapping_mul(P1);
    }
    avalanche(hash)
}

/// Returns XXH64 of a number's 8 bytes, the lowest first: [`xxh64`] without its loops.
pub(crate) fn of_u64(word: u64, seed: u64) -> u64 {
    avalanche(eight(seed.wrapping_add(P5).wrapping_add(8), word))
}
