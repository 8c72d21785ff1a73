//! Looks for the served bytes themselves on the dead stack, after many draws of every kind.
//!
//! The caller holds what it was served, in its frame or in a buffer, and only the caller can erase
//! that. So the search begins below the caller's stack pointer, where the frames of the library
//! were: no code can find a copy there in order to erase it. Each draw has a caller of its own in
//! this file, which reads its stack pointer right before the draw and moves the result to the room
//! without a call, because one would leave copies of its own.

use crate::cpu;
use crate::draw::stay_on_one_cpu;
use crate::room::Room;
use crate::stack::Stack;
use headwater::{Config, Mode, Rng};
use std::collections::HashSet;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::num::{NonZeroU32, NonZeroU64};
use std::process::ExitCode;

/// Draws of each kind. A page serves 442 words, so some of them fill a page.
const DRAWS: usize = 1000;
/// Numbers are drawn below these bounds, so that a number is the drawn word without its lowest bit.
const HALF_U32: NonZeroU32 = NonZeroU32::new(1 << 31).unwrap();
const HALF_U64: NonZeroU64 = NonZeroU64::new(1 << 63).unwrap();

/// The order for a caller on the painted stack.
struct Order {
    draw: Caller,
    /// Where the served bytes go.
    at: *mut u8,
    len: usize,
    rng: Rng,
    c: Option<C>,
    /// The caller's stack pointer.
    below: usize,
    failed: bool,
}

/// Draws on the painted stack.
type Caller = fn(&mut Order);
/// Lists the words that disclose served bytes, wherever they lie.
type Traces = fn(&[u8]) -> Vec<u64>;

/// One kind of draw.
struct Kind {
    name: String,
    draw: Caller,
    len: usize,
    traces: Traces,
}

type Fill = unsafe extern "C" fn(*mut c_void, usize) -> c_int;
type Getrandom = unsafe extern "C" fn(*mut c_void, usize, c_uint) -> isize;
type Arc4random = unsafe extern "C" fn() -> u32;
type Uniform = unsafe extern "C" fn(u32) -> u32;
type Buf = unsafe extern "C" fn(*mut c_void, usize);

/// The functions of libheadwater.so.
struct C {
    fill: Fill,
    getrandom: Getrandom,
    getentropy: Fill,
    arc4random: Arc4random,
    uniform: Uniform,
    buf: Buf,
}

/// Defines a caller: notes the stack pointer, draws, and moves the value to the room.
macro_rules! caller {
    ($name:ident, |$order:ident| $draw:expr) => {
        #[inline(never)]
        fn $name($order: &mut Order) {
            // The frame is there from here on. The compiler may otherwise make it after the stack
            // pointer was noted, and the caller's own copy would lie below.
            std::hint::black_box(&0u8);
            $order.below = cpu::stack_pointer();
            match $draw {
                Ok(value) => {
                    // SAFETY: the room at `at` has space for every kind of value, whose bytes are
                    // all initialised.
                    unsafe {
                        cpu::copy((&raw const value).cast(), $order.at, size_of_val(&value));
                    }
                }
                Err(_) => $order.failed = true,
            }
        }
    };
    ($name:ident, fills |$order:ident, $bytes:ident| $draw:expr) => {
        #[inline(never)]
        fn $name($order: &mut Order) {
            // SAFETY: the room has this space, and no other reference to it exists.
            let $bytes = unsafe { std::slice::from_raw_parts_mut($order.at, $order.len) };
            $order.below = cpu::stack_pointer();
            if !$draw {
                $order.failed = true;
            }
        }
    };
}

caller!(word, |_order| headwater::u64());
caller!(half, |_order| headwater::u32());
caller!(u64_below, |_order| headwater::u64_below(HALF_U64));
caller!(u32_below, |_order| headwater::u32_below(HALF_U32));
caller!(array_8, |_order| headwater::array::<8>());
caller!(array_12, |_order| headwater::array::<12>());
caller!(array_16, |_order| headwater::array::<16>());
caller!(array_32, |_order| headwater::array::<32>());
caller!(array_100, |_order| headwater::array::<100>());
caller!(v4, |_order| headwater::uuid::v4());
caller!(v7, |_order| headwater::uuid::v7());
caller!(fill, fills | order, bytes | headwater::fill(bytes).is_ok());
caller!(try_fill, fills | order, bytes | headwater::try_fill(bytes).is_ok());
caller!(fill_fresh, fills | order, bytes | headwater::fill_fresh(bytes).is_ok());
caller!(rng_word, |order| Ok::<u64, ()>(order.rng.next_u64()));
caller!(rng_half, |order| Ok::<u32, ()>(order.rng.next_u32()));
caller!(rng_u64_below, |order| order.rng.u64_below(HALF_U64));
caller!(rng_u32_below, |order| order.rng.u32_below(HALF_U32));
caller!(rng_fill, fills | order, bytes | order.rng.fill(bytes).is_ok());

/// Calls a function of the C library.
macro_rules! c {
    ($order:ident, $name:ident $(, $argument:expr)*) => {
        // SAFETY: the functions were found by their names and have these types; buffers are in the
        // room. Without the library no kind of draw calls them.
        unsafe { ($order.c.as_ref().unwrap_unchecked().$name)($($argument),*) }
    };
}

caller!(c_fill, fills | order, bytes | c!(order, fill, bytes.as_mut_ptr().cast(), order.len) == 0);
caller!(
    c_getrandom,
    fills | order,
    bytes | { c!(order, getrandom, bytes.as_mut_ptr().cast(), order.len, 0) == order.len as isize }
);
caller!(
    c_getentropy,
    fills | order,
    bytes | { c!(order, getentropy, bytes.as_mut_ptr().cast(), order.len) == 0 }
);
caller!(
    c_buf,
    fills | order,
    bytes | {
        c!(order, buf, bytes.as_mut_ptr().cast(), order.len);
        true
    }
);
caller!(c_arc4random, |order| Ok::<u32, ()>(c!(order, arc4random)));
caller!(c_uniform, |order| Ok::<u32, ()>(c!(order, uniform, HALF_U32.get())));

// The control: a function that leaves a copy. A search that does not find it is blind.
caller!(control, |_order| leaves_a_copy());

#[inline(never)]
fn leaves_a_copy() -> Result<u64, ()> {
    let mut copy = [0u64; 4];
    let word = headwater::u64().map_err(drop)?;
    // SAFETY: a store to our own array, which the compiler cannot remove.
    unsafe { cpu::store((&raw mut copy).cast(), word) };
    Ok(word)
}

/// Lists each 8 bytes, and the last 8 again.
fn words(served: &[u8]) -> Vec<u64> {
    let chunks = served.as_chunks().0.iter().chain(served.last_chunk());
    chunks.map(|&word| u64::from_le_bytes(word)).collect()
}

/// Lists the four bytes at the beginning and those at the end.
fn halves(served: &[u8]) -> Vec<u64> {
    let halves = served.first_chunk().into_iter().chain(served.last_chunk());
    halves.map(|&half| u64::from(u32::from_le_bytes(half))).collect()
}

/// Lists a number of 64 bits, and the two words that it can come from.
fn number(served: &[u8]) -> Vec<u64> {
    words(served).into_iter().flat_map(|n| [n, n << 1, n << 1 | 1]).collect()
}

/// Lists a number of 32 bits, and the two words that it can come from.
fn half_number(served: &[u8]) -> Vec<u64> {
    halves(served).into_iter().flat_map(|n| [n, n << 1, n << 1 | 1]).collect()
}

/// Lists both words of a UUID, with each value of the bits that are not random.
fn version_4(served: &[u8]) -> Vec<u64> {
    let all = words(served);
    let first = (0..16).map(|bits| all[0] & !(0xF << 52) | bits << 52);
    first.chain(version_7(served)).collect()
}

/// Lists the second word of a UUID, with each value of the bits that are not random.
fn version_7(served: &[u8]) -> Vec<u64> {
    let word = words(served)[1];
    (0..4).map(|bits| word & !(0b11 << 6) | bits << 6).collect()
}

/// Lists the kinds of draws of the Rust library.
fn kinds() -> Vec<Kind> {
    let values: [(&str, Caller, usize, Traces); 17] = [
        ("control", control, 8, words),
        ("u64", word, 8, words),
        ("u32", half, 4, halves),
        ("u64_below", u64_below, 8, number),
        ("u32_below", u32_below, 4, half_number),
        ("array 8", array_8, 8, words),
        ("array 12", array_12, 12, words),
        ("array 16", array_16, 16, words),
        ("array 32", array_32, 32, words),
        ("array 100", array_100, 100, words),
        ("uuid v4", v4, 16, version_4),
        ("uuid v7", v7, 16, version_7),
        ("Rng u64", rng_word, 8, words),
        ("Rng u32", rng_half, 4, halves),
        ("Rng u64_below", rng_u64_below, 8, number),
        ("Rng u32_below", rng_u32_below, 4, half_number),
        ("fill_fresh 32", fill_fresh, 32, words),
    ];
    let mut all: Vec<Kind> = Vec::new();
    for (name, draw, len, traces) in values {
        all.push(Kind { name: name.into(), draw, len, traces });
    }
    for len in [4, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 48, 64, 100, 256, 1000, 1024, 4096] {
        filling(&mut all, "fill", fill, len);
        filling(&mut all, "Rng fill", rng_fill, len);
    }
    filling(&mut all, "try_fill", try_fill, 16);
    all
}

/// Lists the kinds of draws of the C library.
fn c_kinds() -> Vec<Kind> {
    let mut all = vec![
        Kind { name: "control".into(), draw: control, len: 8, traces: words },
        Kind { name: "arc4random".into(), draw: c_arc4random, len: 4, traces: halves },
        Kind { name: "arc4random_uniform".into(), draw: c_uniform, len: 4, traces: half_number },
    ];
    for len in [4, 8, 12, 16, 24, 32, 256] {
        filling(&mut all, "fill", c_fill, len);
        filling(&mut all, "getrandom", c_getrandom, len);
        filling(&mut all, "getentropy", c_getentropy, len);
        filling(&mut all, "arc4random_buf", c_buf, len);
    }
    all
}

fn filling(all: &mut Vec<Kind>, name: &str, draw: Caller, len: usize) {
    let traces: Traces = if len < 8 { halves } else { words };
    all.push(Kind { name: format!("{name} {len}"), draw, len, traces });
}

/// Draws every kind of `shortest` bytes and more many times, and prints how often the served bytes
/// lay on the dead stack. With a C library, that one draws in place of this program's own copy.
pub fn run(mode: Mode, forced: &[String], library: Option<&str>, shortest: usize) -> ExitCode {
    stay_on_one_cpu();
    let room = crate::room::new();
    let mut stack = Stack::new();
    headwater::init_with(Config::new().mode(mode)).expect("the library can be set up");
    let mut order = Order {
        draw: control,
        // SAFETY: the room is mapped for as long as the process lives.
        at: unsafe { &raw mut (*room).served }.cast(),
        len: 0,
        rng: Rng::new().expect("a handle can be had"),
        c: library.map(open),
        below: 0,
        failed: false,
    };
    let status = headwater::status();
    let forced = if forced.is_empty() { "-".to_owned() } else { forced.join(",") };
    let cipher = if library.is_some() { "C" } else { status.cipher };
    let mut is_bad = false;
    let mut clean = 0;
    let mut all = if library.is_some() { c_kinds() } else { kinds() };
    // A UUID of version 7 has 8 random bytes.
    all.retain(|kind| {
        kind.name == "control" || kind.len >= shortest && (shortest == 0 || kind.name != "uuid v7")
    });
    for kind in all {
        let (found, place) = look(&kind, &mut stack, room, &mut order);
        // Four bytes are somewhere by chance once in a thousand runs of a kind.
        let limit = usize::from(kind.len < 8);
        let is_fault = if kind.name == "control" { found < DRAWS } else { found > limit };
        is_bad |= is_fault;
        clean += usize::from(found == 0);
        if found > 0 && kind.name != "control" || is_fault {
            println!(
                "{forced:<10} {cipher:<28} {:<8} {:<20} {found:>5} of {DRAWS} draws, first {place} bytes \
                 below the caller",
                mode.name(),
                kind.name
            );
        }
    }
    println!("{forced:<10} {cipher:<28} {:<8} {clean} kinds of draw left nothing", mode.name());
    ExitCode::from(u8::from(is_bad))
}

/// Returns how many draws left served bytes, and how far below the caller the first of them were.
fn look(kind: &Kind, stack: &mut Stack, room: *mut Room, order: &mut Order) -> (usize, usize) {
    (order.draw, order.len) = (kind.draw, kind.len);
    let (mut found, mut place) = (0, 0);
    stack.paint();
    for _ in 0..DRAWS {
        // SAFETY: `begin` takes an order, which lives; the registers have their place in the room.
        unsafe { stack.call(begin, order, &raw mut (*room).saved) };
        assert!(!order.failed, "the library refused to draw");
        // SAFETY: the bytes that were just drawn, in the room, to which no reference exists.
        let served = unsafe { std::slice::from_raw_parts(order.at, kind.len) };
        let traces: HashSet<u64> = (kind.traces)(served).into_iter().collect();
        let mask = if kind.len < 8 { u64::from(u32::MAX) } else { u64::MAX };
        if let Some(at) = stack.find(order.below, mask, &traces) {
            found += 1;
            place = if found == 1 { order.below - at } else { place };
        }
        stack.repaint();
    }
    (found, place)
}

/// Runs on the painted stack.
unsafe extern "C" fn begin(order: *mut Order) {
    // SAFETY: `look` hands over an order that no other code uses.
    let order = unsafe { &mut *order };
    (order.draw)(order);
}

/// Opens libheadwater.so.
fn open(path: &str) -> C {
    let path = CString::new(path).expect("a path");
    // SAFETY: opens a library whose constructors do nothing.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    assert!(!library.is_null(), "{path:?} cannot be opened");
    let find = |name: &[u8]| {
        // SAFETY: an open library and a C string.
        let found = unsafe { libc::dlsym(library, name.as_ptr().cast::<c_char>()) };
        assert!(!found.is_null(), "a function is missing");
        found
    };
    // SAFETY: the header declares the functions of these names with these types.
    unsafe {
        use std::mem::transmute;
        C {
            fill: transmute::<*mut c_void, Fill>(find(b"headwater_fill\0")),
            getrandom: transmute::<*mut c_void, Getrandom>(find(b"headwater_getrandom\0")),
            getentropy: transmute::<*mut c_void, Fill>(find(b"headwater_getentropy\0")),
            arc4random: transmute::<*mut c_void, Arc4random>(find(b"headwater_arc4random\0")),
            uniform: transmute::<*mut c_void, Uniform>(find(b"headwater_arc4random_uniform\0")),
            buf: transmute::<*mut c_void, Buf>(find(b"headwater_arc4random_buf\0")),
        }
    }
}
