//! A test with known bytes, for code whose bytes are secret in production.
//!
//! headwater has no seed, no variable and no function that makes a secure byte predictable, because
//! whatever a test can switch on, a mistake can ship. So the code under test takes its generator as
//! an argument. Its bound, `CryptoRng`, refuses the streams and each other generator that is not
//! for secrets; a test makes a type of its own that claims the name, and which only the test has.

use headwater_streams::{Key, Sequential};
use rand::rand_core::{Infallible, TryCryptoRng, TryRng};
use rand::{CryptoRng, RngExt};

/// Returns six letters that a user types from a message: the code under test.
fn code(rng: &mut impl CryptoRng) -> String {
    const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
    (0..6).map(|_| char::from(LETTERS[rng.random_range(0..LETTERS.len())])).collect()
}

/// Bytes of a stream, which the seed predicts. **For tests alone.**
struct Known(Sequential);

impl TryRng for Known {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(out)
    }
}

impl TryCryptoRng for Known {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut known = Known(Key::from_seed(42).stream(0)?.sequential());
    println!("in a test {}", code(&mut known));
    println!("in production {}", code(&mut headwater::Rng::new()?));
    Ok(())
}
