//! Splits short texts. `str::split_once` would do the same, but it prepares its search for a long
//! text first, and a line of a log is too short to repay that.

/// Splits at the first `": "`.
pub(super) fn split_at_colon(text: &str) -> Option<(&str, &str)> {
    let colons = memchr::memchr_iter(b':', text.as_bytes());
    let at = colons.into_iter().find(|at| text.as_bytes().get(at + 1) == Some(&b' '))?;
    Some((&text[..at], &text[at + 2..]))
}

/// Splits a short text at the first such ASCII character.
pub(super) fn split_at(text: &str, at: u8) -> Option<(&str, &str)> {
    let place = text.bytes().position(|byte| byte == at)?;
    Some((text.get(..place)?, text.get(place + 1..)?))
}
