//! UUIDs of random bytes, as types of the [`uuid`] crate.

use crate::{Error, imp};
use ::uuid::{Builder, Uuid};

/// A random UUID (version 4, RFC 9562 section 5.4): 122 random bits.
///
/// # Errors
///
/// The errors of [`fill`](crate::fill).
pub fn v4() -> Result<Uuid, Error> {
    Ok(Builder::from_random_bytes(crate::array()?).into_uuid())
}

/// A time-ordered UUID (version 7, RFC 9562 section 5.7): milliseconds since 1970, then the
/// fraction of the millisecond in 12 bits (section 6.2, method 3), then 62 random bits.
///
/// UUIDs made one after the other by one thread ascend as its clock does (to 244 ns), and no
/// further: nothing is shared between threads, and a clock set back goes back. Before 1970 the time
/// reads 0.
///
/// # Errors
///
/// The errors of [`fill`](crate::fill).
pub fn v7() -> Result<Uuid, Error> {
    let (seconds, nanoseconds) = imp::since_1970();
    let random: [u8; 8] = crate::array()?;
    Ok(from_time(seconds, nanoseconds, random))
}

fn from_time(seconds: u64, nanoseconds: u32, random: [u8; 8]) -> Uuid {
    let milliseconds = seconds.wrapping_mul(1000).wrapping_add(u64::from(nanoseconds / 1_000_000));
    // 1 ms = 10^6 ns, cut into 4096 steps: the largest fraction, 999,999 ns, yields 4095.
    let fraction = u64::from(nanoseconds % 1_000_000) * 4096 / 1_000_000;
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&milliseconds.to_be_bytes()[2..]);
    bytes[6..8].copy_from_slice(&(fraction as u16).to_be_bytes());
    bytes[8..].copy_from_slice(&random);
    Builder::from_bytes(bytes)
        .with_version(::uuid::Version::SortRand)
        .with_variant(::uuid::Variant::RFC4122)
        .into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

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
