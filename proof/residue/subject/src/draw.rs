//! The kinds of draws, and the order of events: set up, draw, report, wait, draw on.

use crate::room::{LATER, LONGEST, Room};
use crate::stack::Stack;
use headwater::{Config, Mode, Rng};
use std::mem::offset_of;

/// The number of secrets that the theft is about.
const SECRETS: usize = 100;
/// A small draw.
const SMALL: usize = 16;
/// Draws after which some page must have been filled again.
const ENOUGH: usize = 4096;

/// The order for the code on the painted stack.
struct Order {
    /// Where the bytes go.
    at: *mut u8,
    len: usize,
    /// True if keys for this request alone are asked for.
    fresh: bool,
    /// The handle that serves the bytes; without one the free functions do.
    handle: Option<Rng>,
    failed: bool,
}

/// Draws `what` in `mode`, prints where everything lies, and waits before it draws on.
pub fn run(what: &str, mode: Mode) {
    stay_on_one_cpu();
    let room = crate::room::new();
    let mut stack = Stack::new();
    #[cfg(feature = "witness")]
    crate::witness::listen(room);
    if what != "first" {
        headwater::init_with(Config::new().mode(mode)).expect("the library can be set up");
    }
    tell_places(&stack, room);
    let mut order = Order {
        // SAFETY: the room is mapped for as long as the process lives.
        at: unsafe { &raw mut (*room).served }.cast(),
        len: if what == "large" { LONGEST } else { SMALL },
        fresh: what == "fresh",
        handle: (what == "handle").then(|| Rng::new().expect("a handle can be had")),
        failed: false,
    };
    let until_refilled = matches!(what, "refill" | "steal") && mode != Mode::Strict;
    for _ in 0..ENOUGH {
        let before = if until_refilled { refills() } else { 0 };
        stack.paint();
        draw_on(&mut stack, room, &mut order);
        if !until_refilled || refills() != before {
            break;
        }
    }
    let mut served = order.len;
    if what == "steal" {
        for _ in 1..SECRETS {
            // SAFETY: the room for what is served has space for far more secrets than these.
            order.at = unsafe { order.at.add(SMALL) };
            draw_on(&mut stack, room, &mut order);
            served += SMALL;
        }
    }
    // SAFETY: both parts of the room are mapped, and no reference to them exists.
    unsafe {
        write(&(served as u64).to_le_bytes());
        write(std::slice::from_raw_parts((&raw const (*room).served).cast(), served));
    }
    wait();
    draw_later(room, &mut order);
    let status = headwater::status();
    println!("{}|{}", status.mode, status.cipher);
}

/// Draws once on the painted stack.
fn draw_on(stack: &mut Stack, room: *mut Room, order: &mut Order) {
    // SAFETY: `draw` takes an order, which lives; the registers have their place in the room.
    unsafe { stack.call(draw, order, &raw mut (*room).saved) };
    assert!(!order.failed, "the library refused to draw");
}

/// Draws as ordered: all that runs on the painted stack besides the library.
unsafe extern "C" fn draw(order: *mut Order) {
    // SAFETY: the caller hands over an order that no other code uses, with room for its bytes.
    let (order, bytes) = unsafe {
        let order = &mut *order;
        let bytes = std::slice::from_raw_parts_mut(order.at, order.len);
        (order, bytes)
    };
    let done = match &mut order.handle {
        Some(handle) => handle.fill(bytes),
        None if order.fresh => headwater::fill_fresh(bytes),
        None => headwater::fill(bytes),
    };
    order.failed = done.is_err();
}

/// Draws on, on the ordinary stack, so that the rest of the page becomes known.
fn draw_later(room: *mut Room, order: &mut Order) {
    // SAFETY: this part of the room is mapped, and no other code uses it.
    let later = unsafe { &mut (*room).later };
    for bytes in later.chunks_exact_mut(SMALL) {
        match &mut order.handle {
            Some(handle) => handle.fill(bytes),
            None => headwater::fill(bytes),
        }
        .expect("what has drawn once draws again");
    }
    write(&(LATER as u64).to_le_bytes());
    write(later);
}

/// Counts the pages that were filled so far.
fn refills() -> u64 {
    headwater::status().counters.refills
}

/// Prints where the searching program finds stack, registers, room and the reported keys.
fn tell_places(stack: &Stack, room: *mut Room) {
    let (base, size) = stack.place();
    let room = room as usize;
    println!(
        "{base} {size} {} {} {room} {} {}",
        room + offset_of!(Room, saved),
        size_of::<crate::cpu::Saved>(),
        size_of::<Room>(),
        room + offset_of!(Room, told),
    );
}

/// Keeps the process on the CPU it is on: pages belong to CPUs, and one page is looked at.
pub fn stay_on_one_cpu() {
    // SAFETY: a set of CPUs is plain bits, and the call reads no more than its size.
    unsafe {
        let mut cpus: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu() as usize, &mut cpus);
        libc::sched_setaffinity(0, size_of_val(&cpus), &cpus);
    }
}

/// Writes all bytes to standard output, by system calls alone.
fn write(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the bytes are readable.
        let count = unsafe { libc::write(1, bytes.as_ptr().cast(), bytes.len()) };
        bytes = &bytes[usize::try_from(count).expect("somebody listens")..];
    }
}

/// Waits until it was looked at; at the letter `a` the process aborts, and the kernel dumps it.
fn wait() {
    let mut letter = 0u8;
    // SAFETY: one byte of ours.
    let count = unsafe { libc::read(0, (&raw mut letter).cast(), 1) };
    if count == 1 && letter == b'a' {
        std::process::abort();
    }
    assert_eq!(count, 1, "the searching program says when it is done");
}
