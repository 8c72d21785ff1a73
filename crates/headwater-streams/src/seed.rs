//! What keys are made from: numbers, bytes and text, each written down in exactly one way.

/// A seed: what the user typed or chose, and the whole origin of every number that follows from it.
///
/// Integers are seeds by their value: `7_u8`, `7_i64` and `7_u128` are one seed. Bytes and texts are others, even
/// if they look alike: `"7"`, `[7]` and `7` are three. Texts are taken as their UTF-8 bytes; nothing is normalised,
/// trimmed or folded.
///
/// Any seed is as good as any other: 0, small numbers and neighbours too, for all go through a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed<'a>(Value<'a>);

/// The name of a child among its siblings (see [`Key::child`](crate::Key::child)). Whatever can be a seed can be a label.
pub type Label<'a> = Seed<'a>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Value<'a> {
    /// Zero and above.
    Natural(u128),
    /// `-1 - n`.
    Negative(u128),
    Bytes(&'a [u8]),
    Text(&'a str),
}

impl<'a> Seed<'a> {
    /// Hands the canonical form to `write`, in pieces: a byte for the kind, then a number's 16 bytes in little-endian
    /// order, or the bytes or the text as they are. The kind, and the end of the message, make it injective.
    pub(crate) fn encode(&self, mut write: impl FnMut(&[u8])) {
        match self.0 {
            Value::Natural(n) => {
                write(&[0]);
                write(&n.to_le_bytes());
            }
            Value::Negative(n) => {
                write(&[1]);
                write(&n.to_le_bytes());
            }
            Value::Bytes(bytes) => {
                write(&[2]);
                write(bytes);
            }
            Value::Text(text) => {
                write(&[3]);
                write(text.as_bytes());
            }
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
                // `!n` is `-1 - n`, which every negative number has and no other.
                Seed(if n < 0 { Value::Negative(!n as u128) } else { Value::Natural(n as u128) })
            }
        }
    )*};
}

naturals!(u8 u16 u32 u64 u128 usize);
integers!(i8 i16 i32 i64 i128 isize);

impl<'a> From<&'a [u8]> for Seed<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Seed(Value::Bytes(bytes))
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Seed<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Seed(Value::Bytes(bytes))
    }
}

impl<'a> From<&'a str> for Seed<'a> {
    fn from(text: &'a str) -> Self {
        Seed(Value::Text(text))
    }
}

impl<'a> From<&'a String> for Seed<'a> {
    fn from(text: &'a String) -> Self {
        Seed(Value::Text(text))
    }
}
