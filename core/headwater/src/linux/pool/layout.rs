//! The layout of a page. Larger hardware pages leave the rest unused.

/// The number of the refill. If it differs from the state's number, the page was dropped or
/// cleared.
pub(crate) const TAG: usize = 0;
/// The reseed generation before the page's key was drawn. Only sections read it: the draws of slots
/// and handles find it in their state.
pub(crate) const GENERATION: usize = 8;
/// VMClock's marker before the page's key was drawn. Only sections read it.
pub(crate) const MARKER: usize = 16;
/// The number of further refills whose key this page's own stream may begin; see
/// [`chain`](crate::linux::pool::chain).
pub(crate) const LINKS: usize = 24;
/// The vDSO's state, which keys the refills of this page.
pub(crate) const STATE: usize = 64;
pub(crate) const STATE_ROOM: usize = 192;
/// The hedge key, expanded.
pub(crate) const ROUND_KEYS: usize = 256;
/// The keystream of a refill, from here to the end. Its first 32 bytes become the hedge key, or
/// stay as the beginning of the next refill's seed. Before that the seed of the refill's key lies
/// here.
pub(crate) const STREAM: usize = 512;
pub(crate) const DATA: usize = STREAM + 32;
/// The number of bytes served. 16 more follow them, so that a window of 16 bytes can be
/// read at any byte.
pub(crate) const CAPACITY: usize = PAGE - DATA - 16;
/// Where the bytes begin that sections serve, from the page's end downwards. The end is aligned, so
/// that requests of 32 bytes and their multiples cross no cache line as long as nothing else is
/// drawn in between.
pub(crate) const SERVED: usize = PAGE - CAPACITY;
pub(crate) const PAGE: usize = 4096;

const _: () = assert!(MARKER + 8 <= LINKS && LINKS + 8 <= STATE);
const _: () = assert!(STATE + STATE_ROOM <= ROUND_KEYS);
const _: () = assert!(ROUND_KEYS + 240 <= STREAM && ROUND_KEYS.is_multiple_of(16));
const _: () =
    assert!((PAGE - STREAM).is_multiple_of(512), "the cipher works in strips of 512 bytes");
const _: () = assert!(CAPACITY.is_multiple_of(8) && DATA.is_multiple_of(16));
const _: () = assert!(
    SERVED >= STREAM + 48,
    "no draw can serve the hedge key or the next key, or erase the first three blocks of a seed"
);
