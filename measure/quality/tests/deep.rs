//! `--deep`: what is counted in two sittings is what is counted in one.

use headwater_quality::{Args, Report, Verdict, run};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A file that is gone when this is dropped.
struct State(PathBuf);

impl State {
    fn new(name: &str) -> State {
        State(
            std::env::temp_dir().join(format!("headwater-deep-{}-{name}.json", std::process::id())),
        )
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

const BLOCK: usize = 1 << 14;

fn deep(
    source: &str,
    blocks: usize,
    state: &Path,
    threads: u64,
) -> Result<Report, headwater_quality::Error> {
    let args = Args {
        source: source.to_owned(),
        deep: true,
        // One arrangement, so that rounds differ with the number of threads.
        seeds: Some(3..4),
        size: Some((blocks * BLOCK * 8) as f64 / (1_u64 << 30) as f64),
        state: Some(state.to_owned()),
        threads: Some(threads),
        block_words: Some(BLOCK),
        ..Args::default()
    };
    run(&args, std::io::empty())
}

fn rows(report: &Report) -> String {
    serde_json::to_string(&report.rows).unwrap()
}

#[test]
fn a_run_that_was_stopped_goes_on_and_counts_the_same() {
    let (whole, parts) = (State::new("whole"), State::new("parts"));
    let once = deep("pcg64dxsm", 20, &whole.0, 1).unwrap();
    assert_eq!(once.bytes as usize, 20 * BLOCK * 8);
    // The costly tests see blocks 0 and 16, whichever thread runs them.
    for blocks in [1, 12, 20] {
        let report = deep("pcg64dxsm", blocks, &parts.0, 2).unwrap();
        assert_ne!(report.verdict, Verdict::Failed);
        // Two threads take two blocks at a time.
        assert_eq!(report.bytes as usize, blocks.next_multiple_of(2) * BLOCK * 8);
        if blocks == 20 {
            assert_eq!(rows(&report), rows(&once));
        } else {
            assert_ne!(rows(&report), rows(&once), "more data, other figures");
        }
    }
}

/// A power cut: no handler, no destructor, no last round.
#[test]
fn a_run_that_was_killed_goes_on_and_counts_the_same() {
    const BLOCKS: usize = 48;
    if let Some(path) = std::env::var_os(VICTIM) {
        let _ = deep("pcg64dxsm", BLOCKS, Path::new(&path), 1);
        return;
    }
    let (whole, killed) = (State::new("unkilled"), State::new("killed"));
    let once = deep("pcg64dxsm", BLOCKS, &whole.0, 1).unwrap();
    let mut sitting = 0;
    for least in [1, 20] {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_run_that_was_killed_goes_on_and_counts_the_same"])
            .env(VICTIM, &killed.0)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while blocks_in(&killed.0) < least && victim.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        victim.kill().unwrap();
        victim.wait().unwrap();
        let kept = blocks_in(&killed.0);
        assert!(sitting < kept && kept < BLOCKS as u64, "{kept} blocks: it was not killed between");
        sitting = kept;
    }
    let report = deep("pcg64dxsm", BLOCKS, &killed.0, 1).unwrap();
    assert_eq!(rows(&report), rows(&once));
}

/// Set in the process that will be killed; the value is the path of its state.
const VICTIM: &str = "HEADWATER_QUALITY_VICTIM";

/// Returns the number of blocks that the state in `path` holds; none if there is no state yet.
fn blocks_in(path: &Path) -> u64 {
    let Ok(text) = std::fs::read_to_string(path) else { return 0 };
    let state: serde_json::Value = serde_json::from_str(&text).expect("a state is whole");
    state["sections"][0]["words"].as_u64().unwrap() / BLOCK as u64
}

#[test]
fn a_state_of_another_run_is_refused() {
    let state = State::new("other");
    deep("sfc64", 1, &state.0, 1).unwrap();
    let error = deep("pcg64dxsm", 1, &state.0, 1).unwrap_err();
    assert!(error.to_string().contains("belongs to another run"), "{error}");
    std::fs::write(&state.0, "{}").unwrap();
    let error = deep("sfc64", 1, &state.0, 1).unwrap_err();
    assert!(error.to_string().contains("belongs to another run"), "{error}");
}

#[test]
fn counts_add_up_to_what_one_block_alone_does_not_show() {
    let state = State::new("adds");
    let short = deep("lcg64", 1, &state.0, 1).unwrap();
    let long = deep("lcg64", 4, &state.0, 1).unwrap();
    let p = |report: &Report, test: &str| {
        report.rows.iter().filter(|row| row.test == test).map(|row| row.p).fold(1.0, f64::min)
    };
    assert!(p(&long, "hamming-weights") < p(&short, "hamming-weights"));
    assert_eq!(long.verdict, Verdict::Failed);
}
