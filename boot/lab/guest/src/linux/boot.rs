//! The first process: mounts, waits for randomness up to a limit, reports, and serves the lab.

use crate::linux::callers::{self, Callers};
use crate::linux::kernel::{self, now_us};
use crate::linux::options::{Modules, Options};
use crate::linux::port::{self, fail, send};
use crate::linux::workers::Workers;
use crate::linux::{commands, doctor, facts, hibernation, openssl};
use headwater_lab_protocol::{Entropy, Hello, Interrupts, Module, Rtc, Seed};
use rustix::rand::GetRandomFlags;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

/// Interval between samples of entropy_avail. Reading the file credits nothing.
const SAMPLE: Duration = Duration::from_millis(250);
/// The first samples are closer, because the jitter loop takes a second only.
const FIRST_SAMPLES: usize = 20;
const FIRST_SAMPLE: Duration = Duration::from_millis(20);
/// Time for the kernel's thread that takes the first bytes of a late driver.
const LATE_PATIENCE_US: u64 = 10_000_000;
/// Time for the observer to start: a real one runs before any program can wait.
const OBSERVERS_START: Duration = Duration::from_millis(1000);
/// Time for the observer to write its record, which the doctor reads.
const OBSERVERS_END: Duration = Duration::from_millis(500);

pub(crate) fn run() -> ! {
    let init_us = now_us();
    // Before anything else, because every further step takes time in which the kernel can get
    // ready.
    let ready = kernel::getrandom(&mut [0; 16], GetRandomFlags::NONBLOCK).is_ok();
    kernel::mount_all();
    let options = Options::parse(&fs::read_to_string("/proc/cmdline").unwrap_or_default());
    if options.resume {
        // Before the first message, because the image continues a conversation of its own.
        hibernation::resume();
    }
    let Ok(mut input) = port::open(&options.port) else { kernel::reboot() };
    send(Hello {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        init_us,
        ready,
        openssl: openssl::version(),
        kernel: fs::read_to_string("/proc/version").unwrap_or_default().trim().to_owned(),
    });
    let observer =
        options.observe.and_then(|limit_s| doctor::observe(limit_s, options.tracepoints));
    if observer.is_some() {
        sleep(OBSERVERS_START);
    }
    wait(&options);
    if observer.is_some() {
        sleep(OBSERVERS_END);
    }
    facts::send_all();
    facts::send_log(false);
    let workers =
        if options.modes.is_empty() { Ok(Workers::default()) } else { Workers::start(&options) };
    match workers {
        Ok(workers) => commands::serve(&mut input, &workers),
        Err(error) => fail(format!("workers: {error}")),
    }
    sleep(Duration::from_millis(50)); // until the port has sent its last bytes
    kernel::reboot()
}

fn load_modules() {
    kernel::load_modules(|name, result| {
        let error = result.err().map(|error| error.to_string());
        send(Module { name: name.to_owned(), at_us: now_us(), error });
    });
}

/// Starts a request of every kind, seeds the kernel as the options say, and stops at the limit.
fn wait(options: &Options) {
    if options.modules == Modules::Early {
        load_modules();
    }
    if let Some(bits) = options.credit {
        let accepted = kernel::add_seed(bits).is_ok();
        send(Seed { bits, at_us: now_us(), accepted });
    }
    let _clock = options.rtc.then(|| {
        let clock = kernel::clock_interrupts();
        send(Rtc { accepted: clock.is_ok() });
        clock
    });
    callers::impatient();
    let before = kernel::interrupts();
    let Ok(mut callers) = Callers::start() else {
        return fail("the requests could not be started");
    };
    let Ok(samples) = watch(options, &mut callers) else {
        return fail("the requests could not be started");
    };
    let after = kernel::interrupts();
    callers.finish();
    send(Interrupts {
        all: after.all.saturating_sub(before.all),
        devices: after.devices.saturating_sub(before.devices),
    });
    samples.into_iter().for_each(send);
}

/// Samples entropy_avail until all requests are answered or the limit is over.
fn watch(options: &Options, callers: &mut Callers) -> std::io::Result<Vec<Entropy>> {
    // Kept and sent later, because each message is interrupts, and the kernel credits them.
    let mut samples = Vec::new();
    let deadline = now_us() + options.limit.as_micros() as u64;
    let late = options.modules == Modules::Late;
    loop {
        let available = fs::read_to_string("/proc/sys/kernel/random/entropy_avail");
        if let Some(bits) = available.ok().and_then(|text| text.trim().parse().ok()) {
            samples.push(Entropy { at_us: now_us(), bits });
        }
        callers.start_the_others()?;
        if callers.are_done() || now_us() > deadline {
            break;
        }
        sleep(if samples.len() < FIRST_SAMPLES { FIRST_SAMPLE } else { SAMPLE });
    }
    if late {
        load_modules();
        let patience = now_us() + LATE_PATIENCE_US;
        while !callers.are_done() && now_us() < patience {
            sleep(Duration::from_millis(5));
        }
    }
    Ok(samples)
}
