//! The keys that the library reports, written down without a copy on the way.

use crate::room::{KEYS, Room};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

static ROOM: AtomicPtr<Room> = AtomicPtr::new(null_mut());

/// Makes the library report each key from now on.
pub fn listen(room: *mut Room) {
    ROOM.store(room, Ordering::Release);
    headwater::testing::set_key_witness(Some(note));
}

/// Writes a key down without a copy of it in a register or on the stack.
fn note(key: &[u8; 32]) {
    let room = ROOM.load(Ordering::Acquire);
    // SAFETY: `listen` stored the room, which stays mapped; the process has one thread that draws.
    // The copy is of 32 bytes to a place within the array.
    unsafe {
        let told = (*room).told as usize;
        let to = (&raw mut (*room).keys[told % KEYS]).cast::<u8>();
        crate::cpu::copy(key.as_ptr(), to, key.len());
        (*room).told += 1;
    }
}
