//! The kernel's reseed generation.
//!
//! Since Linux 6.11 the kernel stores this counter in the vDSO's data and increments it at each
//! reseed. It is an aligned u64, followed by a byte that says whether the generator is seeded, and
//! every process may read it. A constant offset would be wrong by the next kernel, because the
//! offset is not ABI and has moved already (6.12: first page of `[vvar]`, offset 0x280; 6.18: third
//! page, offset 0). So set-up finds the counter by value. That might find a look-alike, so every
//! refill verifies it: the generation that the vDSO reports for a fresh state must lie between a
//! read before and a read after the call. If the check fails once, the address is retired for the
//! life of the process.

#![allow(unsafe_code)]

use crate::linux::failpoint::{Force, forced};
use crate::linux::guards::age::CoarseClock;
use crate::linux::source::vdso::Vdso;
use crate::linux::source::vgetrandom::Vgetrandom;
use crate::linux::sync::recompute;
use crate::linux::sys::{Fd, is_readable};
use crate::status::ReseedGeneration;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

const PAGE: usize = 4096;
/// The most places that the search keeps. With more look-alikes than this, no place is used.
const CANDIDATES: usize = 8;

/// The values of all candidates at one moment.
pub(crate) type Values = [u64; CANDIDATES];

/// The value compared if no generation is live: the minute (`guards::age`), or all ones before the
/// first draw. No generation of the kernel is as large.
static NO_GENERATION: AtomicU64 = AtomicU64::new(u64::MAX);

/// The places that may hold the reseed generation; one of them is live at most. The order is fixed,
/// because sections read the first field at offset 0.
#[repr(C)]
pub(crate) struct KernelGeneration {
    /// The live place, or [`NO_GENERATION`].
    live: AtomicPtr<AtomicU64>,
    candidates: [AtomicPtr<AtomicU64>; CANDIDATES],
    /// The generation at the time of the search. Until it changes, look-alikes stay
    /// indistinguishable.
    first: u64,
    /// Several places held that value.
    look_alikes: bool,
    /// The start of `[vvar]`.
    start: *const u8,
    /// The reason why no place was found; empty if one was.
    absent: &'static str,
    /// Withdrawn by [`withdraw`](Self::withdraw), and not restored since.
    withdrawn: AtomicBool,
    /// The place that was live at the withdrawal.
    parked: AtomicPtr<AtomicU64>,
}

impl KernelGeneration {
    pub(crate) const fn absent(why: &'static str) -> KernelGeneration {
        KernelGeneration {
            candidates: [const { AtomicPtr::new(null_mut()) }; CANDIDATES],
            live: AtomicPtr::new((&raw const NO_GENERATION).cast_mut()),
            first: 0,
            look_alikes: false,
            start: null(),
            absent: why,
            withdrawn: AtomicBool::new(false),
            parked: AtomicPtr::new(null_mut()),
        }
    }

    /// Searches the vDSO's data for the reseed generation.
    ///
    /// # Safety
    ///
    /// `state` is a state for `vgetrandom` as in [`Vgetrandom::fill`].
    pub(crate) unsafe fn search(
        vdso: &Vdso,
        vgetrandom: &Vgetrandom,
        state: *mut u8,
    ) -> KernelGeneration {
        if forced(Force::NoGeneration) {
            return KernelGeneration::absent("forced away by a test");
        }
        // The last page of the address space is the kernel's on every architecture. A filter that
        // answers in the system call's place would call it readable, and every page of the search
        // with it: one of them raises SIGBUS.
        if is_readable(null::<u8>().wrapping_sub(PAGE)) {
            return KernelGeneration::absent("a filter hides which of the vDSO's pages exist");
        }
        let (start, pages) = data_pages(vdso.base());
        let drawn_under = |len| {
            let mut bytes = [0; 2];
            // SAFETY: `bytes` has room for both lengths that are drawn below, 1 and 2. The state is
            // not in use elsewhere, because set-up searches before it publishes the process.
            unsafe {
                vgetrandom
                    .fill(bytes.as_mut_ptr(), len, state)
                    .then(|| vgetrandom.generation(state))
            }
        };
        // A reseed during the search makes it worthless, so it is made again. Reseeds come once a
        // minute, or each second early at boot, so a few times are enough.
        for _ in 0..4 {
            // Two draws of different lengths must show equal values: no other field of the state
            // stays the same.
            let (Some(first), Some(second)) = (drawn_under(1), drawn_under(2)) else {
                return KernelGeneration::absent("the vDSO refuses to draw");
            };
            if first == 0 || first != second {
                continue;
            }
            let mut generation = KernelGeneration { first, start, ..KernelGeneration::absent("") };
            let found = generation.collect(pages);
            if drawn_under(1) != Some(first) {
                continue;
            }
            match found {
                0 => return KernelGeneration::absent("not found in the vDSO's data"),
                found if found > CANDIDATES => {
                    return KernelGeneration::absent("too many look-alikes in the vDSO's data");
                }
                found => {
                    generation.look_alikes = found > 1;
                    generation.pick_live(false);
                    return generation;
                }
            }
        }
        KernelGeneration::absent("the kernel reseeds too fast to find it")
    }

    /// Collects the places that hold `first`, followed by a byte 1 (ready). Returns how many there
    /// are.
    fn collect(&mut self, pages: usize) -> usize {
        let mut found = 0;
        let mut keep = |at: *const u64| {
            if let Some(candidate) = self.candidates.get(found) {
                candidate.store(at.cast_mut().cast(), Ordering::Relaxed);
            }
            found += 1;
        };
        for page in 0..pages {
            // SAFETY: only an address is computed; whether it can be read is asked next.
            let page = self.start.wrapping_add(page * PAGE);
            if !is_readable(page) {
                continue;
            }
            for offset in (0..PAGE - 8).step_by(8) {
                // SAFETY: a readable page of kernel data, which changes under us, hence volatile.
                let (value, ready) = unsafe {
                    let at = page.add(offset);
                    (at.cast::<u64>().read_volatile(), at.add(8).read_volatile())
                };
                if value == self.first && ready == 1 {
                    keep(page.wrapping_add(offset).cast());
                }
            }
        }
        if forced(Force::LookAlikes) {
            static LOOK_ALIKE: AtomicU64 = AtomicU64::new(0);
            LOOK_ALIKE.store(self.first, Ordering::Relaxed);
            keep((&raw const LOOK_ALIKE).cast());
        }
        found
    }

    /// Returns the generation to compare: the live one, or a value that matches no page filled
    /// under a live one.
    #[inline(always)]
    pub(crate) fn get(&self) -> &AtomicU64 {
        // SAFETY: `NO_GENERATION`, or an aligned u64 in the vDSO's data, mapped as long as the
        // process lives.
        unsafe { &*self.live.load(Ordering::Relaxed) }
    }

    /// Lets pages expire that were filled more than a minute ago, if no generation is live.
    #[inline]
    pub(crate) fn expire(&self, clock: CoarseClock, usable: bool) {
        if !self.is_live() {
            clock.tick(&NO_GENERATION, usable);
        }
    }

    #[inline(always)]
    pub(crate) fn is_live(&self) -> bool {
        !core::ptr::eq(self.get(), &NO_GENERATION)
    }

    /// Returns whether look-alikes are left that the next reseed will separate.
    pub(crate) fn is_undecided(&self) -> bool {
        self.look_alikes && !self.is_live()
    }

    /// Returns the candidates' values now, for [`verify`](Self::verify) after a draw.
    pub(crate) fn before(&self) -> Values {
        self.each().map(|candidate| candidate.map_or(0, |place| place.load(Ordering::Acquire)))
    }

    /// Returns whether every candidate held `drawn_under`, the generation the vDSO has just keyed a
    /// state under, at some moment between `before` and now. 0 proves nothing: the state's page was
    /// dropped meanwhile.
    pub(crate) fn agrees(&self, before: &Values, drawn_under: u64) -> bool {
        drawn_under == 0
            || self
                .each()
                .iter()
                .zip(before)
                .all(|(place, &before)| place.is_none_or(|place| held(place, before, drawn_under)))
    }

    /// Drops every candidate that does not [agree](Self::agrees). True if that changed what is
    /// live.
    pub(crate) fn verify(&self, before: &Values, drawn_under: u64) -> bool {
        if drawn_under == 0 {
            return false;
        }
        let mut dropped = false;
        for (i, place) in self.each().into_iter().enumerate() {
            if place.is_some_and(|place| !held(place, before[i], drawn_under)) {
                self.candidates[i].store(null_mut(), Ordering::Relaxed);
                dropped = true;
            }
        }
        if dropped || (self.is_undecided() && drawn_under != self.first) {
            return self.pick_live(drawn_under != self.first);
        }
        false
    }

    /// Withdraws every candidate. Their addresses are not loaded any more, except by a draw that is
    /// under way. A retired generation stays retired.
    pub(crate) fn withdraw(&self) {
        if self.each().iter().all(Option::is_none) {
            return;
        }
        let live = self.live.load(Ordering::Relaxed);
        if !core::ptr::eq(live, &NO_GENERATION) {
            self.parked.store(live, Ordering::Relaxed);
        }
        self.withdrawn.store(true, Ordering::Relaxed);
        for candidate in &self.candidates {
            candidate.store(null_mut(), Ordering::Relaxed);
        }
        self.pick_live(false);
    }

    /// Restores the place that was live at the withdrawal; the next refill verifies it as always.
    /// Call it only on the kernel on which the place was live. Look-alikes that were not separated
    /// stay withdrawn.
    pub(crate) fn restore(&self) {
        let place = self.parked.swap(null_mut(), Ordering::Relaxed);
        if place.is_null() {
            return;
        }
        self.candidates[0].store(place, Ordering::Relaxed);
        self.withdrawn.store(false, Ordering::Relaxed);
        // The place was singled out before, so a change of the generation is not needed again.
        self.pick_live(true);
    }

    /// Makes the only candidate live, or no candidate. `moved` says that the generation has changed
    /// since the search, so that what is left has been seen to follow it.
    fn pick_live(&self, moved: bool) -> bool {
        let was_live = self.is_live();
        recompute::recompute(&self.live, || core::ptr::from_ref(self.only(moved)).cast_mut());
        was_live != self.is_live()
    }

    /// Returns the only candidate left, if it is the generation for certain.
    fn only(&self, moved: bool) -> &AtomicU64 {
        let mut left = self.each().into_iter().flatten();
        match (left.next(), left.next()) {
            (Some(only), None) if moved || !self.look_alikes => only,
            _ => &NO_GENERATION,
        }
    }

    fn each(&self) -> [Option<&AtomicU64>; CANDIDATES] {
        // SAFETY: null, or an aligned u64 that stays mapped (see `get`).
        core::array::from_fn(|i| unsafe { self.candidates[i].load(Ordering::Relaxed).as_ref() })
    }

    pub(crate) fn status(&self) -> ReseedGeneration {
        if !self.absent.is_empty() {
            return ReseedGeneration::Absent(self.absent);
        }
        if self.withdrawn.load(Ordering::Relaxed) {
            return ReseedGeneration::Quiesced;
        }
        if self.is_live() {
            let place = self.get();
            let distance = (&raw const *place).addr().wrapping_sub(self.start.addr());
            return ReseedGeneration::Live {
                value: place.load(Ordering::Acquire),
                page: (distance / PAGE) as u32,
                offset: (distance % PAGE) as u32,
            };
        }
        match self.each().into_iter().flatten().count() {
            0 => ReseedGeneration::Retired,
            candidates => ReseedGeneration::Undecided { candidates: candidates as u32 },
        }
    }

    /// Replaces the generation by one that a test owns.
    #[cfg(feature = "testing")]
    pub(crate) fn inject(&self, place: &'static AtomicU64) {
        let place = core::ptr::from_ref(place).cast_mut();
        self.candidates[0].store(place, Ordering::Relaxed);
        self.live.store(place, Ordering::Relaxed);
    }
}

/// Returns whether `place` held `value` at some moment since it was `before`. The counter never
/// decreases.
fn held(place: &AtomicU64, before: u64, value: u64) -> bool {
    (before..=place.load(Ordering::Acquire)).contains(&value)
}

/// `struct procmap_query` and PROCMAP_QUERY of `include/uapi/linux/fs.h` (Linux 6.11).
#[repr(C)]
#[derive(Default)]
struct ProcmapQuery {
    size: u64,
    query_flags: u64,
    query_addr: u64,
    vma_start: u64,
    vma_end: u64,
    vma_flags: u64,
    vma_page_size: u64,
    vma_offset: u64,
    inode: u64,
    dev_major: u32,
    dev_minor: u32,
    vma_name_size: u32,
    build_id_size: u32,
    vma_name_addr: u64,
    build_id_addr: u64,
}

const PROCMAP_QUERY: u32 = 0xC068_6611; // _IOWR('f', 17, struct procmap_query)
const _: () = assert!(size_of::<ProcmapQuery>() == 0x68);

/// Returns the start of `[vvar]` and its number of pages, asked of the kernel; else the six pages
/// below the vDSO, which hold it in every kernel so far (four pages, and from 6.18 two of
/// `[vvar_vclock]` above).
///
/// The ioctl answers in 40 us whatever the number of mappings; reading the text of /proc/self/maps
/// takes 700 us with 2,000 of them.
fn data_pages(vdso: *const u8) -> (*const u8, usize) {
    const BELOW: usize = 6;
    if !forced(Force::NoProcmapQuery)
        && let Ok(maps) = Fd::open_read(c"/proc/self/maps")
    {
        let mut above = vdso.addr();
        while let Some((start, end, name)) = mapping_with(&maps, above - 1) {
            if name.starts_with(b"[vvar]\0") {
                return (vdso.with_addr(start), (end - start) / PAGE);
            }
            if !name.starts_with(b"[vvar") || start == 0 {
                break;
            }
            above = start;
        }
    }
    (vdso.with_addr(vdso.addr() - BELOW * PAGE), BELOW)
}

/// Returns start, end and name of the mapping that holds `at`.
fn mapping_with(maps: &Fd, at: usize) -> Option<(usize, usize, [u8; 16])> {
    let mut name = [0; 16];
    let mut query = ProcmapQuery {
        size: size_of::<ProcmapQuery>() as u64,
        query_addr: at as u64,
        vma_name_size: name.len() as u32,
        vma_name_addr: name.as_mut_ptr().expose_provenance() as u64,
        ..ProcmapQuery::default()
    };
    // SAFETY: the structure is the one that the request names, and it allows writing `name`.
    unsafe { maps.ioctl(PROCMAP_QUERY, &mut query) }.ok()?;
    Some((query.vma_start as usize, query.vma_end as usize, name))
}
