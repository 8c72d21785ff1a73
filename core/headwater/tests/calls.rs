//! Every system call that a process makes, seen by ptrace, is the one that a small model says,
//! whatever the kernel answers: nothing more, nothing less, in this order.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated_as;
use headwater::testing::{Force, set};
use headwater::{Mode, ReseedGeneration, Rng};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use support::answers::{Answer, Answers, Devices, Scribe, Which};
use support::looks::{ask, machine};
use support::machine::{bind, cpus, set_mode_variable, skip};
use support::model::{Draw, MANY, Machine, Model};
use support::tracer::{CAN_MEDDLE, traced};

use Draw::{AskStatus, Fill, HandleFill, ManyFills, NewHandle, TryFill, Word as OneWord};

/// Each kind of request, past the end of a page (3,536 bytes), above the limit of small ones, and
/// with two keys.
const DRAWS: [Draw; 16] = [
    OneWord,
    Fill(100),
    Fill(1024),
    Fill(1024),
    Fill(1024),
    Fill(1024),
    OneWord,
    Fill(2000),
    NewHandle,
    HandleFill(16),
    HandleFill(1024),
    HandleFill(1024),
    HandleFill(1024),
    HandleFill(1024),
    HandleFill(2000),
    Fill(7),
];
const LARGE: usize = (1 << 20) + 1;
/// Runs of one program that may differ from the model, each in another way. With eight copies of
/// this test on one CPU, fewer than one run in a thousand did.
const INTERRUPTIONS: u32 = 5;
const SENTINEL: u8 = 0xA5;

/// The results that a traced child reports.
#[derive(Default)]
#[repr(C)]
struct Report {
    /// A bit for each step that was served.
    served: AtomicU32,
    source: AtomicU32,
    /// The kernel's reseed generation; 0 where it cannot be seen.
    generation: AtomicU64,
}

impl Report {
    /// Returns a new report in memory that children share.
    fn shared() -> &'static Report {
        let (rights, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: new memory, never unmapped; zeros are a valid report, of atomics.
        unsafe {
            let at = libc::mmap(null_mut(), size_of::<Report>(), rights, flags, -1, 0);
            assert_ne!(at, libc::MAP_FAILED);
            &*at.cast()
        }
    }
}

/// Runs in the child. It allocates nothing, because the tracer would see the call.
fn run(program: &[Draw], buffer: &mut [u8], report: &Report) {
    let mut rng = None;
    for (i, &draw) in program.iter().enumerate() {
        let served = match draw {
            OneWord => headwater::u64().is_ok(),
            TryFill(len) => drawn(&mut buffer[..len], headwater::try_fill),
            Fill(len) => drawn(&mut buffer[..len], headwater::fill),
            ManyFills => (0..MANY).all(|_| drawn(&mut buffer[..40], headwater::fill)),
            NewHandle => {
                rng = Rng::new().ok();
                rng.is_some()
            }
            AskStatus => {
                report.source.store(headwater::status().source as u32, SeqCst);
                true
            }
            HandleFill(len) => {
                rng.as_mut().is_none_or(|rng| drawn(&mut buffer[..len], |buf| rng.fill(buf)))
            }
        };
        report.served.fetch_or(u32::from(served) << i, SeqCst);
    }
}

/// Returns whether `draw` served every byte. (By chance a whole answer begins or ends as it was
/// with probability 2^-56.)
fn drawn(buffer: &mut [u8], draw: impl FnOnce(&mut [u8]) -> Result<(), headwater::Error>) -> bool {
    buffer.fill(SENTINEL);
    let served = draw(buffer).is_ok();
    let end = &buffer[buffer.len() - 7..];
    if served {
        assert!(end != [SENTINEL; 7] && end != [0; 7], "the end was not written");
    } else {
        assert!(buffer.iter().all(|&byte| byte == 0), "an error left bytes");
    }
    served
}

/// Asks a child for the kernel's reseed generation, because this process is not to be set up.
/// Returns 0 where the generation cannot be seen.
fn generation(report: &Report) -> u64 {
    ask(Mode::Strict, &[], |status| {
        let word = if let ReseedGeneration::Live { value, .. } = status.reseed_generation {
            value
        } else {
            0
        };
        report.generation.store(word, SeqCst);
        0
    });
    report.generation.load(SeqCst)
}

struct Bench {
    mode: Mode,
    facts: &'static [Force],
    machine: Machine,
    buffer: Vec<u8>,
    report: &'static Report,
    /// The kernel's reseed generation when it was last asked for.
    generation: u64,
    /// Runs that a reseed may still spoil.
    patience: u32,
}

impl Bench {
    fn new(mode: Mode, facts: &'static [Force]) -> Bench {
        // On one CPU there is one slot to be filled.
        bind(&cpus()[..1]);
        let machine = machine(mode, facts);
        let (buffer, report) = (vec![0; LARGE], Report::shared());
        Bench {
            mode,
            facts,
            machine,
            buffer,
            report,
            generation: generation(report),
            patience: 200,
        }
    }

    fn program(&self, first: &[Draw]) -> Vec<Draw> {
        let mut program = [first, &DRAWS].concat();
        // The kernel returns these a page at a time in mode `kernel`, between which it may stop for
        // a signal.
        if self.machine.modes[0] != Mode::Kernel {
            program.extend([Fill(LARGE), HandleFill(LARGE)]);
        }
        program.push(AskStatus);
        program
    }

    /// Runs the program in a traced child and compares. Returns the number of getrandom(2) calls,
    /// or why that could not be done.
    fn compare(&mut self, program: &[Draw], answers: Answers) -> Result<usize, &'static str> {
        let mut model = Model::new(&self.machine, self.mode, answers);
        let served = program
            .iter()
            .enumerate()
            .fold(0, |served, (i, &draw)| served | u32::from(model.step(draw).is_ok()) << i);
        let (buffer, report) = (&mut self.buffer, self.report);
        let (mut before_it, mut interruptions) = (None, 0);
        while self.patience > 0 {
            report.served.store(0, SeqCst);
            let mut scribe = Scribe::new(answers);
            let (mode, facts) = (self.mode, self.facts);
            let prepare = || {
                set_mode_variable(Some(mode.name()));
                for &fact in facts {
                    set(fact, true);
                }
                // Without a word pages expire by the minute, which the model does not count.
                set(Force::ClockStands, true);
            };
            traced(prepare, || run(program, buffer, report), |entry| scribe.see(entry))
                .ok_or("ptrace is refused here")?;
            let source = model.source() as u32;
            let told = (report.served.load(SeqCst), report.source.load(SeqCst));
            if model.calls == scribe.calls && told == (served, source) {
                return Ok(model.getrandom_calls);
            }
            // A reseed while it ran had pages filled anew and states keyed, wherever it fell: no
            // evidence. One comes a minute, and more where other processes ask for it. Without the
            // vDSO nothing shows it.
            let before = std::mem::replace(&mut self.generation, generation(report));
            if self.generation == before || !self.machine.vdso {
                // An interruption inside a section changes the calls too: a put is given up, a draw
                // loses its bytes. Nothing shows it, but it does not hit two runs on end at the
                // same place, nor many runs.
                let difference = Some((scribe.calls.clone(), told));
                let may_be_interrupted = self.machine.sections && interruptions < INTERRUPTIONS;
                if !may_be_interrupted || difference == before_it {
                    let case = format!("{} {:?} {answers:?}", self.mode, self.facts);
                    assert_same(&model.calls, &scribe.calls, &case);
                    assert_eq!(
                        told,
                        (served, source),
                        "which steps were served, and the source: {case}"
                    );
                }
                interruptions += 1;
                before_it = difference;
            }
            self.patience -= 1;
        }
        Err("the kernel reseeds all the time: what is called then is not known")
    }

    /// Compares the undisturbed programs, then a program with each disturbance at each of the first
    /// 24 calls of getrandom(2). Returns the reason where a comparison cannot be made.
    fn compare_all(&mut self, memory: bool) -> Result<(), &'static str> {
        if !memory && !CAN_MEDDLE {
            return Err(NO_MEDDLING);
        }
        let sound = Answers { getrandom: None, devices: Devices::Sound, memory };
        let trying = self.program(&[TryFill(16), TryFill(300)]);
        let long = self.program(&[Fill(16), ManyFills]);
        let waiting = self.program(&[Fill(16), Fill(300)]);
        self.compare(&trying, sound)?;
        self.compare(&long, sound)?;
        self.compare(&waiting, sound)?;
        if !CAN_MEDDLE {
            return Err(NO_MEDDLING);
        }
        for (answer, devices) in DISTURBANCES {
            let tries = answer == Answer::NotReady || devices == Devices::NotReady;
            let program = if tries { &trying } else { &waiting };
            // Every call in turn fails, alone or with all calls after it.
            let mut first = 0;
            let mut calls = 1;
            while first < calls {
                for which in [Which::From(first), Which::Only(first)] {
                    let answers = Answers { getrandom: Some((answer, which)), devices, memory };
                    let made = self.compare(program, answers)?;
                    // In mode `kernel` short answers are a hundred, one like the other.
                    calls = calls.max(made.min(24));
                }
                first += 1;
            }
        }
        Ok(())
    }
}

const NO_MEDDLING: &str =
    "calls are answered otherwise on x86-64 only: what follows an error is not known";

const DISTURBANCES: [(Answer, Devices); 10] = [
    (Answer::Errno(libc::ENOSYS), Devices::Sound),
    (Answer::Errno(libc::ENOSYS), Devices::Interrupted),
    (Answer::Errno(libc::ENOSYS), Devices::Short),
    (Answer::Errno(libc::ENOSYS), Devices::NotReady),
    (Answer::Errno(libc::ENOSYS), Devices::Missing),
    (Answer::Errno(libc::EPERM), Devices::Sound),
    (Answer::NotReady, Devices::Sound),
    (Answer::Interrupted, Devices::Sound),
    (Answer::Short, Devices::Sound),
    (Answer::Nothing, Devices::Sound),
];

fn assert_same(expected: &[String], seen: &[String], case: &str) {
    if expected == seen {
        return;
    }
    // The first that differs, and what is around it.
    let at = expected.iter().zip(seen).take_while(|(a, b)| a == b).count();
    let from = at.saturating_sub(5);
    panic!(
        "{case}\ncall {at} is not the model's.\nmodel: ... {:?}\nseen:  ... {:?}",
        &expected[from.min(expected.len())..(at + 5).min(expected.len())],
        &seen[from.min(seen.len())..(at + 5).min(seen.len())],
    );
}

macro_rules! as_the_model_says {
    ($($name:ident: $mode:ident, [$($fact:ident),*], $memory:literal;)*) => {$(
        #[test]
        fn $name() {
            // The variable exists from the start, so that setenv(3) only replaces a pointer. A new
            // variable would move the environment, and reading a moved one takes system calls of
            // its own.
            let variables = [("HEADWATER_MODE", "auto")];
            isolated_as(stringify!($name), "only", &variables, || {
                let mut bench = Bench::new(Mode::$mode, &[$(Force::$fact),*]);
                if let Err(why) = bench.compare_all($memory) {
                    skip(stringify!($name), why);
                }
            });
        }
    )*};
}

as_the_model_says! {
    calls_of_auto: Auto, [], true;
    calls_of_auto_without_vdso: Auto, [NoVdso], true;
    calls_of_auto_behind_a_hidden_hypervisor: Auto, [NoHypervisorBit], true;
    calls_of_auto_without_pages: Auto, [], false;
    calls_of_buffered: Buffered, [], true;
    calls_of_buffered_without_vdso: Buffered, [NoVdso], true;
    calls_of_hedged: Hedged, [], true;
    calls_of_hedged_without_vdso: Hedged, [NoVdso], true;
    calls_of_strict: Strict, [], true;
    calls_of_strict_without_vdso: Strict, [NoVdso], true;
    calls_of_strict_without_pages: Strict, [], false;
    calls_of_kernel: Kernel, [], true;
    calls_of_kernel_without_vdso: Kernel, [NoVdso], true;
}
