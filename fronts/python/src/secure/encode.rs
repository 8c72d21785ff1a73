//! Bytes as text.
//!
//! A reader would index a string of the alphabet. But an index that depends on a secret leaves a
//! trace in the cache. So the alphabets are computed, which the compiler also turns into vector
//! code.

/// Writes two hexadecimal digits for each byte. `text` has twice the length of `bytes`.
#[inline]
pub(super) fn hex(bytes: &[u8], text: &mut [u8]) {
    for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
        pair[0] = digit(byte >> 4);
        pair[1] = digit(byte & 15);
    }
}

#[inline]
fn digit(nibble: u8) -> u8 {
    // 9 - nibble is negative for a to f; the shift makes it a mask of all bits.
    nibble + b'0' + (((9 - nibble as i8) >> 7) as u8 & (b'a' - b'0' - 10))
}

/// Returns the length of `len` bytes in base64 without padding.
pub(super) fn base64_len(len: usize) -> usize {
    len / 3 * 4 + [0, 2, 3][len % 3]
}

/// Writes `bytes` in the URL-safe base64 of RFC 4648 section 5, without padding. `text` has
/// [`base64_len`] bytes.
pub(super) fn base64(bytes: &[u8], text: &mut [u8]) {
    for (four, three) in text.chunks_mut(4).zip(bytes.chunks(3)) {
        let byte = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (index, place) in four.iter_mut().enumerate() {
            *place = character((bits >> (18 - 6 * index)) as u8 & 63);
        }
    }
}

#[inline]
fn character(value: u8) -> u8 {
    // Each step is taken from its first value on: A at 0, a at 26, 0 at 52, - at 62, _ at 63.
    let from = |first: u8, step: i8| (((first as i8 - 1 - value as i8) >> 7) & step) as u8;
    let steps = [from(26, 6), from(52, -75), from(62, -13), from(63, 49)];
    steps.iter().fold(value + b'A', |sum, &step| sum.wrapping_add(step))
}

/// Writes a UUID as text: 8, 4, 4, 4 and 12 hexadecimal digits with hyphens between.
#[inline]
pub(super) fn uuid(bytes: &[u8; 16]) -> [u8; 36] {
    let mut digits = [0; 32];
    hex(bytes, &mut digits);
    let mut text = [b'-'; 36];
    text[..8].copy_from_slice(&digits[..8]);
    text[9..13].copy_from_slice(&digits[8..12]);
    text[14..18].copy_from_slice(&digits[12..16]);
    text[19..23].copy_from_slice(&digits[16..20]);
    text[24..].copy_from_slice(&digits[20..]);
    text
}
