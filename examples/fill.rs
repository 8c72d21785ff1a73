//! Keys, nonces, identifiers and bounded numbers from the free functions.
//!
//! The functions work in any thread, in signal handlers and in forked children. An error means that
//! the kernel refuses random bytes altogether; no function returns a weaker byte instead.

use std::num::NonZeroU32;

fn main() -> Result<(), headwater::Error> {
    let key: [u8; 32] = headwater::array()?;

    let mut nonce = [0; 12];
    headwater::fill(&mut nonce)?;

    // Every outcome is exactly as likely as any other: no remainder, no floating point.
    let six = NonZeroU32::new(6).expect("six is not zero");
    let die = 1 + headwater::u32_below(six)?;

    let request = headwater::uuid::v4()?;

    println!("key of {} bytes, nonce of {} bytes", key.len(), nonce.len());
    println!("die {die}");
    println!("request {request}");
    println!("mode {}", headwater::status().mode);
    Ok(())
}
