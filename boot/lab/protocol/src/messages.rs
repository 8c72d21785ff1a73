//! Every command and every message.
//!
//! Times are whole microseconds (`_us`); those with `at`, `from`, `to` and `until` count from boot.

use crate::checks::{Nodes, NodesPlan, Sections, SectionsPlan, Symbol};
use crate::files::{Data, Entry, FileError};
use crate::hex;
use crate::job::{Ended, Job, Output};
use crate::restored::{Dumpable, Restored};
use serde::{Deserialize, Serialize};

/// A command of the lab to a guest. The guest answers each with messages, the last of which is
/// [`Done`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Pauses each thread after `more` further rounds. The answer comes once all threads pause.
    Stop {
        /// Rounds that each thread still draws.
        more: u64,
    },
    /// Waits until the kernel has just reseeded by its own clock.
    Reseeded {
        /// Seconds after which the guest stops waiting.
        limit_s: u64,
    },
    /// Asks every process that draws for its [`Status`].
    Status,
    /// Asks for the [`Marks`] of every thread, from each `step`th round.
    Marks {
        /// Distance between two rounds whose marks are sent.
        step: u64,
    },
    /// Asks for [`Round`]s of one thread.
    Draws {
        /// Index of the thread.
        thread: usize,
        /// First round.
        from: u64,
        /// Number of rounds.
        count: u64,
    },
    /// Hibernates to the machine's disk, which switches it off. The answer comes from each machine
    /// that resumes.
    Hibernate,
    /// Asks for the kernel's [`Log`].
    Log {
        /// All lines, or only those about the random generator and its sources.
        all: bool,
    },
    /// Runs `headwater doctor` and `headwater wait` beside a process that waits for bytes.
    Doctor,
    /// Stresses restartable sequences, and answers with [`Sections`].
    Sections(SectionsPlan),
    /// Looks on which memory nodes pages lie, and answers with [`Nodes`].
    Nodes(NodesPlan),
    /// Runs a program to its end. Its [`Output`] comes while it runs, and [`Ended`] is the last.
    Run(Job),
    /// Asks where the kernel has a function, and answers with [`Symbol`].
    Symbol {
        /// Its name.
        name: String,
    },
    /// Asks for the content of a file as [`Data`], or a [`FileError`].
    Read {
        /// Absolute path.
        path: String,
    },
    /// Asks for the entries of a directory, or a [`FileError`].
    List {
        /// Absolute path.
        path: String,
    },
    /// Ends the guest. This command alone has no answer.
    Off,
}

/// A message that consists of one struct.
pub trait Payload: Sized {
    /// Returns the struct if `message` is of its kind.
    fn of(message: &Message) -> Option<&Self>;
}

/// Returns all messages of one kind, in the order of sending.
pub fn all<T: Payload + 'static>(messages: &[Message]) -> impl Iterator<Item = &T> {
    messages.iter().filter_map(T::of)
}

/// Returns the first message of one kind.
pub fn first<T: Payload + 'static>(messages: &[Message]) -> Option<&T> {
    all(messages).next()
}

macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// A message of a guest to the lab.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Message {
            $($(#[$doc])* $name($name),)+
        }

        impl Message {
            /// Names of the kinds, for a test that none of them is forgotten.
            pub const KINDS: &[&str] = &[$(stringify!($name)),+];
        }

        $(impl Payload for $name {
            fn of(message: &Message) -> Option<&Self> {
                match message {
                    Message::$name(payload) => Some(payload),
                    _ => None,
                }
            }
        }

        impl From<$name> for Message {
            fn from(payload: $name) -> Message {
                Message::$name(payload)
            }
        })+
    };
}

messages! {
    /// The guest's program runs.
    Hello,
    /// A kernel module was loaded, or not.
    Module,
    /// A seed was written to the kernel's generator.
    Seed,
    /// The real-time clock was asked for interrupts.
    Rtc,
    /// The answer to a request that does not wait.
    Impatient,
    /// The time for which one request waited.
    Caller,
    /// Interrupts while requests waited.
    Interrupts,
    /// A sample of `entropy_avail`.
    Entropy,
    /// A file that decides how soon the kernel is ready.
    Fact,
    /// The CPU's features.
    Cpu,
    /// The machine's devices.
    Devices,
    /// A line of the kernel's log.
    Log,
    /// The guest takes commands from here on.
    Ready,
    /// A process's mode and detectors.
    Status,
    /// Cycle counters of some rounds of one thread.
    Marks,
    /// All draws of one round of one thread.
    Round,
    /// The end of `headwater doctor`.
    DoctorEnd,
    /// The end of `headwater wait`.
    WaitEnd,
    /// Results of one stress of restartable sequences.
    Sections,
    /// The places of pages in a machine with memory nodes.
    Nodes,
    /// The address of a function of the kernel.
    Symbol,
    /// Bytes that a program wrote.
    Output,
    /// The end of a program.
    Ended,
    /// A piece of a file.
    Data,
    /// An entry of a directory.
    Entry,
    /// A file or directory could not be read.
    FileError,
    /// A process outside QEMU is ready to be dumped by CRIU.
    Dumpable,
    /// A process that CRIU restored has drawn its rounds.
    Restored,
    /// The command is done.
    Done,
    /// The guest cannot do what it was asked to do.
    Failed,
}

/// First message of a guest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Version of the guest's program.
    pub version: String,
    /// Start of the guest's program.
    pub init_us: u64,
    /// True if getrandom(2) would not have blocked at that moment.
    pub ready: bool,
    /// Version of the libcrypto that is linked in, or the reason why none is.
    pub openssl: String,
    /// Content of /proc/version.
    pub kernel: String,
}

/// See [`Message::Module`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// File name.
    pub name: String,
    /// End of the attempt.
    pub at_us: u64,
    /// Reason of a failure.
    pub error: Option<String>,
}

/// See [`Message::Seed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seed {
    /// Bits that the kernel was asked to credit.
    pub bits: u32,
    /// End of the attempt.
    pub at_us: u64,
    /// True if the kernel took the seed.
    pub accepted: bool,
}

/// See [`Message::Rtc`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rtc {
    /// True if the clock interrupts now.
    pub accepted: bool,
}

/// See [`Message::Impatient`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Impatient {
    /// The interface that was called.
    pub name: String,
    /// The answer.
    pub answer: Answer,
    /// Duration of the call.
    pub took_us: u64,
}

/// Answer to a request that does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Random bytes.
    Ok,
    /// The kernel's generator is not ready.
    NotReady,
    /// Another error.
    Error,
}

impl Answer {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Ok => "ok",
            Answer::NotReady => "not-ready",
            Answer::Error => "error",
        }
    }
}

/// See [`Message::Caller`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The interface that was called.
    pub name: String,
    /// Start of the request.
    pub from_us: u64,
    /// Return of the request; `None`: it still waited at the limit.
    pub to_us: Option<u64>,
    /// The moment at which the guest stopped watching the request.
    pub until_us: u64,
}

/// See [`Message::Interrupts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interrupts {
    /// All interrupts while requests waited, timers included.
    pub all: u64,
    /// Interrupts of devices; the kernel credits no others.
    pub devices: u64,
}

/// See [`Message::Entropy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entropy {
    /// Time of the sample.
    pub at_us: u64,
    /// Bits that the kernel has counted.
    pub bits: u32,
}

/// See [`Message::Fact`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Path of the file.
    pub path: String,
    /// Its content, with `|` in place of newlines.
    pub text: String,
}

/// See [`Message::Cpu`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// RDRAND, or RNDR on arm64.
    pub rdrand: bool,
    /// RDSEED.
    pub rdseed: bool,
    /// A cycle counter.
    pub tsc: bool,
    /// AES instructions.
    pub aes: bool,
    /// CPUID's hypervisor bit.
    pub hypervisor: bool,
}

/// See [`Message::Devices`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Devices {
    /// The kernel was booted by UEFI firmware.
    pub efi: bool,
    /// A vmgenid device is bound to its driver.
    pub vmgenid: bool,
    /// /dev/vmclock0 exists.
    pub vmclock: bool,
}

/// See [`Message::Log`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    /// Time of the line.
    pub at_us: u64,
    /// The line, without its time.
    pub text: String,
}

/// See [`Message::Ready`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// Time of this message.
    pub at_us: u64,
    /// The cycle counter at the same time.
    pub cycles: u64,
    /// For each thread that draws, the mode of its process.
    pub threads: Vec<String>,
    /// Names of the witnesses, in the order of [`Round::draws`].
    pub witnesses: Vec<String>,
}

/// See [`Message::Status`]. Values are the names that `headwater status` prints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The mode that the process asked for.
    pub asked: String,
    /// The mode that it is served in.
    pub mode: String,
    /// Source of kernel bytes.
    pub source: String,
    /// The kernel's reseed generation.
    pub reseed_generation: String,
    /// The clone marker.
    pub vmclock: String,
    /// The virtual machine's generation identifier.
    pub vmgenid: String,
    /// Bare metal or a virtual machine.
    pub hardware: String,
    /// The CPU's random instruction.
    pub cpu_rng: String,
    /// Memory that pages are made of.
    pub page: String,
    /// The cipher's backend.
    pub cipher: String,
    /// Reason for the mode.
    pub reason: String,
}

/// See [`Message::Marks`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// Index of the thread.
    pub thread: usize,
    /// Round of the first mark.
    pub first: u64,
    /// Distance between two rounds.
    pub step: u64,
    /// Cycle counters.
    pub marks: Vec<u64>,
}

/// See [`Message::Round`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Number of the round.
    pub number: u64,
    /// One draw of each witness.
    pub draws: Vec<Draw>,
}

/// One draw: `MARK:BYTES` in hexadecimal, so that a round of nine draws fits one short line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Draw {
    /// The cycle counter before the draw; 0: this witness was left out of this round.
    pub mark: u64,
    /// The bytes; `None`: this witness is unavailable.
    pub bytes: Option<[u8; 16]>,
}

impl From<Draw> for String {
    fn from(draw: Draw) -> String {
        let bytes = draw.bytes.map_or_else(String::new, |bytes| hex::encode(&bytes));
        format!("{:x}:{bytes}", draw.mark)
    }
}

impl TryFrom<String> for Draw {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Draw, Self::Error> {
        let (mark, bytes) = text.split_once(':').ok_or("a draw without a colon")?;
        // A sign would be accepted by the parser and cannot have been sent.
        let is_hex = !mark.is_empty() && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mark = u64::from_str_radix(mark, 16).ok().filter(|_| is_hex).ok_or("a bad mark")?;
        let bytes = match bytes {
            "" => None,
            bytes => {
                let bytes = hex::decode(bytes).and_then(|bytes| bytes.try_into().ok());
                Some(bytes.ok_or("a draw that is not 16 bytes")?)
            }
        };
        Ok(Draw { mark, bytes })
    }
}

/// See [`Message::DoctorEnd`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorEnd {
    /// Exit status.
    pub status: i32,
    /// Duration.
    pub took_us: u64,
    /// Number of the process that waits for bytes.
    pub patient: u32,
}

/// See [`Message::WaitEnd`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitEnd {
    /// Exit status.
    pub status: i32,
    /// Duration.
    pub took_us: u64,
}

/// See [`Message::Done`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// Messages that this process has sent since the command. [`Status`] does not count, because
    /// other processes send it.
    pub messages: u64,
}

/// See [`Message::Failed`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The failure and its reason.
    pub text: String,
}
