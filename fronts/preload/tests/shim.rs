//! The shim as programs meet it: real programs, run without and with it.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod support;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};
use support::{Counts, compile, has, other_libc, run, shim, with_shim};

#[test]
fn it_exports_six_functions_and_needs_nothing_that_musl_lacks() {
    use object::read::elf::ElfFile64;
    use object::{Object, ObjectSymbol};

    let bytes = std::fs::read(shim()).unwrap();
    let file: ElfFile64<'_> = ElfFile64::parse(&*bytes).unwrap();
    let names = |wanted: fn(&object::read::elf::ElfSymbol64<'_, '_>) -> bool| {
        let mut names: Vec<&str> =
            file.dynamic_symbols().filter(wanted).map(|symbol| symbol.name().unwrap()).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(
        names(|symbol| symbol.is_definition()),
        [
            "arc4random",
            "arc4random_buf",
            "arc4random_uniform",
            "getentropy",
            "getrandom",
            "syscall"
        ]
    );
    // All of them are in musl, and in every glibc since 2.17. Others may be weak: they are null
    // there.
    let allowed = [
        "__environ", // another name of `environ`, which GNU ld adds
        "__errno_location",
        "abort",
        "bcmp",
        "clock_gettime",
        "environ",
        "getauxval",
        "getenv",
        "memcpy",
        "memmove",
        "memset",
        "strlen",
    ];
    let strong = names(|symbol| symbol.is_undefined() && !symbol.is_weak());
    for name in strong.into_iter().filter(|name| !name.is_empty()) {
        assert!(allowed.contains(&name), "{name} may be missing in another C library");
    }
}

/// The C program prints each result and errno, of lengths, flags, other system calls, cancellation
/// and handlers.
#[test]
fn a_program_sees_its_own_c_librarys_contract() {
    let program = compile("contract.c");
    let stock = run(&mut Command::new(&program));
    assert!(stock.lines().count() > 100 && !stock.contains("AS BEFORE"), "{stock}");
    let (shimmed, counts) = Counts::of(|command| run(command.arg(&program)));
    assert_eq!(shimmed, stock);
    assert!(counts.draws > 200, "{counts:?}");

    let Some(other) = other_libc() else { return };
    let stock = other.run(&program, &[], None);
    assert!(stock.lines().count() > 100, "{stock}");
    assert_eq!(other.run(&program, &[], Some(shim())), stock);
}

/// glibc 2.41's own getrandom faults at null. Under the shim the kernel answers, with every C
/// library.
#[test]
fn the_kernel_answers_for_bad_pointers() {
    let program = compile("contract.c");
    let kernels_own = run(Command::new(&program).arg("kernel"));
    assert!(kernels_own.contains("at (nil), 16: -1, errno 14"), "{kernels_own}");
    assert_eq!(run(with_shim(&program).arg("kernel")), kernels_own);
    let Some(other) = other_libc() else { return };
    assert_eq!(other.run(&program, &["kernel"], Some(shim())), kernels_own);
}

#[test]
fn a_first_draw_behind_a_filter_finds_everything_set_up() {
    let program = compile("sandboxed.c");
    assert_eq!(run(&mut with_shim(&program)), "drawn under the filter\n");
    // Set-up at the first draw makes calls that the filter kills, which is why it is not the
    // default.
    let lazy = with_shim(&program).env("HEADWATER_LAZY", "1").output().unwrap();
    assert_eq!(lazy.status.signal(), Some(SIGSYS), "{lazy:?}");
}

const SIGSYS: i32 = 31;

#[test]
fn parent_and_child_repeat_nothing() {
    let program = compile("forks.c");
    for way in ["getrandom", "syscall", "arc4random"] {
        let (text, counts) = Counts::of(|command| run(command.arg(&program).arg(way)));
        assert_eq!(text, "0 repeats\n", "{way}");
        assert!(counts.draws >= 2_000_000, "{way}: {counts:?}");
    }
}

#[test]
fn switches_hand_draws_back_to_the_kernel() {
    let program = compile("forks.c");
    let counts = |way, name, value| {
        Counts::of(|command| run(command.arg(&program).arg(way).env(name, value))).1
    };
    let disabled = counts("getrandom", "HEADWATER_DISABLE", "1");
    assert_eq!(disabled.draws, 0);
    assert!(disabled.forwarded >= 2_000_000, "{disabled:?}");
    assert_eq!(counts("syscall", "HEADWATER_SYSCALL", "0").draws, 0);
    // A draw through syscall() always saves a system call.
    let served = counts("syscall", "HEADWATER_SYSCALL", "1");
    assert!(served.saved >= 2_000_000 && served.saved == served.draws, "{served:?}");
    assert!(counts("getrandom", "HEADWATER_SYSCALL", "0").draws >= 2_000_000);
    // The values that mean "off".
    for off in ["", "0"] {
        assert!(counts("getrandom", "HEADWATER_DISABLE", off).draws >= 2_000_000);
    }
}

#[test]
fn programs_of_musl_start_and_draw() {
    if !has("musl-gcc", "that programs of another C library run") {
        return;
    }
    let program = support::compile_with("musl-gcc", "musl.c", &[]);
    let (text, counts) = Counts::of(|command| run(command.arg(&program)));
    assert_eq!(text, "16 bytes\n");
    assert_eq!(counts.draws, 1, "{counts:?}");
    // A static program is not reached, and runs as before.
    let program = support::compile_with("musl-gcc", "musl.c", &["-static"]);
    let (text, counts) = Counts::of(|command| run(command.arg(&program)));
    assert_eq!((text.as_str(), counts.draws), ("16 bytes\n", 0));
}

#[test]
fn static_programs_are_not_reached() {
    let program = support::compile_with("cc", "musl.c", &["-static"]);
    let (text, counts) = Counts::of(|command| run(command.arg(&program)));
    assert_eq!((text.as_str(), counts.draws), ("16 bytes\n", 0));
}

/// The oracle is the runtime's own function for getrandom(), in the same program without the shim.
/// GCC links the runtime as a library, which comes after the shim; Clang, into the program.
#[test]
fn address_sanitizer_reports_what_it_reports_without_the_shim() {
    // The kind of buffer, its size, and the length of the draw.
    let cases = [
        ("heap", 16, 16),
        ("heap", 15, 16),
        ("heap", 1, 1),
        ("heap", 1, 2),
        ("heap", 31, 32),
        ("heap", 99, 100),
        ("heap", 255, 256),
        ("heap", 4096, 4096),
        ("heap", 4096, 4097),
        ("heap", 69_999, 70_000),
        ("stack", 16, 16),
        ("stack", 16, 17),
        ("stack", 64, 65),
        ("global", 16, 16),
        ("global", 16, 17),
        ("freed", 16, 16),
        ("freed", 5000, 1),
        ("thread", 100, 100),
        ("thread", 100, 101),
        ("child", 100, 100),
        ("child", 100, 101),
        // Not more than its size: the runtimes differ in whether they look at this function.
        ("getentropy", 256, 256),
    ];
    for compiler in ["cc", "clang"] {
        if !has(compiler, "that AddressSanitizer works beside the shim") {
            continue;
        }
        for recovers in [false, true] {
            let flags: &[&str] = if recovers {
                &["-fsanitize=address", "-fsanitize-recover=address"]
            } else {
                &["-fsanitize=address"]
            };
            let program = support::compile_with(compiler, "sanitized.c", flags);
            for (kind, size, length) in cases {
                if recovers && kind == "freed" {
                    // Without the shim the runtime reports after the write, which has destroyed its
                    // own notes on the memory, and then fails itself.
                    continue;
                }
                let case = format!("{compiler} {flags:?}: {kind}, {length} of {size}");
                let told = |command: &mut Command| {
                    command.args([kind, &size.to_string(), &length.to_string()]);
                    // As `headwater run` sets the first one.
                    let goes_on = if recovers { ":halt_on_error=0" } else { "" };
                    let options = format!("verify_asan_link_order=0:detect_leaks=0{goes_on}");
                    let output = command.env("ASAN_OPTIONS", options).output().unwrap();
                    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
                    let report = errors.split("AddressSanitizer: ").nth(1);
                    let name = report.and_then(|text| text.split(' ').next()).unwrap_or("none");
                    (output.status.code(), output.stdout, name.to_owned())
                };
                let mut counted = None;
                let (_, counts) = Counts::of(|command| {
                    counted = Some(told(command.arg(&program)));
                    String::new()
                });
                assert_eq!(counted.unwrap(), told(&mut Command::new(&program)), "{case}");
                assert!(counts.draws > 0, "{case}: the shim is not reached: {counts:?}");
            }
        }
    }
}

/// Asserts that a program repeats nothing and draws `at_least` times or more. A missing interpreter
/// is skipped. The number of draws is the proof that a program is reached; the repeats are its
/// users' concern.
#[track_caller]
fn distinct(interpreter: &str, arguments: &[&str], at_least: u64) {
    if !has(interpreter, "that its programs draw from headwater") {
        return;
    }
    let mut shown = String::new();
    let (_, counts) = Counts::of(|command| {
        shown = run(command.arg(interpreter).args(arguments));
        String::new()
    });
    assert_eq!(shown.trim(), "0 repeats", "{interpreter}");
    assert!(counts.draws >= at_least, "{interpreter}: {counts:?}");
}

const PYTHON: &str = "\
import os, secrets, uuid
first = os.urandom(8)
draw = lambda: [os.urandom(8) for _ in range(500000)] + [secrets.token_bytes(8) for _ in range(1000)]
r, w = os.pipe()
if os.fork() == 0:
    os.close(r)
    with os.fdopen(w, 'wb') as f:
        for value in draw(): f.write(value)
    os._exit(0)
os.close(w)
with os.fdopen(r, 'rb') as f:
    data = f.read()
values = draw() + [data[i:i + 8] for i in range(0, len(data), 8)]
assert len(values) == 1002000, len(values)
assert len({uuid.uuid4() for _ in range(1000)}) == 1000
print(len(values) - len(set(values)), 'repeats')
";

#[test]
fn python_draws_from_headwater_across_a_fork() {
    distinct("python3", &["-c", PYTHON], 1_000_000);
}

/// CPython 3.13 on glibc 2.41, whose own getrandom calls the vDSO.
#[test]
fn python_of_another_libc_repeats_nothing_across_a_fork() {
    const PROGRAM: &str = "\
import os
r, w = os.pipe()
os.urandom(8)
draw = lambda: [os.urandom(8) for _ in range(100000)]
if os.fork() == 0:
    os.write(w, b''.join(draw()[:1000]))
    os._exit(0)
os.close(w)
data = os.read(r, 65536)
values = draw() + [data[i:i + 8] for i in range(0, len(data), 8)]
print(len(values) - len(set(values)), 'repeats of', len(values))
";
    let Some(other) = other_libc() else { return };
    let python = other.program("python3.13");
    if python.is_file() {
        let said = other.run(&python, &["-c", PROGRAM], Some(shim()));
        assert_eq!(said, "0 repeats of 101000\n");
    }
}

#[test]
fn php_draws_through_syscall_across_a_fork() {
    const PROGRAM: &str = "\
        random_bytes(8); [$r, $w] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);\
        function draw() { $all = ''; for ($i = 0; $i < 500000; $i++) $all .= random_bytes(8); return $all; }\
        if (pcntl_fork() == 0) { fclose($r); fwrite($w, draw()); exit(0); } fclose($w);\
        for ($i = 0; $i < 1000; $i++) { $n = random_int(0, 99); if ($n < 0 || $n > 99) exit(1); }\
        $all = draw() . stream_get_contents($r); $seen = [];\
        foreach (str_split($all, 8) as $value) $seen[$value] = 1;\
        echo strlen($all) / 8 - count($seen), strlen($all) == 8000000 ? ' repeats' : ' short';";
    distinct("php", &["-r", PROGRAM], 1_000_000);
}

#[test]
fn ruby_draws_from_headwater_across_a_fork() {
    const PROGRAM: &str = "\
        require 'securerandom'; Random.urandom(8); r, w = IO.pipe; w.binmode;\
        draw = -> { Array.new(500_000) { Random.urandom(8) } };\
        if fork.nil? then r.close; w.write(draw.call.join); w.close; exit!(0) end;\
        w.close; data = r.read; all = draw.call + data.unpack('a8' * (data.bytesize / 8));\
        SecureRandom.uuid; puts \"#{all.size - all.uniq.size} repeats\"";
    distinct("ruby", &["-e", PROGRAM], 1_000_000);
}

#[test]
fn perl_draws_through_syscall() {
    const PROGRAM: &str = "\
        my %seen; for (1 .. 1000000) { my $b = \"\\0\" x 8; syscall(318, $b, 8, 0) == 8 or die; $seen{$b} = 1 }\
        print 1000000 - keys(%seen), ' repeats'";
    if cfg!(target_arch = "x86_64") {
        distinct("perl", &["-e", PROGRAM], 1_000_000);
    }
}

/// The tests of CPython's own modules, where the interpreter brings them.
#[test]
fn pythons_own_tests_pass() {
    let os = ["test.test_os.URandomTests", "test.test_os.GetRandomTests"];
    let others = ["test.test_random", "test.test_secrets", "test.test_uuid"];
    let mut python = Command::new("python3");
    python.args(["-c", "import test.test_os, test.test_random, test.test_secrets, test.test_uuid"]);
    if !python.output().is_ok_and(|output| output.status.success()) {
        return eprintln!("skipped: python3: its tests are not installed, so they do not run here");
    }
    let (_, counts) = Counts::of(|command| {
        let outcome: Output = command
            .args(["python3", "-m", "unittest", "-q"])
            .args(os)
            .args(others)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&outcome.stderr).into_owned();
        assert!(outcome.status.success(), "{text}");
        text
    });
    assert!(counts.draws > 100, "{counts:?}");
}

/// The price of a start is bounded by a record, not here; a start must work from any directory.
#[test]
fn every_program_starts_with_it() {
    for program in ["/bin/true", "/bin/sh", "/usr/bin/env"] {
        let mut command = with_shim(Path::new(program));
        if program.ends_with("sh") {
            command.args(["-c", ":"]);
        }
        run(command.current_dir("/"));
    }
}

/// CPUID leaves a virtual machine, so a start takes the words from glibc. If glibc has none, set-up
/// asks the CPU and draws as before.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_start_takes_the_cpus_features_from_glibc() {
    let leaves = support::compile_with("cc", "leaves.c", &["-shared", "-fPIC"]);
    let program = compile("musl.c");
    let mut both = shim().as_os_str().to_owned();
    both.push(":");
    both.push(&leaves);
    assert_eq!(run(Command::new(&program).env("LD_PRELOAD", &both)), "16 bytes\nasked 7\n");
    // A start that sets nothing up has no questions.
    let lazy = run(Command::new("/bin/true").env("LD_PRELOAD", both).env("HEADWATER_LAZY", "1"));
    assert_eq!(lazy, "asked 0\n");
}

/// Each process pays for each mapping at its start and at its exit.
#[test]
fn a_start_maps_no_memory_for_handles() {
    if !has("strace", "which memory a start maps") {
        return;
    }
    let mut strace = Command::new("strace");
    strace.args(["-qq", "-e", "trace=mmap", "-E"]);
    strace.arg(format!("LD_PRELOAD={}", shim().display())).arg("/bin/true");
    let output = strace.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    // State, lines and pages.
    let reserved = text.lines().filter(|line| {
        line.contains("PROT_READ|PROT_WRITE")
            && (line.contains("MAP_NORESERVE")
                || line.contains("0x8 /*")
                || line.contains("DROPPABLE"))
    });
    assert!((1..=3).contains(&reserved.count()), "{text}");
}

/// The dynamic linker drops LD_PRELOAD where a program gets more rights than its caller.
#[test]
fn set_user_id_programs_are_not_reached() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    const OTHER: u32 = 12_345;
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!(
            "skipped: set-user-ID programs: only root can make one, so nothing here shows that they run"
        );
        return;
    }
    let program = support::compile("musl.c");
    chown(&program, Some(OTHER), None).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let (text, counts) = Counts::of(|command| run(command.arg(&program)));
    std::fs::remove_file(&program).unwrap();
    assert_eq!((text.as_str(), counts.draws), ("16 bytes\n", 0));
}

/// Go makes its own system calls, also in a program that is linked dynamically.
#[test]
fn go_programs_are_not_reached() {
    if !has("go", "that programs of Go run as before") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("draw.go");
    let program = directory.path().join("draw");
    let text = "package main\nimport (\"crypto/rand\"; \"fmt\")\n\
                func main() { b := make([]byte, 16); n, _ := rand.Read(b); fmt.Println(n, \"bytes\") }\n";
    std::fs::write(&source, text).unwrap();
    run(Command::new("go").args(["build", "-o"]).arg(&program).arg(&source));
    let (text, counts) = Counts::of(|command| run(command.arg(&program)));
    assert_eq!((text.as_str(), counts.draws), ("16 bytes\n", 0));
}
