//! Keys, and the numbers of their streams, for both doors.

use crate::calls::REFUSED;
use core::ptr::NonNull;
use headwater_streams::kinds::{self, Dtype, Elements, Kind, Out, Value};
use headwater_streams::{Engine, Key, Seed, Stream};

/// A stream as Java writes it: the number of the engine, the halves of the key and the stream's
/// number.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) engine: i32,
    pub(crate) low: u64,
    pub(crate) high: u64,
    pub(crate) stream: u64,
}

impl Place {
    fn key(self) -> Option<Key> {
        Some(Key::from_raw(engine(self.engine)?, half_words(self.low, self.high)))
    }

    pub(crate) fn stream(self) -> Option<Stream> {
        self.key()?.stream(self.stream).ok()
    }
}

fn half_words(low: u64, high: u64) -> [u8; 16] {
    (u128::from(low) | u128::from(high) << 64).to_le_bytes()
}

/// Returns the engine with this number, in the order of Java's enum `Engine`.
fn engine(number: i32) -> Option<Engine> {
    match number {
        0 => Some(Engine::Ars7),
        1 => Some(Engine::Ars5),
        2 => Some(Engine::Philox4x32),
        _ => None,
    }
}

/// A kind of the table with a type of its elements, as Java's enum `Kind` writes both: the number
/// of the kind times 256, plus that of the type.
#[derive(Clone, Copy)]
pub(crate) struct Typed {
    kind: Kind,
    pub(crate) dtype: Dtype,
}

impl Typed {
    pub(crate) fn of(code: i32) -> Option<Typed> {
        let [dtype, kind, rest @ ..] = code.to_le_bytes();
        let (kind, dtype) = (Kind::by_number(kind)?, Dtype::by_number(dtype)?);
        (rest == [0; 2]).then_some(Typed { kind, dtype })
    }
}

/// Writes elements of a kind with its type.
///
/// # Safety
///
/// `out` is aligned and valid for writes of `n` initialised elements of the type that nothing else
/// uses.
#[inline]
pub(crate) unsafe fn draw(
    kind: Typed,
    place: Place,
    elements: Elements<'_>,
    bound: u64,
    out: NonNull<u8>,
    n: usize,
) -> i32 {
    let Some(stream) = place.stream() else { return REFUSED };
    // SAFETY: `out` has `n` elements of the type that `kind` has, as `# Safety` says. They are part
    // of a Java array, so they are initialised, and a critical call holds it in place until this
    // function returns.
    let out = unsafe { Out::from_raw(kind.dtype, out, n) };
    // Numbers below a bound and permutations have parameters, and other kinds none.
    let values: &[Value<'_>] = match kind.kind {
        Kind::Integers => &[Value::Integer(0), Value::Integer(i128::from(bound) - 1)],
        Kind::Permutation => &[Value::Count(bound)],
        _ => &[],
    };
    match kinds::draw(kind.kind, values, &stream, elements, out) {
        Ok(()) => 0,
        Err(_) => REFUSED,
    }
}

/// Derives a key or a generator's bytes. Purposes are 0 for the key of a seed, 1 for a child and 2
/// for `expand`; kinds of labels are those of STREAMS.md.
pub(crate) fn derive(purpose: i32, place: Place, kind: i32, label: &[u8], out: &mut [u8]) -> i32 {
    let (Some(label), Some(key)) = (seed(kind, label), place.key()) else { return REFUSED };
    let derived = match purpose {
        0 => Key::with_engine(key.engine(), label).to_raw(),
        1 => key.child(label).to_raw(),
        2 => {
            key.expand(label, out);
            return 0;
        }
        _ => return REFUSED,
    };
    match <&mut [u8; 16]>::try_from(out) {
        Ok(out) => {
            *out = derived;
            0
        }
        Err(_) => REFUSED,
    }
}

fn seed(kind: i32, bytes: &[u8]) -> Option<Seed<'_>> {
    match kind {
        0 => Some(Seed::from(u128::from_le_bytes(bytes.try_into().ok()?))),
        // Java writes -1 - n, which i128 holds down to -2^127.
        1 => {
            let n = i128::from_le_bytes(bytes.try_into().ok()?);
            (n >= 0).then(|| Seed::from(!n))
        }
        2 => Some(Seed::from(bytes)),
        3 => Some(Seed::from(core::str::from_utf8(bytes).ok()?)),
        _ => None,
    }
}
