//! The first process: mounts, waits for randomness with a limit, tells what happened, then does what the lab asks.

use crate::callers::{self, Callers};
use crate::kernel::{self, now};
use crate::options::{Modules, Options};
use crate::port::{self, say};
use crate::workers::Workers;
use crate::{commands, openssl};
use std::fs;
use std::thread::sleep;
use std::time::Duration;

/// How often entropy_avail is read while callers wait. Reading it credits nothing.
const SAMPLE: Duration = Duration::from_millis(250);

pub(crate) fn run() -> ! {
    let begun = now();
    // Before anything else: what was ready when user space began?
    let ready = kernel::getrandom(&mut [0; 16], libc::GRND_NONBLOCK).is_ok();
    kernel::mount_all();
    let options = Options::parse(&fs::read_to_string("/proc/cmdline").unwrap_or_default());
    let opened = port::open(&options.port);
    let Ok(mut input) = opened else { kernel::reboot() };
    say!(
        "hello version={} init={begun:.6} ready={ready} openssl={} text={}",
        env!("CARGO_PKG_VERSION"),
        openssl::version().replace(' ', "_"),
        fs::read_to_string("/proc/version").unwrap_or_default().trim()
    );
    wait(&options);
    facts();
    for (at, text) in kernel::log() {
        if is_of_interest(&text) {
            say!("kmsg at={at:.6} text={text}");
        }
    }
    let workers =
        if options.modes.is_empty() { Ok(Workers::default()) } else { Workers::start(&options) };
    match workers {
        Ok(workers) => commands::serve(&mut input, &workers),
        Err(error) => say!("failed text=workers: {error}"),
    }
    say!("bye");
    sleep(Duration::from_millis(50)); // the port's last bytes
    kernel::reboot()
}

/// Lets every kind of caller wait for randomness, helps as asked, and gives up at the limit.
fn wait(options: &Options) {
    let load = || {
        kernel::load_modules(|name, result| {
            let answer =
                result.map_or_else(|error| error.to_string().replace(' ', "_"), |()| "ok".into());
            say!("module name={name} at={:.6} answer={answer}", now());
        });
    };
    if options.modules == Modules::Early {
        load();
    }
    if let Some(bits) = options.credit {
        let answer = kernel::add_seed(bits);
        say!(
            "seed bits={bits} at={:.6} answer={}",
            now(),
            if answer.is_ok() { "ok" } else { "refused" }
        );
    }
    let _clock = options.rtc.then(|| {
        let clock = kernel::clock_interrupts();
        say!("rtc answer={}", if clock.is_ok() { "ok" } else { "refused" });
        clock
    });
    callers::impatient();
    let before = kernel::interrupts();
    let Ok(mut callers) = Callers::start() else {
        say!("failed text=the callers could not be started");
        return;
    };
    let mut entropy = Vec::new();
    let deadline = now() + options.limit.as_secs_f64();
    let late = options.modules == Modules::Late;
    loop {
        // Kept, and told afterwards: each line told would be interrupts, which the kernel credits.
        let available =
            fs::read_to_string("/proc/sys/kernel/random/entropy_avail").unwrap_or_default();
        entropy.push((now(), available.trim().to_owned()));
        if callers.go_on().is_err() {
            say!("failed text=the callers could not be started");
            return;
        }
        let over = now() > deadline;
        if callers.are_done() || over {
            if !late {
                break;
            }
            load();
            // The driver's first bytes reach the pool by a thread of the kernel's.
            let patience = now() + 10.0;
            while !callers.are_done() && now() < patience {
                sleep(Duration::from_millis(5));
            }
            break;
        }
        // Fine at first, when a second is all there is to see.
        sleep(if entropy.len() < 20 { Duration::from_millis(20) } else { SAMPLE });
    }
    let after = kernel::interrupts();
    callers.finish();
    say!(
        "interrupts all={} devices={} during_all={} during_devices={}",
        after.0,
        after.1,
        after.0.saturating_sub(before.0),
        after.1.saturating_sub(before.1)
    );
    for (at, available) in entropy {
        say!("entropy at={at:.6} available={available}");
    }
}

/// What decides how soon a kernel is ready.
fn facts() {
    for path in [
        "/proc/cmdline",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "/sys/devices/system/clocksource/clocksource0/available_clocksource",
        "/sys/class/misc/hw_random/rng_available",
        "/sys/class/misc/hw_random/rng_current",
        "/proc/sys/kernel/random/entropy_avail",
        "/proc/sys/kernel/random/poolsize",
        "/sys/devices/system/cpu/online",
    ] {
        let text = fs::read_to_string(path).unwrap_or_default();
        say!("file path={path} text={}", text.trim().replace('\n', "|"));
    }
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = cpu.lines().find(|line| line.starts_with("flags") || line.starts_with("Features"));
    let has =
        |flag| flags.is_some_and(|line| line.split_ascii_whitespace().any(|word| word == flag));
    say!(
        "cpu rdrand={} rdseed={} tsc={} aes={} hypervisor={}",
        has("rdrand") || has("rng"),
        has("rdseed"),
        has("tsc") || cfg!(target_arch = "aarch64"),
        has("aes"),
        has("hypervisor")
    );
    let efi = fs::metadata("/sys/firmware/efi").is_ok();
    let vmgenid = ["platform", "acpi"]
        .iter()
        .filter_map(|bus| fs::read_dir(format!("/sys/bus/{bus}/drivers/vmgenid")).ok())
        .flatten()
        .flatten()
        .any(|entry| {
            entry.file_type().is_ok_and(|kind| kind.is_symlink()) && entry.file_name() != "module"
        });
    say!("machine efi={efi} vmgenid={vmgenid} vmclock={}", fs::metadata("/dev/vmclock0").is_ok());
}

/// Lines of the kernel's log that the timeline is made of.
pub(crate) fn is_of_interest(text: &str) -> bool {
    const MARKS: [&str; 15] = [
        "random:",
        "crng",
        "vmgenid",
        "vmclock",
        "hwrng",
        "rng_core",
        "entropy",
        "clocksource:",
        "tsc:",
        "EFI",
        "arch_timer",
        "Run /init",
        "get_random",
        "Linux version",
        "Hypervisor detected",
    ];
    MARKS.iter().any(|mark| text.contains(mark))
}
