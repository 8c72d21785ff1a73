//! The primitives for data that threads share: one race in each file.
//!
//! `tests/loom` compiles these files, [`page_state`](crate::linux::pool::page_state) and
//! [`epoch`](crate::linux::guards::fork) as they are and tries every order of every race, and every
//! old value that a load may return. So no file may have a `const fn` that makes an atomic (the
//! model checker's need memory), and no file may name anything of this machine.

pub(crate) mod bitmap;
pub(crate) mod once_ptr;
pub(crate) mod recompute;
pub(crate) mod seqlock;
pub(crate) mod slot_lock;
pub(crate) mod watch_words;
