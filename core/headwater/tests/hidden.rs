//! The facts that set-up examines are hidden for real: a process without a vDSO, pages that cannot
//! be probed, no /proc, no /sys, no PROCMAP_QUERY. The mode is what the rules make of what is left,
//! and everything is drawn.
//!
//! And what is not hidden looks alike to all: every process of a host uses the same mode.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::testing::Force;
use headwater::{Mode, ReseedGeneration, Status, Vmgenid};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::ptr::null;
use std::{env, io};
use support::children::{Ending, fork, wait};
use support::draws::draw_everything;
use support::machine::{bind, cpus, skip};
use support::root::Root;
use support::rules::{assert_by_the_rules, force};

/// Set in a program that a test starts; its value says what that is to do.
const STARTED: &str = "HEADWATER_TEST_STARTED";

/// Returns a command that starts this test binary again, to run the body of `test` with [`STARTED`]
/// set to `part`. The binary is started through the open file: the path may lead through
/// directories that another user may not enter.
fn this_binary(test: &str, part: &str, file: &File) -> Command {
    let mut command = Command::new(format!("/proc/self/fd/{}", file.as_raw_fd()));
    command
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(STARTED, part)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn open_this_binary() -> File {
    File::open(env::current_exe().unwrap()).unwrap()
}

/// Returns whether set-up finds a live reseed generation in a child in which nothing is hidden.
fn has_word_by_nature() -> bool {
    let child = fork(|| {
        i32::from(matches!(headwater::status().reseed_generation, ReseedGeneration::Live { .. }))
    });
    match wait(child) {
        Ending::Exited(answer) => answer == 1,
        other => panic!("{other:?}"),
    }
}

/// Sets up and draws everything; the status, which is by the rules before and after.
fn draw_by_the_rules() -> Status {
    headwater::init().unwrap();
    let status = headwater::status();
    assert_by_the_rules(&status);
    draw_everything();
    let after = headwater::status();
    assert_by_the_rules(&after);
    assert_eq!(
        (after.mode, after.reseed_generation.name()),
        (status.mode, status.reseed_generation.name())
    );
    assert_eq!(after.counters.tripwires, 0);
    status
}

/// Checks that the reseed generation is found where there is one, and follows the kernel's reseeds.
/// The kernel is asked for a reseed through `urandom`. Returns the status of set-up.
fn finds_the_word(test: &str, natural: bool, urandom: &File) -> Status {
    const RNDRESEEDCRNG: libc::Ioctl = 0x5207;
    let status = draw_by_the_rules();
    let value = || match headwater::status().reseed_generation {
        ReseedGeneration::Live { value, .. } => Some(value),
        _ => None,
    };
    let before = value();
    assert_eq!(before.is_some(), natural, "{status:?}");
    // SAFETY: the request takes no argument.
    if unsafe { libc::ioctl(urandom.as_raw_fd(), RNDRESEEDCRNG) } != 0 {
        skip(&format!("{test}, the word moves"), "RNDRESEEDCRNG needs CAP_SYS_ADMIN");
    } else if natural {
        assert!(value() > before, "what was found is not the kernel's word");
        draw_everything();
        assert_by_the_rules(&headwater::status());
    }
    status
}

fn urandom() -> File {
    File::open("/dev/urandom").unwrap()
}

/// Checks that the first draw leaves errno as it was. A handler that draws must not change what the
/// code that it interrupts is about to read.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn the_first_draw_leaves_errno_alone() {
    const BEFORE: i32 = 77; // EBADFD, which no call here returns
    // SAFETY: the C library's own place for it.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: this thread's own.
    unsafe { *errno = BEFORE };
    headwater::fill(&mut [0; 16]).unwrap();
    // SAFETY: the same place: a thread's errno does not move.
    assert_eq!(unsafe { *errno }, BEFORE);
}

/// The kernel passes the vDSO's address in the auxiliary vector. A tracer takes that out before the
/// program's first instruction, as `vdso=0` on the kernel's command line does for all.
#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn a_program_without_a_vdso() {
    use support::stepper::{Traced, trace_me};
    let test = "a_program_without_a_vdso";
    isolated(test, || {
        if env::var_os(STARTED).is_some() {
            // SAFETY: reads the auxiliary vector and nothing else.
            assert_eq!(unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) }, 0);
            the_first_draw_leaves_errno_alone();
            let status = draw_by_the_rules();
            if status.requested == Mode::Kernel {
                assert_eq!(
                    status.reseed_generation,
                    ReseedGeneration::Absent("not looked for in mode kernel")
                );
            } else {
                assert_eq!(
                    status.reseed_generation,
                    ReseedGeneration::Absent("this process has no vDSO")
                );
            }
            assert_eq!((status.source, status.generation), (headwater::Source::Getrandom, None));
            assert_ne!(status.mode, Mode::Buffered);
            return;
        }
        let file = open_this_binary();
        for mode in ["", "buffered", "hedged", "strict", "kernel"] {
            let mut command = this_binary(test, "", &file);
            command.env("HEADWATER_MODE", mode);
            // SAFETY: two system calls, and nothing of the parent's is used.
            unsafe {
                command.pre_exec(|| {
                    let traced = trace_me();
                    traced.then_some(()).ok_or_else(io::Error::last_os_error)
                });
            }
            let child = match command.spawn() {
                Ok(child) => child,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return skip(
                        test,
                        "ptrace is refused, so a real vector without it is not seen",
                    );
                }
                Err(error) => panic!("{error}"),
            };
            let traced = Traced(child.id().cast_signed());
            traced.wait_for(libc::SIGTRAP).expect("it stops once the program is loaded");
            assert!(strip_vdso(&traced), "it has a vDSO");
            traced.detach();
            let output = child.wait_with_output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && text.contains("running 1 test"), "{mode}: {text}");
        }
    });
}

/// Takes AT_SYSINFO_EHDR out of the auxiliary vector of a program that has not run yet.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn strip_vdso(traced: &support::stepper::Traced) -> bool {
    let mut at = traced.stack_pointer();
    let word = |at| traced.words(at, 1)[0];
    at += 8 * (1 + word(at) + 1); // argc, the arguments and a null
    while word(at) != 0 {
        at += 8; // the environment
    }
    at += 8;
    loop {
        match word(at) {
            0 => return false,
            libc::AT_SYSINFO_EHDR => {
                traced.poke(at, libc::AT_IGNORE);
                return true;
            }
            _ => at += 16,
        }
    }
}

/// Makes `call` fail with `errno` from now on where the lower half of its argument number `index`
/// is `value`.
fn refuse(call: libc::c_long, index: u8, value: u32, errno: i32) {
    let (length, equal) = (SeccompCmpArgLen::Dword, SeccompCmpOp::Eq);
    let condition = SeccompCondition::new(index, length, equal, value.into()).unwrap();
    let rules = [(call, vec![SeccompRule::new(vec![condition]).unwrap()])];
    let refusal = SeccompAction::Errno(errno as u32);
    let arch = env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules.into(), SeccompAction::Allow, refusal, arch).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
}

/// Makes a call fail with `errno`: the call by which set-up asks whether a page can be read.
fn refuse_probes(errno: i32) {
    refuse(libc::SYS_rt_sigprocmask, 0, u32::MAX, errno);
    // SAFETY: with an invalid `how` the call changes nothing.
    let answer =
        unsafe { libc::syscall(libc::SYS_rt_sigprocmask, usize::MAX, null::<u64>(), 0, 8) };
    assert_eq!((answer, io::Error::last_os_error().raw_os_error()), (-1, Some(errno)));
}

const PROCMAP_QUERY: u32 = 0xC068_6611;

fn refuse_procmap_query() {
    refuse(libc::SYS_ioctl, 1, PROCMAP_QUERY, libc::ENOTTY);
}

/// No page of the vDSO's data can be read, as the answers go: nothing is read then, and no
/// generation is found.
#[test]
fn vvar_cannot_be_read() {
    isolated("vvar_cannot_be_read", || {
        let natural = has_word_by_nature();
        // EFAULT: the page is not there. The others: the filter of a sandbox, of which nothing is
        // known.
        for errno in [libc::EFAULT, libc::EPERM, libc::ENOSYS] {
            let child = fork(|| {
                refuse_probes(errno);
                let status = draw_by_the_rules();
                assert_eq!(status.generation, None);
                assert_ne!(status.mode, Mode::Buffered);
                if natural {
                    assert_eq!(
                        status.reseed_generation,
                        ReseedGeneration::Absent("not found in the vDSO's data")
                    );
                }
                0
            });
            assert_eq!(wait(child), Ending::Exited(0), "probes answer {errno}");
        }
    });
}

#[test]
fn procmap_query_is_refused() {
    isolated("procmap_query_is_refused", || {
        let natural = has_word_by_nature();
        let both = fork(|| {
            refuse_procmap_query();
            refuse_probes(libc::EFAULT);
            assert_eq!(draw_by_the_rules().reseed_generation.name(), "absent");
            0
        });
        assert_eq!(wait(both), Ending::Exited(0));
        refuse_procmap_query();
        finds_the_word("procmap_query_is_refused", natural, &urandom());
    });
}

/// Moves this process into a mount namespace of its own, whose mounts no other process sees.
/// Returns false where the kernel forbids it.
fn own_mounts() -> bool {
    let private = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: the process has one thread that matters; strings and nulls as the calls expect them.
    unsafe {
        (libc::unshare(libc::CLONE_NEWNS) == 0
            || libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) == 0)
            && libc::mount(null(), c"/".as_ptr(), null(), private, null()) == 0
    }
}

/// Hides these directories under empty directories. Returns false where the kernel forbids it.
fn mask(folders: &[&str]) -> bool {
    own_mounts()
        && folders.iter().all(|folder| {
            let (at, kind) = (CString::new(*folder).unwrap(), c"tmpfs".as_ptr());
            // SAFETY: strings, and a null for no options.
            unsafe { libc::mount(kind, at.as_ptr(), kind, 0, null()) == 0 }
        })
}

/// Enters an empty directory as the root, which hides everything. Returns false where the kernel
/// forbids it.
fn enter_an_empty_root(root: &Root) -> bool {
    let at = root.at("/empty/file");
    let at = CString::new(at.parent().unwrap().as_os_str().as_bytes()).unwrap();
    // SAFETY: strings.
    unsafe { libc::chroot(at.as_ptr()) == 0 && libc::chdir(c"/".as_ptr()) == 0 }
}

/// /proc and /sys empty, or not there at all: the reseed generation lies where it lay, and is
/// found. The answer of /sys on vmgenid is not known then, and counts as not being there.
#[test]
fn proc_and_sys_are_masked_or_absent() {
    let test = "proc_and_sys_are_masked_or_absent";
    isolated(test, || {
        let natural = has_word_by_nature();
        let root = Root::new();
        let hidings: [(&str, &dyn Fn() -> bool); 4] = [
            ("/proc", &|| mask(&["/proc"])),
            ("/sys", &|| mask(&["/sys"])),
            ("/proc and /sys", &|| mask(&["/proc", "/sys"])),
            ("everything", &|| enter_an_empty_root(&root)),
        ];
        for (what, hide) in hidings {
            let urandom = urandom();
            let child = fork(|| {
                if !hide() {
                    return 77;
                }
                let hidden =
                    |path| std::fs::read_dir(path).map_or(true, |mut list| list.next().is_none());
                assert!(what == "/sys" || hidden("/proc"));
                assert!(what == "/proc" || hidden("/sys"));
                let status = finds_the_word(test, natural, &urandom);
                assert!(what == "/proc" || status.vmgenid == Vmgenid::Unknown, "{status:?}");
                0
            });
            match wait(child) {
                Ending::Exited(0) => {}
                Ending::Exited(77) => {
                    let why = "needs rights over mounts; what set-up does without it is not seen";
                    skip(test, &format!("hiding {what} {why}"));
                }
                other => panic!("{what} hidden: {other:?}"),
            }
        }
    });
}

/// Sixty-four programs on all CPUs, of several users, in several directories, at once: one mode,
/// for one reason. The same with each fault that the CPU's random instruction can have.
#[test]
fn every_process_of_a_host_arms_the_same_mode() {
    const FAULTS: [(&str, &[Force]); 7] = [
        ("none", &[]),
        ("absent", &[Force::NoCpuRng]),
        ("stuck", &[Force::CpuRngStuck]),
        ("ones", &[Force::CpuRngOnes]),
        ("zero", &[Force::CpuRngZero]),
        ("fails", &[Force::CpuRngFails]),
        ("slow", &[Force::CpuRngSlow]),
    ];
    const PROCESSES: usize = 64;
    const ANSWER: &str = "in use ";
    let test = "every_process_of_a_host_arms_the_same_mode";
    isolated(test, || {
        let all = cpus();
        if let Ok(part) = env::var(STARTED) {
            let (number, fault) = part.split_once(' ').unwrap();
            let number: usize = number.parse().unwrap();
            bind(&[all[number % all.len()]]);
            let (_, facts) = FAULTS.iter().find(|(name, _)| *name == fault).unwrap();
            force(facts);
            // Half of them by a first draw, the others by being asked.
            if number.is_multiple_of(2) {
                headwater::u64().unwrap();
            }
            let status = headwater::status();
            assert_by_the_rules(&status);
            println!("{ANSWER}{} {} {:?}", status.mode, status.reason, status.cpu_rng);
            return;
        }
        let file = open_this_binary();
        // SAFETY: asks for a number.
        let may_change_users = unsafe { libc::geteuid() } == 0;
        if !may_change_users {
            skip(test, "other users need CAP_SETUID, so all processes are this user's");
        }
        for (fault, _) in FAULTS {
            let children = (0..PROCESSES).map(|number| {
                let mut command = this_binary(test, &format!("{number} {fault}"), &file);
                command.current_dir(["/", "/proc", "/dev"][number % 3]);
                if may_change_users && number % 4 > 1 {
                    command.uid(60_000 + number as u32).gid(60_000);
                }
                command.spawn().unwrap()
            });
            let children: Vec<_> = children.collect();
            let mut answers: Vec<String> = Vec::new();
            for child in children {
                let output = child.wait_with_output().unwrap();
                let text = String::from_utf8_lossy(&output.stdout);
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{text}{errors}");
                let answer = text.lines().find_map(|line| Some(line.split_once(ANSWER)?.1));
                answers.push(answer.expect("an answer").to_owned());
            }
            answers.sort_unstable();
            answers.dedup();
            assert_eq!(answers.len(), 1, "{fault}: {answers:?}");
        }
    });
}
