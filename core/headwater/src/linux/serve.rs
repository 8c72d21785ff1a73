//! Serving a request: the dispatch by length and mode.
//!
//! Each public entry has a hot half, inlined into the caller, and a cold half that it calls. The
//! hot half asks one byte for mode and path, draws, and compares the guards; any other situation is
//! an error ([`Refused`]) that the cold half deals with. So a new situation belongs into the cold
//! half, even if it is one comparison: every draw pays for what is added to a hot one.

use super::cipher::wipe;
use super::per_request;
use super::pool::copy::{self, Words};
use super::pool::refused::Refused;
use super::pool::{draw, draw_section, section};
use super::process::Process;
use super::{process, setup};
use crate::{Error, Mode};
use core::mem::MaybeUninit;

/// Fills every byte of `buf`, or returns an error and leaves all bytes zero.
///
/// Inlined into the caller, because the length is often a constant there. 16 bytes (keys, nonces,
/// UUIDs) is the most common length: as a call it takes a tenth longer.
#[inline(always)]
pub(crate) fn fill(buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    match buf.len() {
        16 => fill_block(buf, wait),
        1..=15 => fill_short(buf, wait),
        _ => fill_longer(buf, wait),
    }
}

/// Fills 16 bytes.
#[inline(always)]
fn fill_block(buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    let (process, dst) = (setup::current(), buf.as_mut_ptr().cast());
    #[allow(unsafe_code)]
    // SAFETY: `buf` is 16 bytes long; the process was asked for its sections.
    let drawn = unsafe {
        if process.is_section() {
            section::take_block(process, dst)
        } else if section::AVAILABLE || !process.is_quick() {
            return fill_block_elsewhere(buf, wait);
        } else {
            draw::quick_block(process, dst)
        }
    };
    finish(drawn, buf, wait)
}

/// Fills 16 bytes in any mode but the most common one.
///
/// It must stay a function of its own, as those that it calls: if it were inlined, draws by
/// sections would save its registers too. It saves none itself, so that it ends in a jump. When
/// masked draws were calls within [`fill_block_by_slot`], they paid for the registers of draws
/// under a lock as well, 2 of 46 ns.
#[inline(never)]
fn fill_block_elsewhere(buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    let process = setup::current();
    #[allow(unsafe_code)]
    // SAFETY: the one caller has 16 bytes. The process was asked, and `hedged` is chosen only on
    // CPUs with AES.
    unsafe {
        if process.is_quick() {
            return fill_block_by_slot(process, buf, wait);
        }
        if process.is_section_hedged() {
            return fill_block_masked::<true>(process, buf, wait);
        }
        if process.is_quick_hedged() {
            return fill_block_masked::<false>(process, buf, wait);
        }
    }
    fill_slowly(buf, wait)
}

/// Fills 16 bytes under a slot's lock.
///
/// # Safety
///
/// `buf` has 16 bytes.
#[inline(never)]
#[allow(unsafe_code)]
unsafe fn fill_block_by_slot(
    process: &Process,
    buf: &mut [MaybeUninit<u8>],
    wait: bool,
) -> Result<(), Error> {
    // SAFETY: `buf` has room for 16 bytes.
    let drawn = unsafe { draw::quick_block(process, buf.as_mut_ptr().cast()) };
    finish(drawn, buf, wait)
}

/// Fills 16 bytes with a mask, in a section or under a slot's lock.
///
/// A function for each and not one that asks, because a section's draw would save the registers of
/// the other.
///
/// # Safety
///
/// The promises of `masked_block` for `buf`: that of [`draw_section`] for a section, otherwise that
/// of [`draw`].
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
#[allow(unsafe_code)]
unsafe fn fill_block_masked<const IN_SECTION: bool>(
    process: &Process,
    buf: &mut [MaybeUninit<u8>],
    wait: bool,
) -> Result<(), Error> {
    let dst = buf.as_mut_ptr().cast();
    // SAFETY: `buf` has room for 16 bytes; process and CPU are as all three functions ask.
    let drawn = unsafe {
        if IN_SECTION {
            draw_section::masked_block(process, dst)
        } else {
            draw::masked_block(process, dst)
        }
    };
    finish(drawn, buf, wait)
}

/// Draws 1 to [`draw::LIMIT`] masked bytes by the hot path of mode `hedged`; refuses if the mode is
/// another one, or has no hot path for so many. `dst` may hold void bytes on an error.
///
/// The ladder of the cold half would do the same in the end. But the CPU's random instruction hides
/// nothing that follows it, so the steps down the ladder and back were 5 of 54 ns.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn quick_hedged(process: &Process, dst: *mut u8, len: usize) -> Result<(), Refused> {
    // SAFETY: `dst` has room for `len` bytes. `hedged` is chosen only on CPUs with AES, and the
    // first question is whether the process has sections.
    unsafe {
        if process.is_section_hedged() {
            return draw_section::hedged(process, dst, len);
        }
        if len <= 16 && process.is_quick_hedged() {
            return draw::quick_hedged(process, dst, len);
        }
    }
    Err(Refused::Empty)
}

/// Fills 1 to 15 bytes: one or two words are drawn, and the excess is dropped.
#[inline(never)]
fn fill_short(buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    match buf.len() {
        9.. => fill_words::<copy::Block>(buf, wait),
        _ => fill_words::<u64>(buf, wait),
    }
}

/// Fills up to `W::BYTES` bytes.
#[inline(always)]
fn fill_words<W: Words>(buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    let (process, dst) = (setup::current(), buf.as_mut_ptr().cast());
    if process.is_section() {
        #[allow(unsafe_code)]
        // SAFETY: `buf` is valid for writes of its length; the process was asked.
        let drawn = unsafe { draw_section::unmasked(process, dst, buf.len()) };
        return finish(drawn, buf, wait);
    }
    if !process.is_quick() {
        #[allow(unsafe_code)]
        // SAFETY: `buf` is valid for writes of its length.
        let drawn = unsafe { quick_hedged(process, dst, buf.len()) };
        return finish(drawn, buf, wait);
    }
    // The words are put where they are matched. With one `finish` for both outcomes they would meet
    // it in a `Result`, which lies in memory, and a copy of them would stay on the dead stack.
    match draw::quick_words::<W>(process) {
        Ok(words) => {
            #[allow(unsafe_code)]
            // SAFETY: `buf` is valid for writes of its length.
            unsafe {
                words.put(dst, buf.len());
            }
            Ok(())
        }
        Err(refused) => finish(Err(refused), buf, wait),
    }
}

/// Fills more than 16 bytes. It must stay a function of its own: if it were inlined, its calls
/// would make [`fill`] save registers in short draws as well.
#[inline(never)]
fn fill_longer(buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    if !(17..=draw::LIMIT).contains(&buf.len()) {
        return fill_slowly(buf, wait); // an empty buffer as well
    }
    let (process, dst) = (setup::current(), buf.as_mut_ptr().cast());
    #[allow(unsafe_code)]
    // SAFETY: `buf` is valid for writes of its length; the process was asked.
    let drawn = unsafe {
        if process.is_section() {
            section::take_blocks(process, dst, buf.len())
        } else if process.is_quick() {
            process.clean_registers();
            draw::quick_blocks(process, dst, buf.len())
        } else {
            quick_hedged(process, dst, buf.len())
        }
    };
    finish(drawn, buf, wait)
}

/// Ends a request that the hot half has drawn, or hands it to the cold half.
#[inline(always)]
fn finish(
    drawn: Result<(), Refused>,
    buf: &mut [MaybeUninit<u8>],
    wait: bool,
) -> Result<(), Error> {
    match drawn {
        Ok(()) => Ok(()),
        Err(Refused::Empty) => fill_slowly(buf, wait),
        Err(refused) => fill_after(refused, buf, wait),
    }
}

/// A word that was drawn, or zero and the reason why none was.
///
/// It is no `Result`, because the compiler returns a pair of scalars in two registers, but a
/// `Result` of a word and an error in memory, where a copy of the word would stay.
pub(crate) type Word = (u64, Option<Error>);

/// The reason why the hot half of a word's draw has none.
enum Cold {
    /// The word has to be drawn under a slot's lock, or with a mask.
    Elsewhere,
    Refused(Refused),
}

/// Returns a random u64. Always inlined, like [`u32`]: if either were a function of its own, its
/// result would lie in the frame of the function around it.
#[inline(always)]
pub(crate) fn u64() -> Result<u64, Error> {
    // The good case leaves at once. If the two cases met in a `Word` first, the compiler would make
    // the pair and take it apart again, which took a word from 5.1 to 5.3 ns.
    let (word, error) = match hot_word() {
        Ok(word) => return Ok(word),
        Err(Cold::Elsewhere) => word_elsewhere(),
        Err(Cold::Refused(refused)) => after(refused),
    };
    error.map_or(Ok(word), Err)
}

/// Returns a random u32. It takes a whole word, so that words stay aligned.
#[inline(always)]
pub(crate) fn u32() -> Result<u32, Error> {
    u64().map(|word| word as u32)
}

/// Draws one word, in a section or by the slot's hot path.
#[inline(always)]
fn hot_word() -> Result<u64, Cold> {
    let process = setup::current();
    if process.is_section() {
        section::take_word(process).map_err(Cold::Refused)
    } else if section::AVAILABLE || !process.is_quick() {
        Err(Cold::Elsewhere)
    } else {
        draw::quick_words(process).map_err(Cold::Refused)
    }
}

/// Draws one word in any other mode, as [`fill_block_elsewhere`] fills 16 bytes.
#[inline(never)]
fn word_elsewhere() -> Word {
    let process = setup::current();
    #[allow(unsafe_code)]
    // SAFETY: the process was asked, and `hedged` is chosen only on CPUs with AES.
    unsafe {
        if process.is_quick() {
            return word_by_slot(process);
        }
        if process.is_section_hedged() {
            return masked_word::<true>(process);
        }
        if process.is_quick_hedged() {
            return masked_word::<false>(process);
        }
    }
    after(Refused::Empty)
}

/// Draws one word under a slot's lock.
#[inline(never)]
fn word_by_slot(process: &Process) -> Word {
    match draw::quick_words(process) {
        Ok(word) => (word, None),
        Err(refused) => after(refused),
    }
}

/// Draws one word with a mask, as [`fill_block_masked`] draws 16 bytes.
///
/// # Safety
///
/// The promises of `masked_word`, as there.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon,aes"))]
#[inline(never)]
#[allow(unsafe_code)]
unsafe fn masked_word<const IN_SECTION: bool>(process: &Process) -> Word {
    // SAFETY: process and CPU are as all three functions ask.
    let drawn = unsafe {
        if IN_SECTION { draw_section::masked_word(process) } else { draw::masked_word(process) }
    };
    match drawn {
        Ok(word) => (word, None),
        Err(refused) => after(refused),
    }
}

/// Draws one word after a refusal. Cold, so that the integers' hot half has no frame for the bytes.
///
/// The bytes lie in this function's frame, which the caller cannot erase, because it does not know
/// where that is. So they are erased here, and the word leaves in a register.
#[cold]
#[inline(never)]
fn after(refused: Refused) -> Word {
    let mut bytes = [0; 16]; // `wipe` erases 16 at a time
    let (first, _) = bytes.split_at_mut(8);
    let drawn = fill_after(refused, crate::as_uninit(first), true);
    (word_at(&mut bytes), drawn.err())
}

/// Returns the first word of the bytes, and erases all of them.
#[inline(always)]
pub(crate) fn word_at(bytes: &mut [u8; 16]) -> u64 {
    let at = bytes.as_mut_ptr();
    #[allow(unsafe_code)]
    // SAFETY: the first 8 of our 16 bytes, read at whatever alignment they have; then the 16 bytes
    // that `wipe` writes.
    unsafe {
        let word = at.cast::<u64>().read_unaligned();
        wipe(at, 16);
        word
    }
}

/// Serves a request that the hot path refused, and counts the refusal.
///
/// In sections the cold half counts it. A void page is the CPU's until the next put, so the ladder
/// meets it again, and its bytes would be counted as discarded twice. (A page of zeros ends the
/// sections, and is counted here.)
#[cold]
#[inline(never)]
fn fill_after(refused: Refused, buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    if let Some(process) = setup::published().filter(|process| !process.has_sections()) {
        refused.count(process);
    }
    fill_slowly(buf, wait)
}

/// Serves any request, in any state of the process.
#[inline(never)]
fn fill_slowly(buf: &mut [MaybeUninit<u8>], wait: bool) -> Result<(), Error> {
    let (dst, len) = (buf.as_mut_ptr().cast::<u8>(), buf.len());
    if len == 0 {
        return Ok(());
    }
    #[allow(unsafe_code)]
    // SAFETY: `buf` is valid for writes of its length.
    let result = process(wait).and_then(|process| unsafe { serve(process, dst, len) });
    // A caller that ignores the error must find no part of a void draw.
    if result.is_err() {
        buf.fill(MaybeUninit::new(0));
    }
    result
}

/// Serves any request, under keys drawn by getrandom(2) for it alone.
pub(crate) fn fill_fresh(buf: &mut [MaybeUninit<u8>]) -> Result<(), Error> {
    let (dst, len) = (buf.as_mut_ptr().cast::<u8>(), buf.len());
    #[allow(unsafe_code)]
    // SAFETY: `buf` is valid for writes of its length.
    let result = process(true).and_then(|process| unsafe {
        match process.mode() {
            Mode::Kernel => per_request::kernel(process, dst, len),
            _ => per_request::fill(process, dst, len),
        }
    });
    if result.is_err() {
        buf.fill(MaybeUninit::new(0));
    }
    result
}

/// Serves one request in the mode in use. On an error `dst` may hold part of it.
///
/// # Safety
///
/// `dst` is valid for writes of `len` bytes, at least 1.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) unsafe fn serve(process: &Process, dst: *mut u8, len: usize) -> Result<(), Error> {
    // SAFETY: `dst` is valid for `len` bytes, at least 1, and each arm asks for that. Two ask for
    // more: `buffered` and `hedged` are chosen only with slots, and `hedged` only on CPUs with AES.
    unsafe {
        match process.mode() {
            Mode::Buffered if len <= draw::LIMIT => draw::plain(process, dst, len),
            Mode::Hedged if len <= draw::LIMIT => draw::hedged(process, dst, len),
            Mode::Buffered | Mode::Hedged => per_request::large(process, dst, len),
            Mode::Kernel => per_request::kernel(process, dst, len),
            _ => per_request::strict(process, dst, len),
        }
    }
}
