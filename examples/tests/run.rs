//! Every example runs and prints its result.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs an example with these variables and returns its output, line by line.
fn lines(program: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let mut command = Command::new(program);
    for (name, value) in variables {
        command.env(name, value);
    }
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {}: {errors}", output.status);
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn fill_draws_each_kind() {
    let lines = lines(env!("CARGO_BIN_EXE_fill"), &[]);
    assert_eq!(lines[0], "key of 32 bytes, nonce of 12 bytes");
    let die: u32 = lines[1].strip_prefix("die ").unwrap().parse().unwrap();
    assert!((1..=6).contains(&die), "{die}");
    let id = lines[2].strip_prefix("request ").unwrap();
    assert_eq!((id.len(), &id[14..15]), (36, "4"), "{id}");
}

#[test]
fn threads_throw_fair_coins() {
    let lines = lines(env!("CARGO_BIN_EXE_rng_per_thread"), &[]);
    assert_eq!(lines.len(), 4);
    for line in lines {
        let heads: u32 = line.split(' ').nth(1).unwrap().parse().unwrap();
        // Ten standard deviations of 158: a fair coin fails once in 10^23 runs.
        assert!((48_420..=51_580).contains(&heads), "{line}");
    }
}

#[test]
fn parent_and_child_use_different_values() {
    let lines = lines(env!("CARGO_BIN_EXE_cache_with_stamp"), &[]);
    let mut values: Vec<&str> = lines.iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(values.len(), 3, "{lines:?}");
    values.sort_unstable();
    values.dedup();
    assert_eq!(values.len(), 3, "{lines:?}");
}

#[test]
fn threads_fill_the_same_array() {
    let lines = lines(env!("CARGO_BIN_EXE_streams_parallel"), &[]);
    // Functions of the seed alone: another value would break the promise of STREAMS.md, version 1.
    assert_eq!(lines, ["mean -0.001445", "element 999999: 2.141336"]);
}

#[test]
fn any_number_of_processes_makes_the_same_array() {
    let program = env!("CARGO_BIN_EXE_streams_ranks");
    let alone = lines(program, &[]);
    assert_eq!(alone.len(), 12);
    for size in [2, 3, 5] {
        let together: Vec<String> = (0..size)
            .flat_map(|rank: u32| {
                let (rank, size) = (rank.to_string(), size.to_string());
                let job = [("OMPI_COMM_WORLD_RANK", &*rank), ("OMPI_COMM_WORLD_SIZE", &*size)];
                lines(program, &job)
            })
            .collect();
        assert_eq!(together, alone, "{size} processes");
    }
}

#[test]
fn a_test_has_known_bytes_and_production_has_not() {
    let lines = || lines(env!("CARGO_BIN_EXE_known_bytes"), &[]);
    let (one, two) = (lines(), lines());
    assert_eq!([&*one[0], &*two[0]], ["in a test DZWCMN"; 2]);
    // Equal by chance once in 20^6 runs.
    assert_ne!(one[1], two[1]);
}

#[test]
fn draws_go_on_behind_a_filter() {
    assert_eq!(lines(env!("CARGO_BIN_EXE_sandbox"), &[]), ["drew 10000 words"]);
}

/// The tests of the C library compile and run the programs in docs/c.md. Here they must be the
/// same.
#[test]
fn the_c_programs_are_those_of_the_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../docs/c.md")).unwrap();
    let mut programs: Vec<&str> = page
        .split("```c\n")
        .skip(1)
        .map(|rest| rest.split_once("```").expect("a block of code ends").0)
        .collect();
    for name in ["fill", "rng", "cache", "streams", "known"] {
        let text = fs::read_to_string(root.join(format!("c/{name}.c"))).unwrap();
        let (_, program) = text.split_once("*/\n").expect("a comment comes first");
        let place = programs.iter().position(|of_page| *of_page == program);
        programs.remove(place.unwrap_or_else(|| panic!("c/{name}.c is not in docs/c.md")));
    }
    assert_eq!(programs, [""; 0], "docs/c.md has a program that examples/c lacks");
}

#[test]
fn a_run_continues_from_its_checkpoint() {
    let lines = lines(env!("CARGO_BIN_EXE_checkpoint"), &[]);
    assert!(lines[0].starts_with("stopped at step 400, "), "{lines:?}");
    let walker: f64 = lines[1].strip_prefix("walker ").unwrap().parse().unwrap();
    // The sum of 100,000 normal numbers with random signs.
    assert!(walker.abs() < 2000.0, "{walker}");
}
