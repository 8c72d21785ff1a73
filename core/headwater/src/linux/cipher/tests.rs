//! The backends against `reference`, and against the authors' published vectors.

use super::*;
#[cfg(not(miri))]
use crate::linux::pool::copy::tests::Edge;

/// Returns lengths around each boundary that a backend has: the block (16), a register of two or
/// four (32, 64), a strip (128, 256, 512), the scratch buffer of ChaCha20 (256), a page's stream
/// (3584) and a chunk.
fn lengths() -> impl Iterator<Item = usize> {
    let around = [16, 32, 64, 128, 256, 384, 512, 1024, 3536, 3584, 4096, 65_536];
    let around = around.into_iter().flat_map(|len| [len - 1, len, len + 1, len + 7]);
    (0..=70).chain(around).chain([1 << 20])
}

/// Writes `len` bytes of keystream under `key` from counter block `start` on.
///
/// # Safety
///
/// The CPU can run `backend`, and `out` is writable for `len` bytes.
unsafe fn keystream(backend: Backend, key: &[u8; 32], start: [u8; 16], out: *mut u8, len: usize) {
    let half = |at: usize| <[u8; 8]>::try_from(&start[at..at + 8]).unwrap();
    let first = match backend {
        Backend::ChaCha => {
            assert_eq!(start[12..], [0; 4], "the last word of the nonce is always zero here");
            let counter = u32::from_le_bytes(start[..4].try_into().unwrap());
            [u64::from(counter), u64::from_le_bytes(start[4..12].try_into().unwrap())]
        }
        _ => [u64::from_be_bytes(half(8)), u64::from_be_bytes(half(0))],
    };
    let mut work = Workspace::empty();
    // SAFETY: the workspace's arrays have the lengths and the alignment that both calls want; `out`
    // and the CPU are asked of this function's callers.
    unsafe {
        backend.expand(key.as_ptr(), work.round_keys.as_mut_ptr());
        backend.stream(work.round_keys.as_ptr(), first, out, len);
    }
}

fn check(backend: Backend, key: &[u8; 32], start: [u8; 16]) {
    let mut expected = vec![0; lengths().max().unwrap()];
    match backend {
        Backend::ChaCha => {
            let (counter, nonce) = start.split_at(4);
            let counter = u32::from_le_bytes(counter.try_into().unwrap());
            reference::chacha20(key, nonce.try_into().unwrap(), counter, &mut expected);
        }
        _ => reference::aes256_ctr(key, start, &mut expected),
    }
    for len in lengths() {
        // One guard byte on each side, and every alignment within a block.
        for shift in [0, 1, 8, 15] {
            let mut out = vec![0xA5; len + shift + 2];
            // SAFETY: the buffer holds `shift + 1 + len + 1` bytes; it is called if the CPU can.
            unsafe { keystream(backend, key, start, out.as_mut_ptr().add(shift + 1), len) };
            assert_eq!(out[shift], 0xA5, "{backend:?} wrote before {len} bytes");
            assert_eq!(out[shift + 1 + len], 0xA5, "{backend:?} wrote after {len} bytes");
            assert!(out[shift + 1..][..len] == expected[..len], "{backend:?}, {len} bytes");
            if len > 4096 {
                break;
            }
        }
    }
}

/// Returns the backends of this CPU, including those that a better one hides.
fn backends() -> impl Iterator<Item = Backend> {
    let features = Features::detect();
    if Backend::all(features).count() < 4 {
        println!("skipped: backends that this CPU cannot run are not checked");
    }
    Backend::all(features)
}

#[test]
fn every_backend_equals_the_reference() {
    let key = core::array::from_fn(|i| (i * 7 + 3) as u8);
    for backend in backends() {
        check(backend, &[0; 32], [0; 16]);
        check(backend, &key, [0; 16]);
        let mut start = [0x5A; 16];
        // The low counter bytes carry within the first blocks.
        start[8..].copy_from_slice(&0x00FF_FFFF_FFFF_FFFE_u64.to_be_bytes());
        if backend == Backend::ChaCha {
            start[..4].copy_from_slice(&0x0001_FFFE_u32.to_le_bytes());
            start[12..].fill(0);
        }
        check(backend, &key, start);
    }
}

/// Lengths, counters, nonces and places by chance, each at the end of a page that nothing follows:
/// neither a load nor a store goes beyond it.
#[test]
#[cfg(not(miri))] // which has no mprotect
fn every_backend_equals_the_reference_by_chance() {
    let mut state = 0x243F_6A88_85A3_08D3_u64;
    let mut word = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    };
    let (out, keys) = (Edge::new(), Edge::new());
    for backend in backends() {
        for case in 0..400 {
            let words: [u64; 8] = core::array::from_fn(|_| word());
            let key: [u8; 32] = core::array::from_fn(|i| words[i / 8].to_le_bytes()[i % 8]);
            let len = (words[4] % if case % 8 == 0 { 5000 } else { 600 }) as usize;
            let mut first = [words[5], words[6]];
            // Some that carry out of their lowest bytes, and some near the last block of all.
            let blocks = len.div_ceil(64) as u64;
            first[0] = match case % 4 {
                0 => first[0] >> 32,
                1 => 1 << 20,
                2 => (words[7] & 0xFFFF_0000) | 0xFFFE,
                _ => (1 << 32) - blocks - 8,
            };
            let mut expected = vec![0; len];
            if backend.is_aes() {
                first[0] |= words[7] << 32;
                let start = (u128::from(first[1]) << 64 | u128::from(first[0])).to_be_bytes();
                reference::aes256_ctr(&key, start, &mut expected);
            } else {
                let mut nonce = [0; 12];
                nonce[..8].copy_from_slice(&first[1].to_le_bytes());
                reference::chacha20(&key, &nonce, first[0] as u32, &mut expected);
            }
            let mut work = Workspace::empty();
            // SAFETY: the workspace's array, and `len` bytes before the edge. The round keys of AES
            // are 240 bytes, a multiple of 16; the key of ChaCha20 is read as 32 bytes.
            let made = unsafe {
                backend.expand(key.as_ptr(), work.round_keys.as_mut_ptr());
                let size = if backend.is_aes() { ROUND_KEYS } else { 32 };
                let at = keys.back(size);
                at.copy_from_nonoverlapping(work.round_keys.as_ptr(), size);
                out.back(len + 1).write(0xA5);
                backend.stream(at, first, out.back(len), len);
                assert_eq!(out.back(len + 1).read(), 0xA5, "{backend:?}, before {len} bytes");
                std::slice::from_raw_parts(out.back(len), len)
            };
            assert!(made == expected, "{backend:?}, {len} bytes from {first:x?} on");
        }
    }
}

/// A key and its stream are where the caller wants them, and nowhere else.
#[test]
#[cfg(all(target_arch = "aarch64", not(miri)))]
fn no_register_holds_keys_or_keystream() {
    use crate::linux::pool::copy::tests::registers;
    for backend in backends() {
        for len in [1usize, 15, 16, 17, 63, 64, 100, 256, 500, 1024] {
            let (mut work, mut out) = (Workspace::empty(), [0u64; 128]);
            work.seed = core::array::from_fn(|i| (i as u8).wrapping_mul(91).wrapping_add(7));
            let seed = core::hint::black_box(&work.seed).to_vec();
            registers::clear();
            // SAFETY: the workspace's own arrays; the CPU can.
            unsafe { backend.derive(work.seed.as_mut_ptr(), work.round_keys.as_mut_ptr()) };
            let after_derive = registers::saved();
            // SAFETY: an expanded key, and at most 1024 bytes of ours.
            unsafe {
                backend.stream(work.round_keys.as_ptr(), [0; 2], out.as_mut_ptr().cast(), len);
            };
            let after_stream = registers::saved();
            // SAFETY: 1024 bytes of ours.
            unsafe {
                backend.stream(work.round_keys.as_ptr(), [0; 2], out.as_mut_ptr().cast(), 1024);
            };
            let mut secrets: Vec<u64> = out.to_vec();
            for bytes in [&seed[..], &work.round_keys[..]] {
                let words = bytes.as_chunks().0.iter();
                secrets
                    .extend(words.map(|&word| u64::from_ne_bytes(word)).filter(|&word| word != 0));
            }
            for held in after_derive.into_iter().chain(after_stream) {
                assert!(!secrets.contains(&held), "{backend:?}, {len} bytes: {held:x} is left");
            }
        }
    }
}

#[test]
fn a_derived_key_equals_the_reference() {
    for backend in backends() {
        for salt in 0..50u8 {
            let mut seed: [u8; SEED] =
                core::array::from_fn(|i| (i as u8).wrapping_mul(37).wrapping_add(salt));
            // The last block that ChaCha20 can count, which the `chacha20` crate refuses.
            if salt == 49 && cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
                seed[32..36].fill(0xFF);
            }
            let expected = if backend.is_aes() {
                reference::derived_key(&seed)
            } else {
                reference::derived_key_chacha20(&seed)
            };
            let (mut derived, mut expanded) = (Workspace::empty(), Workspace::empty());
            derived.seed = seed;
            // SAFETY: the workspaces' own arrays; the CPU can.
            unsafe {
                backend.derive(derived.seed.as_mut_ptr(), derived.round_keys.as_mut_ptr());
                backend.expand(expected.as_ptr(), expanded.round_keys.as_mut_ptr());
            }
            assert_eq!(derived.round_keys, expanded.round_keys, "{backend:?}");
            assert_eq!(derived.seed, [0; SEED], "{backend:?} leaves the seed");
        }
    }
}

#[test]
fn a_mix_differs_by_each_of_its_parts() {
    let mix = |mut words: [u64; 2], cycles, epoch, cpu| {
        let mut to = [0; 4];
        // SAFETY: an array of 32 bytes.
        unsafe { write_mix(to.as_mut_ptr(), &mut words, cycles, epoch, cpu) };
        assert_eq!(words, [0; 2], "the words are still there");
        to
    };
    let others = [
        mix([9, 2], 10, 20, 30),
        mix([1, 9], 10, 20, 30),
        mix([1, 2], 11, 20, 30),
        mix([1, 2], 10, 21, 30),
        mix([1, 2], 10, 20, 31),
    ];
    let plain = mix([1, 2], 10, 20, 30);
    assert!(others.iter().all(|&other| other != plain));
    let [a, b, c, d] = mix([0; 2], 10, 20, 30);
    assert_ne!([a, b], [c, d], "the two blocks of a mix without random words");
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

/// NIST SP 800-38A, appendix F.5.5 (CTR-AES256.Encrypt).
#[test]
fn nist_sp_800_38a_ctr_aes256() {
    let key = unhex("603deb1015ca71be2b73aef0857d7781 1f352c073b6108d72d9810a30914dff4");
    let start = unhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let plain = unhex(
        "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
         30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710",
    );
    let cipher = unhex(
        "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
         2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6",
    );
    for backend in backends().filter(|backend| backend.is_aes()) {
        let mut stream = [0; 64];
        let (key, start) = (key[..].try_into().unwrap(), start[..].try_into().unwrap());
        // SAFETY: 64 bytes; the CPU can.
        unsafe { keystream(backend, &key, start, stream.as_mut_ptr(), 64) };
        let masked: Vec<u8> = plain.iter().zip(stream).map(|(a, b)| a ^ b).collect();
        assert_eq!(masked, cipher, "{backend:?}");
    }
}

/// RFC 8439, section 2.3.2.
#[test]
fn rfc_8439_chacha20_block() {
    let key: Vec<u8> = (0..32).collect();
    let start = unhex("01000000 000000090000004a00000000");
    let expected = unhex(
        "10f1e7e4d13b5915500fdd1fa32071c4 c7d1f4c733c068030422aa9ac3d46c4e
         d2826446079faa0914c2d705d98b02a2 b5129cd1de164eb9cbd083e8a2503c4e",
    );
    let mut stream = [0; 64];
    let (key, start) = (key[..].try_into().unwrap(), start[..].try_into().unwrap());
    // SAFETY: 64 bytes; ChaCha20 runs everywhere.
    unsafe { keystream(Backend::ChaCha, &key, start, stream.as_mut_ptr(), 64) };
    assert_eq!(stream[..], expected[..]);
}

#[test]
fn a_workspace_is_erased_when_dropped() {
    let mut work = Workspace::empty();
    work.seed.fill(0xFF);
    work.round_keys.fill(0xFF);
    let mut work = core::mem::ManuallyDrop::new(work);
    // SAFETY: dropped once here, and never again; its memory is still ours to look at.
    unsafe { core::mem::ManuallyDrop::drop(&mut work) };
    assert!(work.seed == [0; SEED] && work.round_keys == [0; ROUND_KEYS]);
}
