//! One call of a generator: the calls that cases make, the check of their output, and what they
//! leave.

pub(crate) mod crowd;
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code))]
pub(crate) mod upper_halves;
pub(crate) mod verify;
pub(crate) mod work;
