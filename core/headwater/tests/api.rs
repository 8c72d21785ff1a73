//! The public face, as a program meets it: no test feature, nothing forced.
#![cfg(target_os = "linux")]

mod support;

use headwater::{Config, Error, Freshness, Mode, Rng, Stamp, Status, UnknownMode};
use std::collections::HashSet;
use std::mem::MaybeUninit;
use std::num::{NonZeroU32, NonZeroU64};
use std::process::{Command, Stdio};
use support::draws::{draw_everything, lengths};
use support::statistics::{assert_balanced, assert_distinct, chi_square};

#[test]
fn everything_can_be_drawn() {
    draw_everything();
}

#[test]
fn nothing_can_be_drawn() {
    let mut rng = Rng::new().unwrap();
    headwater::fill(&mut []).unwrap();
    headwater::try_fill(&mut []).unwrap();
    rng.fill(&mut []).unwrap();
    assert_eq!(headwater::fill_uninit(&mut []).unwrap(), []);
    assert_eq!(headwater::array::<0>().unwrap(), []);
}

#[test]
fn uninitialised_memory_is_all_initialised() {
    for len in lengths() {
        let mut buf = vec![MaybeUninit::uninit(); len];
        let at = buf.as_ptr().addr();
        let filled = headwater::fill_uninit(&mut buf).unwrap();
        assert_eq!((filled.len(), filled.as_ptr().addr()), (len, at));
    }
}

/// 64 MiB at once: balanced (false alarm 3e-9 for each of the 64 parts), and no block twice (2^44 /
/// 2^128).
#[test]
fn a_large_fill() {
    let mut bytes = vec![0; 64 << 20];
    headwater::fill(&mut bytes).unwrap();
    bytes.chunks(1 << 20).for_each(|part| assert_balanced(part, "a part of 64 MiB"));
    let block = |block: &[u8; 16]| u128::from_ne_bytes(*block);
    let mut blocks = Vec::from_iter(bytes.as_chunks().0.iter().map(block));
    headwater_testing::words::sort_blocks(&mut blocks);
    assert!(blocks.windows(2).all(|pair| pair[0] != pair[1]), "a block repeats");
}

/// Draws of one thread, and of many, are all different: 800,000 words, two equal with probability
/// 2e-8.
#[test]
fn threads_draw_differently() {
    let draw = || {
        let mut rng = Rng::new().unwrap();
        let draw = |_| [headwater::u64().unwrap(), rng.next_u64()];
        (0..50_000).flat_map(draw).collect::<Vec<u64>>()
    };
    let threads = [(); 8].map(|()| std::thread::spawn(draw));
    let words = threads.map(|thread| thread.join().unwrap()).concat();
    assert_distinct(words, "eight threads");
}

/// Two equal: 2^-128.
#[test]
fn processes_draw_differently() {
    if std::env::var_os("HEADWATER_TEST_PRINTS").is_some() {
        let words: [u64; 2] = [headwater::u64().unwrap(), Rng::new().unwrap().next_u64()];
        println!("drawn {words:x?}");
        return;
    }
    let run = || {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes_draw_differently", "--nocapture"])
            .env("HEADWATER_TEST_PRINTS", "1")
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let at = text.find("drawn").expect("the other process drew");
        text[at..].lines().next().unwrap().to_string()
    };
    let drawn: HashSet<String> = (0..4).map(|_| run()).collect();
    assert_eq!(drawn.len(), 4, "{drawn:?}");
}

/// Every bound is kept, and what lies below it is equally likely.
#[test]
fn bounded_draws() {
    let mut rng = Rng::new().unwrap();
    for bound in (1..=300).chain([1 << 16, (1 << 31) - 1, 1 << 31, 3 << 30, u32::MAX - 1, u32::MAX])
    {
        let bound = NonZeroU32::new(bound).unwrap();
        let wide = NonZeroU64::new(u64::from(bound.get()) << 32 | 1).unwrap();
        for _ in 0..100 {
            assert!(headwater::u32_below(bound).unwrap() < bound.get());
            assert!(rng.u32_below(bound).unwrap() < bound.get());
            assert!(headwater::u64_below(bound.into()).unwrap() < bound.get().into());
            assert!(headwater::u64_below(wide).unwrap() < wide.get());
            assert!(rng.u64_below(wide).unwrap() < wide.get());
        }
    }
    assert_eq!(headwater::u32_below(NonZeroU32::MIN).unwrap(), 0);
    assert_eq!(rng.u64_below(NonZeroU64::MIN).unwrap(), 0);
}

/// Chi-square of draws below 10, 16 and 52, and of the residues below 3/4 of a word's range, where
/// a draw without rejection would favour every third. Each of the 16 statistics has a false alarm
/// of 1e-9 or less.
#[test]
fn bounded_draws_are_uniform() {
    let mut rng = Rng::new().unwrap();
    // Degrees of freedom and what chi-square exceeds with probability 1e-9: 9, 15, 51 and 2.
    for (bound, most) in [(10, 60.67), (16, 73.64), (52, 136.46)] {
        let narrow = NonZeroU32::new(bound).unwrap();
        let mut counts = [(); 4].map(|()| vec![0; bound as usize]);
        for _ in 0..100_000 {
            counts[0][headwater::u32_below(narrow).unwrap() as usize] += 1;
            counts[1][rng.u32_below(narrow).unwrap() as usize] += 1;
            counts[2][headwater::u64_below(narrow.into()).unwrap() as usize] += 1;
            counts[3][rng.u64_below(narrow.into()).unwrap() as usize] += 1;
        }
        for counts in counts {
            let statistic = chi_square(&counts);
            assert!(statistic < most, "below {bound}: {statistic:.1}");
        }
    }
    let narrow = NonZeroU32::new(3 << 30).unwrap();
    let wide = NonZeroU64::new(3 << 62).unwrap();
    let mut counts = [[0; 3]; 4];
    for _ in 0..100_000 {
        counts[0][headwater::u32_below(narrow).unwrap() as usize % 3] += 1;
        counts[1][rng.u32_below(narrow).unwrap() as usize % 3] += 1;
        counts[2][(headwater::u64_below(wide).unwrap() % 3) as usize] += 1;
        counts[3][(rng.u64_below(wide).unwrap() % 3) as usize] += 1;
    }
    for counts in counts {
        let statistic = chi_square(&counts);
        assert!(statistic < 41.45, "residues below 3/4: {statistic:.1} {counts:?}");
    }
}

#[test]
fn the_status_is_consistent() {
    headwater::init().unwrap();
    let mut rng = Rng::new().unwrap();
    headwater::u64().unwrap();
    rng.next_u64();
    let status: Status = headwater::status();
    assert_ne!(status.mode, Mode::Auto);
    assert!(!status.reason.is_empty());
    assert!(status.pools.handles >= 1 || status.pools.slots == 0);
    assert!(status.pools.used <= status.pools.slots);
    assert_eq!(status.pools.slots % 2, 0);
    assert_eq!(status.pools.slots > 0, status.pools.page_bytes > 0);
    let is_live = status.reseed_generation.name() == "live";
    // Not the other way round: a machine that does not report its clones has a live generation too.
    assert!(is_live || status.generation.is_none());
    assert_eq!(headwater::generation().is_some(), status.generation.is_some());
    assert!(status.mode != Mode::Buffered || is_live);
    assert_eq!(status.cipher == "none", status.mode == Mode::Kernel);
    assert_eq!(status.counters.tripwires, 0);
    if matches!(status.mode, Mode::Buffered | Mode::Hedged) {
        assert!(status.fork_detection && status.counters.refills > 0 && status.pools.used > 0);
        assert_ne!(status.page.name(), "none");
    }
    let names = [
        status.source.name(),
        status.reseed_generation.name(),
        status.vmclock.name(),
        status.vmgenid.name(),
        status.hardware.name(),
        status.cpu_rng.name(),
        status.page.name(),
        status.mode.name(),
    ];
    for name in names {
        let is_snake = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        assert!(!name.is_empty() && name.bytes().all(is_snake), "{name}");
    }
}

#[test]
fn stamps() {
    let mut stamp = Stamp::new();
    assert_eq!(stamp, Stamp::default());
    let first = stamp.check();
    // The kernel reseeds once a minute, between two checks if it must be.
    let second = (0..100).map(|_| stamp.check()).find(|&freshness| freshness != Freshness::Stale);
    match headwater::generation() {
        Some(_) => assert_eq!((first, second), (Freshness::Stale, Some(Freshness::Fresh))),
        // Another system than Linux sees nothing, so its stamps are never stale.
        None if !cfg!(target_os = "linux") => assert_eq!(first, Freshness::Unknown),
        None => assert_eq!((first, second), (Freshness::Stale, Some(Freshness::Unknown))),
    }
}

#[test]
fn errors_explain_themselves() {
    let not_ready = Error::NOT_READY;
    assert!(not_ready.is_not_ready());
    assert_eq!(not_ready.errno(), Some(libc::EAGAIN));
    assert!(not_ready.to_string().contains("not seeded yet"));
    for error in [Error::UNEXPECTED, Error::UNSUPPORTED] {
        assert_eq!((error.is_not_ready(), error.errno()), (false, None));
        assert!(error.to_string().len() > 10 && !error.to_string().contains("-"));
        assert!(format!("{error:?}").contains("code"));
    }
    assert_eq!(size_of::<Result<(), Error>>(), 4);
    fn is_an_error<T: std::error::Error + Copy + Send + Sync + 'static>(_: T) {}
    is_an_error(not_ready);
    is_an_error(UnknownMode);
    assert!(UnknownMode.to_string().contains("hedged"));
}

#[test]
#[cfg(feature = "std")]
fn errors_become_those_of_the_standard_library() {
    use std::io;
    for error in [Error::UNEXPECTED, Error::UNSUPPORTED] {
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::Other);
    }
    assert_eq!(io::Error::from(Error::NOT_READY).kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn modes_and_configurations() {
    for mode in Mode::ALL {
        assert_eq!(mode.name().parse(), Ok(mode));
        assert_eq!(format!("{mode:>9}").len(), 9);
        assert_eq!(Config::new().mode(mode).mode, mode);
    }
    assert_eq!(Mode::default(), Mode::Auto);
    assert_eq!(" buffered".parse::<Mode>(), Err(UnknownMode));
    assert!(Config::default().vmclock);
    assert!(!Config::new().vmclock(false).vmclock);
}

#[cfg(feature = "uuid")]
#[test]
fn uuids() {
    use headwater::uuid::{v4, v7};
    let distinct: HashSet<_> = (0..10_000).map(|_| v4().unwrap()).collect();
    assert_eq!(distinct.len(), 10_000); // 2^-96
    for uuid in distinct {
        assert_eq!((uuid.get_version_num(), uuid.as_bytes()[8] >> 6), (4, 2));
    }
    let now = || std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64;
    let before = now();
    let uuids: Vec<_> = (0..1_000).map(|_| v7().unwrap()).collect();
    let after = now();
    for uuid in &uuids {
        assert_eq!((uuid.get_version_num(), uuid.as_bytes()[8] >> 6), (7, 2));
        let (seconds, nanoseconds) = uuid.get_timestamp().unwrap().to_unix();
        let milliseconds = seconds * 1000 + u64::from(nanoseconds) / 1_000_000;
        // A clock that was set back in between would be no fault of theirs.
        assert!((before..=after).contains(&milliseconds) || after < before);
    }
    assert_eq!(uuids.iter().collect::<HashSet<_>>().len(), uuids.len());
}
