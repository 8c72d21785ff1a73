//! A simulation that is stopped and continued, with the numbers of one that ran through. Not for
//! secrets.
//!
//! A checkpoint needs no state of a generator: step i takes its numbers by their index, so the
//! stream and the next step are enough. A sequential generator is saved as its state.

use headwater_streams::generators::Xoshiro256pp;
use headwater_streams::{Key, Stream};
use serde::{Deserialize, Serialize};
use std::error::Error;

/// Numbers that each step takes; the count is fixed, so that step i begins at i times it.
const EACH: u64 = 100;

#[derive(Serialize, Deserialize)]
struct Checkpoint {
    stream: Stream,
    next_step: u64,
    sequential: Xoshiro256pp,
    walker: f64,
}

impl Checkpoint {
    fn new(seed: u64) -> Result<Checkpoint, headwater_streams::Error> {
        let key = Key::from_seed(seed);
        Ok(Checkpoint {
            stream: key.child("walk").stream(0)?,
            next_step: 0,
            sequential: Xoshiro256pp::from_key(&key.child("choices")),
            walker: 0.0,
        })
    }

    fn run(&mut self, until: u64) -> Result<(), headwater_streams::Error> {
        let mut moves = [0.0; EACH as usize];
        while self.next_step < until {
            self.stream.fill_normal_f64(self.next_step * EACH, &mut moves)?;
            let sign = if self.sequential.next_u64() >> 63 == 0 { 1.0 } else { -1.0 };
            self.walker += sign * moves.iter().sum::<f64>();
            self.next_step += 1;
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut whole = Checkpoint::new(42)?;
    whole.run(1000)?;

    let mut first = Checkpoint::new(42)?;
    first.run(400)?;
    let file = serde_json::to_string(&first)?;

    // Another process, later, on another machine.
    let mut second: Checkpoint = serde_json::from_str(&file)?;
    second.run(1000)?;

    assert!(second.walker == whole.walker, "the continued run differs");
    println!("stopped at step 400, {} bytes", file.len());
    println!("walker {:.6}", second.walker);
    Ok(())
}
