//! The library as it is shipped, without hooks.

use crate::plan::Plan;

pub(crate) fn force(_: &Plan) {}

pub(crate) fn arm(_: &Plan) {}

pub(crate) fn open<T>(depth: u32, draw: impl FnOnce() -> T) -> (T, u32) {
    (draw(), depth)
}

pub(crate) fn closed(handler: impl FnOnce()) {
    handler();
}
