//! VMClock, by a file in the device's place, and quiescing for a checkpoint.
#![cfg(target_os = "linux")]

mod common;
mod support;

use common::isolated;
use headwater::testing::{Force, Point, set, set_hook, set_root};
use headwater::{
    Config, CpuRng, Freshness, Mode, ReseedGeneration, Rng, Source, Stamp, Status, Vmclock, Vmgenid,
};
use std::collections::HashSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use support::children::{Ending, fork, wait};
use support::draws::draw_everything;
use support::machine::{bind, cpus, set_mode_variable, skip};
use support::memory::{buffered_words, is_mapped, is_random};
use support::root::{FakeClock, MARKER, Root, VM_GENERATION, VMCLOCK};
use support::rules::{assert_by_the_rules, force};
use support::statistics::assert_distinct;

static CLOCK: OnceLock<FakeClock> = OnceLock::new();

/// Sets up on a machine with a clock, a boot identifier and nothing else. The clock stays in
/// [`CLOCK`].
fn set_up(counts: bool) -> (Root, Status) {
    let root = Root::new();
    // The kernel that a process comes back to after it was quiesced.
    root.write(BOOT_ID, b"0fcf25a1-e9d5-4f9b-9c9f-9406386f0a52\n");
    CLOCK.set(FakeClock::new(&root, counts)).ok().unwrap();
    let status = set_up_under(&root);
    (root, status)
}

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

fn set_up_under(root: &Root) -> Status {
    set_root(root.c_path());
    headwater::init().unwrap();
    let status = headwater::status();
    assert_by_the_rules(&status);
    assert_eq!(status.vmgenid, Vmgenid::Unknown);
    status
}

fn has_word(status: &Status) -> bool {
    matches!(status.reseed_generation, ReseedGeneration::Live { .. })
}

/// Returns true unless the loads of the clock count as slow, and reports `test` as skipped if they
/// do. The fastest of eight rounds of 64 loads decides. On a machine that is so busy that no round
/// was quick the file counts as slow.
fn is_mapped_or_slow(test: &str, status: &Status) -> bool {
    if status.vmclock == Vmclock::Slow {
        skip(test, "loads are slow on this machine");
    }
    status.vmclock != Vmclock::Slow
}

#[test]
fn a_clock_is_mapped_and_compared() {
    let test = "a_clock_is_mapped_and_compared";
    isolated(test, || {
        let (_root, status) = set_up(true);
        if !is_mapped_or_slow(test, &status) {
            return;
        }
        let vm_generation = Some(VM_GENERATION);
        assert_eq!(status.vmclock, Vmclock::Mapped { marker: MARKER, vm_generation });
        assert!(is_mapped(VMCLOCK));
        draw_everything();
        if !has_word(&status) {
            return skip(test, status.reason);
        }
        assert_eq!(status.mode, Mode::Buffered);
        // One CPU, so that draws one after the other meet the same slot.
        bind(&cpus()[..1]);
        let mut rng = Rng::new().unwrap();
        let (mut stamp, mut marker) = (Stamp::new(), MARKER);
        for by_handle in [false, true, false, true] {
            let draw = |rng: &mut Rng| match by_handle {
                false => headwater::u64().unwrap(),
                true => rng.next_u64(),
            };
            // From a page that was just filled: of one whose last word is drawn, which a reseed of
            // the machine can bring about here, there would be nothing to discard.
            let refills = || headwater::status().counters.refills;
            let filled = refills();
            while refills() == filled {
                draw(&mut rng);
            }
            stamp.check();
            let generation = headwater::generation();
            let (before, buffered) = (headwater::status().counters, buffered_words());
            marker += 1;
            CLOCK.get().unwrap().set_marker(marker);
            // Fewer than 2^14 words buffered, 1,000 drawn: 2^-40 by chance.
            for _ in 0..500 {
                let word = draw(&mut rng);
                assert!(!buffered.contains(&word), "served after a snapshot was loaded");
            }
            let after = headwater::status();
            assert!(after.counters.discarded_bytes > before.discarded_bytes);
            assert_eq!(after.vmclock, Vmclock::Mapped { marker, vm_generation });
            assert_ne!(headwater::generation(), generation);
            assert_eq!(stamp.check(), Freshness::Stale);
        }
        draw_everything();
    });
}

/// The marker reports to headwater, and not to the kernel: the next bytes must depend on the CPU's
/// words, or the owner of the snapshot computes it. A stamp asks for less: it says only that
/// something happened.
#[test]
fn a_clock_alone_needs_fresh_bits() {
    let test = "a_clock_alone_needs_fresh_bits";
    isolated(test, || {
        for (facts, fresh) in [
            (&[][..], true),
            (&[Force::CpuRngSlow], true),
            (&[Force::NoCpuRng], false),
            (&[Force::CpuRngStuck], false),
        ] {
            let child = fork(|| {
                force(facts);
                let (_root, status) = set_up(true);
                if !is_mapped_or_slow(test, &status) || !has_word(&status) {
                    return 77;
                }
                let expected = if fresh { Mode::Buffered } else { Mode::Strict };
                assert_eq!(status.mode, expected, "{facts:?}: {status:?}");
                assert!(status.generation.is_some());
                draw_everything();
                // Asked for, it is served all the same.
                headwater::init_with(Config::new().mode(Mode::Buffered)).unwrap();
                assert_eq!(headwater::status().mode, Mode::Buffered);
                0
            });
            match wait(child) {
                Ending::Exited(0) => {}
                Ending::Exited(77) => {
                    return skip(test, "no clock or no reseed generation: nothing is reported");
                }
                other => panic!("{facts:?}: {other:?}"),
            }
        }
    });
}

/// A clock without VM_GEN_COUNTER_PRESENT may be there for time alone. It is mapped, and proves
/// nothing: neither the mode nor a stamp relies on it. The flag is read when it is asked for, and
/// not kept.
#[test]
fn a_clock_that_does_not_count_generations_is_no_evidence() {
    let test = "a_clock_that_does_not_count_generations_is_no_evidence";
    isolated(test, || {
        let (_root, status) = set_up(false);
        if !is_mapped_or_slow(test, &status) || !has_word(&status) {
            return skip(test, status.reason);
        }
        assert_eq!(status.vmclock, Vmclock::Mapped { marker: MARKER, vm_generation: None });
        assert!(matches!(status.mode, Mode::Hedged | Mode::Strict), "{status:?}");
        assert_eq!((status.generation, headwater::generation()), (None, None));
        assert!(is_mapped(VMCLOCK));
        // VMClock's page under a hypervisor that counts generations.
        CLOCK.get().unwrap().put(24, &(1_u64 << 8).to_le_bytes());
        headwater::init_with(Config::new()).unwrap();
        let status = headwater::status();
        let vm_generation = Some(VM_GENERATION);
        assert_eq!(status.vmclock, Vmclock::Mapped { marker: MARKER, vm_generation });
        assert_by_the_rules(&status);
        assert!(status.generation.is_some());
    });
}

/// The instruction goes bad while VMClock relies on it: the mode follows at the next refill.
#[test]
fn a_clock_loses_its_fresh_bits() {
    let test = "a_clock_loses_its_fresh_bits";
    isolated(test, || {
        let (_root, status) = set_up(true);
        if !is_mapped_or_slow(test, &status) || status.mode != Mode::Buffered {
            return skip(test, status.reason);
        }
        draw_everything();
        set(Force::CpuRngStuck, true);
        // More than the slots of all CPUs hold.
        let words = (0..1024 * status.pools.slots).map(|_| headwater::u64().unwrap());
        assert_distinct(words.collect(), "around the failure");
        let status = headwater::status();
        assert_eq!((status.cpu_rng, status.mode), (CpuRng::Broken, Mode::Strict));
        assert!(status.generation.is_some());
        assert_by_the_rules(&status);
        draw_everything();
    });
}

/// The marker moves between copy and comparison: what was copied is void.
#[test]
fn the_marker_moves_in_the_middle_of_a_copy() {
    let test = "the_marker_moves_in_the_middle_of_a_copy";
    static MOVES: AtomicBool = AtomicBool::new(false);
    isolated(test, || {
        // The hook is met by draws under a lock alone.
        set(Force::NoSections, true);
        // Mode `buffered` is requested, because this clock does not promise to report clones; its
        // marker is compared all the same.
        set_mode_variable(Some("buffered"));
        let (_root, status) = set_up(false);
        if !is_mapped_or_slow(test, &status) || status.mode != Mode::Buffered {
            return skip(test, status.reason);
        }
        assert_eq!(status.vmclock, Vmclock::Mapped { marker: MARKER, vm_generation: None });
        // One CPU, so that draws one after the other meet the same slot.
        bind(&cpus()[..1]);
        set_hook(Some(|point| {
            static MARKERS: AtomicU64 = AtomicU64::new(MARKER);
            if point == Point::Copied && MOVES.swap(false, SeqCst) {
                let next = MARKERS.fetch_add(1, SeqCst) + 1;
                CLOCK.get().unwrap().set_marker(next);
            }
        }));
        for len in [8, 16, 40, 1024, 8, 40] {
            let mut buf = vec![0; len];
            headwater::fill(&mut buf).unwrap();
            let (before, buffered) = (headwater::status().counters, buffered_words());
            MOVES.store(true, SeqCst);
            headwater::fill(&mut buf).unwrap();
            assert!(!MOVES.load(SeqCst), "nothing was copied at {len}");
            let mut words = buf.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
            assert!(words.all(|word| !buffered.contains(&word)), "{len}");
            assert!(headwater::status().counters.retries > before.retries, "{len}");
        }
    });
}

/// A guard that never rests: a large request is started again once, each chunk is made again once,
/// and then it is accepted, so that it ends.
#[test]
fn a_large_request_ends_while_the_marker_moves() {
    let test = "a_large_request_ends_while_the_marker_moves";
    static CHUNKS: AtomicU64 = AtomicU64::new(0);
    isolated(test, || {
        let (_root, status) = set_up(false);
        if !is_mapped_or_slow(test, &status) {
            return;
        }
        set_hook(Some(|point| {
            if point == Point::LargeChunk {
                let chunk = CHUNKS.fetch_add(1, SeqCst) + 1;
                CLOCK.get().unwrap().set_marker(MARKER + chunk);
            }
        }));
        let mut rng = Rng::new().unwrap();
        let check = |draw: &mut dyn FnMut(&mut [u8])| {
            for (len, chunks) in [(2000, 1), (3 << 20, 3)] {
                CHUNKS.store(0, SeqCst);
                let mut buf = vec![0; len];
                draw(&mut buf);
                assert_eq!(CHUNKS.load(SeqCst), 1 + 2 * chunks);
                let mut seen = support::draws::Seen::default();
                seen.take(&buf);
                seen.assert_no_repeats();
            }
        };
        check(&mut |buf| headwater::fill(buf).unwrap());
        check(&mut |buf| rng.fill(buf).unwrap());
    });
}

/// Sets up under a device that cannot be used, and says which way.
macro_rules! refused {
    ($($name:ident: $expected:ident, $break_it:expr;)*) => {$(
        #[test]
        fn $name() {
            isolated(stringify!($name), || {
                let root = Root::new();
                let break_it: fn(&Root) = $break_it;
                break_it(&root);
                let status = set_up_under(&root);
                assert_eq!(status.vmclock, Vmclock::$expected);
                assert!(!is_mapped(VMCLOCK));
                draw_everything();
            });
        }
    )*};
}

refused! {
    no_clock: Absent, |_| {};
    wrong_magic: Invalid, |root| FakeClock::new(root, true).put(0, b"VCLQ");
    wrong_version: Invalid, |root| FakeClock::new(root, true).put(8, &[2, 0]);
    a_page_of_zeros: Invalid, |root| root.write(VMCLOCK, &[0; 4096]);
    not_a_file: Invalid, |root| root.make_folder(VMCLOCK);
    slow_loads: Slow, |root| {
        FakeClock::new(root, true);
        force(&[Force::VmclockSlow]);
    };
    unreadable: Unreadable, |root| {
        use std::os::unix::fs::PermissionsExt;
        FakeClock::new(root, true);
        let nobody = std::fs::Permissions::from_mode(0o0);
        std::fs::set_permissions(root.at(VMCLOCK), nobody).unwrap();
        // SAFETY: takes away rights of this process, which are root's or none to speak of.
        unsafe {
            if libc::geteuid() == 0 {
                assert_eq!(libc::setresgid(65_534, 65_534, 65_534), 0);
                assert_eq!(libc::setresuid(65_534, 65_534, 65_534), 0);
            }
        }
    };
}

#[test]
fn a_clock_that_is_not_wanted() {
    let test = "a_clock_that_is_not_wanted";
    isolated(test, || {
        let root = Root::new();
        let _clock = FakeClock::new(&root, true);
        set_root(root.c_path());
        for (wanted, round) in [(false, 0), (true, 1), (false, 2), (true, 3)] {
            headwater::init_with(Config::new().vmclock(wanted)).unwrap();
            let status = headwater::status();
            if wanted && !is_mapped_or_slow(test, &status) {
                return;
            }
            assert_eq!(status.vmclock.name(), if wanted { "mapped" } else { "off" }, "{round}");
            assert_eq!(is_mapped(VMCLOCK), wanted, "{round}");
            assert_by_the_rules(&status);
            draw_everything();
        }
    });
}

#[test]
fn quiescing_lets_go_of_everything() {
    isolated("quiescing_lets_go_of_everything", || quiesces(&[]));
}

/// Pages that are locked in memory are not dropped as easily as others.
#[test]
fn quiescing_lets_go_of_locked_pages() {
    isolated("quiescing_lets_go_of_locked_pages", || quiesces(&[Force::NoDroppable]));
}

#[test]
fn quiescing_lets_go_of_pages_that_are_not_locked() {
    let facts = [Force::NoDroppable, Force::NoMlock];
    isolated("quiescing_lets_go_of_pages_that_are_not_locked", || quiesces(&facts));
}

/// Returns the random words in memory that headwater uses. The lines of headwater hold numbers too,
/// which are small and are left out.
fn random_words() -> HashSet<u64> {
    let mut words = buffered_words();
    words.retain(|&word| is_random(word));
    words
}

fn quiesces(facts: &[Force]) {
    force(facts);
    let (_root, status) = set_up(true);
    if !is_mapped_or_slow("quiesces", &status) {
        return;
    }
    let mut rng = Rng::new().unwrap();
    for _ in 0..3 {
        headwater::u64().unwrap();
        let word = rng.next_u64();
        let buffered = random_words();
        assert!(buffered.len() > 200 || status.mode == Mode::Strict, "the pages were not found");
        headwater::quiesce().unwrap();
        let quiet = headwater::status();
        assert_eq!((quiet.mode, quiet.vmclock), (Mode::Strict, Vmclock::Quiesced));
        assert!(!has_word(&quiet));
        assert_eq!(quiet.generation, None);
        assert_by_the_rules(&quiet);
        assert!(!is_mapped(VMCLOCK), "CRIU would refuse this process");
        let left = buffered.intersection(&random_words()).count();
        assert_eq!(left, 0, "words are left for the checkpoint");
        draw_everything();
        assert_ne!(rng.next_u64(), word);
        // Nothing is buffered meanwhile, and no state of the vDSO's keyed, which would be in the
        // image.
        assert!(random_words().is_subset(&buffered));
        headwater::quiesce().unwrap(); // once more changes nothing
        assert_eq!(headwater::status().mode, Mode::Strict);

        headwater::init_with(Config::new()).unwrap();
        let in_use = headwater::status();
        if is_mapped_or_slow("quiesces", &in_use) {
            // On the same kernel everything comes back.
            assert_eq!((in_use.mode, in_use.vmclock), (status.mode, status.vmclock));
            assert_eq!(has_word(&in_use), has_word(&status));
            assert!(is_mapped(VMCLOCK));
        }
        for _ in 0..100 {
            let words = [headwater::u64().unwrap(), rng.next_u64()];
            assert!(words.iter().all(|word| !buffered.contains(word)));
        }
    }
}

/// Draws by functions that do not use the C library's clock, which loads the vDSO's data as well.
/// Checks that there is no generation, and that a stamp shows nothing.
fn draw_without_clocks(rng: &mut Rng) {
    for len in [1, 8, 16, 40, 1024, 3000] {
        let mut buf = vec![0; len];
        headwater::fill(&mut buf).unwrap();
        rng.fill(&mut buf).unwrap();
        headwater::fill_fresh(&mut buf).unwrap();
    }
    let mut stamp = Stamp::new();
    assert_eq!(stamp.check(), Freshness::Stale, "a new stamp");
    assert_eq!((headwater::generation(), stamp.check()), (None, Freshness::Unknown));
}

/// The pages of `[vvar]` are taken away, as CRIU does on another kernel: nothing reads them after
/// `quiesce()`, and they are not looked for again under another boot identifier, or under none.
#[test]
fn another_kernel_has_no_word() {
    let test = "another_kernel_has_no_word";
    isolated(test, || {
        for other in [Some("1fcf25a1-e9d5-4f9b-9c9f-9406386f0a52\n"), Some("\n"), None] {
            let child = fork(|| {
                force(&[Force::VmgenidBound]);
                let root = Root::new();
                root.write(BOOT_ID, b"0fcf25a1-e9d5-4f9b-9c9f-9406386f0a52\n");
                set_root(root.c_path());
                headwater::init().unwrap();
                if !has_word(&headwater::status()) {
                    return 77;
                }
                let mut rng = Rng::new().unwrap();
                draw_everything();
                headwater::quiesce().unwrap();
                let quiet = headwater::status();
                assert_eq!(
                    (quiet.reseed_generation, quiet.mode),
                    (ReseedGeneration::Quiesced, Mode::Strict)
                );
                if !unmap("[vvar]") {
                    return 78;
                }
                draw_without_clocks(&mut rng);
                match other {
                    Some(text) => root.write(BOOT_ID, text.as_bytes()),
                    None => std::fs::remove_file(root.at(BOOT_ID)).unwrap(),
                }
                for mode in [Mode::Auto, Mode::Buffered, Mode::Hedged, Mode::Strict] {
                    headwater::init_with(Config::new().mode(mode)).unwrap();
                    let status = headwater::status();
                    assert_eq!(
                        (status.reseed_generation, status.source),
                        (ReseedGeneration::Quiesced, Source::Getrandom)
                    );
                    assert!(matches!(status.mode, Mode::Hedged | Mode::Strict), "{status:?}");
                    draw_without_clocks(&mut rng);
                    // Checkpointed again on the other kernel, which is not the one to come back to.
                    headwater::quiesce().unwrap();
                }
                headwater::init_with(Config::new()).unwrap();
                assert_eq!(headwater::status().reseed_generation, ReseedGeneration::Quiesced);
                draw_without_clocks(&mut rng);
                0
            });
            match wait(child) {
                Ending::Exited(0) => {}
                Ending::Exited(77) => return skip(test, "no word: nothing of the vDSO's is read"),
                Ending::Exited(78) => return skip(test, "[vvar] cannot be unmapped here"),
                end => panic!("{other:?}: {end:?}"),
            }
        }
    });
}

/// Takes the mapping of this name away.
fn unmap(name: &str) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.ends_with(name)).unwrap();
    let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
    let [start, end] = [start, end].map(|hex| usize::from_str_radix(hex, 16).unwrap());
    // SAFETY: the vDSO's data, which nothing in this child uses from here on: that is what is
    // tested.
    unsafe { libc::munmap(std::ptr::without_provenance_mut(start), end - start) == 0 }
}

/// Quiesced and mapped again, over and over, under four threads: 400,000 words are distinct (by
/// chance two are equal: 4e-9), and no thread reads where nothing is mapped.
#[test]
fn quiescing_while_threads_draw() {
    isolated("quiescing_while_threads_draw", || {
        let (_root, _) = set_up(true);
        let done = AtomicBool::new(false);
        let draw = || {
            let mut rng = Rng::new().unwrap();
            let mut words = Vec::new();
            for round in 0..50_000_usize {
                words.push(rng.next_u64());
                let mut bytes = [0; 64];
                let len = 8 + round % 57;
                headwater::fill(&mut bytes[..len]).unwrap();
                words.push(u64::from_ne_bytes(*bytes.first_chunk().unwrap()));
            }
            words
        };
        let words = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(draw));
            let quiescer = scope.spawn(|| {
                while !done.load(SeqCst) {
                    headwater::quiesce().unwrap();
                    assert_eq!(headwater::status().mode, Mode::Strict);
                    headwater::init_with(Config::new()).unwrap();
                    assert_by_the_rules(&headwater::status());
                }
            });
            let words = threads.map(|thread| thread.join().unwrap()).concat();
            done.store(true, SeqCst);
            quiescer.join().unwrap();
            words
        });
        assert_distinct(words, "four threads under quiesce");
        draw_everything();
    });
}
