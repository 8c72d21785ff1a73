//! The speed that headwater promises, as ratios of times measured in the same rounds, on a CPU with VAES.
//!
//! "The better of two" is two lines: a promise against the better is one against both.

/// One promise: `subject` takes at most 1/`at_least` of the time of `against`.
pub(crate) struct Target {
    pub(crate) case: &'static str,
    pub(crate) len: usize,
    pub(crate) subject: &'static str,
    pub(crate) against: Against,
    pub(crate) at_least: f64,
}

/// What a subject is held against.
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
}

const fn target(
    case: &'static str,
    len: usize,
    subject: &'static str,
    against: &'static str,
    at_least: f64,
) -> Target {
    Target { case, len, subject, against: Against::Peer(against), at_least }
}

const fn first_byte(note: &'static str) -> Target {
    Target {
        case: FIRST_BYTE,
        len: 16,
        subject: "headwater",
        against: Against::Microseconds(200.0, note),
        at_least: 1.0,
    }
}

/// The case of the targets that are times.
pub(crate) const FIRST_BYTE: &str = "first-byte-after-start";

const BUFFERED: &str = "headwater[buffered]";
const HEDGED: &str = "headwater[hedged]";
const RNG: &str = "headwater-rng[buffered]";

const ARS7: &str = "headwater-ars7";
/// An array of 32 Ki numbers, which a second cache holds.
const ARRAY: usize = 256 << 10;

/// Every target.
pub(crate) const TARGETS: [Target; 33] = [
    target("fill", 16, BUFFERED, "rand-thread_rng", 1.6),
    target("fill", 16, BUFFERED, "rand-thread_rng-held", 1.4),
    target("fill", 16, BUFFERED, "getrandom-vdso", 7.0),
    target("fill", 16, BUFFERED, "getrandom-syscall", 70.0),
    target("fill", 16, BUFFERED, "openssl-RAND_bytes", 120.0),
    target("fill", 16, HEDGED, "getrandom-vdso", 1.0),
    target("fill", 64, HEDGED, "getrandom-vdso", 1.0),
    target("u64", 8, RNG, "rand-thread_rng", 2.0),
    target("u64", 8, RNG, "rand-thread_rng-held", 1.6),
    target("fill", 256, BUFFERED, "rand-thread_rng", 2.2),
    target("fill", 256, BUFFERED, "aws-lc", 10.0),
    target("fill", 64 << 10, "headwater", "openssl-RAND_bytes", 2.0),
    target("fill", 64 << 10, "headwater", "aws-lc", 2.0),
    target("fill", 64 << 20, "headwater", "openssl-RAND_bytes", 1.8),
    target("fill", 64 << 20, "headwater", "aws-lc", 1.8),
    // From C, by a library: at most a nanosecond more than the Rust function takes, which is 6.6 here.
    target("fill", 16, "headwater-c", "headwater", 0.87),
    // By OpenSSL's own front door, which is most of the time at 16 bytes.
    target("fill", 16, "openssl-headwater", "openssl-RAND_bytes", 6.0),
    target("fill", 64 << 10, "openssl-headwater", "openssl-RAND_bytes", 1.8),
    // Nothing is shared in rand's thread generators, so that what they lose is the machine's.
    Target {
        case: "fill",
        len: 16,
        subject: "headwater",
        against: Against::ScalingOf("rand-thread_rng"),
        at_least: 0.93,
    },
    first_byte("as started"),
    first_byte("2000 mappings"),
    // Streams, none of them for secrets.
    target("fill", 8, "headwater-pseudo", "getrandom-syscall", 50.0),
    target("stream-u64", ARRAY, ARS7, "rand_xoshiro", 2.5),
    target("stream-u64", ARRAY, ARS7, "mkl_random-ARS5", 1.3),
    target("stream-u64", ARRAY, "headwater-xoshiro256pp-x8", "headwater-xoshiro256pp", 2.5),
    target("stream-u64", ARRAY, "headwater-philox4x32", "rand_philox", 1.25),
    target("stream-u64", 256 << 20, ARS7, "memset", 0.8),
    target("stream-f64", ARRAY, ARS7, "numpy-PCG64", 6.0),
    target("stream-normal", ARRAY, ARS7, "numpy-PCG64", 7.0),
    target("stream-bounded", ARRAY, ARS7, "numpy-PCG64", 4.0),
    target("stream-shuffle", ARRAY, ARS7, "numpy-PCG64", 6.0),
    Target {
        case: "stream-child",
        len: 16,
        subject: ARS7,
        against: Against::Nanoseconds(150.0),
        at_least: 1.0,
    },
    Target {
        case: "stream-u64",
        len: ARRAY,
        subject: ARS7,
        against: Against::ScalingOf("headwater-xoshiro256pp"),
        at_least: 0.93,
    },
];
