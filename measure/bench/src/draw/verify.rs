//! An implementation is timed only after its output has been looked at: the fastest generator is
//! the one that does nothing.

use crate::draw::work::{Refused, Work, Worker};

/// At least so many draws are compared. By chance, outputs of 4 bytes are all equal once in 2^96
/// runs, and all zero once in 2^128.
const DRAWS: u32 = 4;
/// A byte that has not changed after so many draws is never written: by chance, 2^-128 for each
/// byte.
const DRAWS_MAX: u32 = 16;

/// The ways in which an output can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No bytes at all.
    Refused,
    /// Bytes that are not random, or not written.
    Defect(&'static str),
}

impl From<Refused> for Fault {
    fn from(Refused: Refused) -> Fault {
        Fault::Refused
    }
}

/// Draws into a poisoned buffer until every byte has been seen to change, and compares the draws.
/// Leaves every page of `buf` touched.
pub(crate) fn check(worker: &mut dyn Worker, work: Work, buf: &mut [u8]) -> Result<(), Fault> {
    let mut unwritten: Vec<bool> = vec![true; buf.len()];
    let mut first: Option<Vec<u8>> = None;
    let (mut all_equal, mut all_zero) = (true, true);
    for draw in 0..DRAWS_MAX {
        // A new poison each time, so that a byte that equals it by chance does not do so again.
        // Above 0x80, because the text of a UUID never has such bytes.
        let poison = 0x81 + draw as u8;
        buf.fill(poison);
        worker.draw(work, buf)?;
        for (unwritten, byte) in unwritten.iter_mut().zip(&*buf) {
            *unwritten &= *byte == poison;
        }
        all_zero &= buf.iter().all(|byte| *byte == 0);
        match &first {
            None => first = Some(buf.to_vec()),
            Some(first) => all_equal &= first == buf,
        }
        if draw + 1 >= DRAWS && !unwritten.contains(&true) {
            break;
        }
    }
    if unwritten.contains(&true) {
        return Err(Fault::Defect("some bytes are never written"));
    }
    if all_zero {
        return Err(Fault::Defect("every byte is zero"));
    }
    if all_equal && buf.len() >= 4 {
        return Err(Fault::Defect("the same bytes each time"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::work::{Drawn, Generator};

    struct Closure<F>(F);

    impl<F: FnMut(&mut [u8])> Generator for Closure<F> {
        fn fill(&mut self, buf: &mut [u8]) -> Drawn {
            (self.0)(buf);
            Ok(())
        }
    }

    fn verdict(fill: impl FnMut(&mut [u8])) -> Result<(), Fault> {
        check(&mut Closure(fill), Work::Fill, &mut [0; 64])
    }

    #[test]
    fn passes_what_is_random() {
        assert_eq!(verdict(|buf| headwater::fill(buf).unwrap()), Ok(()));
    }

    #[test]
    fn finds_each_defect() {
        let defect = |text| Err(Fault::Defect(text));
        assert_eq!(verdict(|_| ()), defect("some bytes are never written"));
        let short = |buf: &mut [u8]| headwater::fill(&mut buf[..63]).unwrap();
        assert_eq!(verdict(short), defect("some bytes are never written"));
        assert_eq!(verdict(|buf| buf.fill(0)), defect("every byte is zero"));
        assert_eq!(verdict(|buf| buf.fill(7)), defect("the same bytes each time"));
    }

    #[test]
    fn finds_a_refusal() {
        struct Closed;
        impl Generator for Closed {
            fn fill(&mut self, _: &mut [u8]) -> Drawn {
                Err(Refused)
            }
        }
        assert_eq!(check(&mut Closed, Work::U64, &mut [0; 8]), Err(Fault::Refused));
    }
}
