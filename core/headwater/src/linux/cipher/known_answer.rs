//! A backend computes a known answer before it makes its first key.
//!
//! Some CPUs and emulators execute an instruction and return something else. QEMU 7.2, which Debian
//! 12 ships, emulates the AES instructions on 256-bit registers so that both halves of a register
//! become the same block: every 16 bytes of keystream would be served twice. CPUID does not show
//! that, so a backend must prove itself before it is chosen.

use super::{Backend, Workspace};
use crate::linux::failpoint::{Force, forced};

/// NIST SP 800-38A, appendix F.5.5: a key, a counter's lower and upper half, and the keystream of
/// AES-256 in counter mode from that counter on.
static KEY: [u8; 32] = [
    0x60, 0x3D, 0xEB, 0x10, 0x15, 0xCA, 0x71, 0xBE, 0x2B, 0x73, 0xAE, 0xF0, 0x85, 0x7D, 0x77, 0x81,
    0x1F, 0x35, 0x2C, 0x07, 0x3B, 0x61, 0x08, 0xD7, 0x2D, 0x98, 0x10, 0xA3, 0x09, 0x14, 0xDF, 0xF4,
];
const FIRST: [u64; 2] = [0xF8F9_FAFB_FCFD_FEFF, 0xF0F1_F2F3_F4F5_F6F7];
const KEYSTREAM: [Block; 4] = [
    [0x0BDF_7DF1_5917_1633_u64.to_be(), 0x5E9A_8B15_C860_C502_u64.to_be()],
    [0x5A6E_699D_5361_1906_u64.to_be(), 0x5433_863C_8F65_7B94_u64.to_be()],
    [0x1BC1_2C9C_0161_0D5D_u64.to_be(), 0x0D8B_D6A3_378E_CA62_u64.to_be()],
    [0x2956_E1C8_6935_36B1_u64.to_be(), 0xBEE9_9C73_A315_76B6_u64.to_be()],
];

/// RFC 8439, section 2.3.2: a key, a block's number and the lower words of its nonce, and the
/// block.
static CHACHA_KEY: [u8; 32] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29, 30, 31,
];
const CHACHA_FIRST: [u64; 2] = [1, 0x4A00_0000_0900_0000];
const CHACHA_BLOCK: [Block; 4] = [
    [0x10F1_E7E4_D13B_5915_u64.to_be(), 0x500F_DD1F_A320_71C4_u64.to_be()],
    [0xC7D1_F4C7_33C0_6803_u64.to_be(), 0x0422_AA9A_C3D4_6C4E_u64.to_be()],
    [0xD282_6446_079F_AA09_u64.to_be(), 0x14C2_D705_D98B_02A2_u64.to_be()],
    [0xB512_9CD1_DE16_4EB9_u64.to_be(), 0xCBD0_83E8_A250_3C4E_u64.to_be()],
];

/// A block in its bytes' order.
type Block = [u64; 2];

/// Blocks of one request: a strip of eight registers of four blocks, a whole register, one block.
const BLOCKS: usize = 37;

/// Returns whether a backend computes the right keystream on this machine.
///
/// A function of its own: inlined, its blocks would lie below the rest of set-up on a signal's
/// stack.
#[inline(never)]
pub(super) fn is_right(backend: Backend) -> bool {
    let mut work = Workspace::empty();
    let key = if backend.is_aes() { &KEY } else { &CHACHA_KEY };
    // SAFETY: 32 bytes, and the workspace's own array; the CPU has the backend's instructions.
    unsafe { backend.expand(key.as_ptr(), work.round_keys.as_mut_ptr()) };
    let stream = |first, out: &mut [Block]| {
        let (at, len) = (out.as_mut_ptr().cast(), size_of_val(out));
        // SAFETY: the blocks of the caller, and an expanded key of the same backend.
        unsafe { backend.stream(work.round_keys.as_ptr(), first, at, len) };
    };
    if backend.is_aes() {
        return agrees(stream);
    }
    let mut block = [[0; 2]; 4];
    stream(CHACHA_FIRST, &mut block);
    block == CHACHA_BLOCK
}

/// Returns whether a backend derives the key that its keystream makes of the same seed. The two are
/// different code, on registers of different widths, so a wrong instruction does not hide in both.
#[inline(never)]
pub(super) fn derives(backend: Backend) -> bool {
    // The last word is zero, which it always is in the nonce of a keystream of ChaCha20.
    const X: [[u8; 16]; 2] = [
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 0],
        [13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 0, 0, 0, 0],
    ];
    let (mut work, mut derived, mut expected) =
        (Workspace::empty(), Workspace::empty(), Workspace::empty());
    derived.seed[..32].copy_from_slice(&KEY);
    derived.seed[32..48].copy_from_slice(&X[0]);
    derived.seed[48..].copy_from_slice(&X[1]);
    let mut key = [0; 32];
    // SAFETY: 32 bytes, and the workspace's own array; the CPU has the backend's instructions.
    unsafe { backend.expand(KEY.as_ptr(), work.round_keys.as_mut_ptr()) };
    for (out, x) in key.as_chunks_mut::<16>().0.iter_mut().zip(&X) {
        let (block, at) = (first(backend, x), out.as_mut_ptr());
        // SAFETY: 16 bytes, and an expanded key of the same backend.
        unsafe { backend.stream(work.round_keys.as_ptr(), block, at, 16) };
        if backend.is_aes() {
            out.iter_mut().zip(x).for_each(|(out, x)| *out ^= x);
        }
    }
    // SAFETY: the workspaces' own arrays, and 32 bytes; the CPU has the backend's instructions.
    unsafe {
        derived.derive(backend);
        backend.expand(key.as_ptr(), expected.round_keys.as_mut_ptr());
    }
    derived.round_keys == expected.round_keys
}

/// Returns the number of the block that a backend's cipher makes of these 16 bytes.
fn first(backend: Backend, block: &[u8; 16]) -> [u64; 2] {
    if backend.is_aes() {
        let block = u128::from_be_bytes(*block);
        [block as u64, (block >> 64) as u64]
    } else {
        let block = u128::from_le_bytes(*block);
        [u64::from(block as u32), (block >> 32) as u64]
    }
}

/// Returns whether `stream` makes the known blocks, and each block in a long request as alone. One
/// of the two would not be enough, because a lane that computes another one's block may be right in
/// either.
fn agrees(stream: impl Fn([u64; 2], &mut [Block])) -> bool {
    let mut together = [[0; 2]; BLOCKS];
    stream(FIRST, &mut together);
    let mut differences = 0;
    let mut compare = |[a, b]: &Block, [c, d]: &Block| differences |= (a ^ c) | (b ^ d);
    // By reference: an iterator of the array itself would hold a copy on a signal's small stack.
    for (block, known) in together.iter().zip(&KEYSTREAM) {
        compare(block, known);
    }
    for (block, number) in together.iter().zip(0..BLOCKS as u64) {
        let mut alone = [[0; 2]];
        stream([FIRST[0].wrapping_add(number), FIRST[1]], &mut alone);
        let [alone] = &alone;
        compare(block, alone);
    }
    differences == 0 && !forced(Force::WrongAnswer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::cpu::features::Features;

    /// Computes the keystream of AES-256 in counter mode by the reference, which the packed crate
    /// lacks.
    #[cfg(reference)]
    fn right(first: [u64; 2], out: &mut [Block]) {
        let mut start = [0; 16];
        start[..8].copy_from_slice(&first[1].to_be_bytes());
        start[8..].copy_from_slice(&first[0].to_be_bytes());
        let mut bytes = vec![0; size_of_val(out)];
        reference::aes256_ctr(&KEY, start, &mut bytes);
        for (block, bytes) in out.iter_mut().zip(bytes.as_chunks::<16>().0) {
            let [low, high] = [0, 8].map(|at| bytes[at..at + 8].try_into().unwrap());
            *block = [u64::from_ne_bytes(low), u64::from_ne_bytes(high)];
        }
    }

    #[test]
    #[cfg(reference)]
    fn the_reference_gives_the_known_answer() {
        assert!(agrees(right));
    }

    #[test]
    #[cfg(reference)]
    fn faults_of_instructions_are_seen() {
        // The fault of QEMU 7.2, on registers of two blocks, and the same on four.
        for lanes in [2, 4] {
            assert!(!agrees(|first, out| {
                right(first, out);
                for register in out.chunks_exact_mut(lanes) {
                    register.fill(register[0]);
                }
            }));
        }
        // One block of a long request, wherever it lies.
        for wrong in 0..BLOCKS {
            assert!(!agrees(|first, out| {
                right(first, out);
                if out.len() > 1 {
                    out[wrong][1] ^= 1 << 63;
                }
            }));
        }
        // The same fault in every request.
        assert!(!agrees(|first, out| {
            right(first, out);
            out.iter_mut().for_each(|block| block[0] ^= 1);
        }));
        assert!(!agrees(|_, out| out.fill([0; 2])));
    }

    #[test]
    fn every_backend_of_this_machine_is_right() {
        // Under an emulator with a fault this test fails, and a process of it takes another path.
        for backend in Backend::all(Features::detect()) {
            assert!(is_right(backend), "{backend:?}");
            assert!(derives(backend), "{backend:?}");
            assert!(backend.passes_self_test(), "{backend:?}");
        }
    }

    /// The whole choice on an emulator whose AES instructions on 256-bit registers are wrong, or on
    /// a newer one in which they are right.
    #[test]
    // The fault is that of an emulator of x86-64, which has no room for the address sanitizer's map
    // of the memory.
    #[cfg(target_arch = "x86_64")]
    #[cfg_attr(sanitized, ignore)]
    fn the_chosen_backend_is_right_under_an_emulator() {
        const INSIDE: &str = "HEADWATER_TEST_EMULATED";
        if std::env::var_os(INSIDE).is_some() {
            let chosen = Backend::choose(Features::detect());
            assert!(!chosen.is_aes() || is_right(chosen), "{chosen:?}");
            println!("chosen: {}", chosen.name());
            return;
        }
        let here = std::env::current_exe().unwrap();
        let name =
            "linux::cipher::known_answer::tests::the_chosen_backend_is_right_under_an_emulator";
        let emulator = ["qemu-x86_64-static", "qemu-x86_64"].into_iter().find_map(|emulator| {
            let mut run = std::process::Command::new(emulator);
            run.args(["-cpu", "max"]).arg(&here).args(["--exact", name, "--nocapture"]);
            run.env(INSIDE, "1").output().ok()
        });
        let Some(run) = emulator else {
            println!("skipped: no qemu-x86_64, so no emulator's faults are tried");
            return;
        };
        let words = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && words.contains("chosen: "), "{words}");
        println!("{}", words.lines().find(|line| line.contains("chosen: ")).unwrap_or_default());
    }
}
