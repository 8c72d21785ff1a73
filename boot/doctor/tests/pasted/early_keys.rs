//! HW007: keys that were made of early bytes.

use super::{fixes, of_log, one, ready_with};
use headwater_doctor::{Id, Severity};

/// Keys outlive the boot that made them.
#[test]
fn keys_of_an_earlier_boot_are_no_history() {
    let boot = |program: &str| {
        format!(
            "[    0.000000] Linux version 4.9.0 (x) #1\n[    2.000000] Run /sbin/init as init process\n[    9.000000] random: {program}: \
             uninitialized urandom read (32 bytes read)\n[   12.000000] random: crng init done\n"
        )
    };
    let healthy = ready_with("4.9.0", "usb 1-1: new device");
    for program in ["ssh-keygen", "dropbearkey", "openssl", "px5g"] {
        let report = of_log(&format!("{}{healthy}{healthy}", boot(program)));
        let early = one(&report, Id::EarlyRead);
        assert_eq!(early.severity, Severity::Warning, "{program}");
        assert!(early.title.starts_with("at an earlier boot, "), "{}", early.title);
        assert!(fixes(early).contains("again"), "{program}: {}", fixes(early));
    }
    let report = of_log(&format!("{}{healthy}", boot("php-fpm")));
    assert_eq!(one(&report, Id::EarlyRead).severity, Severity::Note, "its memory is gone");
    // A later boot of which another program read early does not hide the keys.
    let report = of_log(&format!("{}{}", boot("ssh-keygen"), boot("php-fpm")));
    let early: Vec<_> = report.findings.iter().filter(|found| found.id == Id::EarlyRead).collect();
    assert_eq!(early.len(), 2, "{early:?}");
    assert!(early.iter().all(|found| found.severity == Severity::Warning), "{early:?}");
}
