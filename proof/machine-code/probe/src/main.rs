//! Draws in an endless loop, and stops before and after each third draw, which `cargo xtask
//! machine-code` then runs step by step. The arguments are the way to draw and the number of bytes.

use headwater::Rng;
use probe::{probe_fill, probe_fill_16, probe_rng_fill, probe_rng_u64, probe_u64};
use std::process::ExitCode;
use std::{env, hint};

/// Stops at a breakpoint, where the tracer finds the caller's buffer and handle in registers.
#[cfg(target_arch = "x86_64")]
fn stop(buf: *const u8, rng: &Rng) {
    // SAFETY: the instruction only stops the process, and its tracer continues it.
    unsafe {
        std::arch::asm!("int3", in("rdi") buf, in("rsi") rng, in("rdx") size_of::<Rng>());
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn stop(_: *const u8, _: &Rng) {}

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let (Some(way), Some(Ok(len))) = (arguments.next(), arguments.next().map(|len| len.parse()))
    else {
        return ExitCode::FAILURE;
    };
    let (mut buf, mut rng) = (vec![0; len], Rng::new().unwrap());
    let status = headwater::status();
    if status.mode != status.requested {
        eprintln!("mode {}: {}", status.mode.name(), status.reason);
        return ExitCode::FAILURE;
    }
    // The choice is made before the loop, so that little but the draw lies between two stops.
    let draw: fn(&mut [u8], &mut Rng) = match way.as_str() {
        "u64" => |_, _| _ = hint::black_box(probe_u64()),
        "fill" => |buf, _| _ = hint::black_box(probe_fill(buf)),
        "fill_16" => |buf, _| _ = hint::black_box(probe_fill_16(buf.try_into().unwrap())),
        "rng_u64" => |_, rng| _ = hint::black_box(probe_rng_u64(rng)),
        "rng_fill" => |buf, rng| _ = hint::black_box(probe_rng_fill(rng, buf)),
        _ => return ExitCode::FAILURE,
    };
    loop {
        draw(&mut buf, &mut rng);
        draw(&mut buf, &mut rng);
        stop(buf.as_ptr(), &rng);
        draw(&mut buf, &mut rng);
        stop(buf.as_ptr(), &rng);
    }
}
