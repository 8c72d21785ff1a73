//! The traits of rand_core, for generators that never return an error. `CryptoRng` is never
//! implemented, because the numbers are not for secrets:
//!
//! ```compile_fail,E0277
//! fn secret(_: impl rand_core::CryptoRng) {}
//! # let stream = headwater_streams::Key::from_seed(42).stream(0).unwrap();
//! secret(stream.sequential());
//! ```

/// Implements the traits for a type with `next_u32`, `next_u64`, and a method that fills bytes.
macro_rules! impl_rand_core {
    ($generator:ty, $fill:ident) => {
        impl rand_core::TryRng for $generator {
            type Error = rand_core::Infallible;

            #[inline]
            fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
                Ok(self.next_u32())
            }

            #[inline]
            fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
                Ok(self.next_u64())
            }

            #[inline]
            fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Self::Error> {
                self.$fill(out);
                Ok(())
            }
        }
    };
}

pub(crate) use impl_rand_core;
