//! The material of keys: numbers, bytes and text, each written down in exactly one way.

#[cfg(feature = "std")]
use crate::Error;
#[cfg(feature = "std")]
use core::str::FromStr;

/// A value that the seed owns or borrows.
#[cfg(feature = "std")]
type Cow<'a, T> = std::borrow::Cow<'a, T>;
/// A borrowed value, because a seed cannot own one without an allocator.
#[cfg(not(feature = "std"))]
type Cow<'a, T> = &'a T;

/// A seed: the value that the user typed or chose, from which all numbers follow. [Not for
/// secrets](crate).
///
/// Integers are seeds by their value: `7_u8`, `7_i64` and `7_u128` are one seed. Bytes and texts
/// are others, even if they look alike: `"7"`, `&[7]` and `7` are three. A text is its UTF-8 bytes;
/// nothing is normalised, trimmed or folded.
///
/// Any seed is as good as any other, 0, small numbers and neighbours too, for all go through a
/// hash.
///
/// `parse` reads seeds of command lines and settings. A whole number from -2^128 to 2^128 - 1 is
/// written as `42`, `-1` or `0x2a`, bytes as `hex:00ff`, and a text as `text:anything`. `text:` may
/// be omitted, unless the text looks like a number (`1.5`, `.5`, `½`) or begins or ends with white
/// space.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Seed<'a>(Value<'a>);

/// The name of a child among its siblings (see [`Key::child`](crate::Key::child)). Every value that
/// can be a seed can be a label.
pub type Label<'a> = Seed<'a>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Value<'a> {
    /// Zero and above.
    Natural(u128),
    /// `-1 - n`.
    Negative(u128),
    /// `n`, or `-1 - n` if the flag is true, of more than 128 bits: as many bytes as it has, the
    /// lowest first.
    Long(bool, Cow<'a, [u8]>),
    Bytes(Cow<'a, [u8]>),
    Text(Cow<'a, str>),
}

impl<'a> Seed<'a> {
    /// Returns the seed that is an integer of any length: `n` of these bytes, the lowest first, or
    /// `-1 - n` if `negative` is true.
    ///
    /// ```
    /// use headwater_streams::Seed;
    ///
    /// assert_eq!(Seed::integer(false, &[42]), Seed::from(42));
    /// assert_eq!(Seed::integer(true, &[0]), Seed::from(-1));
    /// assert_ne!(Seed::integer(false, &[1; 17]), Seed::integer(false, &[1; 18]));
    /// ```
    // Without an allocator the value is a reference already, and `into` converts nothing.
    #[cfg_attr(not(feature = "std"), expect(clippy::useless_conversion))]
    pub fn integer(negative: bool, bytes: &'a [u8]) -> Seed<'a> {
        let len = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let (bytes, _) = bytes.split_at(len);
        let mut short = [0; 16];
        match short.get_mut(..len) {
            Some(place) => {
                place.copy_from_slice(bytes);
                let n = u128::from_le_bytes(short);
                Seed(if negative { Value::Negative(n) } else { Value::Natural(n) })
            }
            None => Seed(Value::Long(negative, bytes.into())),
        }
    }
}

impl Seed<'_> {
    /// Hands the canonical form to `read`: a byte for the kind, and a number's 16 bytes in
    /// little-endian order, or the bytes or the text as they are. Two seeds that differ have
    /// different forms: the kind differs, or the rest up to its end.
    pub(crate) fn encoded<R>(&self, read: impl FnOnce(u8, &[u8]) -> R) -> R {
        match &self.0 {
            Value::Natural(n) => read(0, &n.to_le_bytes()),
            Value::Negative(n) => read(1, &n.to_le_bytes()),
            Value::Long(negative, bytes) => read(4 + u8::from(*negative), bytes),
            Value::Bytes(bytes) => read(2, bytes),
            Value::Text(text) => read(3, text.as_bytes()),
        }
    }

    #[cfg(feature = "std")]
    /// Returns the number that the seed is, if it is one from 0 on.
    pub(crate) fn natural(&self) -> Option<u128> {
        match self.0 {
            Value::Natural(n) => Some(n),
            _ => None,
        }
    }
}

macro_rules! naturals {
    ($($type:ty)*) => {$(
        impl From<$type> for Seed<'_> {
            fn from(n: $type) -> Self {
                Seed(Value::Natural(n as u128))
            }
        }
    )*};
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl From<$type> for Seed<'_> {
            fn from(n: $type) -> Self {
                // `!n` is `-1 - n`, which no number that is negative shares with another.
                Seed(if n < 0 { Value::Negative(!n as u128) } else { Value::Natural(n as u128) })
            }
        }
    )*};
}

naturals!(u8 u16 u32 u64 u128 usize);
integers!(i8 i16 i32 i64 i128 isize);

impl<'a> From<&'a [u8]> for Seed<'a> {
    // Without an allocator the value is a reference already, and `into` converts nothing.
    #[cfg_attr(not(feature = "std"), expect(clippy::useless_conversion))]
    fn from(bytes: &'a [u8]) -> Self {
        Seed(Value::Bytes(bytes.into()))
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Seed<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Seed::from(&bytes[..])
    }
}

#[cfg(feature = "std")]
impl From<Vec<u8>> for Seed<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Seed(Value::Bytes(bytes.into()))
    }
}

impl<'a> From<&'a str> for Seed<'a> {
    // Without an allocator the value is a reference already, and `into` converts nothing.
    #[cfg_attr(not(feature = "std"), expect(clippy::useless_conversion))]
    fn from(text: &'a str) -> Self {
        Seed(Value::Text(text.into()))
    }
}

#[cfg(feature = "std")]
impl<'a> From<&'a String> for Seed<'a> {
    fn from(text: &'a String) -> Self {
        Seed(Value::Text(text.into()))
    }
}

#[cfg(feature = "std")]
impl From<String> for Seed<'_> {
    fn from(text: String) -> Self {
        Seed(Value::Text(text.into()))
    }
}

#[cfg(feature = "std")]
impl FromStr for Seed<'static> {
    type Err = Error;

    fn from_str(typed: &str) -> Result<Self, Error> {
        let no_seed = || Error::SeedText(typed.to_string());
        if let Some(text) = typed.strip_prefix("text:") {
            return Ok(text.to_string().into());
        }
        if let Some(digits) = typed.strip_prefix("hex:") {
            return Ok(bytes(digits).ok_or_else(no_seed)?.into());
        }
        match typed.chars().next() {
            None => Err(no_seed()),
            Some('0'..='9' | '-' | '+') => number(typed).map(Seed).ok_or_else(no_seed),
            // " 5" or ".5" as a text would silently be another seed than the number that its user
            // meant.
            Some(_) if typed.trim() != typed || looks_like_a_number(typed) => Err(no_seed()),
            Some(_) => Ok(typed.to_string().into()),
        }
    }
}

#[cfg(feature = "std")]
/// Returns true for a point, another script's digit or a typographic sign in front, and for a
/// float's words.
fn looks_like_a_number(typed: &str) -> bool {
    let first = typed.chars().next().unwrap_or_default();
    let word = typed.to_ascii_lowercase();
    matches!(first, '.' | ',' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{ff0b}' | '\u{ff0d}')
        || first.is_numeric()
        || matches!(word.as_str(), "nan" | "inf" | "infinity")
}

#[cfg(feature = "std")]
/// Reads two digits a byte.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |digit: &u8| char::from(*digit).to_digit(16);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| Some((digit(high)? << 4 | digit(low)?) as u8);
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

#[cfg(feature = "std")]
/// Reads a whole number, decimal or hexadecimal, with a minus or without.
fn number(typed: &str) -> Option<Value<'static>> {
    let magnitude = typed.strip_prefix('-').unwrap_or(typed);
    let (digits, radix) = match magnitude.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (magnitude, 10),
    };
    // The standard library takes a plus sign.
    if digits.starts_with('+') {
        return None;
    }
    let n = u128::from_str_radix(digits, radix);
    if magnitude.len() == typed.len() {
        return n.ok().map(Value::Natural);
    }
    match n {
        Ok(0) => Some(Value::Natural(0)),
        Ok(n) => Some(Value::Negative(n - 1)),
        // -2^128 is `-1 - (2^128 - 1)`.
        Err(_) if is_two_to_the_128(digits, radix) => Some(Value::Negative(u128::MAX)),
        Err(_) => None,
    }
}

#[cfg(feature = "std")]
fn is_two_to_the_128(digits: &str, radix: u32) -> bool {
    let digits = digits.trim_start_matches('0');
    match radix {
        10 => digits == "340282366920938463463374607431768211456",
        _ => digits.strip_prefix('1').is_some_and(|zeros| zeros == "0".repeat(32)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded<'a>(seed: impl Into<Seed<'a>>) -> (u8, Vec<u8>) {
        seed.into().encoded(|kind, bytes| (kind, bytes.to_vec()))
    }

    #[test]
    fn an_integer_is_its_value_whatever_its_type() {
        for seed in [
            7_u8.into(),
            7_i8.into(),
            7_i32.into(),
            7_u64.into(),
            7_u128.into(),
            Seed::from(7_isize),
        ] {
            assert_eq!(seed, Seed::from(7));
        }
        for seed in [(-7_i8).into(), (-7_i16).into(), (-7_i64).into(), Seed::from(-7_i128)] {
            assert_eq!(seed, Seed::from(-7));
        }
        assert_eq!(encoded(258), (0, [[2, 1].to_vec(), vec![0; 14]].concat()));
        assert_eq!(encoded(-1), (1, vec![0; 16]));
        for zeros in 0..40 {
            let long = [&[2, 1][..], &vec![0; zeros]].concat();
            assert_eq!(encoded(Seed::integer(false, &long)), encoded(258));
            let long = [&[1; 17][..], &vec![0; zeros]].concat();
            assert_eq!(encoded(Seed::integer(true, &long)), (5, vec![1; 17]));
        }
        assert_eq!(encoded(i128::MIN), (1, (u128::MAX >> 1).to_le_bytes().to_vec()));
    }

    #[test]
    fn seeds_that_differ_are_encoded_differently() {
        let seeds: [Seed<'_>; 18] = [
            Seed::integer(false, &[1; 17]),
            Seed::integer(true, &[1; 17]),
            Seed::integer(false, &[1; 18]),
            (&[1; 17]).into(),
            0.into(),
            (-1).into(),
            1.into(),
            (-2).into(),
            u128::MAX.into(),
            i128::MIN.into(),
            "".into(),
            "\0".into(),
            "1".into(),
            (&[]).into(),
            (&[0]).into(),
            (&[1]).into(),
            (&[0; 16]).into(),
            "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".into(),
        ];
        for (i, a) in seeds.iter().enumerate() {
            for b in &seeds[..i] {
                assert_ne!(encoded(a.clone()), encoded(b.clone()));
            }
        }
    }

    #[test]
    fn seeds_as_typed() {
        for (typed, seed) in [
            ("42", Seed::from(42)),
            ("0", 0.into()),
            ("-0", 0.into()),
            ("007", 7.into()),
            ("-1", (-1).into()),
            ("0x2a", 42.into()),
            ("-0x2A", (-42).into()),
            ("340282366920938463463374607431768211455", u128::MAX.into()),
            ("-170141183460469231731687303715884105728", i128::MIN.into()),
            ("hex:", (&[]).into()),
            ("hex:00fF", (&[0, 255]).into()),
            ("text:", "".into()),
            ("text:42", "42".into()),
            ("text:hex:00", "hex:00".into()),
            ("alice", "alice".into()),
            ("text: 42", " 42".into()),
            ("text:.5", ".5".into()),
            ("v1.5", "v1.5".into()),
            ("é", "é".into()),
        ] {
            assert_eq!(typed.parse(), Ok(seed), "{typed}");
        }
        let lowest = Seed(Value::Negative(u128::MAX));
        assert_eq!("-340282366920938463463374607431768211456".parse(), Ok(lowest.clone()));
        assert_eq!("-0x100000000000000000000000000000000".parse(), Ok(lowest));
    }

    #[test]
    fn no_seeds() {
        for typed in [
            "",
            "+1",
            "-",
            "--1",
            "-+1",
            "0x",
            "0x+1",
            "0xg",
            "1e6",
            "1.5",
            " 5",
            "5 ",
            "a ",
            "\ta",
            ".5",
            ",5",
            "\u{2212}5",
            "\u{2013}5",
            "\u{663}",
            "½",
            "nan",
            "Inf",
            "1_000",
            "12monkeys",
            "340282366920938463463374607431768211456",
            "-340282366920938463463374607431768211457",
            "hex:0",
            "hex:0g",
            "hex:+1",
            "hex:é",
        ] {
            let error = typed.parse::<Seed<'_>>().unwrap_err();
            assert_eq!(error, Error::SeedText(typed.to_string()));
            assert_eq!(error.to_string().lines().count(), 1);
        }
    }
}
