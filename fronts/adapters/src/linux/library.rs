//! The generators of the C library whose state is the library's own: those of `random` and `rand`,
//! which glibc keeps together, and of `drand48`.
//!
//! The functions of which the program has the state (`rand_r`, `random_r`, `erand48`) are not here:
//! nothing says which of its memory is a state.

use super::original::Original;
use super::renew::make_ready;
use core::ffi::{c_char, c_double, c_int, c_long, c_uint, c_ushort, c_void};

type Seed48 = unsafe extern "C" fn(*mut c_ushort) -> *mut c_ushort;
type Srandom = unsafe extern "C" fn(c_uint);

/// Seeds `random` and `rand`, past our own function.
pub(super) fn seed_random(seed: c_uint) {
    // SAFETY: POSIX's signature of srandom(), which takes any number.
    unsafe { core::mem::transmute::<*mut c_void, Srandom>(SRANDOM.address())(seed) };
}

/// Seeds `drand48` and its relatives, past our own function.
pub(super) fn seed_drand48(mut state: [c_ushort; 3]) {
    // SAFETY: POSIX's signature of seed48(), which copies three words.
    unsafe { core::mem::transmute::<*mut c_void, Seed48>(SEED48.address())(state.as_mut_ptr()) };
}

/// Defines functions that call the C library's of the same name, after `make_ready`.
macro_rules! before {
    ($($name:ident, $text:literal: $slot:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $(
            static $slot: Original = Original::new($text);

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
                type Function = unsafe extern "C" fn($($type),*) $(-> $result)?;
                make_ready();
                // SAFETY: the C library's function of this name has this signature (POSIX,
                // stdlib.h). The arguments are the program's own, passed on as they came.
                unsafe {
                    let next = core::mem::transmute::<*mut c_void, Function>($slot.address());
                    next($($argument),*)
                }
            }
        )*
    };
}

before! {
    rand, c"rand": RAND() -> c_int;
    random, c"random": RANDOM() -> c_long;
    drand48, c"drand48": DRAND48() -> c_double;
    lrand48, c"lrand48": LRAND48() -> c_long;
    mrand48, c"mrand48": MRAND48() -> c_long;
    // In a copy they come after the renewal, so that what the program seeds there stays.
    srand, c"srand": SRAND(seed: c_uint);
    srandom, c"srandom": SRANDOM(seed: c_uint);
    initstate, c"initstate": INITSTATE(seed: c_uint, state: *mut c_char, len: usize) -> *mut c_char;
    srand48, c"srand48": SRAND48(seed: c_long);
    seed48, c"seed48": SEED48(state: *mut c_ushort) -> *mut c_ushort;
    lcong48, c"lcong48": LCONG48(state: *mut c_ushort);
}
