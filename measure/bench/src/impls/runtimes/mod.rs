//! Generators of other languages, as programs in them call them.
//!
//! Each runtime runs one small program for as long as the benchmark lasts. To start it for each
//! sample would measure the start. So the program draws and times its draws on request: its figures
//! stand in the same rounds as all others, and starting it is in none of them. The loop around the
//! calls is the language's own and is part of its figures, as it is for its users.

use crate::case::{Case, Numbers};
use crate::draw::work::{Declined, Drawn, Refused, Work, Worker};
use crate::impls::child::{self, Child};
use crate::impls::implementation::{Absent, Implementation, Opened};
use crate::system::clock::Clock;
use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use tempfile::TempDir;
use uuid::fmt::Hyphenated;

/// Compilers that work while the program runs have done so by then.
const WARM_UP: Duration = Duration::from_millis(500);

/// `$function` is what `$runtime`'s program knows it as.
macro_rules! implementation {
    ($constant:ident, $name:literal, $runtime:ident, $function:literal, $case:expr) => {
        pub(crate) const $constant: Implementation = Implementation {
            name: $name,
            version: &|| $runtime.version(),
            has_modes: false,
            open: &|| $runtime.open(Does::One($case, $function)),
        };
    };
}

implementation!(GO_READ, "go-rand.Read", GO, "Read", Case::Fill);
implementation!(JAVA_BYTES, "java-nextBytes", JAVA, "nextBytes", Case::Fill);
implementation!(JAVA_UUID, "java-randomUUID", JAVA, "randomUUID", Case::UuidV4);
implementation!(NODE_BYTES, "node-randomBytes", NODE, "randomBytes", Case::Fill);
implementation!(NODE_FILL, "node-randomFillSync", NODE, "randomFillSync", Case::Fill);
implementation!(NODE_UUID, "node-randomUUID", NODE, "randomUUID", Case::UuidV4);
implementation!(PYTHON_BYTES, "python-os.urandom", PYTHON, "urandom", Case::Fill);
implementation!(PYTHON_UUID, "python-uuid4", PYTHON, "uuid4", Case::UuidV4);

/// `$family` is what the program knows a generator as, which has a function for each case of
/// streams.
macro_rules! stream {
    ($constant:ident, $name:literal, $family:literal, $has:expr) => {
        const $constant: Implementation = Implementation {
            name: $name,
            version: &|| NUMBERS.version(),
            has_modes: false,
            open: &|| NUMBERS.open(Does::Streams($family, $has)),
        };
    };
}

stream!(NUMPY_PCG64, "numpy-PCG64", "PCG64", &Numbers::ALL);
stream!(NUMPY_SFC64, "numpy-SFC64", "SFC64", &Numbers::ALL);
stream!(NUMPY_PHILOX, "numpy-Philox", "Philox", &Numbers::ALL);
stream!(MKL_ARS5, "mkl_random-ARS5", "ARS5", &[Numbers::U64, Numbers::F64, Numbers::Normal]);

/// The number arrays of Python.
pub(crate) const STREAMS: &[&Implementation] =
    &[&NUMPY_PCG64, &NUMPY_SFC64, &NUMPY_PHILOX, &MKL_ARS5];

static GO: Runtime = Runtime {
    file: "main.go",
    source: include_str!("main.go"),
    command: |folder| {
        let program = folder.join("bench");
        let mut build = Command::new("go");
        // Go must use the installed compiler: it must not download a newer one, nor read a module
        // around the directory.
        build.current_dir(folder).env("GOTOOLCHAIN", "local").env("GO111MODULE", "off");
        child::finish(build.args(["build", "-o", "bench", "main.go"]))?;
        Ok(Command::new(program))
    },
    child: OnceLock::new(),
};

static JAVA: Runtime = Runtime {
    file: "Bench.java",
    source: include_str!("Bench.java"),
    command: |folder| Ok(interpreter("java", folder, "Bench.java")),
    child: OnceLock::new(),
};

static NODE: Runtime = Runtime {
    file: "bench.js",
    source: include_str!("bench.js"),
    command: |folder| Ok(interpreter("node", folder, "bench.js")),
    child: OnceLock::new(),
};

static PYTHON: Runtime = Runtime {
    file: "bench.py",
    source: include_str!("bench.py"),
    command: |folder| Ok(interpreter("python3", folder, "bench.py")),
    child: OnceLock::new(),
};

/// A Python with NumPy, which need not be the system's.
static NUMBERS: Runtime = Runtime {
    file: "arrays.py",
    source: include_str!("arrays.py"),
    command: |folder| {
        let python = std::env::var("HEADWATER_BENCH_PYTHON");
        Ok(interpreter(python.as_deref().unwrap_or("python3"), folder, "arrays.py"))
    },
    child: OnceLock::new(),
};

fn interpreter(program: &str, folder: &Path, file: &str) -> Command {
    let mut command = Command::new(program);
    command.arg(folder.join(file));
    command
}

/// A language's program, which starts at the first request.
struct Runtime {
    file: &'static str,
    source: &'static str,
    /// Runs `file`, which is in this directory.
    command: fn(&Path) -> Result<Command, String>,
    child: OnceLock<Result<Mutex<Child>, String>>,
}

impl Runtime {
    fn child(&'static self) -> Result<&'static Mutex<Child>, Absent> {
        let child = self.child.get_or_init(|| self.start().map(Mutex::new));
        child.as_ref().map_err(|reason| Absent(reason.clone()))
    }

    fn start(&self) -> Result<Child, String> {
        let failed = |error| format!("its program cannot be written: {error}");
        // Only until the program has answered: by then it has read all of itself.
        let folder = TempDir::with_prefix("headwater-bench-").map_err(failed)?;
        fs::write(folder.path().join(self.file), self.source).map_err(failed)?;
        Child::start(&mut (self.command)(folder.path())?)
    }

    fn version(&'static self) -> Option<String> {
        Some(self.child().ok()?.lock().ok()?.version().to_owned())
    }

    fn open(&'static self, does: Does) -> Opened {
        let mut call = Call { child: self.child()?, does, took: None };
        // An older runtime may lack the function.
        match does {
            Does::One(..) => call.sample(Work::Fill, &mut [0; Hyphenated::LENGTH]),
            Does::Streams(..) => call.sample(Work::Stream(Numbers::U64), &mut [0; 64]),
        }
        .map_err(Absent)?;
        Ok(Box::new(call))
    }
}

/// The purpose of a function, or of a family of functions.
#[derive(Clone, Copy)]
enum Does {
    /// This case, by the function of this name.
    One(Case, &'static str),
    /// These cases of streams, by functions such as `PCG64.stream-u64`.
    Streams(&'static str, &'static [Numbers]),
}

impl Does {
    fn function(self, work: Work) -> Cow<'static, str> {
        match (self, work) {
            (Does::Streams(family, _), Work::Stream(numbers)) => {
                format!("{family}.{}", Case::Stream(numbers).name()).into()
            }
            (Does::One(_, name) | Does::Streams(name, _), _) => name.into(),
        }
    }
}

/// A function of a runtime.
struct Call {
    child: &'static Mutex<Child>,
    does: Does,
    took: Option<Duration>,
}

impl Call {
    fn sample(&mut self, work: Work, buf: &mut [u8]) -> Result<(), String> {
        let mut child = self.child.lock().map_err(|_| "its program is lost".to_owned())?;
        child.sample(&self.does.function(work), buf)
    }
}

impl Worker for Call {
    fn draw(&mut self, work: Work, buf: &mut [u8]) -> Drawn {
        self.sample(work, buf).map_err(|_| Refused)
    }

    fn batch(&mut self, work: Work, calls: u64, buf: &mut [u8]) -> Drawn {
        let function = self.does.function(work);
        let mut child = self.child.lock().map_err(|_| Refused)?;
        self.took = Some(child.time(&function, buf.len(), calls).map_err(|_| Refused)?);
        Ok(())
    }

    /// Times no single calls, because only this process could, and the pipe would be in the time.
    fn fill_timed(&mut self, _: &Clock, _: &mut [u64], _: &mut [u8]) -> Drawn {
        Err(Refused)
    }

    fn discarded_bytes(&self) -> Option<u64> {
        None
    }

    fn note(&self) -> Option<&'static str> {
        Some("timed by its own runtime")
    }

    fn declines(&self, case: Case, threads: usize) -> Option<Declined> {
        let has = match (self.does, case) {
            (Does::Streams(_, has), Case::Stream(numbers)) => has.contains(&numbers),
            (Does::Streams(..), _) => false,
            (Does::One(its, _), case) => case == its,
        };
        if has { (threads > 1).then_some(Declined::Threads) } else { Some(Declined::Case) }
    }

    fn warm_up(&self) -> Duration {
        WARM_UP
    }

    fn is_elsewhere(&self) -> bool {
        true
    }

    fn own_time(&self) -> Option<Duration> {
        self.took
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::verify::{self, Fault};

    /// Returns a runtime that answers every request with the output of the shell command `answer`.
    fn fake(answer: &str) -> Call {
        let script =
            format!("echo fake 1; while read verb function length number; do {answer}; done");
        let child = Child::start(Command::new("sh").args(["-c", &script])).unwrap();
        Call {
            child: Box::leak(Box::new(Mutex::new(child))),
            does: Does::One(Case::Fill, "draw"),
            took: None,
        }
    }

    fn verdict(answer: &str) -> Result<(), Fault> {
        verify::check(&mut fake(answer), Work::Fill, &mut [0; 16])
    }

    #[test]
    fn a_runtime_that_lies_is_not_timed() {
        let random = "od -An -N16 -tx1 /dev/urandom | tr -d ' '";
        assert_eq!(verdict(random), Ok(()));
        let defect = |text| Err(Fault::Defect(text));
        assert_eq!(verdict("echo 00000000000000000000000000000000"), defect("every byte is zero"));
        assert_eq!(
            verdict("echo 00112233445566778899aabbccddeeff"),
            defect("the same bytes each time")
        );
        // The buffer's earlier content: no bytes were drawn into it.
        let poison =
            "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do printf %02x $number; done; echo";
        assert_eq!(verdict(poison), defect("some bytes are never written"));
        assert_eq!(verdict("echo error no bytes"), Err(Fault::Refused));
        assert_eq!(verdict("exit"), Err(Fault::Refused));
    }

    #[test]
    fn a_batch_takes_the_time_that_the_runtime_says() {
        let mut call = fake("echo 123000");
        assert_eq!(call.own_time(), None);
        call.batch(Work::Fill, 1000, &mut [0; 16]).unwrap();
        assert_eq!(call.own_time(), Some(Duration::from_micros(123)));
    }

    /// Returns the generators that this host has. For each of the others it prints a line with the
    /// missing part.
    #[test]
    fn every_runtime_draws_and_times_itself() {
        for (implementation, case) in [
            (GO_READ, Case::Fill),
            (JAVA_BYTES, Case::Fill),
            (JAVA_UUID, Case::UuidV4),
            (NODE_BYTES, Case::Fill),
            (NODE_FILL, Case::Fill),
            (NODE_UUID, Case::UuidV4),
            (PYTHON_BYTES, Case::Fill),
            (PYTHON_UUID, Case::UuidV4),
        ] {
            let name = implementation.name;
            let mut call = match (implementation.open)() {
                Ok(call) => call,
                Err(Absent(reason)) => {
                    eprintln!("skipped: {name}: {reason}");
                    assert!(reason.ends_with("is not installed"), "{name}: {reason}");
                    continue;
                }
            };
            let (work, lengths) = match case {
                Case::UuidV4 => (Work::UuidV4, vec![36]),
                _ => (Work::Fill, vec![4, 16, 65536, (1 << 20) + 1]),
            };
            for len in lengths {
                assert_eq!(
                    verify::check(&mut *call, work, &mut vec![0; len]),
                    Ok(()),
                    "{name} {len}"
                );
                call.batch(work, 10, &mut vec![0; len]).unwrap();
                assert!(call.own_time().is_some(), "{name}");
            }
            assert_eq!(call.declines(case, 1), None);
            assert_eq!(call.declines(case, 2), Some(Declined::Threads));
            assert_eq!(call.declines(Case::U64, 1), Some(Declined::Case));
            let version = (implementation.version)().unwrap();
            assert!(version.contains(|c: char| c.is_ascii_digit()), "{name}: {version}");
        }
    }
}
