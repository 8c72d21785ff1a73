//! The generators that a guest draws from: headwater, and the ones that it is compared with.

use crate::linux::{kernel, openssl};
use rand::Rng as _;
use rustix::rand::GetRandomFlags;
use vdso_rng::{LocalState, Pool};

/// Names in the lab's reports, in the order of drawing.
pub(crate) const NAMES: [&str; COUNT] = [
    "syscall",
    "vdso",
    "openssl",
    "rand",
    "headwater",
    "headwater-rng",
    "headwater-large",
    "headwater-openssl",
    "stamp",
];
pub(crate) const COUNT: usize = 9;
/// Length of a large draw: more than a page of headwater serves.
const LARGE: usize = 4096;
/// Distance between two rounds with a large draw.
pub(crate) const LARGE_EVERY: u64 = 8;
pub(crate) const LARGE_INDEX: usize = 6;

/// The generators of one thread.
pub(crate) struct Witnesses {
    vdso: Option<LocalState<'static>>,
    rand: rand::rngs::ThreadRng,
    handle: Option<headwater::Rng>,
    large: Box<[u8; LARGE]>,
}

impl Witnesses {
    /// Sets up the generators. All threads of a process share the vDSO's `pool`.
    pub(crate) fn new(pool: Option<&'static Pool>) -> Witnesses {
        Witnesses {
            vdso: pool.and_then(|pool| LocalState::new(pool).ok()),
            rand: rand::rng(),
            handle: headwater::Rng::new().ok(),
            large: Box::new([0; LARGE]),
        }
    }

    /// Draws 16 bytes from one generator. Zeros mean that the generator is unavailable.
    #[inline]
    pub(crate) fn draw(&mut self, witness: usize) -> [u8; 16] {
        let mut bytes = [0; 16];
        let done = match witness {
            0 => kernel::getrandom(&mut bytes, GetRandomFlags::empty()).is_ok(),
            1 => self.vdso.as_mut().is_some_and(|state| state.fill(&mut bytes, 0).is_ok()),
            2 => openssl::fill(&mut bytes),
            3 => {
                self.rand.fill_bytes(&mut bytes);
                true
            }
            4 => headwater::fill(&mut bytes).is_ok(),
            5 => self.handle.as_mut().is_some_and(|handle| handle.fill(&mut bytes).is_ok()),
            LARGE_INDEX => {
                let done = headwater::fill(&mut self.large[..]).is_ok();
                bytes.copy_from_slice(&self.large[LARGE - 16..]);
                done
            }
            7 => openssl::fill_by_headwater(&mut bytes),
            // The stamp. It is not random: it changes when headwater notices an event.
            _ => headwater::generation().is_some_and(|generation| {
                bytes[..8].copy_from_slice(&generation.get().to_le_bytes());
                true
            }),
        };
        if done { bytes } else { [0; 16] }
    }
}
