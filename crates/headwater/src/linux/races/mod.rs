//! What threads race for: one race in each file, which knows nothing but atomics.
//!
//! `tests/loom` compiles these files, [`ledger`](super::ledger) and [`epoch`](super::guard::epoch) as they are
//! and tries every order of every race, and every old value that a load may give. So none of them may have a
//! `const fn` that makes an atomic (the model checker's need memory), and none may name anything of this
//! machine.

#[cfg(feature = "pools")]
pub(crate) mod bits;
pub(crate) mod lock;
pub(crate) mod looks;
pub(crate) mod published;
pub(crate) mod settled;
