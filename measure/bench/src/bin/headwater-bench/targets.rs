//! The speed that headwater promises, as ratios of times measured in the same rounds, on a CPU with
//! VAES. Some promises differ between Intel and AMD.
//!
//! "The better of two" is two lines: a promise against the better is one against both.

/// Promises depend on the maker of a CPU, because its instructions take different times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vendor {
    Intel,
    Amd,
    /// The promises of a CPU that no target was set for are the lower ones.
    Unknown,
}

impl Vendor {
    /// Reads the name that a CPU has for its maker.
    pub(crate) fn of(name: Option<&str>) -> Vendor {
        match name {
            Some("GenuineIntel") => Vendor::Intel,
            Some("AuthenticAMD") => Vendor::Amd,
            _ => Vendor::Unknown,
        }
    }

    /// Returns the name for a title.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Vendor::Intel => "Intel",
            Vendor::Amd => "AMD",
            Vendor::Unknown => "an unknown vendor, the lower of Intel's and AMD's",
        }
    }
}

/// A ratio meets its target if it is not below this one.
#[derive(Clone, Copy)]
pub(crate) struct Least {
    intel: f64,
    amd: f64,
}

impl Least {
    const fn everywhere(ratio: f64) -> Least {
        Least { intel: ratio, amd: ratio }
    }

    /// Returns the ratio for a CPU of this maker.
    pub(crate) fn on(self, vendor: Vendor) -> f64 {
        match vendor {
            Vendor::Intel => self.intel,
            Vendor::Amd => self.amd,
            Vendor::Unknown => self.intel.min(self.amd),
        }
    }
}

/// One promise: `subject` takes at most 1/`at_least` of the time of `against`.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) case: &'static str,
    pub(crate) len: usize,
    pub(crate) threads: usize,
    pub(crate) subject: &'static str,
    pub(crate) against: Against,
    pub(crate) at_least: Least,
    /// The target is met only if the subject's row counted no fallback.
    pub(crate) without_fallbacks: bool,
}

impl Target {
    /// Sets different promises for the two makers.
    const fn intel_amd(self, intel: f64, amd: f64) -> Target {
        Target { at_least: Least { intel, amd }, ..self }
    }

    const fn on_threads(self, threads: usize) -> Target {
        Target { threads, ..self }
    }

    const fn without_fallbacks(self) -> Target {
        Target { without_fallbacks: true, ..self }
    }
}

/// The implementation that a subject is compared with.
#[derive(Clone, Copy)]
pub(crate) enum Against {
    /// Another implementation, in the same rounds.
    Peer(&'static str),
    /// Another implementation: not its time, but how much more it does on two threads than on one.
    ScalingOf(&'static str),
    /// A time, for the row with this note.
    Microseconds(f64, &'static str),
    /// A time.
    Nanoseconds(f64),
    /// The subject's row with dirty upper halves is held against its row with clean ones.
    Clean,
}

const fn promise(
    case: &'static str,
    len: usize,
    subject: &'static str,
    against: Against,
    at_least: f64,
) -> Target {
    let at_least = Least::everywhere(at_least);
    Target { case, len, threads: 1, subject, against, at_least, without_fallbacks: false }
}

const fn target(
    case: &'static str,
    len: usize,
    subject: &'static str,
    against: &'static str,
    at_least: f64,
) -> Target {
    promise(case, len, subject, Against::Peer(against), at_least)
}

/// Makes a promise for [`CROWD`] threads.
const fn crowd(subject: &'static str, against: &'static str, at_least: f64) -> Target {
    target("crowd", 16, subject, against, at_least).on_threads(CROWD)
}

/// Promises that a fill after dirty upper halves takes at most 1.3 times as long.
const fn dirty(subject: &'static str) -> Target {
    promise(UPPER_HALVES, 16, subject, Against::Clean, 0.77)
}

const fn first_byte(note: &'static str) -> Target {
    promise(FIRST_BYTE, 16, "headwater", Against::Microseconds(200.0, note), 1.0)
}

/// The case of the targets that are times.
pub(crate) const FIRST_BYTE: &str = "first-byte-after-start";

/// The rows of this case are pairs of one implementation.
pub(crate) const UPPER_HALVES: &str = "upper-halves";

/// Most machines have fewer CPUs than a crowd has threads.
const CROWD: usize = 64;

const BUFFERED: &str = "headwater[buffered]";
const HEDGED: &str = "headwater[hedged]";
const RNG: &str = "headwater-rng[buffered]";

const ARS7: &str = "headwater-ars7";
/// An array of 32 Ki numbers, which a second cache holds.
const ARRAY: usize = 256 << 10;

/// Every target.
pub(crate) const TARGETS: [Target; 42] = [
    target("fill", 16, BUFFERED, "rand-thread_rng", 1.5).intel_amd(1.5, 1.8),
    target("fill", 16, BUFFERED, "rand-thread_rng-held", 1.4),
    target("fill", 16, BUFFERED, "getrandom-vdso", 7.0).intel_amd(7.5, 7.0),
    target("fill", 16, BUFFERED, "getrandom-syscall", 70.0),
    target("fill", 16, BUFFERED, "openssl-RAND_bytes", 120.0),
    // A hedged draw of 16 bytes asks the CPU as well, and takes 1.15 times the time of the vDSO.
    target("fill", 16, HEDGED, "getrandom-vdso", 0.87),
    target("fill", 64, HEDGED, "getrandom-vdso", 1.0),
    target("u64", 8, BUFFERED, "rand-thread_rng", 1.0).intel_amd(1.0, 1.7),
    target("u64", 8, RNG, "rand-thread_rng", 2.0),
    target("u64", 8, RNG, "rand-thread_rng-held", 1.6),
    target("fill", 64, BUFFERED, "rand-thread_rng", 1.7).intel_amd(2.0, 1.7),
    target("fill", 256, BUFFERED, "rand-thread_rng", 2.2),
    target("fill", 256, BUFFERED, "aws-lc", 10.0),
    target("fill", 64 << 10, "headwater", "openssl-RAND_bytes", 2.0),
    target("fill", 64 << 10, "headwater", "aws-lc", 2.0),
    target("fill", 64 << 20, "headwater", "openssl-RAND_bytes", 1.8),
    target("fill", 64 << 20, "headwater", "aws-lc", 1.8),
    // The kernel preempts some of these threads in the middle of a draw.
    crowd("headwater", "headwater-rng", 0.85).without_fallbacks(),
    crowd("headwater", "rand-thread_rng", 1.5).without_fallbacks(),
    crowd("headwater[locked]", "headwater-rng", 0.4),
    // A caller's code may have forgotten vzeroupper.
    dirty("headwater"),
    dirty("headwater-rng"),
    dirty("headwater[hedged]"),
    dirty("headwater-c"),
    // From C, by a library: at most a nanosecond more than the Rust function takes, which is 6.6
    // here.
    target("fill", 16, "headwater-c", "headwater", 0.87),
    // By OpenSSL's own front door, which is most of the time at 16 bytes.
    target("fill", 16, "openssl-headwater", "openssl-RAND_bytes", 6.0),
    target("fill", 64 << 10, "openssl-headwater", "openssl-RAND_bytes", 1.8),
    // Nothing is shared in rand's thread generators, so that what they lose is the machine's.
    promise("fill", 16, "headwater", Against::ScalingOf("rand-thread_rng"), 0.93),
    first_byte("as started"),
    first_byte("2000 mappings"),
    // Streams, none of them for secrets.
    target("fill", 8, "headwater-pseudo", "getrandom-syscall", 60.0),
    target("stream-u64", ARRAY, ARS7, "rand_xoshiro", 2.5),
    target("stream-u64", ARRAY, ARS7, "mkl_random-ARS5", 1.3),
    target("stream-u64", ARRAY, "headwater-xoshiro256pp-x8", "headwater-xoshiro256pp", 2.5),
    target("stream-u64", ARRAY, "headwater-philox4x32", "rand_philox", 1.25),
    target("stream-u64", 256 << 20, ARS7, "memset", 0.8),
    target("stream-f64", ARRAY, ARS7, "numpy-PCG64", 6.0),
    target("stream-normal", ARRAY, ARS7, "numpy-PCG64", 7.0),
    target("stream-bounded", ARRAY, ARS7, "numpy-PCG64", 4.0),
    target("stream-shuffle", ARRAY, ARS7, "numpy-PCG64", 6.0),
    promise("stream-child", 16, ARS7, Against::Nanoseconds(150.0), 1.0),
    promise("stream-u64", ARRAY, ARS7, Against::ScalingOf("headwater-xoshiro256pp"), 0.93),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vendor_has_its_own_promises_and_an_unknown_one_the_lower_ones() {
        assert_eq!(Vendor::of(Some("GenuineIntel")), Vendor::Intel);
        assert_eq!(Vendor::of(Some("AuthenticAMD")), Vendor::Amd);
        assert_eq!(Vendor::of(Some("HygonGenuine")), Vendor::Unknown);
        assert_eq!(Vendor::of(None), Vendor::Unknown);
        let least = |case: &str, len: usize, subject: &str, against: &str| {
            let mut targets = TARGETS
                .iter()
                .filter(|target| (target.case, target.len, target.subject) == (case, len, subject));
            let target = targets
                .find(|target| matches!(target.against, Against::Peer(peer) if peer == against));
            let at_least = target.unwrap().at_least;
            [Vendor::Intel, Vendor::Amd, Vendor::Unknown].map(|vendor| at_least.on(vendor))
        };
        assert_eq!(least("fill", 16, BUFFERED, "rand-thread_rng"), [1.5, 1.8, 1.5]);
        assert_eq!(least("fill", 16, BUFFERED, "getrandom-vdso"), [7.5, 7.0, 7.0]);
        assert_eq!(least("fill", 64, BUFFERED, "rand-thread_rng"), [2.0, 1.7, 1.7]);
        assert_eq!(least("fill", 256, BUFFERED, "rand-thread_rng"), [2.2; 3]);
        assert_eq!(least("u64", 8, BUFFERED, "rand-thread_rng"), [1.0, 1.7, 1.0]);
    }

    #[test]
    fn the_crowd_is_promised_without_fallbacks() {
        let crowd: Vec<_> = TARGETS.iter().filter(|target| target.case == "crowd").collect();
        assert!(crowd.iter().all(|target| target.threads == CROWD));
        let shared = crowd.iter().filter(|target| target.subject == "headwater");
        assert_eq!(shared.filter(|target| target.without_fallbacks).count(), 2);
    }
}
