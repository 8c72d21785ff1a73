//! C and C++ programs that use the library as it is shipped. Each source in tests/c starts with the
//! claim that the program checks.
//!
//! Ignored tests take minutes or need compilers that few machines have; `cargo xtask test` runs
//! them.

mod support;

use std::path::PathBuf;
use std::process::Command;
use support::{CLANG, CLANGPP, Compiler, GCC, GPP, Link, has, outcome, run, source};

/// Programs that need no argument and must succeed on every machine.
const PROGRAMS: [&str; 6] =
    ["contract.c", "lifetimes.c", "fork.c", "signals.c", "streams.c", "arrow.c"];

/// A compiled program, and its temporary directory, which is removed with it.
struct Built {
    _directory: tempfile::TempDir,
    program: PathBuf,
}

fn build(compiler: Compiler, name: &str, link: Link, options: &[&str]) -> Built {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program");
    compiler.build(&source(name), &program, link, options);
    Built { _directory: directory, program }
}

impl Built {
    fn command(&self) -> Command {
        Command::new(&self.program)
    }
}

/// Returns the first compiler that is installed.
fn any() -> Option<Compiler> {
    [GCC, CLANG].into_iter().find(|compiler| compiler.is_there())
}

#[test]
fn c_programs_keep_the_contract() {
    let Some(compiler) = any() else { return };
    for name in PROGRAMS {
        run(&mut build(compiler, name, Link::Shared, &["-std=gnu99"]).command());
    }
}

#[test]
fn the_document_is_that_of_the_command() {
    let Some(compiler) = any() else { return };
    let program = build(compiler, "contract.c", Link::Shared, &[]);
    let text = run(program.command().arg("status"));
    let ours: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(ours["schema"], "headwater.status/1");
    assert_eq!(ours["mode"], "strict"); // it has quiesced
    let command = support::library().join("headwater");
    if !command.is_file() {
        eprintln!("skipped: the command's document: no command beside the library under test");
        return;
    }
    let theirs = run(Command::new(command).args(["status", "--json"]));
    let theirs: serde_json::Value = serde_json::from_str(&theirs).unwrap();
    assert_eq!(shape(&ours), shape(&theirs));
    for same in ["version", "kernel", "libc", "hypervisor", "machine_vendor", "cipher", "cpu_rng"] {
        assert_eq!(ours[same], theirs[same], "{same}");
    }
}

/// Returns the names in a document, without the values.
fn shape(value: &serde_json::Value) -> Vec<String> {
    let members = value.as_object().into_iter().flatten();
    members
        .flat_map(|(name, value)| {
            let inner = shape(value).into_iter().map(move |inner| format!("{name}.{inner}"));
            std::iter::once(name.clone()).chain(inner)
        })
        .collect()
}

#[test]
fn what_the_kernel_refuses_is_an_errno_and_zeros() {
    let Some(compiler) = any() else { return };
    let program = build(compiler, "refused.c", Link::Shared, &[]);
    for argument in ["fill", "wait"] {
        let outcome = outcome(program.command().arg(argument));
        if outcome.status.code() == Some(77) {
            eprintln!("skipped: a seccomp filter: prctl refuses it, so that errors are not shown");
            return;
        }
        let words = String::from_utf8_lossy(&outcome.stderr);
        assert!(outcome.status.success(), "{argument}: {}: {words}", outcome.status);
    }
}

/// headwater.h names the functions that make other system calls than getrandom(2) after
/// headwater_init(), so each of them must, and no other may.
#[test]
fn after_init_draws_make_no_other_system_call() {
    use std::os::unix::process::ExitStatusExt;
    const SIGSYS: i32 = 31;
    let Some(compiler) = any() else { return };
    let program = build(compiler, "promised.c", Link::Shared, &["-Wl,-z,now"]);
    for mode in ["auto", "strict", "kernel"] {
        for (what, is_killed) in [
            ("draws", false),
            ("pseudo", true),
            ("status", true),
            ("quiesce", true),
            ("handles", true),
        ] {
            let outcome = outcome(program.command().arg(what).env("HEADWATER_MODE", mode));
            if outcome.status.code() == Some(77) {
                eprintln!("skipped: a seccomp filter: prctl refuses it; the promise is not shown");
                return;
            }
            let words = String::from_utf8_lossy(&outcome.stderr);
            let expected = if is_killed { (None, Some(SIGSYS)) } else { (Some(0), None) };
            let ended = (outcome.status.code(), outcome.status.signal());
            assert_eq!(ended, expected, "{what} in mode {mode}: {words}");
        }
    }
}

#[test]
fn arc4random_says_why_and_aborts() {
    use std::os::unix::process::ExitStatusExt;
    let Some(compiler) = any() else { return };
    let program = build(compiler, "refused.c", Link::Shared, &[]);
    let outcome = outcome(program.command().arg("abort"));
    if outcome.status.code() == Some(77) {
        eprintln!("skipped: a seccomp filter: prctl refuses it, so that the abort is not shown");
        return;
    }
    assert_eq!(outcome.status.signal(), Some(6), "SIGABRT");
    assert_eq!(
        String::from_utf8_lossy(&outcome.stderr),
        "headwater: arc4random failed, because random bytes are unavailable (errno 13); \
         headwater_fill() reports the error instead\n"
    );
}

/// Bytes of stack that the header promises, by the beginning of the measured call's name.
const STACK: [(&str, usize); 8] = [
    ("first headwater_status_json", 10 << 10),
    ("first ", 4608),
    ("headwater_status_json", 10 << 10),
    ("headwater_stream_", 10 << 10),
    ("headwater_random_pseudo_bytes", 4608),
    ("headwater_arrow_", 64 << 10),
    ("headwater_quiesce", 2 << 10),
    ("headwater_", 2 << 10),
];

#[test]
fn each_function_takes_the_stack_that_the_header_says() {
    let header = std::fs::read_to_string(support::package().join("include/headwater.h")).unwrap();
    for words in [
        "takes up to 4.5 KiB",
        "up to 2 KiB",
        "streams and headwater_status_json() 10",
        "headwater_arrow_...() 64 KiB",
        "to 3.5 KiB",
    ] {
        assert!(header.contains(words), "the header does not say '{words}'");
    }
    let Some(compiler) = any() else { return };
    for (binding, linker) in [("-Wl,-z,now", 0), ("-Wl,-z,lazy", 3584)] {
        let program = build(compiler, "stack.c", Link::Shared, &["-std=gnu99", binding]);
        for mode in ["auto", "hedged", "strict", "kernel"] {
            let measured = run(program.command().env("HEADWATER_MODE", mode));
            assert_eq!(measured.lines().count(), 76, "{measured}");
            for line in measured.lines() {
                let (name, taken) = line.split_once(": ").unwrap();
                let taken: usize = taken.parse().unwrap();
                let (_, limit) = STACK.iter().find(|(start, _)| name.starts_with(start)).unwrap();
                assert!(
                    taken <= linker.max(*limit),
                    "{mode}, {binding}: {name} takes {taken} bytes, and {limit} are promised"
                );
            }
            let said = run(program.command().arg("small").env("HEADWATER_MODE", mode));
            assert_eq!(said, "fits\n", "{mode}, {binding}");
        }
    }
}

/// Runs programs that change the environment before their first draw. They start with the mode
/// "strict", and the change sets "kernel" or removes the variable.
#[test]
fn the_first_draw_reads_the_environment() {
    let Some(compiler) = any() else { return };
    for link in [Link::Shared, Link::Archive, Link::Static] {
        let program = build(compiler, "environment.c", link, &["-std=gnu99"]);
        for (way, mode) in [
            ("as it is", "\"strict\"\n"),
            ("set", "\"kernel\"\n"),
            ("put", "\"kernel\"\n"),
            ("unset", "\"auto\"\n"),
            ("clear", "\"auto\"\n"),
            ("clobber", "\"strict\"\n"),
            ("another thread", "\"kernel\"\n"),
            ("broken", "\"kernel\"\n"),
        ] {
            let said = run(program.command().arg(way).env("HEADWATER_MODE", "strict"));
            assert_eq!(said, mode, "{way}, {link:?}");
        }
        let said = run(program.command().env_clear());
        assert_eq!(said, "\"auto\"\n", "no environment, {link:?}");
    }
}

/// With getenv(3) in the library, 1 of 100 processes crashed here. HEADWATER_TEST_SETENV sets
/// another number of processes.
#[test]
fn a_first_draw_beside_setenv_does_not_crash() {
    let Some(compiler) = any() else { return };
    let program = build(compiler, "setenv.c", Link::Shared, &["-std=gnu99"]);
    let processes = std::env::var("HEADWATER_TEST_SETENV").unwrap_or_else(|_| "500".to_owned());
    let said = run(program.command().arg(&processes));
    assert_eq!(said, format!("0 of {processes} crashed\n"));
}

/// Runs in every mode, because the modes make different system calls.
#[test]
fn no_function_is_a_cancellation_point() {
    use std::os::unix::process::ExitStatusExt;
    let Some(compiler) = any() else { return };
    let program = build(compiler, "cancel.c", Link::Shared, &[]);
    for mode in ["auto", "buffered", "hedged", "strict", "kernel"] {
        let run = |what: &str| outcome(program.command().arg(what).env("HEADWATER_MODE", mode));
        let calls = run("calls");
        let words = String::from_utf8_lossy(&calls.stderr).into_owned();
        assert!(calls.status.success(), "{mode}: {words}");
        let refused = run("refused");
        if refused.status.code() == Some(77) {
            eprintln!("skipped: a seccomp filter: prctl refuses it; errors stay untested");
            return;
        }
        let words = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.success(), "{mode}, without random bytes: {words}");
        let aborted = run("abort");
        let words = String::from_utf8_lossy(&aborted.stderr).into_owned();
        assert_eq!(aborted.status.signal(), Some(6), "{mode}: {words}");
        assert!(words.starts_with("headwater: arc4random failed"), "{mode}: {words}");
    }
}

/// Runs unwind.c twice, in sections and under locks. Returns both outputs without their first
/// lines, or None if this machine has no sections.
fn unwind(program: &Built, what: &str) -> Option<[String; 2]> {
    let said = |locked: &str, path: &str| {
        let mut command = program.command();
        command.arg(what).env("HEADWATER_MODE", "buffered").env("HEADWATER_NO_RSEQ", locked);
        let said = run(&mut command);
        let (first, rest) = said.split_once('\n').unwrap();
        (first == path).then(|| rest.to_owned())
    };
    let both = said("0", "sections").and_then(|sections| Some([sections, said("1", "locks")?]));
    if both.is_none() {
        eprintln!("skipped: backtraces in sections: this machine draws under locks");
    }
    both
}

/// Returns the name and the first number of each line of the form `name: 12 of 400`.
fn counts(said: &str) -> Vec<(&str, u32, u32)> {
    said.lines()
        .map(|line| {
            let (name, numbers) = line.split_once(": ").unwrap();
            let (count, all) = numbers.split_once(" of ").unwrap();
            (name, count.parse().unwrap(), all.parse().unwrap())
        })
        .collect()
}

/// With the abort handlers outside the functions, two of three backtraces ended in them, and the
/// cleanup handlers of 136 threads of 200 were skipped. Under locks it is a few, because the vDSO's
/// ChaCha20 has no unwind information, and POSIX promises nothing about a thread that is cancelled
/// here. So draws under locks say what is ordinary.
#[test]
fn a_backtrace_and_a_cancelled_thread_leave_a_draw_as_they_leave_a_lock() {
    let Some(compiler) = any() else { return };
    let options = ["-O2", "-fexceptions"];
    let program = build(compiler, "unwind.c", Link::Shared, &options);
    for what in ["profile", "cancel"] {
        let Some([sections, locks]) = unwind(&program, what) else { return };
        eprintln!("in sections:\n{sections}under locks:\n{locks}");
        for ((name, lost, all), (_, ordinary, _)) in
            counts(&sections).into_iter().zip(counts(&locks))
        {
            let limit = ordinary * 3 / 2 + all / 10;
            assert!(lost <= limit, "{name}: {lost} of {all}; under locks {ordinary}");
        }
    }
    let Some([sections, locks]) = unwind(&program, "segv") else { return };
    assert!(!locks.contains("lost"), "under locks:\n{locks}");
    assert_eq!(sections, locks);
}

#[test]
fn the_library_can_be_opened_and_closed_in_a_loop() {
    let Some(compiler) = any() else { return };
    let program = build(compiler, "reload.c", Link::Archive, &["-ldl"]);
    run(program.command().arg(support::library().join("libheadwater.so")));
}

#[test]
fn programs_link_with_the_archive() {
    let Some(compiler) = any() else { return };
    for name in PROGRAMS {
        run(&mut build(compiler, name, Link::Archive, &[]).command());
        run(&mut build(compiler, name, Link::Static, &[]).command());
    }
}

#[test]
#[ignore = "32 programs: cargo xtask test"]
fn every_compiler_takes_the_header_in_every_standard() {
    for compiler in [GCC, CLANG, GPP, CLANGPP] {
        if !compiler.is_there() {
            continue;
        }
        let (oldest, newest) = (compiler.standards.first(), compiler.standards.last());
        for standard in compiler.standards {
            let option = format!("-std={standard}");
            for name in ["contract.c", "streams.c"] {
                // A standard can change the meaning of the header and hardly that of the code.
                if Some(standard) == oldest || Some(standard) == newest {
                    run(&mut build(compiler, name, Link::Shared, &[&option]).command());
                } else {
                    compiler.read(&source(name), &[&option]);
                }
            }
        }
    }
}

#[test]
#[ignore = "builds with sanitizers: cargo xtask test"]
fn sanitizers_find_nothing() {
    let options = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    for compiler in [GCC, CLANG] {
        if compiler.is_there() && compiler.has_sanitizers() {
            for name in PROGRAMS {
                run(&mut build(compiler, name, Link::Shared, &options).command());
            }
            let reload = build(compiler, "reload.c", Link::Archive, &options);
            run(reload.command().arg(support::library().join("libheadwater.so")));
        }
    }
}

/// Valgrind hides the vDSO, so these runs test the fallback to getrandom(2). EXPECT_SOURCE makes
/// the program check that its status reports this source.
#[test]
#[ignore = "runs under valgrind: cargo xtask test"]
fn valgrind_finds_nothing_on_the_fallback_without_a_vdso() {
    let (Some(compiler), true) =
        (any(), has("valgrind", "the use of memory, and the fallback without a vDSO"))
    else {
        return;
    };
    for name in PROGRAMS {
        let program = build(compiler, name, Link::Shared, &[]);
        run(Command::new("valgrind")
            .args([
                "--quiet",
                "--error-exitcode=9",
                "--leak-check=full",
                "--child-silent-after-fork=yes",
            ])
            .arg(&program.program)
            .env("EXPECT_SOURCE", "\"source\":\"getrandom\""));
    }
}

/// The archive for glibc asks for `gnu_get_libc_version`, which musl lacks, so programs of musl
/// need one that is built for it. HEADWATER_TEST_MUSL names its target.
#[test]
#[ignore = "builds the library for musl: cargo xtask test --all"]
fn programs_of_musl_keep_the_contract() {
    let Some(target) = std::env::var_os("HEADWATER_TEST_MUSL") else {
        eprintln!(
            "skipped: musl: HEADWATER_TEST_MUSL names no target, so that nothing here shows that \
             the library serves musl"
        );
        return;
    };
    let builds = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    run(Command::new(cargo)
        .args(["rustc", "--release", "--quiet", "--lib", "--crate-type", "staticlib"])
        .arg("--target")
        .arg(&target)
        .arg("--target-dir")
        .arg(builds)
        .current_dir(support::package()));
    let archive = builds.join(target).join("release/libheadwater.a");
    let directory = tempfile::tempdir().unwrap();
    for name in PROGRAMS {
        for link in [&["-static"][..], &[]] {
            let program = directory.path().join("program");
            run(Command::new("musl-gcc")
                .args(["-Wall", "-Wextra", "-Werror", "-std=gnu99", "-I"])
                .arg(support::package().join("include"))
                .args(link)
                .arg("-o")
                .arg(&program)
                .args([&source(name), &archive])
                .arg("-pthread"));
            run(&mut Command::new(&program));
        }
    }
}
