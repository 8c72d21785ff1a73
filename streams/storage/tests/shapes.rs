//! The ratios that compressors and a chunk counter measure, beside those that were asked for.

use headwater_storage::{Dedup, Pattern, Shape};
use headwater_streams::Key;
use std::collections::HashSet;
use std::io::Write;
use std::process::{Command, Stdio};

/// Bytes that are measured.
const SIZE: usize = 16 << 20;

fn data(compressible: &str, dedup: Option<(&str, u64)>) -> Vec<u8> {
    let stream = Key::from_seed(42).stream(0).unwrap();
    let dedup = dedup.map(|(ratio, chunk)| Dedup { ratio: ratio.parse().unwrap(), chunk });
    let shape = Shape::new(Some(compressible.parse().unwrap()), dedup).unwrap();
    let mut data = vec![0; SIZE];
    Pattern::new(stream, shape).fill(0, &mut data);
    data
}

/// Returns the compressed length, or nothing if the program is not installed.
fn compressed(command: &[&str], data: &[u8]) -> Option<usize> {
    let mut child = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|_| eprintln!("skipped: no {}, so that its ratio is not measured", command[0]))
        .ok()?;
    let mut input = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(data).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success());
    Some(output.stdout.len())
}

#[track_caller]
fn assert_near(measured: f64, wanted: f64, about: &str) {
    let off = (measured / wanted - 1.0).abs();
    println!("{about}: {measured:.3} for {wanted}");
    assert!(off < 0.03, "{about}: {measured:.3} for {wanted}");
}

#[test]
fn compressors_reach_the_ratio_that_was_asked_for() {
    for ratio in ["1.1", "1.3", "1.5", "2", "2.5", "3", "4", "6"] {
        let data = data(ratio, None);
        let wanted = ratio.parse().unwrap();
        for command in [&["zstd", "-1", "-c"][..], &["zstd", "-3", "-c"], &["lz4", "-1", "-c"]] {
            if let Some(len) = compressed(command, &data) {
                assert_near(SIZE as f64 / len as f64, wanted, &format!("{command:?}"));
            }
        }
    }
}

/// An array compresses each block on its own. A ratio that holds over a file only is of no use.
#[test]
fn each_block_of_an_array_has_the_ratio() {
    let data = data("2.5", None);
    // One frame for each 64 KiB. Its header of a few bytes is not the data's.
    for (program, block) in [("zstd", "-B65536"), ("lz4", "-B4")] {
        let arguments = if program == "lz4" { &["-BI", block, "-c"][..] } else { &["-1", "-c"] };
        let command = [&[program], arguments].concat();
        if let Some(len) = compressed(&command, &data) {
            assert_near(SIZE as f64 / len as f64, 2.5, &format!("{command:?}"));
        }
    }
}

#[test]
fn a_chunk_counter_finds_the_ratio_that_was_asked_for() {
    for (ratio, chunk) in
        [("1", 8192), ("1.05", 8192), ("1.3", 8192), ("2", 4096), ("3.7", 4096), ("10", 512)]
    {
        let stream = Key::from_seed(1).stream(0).unwrap();
        let dedup = Some(Dedup { ratio: ratio.parse().unwrap(), chunk });
        let mut data = vec![0; SIZE];
        Pattern::new(stream, Shape::new(None, dedup).unwrap()).fill(0, &mut data);
        let distinct: HashSet<&[u8]> = data.chunks(chunk as usize).collect();
        let chunks = SIZE as u64 / chunk;
        let measured = chunks as f64 / distinct.len() as f64;
        assert_near(measured, ratio.parse().unwrap(), &format!("chunks of {chunk}"));
    }
}

#[test]
fn both_ratios_hold_together() {
    let data = data("2.5", Some(("1.3", 8192)));
    let distinct: HashSet<&[u8]> = data.chunks(8192).collect();
    assert_near((SIZE / 8192) as f64 / distinct.len() as f64, 1.3, "chunks");
    let unique: Vec<u8> = distinct.into_iter().flatten().copied().collect();
    if let Some(len) = compressed(&["lz4", "-1", "-c"], &unique) {
        assert_near(unique.len() as f64 / len as f64, 2.5, "lz4");
    }
}
