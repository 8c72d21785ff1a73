//! Draws on and on, and stops before and after each third draw, for `cargo xtask machine-code` to look at it step
//! by step. Its arguments: the way to draw, and the number of bytes.

use headwater::Rng;
use probe::{probe_fill, probe_fill_16, probe_rng_fill, probe_rng_u64, probe_u64};
use std::process::ExitCode;
use std::{env, hint};

/// A breakpoint at which the tracer finds the caller's buffer and handle in registers.
#[cfg(target_arch = "x86_64")]
fn stop(buf: *const u8, rng: &Rng) {
    // SAFETY: the instruction stops the process, which its tracer lets run on; nothing else is touched.
    unsafe {
        std::arch::asm!("int3", in("rdi") buf, in("rsi") rng, in("rdx") size_of::<Rng>());
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn stop(_: *const u8, _: &Rng) {}

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let (way, len) = (arguments.next().unwrap(), arguments.next().unwrap().parse().unwrap());
    let (mut buf, mut rng) = (vec![0; len], Rng::new().unwrap());
    let status = headwater::status();
    if status.mode != status.requested {
        eprintln!("mode {}: {}", status.mode.name(), status.reason);
        return ExitCode::FAILURE;
    }
    loop {
        for traced in [false, false, true] {
            let start = buf.as_ptr();
            if traced {
                stop(start, &rng);
            }
            match way.as_str() {
                "u64" => _ = hint::black_box(probe_u64()),
                "fill" => _ = hint::black_box(probe_fill(&mut buf)),
                "fill_16" => {
                    _ = hint::black_box(probe_fill_16((&mut buf[..]).try_into().unwrap()));
                }
                "rng_u64" => _ = hint::black_box(probe_rng_u64(&mut rng)),
                "rng_fill" => _ = hint::black_box(probe_rng_fill(&mut rng, &mut buf)),
                _ => return ExitCode::FAILURE,
            }
            if traced {
                stop(start, &rng);
            }
        }
    }
}
