//! `random_pseudo_bytes` with restartable sequences and without: children in shared memory, forks
//! at every instruction of a section, and the machine code of the sections.
#![cfg(all(target_os = "linux", target_arch = "x86_64", not(any(loom, miri, sanitized))))]

mod ways;

use headwater_stepper::{Breakpoint, Section, decoder};
use headwater_streams::{random_pseudo_bytes, random_pseudo_u64};
use headwater_testing::words::zeros_and_repeats;
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst,
};
use ways::both_ways;

/// Words that a child in shared memory draws.
const WORDS: usize = 500_000;
/// Threads that draw beside it.
const THREADS: usize = 3;

/// The words of one drawing task. Each is written by its task alone, and read when all have ended.
struct Words {
    words: UnsafeCell<Vec<u64>>,
    drawn: AtomicUsize,
}

// SAFETY: one task writes, and the others read after it has ended (`drawn`, and the thread's join).
unsafe impl Sync for Words {}

impl Words {
    fn new(capacity: usize) -> Words {
        Words { words: UnsafeCell::new(vec![0; capacity]), drawn: AtomicUsize::new(0) }
    }

    /// Draws until the room is full or `stop` is set. If the task `moves`, it goes from CPU to CPU,
    /// which its rseq area does not follow if the area is its parent's.
    fn fill(&self, stop: &AtomicBool, moves: bool) {
        // SAFETY: the caller is the only task that uses these words now.
        let words = unsafe { &mut *self.words.get() };
        let mut drawn = 0;
        while drawn + 7 <= words.len() && !stop.load(SeqCst) {
            if moves && drawn % 7_000 == 0 {
                move_to(drawn / 7_000);
            }
            words[drawn] = random_pseudo_u64().unwrap_or(0);
            let (mut block, mut blocks) = ([0; 16], [0; 32]);
            let _ = random_pseudo_bytes(&mut block); // zeros if it fails, which `episode` finds
            let _ = random_pseudo_bytes(&mut blocks);
            let all = block.as_chunks().0.iter().chain(blocks.as_chunks().0);
            for (to, word) in words[drawn + 1..].iter_mut().zip(all) {
                *to = u64::from_ne_bytes(*word);
            }
            drawn += 7;
        }
        self.drawn.store(drawn, SeqCst);
    }
}

/// Moves this task to the CPU of this number, counted round. Allocates nothing.
fn move_to(number: usize) {
    // SAFETY: a set of CPUs is any bits; the calls read and write these sets alone. The kernel
    // refuses a CPU that this process may not use, and the task stays where it is.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let cpus = libc::sysconf(libc::_SC_NPROCESSORS_ONLN).max(1) as usize;
        libc::CPU_SET(number % cpus, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

struct Child {
    words: Words,
    never: AtomicBool,
    ended: AtomicU32,
}

extern "C" fn child(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `episode` passes a reference that outlives the child.
    let child = unsafe { &*argument.cast::<Child>() };
    child.words.fill(&child.never, true);
    child.ended.store(1, SeqCst);
    // SAFETY: ends this task alone, without the C library's handlers, which are the parent's.
    unsafe { libc::_exit(0) }
}

/// Runs one child of these flags beside drawing threads, and compares all words.
fn episode(flags: libc::c_int, stack: &mut [u8]) {
    let mine =
        Child { words: Words::new(WORDS), never: AtomicBool::new(false), ended: AtomicU32::new(0) };
    let stop = AtomicBool::new(false);
    let threads: Vec<Words> = (0..THREADS).map(|_| Words::new(4 * WORDS)).collect();
    std::thread::scope(|scope| {
        for words in &threads {
            scope.spawn(|| words.fill(&stop, false));
        }
        // SAFETY: the child runs `child` on a stack of its own and never returns to this frame.
        let pid = unsafe {
            libc::clone(
                child,
                stack.as_mut_ptr_range().end.cast(),
                libc::CLONE_VM | flags | libc::SIGCHLD,
                (&raw const mine).cast_mut().cast(),
            )
        };
        assert!(pid > 0);
        // With CLONE_VFORK the child has ended. Else this thread, whose rseq area the child shares,
        // draws too.
        while mine.ended.load(SeqCst) == 0 {
            std::hint::black_box(random_pseudo_u64().unwrap());
        }
        // SAFETY: waits for a child of this process; the status is not used.
        unsafe { libc::waitpid(pid, null_mut(), 0) };
        stop.store(true, SeqCst);
    });
    let mut all = Vec::new();
    for words in threads.iter().chain([&mine.words]) {
        // SAFETY: all tasks have ended.
        let words_of_it = unsafe { &*words.words.get() };
        all.extend_from_slice(&words_of_it[..words.drawn.load(SeqCst)]);
    }
    let found = zeros_and_repeats(&mut all);
    assert_eq!(found, (0, 0), "of {} words: zeros, repeats", all.len());
}

/// Without the comparison of RDPID this test finds repeats. `HEADWATER_TEST_EPISODES` sets the
/// number of children.
#[test]
fn children_in_shared_memory_repeat_no_pseudo_bytes() {
    both_ways("children_in_shared_memory_repeat_no_pseudo_bytes", |_| {
        let episodes = std::env::var("HEADWATER_TEST_EPISODES").ok().and_then(|n| n.parse().ok());
        random_pseudo_u64().unwrap();
        let mut stack = vec![0; 256 << 10];
        for flags in [libc::CLONE_VFORK, 0] {
            (0..episodes.unwrap_or(2)).for_each(|_| episode(flags, &mut stack));
        }
    });
}

/// Clears the breakpoint, and moves the thread to the next CPU.
extern "C" fn move_away(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    // SAFETY: the breakpoint lives while this pointer is set, and the kernel passes a context.
    let (breakpoint, context) =
        unsafe { (BREAKPOINT.load(SeqCst).as_ref(), &mut *context.cast::<libc::ucontext_t>()) };
    let Some(breakpoint) = breakpoint else { return };
    breakpoint.clear();
    // The kernel has moved the thread out of its section. But a mutant without the descriptor is
    // past the breakpoint, and has to continue with the instruction that was there.
    let at = &mut context.uc_mcontext.gregs[libc::REG_RIP as usize];
    if *at == breakpoint.address() as i64 + 1 {
        *at -= 1;
    }
    IS_HIT.store(true, SeqCst);
    move_to(TURN.fetch_add(1, SeqCst));
}

/// Draws by a section that no thread of these tests runs otherwise: the one of 8 bytes in a slice.
#[inline(never)]
fn own_word() -> u64 {
    let mut word = [0; 8];
    random_pseudo_bytes(std::hint::black_box(&mut word)).unwrap();
    u64::from_ne_bytes(word)
}

/// Sets a breakpoint at this address and draws. `None` if the system does not allow code to be
/// written.
fn own_word_with_breakpoint(at: u64) -> Option<u64> {
    IS_HIT.store(false, SeqCst);
    // SAFETY: the first byte of an instruction that this thread alone runs.
    let mut breakpoint = unsafe { Breakpoint::set(at) }?;
    BREAKPOINT.store(&raw mut breakpoint, SeqCst);
    let word = own_word();
    BREAKPOINT.store(null_mut(), SeqCst);
    Some(word)
}

/// A thread that is moved between the choice of a counter and the addition must not add on another
/// CPU than the counter's. Without the descriptor this test finds repeats.
#[test]
fn a_thread_moved_inside_a_section_repeats_nothing() {
    both_ways("a_thread_moved_inside_a_section_repeats_nothing", |has_sections| {
        handle_traps(move_away as *const () as usize, libc::SA_SIGINFO);
        // The first draw goes by the cold path, which has a section of its own. Where the linker
        // puts that one first, it would be taken for the section of all other draws.
        own_word();
        let additions = sections().into_iter().map(|section| section.last().unwrap().ip());
        let mut own = additions.filter(|&at| {
            own_word_with_breakpoint(at);
            IS_HIT.load(SeqCst)
        });
        let Some(own) = own.next() else {
            assert!(!has_sections, "the section was not found");
            return;
        };
        let stop = AtomicBool::new(false);
        let threads: Vec<Words> = (0..2).map(|_| Words::new(8 * WORDS)).collect();
        let (mut all, mut hits) = (Vec::new(), 0);
        std::thread::scope(|scope| {
            for (number, words) in threads.iter().enumerate() {
                let stop = &stop;
                scope.spawn(move || {
                    move_to(number);
                    words.fill(stop, false);
                });
            }
            for _ in 0..2000 {
                all.extend(own_word_with_breakpoint(own));
                hits += usize::from(IS_HIT.load(SeqCst));
            }
            stop.store(true, SeqCst);
        });
        println!("{hits} moves");
        assert!(hits > 0);
        for words in &threads {
            // SAFETY: all tasks have ended.
            let words_of_it = unsafe { &*words.words.get() };
            all.extend_from_slice(&words_of_it[..words.drawn.load(SeqCst)]);
        }
        let found = zeros_and_repeats(&mut all);
        assert_eq!(found, (0, 0), "of {} words: zeros, repeats", all.len());
    });
}

/// Sets the handler of breakpoints.
fn handle_traps(handler: usize, flags: libc::c_int) {
    // SAFETY: an action of zeros has no flags and an empty mask; the handler's type matches the
    // flags.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (action.sa_sigaction, action.sa_flags) = (handler, flags);
        assert_eq!(libc::sigaction(libc::SIGTRAP, &raw const action, null_mut()), 0);
    }
}

/// Returns the sections of `random_pseudo_bytes` in this program: those that add to memory. The
/// core's claim bytes by a store.
fn sections() -> Vec<Vec<decoder::Instruction>> {
    let all = Section::all().iter().map(Section::instructions);
    all.filter(|section| section.iter().any(|i| i.mnemonic() == decoder::Mnemonic::Xadd)).collect()
}

/// The whole change of state is the last instruction of a section, an addition without the lock
/// prefix; RDPID is compared directly before it; nothing else writes to memory.
#[test]
fn each_section_ends_in_one_addition() {
    use decoder::Mnemonic::{And, Cmp, Jne, Rdpid, Xadd};
    let sections = sections();
    assert!(sections.len() >= 3, "{} sections", sections.len());
    for section in sections {
        let end: Vec<_> =
            section.iter().rev().take(5).map(decoder::Instruction::mnemonic).collect();
        assert_eq!(end, [Xadd, Jne, Cmp, And, Rdpid], "{section:?}");
        let (last, before) = section.split_last().unwrap();
        assert!(!last.has_lock_prefix());
        let writes = |i: &decoder::Instruction| {
            i.op0_kind() == decoder::OpKind::Memory && i.mnemonic() != Cmp
        };
        assert!(!before.iter().any(writes), "{section:?}");
    }
}

/// All that a parent and its children have drawn: a counter, then words, in memory that forks
/// share.
struct Record([AtomicU64; 4096]);

static RECORD: AtomicPtr<Record> = AtomicPtr::new(null_mut());
static BREAKPOINT: AtomicPtr<Breakpoint> = AtomicPtr::new(null_mut());
static IS_CHILD: AtomicBool = AtomicBool::new(false);
static IS_HIT: AtomicBool = AtomicBool::new(false);

fn record(drawn: &[u8]) {
    // SAFETY: set before the first draw, and never unmapped.
    let Record(words) = unsafe { &*RECORD.load(SeqCst) };
    for word in drawn.as_chunks().0 {
        let at = 1 + words[0].fetch_add(1, SeqCst) as usize;
        words[at].store(u64::from_ne_bytes(*word), SeqCst);
    }
}

fn draw() {
    record(&random_pseudo_u64().unwrap().to_ne_bytes());
    bytes::<8>();
    bytes::<16>();
    bytes::<40>();
    bytes::<320>();
}

fn bytes<const N: usize>() {
    let mut drawn = [0; N];
    random_pseudo_bytes(&mut drawn).unwrap();
    record(&drawn);
}

/// Forks at the breakpoint. Every second child draws before the interrupted frame continues.
extern "C" fn fork_here(_: libc::c_int) {
    // SAFETY: the breakpoint lives while this pointer is set.
    if let Some(breakpoint) = unsafe { BREAKPOINT.load(SeqCst).as_ref() } {
        breakpoint.clear();
    }
    if IS_HIT.swap(true, SeqCst) {
        return;
    }
    // SAFETY: no stack and no flags but the signal: a fork without the C library's handlers.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    assert!(child >= 0);
    IS_CHILD.store(child == 0, SeqCst);
    // SAFETY: asks for a number.
    if child > 0 || unsafe { libc::getpid() } % 2 == 0 {
        draw();
    }
}

/// Steps cannot reach these places, because each trap aborts the section. A breakpoint can.
#[test]
fn a_fork_at_every_instruction_of_a_pseudo_section() {
    both_ways("a_fork_at_every_instruction_of_a_pseudo_section", |has_sections| {
        handle_traps(fork_here as extern "C" fn(libc::c_int) as *const () as usize, 0);
        // SAFETY: a new mapping at an address that the kernel picks, where zeros are a record.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let sharing = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
            let at = libc::mmap(null_mut(), size_of::<Record>(), access, sharing, -1, 0);
            assert!(at != libc::MAP_FAILED);
            RECORD.store(at.cast(), SeqCst);
        }
        let mut hits = 0;
        for instruction in sections().iter().flatten() {
            IS_HIT.store(false, SeqCst);
            // SAFETY: the first byte of an instruction of a section, which only this thread runs.
            let Some(mut breakpoint) = (unsafe { Breakpoint::set(instruction.ip()) }) else {
                return println!("skipped: forks inside sections: code cannot be written here");
            };
            BREAKPOINT.store(&raw mut breakpoint, SeqCst);
            draw();
            BREAKPOINT.store(null_mut(), SeqCst);
            drop(breakpoint);
            draw();
            if IS_CHILD.load(SeqCst) {
                // SAFETY: ends the child.
                unsafe { libc::_exit(0) };
            }
            let mut status = 0;
            // SAFETY: waits for the one child, if there is one.
            while unsafe { libc::waitpid(-1, &raw mut status, 0) } > 0 {
                assert_eq!(status, 0, "a child failed");
            }
            hits += usize::from(IS_HIT.load(SeqCst));
            // SAFETY: as in `record`; no other process is left.
            let Record(words) = unsafe { &*RECORD.load(SeqCst) };
            let count = words[0].swap(0, SeqCst) as usize;
            let mut drawn: Vec<u64> =
                words[1..=count].iter().map(|word| word.load(SeqCst)).collect();
            let found = zeros_and_repeats(&mut drawn);
            assert_eq!(found, (0, 0), "zeros, repeats after a fork at {instruction:?}");
        }
        println!("{hits} forks");
        // A word, a block and longer ones, each with a dozen instructions.
        assert_eq!(hits > 30, has_sections, "{hits} forks");
    });
}
