//! One array of reproducible numbers, filled by any number of threads. Not for secrets.
//!
//! Element i depends on the seed, the name, the stream's number and i. It depends on no thread, no
//! order and no CPU, so a run can be repeated on another machine with another number of threads.

use headwater_streams::{Error, Key};

const LENGTH: usize = 1 << 20;

fn main() -> Result<(), Error> {
    // A name for each use: no use disturbs the numbers of another when the program changes.
    let noise = Key::from_seed(42).child("noise").stream(0)?;

    let mut by_one = vec![0.0; LENGTH];
    noise.fill_normal_f64(0, &mut by_one)?;

    let mut by_four = vec![0.0; LENGTH];
    noise.par(4).fill_normal_f64(0, &mut by_four)?;

    // A part of the array needs nothing but its first index.
    let mut part = [0.0; 1000];
    noise.fill_normal_f64(500_000, &mut part)?;

    assert!(by_one == by_four, "the number of threads changed a value");
    assert!(part[..] == by_one[500_000..501_000], "a part differs from the whole");
    println!("mean {:.6}", by_one.iter().sum::<f64>() / LENGTH as f64);
    println!("element 999999: {:.6}", by_one[999_999]);
    Ok(())
}
