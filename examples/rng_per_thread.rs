//! An owned generator per thread, with `rand`'s distributions.
//!
//! A free function serves every thread well. An owned `Rng` has a page of its own, which saves a
//! few nanoseconds a call, and implements rand's traits. The same checks protect it: after a fork
//! or a clone its page is thrown away.

use headwater::Rng;
use rand::RngExt;
use std::thread;

/// Throws of a coin by each thread.
const THROWS: u32 = 100_000;

fn heads(rng: &mut Rng) -> u32 {
    (0..THROWS).map(|_| u32::from(rng.random_bool(0.5))).sum()
}

fn main() -> Result<(), headwater::Error> {
    let threads: Vec<_> = (0..4)
        .map(|_| {
            thread::spawn(|| -> Result<u32, headwater::Error> {
                // Made in its thread, so the page lies in memory near that thread's CPU.
                let mut rng = Rng::new()?;
                Ok(heads(&mut rng))
            })
        })
        .collect();
    for thread in threads {
        let heads = thread.join().expect("the thread does not panic")?;
        println!("heads {heads} of {THROWS}");
    }
    Ok(())
}
