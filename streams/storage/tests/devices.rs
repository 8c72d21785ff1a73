//! Block devices: loop devices with sectors of 512 and 4096 bytes, mounts, swap, partitions, reads
//! that fail. Root only, because loop devices are.

use headwater_storage::{
    Access, Checkpoint, End, Error, ExtentKind, Job, Pattern, Progress, Shape, Suspects, Target,
    uses, verify, write,
};
use headwater_streams::Key;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test at a time: losetup(8) opens other loop devices while it looks for a free one.
static ONE: Mutex<()> = Mutex::new(());

/// A loop device over a file, and a directory to mount things at. Both go when dropped.
struct Loop {
    _one: MutexGuard<'static, ()>,
    directory: PathBuf,
    device: PathBuf,
}

impl Loop {
    /// Returns nothing, with a line about what is lost, if this process may not make loop devices.
    fn new(name: &str, size: u64, sector: u32) -> Option<Loop> {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("devices-{name}"));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(directory.join("mount")).unwrap();
        let image = directory.join("image");
        File::create(&image).unwrap().set_len(size).unwrap();
        let sector = sector.to_string();
        let made = Command::new("losetup")
            .args(["--find", "--show", "--sector-size", &sector])
            .arg(&image)
            .output();
        let made = made.ok().filter(|made| made.status.success());
        let Some(made) = made else {
            eprintln!(
                "skipped: no loop devices here, so that '{name}' is tried on no block device"
            );
            fs::remove_dir_all(&directory).unwrap();
            return None;
        };
        let device = PathBuf::from(String::from_utf8(made.stdout).unwrap().trim());
        Some(Loop { _one: one, directory, device })
    }

    fn image(&self) -> PathBuf {
        self.directory.join("image")
    }

    fn open(&self, access: Access) -> Result<Target, Error> {
        Target::open(&self.device, access, None)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.directory.join("mount")).output();
        let _ = Command::new("swapoff").arg(&self.device).output();
        let _ = Command::new("losetup").arg("--detach").arg(&self.device).output();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

#[track_caller]
fn did(command: &str, args: &[&Path]) -> bool {
    let done = Command::new(command).args(args).output();
    done.is_ok_and(|done| done.status.success())
}

struct Unkept;

impl Checkpoint for Unkept {
    fn save(&mut self, _done: u64) -> Result<(), Error> {
        Ok(())
    }
}

fn pattern(seed: u64) -> Pattern {
    Pattern::new(Key::from_seed(seed).stream(0).unwrap(), Shape::default())
}

fn job(from: u64, to: u64, progress: &Progress) -> Job<'_> {
    Job { from, to, threads: 3, limit: None, ring: true, progress }
}

fn written(target: &Target, seed: u64, from: u64, to: u64) {
    let progress = Progress::default();
    let end = write(target, &pattern(seed), &job(from, to, &progress), &mut Unkept).unwrap();
    assert_eq!(end, End::Complete);
}

fn damage(target: &Target, seed: u64, from: u64, to: u64) -> Vec<(u64, u64, ExtentKind)> {
    let suspects = Suspects { expected: pattern(seed), others: Vec::new() };
    let progress = Progress::default();
    let found = verify(target, &suspects, &job(from, to, &progress)).unwrap();
    found.extents.iter().map(|extent| (extent.from, extent.to, extent.kind)).collect()
}

#[test]
fn a_read_only_device_is_refused_before_anything_is_asked() {
    let Some(disk) = Loop::new("read-only", 1 << 20, 512) else { return };
    assert!(did("blockdev", &[Path::new("--setro"), &disk.device]));
    for access in [Access::Write, Access::Force] {
        let error = disk.open(access).unwrap_err().to_string();
        assert!(error.contains("is read-only") && error.contains("--setrw"), "{error}");
    }
    disk.open(Access::Verify).unwrap();
    assert!(did("blockdev", &[Path::new("--setrw"), &disk.device]));
    disk.open(Access::Write).unwrap();
}

#[test]
fn sectors_of_any_size_and_offsets_of_any_kind() {
    for (sector, size) in [(512, 5 << 20), (4096, 5 << 20), (512, 3 * 512), (4096, 3 * 4096)] {
        let Some(disk) = Loop::new(&format!("sectors-{sector}-{size}"), size, sector) else {
            return;
        };
        for (from, to) in [(0, size), (100, size - 1), (513, 1025), (size - 1, size)] {
            let target = disk.open(Access::Write).unwrap();
            assert_eq!((target.size, target.sector), (size, Some(sector)));
            written(&target, 1, 0, size);
            written(&target, 2, from, to);
            assert!(target.is_direct(), "{sector}");
            drop(target);
            let target = disk.open(Access::Verify).unwrap();
            assert_eq!(damage(&target, 1, 0, from), []);
            assert_eq!(damage(&target, 2, from, to), []);
            assert_eq!(damage(&target, 1, to, size), []);
        }
        // The image has the same bytes, by another way to the disk.
        let mut image = vec![0; size as usize];
        File::open(disk.image()).unwrap().read_exact_at(&mut image, 0).unwrap();
        let mut expected = vec![0; size as usize];
        pattern(1).fill(0, &mut expected);
        assert_eq!(image[..100], expected[..100]);
    }
}

#[test]
fn a_device_in_use_is_named_and_not_opened() {
    let Some(disk) = Loop::new("uses", 16 << 20, 512) else { return };
    assert_eq!(uses(&disk.device), [""; 0]);
    let name = disk.device.display();
    let on_image = uses(&disk.image());
    assert_eq!(on_image, [format!("the file is the disk of {name}")]);
    // A claim by this program keeps others away while it writes.
    let target = disk.open(Access::Write).unwrap();
    assert!(disk.open(Access::Write).is_err_and(|error| error.to_string().contains("--force")));
    drop(target);
    let mount = disk.directory.join("mount");
    if did("mkfs.ext4", &[Path::new("-q"), &disk.device]) && did("mount", &[&disk.device, &mount]) {
        assert_eq!(uses(&disk.device), [format!("{name} is mounted at {}", mount.display())]);
        let error = disk.open(Access::Write).unwrap_err();
        assert!(error.to_string().contains("resource busy"), "{error}");
        assert!(did("umount", &[&mount]));
    } else {
        eprintln!("skipped: no ext4 here, so that a mounted device is not tried");
    }
    if did("mkswap", &[&disk.device]) && did("swapon", &[&disk.device]) {
        assert!(uses(&disk.device).contains(&format!("{name} is swap space")));
        assert!(disk.open(Access::Write).is_err());
        assert!(did("swapoff", &[&disk.device]));
    } else {
        eprintln!("skipped: no swap here, so that a device with swap is not tried");
    }
    assert_eq!(uses(&disk.device), [""; 0]);
}

/// The disk's other partitions are no concern of a partition; the disk's are all of them.
#[test]
fn a_partition_in_use_makes_its_disk_one() {
    let Some(disk) = Loop::new("partitions", 32 << 20, 512) else { return };
    let table = "label: gpt\nsize=10MiB\nsize=10MiB\n";
    let script = format!("printf '{table}' | sfdisk -q {}", disk.device.display());
    let made = did("sh", &[Path::new("-c"), Path::new(&script)])
        && did("losetup", &[Path::new("--detach"), &disk.device]);
    let again = Command::new("losetup")
        .args(["--partscan", disk.device.to_str().unwrap()])
        .arg(disk.image())
        .output();
    let part = |n: u32| PathBuf::from(format!("{}p{n}", disk.device.display()));
    let begun = std::time::Instant::now();
    while !part(2).exists() && begun.elapsed().as_secs() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    if !made || !again.is_ok_and(|again| again.status.success()) || !part(2).exists() {
        eprintln!("skipped: no partitions on loop devices here, so that they are not tried");
        return;
    }
    let mount = disk.directory.join("mount");
    assert!(did("mkfs.ext4", &[Path::new("-q"), &part(1)]) && did("mount", &[&part(1), &mount]));
    let at = format!("{} is mounted at {}", part(1).display(), mount.display());
    assert_eq!(uses(&part(1)), std::slice::from_ref(&at));
    assert_eq!(uses(&disk.device), [at]);
    assert_eq!(uses(&part(2)), [""; 0]);
    let target = Target::open(&part(2), Access::Write, None).unwrap();
    written(&target, 1, 0, target.size);
    drop(target);
    assert!(did("umount", &[&mount]));
}

/// A disk that cannot read a part of itself: a loop device's image lost its end.
#[test]
fn unreadable_parts_are_named_and_the_rest_is_verified() {
    let Some(disk) = Loop::new("unreadable", 8 << 20, 512) else { return };
    let target = disk.open(Access::Write).unwrap();
    written(&target, 1, 0, 8 << 20);
    drop(target);
    File::options().write(true).open(disk.image()).unwrap().set_len(6 << 20).unwrap();
    let target = disk.open(Access::Verify).unwrap();
    let found = damage(&target, 1, 0, 8 << 20);
    assert_eq!(found, [(6 << 20, 8 << 20, ExtentKind::Unreadable)]);
}

/// A write that the disk below refuses claims nothing: the loop device's image has no more room.
#[test]
fn a_disk_that_loses_writes_is_an_error() {
    let Some(disk) = Loop::new("full", 1 << 20, 512) else { return };
    let mount = disk.directory.join("mount");
    let options = [Path::new("-t"), Path::new("tmpfs"), Path::new("-o"), Path::new("size=4M")];
    if !did("mount", &[&options[..], &[Path::new("none"), &mount]].concat()) {
        eprintln!("skipped: no mount of tmpfs, so that a disk without room is not tried");
        return;
    }
    let image = mount.join("image");
    File::create(&image).unwrap().set_len(16 << 20).unwrap();
    let made = Command::new("losetup").args(["--find", "--show"]).arg(&image).output().unwrap();
    let device = PathBuf::from(String::from_utf8(made.stdout).unwrap().trim());
    let target = Target::open(&device, Access::Write, None).unwrap();
    let progress = Progress::default();
    let fill = |from, to| write(&target, &pattern(1), &job(from, to, &progress), &mut Unkept);
    let result = fill(0, 16 << 20);
    // An unaligned part goes through the page cache, which takes it; only the flush finds the disk
    // full.
    let cached = fill((12 << 20) + 1, (12 << 20) + 100);
    drop(target);
    assert!(did("losetup", &[Path::new("--detach"), &device]));
    let words = result.expect_err("16 MiB do not fit into 4 MiB").to_string();
    assert!(words.contains("cannot write") || words.contains("durable"), "{words}");
    let words = cached.expect_err("the disk is full").to_string();
    assert!(words.contains("cannot make the data of") && words.contains("durable"), "{words}");
}

#[test]
fn a_full_file_system_is_an_error_and_leaves_no_file() {
    let Some(disk) = Loop::new("ext4", 16 << 20, 512) else { return };
    let mount = disk.directory.join("mount");
    if !did("mkfs.ext4", &[Path::new("-q"), &disk.device]) || !did("mount", &[&disk.device, &mount])
    {
        eprintln!("skipped: no ext4 here, so that a full one is not tried");
        return;
    }
    let file = mount.join("data");
    let target = Target::open(&file, Access::Write, Some(1 << 30)).unwrap();
    let error = target.reserve(1 << 30).unwrap_err();
    assert!(error.to_string().contains("No space left"), "{error}");
    assert_eq!(fs::metadata(&file).unwrap().len(), 0);
    target.reserve(4 << 20).unwrap();
    written(&target, 1, 0, 4 << 20);
    assert!(target.is_direct());
    assert_eq!(damage(&target, 1, 0, 4 << 20), []);
    drop(target);
}

/// dm-error, dm-flakey and dm-dust need device-mapper, which this kernel may not have.
#[test]
fn device_mapper_targets_that_fail() {
    let Some(disk) = Loop::new("mapper", 8 << 20, 512) else { return };
    let name = format!("headwater-{}", std::process::id());
    let device = disk.device.display();
    // 1 MiB of the disk, 64 KiB of errors, the rest of the disk.
    let table =
        format!("0 2048 linear {device} 0\n2048 128 error\n2176 14208 linear {device} 2176\n");
    let script = format!("printf '{table}' | dmsetup create {name} && dmsetup mknodes {name}");
    if !did("sh", &[Path::new("-c"), Path::new(&script)]) {
        eprintln!("skipped: no device-mapper in this kernel, so that dm-error is not tried");
        return;
    }
    let mapped = PathBuf::from(format!("/dev/mapper/{name}"));
    let found = uses(&disk.device);
    let result = std::panic::catch_unwind(|| {
        let target = Target::open(&mapped, Access::Write, None).unwrap();
        let progress = Progress::default();
        let result = write(&target, &pattern(1), &job(0, 8 << 20, &progress), &mut Unkept);
        assert!(result.is_err());
        written(&target, 1, 0, 1 << 20);
        written(&target, 1, (1 << 20) + (64 << 10), 8 << 20);
        let bad = (1 << 20, (1 << 20) + (64 << 10), ExtentKind::Unreadable);
        assert_eq!(damage(&target, 1, 0, 8 << 20), [bad]);
    });
    let _ = Command::new("dmsetup").args(["remove", &name]).output();
    assert!(found.iter().any(|used| used.contains("device-mapper volume")), "{found:?}");
    result.unwrap();
}

#[test]
fn no_file_is_made_in_dev() {
    for path in ["/dev/headwater-absent", "/dev/../dev/headwater-absent"] {
        let error = Target::open(Path::new(path), Access::Write, Some(512)).unwrap_err();
        assert!(error.to_string().contains("no file is made in /dev"), "{error}");
        assert!(!Path::new(path).exists());
    }
    let shared = format!("/dev/shm/headwater-test-{}", std::process::id());
    if Path::new("/dev/shm").is_dir() {
        assert!(Target::open(Path::new(&shared), Access::Write, Some(512)).unwrap().created);
        fs::remove_file(shared).unwrap();
    }
}
