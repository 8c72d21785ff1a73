//! Generators of reproducible numbers: headwater's streams, and the other fillers of arrays. They
//! are not for secrets, so they have cases of their own.

mod headwater;
#[cfg(feature = "peers")]
mod peers;
mod stream;

use crate::impls::implementation::Implementation;

/// The streams, in the order of the tables.
pub(crate) const ALL: &[&Implementation] = &[
    &headwater::ARS7,
    &headwater::ARS5,
    &headwater::PHILOX,
    &headwater::XOSHIRO,
    &headwater::XOSHIRO_X8,
    &headwater::SFC64,
    &headwater::PCG64DXSM,
    &headwater::XORSHIFT,
    #[cfg(feature = "peers")]
    &peers::XOSHIRO,
    #[cfg(feature = "peers")]
    &peers::PHILOX,
    #[cfg(feature = "peers")]
    &peers::MEMSET,
];

/// The implementations that need Python.
#[cfg(feature = "peers")]
pub(crate) const MORE: &[&Implementation] = super::runtimes::STREAMS;
#[cfg(not(feature = "peers"))]
pub(crate) const MORE: &[&Implementation] = &[];
