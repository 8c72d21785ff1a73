//! Distributions with parameters, for both doors.
//!
//! Java holds the parameters as longs, in the order of the table of kinds: the bits of doubles,
//! whole numbers, and in the last place a list, or the table that [`prepare`] has built of it. One
//! array of a known form can be read where it lies, so nothing is allocated here.

use crate::calls::REFUSED;
use crate::numbers::Place;
use core::ffi::c_void;
use core::ptr::NonNull;
use core::slice::{from_raw_parts, from_raw_parts_mut};
use headwater_streams::distributions::Alias;
use headwater_streams::kinds::{self, Dtype, Elements, Form, Kind, Out, Room, Value};
use headwater_streams::{Error, Stream};

/// The most parameters of a kind.
const MOST: usize = 4;
const _: () = {
    let mut i = 0;
    while i < Kind::ALL.len() {
        assert!(Kind::ALL[i].parameters().len() <= MOST);
        i += 1;
    }
};

/// An array of Java for results: `n` numbers, and the number of the type of elements in the table.
#[derive(Clone, Copy)]
pub(crate) struct Numbers {
    pub(crate) start: *mut c_void,
    pub(crate) n: usize,
    pub(crate) dtype: i32,
}

/// A request that the parameters, the kind or the array do not allow.
struct Wrong;

impl From<Error> for Wrong {
    fn from(_: Error) -> Wrong {
        Wrong
    }
}

/// Writes elements of the kind with this number in the table.
///
/// # Safety
///
/// `out.start` is NULL, or aligned and valid for writes of `out.n` initialised numbers that nothing
/// else uses: of 32 bits where `out.dtype` has such, otherwise of 64.
pub(crate) unsafe fn draw(
    kind: i32,
    place: Place,
    elements: Elements<'_>,
    parameters: &[u64],
    out: Numbers,
) -> i32 {
    let Some(stream) = place.stream() else { return REFUSED };
    // SAFETY: `drawn` asks the same of the same `out`.
    match unsafe { drawn(kind, &stream, elements, parameters, out) } {
        Ok(()) => 0,
        Err(Wrong) => REFUSED,
    }
}

/// Draws, or says that the request is wrong.
///
/// # Safety
///
/// As of [`draw`]: `out.start` is NULL, or has `out.n` numbers of the size that `out.dtype` has.
unsafe fn drawn(
    kind: i32,
    stream: &Stream,
    elements: Elements<'_>,
    parameters: &[u64],
    out: Numbers,
) -> Result<(), Wrong> {
    let kind = of_number(kind)?;
    let mut values = [Value::Flag(false); MOST];
    read(kind, parameters, made_list, &mut values)?;
    let dtype = u8::try_from(out.dtype).ok().and_then(Dtype::by_number).ok_or(Wrong)?;
    let parts = if matches!(dtype, Dtype::C64 | Dtype::C128) { 2 } else { 1 };
    let start = NonNull::new(out.start).ok_or(Wrong)?.cast();
    if !out.n.is_multiple_of(parts) {
        return Err(Wrong);
    }
    // SAFETY: `start` is not null, and has `out.n` numbers, as `# Safety` says. An element is one
    // of them, or two if it is complex, so `n / parts` elements fit. That `dtype` has numbers of
    // the array's size is the work of Java's class `DistributionKind`, which makes it of the
    // array's class. Java has initialised the array, and a critical call holds it in place until
    // this function returns.
    let out = unsafe { Out::from_raw(dtype, start, out.n / parts) };
    Ok(kinds::draw(kind, used(kind, &values), stream, elements, out)?)
}

/// A request for one element: its kind, type and parameters, which fit into registers.
#[derive(Clone, Copy)]
pub(crate) struct Single {
    pub(crate) kind: i32,
    pub(crate) dtype: i32,
    pub(crate) parameters: [u64; MOST],
    pub(crate) index: u64,
}

/// Returned by [`one`] in place of an element where there is none. An element may have these bits
/// too, so Java asks for such an element once more by a function that returns errors.
const NONE: u64 = 0x7ff8_6865_6164_7761;

/// Returns the bits of one element of 64 bits.
///
/// A call with numbers alone is the cheapest that a JVM makes: no array is held in place for it.
pub(crate) fn one(place: Place, asked: Single) -> u64 {
    drawn_alone(place, asked).unwrap_or(NONE)
}

fn drawn_alone(place: Place, asked: Single) -> Result<u64, Wrong> {
    let kind = of_number(asked.kind)?;
    let stream = place.stream().ok_or(Wrong)?;
    let count = kind.parameters().len();
    let given = asked.parameters.get(..count).ok_or(Wrong)?;
    let mut values = [Value::Flag(false); MOST];
    read(kind, given, made_list, &mut values)?;
    let mut element = 0_u64;
    let out = match u8::try_from(asked.dtype).ok().and_then(Dtype::by_number) {
        // SAFETY: elements of the three types have 64 bits, of which any are a value, and the word
        // is aligned for them. It is written by this call alone and read after it.
        Some(dtype @ (Dtype::F64 | Dtype::I64 | Dtype::U64)) => unsafe {
            Out::from_raw(dtype, NonNull::from(&mut element).cast(), 1)
        },
        _ => return Err(Wrong),
    };
    kinds::draw(kind, used(kind, &values), &stream, Elements::At(&[asked.index]), out)?;
    Ok(element)
}

/// Checks parameters of a kind for elements of a type. Otherwise writes the name of the parameter
/// and its need to `out`, in the form "name must be need" and with zeros after it, or nothing if
/// the fault is no single parameter's.
pub(crate) fn check(kind: i32, dtype: i32, given: &[u64], out: &mut [u8]) -> i32 {
    match checked(kind, dtype, given) {
        Ok(Ok(())) => 0,
        Ok(Err(Error::Parameter { name, need })) => {
            let text = [name, " must be ", need];
            let letters = text.iter().flat_map(|piece| piece.bytes());
            out.iter_mut().zip(letters).for_each(|(to, letter)| *to = letter);
            REFUSED
        }
        Ok(Err(_)) | Err(Wrong) => REFUSED,
    }
}

fn checked(kind: i32, dtype: i32, given: &[u64]) -> Result<Result<(), Error>, Wrong> {
    let kind = of_number(kind)?;
    let dtype = u8::try_from(dtype).ok().and_then(Dtype::by_number).ok_or(Wrong)?;
    let mut values = [Value::Flag(false); MOST];
    read(kind, given, made_list, &mut values)?;
    let mut fits = Ok(());
    let made = kind.with(used(kind, &values), &mut |made| fits = made.fits(dtype));
    Ok(made.and(fits))
}

fn of_number(kind: i32) -> Result<Kind, Wrong> {
    u8::try_from(kind).ok().and_then(Kind::by_number).ok_or(Wrong)
}

/// Checks parameters, and turns them into those that [`draw`] takes: weights into a table, and a
/// covariance into its factor. Other parameters are copied, since a draw takes them as they are.
pub(crate) fn prepare(kind: i32, given: &[u64], out: &mut [u64]) -> i32 {
    match prepared(kind, given, out) {
        Ok(()) => 0,
        Err(Wrong) => REFUSED,
    }
}

fn prepared(kind: i32, given: &[u64], out: &mut [u64]) -> Result<(), Wrong> {
    let kind = of_number(kind)?;
    let mut values = [Value::Flag(false); MOST];
    let before = read(kind, given, |_, list| Value::Reals(list), &mut values)?;
    let is_made = |form| matches!(form, Form::Buckets | Form::Shares | Form::Factor);
    let has_table = kind.parameters().iter().any(|parameter| is_made(parameter.form));
    let copied = if has_table { before } else { given.len() };
    let (head, room) = out.split_at_mut_checked(copied).ok_or(Wrong)?;
    if !has_table && !room.is_empty() {
        return Err(Wrong);
    }
    // Element by element, although the split made both one length: the compiler forgets it, so a
    // copy of slices would be a panic that no draw may reach.
    head.iter_mut().zip(given).for_each(|(to, &from)| *to = from);
    if let Some((place, table)) = kind.prepare(used(kind, &values), room_of(kind, room))?
        && let Some(value) = values.get_mut(place)
    {
        *value = table;
    }
    Ok(kind.with(used(kind, &values), &mut |_| ())?)
}

/// Returns the values of the kind's parameters, which are the first ones.
fn used<'v, 'a>(kind: Kind, values: &'v [Value<'a>; MOST]) -> &'v [Value<'a>] {
    values.get(..kind.parameters().len()).unwrap_or_default()
}

/// Reads the parameters that Java holds, and returns the words in front of the last list. `list`
/// makes a value of that list.
fn read<'a>(
    kind: Kind,
    words: &'a [u64],
    list: impl Fn(Form, &'a [f64]) -> Value<'a>,
    values: &mut [Value<'a>; MOST],
) -> Result<usize, Wrong> {
    let mut left = words;
    let mut before = words.len();
    let parameters = kind.parameters();
    for (value, (i, parameter)) in values.iter_mut().zip(parameters.iter().enumerate()) {
        let is_last = i + 1 == parameters.len();
        *value = match parameter.form {
            Form::Real => Value::Real(f64::from_bits(first(&mut left)?)),
            Form::Count => Value::Count(first(&mut left)?),
            Form::Integer => Value::Integer(first(&mut left)?.cast_signed().into()),
            Form::Flag => Value::Flag(first(&mut left)? == 1),
            Form::Reals if parameters.get(i + 1).is_some_and(|next| next.form == Form::Count) => {
                // A list that one number follows.
                let items = left.len().checked_sub(1).ok_or(Wrong)?;
                let (items, number) = left.split_at_checked(items).ok_or(Wrong)?;
                left = number;
                Value::Reals(reals(items))
            }
            Form::Reals if !is_last => {
                // A mean of d numbers, which a square of d rows follows.
                let rows = (0..).find(|d: &usize| d * d + d >= left.len()).ok_or(Wrong)?;
                let (mean, square) = left.split_at_checked(rows).ok_or(Wrong)?;
                if square.len() != rows * rows {
                    return Err(Wrong);
                }
                left = square;
                Value::Reals(reals(mean))
            }
            Form::Reals | Form::Buckets | Form::Shares | Form::Factor if is_last => {
                before = words.len() - left.len();
                list(parameter.form, reals(core::mem::take(&mut left)))
            }
            _ => return Err(Wrong),
        };
    }
    if left.is_empty() { Ok(before) } else { Err(Wrong) }
}

fn first(words: &mut &[u64]) -> Result<u64, Wrong> {
    words.split_off_first().copied().ok_or(Wrong)
}

/// Returns the value of a list that [`prepare`] has made.
fn made_list(form: Form, list: &[f64]) -> Value<'_> {
    match form {
        Form::Buckets => Value::Buckets(buckets(list)),
        Form::Shares => Value::Shares(list),
        Form::Factor => Value::Factor(list),
        _ => Value::Reals(list),
    }
}

/// Returns room for the kind's table.
fn room_of(kind: Kind, room: &mut [u64]) -> Room<'_> {
    if kind.parameters().iter().any(|parameter| parameter.form == Form::Buckets) {
        // SAFETY: a bucket is two words, aligned as they are, and any words are one. So half as
        // many buckets as words fit, and an odd word is left out. The slice replaces `room`, which
        // is not used again.
        Room::Buckets(unsafe { from_raw_parts_mut(room.as_mut_ptr().cast(), room.len() / 2) })
    } else {
        // SAFETY: a double has the size and the alignment of a word here, and any bits are one. The
        // slice replaces `room`, which is not used again.
        Room::Reals(unsafe { from_raw_parts_mut(room.as_mut_ptr().cast(), room.len()) })
    }
}

fn reals(words: &[u64]) -> &[f64] {
    // SAFETY: a double has the size and the alignment of a word here, and any bits are one. The
    // slice lives as long as the borrow of `words`.
    unsafe { from_raw_parts(words.as_ptr().cast(), words.len()) }
}

fn buckets(list: &[f64]) -> &[Alias] {
    // SAFETY: a bucket is two words, aligned as doubles are, and any words are one. So half as many
    // buckets fit, and an odd word is left out.
    unsafe { from_raw_parts(list.as_ptr().cast(), list.len() / 2) }
}
