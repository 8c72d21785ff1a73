//! What the accesses of one draw must look like, whatever else the compiler does between them.
//!
//! The rules are those of `cell.rs`: the page's tag is compared, the bytes are read, once, and erased; only then
//! the guards are loaded; and only if they stand, the slot is freed and the bytes are given to the caller.

use anyhow::{Result, ensure};

/// What an access goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A slot's lock, which holds the number of bytes left; of a handle that number alone.
    Account,
    /// In the ledger: the number of the refill.
    Number,
    /// In the ledger: the kernel's word at the refill.
    Generation,
    /// In the ledger: VMClock's marker at the refill.
    Marker,
    /// The page's tag.
    Tag,
    /// The round keys in the page.
    Keys,
    /// The bytes of the page, from this offset on.
    Data(u64),
    /// The kernel's word.
    Word,
    /// VMClock's marker, or what stands for it.
    Clock,
    /// The fork canary.
    Canary,
    /// The caller's buffer.
    Out,
}
use Place::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// A write that left zeros.
    Zero,
    /// Both at once, as an exchange does.
    Update,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) place: Place,
    pub(crate) kind: Kind,
    pub(crate) len: u64,
}

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    /// From a slot, which has a lock and can be used by a forked child; else from a handle's page.
    pub(crate) slot: bool,
    /// Bytes that are asked for.
    pub(crate) len: u64,
}

impl Draw {
    /// Less than 16 bytes go to the caller by registers, and only if they may leave. What is longer is copied to
    /// the caller's buffer as it is read, and is drawn again or overwritten if it may not leave.
    pub(crate) fn is_short(self) -> bool {
        self.len < 16
    }

    /// What is loaded again after the bytes.
    fn guards(self) -> &'static [Place] {
        const ALL: [Place; 7] = [Word, Generation, Clock, Marker, Tag, Number, Canary];
        if self.slot { &ALL } else { &ALL[..6] }
    }
}

/// Checks the accesses of one draw that was served.
pub(crate) fn check(draw: Draw, accesses: &[Access]) -> Result<()> {
    let position = |from: usize, place: Place, kind: Kind| {
        let found = accesses[from..].iter().position(|a| a.place == place && a.kind == kind);
        found.map(|at| from + at)
    };
    let is_data = |access: &Access| matches!(access.place, Data(_) | Keys);
    let first = accesses.iter().position(|access| matches!(access.place, Data(_)));
    let last = accesses.iter().rposition(is_data);
    let (Some(first), Some(last)) = (first, last) else {
        anyhow::bail!("no byte of a page is read");
    };
    let lock = if draw.slot { position(0, Account, Kind::Update) } else { Some(0) };
    ensure!(lock.is_some(), "the slot's lock is not taken");
    let locked = lock.unwrap_or(0);
    for place in [Tag, Number] {
        let at = position(locked, place, Kind::Read);
        ensure!(at.is_some_and(|at| at < first), "{place:?} is not loaded before the bytes");
    }
    check_data(draw, accesses)?;
    let mut compared = last;
    for &guard in draw.guards() {
        let at = position(last, guard, Kind::Read);
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

/// Each word that is served is read once and then erased once; of those behind them one may be looked at.
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
                ensure!(access.kind == Kind::Read && word == words, "word {word} is not asked for");
                continue;
            };
            match access.kind {
                Kind::Read => {
                    ensure!(*erasures == 0, "word {word} is read after it was erased");
                    *reads += 1;
                }
                Kind::Zero => {
                    ensure!(*reads > 0, "word {word} is erased before it was read");
                    *erasures += 1;
                }
                Kind::Write | Kind::Update => anyhow::bail!("word {word} is overwritten"),
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

    /// A draw of one word from a slot, as it should be.
    fn sound() -> Vec<Access> {
        let access = |place, kind| Access { place, kind, len: 8 };
        let read = |place| access(place, Kind::Read);
        vec![
            read(Canary),
            access(Account, Kind::Update),
            read(Number),
            read(Tag),
            read(Data(544)),
            access(Data(544), Kind::Zero),
            read(Word),
            read(Generation),
            read(Clock),
            read(Marker),
            read(Tag),
            read(Number),
            read(Canary),
            access(Account, Kind::Write),
            access(Out, Kind::Write),
        ]
    }

    #[track_caller]
    fn fault(draw: Draw, accesses: &[Access]) -> String {
        check(draw, accesses).unwrap_err().to_string()
    }

    #[test]
    fn a_sound_draw_passes() {
        check(WORD, &sound()).unwrap();
        // One that looks at the second half of its window.
        let mut peeking = sound();
        peeking.insert(5, Access { place: Data(552), kind: Kind::Read, len: 8 });
        check(WORD, &peeking).unwrap();
    }

    #[test]
    fn no_access_but_the_callers_may_be_missing() {
        // The first canary tells the slot, and is no comparison.
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
        kept[5].kind = Kind::Write;
        assert!(fault(WORD, &kept).contains("overwritten"));
        let two = Draw { slot: true, len: 16 };
        assert!(fault(two, &sound()).contains("word 1 is read 0 times"));
    }
}
