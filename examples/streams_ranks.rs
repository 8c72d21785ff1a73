//! One array over the processes of a job: MPI, Slurm, or a shell loop. Not for secrets.
//!
//! Each process fills its own part of the array. The array is the same for any number of processes.
//! Try it: `for r in 0 1 2; do OMPI_COMM_WORLD_RANK=$r OMPI_COMM_WORLD_SIZE=3 \
//! cargo run -q -p headwater-examples --bin streams_ranks; done`.

use headwater_streams::{Key, Rank};

const LENGTH: u64 = 12;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Without a launcher the process is the only one.
    let rank = Rank::from_env()?.unwrap_or(Rank::ALONE);
    let size =
        u64::from(rank.size.ok_or("the launcher does not say how many processes there are")?);
    let rank = u64::from(rank.rank);
    let (first, end) = (LENGTH * rank / size, LENGTH * (rank + 1) / size);

    let dice = Key::from_seed(42).child("dice").stream(0)?;
    let mut part = vec![0_u64; (end - first) as usize];
    dice.fill_bounded_u64(6, first, &mut part)?;

    for (index, value) in (first..end).zip(part) {
        println!("{index}: {}", value + 1);
    }
    Ok(())
}
