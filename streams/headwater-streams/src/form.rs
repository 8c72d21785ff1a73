//! Keys, streams and the states of sequential generators in files, by serde: the feature `serde`.
//!
//! The forms are part of the promise of STREAMS.md: names, and bytes and words as hexadecimal
//! digits, because some formats would round a number. Unknown fields are refused, because they may
//! mean that another version wrote them.

use crate::generators::{Pcg64Dxsm, Sfc64, Xorshift128p, Xoshiro256pp};
use crate::{Engine, Error, Key, Stream};
use serde::{Deserialize, Serialize};

/// A key: `{"engine": "ars7", "key": "<32 digits>"}`, the digits in the order of the bytes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyForm {
    engine: String,
    key: String,
}

/// A stream: a key and the stream's number.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StreamForm {
    engine: String,
    key: String,
    stream: u64,
}

/// A sequential generator at its place: its name, and the words of its state.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateForm {
    generator: String,
    state: Vec<String>,
}

impl From<Key> for KeyForm {
    fn from(key: Key) -> KeyForm {
        let digits = key.to_raw().iter().map(|byte| format!("{byte:02x}")).collect();
        KeyForm { engine: key.engine().name().to_owned(), key: digits }
    }
}

impl TryFrom<KeyForm> for Key {
    type Error = String;

    fn try_from(form: KeyForm) -> Result<Key, String> {
        let engine: Engine = form.engine.parse().map_err(|error: Error| error.to_string())?;
        let [key] = words(&[form.key], 32)?;
        // The first digits are those of the first byte.
        Ok(Key::from_raw(engine, key.to_be_bytes()))
    }
}

impl From<Stream> for StreamForm {
    fn from(stream: Stream) -> StreamForm {
        let KeyForm { engine, key } = stream.key().into();
        StreamForm { engine, key, stream: stream.id() }
    }
}

impl TryFrom<StreamForm> for Stream {
    type Error = String;

    fn try_from(form: StreamForm) -> Result<Stream, String> {
        let key = Key::try_from(KeyForm { engine: form.engine, key: form.key })?;
        key.stream(form.stream).map_err(|error| error.to_string())
    }
}

/// Implements the form of a generator, given its name, the digits of a word, and its state to and
/// from words.
macro_rules! generator {
    ($Generator:ident, $name:literal, $digits:literal, $to:expr, $from:expr) => {
        impl From<$Generator> for StateForm {
            fn from(generator: $Generator) -> StateForm {
                let digits = |word: u128| format!("{word:0width$x}", width = $digits);
                let state = $to(&generator).into_iter().map(|word| digits(word.into())).collect();
                StateForm { generator: $name.to_owned(), state }
            }
        }

        impl TryFrom<StateForm> for $Generator {
            type Error = String;

            fn try_from(form: StateForm) -> Result<$Generator, String> {
                if form.generator != $name {
                    return Err(format!(
                        "this is a state of '{}', not of '{}'",
                        form.generator, $name
                    ));
                }
                let generator: Option<$Generator> = $from(words(&form.state, $digits)?);
                generator.ok_or_else(|| format!("'{}' has no such state", $name))
            }
        }
    };
}

generator!(Xoshiro256pp, "xoshiro256pp", 16, Xoshiro256pp::state, |words: [u128; 4]| {
    Xoshiro256pp::from_state(words.map(|word| word as u64))
});
generator!(Xorshift128p, "xorshift128p", 16, Xorshift128p::state, |words: [u128; 2]| {
    Xorshift128p::from_state(words.map(|word| word as u64))
});
generator!(Sfc64, "sfc64", 16, Sfc64::state, |words: [u128; 4]| {
    Some(Sfc64::from_state(words.map(|word| word as u64)))
});
generator!(
    Pcg64Dxsm,
    "pcg64dxsm",
    32,
    |generator: &Pcg64Dxsm| <[u128; 2]>::from(generator.state()),
    |[state, increment]: [u128; 2]| Pcg64Dxsm::from_state(state, increment)
);

/// Reads words of so many hexadecimal digits.
fn words<const N: usize>(texts: &[String], digits: usize) -> Result<[u128; N], String> {
    let word = |text: &String| {
        let is_hex = text.len() == digits && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        let word = u128::from_str_radix(text, 16).ok().filter(|_| is_hex);
        word.ok_or_else(|| format!("'{}' is not {digits} hexadecimal digits", text.escape_debug()))
    };
    let words: Vec<u128> = texts.iter().map(word).collect::<Result<_, _>>()?;
    let found = words.len();
    words.try_into().map_err(|_| format!("{found} words in place of {N}"))
}
