//! The patterns of a trial with 82 public logs (issue 41), each in the smallest log that shows it:
//! every test here failed before the doctor was changed.

#[path = "support/pasted.rs"]
mod support;

use headwater_doctor::{Case, Id, Severity, Verdict, diagnose, journal, strace};
use support::{find, fixes, of_bytes, of_log, one};

/// W1: the option that helps at once is step 1, later steps end the wait, and no second is lost.
#[test]
fn a_jvm_gets_the_option_that_helps_at_once() {
    let line = |took: &str| {
        format!(
            "INFO: Creation of SecureRandom instance for session ID generation using [SHA1PRNG] took [{took}] milliseconds.\n"
        )
    };
    let report = of_log(&(line("329,840") + &line("188,700")));
    let waited = one(&report, Id::UnitWaited);
    assert!(waited.title.starts_with("Tomcat waited 330 s"), "{}", waited.title);
    assert!(waited.title.contains("at another start 189 s"), "{}", waited.title);
    let first = waited.fixes[0].exact.as_deref().unwrap();
    assert_eq!(first, "CATALINA_OPTS=\"$CATALINA_OPTS -Djava.security.egd=file:/dev/./urandom\"");
    let all = fixes(waited);
    for wrong in ["5.4 or later", "RDRAND", "SYSTEMD_RANDOM_SEED_CREDIT"] {
        assert!(!all.contains(wrong), "{wrong}: {all}");
    }
    assert!(all.contains("5.6 or later") && all.contains("jitterentropy-rngd"), "{all}");
    assert!(report.headline().contains("Fix: CATALINA_OPTS="), "{}", report.headline());
}

/// W2: keys that may be weak stay so when the generator is ready; their remedy is the first step.
#[test]
fn keys_that_were_made_early_are_made_again_first() {
    for (program, step) in [
        ("ssh-keygen", "ssh-keygen -A"),
        ("sshd", "ssh-keygen -A"),
        ("dropbear", "/etc/dropbear/dropbear_*_host_key"),
    ] {
        let log = format!(
            "[    2.0] Run /sbin/init as init process\n\
             [    3.0] random: {program}: uninitialized urandom read (32 bytes read)\n\
             [   12.0] usb 1-1: new device\n"
        );
        let report = of_log(&log);
        for id in [Id::EarlyRead, Id::NotReady] {
            let exact = one(&report, id).fixes[0].exact.as_deref().unwrap();
            assert!(exact.contains(step), "{program}, {id}: {exact}");
        }
    }
}

/// W3: OpenSSL 1.1.1 waits in select on /dev/random, and a read of it is no getrandom.
#[test]
fn a_select_on_the_device_is_a_wait() {
    for call in [
        "select(4, [3], NULL, NULL, NULL) = 1 (in [3])",
        "pselect6(4, [3], NULL, NULL, NULL, NULL) = 1 (in [3])",
        "_newselect(6, [3 5], NULL, NULL, NULL) = 1 (in [3])",
        "read(3, \"\\x01\", 1) = 1",
    ] {
        let trace = format!(
            "openat(AT_FDCWD, \"/dev/random\", O_RDONLY) = 3 <0.000010>\n{call} <35.000000>\nclose(3) = 0 <0.000003>\n"
        );
        let trace = strace::read(trace.as_bytes(), "trace").unwrap();
        let report = diagnose(Case { traces: vec![trace], ..Case::default() });
        let waited = one(&report, Id::TraceWaited);
        assert_eq!(waited.severity, Severity::Critical, "{call}");
        assert!(waited.title.contains("35.00 s in one wait for /dev/random"), "{}", waited.title);
        assert!(!waited.why.contains("A call of getrandom() takes"), "{}", waited.why);
    }
    let socket = "socket(AF_INET, SOCK_STREAM, 0) = 3 <0.000010>\n\
                  select(4, [3], NULL, NULL, NULL) = 1 (in [3]) <35.000000>\n";
    let trace = strace::read(socket.as_bytes(), "trace").unwrap();
    let report = diagnose(Case { traces: vec![trace], ..Case::default() });
    assert_eq!(report.verdict(), Verdict::Healthy);
}

const STALL: [(f64, &str); 4] = [
    (0.0, "Linux version 4.19.0-6-amd64 (x) #1 SMP"),
    (1.5, "Run /init as init process"),
    (1.75, "random: fast init done"),
    (120.5, "random: crng init done"),
];

/// W4: the same stall in each form that hid it.
#[test]
fn a_stall_is_found_in_every_form() {
    let plain = |form: &dyn Fn(f64, &str) -> String| {
        STALL.map(|(time, text)| form(time, text) + "\n").concat()
    };
    let kernels = |time: f64, text: &str| format!("[{time:12.6}] {text}");
    let reversed: String = plain(&kernels).lines().rev().map(|line| format!("{line}\n")).collect();
    let utf16: Vec<u8> = std::iter::once(0xfeff)
        .chain(plain(&kernels).replace('\n', "\r\n").encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let as_bytes = |time: f64, text: &str| {
        format!(
            "{{\"_BOOT_ID\":\"x\",\"_TRANSPORT\":\"kernel\",\"SYSLOG_IDENTIFIER\":\"kernel\",\"__MONOTONIC_TIMESTAMP\":\"{}\",\"MESSAGE\":{:?}}}",
            (time * 1e6) as u64,
            text.as_bytes()
        )
    };
    let tagged =
        |time: f64, text: &str| format!("Nov 22 06:07:30 host kernel[643]: [{time:12.6}] {text}");
    let escaped =
        |time: f64, text: &str| format!(r"> \[{time:12.6}\] {}", text.replace('-', r"\-"));
    for (form, log) in [
        ("tag with a number", plain(&tagged).into_bytes()),
        ("journalctl -r", reversed.into_bytes()),
        ("Amlogic", plain(&|time, text| format!("[{time:12.6}@3] {text}")).into_bytes()),
        ("Samsung", plain(&|time, text| format!("[{time:12.6}]  [1:   init:    1] {text}")).into()),
        ("Android", plain(&|time, text| format!("[{time:12.6}] [c0] {text}")).into_bytes()),
        ("MediaTek", plain(&|time, text| format!("[{time:12.6}] (0)[1:swapper/0]{text}")).into()),
        ("PowerShell", utf16),
        ("mail", plain(&|time, text| format!("[{time:12.6}] {text}=20")).into_bytes()),
        ("Markdown", plain(&escaped).into_bytes()),
        ("bytes", plain(&as_bytes).into_bytes()),
    ] {
        let report = of_bytes(&log);
        let late = find(&report, Id::ReadyLate).unwrap_or_else(|| panic!("{form}: {report:?}"));
        assert_eq!(late.severity, Severity::Critical, "{form}");
        assert!(late.title.contains("119.0 s after"), "{form}: {}", late.title);
    }
    let human = "[Apr17 12:47] Linux version 4.19.0 (x) #1\n\
                 [  +1.500000] Run /init as init process\n\
                 [  +0.250000] random: fast init done\n\
                 [Apr17 12:49] random: crng init done\n\
                 [  +0.000020] random: 7 urandom warning(s) missed due to ratelimiting\n";
    let late = of_log(human);
    assert_eq!(one(&late, Id::ReadyLate).severity, Severity::Critical);
    let talos = plain(&|time, text| {
        let second = 10.0 + time;
        let (minute, second) = ((second / 60.0) as u32, second % 60.0);
        format!("10.5.0.2: kern:  notice: [2021-05-10T12:{minute:02}:{second:09.6}Z]: {text}")
    });
    assert_eq!(one(&of_log(&talos), Id::ReadyLate).severity, Severity::Critical);
}

/// The line of evidence of a reversed log is the line of the user's file.
#[test]
fn a_reversed_log_is_quoted_by_its_own_lines() {
    let log = "[  120.500000] random: crng init done\n[    1.500000] Run /init as init process\n\
               [    0.000000] Linux version 4.19.0 (x) #1\n";
    let report = of_log(log);
    let places: Vec<&str> =
        one(&report, Id::ReadyLate).evidence.iter().map(|seen| seen.place.as_str()).collect();
    assert_eq!(places, ["log:2", "log:1"]);
}

/// W5: systemd counts the jobs where two run, and newer ones name the unit's job.
#[test]
fn the_seeds_start_job_is_read_in_every_form() {
    for line in [
        "[  *** ] (2 of 2) A start job is running for Load/Save Random Seed (55s / 10min)",
        "(1 of 2) A start job is running for Load/Save Random Seed (55s / 10min)",
        "[**    ] Job systemd-random-seed.service/start running (55s / 10min)",
        "[***   ] (1 of 3) Job systemd-random-seed.service/start running (55s / no limit)",
    ] {
        let report = of_log(&format!("{line}\n"));
        let waited = one(&report, Id::UnitWaited);
        assert!(waited.title.contains("at least 55 s"), "{line}: {}", waited.title);
        assert_eq!(waited.severity, Severity::Critical, "{line}");
    }
}

/// W6: a kernel's release is taken from any line that shows it, and nothing that it has is advised.
#[test]
fn no_kernel_is_advised_that_the_machine_has() {
    for line in [
        "[    0.9] CPU: 0 PID: 1 Comm: swapper/0 Not tainted 5.10.0-rc6 #1",
        "[    1.0] usb usb1: Manufacturer: Linux 5.10.0 ehci_hcd",
        "Linux host 5.10.0-8-amd64 #1 SMP Debian 5.10.46-4 (2021-08-03) x86_64 GNU/Linux",
    ] {
        let log = format!(
            "{line}\n[    1.5] Run /init as init process\n[   90.0] random: crng init done\n"
        );
        let all = fixes(one(&of_log(&log), Id::ReadyLate));
        assert!(!all.contains("5.4 or later"), "{line}: {all}");
    }
    let old = "[    0.0] Linux version 3.16.0 (x) #1\n[    1.5] Freeing unused kernel memory: 4K\n\
               [    2.5] random: nonblocking pool is initialized\n";
    let report = of_log(old);
    assert!(!one(&report, Id::ReadyLate).why.contains("jitter"), "{report:?}");
}

/// W7: an instruction that is there and not trusted, the guest's driver, and the daemon.
#[test]
fn what_ended_nearly_every_thread_is_offered() {
    let log = |kernel: &str| {
        format!(
            "[    0.0] Linux version {kernel} (x) #1\n[    0.0] Hypervisor detected: KVM\n\
             [    1.5] Run /init as init process\n[   90.0] random: crng init done\n"
        )
    };
    let all = fixes(one(&of_log(&log("4.19.0-6-amd64")), Id::ReadyLate));
    for step in ["random.trust_cpu=on", "modprobe virtio_rng", "jitterentropy-rngd", "rng-tools"] {
        assert!(all.contains(step), "{step}: {all}");
    }
    let all = fixes(one(&of_log(&log("4.18.0")), Id::ReadyLate));
    assert!(!all.contains("random.trust_cpu"), "the parameter is of 4.19: {all}");
}

/// W8: a board gets its driver by name, and neither a hypervisor nor RDRAND.
#[test]
fn a_board_gets_its_own_driver() {
    for (line, driver) in [
        ("[    0.0] OF: fdt: Machine model: Raspberry Pi Zero W Rev 1.1", "bcm2835_rng"),
        ("[    0.0] OF: fdt: Machine model: TI AM335x BeagleBone Black", "omap_rng"),
        ("[    0.3] meson-gx-mmc d0072000.mmc: Got CD GPIO", "meson_rng"),
        ("[    0.0] MIPS: machine is TP-Link Archer C7 v2", "CONFIG_HW_RANDOM_"),
        ("[    0.0] CPU: ARMv7 Processor [412fc09a] revision 10 (ARMv7)", "CONFIG_HW_RANDOM_"),
        ("[    0.0] OF: fdt: Machine model: StarFive VisionFive 2 v1.3B", "CONFIG_HW_RANDOM_"),
    ] {
        let log = format!(
            "{line}\n[    1.5] Run /init as init process\n[   90.0] random: crng init done\n"
        );
        let all = fixes(one(&of_log(&log), Id::ReadyLate));
        assert!(all.contains(driver), "{line}: {all}");
        for wrong in ["hypervisor", "RDRAND", "virtio"] {
            assert!(!all.contains(wrong), "{line}: {wrong}: {all}");
        }
    }
    let old = "[    0.0] Linux version 4.19.66-v7+ (x) #1\n\
               [    0.0] OF: fdt: Machine model: Raspberry Pi 3 Model B Plus\n\
               [    1.5] Run /init as init process\n[   90.0] random: crng init done\n";
    let all = fixes(one(&of_log(old), Id::ReadyLate));
    assert!(!all.contains("trust_bootloader"), "the parameter is of 5.4: {all}");
    let dell = "[    0.0] DMI: Dell Inc. PowerEdge R640/0W23H8, BIOS 2.4.7 12/05/2019\n\
                [    1.5] Run /init as init process\n[   90.0] random: crng init done\n";
    let all = fixes(one(&of_log(dell), Id::ReadyLate));
    assert!(!all.contains("hypervisor"), "{all}");
    let azure = "[    0.0] Linux version 5.4.0-1031-azure (x) #1\n\
                 [    0.0] DMI: Microsoft Corporation Virtual Machine/Virtual Machine, BIOS 090008\n\
                 [    0.0] Hypervisor detected: Microsoft Hyper-V\n\
                 [    1.5] Run /init as init process\n[   90.0] random: crng init done\n";
    let all = fixes(one(&of_log(azure), Id::ReadyLate));
    assert!(!all.contains("Set-VMProcessor"), "a tenant cannot run it: {all}");
}

/// W9: seconds decide the severity, in an excerpt that ends and for the seed's service.
#[test]
fn seconds_decide_the_severity() {
    let ends = |at: f64| {
        let log = format!(
            "[    0.0] Linux version 5.3.0 (x) #1\n[    1.0] Run /init as init process\n[{at:9.3}] usb 1-1: new device\n"
        );
        one(&of_log(&log), Id::NotReady).severity
    };
    assert_eq!(ends(10.7), Severity::Warning);
    assert_eq!(ends(60.0), Severity::Critical);
    let seed = |until: u32| {
        let log = format!(
            "Nov 22 06:00:00 h systemd-random-seed[258]: Kernel entropy pool is not initialized yet, waiting until it is.\n\
             Nov 22 06:{:02}:{:02} h systemd[1]: Started Load/Save Random Seed.\n",
            until / 60,
            until % 60
        );
        one(&of_log(&log), Id::UnitWaited).severity
    };
    assert_eq!(seed(17), Severity::Warning);
    assert_eq!(seed(183), Severity::Critical);
}

/// W10: units that wait for people, devices and each other are no victims.
#[test]
fn a_coincidence_makes_no_victim() {
    for unit in [
        "Cryptography Setup for luks-1234",
        "systemd-cryptsetup@luks\\x2d1234.service - Cryptography Setup for luks-1234",
        "udev Wait for Complete Device Initialization",
        "Hold until boot process finishes up",
        "Import ZFS pools by cache file",
    ] {
        let log = format!(
            "[    0.0] Linux version 4.19.0 (x) #1\n[    1.5] Run /init as init process\n\
             [    4.0] systemd[1]: Starting {unit}...\n[   34.7] random: crng init done\n\
             [   34.9] systemd[1]: Started {unit}.\n"
        );
        assert!(find(&of_log(&log), Id::UnitWaited).is_none(), "{unit}");
    }
}

/// W11: a few bytes are no key, and a lost warning proves nothing.
#[test]
fn short_reads_make_no_finding() {
    for read in [
        "lvm: uninitialized urandom read (4 bytes read)",
        "debconf-communi: uninitialized urandom read (8 bytes read)",
        "dbus-daemon: uninitialized urandom read (12 bytes read)",
        "systemd: uninitialized urandom read (16 bytes read)",
    ] {
        let log = format!(
            "[    1.5] random: {read}\n[    1.6] random: crng init done\n\
             [    1.7] random: 7 urandom warning(s) missed due to ratelimiting\n"
        );
        let report = of_log(&log);
        assert_eq!(one(&report, Id::EarlyRead).severity, Severity::Note, "{read}");
        assert_ne!(report.verdict(), Verdict::Findings, "{read}");
    }
    let key = "[    1.5] random: openssl: uninitialized urandom read (16 bytes read)\n";
    assert_eq!(one(&of_log(key), Id::EarlyRead).severity, Severity::Warning);
}

/// W12: `systemd-analyze blame` without the seed's unit is read, and does not reassure. The words
/// of programs are in tests/outside/answers.md.
#[test]
fn a_blame_without_the_seeds_unit_is_read() {
    let report = of_log("47.1s ssh.service\n 1.204s dev-sda1.device\n  345ms user@1000.service\n");
    assert_eq!(report.verdict(), Verdict::Incomplete);
    let first = report.text().lines().next().unwrap_or_default().to_owned();
    assert!(first.contains("No answer"), "{first}");
    let hung = "[  242.6] INFO: task mount.ceph:206 blocked for more than 122 seconds.\n\
                [  242.7] Call Trace:\n[  242.8]  wait_for_random_bytes+0x57/0x60\n";
    let report = of_log(hung);
    assert_eq!(one(&report, Id::UnitWaited).severity, Severity::Critical);
}

/// Line one is the answer, and five lines of a log make at most 25 of a report.
#[test]
fn line_one_is_the_answer_and_the_rest_is_short() {
    let log = "[    0.0] Linux version 4.19.0-6-amd64 (x) #1\n[    0.0] Hypervisor detected: KVM\n\
               [    2.0] systemd[1]: Starting ssh.service - OpenBSD Secure Shell server...\n\
               [  105.0] random: crng init done\n[  105.2] systemd[1]: Started ssh.service - OpenBSD Secure Shell server.\n";
    let report = of_log(log);
    let headline = report.headline();
    assert!(
        headline.starts_with(
            "ssh.service waited 103.0 s for the random generator (Linux 4.19.0-6-amd64, KVM). Fix"
        ),
        "{headline}"
    );
    assert!(headline.contains("Fix"), "{headline}");
    let excerpt = "[    1.5] Run /sbin/init as init process\n\
                   [    9.7] random: jshn: uninitialized urandom read (4 bytes read)\n\
                   [  248.0] random: crng init done\n";
    for log in [log, excerpt] {
        let text = of_log(log).text();
        let lines = text.lines().count();
        assert!(lines <= 25, "{lines} lines:\n{text}");
        assert!(!text.contains(" ...\n"), "{text}");
    }
}

/// Findings of one cause list its steps once, and the others name the one that has them.
#[test]
fn steps_of_one_cause_are_listed_once() {
    let log = "[    0.0] Linux version 4.19.0-6-amd64 (x) #1\n[    1.5] Run /init as init process\n\
               [    2.0] random: sshd: uninitialized urandom read (32 bytes read)\n\
               [  105.0] random: crng init done\n";
    let text = of_log(log).text();
    assert!(text.contains("as for HW"), "{text}");
    let steps = text.matches("modprobe virtio_rng").count();
    assert!(steps <= 1, "{steps} times:\n{text}");
}

/// On a phone the drawing is scrolled sideways to its end, so the page says before it when the
/// generator was ready, in a sentence that wraps.
#[test]
fn the_page_says_before_the_drawing_when_the_generator_was_ready() {
    let report = of_log(&STALL.map(|(at, text)| format!("[{at:12.6}] {text}\n")).concat());
    let page = report.html();
    let body = page.find("<body").unwrap();
    let says = page[body..].find("120").map(|at| body + at).unwrap();
    let drawing = page.find("<svg").unwrap();
    assert!(says < drawing, "{}", &page[body..]);
}

/// A log that no reader can take is refused with the next step.
#[test]
fn binary_logs_are_refused_with_the_next_step() {
    for (log, step) in [
        (&b"BZh91AY&SY\x00\x01\x02"[..], "bzcat"),
        (&b"LPKSHHRH\x00\x00\x00\x00"[..], "journalctl"),
    ] {
        let error = journal::read(log, "log").unwrap_err().to_string();
        assert!(error.contains(step), "{error}");
    }
}
