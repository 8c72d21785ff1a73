//! Draws of random bytes, and the functions in which a thread is.

use super::symbols::{Function, Kind};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// The source of random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The system call getrandom(2).
    Getrandom,
    /// getrandom in the vDSO, without a system call.
    Vdso,
    /// A read of /dev/urandom.
    Urandom,
    /// A read of /dev/random.
    Random,
    /// A read of /dev/hwrng.
    Hwrng,
    /// RDRAND or RDSEED, in a library's function.
    Instruction,
    /// Jitterentropy: timing of the CPU.
    Jitter,
    /// A library's generator, which has its seed from another source.
    Library,
}

impl Source {
    /// Returns the source that a file is.
    pub(super) fn device(path: &Path) -> Option<Source> {
        match path.to_str()? {
            "/dev/urandom" => Some(Source::Urandom),
            "/dev/random" => Some(Source::Random),
            "/dev/hwrng" => Some(Source::Hwrng),
            _ => None,
        }
    }
}

pub(super) const GRND_NONBLOCK: u32 = 1;
pub(super) const GRND_RANDOM: u32 = 2;
pub(super) const GRND_INSECURE: u32 = 4;

/// The uses of draws that every start has.
pub(super) const USUAL: [&str; 3] = [
    "glibc's key against double frees",
    "keys of hash tables",
    "AWS-LC's question whether the kernel is ready",
];

/// Random bytes that a program got.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    /// The end of the call, in own time since the program's start.
    pub(super) ended: Duration,
    /// The call's own time.
    pub(super) took: Duration,
    /// The bytes, where the call returns their number.
    pub(super) bytes: Option<u64>,
    /// The source.
    pub(super) source: Source,
    /// The third argument of getrandom.
    pub(super) flags: Option<u32>,
    /// The function that returned them.
    pub(super) function: Option<String>,
    /// The library's function in which the call was made.
    pub(super) inside: Option<String>,
    /// The file whose code called.
    pub(super) caller: Option<String>,
    /// The program's file.
    pub(super) program: Option<String>,
}

impl Draw {
    /// Returns the use of bytes that no program asked for: each start has them, whatever the
    /// program does, and no key is made of them.
    pub(super) fn housekeeping(&self) -> Option<&'static str> {
        match (self.flags?, self.bytes?) {
            // glibc's tcache_key_initialize, since 2.36.
            (GRND_NONBLOCK, 8) => Some(USUAL[0]),
            // Rust's hashmap_random_keys and systemd's hash tables take what is there, even if the
            // generator is not ready.
            (GRND_INSECURE, 16) => Some(USUAL[1]),
            // AWS-LC asks for one byte, which it does not use, to see whether the kernel is ready.
            (GRND_NONBLOCK, 1) => Some(USUAL[2]),
            _ => None,
        }
    }
}

/// A function that has begun and has not returned.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) function: Function,
    /// Its first instruction.
    pub(super) at: u64,
    pub(super) began: Duration,
    pub(super) caller: Option<String>,
    /// True for a call that asks the vDSO for the size of its state.
    pub(super) is_question: bool,
    /// True if a function of jitterentropy called it, which counts the time already.
    pub(super) is_inside_jitter: bool,
    back: u64,
    stack: u64,
}

/// The functions in which a thread is, the outermost first.
#[derive(Clone, Debug, Default)]
pub(super) struct Stack(Vec<Frame>);

impl Stack {
    /// Enters a function that returns to `back`; its return address is at `stack`.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn enter(
        &mut self,
        function: Function,
        at: u64,
        back: u64,
        stack: u64,
        began: Duration,
        caller: Option<String>,
        is_question: bool,
    ) {
        let is_inside_jitter = self.0.iter().any(|frame| frame.function.kind == Kind::Jitter);
        let frame =
            Frame { function, at, began, caller, is_question, is_inside_jitter, back, stack };
        self.0.push(frame);
    }

    /// Returns the functions that ended with a return to `back`, the innermost first. The stack
    /// pointer is then above their return addresses, also if an exception unwound some of them.
    pub(super) fn leave(&mut self, back: u64, stack: u64) -> Vec<Frame> {
        let Some(at) = self.0.iter().position(|frame| frame.back == back && frame.stack < stack)
        else {
            return Vec::new();
        };
        let mut ended = self.0.split_off(at);
        ended.reverse();
        ended
    }

    /// Returns the outermost function of a library, whose generator is being seeded.
    pub(super) fn library(&self) -> Option<String> {
        let frame = self.0.iter().find(|frame| frame.function.kind == Kind::Library)?;
        Some(frame.function.name.clone())
    }
}
