//! The required order of the accesses of one draw, whatever the compiler does between them.
//!
//! The core's rules for a draw: it compares the page's tag, reads the bytes once and erases them.
//! Only then it loads the guards. Only if the guards are unchanged, it releases the slot and
//! returns the bytes to the caller.

use anyhow::{Result, ensure};

/// The target of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessPlace {
    /// A slot's lock, which holds the number of bytes left; for a handle only that number.
    Account,
    /// The number of the refill, in the slot's state.
    Number,
    /// The reseed generation at the refill, in the slot's state.
    Generation,
    /// The clone marker at the refill, in the slot's state.
    Marker,
    /// The page's tag.
    Tag,
    /// The round keys in the page.
    Keys,
    /// The bytes of the page, from this offset on.
    Data(u64),
    /// The kernel's reseed generation.
    Word,
    /// The clone marker, or the constant that replaces it.
    Clock,
    /// The fork canary.
    Canary,
    /// The caller's buffer.
    Out,
}
use AccessPlace::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Read,
    Write,
    /// A write that left zeros.
    Zero,
    /// A read and a write at once, such as an exchange.
    Update,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) place: AccessPlace,
    pub(crate) kind: AccessKind,
    pub(crate) len: u64,
}

/// The request that a draw serves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    /// True if the page belongs to a slot, which has a lock and which a forked child can use; false
    /// if it belongs to a handle.
    pub(crate) slot: bool,
    /// The number of requested bytes.
    pub(crate) len: u64,
}

impl Draw {
    /// Returns whether the bytes go to the caller in registers, and only after the comparisons. A
    /// longer draw copies to the caller's buffer while it reads, and draws again or overwrites the
    /// buffer if a guard changed.
    pub(crate) fn is_short(self) -> bool {
        self.len < 16
    }

    /// Returns the guards, all of which are loaded again after the bytes.
    fn guards(self) -> &'static [AccessPlace] {
        const ALL: [AccessPlace; 7] = [Word, Generation, Clock, Marker, Tag, Number, Canary];
        if self.slot { &ALL } else { &ALL[..6] }
    }
}

/// Checks the accesses of one draw that was served.
pub(crate) fn check(draw: Draw, accesses: &[Access]) -> Result<()> {
    let position = |from: usize, place: AccessPlace, kind: AccessKind| {
        let found = accesses[from..].iter().position(|a| a.place == place && a.kind == kind);
        found.map(|at| from + at)
    };
    let is_data = |access: &Access| matches!(access.place, Data(_) | Keys);
    let first = accesses.iter().position(|access| matches!(access.place, Data(_)));
    let last = accesses.iter().rposition(is_data);
    let (Some(first), Some(last)) = (first, last) else {
        anyhow::bail!("no byte of a page is read");
    };
    let lock = if draw.slot { position(0, Account, AccessKind::Update) } else { Some(0) };
    ensure!(lock.is_some(), "the slot's lock is not taken");
    let locked = lock.unwrap_or(0);
    for place in [Tag, Number] {
        let at = position(locked, place, AccessKind::Read);
        ensure!(at.is_some_and(|at| at < first), "{place:?} is not loaded before the bytes");
    }
    check_data(draw, accesses)?;
    let mut compared = last;
    for &guard in draw.guards() {
        let at = position(last, guard, AccessKind::Read);
        ensure!(at.is_some(), "{guard:?} is not loaded after the bytes were read and erased");
        compared = compared.max(at.unwrap_or(last));
    }
    if draw.slot {
        let freed = accesses[locked + 1..].iter().position(|access| access.place == Account);
        ensure!(freed.is_some(), "the slot is not freed");
        ensure!(
            freed.is_some_and(|at| locked + 1 + at > compared),
            "the slot is freed before the guards are compared"
        );
    }
    if draw.is_short() {
        let out = accesses.iter().position(|access| access.place == Out);
        ensure!(
            out.is_none_or(|at| at > compared),
            "bytes reach the caller before the guards are compared"
        );
    }
    Ok(())
}

/// Checks that each served word is read once and then erased once. The word after the last may be
/// read, because a load can be wider than the rest.
fn check_data(draw: Draw, accesses: &[Access]) -> Result<()> {
    let words = draw.len.div_ceil(8);
    let offsets = accesses.iter().filter_map(|access| match access.place {
        Data(offset) => Some(offset),
        _ => None,
    });
    let start = offsets.min().unwrap_or(0);
    let mut seen = vec![(0, 0); words as usize];
    for access in accesses {
        let Data(offset) = access.place else { continue };
        for word in (offset - start) / 8..(offset - start + access.len).div_ceil(8) {
            let Some((reads, erasures)) = seen.get_mut(word as usize) else {
                ensure!(
                    access.kind == AccessKind::Read && word == words,
                    "word {word} is not asked for"
                );
                continue;
            };
            match access.kind {
                AccessKind::Read => {
                    ensure!(*erasures == 0, "word {word} is read after it was erased");
                    *reads += 1;
                }
                AccessKind::Zero => {
                    ensure!(*reads > 0, "word {word} is erased before it was read");
                    *erasures += 1;
                }
                AccessKind::Write | AccessKind::Update => {
                    anyhow::bail!("word {word} is overwritten")
                }
            }
        }
    }
    for (word, &(reads, erasures)) in seen.iter().enumerate() {
        ensure!(reads == 1, "word {word} is read {reads} times");
        ensure!(erasures == 1, "word {word} is erased {erasures} times");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: Draw = Draw { slot: true, len: 8 };

    /// Returns the accesses of a correct draw of one word from a slot.
    fn sound() -> Vec<Access> {
        let access = |place, kind| Access { place, kind, len: 8 };
        let read = |place| access(place, AccessKind::Read);
        vec![
            read(Canary),
            access(Account, AccessKind::Update),
            read(Number),
            read(Tag),
            read(Data(544)),
            access(Data(544), AccessKind::Zero),
            read(Word),
            read(Generation),
            read(Clock),
            read(Marker),
            read(Tag),
            read(Number),
            read(Canary),
            access(Account, AccessKind::Write),
            access(Out, AccessKind::Write),
        ]
    }

    #[track_caller]
    fn fault(draw: Draw, accesses: &[Access]) -> String {
        check(draw, accesses).unwrap_err().to_string()
    }

    #[test]
    fn a_sound_draw_passes() {
        check(WORD, &sound()).unwrap();
        // A load wider than the request reads the next word too.
        let mut peeking = sound();
        peeking.insert(5, Access { place: Data(552), kind: AccessKind::Read, len: 8 });
        check(WORD, &peeking).unwrap();
    }

    #[test]
    fn no_access_but_the_callers_may_be_missing() {
        // The first load of the canary chooses the slot and is not a comparison.
        for missing in 1..sound().len() - 1 {
            let mut accesses = sound();
            accesses.remove(missing);
            fault(WORD, &accesses);
        }
    }

    #[test]
    fn no_guard_may_be_loaded_before_the_bytes_only() {
        for guard in 6..=12 {
            let mut accesses = sound();
            let early = accesses.remove(guard);
            accesses.insert(4, early);
            assert!(fault(WORD, &accesses).contains("after the bytes"), "{early:?}");
        }
    }

    #[test]
    fn nothing_leaves_before_the_comparisons() {
        for (leaving, what) in [(13, "freed before"), (14, "the caller before")] {
            let mut accesses = sound();
            let early = accesses.remove(leaving);
            accesses.insert(12, early);
            assert!(fault(WORD, &accesses).contains(what));
        }
    }

    #[test]
    fn bytes_are_read_once_and_erased_once() {
        for (again, what) in [(4, "read 2 times"), (5, "erased 2 times")] {
            let mut accesses = sound();
            accesses.insert(again, accesses[again]);
            assert!(fault(WORD, &accesses).contains(what));
        }
        let mut kept = sound();
        kept[5].kind = AccessKind::Write;
        assert!(fault(WORD, &kept).contains("overwritten"));
        let two = Draw { slot: true, len: 16 };
        assert!(fault(two, &sound()).contains("word 1 is read 0 times"));
    }
}
