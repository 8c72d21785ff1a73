//! Files written and verified with rings and without them: the same bytes, extents and errors.

use headwater_storage::{
    Access, Checkpoint, End, Error, ExtentKind, Job, Pattern, Progress, Shape, Suspects, Target,
    verify, write,
};
use headwater_streams::Key;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

/// Pieces of 1 MiB for more slots than two threads have, and an end within a sector.
const SIZE: u64 = (40 << 20) + 12_345;

#[derive(Default)]
struct Marks(Vec<u64>);

impl Checkpoint for Marks {
    fn save(&mut self, done: u64) -> Result<(), Error> {
        self.0.push(done);
        Ok(())
    }
}

fn pattern(seed: u64) -> Pattern {
    Pattern::new(Key::from_seed(seed).stream(0).unwrap(), Shape::default())
}

fn fill(
    path: &Path,
    ring: bool,
    from: u64,
    limit: Option<u64>,
    progress: &Progress,
) -> (End, Marks) {
    let target = Target::open(path, Access::Write, Some(SIZE)).unwrap();
    target.reserve(SIZE).unwrap();
    if !target.is_direct() {
        eprintln!("skipped: no direct input and output here, so no ring is used by '{ring}'");
    }
    let job = Job { from, to: SIZE, threads: 2, limit, ring, progress };
    let mut marks = Marks::default();
    (write(&target, &pattern(42), &job, &mut marks).unwrap(), marks)
}

fn damage(path: &Path, ring: bool) -> Vec<(u64, u64, ExtentKind)> {
    let target = Target::open(path, Access::Verify, None).unwrap();
    let progress = Progress::default();
    let job = Job { from: 0, to: SIZE, threads: 2, limit: None, ring, progress: &progress };
    let suspects = Suspects { expected: pattern(42), others: Vec::new() };
    let found = verify(&target, &suspects, &job).unwrap();
    assert_eq!((found.end, progress.done.load(Relaxed)), (End::Complete, SIZE));
    found.extents.iter().map(|extent| (extent.from, extent.to, extent.kind)).collect()
}

/// Creates a directory on the disk of the build: /tmp may lie in memory, where nothing is direct.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

#[test]
fn the_same_bytes_with_rings_and_without() {
    let directory = directory();
    for (written, read) in [(true, false), (false, true), (true, true)] {
        let path = directory.path().join(format!("{written}-{read}"));
        let progress = Progress::default();
        assert_eq!(fill(&path, written, 0, None, &progress).0, End::Complete);
        assert_eq!(progress.done.load(Relaxed), SIZE);
        assert_eq!(damage(&path, read), [], "written {written}, read {read}");
        let mut expected = vec![0; 1 << 20];
        pattern(42).fill(SIZE - (1 << 20), &mut expected);
        let bytes = fs::read(&path).unwrap();
        assert_eq!(bytes.len() as u64, SIZE);
        assert!(bytes.ends_with(&expected));
    }
}

#[test]
fn wrong_and_missing_bytes_are_the_same_extents() {
    let directory = directory();
    let path = directory.path().join("file");
    fill(&path, true, 0, None, &Progress::default());
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[0; 512], 3 << 20).unwrap();
    file.write_all_at(&[0; 1024], (17 << 20) + 512).unwrap();
    file.set_len(SIZE - 5000).unwrap();
    let expected = [
        (3 << 20, (3 << 20) + 512, ExtentKind::Zeros),
        ((17 << 20) + 512, (17 << 20) + 1536, ExtentKind::Zeros),
        (SIZE - 5000, SIZE, ExtentKind::Missing),
    ];
    for ring in [true, false] {
        assert_eq!(damage(&path, ring), expected, "{ring}");
    }
}

/// A stop leaves pieces in flight. The offset that is reported lies below all of them.
#[test]
fn everything_below_a_stop_is_written() {
    let directory = directory();
    for ring in [true, false] {
        let path = directory.path().join(format!("{ring}"));
        let progress = Progress::default();
        let (end, marks) = std::thread::scope(|scope| {
            scope.spawn(|| {
                while progress.done.load(Relaxed) < 4 << 20 {
                    std::thread::yield_now();
                }
                progress.stop.store(true, Relaxed);
            });
            // 1.5 seconds in all.
            fill(&path, ring, 0, Some(28 << 20), &progress)
        });
        let End::Stopped(done) = end else { panic!("not stopped: {end:?}") };
        assert!((4 << 20..SIZE).contains(&done), "{done}");
        assert_eq!(marks.0.last(), Some(&done));
        let mut expected = vec![0; done as usize];
        pattern(42).fill(0, &mut expected);
        assert!(fs::read(&path).unwrap()[..done as usize] == expected, "{ring}");
        assert_eq!(fill(&path, !ring, done, None, &Progress::default()).0, End::Complete);
        assert_eq!(damage(&path, ring), []);
    }
}

/// Files that may not grow further: the error names the offset, and data before it is kept.
#[test]
fn an_error_names_its_offset() {
    let directory = directory();
    for ring in [true, false] {
        let path = directory.path().join(format!("{ring}"));
        fs::write(&path, vec![0; 1 << 20]).unwrap();
        let target = Target::open(&path, Access::Write, None).unwrap();
        let progress = Progress::default();
        // Beyond the largest file that Linux has, every write fails.
        let from = i64::MAX as u64 - (3 << 20) + 1;
        let to = i64::MAX as u64;
        let job = Job { from, to, threads: 2, limit: None, ring, progress: &progress };
        let error = write(&target, &pattern(42), &job, &mut Marks::default()).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(&format!("at byte {from}")), "{ring}: {message}");
    }
}
