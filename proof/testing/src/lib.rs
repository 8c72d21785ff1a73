//! Support for the tests of several crates. Other crates depend on it only for their tests.
//!
//! The crate does not depend on `headwater`: the core's own tests use it, and a second copy of the
//! core in the same process would have pools of its own. It depends on nothing but `libc`, because
//! every configuration of the core's tests compiles it, and because a dependency with generic
//! comparisons (`serde_json`) would make literals in those tests ambiguous.

#[cfg(target_os = "linux")]
pub mod children;
#[cfg(target_os = "linux")]
pub mod jump;
#[cfg(target_os = "linux")]
pub mod machine;
#[cfg(target_os = "linux")]
pub mod memory;
pub mod words;
