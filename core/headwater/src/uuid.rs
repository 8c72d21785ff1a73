//! UUIDs of random bytes, as types of the [`uuid`] crate.

// The functions are always inlined: a function of its own would keep a copy of the bytes in a frame
// that the caller cannot erase.

use crate::{Error, linux};
use ::uuid::Uuid;

/// Returns a random UUID (version 4, RFC 9562 section 5.4): 122 random bits.
///
/// # Errors
///
/// The errors of [`fill`](crate::fill).
#[inline(always)]
pub fn v4() -> Result<Uuid, Error> {
    let mut bytes = [0; 16];
    crate::fill(&mut bytes)?;
    Ok(marked(bytes, 4))
}

/// Returns a time-ordered UUID (version 7, RFC 9562 section 5.7): milliseconds since 1970, then the
/// fraction of the millisecond in 12 bits (section 6.2, method 3), then 62 random bits.
///
/// UUIDs that one thread makes one after the other ascend with the clock, whose steps are 244 ns
/// here. The order ends there: threads share no state, and if the clock is set back, later UUIDs
/// sort before earlier ones. A clock before 1970 counts as 0.
///
/// # Errors
///
/// The errors of [`fill`](crate::fill).
#[inline(always)]
pub fn v7() -> Result<Uuid, Error> {
    let mut bytes = [0; 16];
    let (seconds, nanoseconds) = linux::since_1970();
    let [time @ .., _, _, _, _, _, _, _, _] = &mut bytes;
    write_time(time, seconds, nanoseconds);
    let [_, _, _, _, _, _, _, _, random @ ..] = &mut bytes;
    crate::fill(random)?;
    Ok(marked(bytes, 7))
}

/// Returns the UUID of these bytes, with version and variant in place of six bits.
///
/// On whole words, because a load of 16 bytes would wait for the stores of single ones.
#[inline(always)]
fn marked(bytes: [u8; 16], version: u8) -> Uuid {
    let (mut kept, mut set) = ([0xFF; 16], [0; 16]);
    (kept[6], kept[8]) = (0x0F, 0x3F);
    (set[6], set[8]) = (version << 4, 0x80);
    let word = u128::from_ne_bytes(bytes) & u128::from_ne_bytes(kept) | u128::from_ne_bytes(set);
    Uuid::from_bytes(word.to_ne_bytes())
}

/// Writes milliseconds, and after them the fraction, over which the version is written.
fn write_time(time: &mut [u8; 8], seconds: u64, nanoseconds: u32) {
    let milliseconds = seconds.wrapping_mul(1000).wrapping_add(u64::from(nanoseconds / 1_000_000));
    // 1 ms = 10^6 ns, cut into 4096 steps: the largest fraction, 999,999 ns, yields 4095.
    let fraction = u64::from(nanoseconds % 1_000_000) * 4096 / 1_000_000;
    *time = (milliseconds << 16 | fraction).to_be_bytes();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the UUID of version 7 of this time.
    fn from_time(seconds: u64, nanoseconds: u32, random: [u8; 8]) -> Uuid {
        let mut bytes = [0; 16];
        bytes[8..].copy_from_slice(&random);
        write_time(bytes.first_chunk_mut().unwrap(), seconds, nanoseconds);
        marked(bytes, 7)
    }

    #[test]
    fn v4_is_random_and_marked() {
        let (a, b) = (v4().unwrap(), v4().unwrap());
        assert_ne!(a, b); // equal by chance: 2^-122
        assert_eq!(a.get_version_num(), 4);
        assert_eq!(a.get_variant(), ::uuid::Variant::RFC4122);
    }

    /// The example of RFC 9562 appendix A.6, whose 12 and 62 other bits are random there.
    #[test]
    fn v7_has_the_rfc_layout() {
        let uuid = from_time(1_645_557_742, 0, 0x18C4_DC0C_0C07_398F_u64.to_be_bytes());
        assert_eq!(uuid.to_string(), "017f22e2-79b0-7000-98c4-dc0c0c07398f");
        assert_eq!(uuid.get_version_num(), 7);
        assert_eq!(uuid.get_variant(), ::uuid::Variant::RFC4122);
    }

    #[test]
    fn v7_fraction_covers_the_millisecond() {
        let fraction = |nanoseconds| from_time(1, nanoseconds, [0; 8]).as_u128() >> 64 & 0xFFF;
        assert_eq!(fraction(0), 0);
        assert_eq!(fraction(500_000), 2048);
        assert_eq!(fraction(999_999), 4095);
        assert_eq!(fraction(7_000_244), 0);
        assert_eq!(fraction(7_000_245), 1);
    }

    #[test]
    fn v7_ascends_with_the_clock() {
        let early = from_time(1, 999_999_999, [0xFF; 8]);
        let late = from_time(2, 0, [0; 8]);
        assert!(early < late);
    }
}
