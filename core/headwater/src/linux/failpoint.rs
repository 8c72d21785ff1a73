//! Forced facts and hooks for tests (feature `testing`); in every other build all of this is
//! nothing.

/// A fact of the machine that a test replaces. Set before the first draw of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs)]
#[cfg_attr(not(feature = "testing"), allow(dead_code, unreachable_pub))]
pub enum Force {
    NoVdso,
    NoGeneration,
    NoProcmapQuery,
    NoDroppable,
    NoWipeOnFork,
    NoMlock,
    NoMemory,
    NoVaes,
    NoAvx512,
    NoAes,
    NoCpuRng,
    CpuRngKnown,
    CpuRngStuck,
    CpuRngOnes,
    CpuRngZero,
    CpuRngFails,
    CpuRngSlow,
    NoRseq,
    NoSections,
    NoRdpid,
    WrongRdpid,
    NoGetcpu,
    OneCpu,
    ClockStands,
    BareMetal,
    NoHypervisorBit,
    VmgenidBound,
    VmgenidNotBound,
    VmclockSlow,
    LookAlikes,
    GetrandomEnosys,
    GetrandomEperm,
    GetrandomNotReady,
    GetrandomEintr,
    GetrandomShort,
    UrandomAbsent,
    RandomDrained,
    WrongAnswer,
}

/// A place in the code where a test may step in: between what is done there and what is not yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "testing"), allow(dead_code, unreachable_pub))]
pub enum Point {
    /// The state of the process is complete, and not published.
    SetUp,
    /// The number of an epoch is reserved, and not published.
    EpochChosen,
    /// The stamp of sections is stored, and the number of their CPUs is not.
    HalfSwitched,
    /// A draw under a lock has an epoch, and no slot.
    EpochLoaded,
    /// A slot is taken, and nothing is read from its page.
    Locked,
    /// A key is there, or the kernel's half of one, and nothing is made of it.
    Keyed,
    /// The first bytes of a request are written; in a refill all, with its key not erased.
    MidCopy,
    /// All bytes of a request are written, and the guards are not compared after it.
    Copied,
    /// The page of a refill is complete, its guards are compared, and it is not put.
    Complete,
    /// A put was tried, and the slot does not know the page that came back.
    Exchanged,
    /// A part of a request with a key of its own is written, or a whole one of mode `kernel`, and
    /// the epoch is not compared after it.
    LargeChunk,
}

/// The stubs of every build without the feature: the optimiser removes each call.
#[cfg(not(feature = "testing"))]
mod real {
    use super::{Force, Point};
    use core::ffi::CStr;

    #[inline(always)]
    pub(crate) fn forced(_: Force) -> bool {
        false
    }

    #[inline(always)]
    pub(crate) fn every_other_time() -> bool {
        false
    }

    #[inline(always)]
    pub(crate) fn hook(_: Point) {}

    #[inline(always)]
    pub(crate) fn witness(_: *const u8) {}

    #[inline(always)]
    pub(crate) fn passed() -> u64 {
        0
    }

    #[inline(always)]
    pub(crate) fn rooted<T>(path: &CStr, open: impl FnOnce(&CStr) -> T) -> T {
        open(path)
    }
}

/// The state that tests set. `SeqCst` throughout, because speed does not matter here, and a test
/// must not depend on orders that the library lacks.
#[cfg(feature = "testing")]
mod real {
    use super::{Force, Point};
    use core::ffi::{CStr, c_char};
    use core::ptr::null_mut;
    use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering::SeqCst};

    static ROOT: AtomicPtr<c_char> = AtomicPtr::new(null_mut());
    static FORCED: AtomicU64 = AtomicU64::new(0);
    static HOOK: AtomicPtr<()> = AtomicPtr::new(null_mut());
    static PASSED: AtomicU64 = AtomicU64::new(0);
    static WITNESS: AtomicPtr<()> = AtomicPtr::new(null_mut());

    pub(crate) fn forced(force: Force) -> bool {
        FORCED.load(SeqCst) >> (force as u32) & 1 == 1
    }

    /// Returns true at every second call, which is the rate of forced interruptions.
    pub(crate) fn every_other_time() -> bool {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        CALLS.fetch_add(1, SeqCst).is_multiple_of(2)
    }

    pub(crate) fn set_forced(force: Force, on: bool) {
        let bit = 1 << (force as u32);
        if on {
            FORCED.fetch_or(bit, SeqCst)
        } else {
            FORCED.fetch_and(!bit, SeqCst)
        };
    }

    pub(crate) fn hook(point: Point) {
        let hook = HOOK.load(SeqCst);
        if !hook.is_null() {
            #[allow(unsafe_code)]
            // SAFETY: only `set_hook` stores here, and it stores a pointer of exactly this type.
            let hook: fn(Point) = unsafe { core::mem::transmute(hook) };
            hook(point);
        }
    }

    pub(crate) fn set_hook(hook: Option<fn(Point)>) {
        let hook = hook.map_or(null_mut(), |hook| hook as *mut ());
        HOOK.store(hook, SeqCst);
    }

    /// Returns the seconds that a test lets pass at once.
    pub(crate) fn passed() -> u64 {
        PASSED.load(SeqCst)
    }

    pub(crate) fn pass(seconds: u64) {
        PASSED.fetch_add(seconds, SeqCst);
    }

    /// Shows a test the key whose expansion begins at `round_keys`: the key is its first 32 bytes.
    pub(crate) fn witness(round_keys: *const u8) {
        let witness = WITNESS.load(SeqCst);
        if !witness.is_null() {
            #[allow(unsafe_code)]
            // SAFETY: only `set_witness` stores here, and it stores a pointer of exactly this type;
            // every expansion is at least 32 bytes long.
            unsafe {
                let witness: fn(&[u8; 32]) = core::mem::transmute(witness);
                witness(&*round_keys.cast());
            }
        }
    }

    pub(crate) fn set_witness(witness: Option<fn(&[u8; 32])>) {
        let witness = witness.map_or(null_mut(), |witness| witness as *mut ());
        WITNESS.store(witness, SeqCst);
    }

    /// Calls `open` with `path` under the test's root directory, if it set one and the path is one
    /// of those that describe the machine.
    pub(crate) fn rooted<T>(path: &CStr, open: impl FnOnce(&CStr) -> T) -> T {
        let root = ROOT.load(SeqCst);
        let described = [&b"/sys/"[..], b"/dev/vmclock", b"/proc/", b"/run/"];
        if root.is_null() || !described.iter().any(|prefix| path.to_bytes().starts_with(prefix)) {
            return open(path);
        }
        #[allow(unsafe_code)]
        // SAFETY: only `set_root` stores here, and it stores a C string that lives for ever.
        let root = unsafe { CStr::from_ptr(root) };
        let mut joined = [0u8; 512];
        let bytes = root.to_bytes().iter().chain(path.to_bytes_with_nul());
        for (to, from) in joined.iter_mut().zip(bytes) {
            *to = *from;
        }
        open(CStr::from_bytes_until_nul(&joined).expect("a test's root directory is short"))
    }

    pub(crate) fn set_root(root: &'static CStr) {
        ROOT.store(root.as_ptr().cast_mut(), SeqCst);
    }
}

pub(crate) use real::*;
