//! The functions that JavaScript calls.

use crate::memory::{ARGUMENTS, KEY, PLACE, buckets_mut, bytes, bytes_mut, reals_mut, with_words};
use crate::outcome::{Refusal, Refused, number};
use crate::values::{given, made, read};
use headwater_streams::generators::Xoshiro256pp;
use headwater_streams::kinds::{self, Dtype, Elements, Form, Kind, Out, Room};
use headwater_streams::{Engine, Key, Seed, Stream};

/// The distance of two doubles of a generator: 2^-53.
const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;

/// Runs a call over the shared words, and returns its number.
fn answer(call: impl FnOnce(&mut [u64]) -> Result<(), Refusal>) -> u32 {
    with_words(|words| {
        let result = call(words);
        number(result, words)
    })
}

/// The shared words of a call: the fixed ones, the arguments and the room for results.
struct Parts<'a>(&'a [u64], &'a [u64], &'a mut [u64]);

/// Splits `len` words of arguments from the fixed words and those of the results.
fn split(words: &mut [u64], len: usize) -> Result<Parts<'_>, Refused> {
    let (head, rest) = words.split_at_mut_checked(ARGUMENTS).ok_or(Refused::Call)?;
    let (arguments, results) = rest.split_at_mut_checked(len).ok_or(Refused::Call)?;
    Ok(Parts(head, arguments, results))
}

fn engine(number: u32) -> Result<Engine, Refused> {
    Engine::ALL.get(number as usize).copied().ok_or(Refused::Call)
}

fn key(number: u32, head: &[u64]) -> Result<Key, Refused> {
    let bytes = bytes(&head[KEY]).try_into().map_err(|_| Refused::Call)?;
    Ok(Key::from_raw(engine(number)?, bytes))
}

fn stream(number: u32, head: &[u64]) -> Result<Stream, Refusal> {
    Ok(key(number, head)?.stream(head[PLACE.start])?)
}

fn kind(number: u32) -> Result<Kind, Refused> {
    u8::try_from(number).ok().and_then(Kind::by_number).ok_or(Refused::Call)
}

/// Derives a key or bytes. Purposes are 0 for the key of a seed, 1 for a child and 2 for `expand`;
/// kinds of labels are those of STREAMS.md. The argument is the label, the result has `out` bytes.
#[unsafe(no_mangle)]
extern "C" fn derive(purpose: u32, engine: u32, form: u32, label: usize, out: usize) -> u32 {
    answer(|words| {
        let Parts(head, arguments, results) = split(words, label.div_ceil(8))?;
        let label = seed(form, bytes(arguments).get(..label).ok_or(Refused::Call)?)?;
        let parent = key(engine, head)?;
        let out = bytes_mut(results).get_mut(..out).ok_or(Refused::Call)?;
        let derived = match purpose {
            0 => Key::with_engine(parent.engine(), label).to_raw(),
            1 => parent.child(label).to_raw(),
            _ => {
                parent.expand(label, out);
                return Ok(());
            }
        };
        out.get_mut(..16).ok_or(Refused::Call)?.copy_from_slice(&derived);
        Ok(())
    })
}

fn seed(form: u32, bytes: &[u8]) -> Result<Seed<'_>, Refused> {
    match form {
        0 | 1 => Ok(Seed::integer(form == 1, bytes)),
        2 => Ok(Seed::from(bytes)),
        _ => core::str::from_utf8(bytes).map(Seed::from).map_err(|_| Refused::Call),
    }
}

/// Checks parameters, makes the kind's table, if it has one, in `room` words of the results, and
/// writes the components of an element to the first word: 1 unless elements are vectors.
#[unsafe(no_mangle)]
extern "C" fn prepare(number: u32, parameters: usize, room: usize) -> u32 {
    answer(|words| {
        let kind = kind(number)?;
        let Parts(_, arguments, results) = split(words, parameters)?;
        let room = results.get_mut(..room).ok_or(Refused::Call)?;
        let mut values = read(kind, arguments, given)?;
        let has_buckets = kind.parameters().iter().any(|one| one.form == Form::Buckets);
        let room = match has_buckets {
            true => Room::Buckets(buckets_mut(room)),
            false => Room::Reals(reals_mut(room)),
        };
        if let Some((place, table)) = kind.prepare(values.get(), room)? {
            values.replace(place, table);
        }
        let mut dimension = 1;
        kind.with(values.get(), &mut |made| {
            dimension = made.dimension().map_or(1, |dimension| dimension.get() as u64);
        })?;
        words[0] = dimension;
        Ok(())
    })
}

/// Writes elements to `out` bytes of the results: those at the `indices`, which follow the
/// parameters, or without indices those from `PLACE`'s second word on.
#[unsafe(no_mangle)]
extern "C" fn draw(
    number: u32,
    dtype: u32,
    engine: u32,
    parameters: usize,
    indices: usize,
    out: usize,
) -> u32 {
    answer(|words| {
        let kind = kind(number)?;
        let dtype = u8::try_from(dtype).ok().and_then(Dtype::by_number).ok_or(Refused::Call)?;
        let Parts(head, arguments, results) = split(words, parameters.saturating_add(indices))?;
        let stream = stream(engine, head)?;
        let (parameters, indices) = arguments.split_at(parameters);
        let values = read(kind, parameters, made)?;
        let elements = match indices {
            [] => Elements::From(head[PLACE.start + 1]),
            indices => Elements::At(indices),
        };
        let out = bytes_mut(results).get_mut(..out).ok_or(Refused::Call)?;
        Ok(kinds::draw(kind, values.get(), &stream, elements, Out::bytes(dtype, out)?)?)
    })
}

/// Writes the order of a shuffle of `n` things: where the thing at each place comes from.
#[unsafe(no_mangle)]
extern "C" fn shuffle(engine: u32, n: usize) -> u32 {
    answer(|words| {
        let Parts(head, _, results) = split(words, 0)?;
        let stream = stream(engine, head)?;
        let order = results.get_mut(..n).ok_or(Refused::Call)?;
        order.iter_mut().zip(0..).for_each(|(place, from)| *place = from);
        stream.shuffle(order);
        Ok(())
    })
}

/// Moves the state of xoshiro256++, which the first four words are. Actions are 0 for `n` words, 1
/// for `n` doubles, 2 for `n` jumps and 3 for `n` long jumps.
#[unsafe(no_mangle)]
extern "C" fn xoshiro256pp(action: u32, n: usize) -> u32 {
    answer(|words| {
        let (head, results) = words.split_at_mut_checked(ARGUMENTS).ok_or(Refused::Call)?;
        let state: &mut [u64; 4] = head.try_into().map_err(|_| Refused::Call)?;
        let mut generator = Xoshiro256pp::from_state(*state).ok_or(Refused::Call)?;
        match action {
            0 | 1 => {
                for word in results.get_mut(..n).ok_or(Refused::Call)? {
                    *word = generator.next_u64();
                    if action == 1 {
                        // The upper 53 bits, as a multiple of 2^-53.
                        *word = ((*word >> 11) as f64 * UNIT).to_bits();
                    }
                }
            }
            2 => generator = generator.stream(n as u64),
            3 => generator = generator.node(n as u64),
            _ => return Err(Refused::Call.into()),
        }
        *state = generator.state();
        Ok(())
    })
}
