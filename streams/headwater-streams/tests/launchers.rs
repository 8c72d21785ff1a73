//! Ranks as real launchers give them: Open MPI's and MPICH's, where they are installed.

use headwater_streams::{Launcher, Rank};
use std::env;
use std::process::Command;

/// Set in the processes that a launcher starts.
const STARTED: &str = "HEADWATER_TEST_STARTED";

/// Starts this test three times by `command`; each prints its rank.
fn ranks(test: &str, launcher: Launcher, command: &[&str]) {
    if env::var_os(STARTED).is_some() {
        let rank = Rank::from_env().unwrap().expect("a launcher's variables");
        assert_eq!(rank.launcher, Some(launcher));
        let [size, local] = [rank.size, rank.local].map(Option::unwrap);
        println!("rank {} of {size}, {local} here", rank.rank);
        return;
    }
    let mut run = Command::new(command[0]);
    run.args(&command[1..]).arg(env::current_exe().unwrap());
    run.args(["--exact", test, "--nocapture"]).env(STARTED, "1");
    let output = match run.output() {
        Ok(output) if output.status.success() => output,
        Ok(output) => {
            // An installed launcher may still refuse to start anything: as root, in a container,
            // without a network.
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(!text.contains("panicked"), "{text}");
            let why = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            println!(
                "skipped: {}: it ends with {}: {why}; whether its ranks are read",
                command[0], output.status
            );
            return;
        }
        Err(error) => {
            println!("skipped: {}: {error}; whether its ranks are read", command[0]);
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    for rank in 0..3 {
        let line = format!("rank {rank} of 3, {rank} here");
        assert_eq!(text.matches(&line).count(), 1, "{line}: {text}");
    }
}

#[test]
fn the_ranks_of_open_mpi() {
    let command = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "3"];
    ranks("the_ranks_of_open_mpi", Launcher::OpenMpi, &command);
}

#[test]
fn the_ranks_of_mpich() {
    ranks("the_ranks_of_mpich", Launcher::Hydra, &["mpiexec.hydra", "-n", "3"]);
}
