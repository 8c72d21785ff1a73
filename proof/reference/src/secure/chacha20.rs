//! ChaCha20 as in RFC 8439: a 96-bit nonce and a 32-bit block counter.

/// Writes the keystream from block `counter` on (RFC 8439, section 2.4).
///
/// The counter wraps around after 2^32 blocks, that is 256 GiB, where the RFC forbids to continue.
pub fn chacha20(key: &[u8; 32], nonce: &[u8; 12], counter: u32, out: &mut [u8]) {
    let mut counter = counter;
    for chunk in out.chunks_mut(64) {
        let keystream = block(key, nonce, counter);
        chunk.copy_from_slice(&keystream[..chunk.len()]);
        counter = counter.wrapping_add(1);
    }
}

/// Computes a block of the keystream, by RFC 8439, section 2.3.
fn block(key: &[u8; 32], nonce: &[u8; 12], counter: u32) -> [u8; 64] {
    let mut input = [0; 64];
    input[..16].copy_from_slice(b"expand 32-byte k");
    input[16..48].copy_from_slice(key);
    input[48..52].copy_from_slice(&counter.to_le_bytes());
    input[52..].copy_from_slice(nonce);

    let initial: [u32; 16] = core::array::from_fn(|i| {
        u32::from_le_bytes(core::array::from_fn(|byte| input[4 * i + byte]))
    });
    let mut state = initial;
    for _ in 0..10 {
        quarter_round(&mut state, 0, 4, 8, 12);
        quarter_round(&mut state, 1, 5, 9, 13);
        quarter_round(&mut state, 2, 6, 10, 14);
        quarter_round(&mut state, 3, 7, 11, 15);
        quarter_round(&mut state, 0, 5, 10, 15);
        quarter_round(&mut state, 1, 6, 11, 12);
        quarter_round(&mut state, 2, 7, 8, 13);
        quarter_round(&mut state, 3, 4, 9, 14);
    }
    core::array::from_fn(|i| state[i / 4].wrapping_add(initial[i / 4]).to_le_bytes()[i % 4])
}

/// Mixes four words of the state by the quarter round of RFC 8439, section 2.1.
fn quarter_round(state: &mut [u32; 16], a: usize, b: usize, c: usize, d: usize) {
    let mut step = |to: usize, from: usize, mixed: usize, bits: u32| {
        state[to] = state[to].wrapping_add(state[from]);
        state[mixed] = (state[mixed] ^ state[to]).rotate_left(bits);
    };
    step(a, b, d, 16);
    step(c, d, b, 12);
    step(a, b, d, 8);
    step(c, d, b, 7);
}
